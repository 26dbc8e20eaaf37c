"""`tablecam disputes`: the game's disputes in words; their pictures and positions extracted."""

import json
import math

import pytest

from tablecam.cli import main
from tablecam.record.disputes import disputes
from tablecam.record.game_file import GameFile
from tests.commands.refusals import refusal
from tests.record.games import FACTS, add, add_dispute, dispute, pictures, position


@pytest.fixture
def game(tmp_path):
    made = GameFile.create(tmp_path / "evening.tablecam", FACTS)
    add(made, 1, word="no")
    add(made, 2, word="too_close")
    return made


def said(capsys, *arguments):
    assert main(["disputes", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def refused(capsys, *arguments):
    return refusal(capsys, "disputes", *arguments)


def test_disputes_are_listed_with_answer_margin_rule_and_reading(game, capsys):
    told = said(capsys, game.path)
    assert "Maurice Lite, started 2026-05-01 19:30: 2 disputes" in told
    assert "  1  20:15:30  Question 1?" in told
    assert "no, by 3.2 ± 0.4 mm [M-1.12]" in told
    assert "too close to call, by 3.2 ± 0.4 mm, 12% likely [M-1.12]" in told
    assert "interpretation of G-5: 0.5 mm." in told


def test_json_is_one_document_with_all_that_was_said(game, capsys):
    document = json.loads(said(capsys, game.path, "--json"))
    assert document["game"] == "maurice-lite"
    assert document["started_at"] == "2026-05-01T19:30:00+00:00"
    assert document["disputes"] == disputes(game)


def test_the_position_of_a_dispute_is_printed_alone(game, capsys):
    assert json.loads(said(capsys, game.path, "--position", "2")) == position(2)
    assert "there is no dispute 3" in refused(capsys, game.path, "--position", "3")
    assert "expected no --json with it" in refused(capsys, game.path, "--position", "1", "--json")


def test_pictures_are_written_beside_each_other_and_never_over_others(game, tmp_path, capsys):
    folder = tmp_path / "pictures"
    for _ in range(2):  # an identical file that already exists is no fault
        said(capsys, game.path, "--pictures", folder)
    plain, drawn = pictures(2)
    assert (folder / "evening-dispute-2-plain.jpg").read_bytes() == plain
    assert (folder / "evening-dispute-2.jpg").read_bytes() == drawn
    assert len(list(folder.iterdir())) == 4
    (folder / "evening-dispute-1.jpg").write_text("somebody's own")
    told = refused(capsys, game.path, "--pictures", folder)
    assert "evening-dispute-1.jpg: a different file of this name" in told
    assert (folder / "evening-dispute-1.jpg").read_text() == "somebody's own"


def test_a_dispute_without_a_picture_an_answer_or_an_end_is_listed_too(game, tmp_path, capsys):
    endless = dispute("Endless?")["answer"] | {"margin_mm": math.inf, "sigma_mm": 0.0}
    bare = {key: value for key, value in dispute("Bare?").items() if key != "line"}
    add_dispute(game, bare | {"answer": None}, position(), b"", b"")
    add_dispute(game, dispute("Endless?") | {"answer": endless}, position(), b"", b"")
    told = said(capsys, game.path, "--pictures", tmp_path / "pictures")
    assert "4 disputes" in told
    assert "Bare?" in told
    assert "yes [M-1.12]" in told
    assert len(list((tmp_path / "pictures").iterdir())) == 4


def test_a_game_without_disputes_says_so(tmp_path, capsys):
    game = GameFile.create(tmp_path / "calm.tablecam", FACTS)
    assert "no disputes" in said(capsys, game.path)


def test_what_is_no_recording_is_refused(tmp_path, capsys):
    (tmp_path / "table.toml").write_text("format = 'tablecam.table'")
    assert "another kind of file" in refused(capsys, tmp_path / "table.toml")
    assert "there is no such file" in refused(capsys, tmp_path / "nothing.tablecam")
