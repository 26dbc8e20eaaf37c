"""A game resumes where it was left: the newest on this table, not over, with no other players."""

import sqlite3
from dataclasses import replace
from datetime import timedelta
from functools import partial

import click
import pytest

from tablecam.commands import serving
from tablecam.commands.serving import GameOptions, game_record
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.resuming import is_being_played, unfinished_game
from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.games import game_of
from tests.record.games import FACTS
from tests.referee.tables import table

TABLE_FILE = FACTS.table_file


def played(folder, hours=0, *, table_file=TABLE_FILE):
    """An unfinished game begun `hours` after the first."""
    started_at = FACTS.started_at + timedelta(hours=hours)
    facts = replace(FACTS, started_at=started_at, table_file=table_file)
    kept = GameRecorder(partial(new_game_file, folder, facts))
    referee = Referee(game_of("maurice-lite"), store=kept)
    referee.begin(table(), {"active": "french"}, SHARED)
    kept.close()
    return kept.path


def test_the_newest_game_on_this_table_goes_on(tmp_path):
    played(tmp_path)
    newest = played(tmp_path, 1)
    played(tmp_path, 2, table_file="another table")
    assert unfinished_game(tmp_path, TABLE_FILE).path == newest


def test_a_clock_set_back_between_two_games_has_the_newer_one_go_on(tmp_path):
    played(tmp_path, 5)
    newer = played(tmp_path, 2)  # the clock was set back by more than the first game took
    assert unfinished_game(tmp_path, TABLE_FILE).path == newer


def test_of_games_whose_files_were_renamed_the_newer_one_goes_on(tmp_path):
    played(tmp_path).rename(tmp_path / "z.tablecam")
    played(tmp_path, 1).rename(tmp_path / "a.tablecam")
    assert unfinished_game(tmp_path, TABLE_FILE).path == tmp_path / "a.tablecam"


def test_no_game_goes_on_where_none_was_played_on_this_table(tmp_path):
    assert unfinished_game(tmp_path, TABLE_FILE) is None
    played(tmp_path, table_file="another table")
    assert unfinished_game(tmp_path, TABLE_FILE) is None


def test_a_file_that_is_no_recording_is_left_alone(tmp_path, caplog):
    older = played(tmp_path)
    (tmp_path / "2027-01-01_00-00-00_maurice-lite.tablecam").write_text("nonsense")
    assert unfinished_game(tmp_path, TABLE_FILE).path == older
    assert "skipping this recording" in caplog.text


@pytest.mark.parametrize("change", ["place = 'x'", "game = x'00'", "id = x'00'"])
def test_a_file_whose_columns_hold_what_was_never_written_is_left_alone(tmp_path, caplog, change):
    older = played(tmp_path)
    newer = played(tmp_path, 1)
    with sqlite3.connect(newer) as plain:
        plain.execute(f"UPDATE recording SET {change}")
    plain.close()
    assert unfinished_game(tmp_path, TABLE_FILE).path == older
    assert "skipping this recording" in caplog.text
    played(tmp_path, 2)  # the numbering of the folder's games continues


def options(folder, **more):
    return GameOptions(on_lan=False, confirms_by_itself=False, folder=folder, is_new=False, **more)


def test_a_program_without_a_terminal_goes_on_by_itself_and_says_so(tmp_path, capsys):
    path = played(tmp_path)
    kept = game_record(options(tmp_path), "maurice-lite", TABLE_FILE, None)
    assert kept.path == path
    assert kept.unfinished() is not None
    assert f"Resuming the game in {path}" in capsys.readouterr().err
    kept.close()


@pytest.mark.parametrize("answer", [True, False])
def test_at_a_terminal_players_are_asked(tmp_path, monkeypatch, answer):
    path = played(tmp_path)
    asked = []
    monkeypatch.setattr(serving.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "confirm", lambda question, **_: asked.append(question) or answer)
    kept = game_record(options(tmp_path), "maurice-lite", TABLE_FILE, None)
    assert kept.path == (path if answer else None)
    assert len(asked) == 1
    assert "that began on 01 May" in asked[0]
    kept.close()


def test_a_game_that_another_program_plays_is_left_to_it(tmp_path, capsys):
    path = played(tmp_path)
    first = game_record(options(tmp_path), "maurice-lite", TABLE_FILE, None)
    assert is_being_played(path)
    second = game_record(options(tmp_path), "maurice-lite", TABLE_FILE, None)
    assert "another tablecam is recording" in capsys.readouterr().err
    assert (first.path, second.path) == (path, None)
    first.close()
    assert not is_being_played(path)
