"""A live game is recorded in a file of its own, and goes on if it cannot be."""

import os
import shutil
import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import click
import pytest

from tablecam.commands.serving import say_where_kept
from tablecam.errors import BadInput
from tablecam.record.disputes import dispute_picture, disputes
from tablecam.record.game_file import GameFile
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tests.record.disks import a_disk, no_room
from tests.record.games import FACTS, add, dispute, pictures, position
from tests.record.rights import as_nobody, open_folder

OTHERS = replace(FACTS, id="f" * 32)


def kept_in(folder, file=None):
    return GameRecorder(partial(new_game_file, folder, FACTS), file)


@contextmanager
def full_disk(room_bytes):
    """Let no file grow beyond `room_bytes`: writes are then really refused by the system."""
    resource = pytest.importorskip("resource", reason="Windows cannot limit the size of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_no_file_is_made_while_there_is_nothing_to_keep(tmp_path):
    game = kept_in(tmp_path / "games")
    assert game.disputes() == []
    assert (game.path, game.trouble) == (None, "")
    assert list(tmp_path.iterdir()) == []


def test_the_first_dispute_makes_a_file_named_by_date_time_and_game(tmp_path):
    game = kept_in(tmp_path / "games")
    assert add(game, 1) == 1
    assert game.path == tmp_path / "games" / "2026-05-01_19-30-00_maurice-lite.tablecam"
    assert disputes(GameFile.open(game.path)) == game.disputes()
    assert game.disputes() == [dispute("Question 1?") | {"number": 1}]
    assert game.dispute_position(1) == position(1)
    assert (game.dispute_picture(1, plain=True), game.dispute_picture(1)) == pictures(1)


def test_two_programs_that_begin_in_one_second_never_share_a_file(tmp_path):
    games = [kept_in(tmp_path) for _ in range(3)]
    for game in games:
        add(game, 1)
    assert len({game.path for game in games}) == 3
    assert [len(disputes(GameFile.open(game.path))) for game in games] == [1, 1, 1]


def test_a_folder_that_cannot_be_made_is_said_and_the_dispute_is_still_shown(tmp_path):
    (tmp_path / "games").write_text("a file where the folder should be")
    game = kept_in(tmp_path / "games")
    assert add(game, 1) == 1
    assert game.trouble.startswith("1 dispute is not on the disk: ")
    assert "\n" not in game.trouble
    assert game.dispute_picture(1) == pictures(1)[1]
    assert len(game.disputes()) == 1


def test_what_a_full_disk_refused_is_written_once_there_is_room(tmp_path):
    game = kept_in(tmp_path)
    add(game, 1)
    with full_disk(120_000):
        for number in range(2, 8):
            assert add(game, number) == number
        assert "disk" in game.trouble
        assert "full" in game.trouble
        on_disk = len(disputes(GameFile.open(game.path, read_only=True)))
        assert 1 <= on_disk < 7
        assert len(game.disputes()) == 7
    assert add(game, 8) == 8
    assert game.trouble == ""
    again = GameFile.open(game.path)
    assert disputes(again) == game.disputes()
    assert [dispute_picture(again, number) for number in range(1, 9)] == [
        pictures(number)[1] for number in range(1, 9)
    ]


def test_half_a_character_keeps_nothing_after_it_from_the_disk(tmp_path):
    game = kept_in(tmp_path)
    game.begin_play(BEGINNING)
    game.add_actions([{"entry": {"why": "we agreed \ud83d"}}])
    game.add_actions([{"entry": {"why": "and again"}}])
    assert game.trouble == ""
    _, half, after = GameFile.open(game.path).entries()
    assert half.document == {"entry": {"why": "we agreed ?"}}
    assert after.document == {"entry": {"why": "and again"}}


def test_a_file_taken_away_is_written_anew_and_that_is_said(tmp_path):
    game = kept_in(tmp_path / "games")
    add(game, 1)
    game.begin_play(BEGINNING)
    first = game.path
    shutil.rmtree(first.parent)
    add(game, 2)
    assert game.trouble == ""
    (told,) = game.try_again()
    assert f"{first.name} is gone: the game is now recorded in {game.path}" in told
    again = GameFile.open(game.path)
    assert disputes(again) == game.disputes()
    assert [dispute_picture(again, number) for number in (1, 2)] == [
        pictures(number)[1] for number in (1, 2)
    ]
    assert [entry.kind for entry in again.entries()] == ["dispute", "play", "dispute"]
    assert game.try_again() == []


def test_a_file_that_cannot_be_written_anew_yet_waits_until_it_can(tmp_path):
    game = kept_in(tmp_path / "games")
    add(game, 1)
    shutil.rmtree(tmp_path / "games")
    (tmp_path / "games").write_text("a file where the folder should be")
    add(game, 2)
    assert game.trouble.startswith("2 disputes are not on the disk: ")
    (tmp_path / "games").unlink()
    add(game, 3)
    assert game.trouble == ""
    assert disputes(GameFile.open(game.path)) == game.disputes()
    gone, back = game.try_again()
    assert "is gone: the game is now recorded" in gone
    assert back == "Everything is on the disk again: 2 disputes had been waiting."


@pytest.fixture
def small_disk(tmp_path):
    with a_disk(tmp_path / "disk") as folder:
        yield folder


@pytest.fixture
def anywhere():
    with open_folder() as folder:
        yield folder


@pytest.mark.skipif(os.name != "posix", reason="Windows has no rights that a test can drop")
def test_what_a_file_made_read_only_refused_is_written_once_it_may_be(anywhere):
    game = kept_in(anywhere)
    add(game, 1)
    game.path.chmod(0o444)
    anywhere.chmod(0o555)
    with as_nobody():
        add(game, 2)
        assert "1 dispute is not on the disk" in game.trouble
        assert "the file or its folder cannot be" in game.trouble
        assert "\n" not in game.trouble
    anywhere.chmod(0o755)
    game.path.chmod(0o644)
    add(game, 3)
    assert game.trouble == ""
    assert disputes(GameFile.open(game.path)) == game.disputes()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no rights that a test can drop")
def test_a_folder_that_may_not_be_entered_for_a_while_is_waited_for(anywhere):
    folder = anywhere / "games"
    folder.mkdir(mode=0o777)
    game = kept_in(folder)
    add(game, 1)
    first = game.path
    anywhere.chmod(0o000)
    with as_nobody():
        add(game, 2)
        assert "1 dispute is not on the disk" in game.trouble
        assert "\n" not in game.trouble
    anywhere.chmod(0o755)
    add(game, 3)
    assert (game.trouble, game.path) == ("", first)
    assert disputes(GameFile.open(first)) == game.disputes()


def test_what_waits_when_the_program_ends_is_told_to_be_lost(tmp_path, caplog):
    (tmp_path / "games").write_text("a file where the folder should be")
    game = kept_in(tmp_path / "games")
    add(game, 1)
    game.close()
    assert "1 dispute could not be saved" in caplog.text


def test_on_a_disk_without_room_the_game_goes_on_and_can_be_looked_back_at(small_disk):
    game = kept_in(small_disk / "games")
    add(game, 1)
    with no_room(small_disk):
        add(game, 2)
        assert "1 dispute is not on the disk: " in game.trouble
        assert "the disk is full; the game continues" in game.trouble
        looked_at = game.journal()
        assert len(disputes(looked_at)) == 1
        assert len(game.disputes()) == 2
    add(game, 3)
    assert game.trouble == ""
    assert game.try_again() == ["Everything is on the disk again: 1 dispute had been waiting."]
    assert disputes(looked_at) == game.disputes()
    assert [*(small_disk / "games").glob("2*")] == [game.path]


def test_a_game_that_begins_on_a_disk_without_room_is_written_once_there_is_some(small_disk):
    game = kept_in(small_disk / "games")
    with no_room(small_disk):
        add(game, 1)
        assert "the disk is full; the game continues" in game.trouble
        assert game.journal() is None
    add(game, 2)
    assert game.trouble == ""
    assert disputes(game.journal()) == game.disputes()


def test_a_second_program_leaves_a_game_alone_that_is_being_played(tmp_path):
    first = kept_in(tmp_path)
    add(first, 1)
    second = GameRecorder(partial(new_game_file, tmp_path, FACTS), GameFile.open(first.path))
    (told,) = second.try_again()
    assert "another tablecam is recording" in told
    add(second, 2)
    add(first, 3)
    assert first.path != second.path
    assert [entry["question"]["text"] for entry in disputes(GameFile.open(first.path))] == [
        "Question 1?",
        "Question 3?",
    ]
    assert len(disputes(GameFile.open(second.path))) == 1


def test_a_game_that_another_program_wrote_to_goes_on_in_a_file_of_its_own(tmp_path):
    game = kept_in(tmp_path)
    add(game, 1)
    first = game.path
    add(GameFile.open(first), 90)  # by a program that knows no locks
    add(game, 2)
    (told,) = game.try_again()
    assert f"{first.name} is written to by another program" in told
    assert disputes(GameFile.open(game.path)) == game.disputes()
    assert len(disputes(GameFile.open(first))) == 2
    assert game.path != first


NOISE = b"SQLite format 3\x00" + bytes(range(256)) * 64
ANOTHERS = {
    "noise": lambda path: path.write_bytes(NOISE),
    "a text": lambda path: path.write_text("our shopping list"),
    "nothing": lambda path: path.write_bytes(b""),
    "half of it": lambda path: os.truncate(path, 6000),
    "another game": lambda path: replace_by(path, GameFile.create(path.with_name("b"), OTHERS)),
    "no tables": lambda path: drop_tables(path),
}


def replace_by(path, other):
    add(other, 1)
    os.replace(other.path, path)


def drop_tables(path):
    with sqlite3.connect(path) as plain:
        plain.executescript("DROP TABLE picture; DROP TABLE entry; DROP TABLE recording;")
    plain.close()


@pytest.mark.parametrize("spoil", ANOTHERS.values(), ids=ANOTHERS)
def test_a_file_damaged_or_replaced_during_play_is_begun_anew_at_once(tmp_path, spoil):
    game = kept_in(tmp_path)
    add(game, 1)
    first = game.path
    spoil(first)
    add(game, 2)
    assert game.trouble == ""
    (told,) = game.try_again()
    assert told.startswith(f"{first.name} is ")
    assert f": the game is now recorded in {game.path}, without its earlier pictures" in told
    assert game.path != first
    assert disputes(GameFile.open(game.path)) == game.disputes()
    game.close()
    assert game.unsaved == ""


def test_a_file_damaged_where_nobody_wrote_is_begun_anew_when_the_game_is_closed(tmp_path):
    game = kept_in(tmp_path)
    game.begin_play(BEGINNING)
    for number in range(3):
        game.add_actions([deed({"type": "roll", "values": [number]})])
    first = game.path
    first.write_bytes(first.read_bytes().replace(b'"values":[1]', b'"values":[6]'))
    game.close()
    (told,) = game.try_again()
    assert f"{first.name} is damaged: the game is now recorded in {game.path}" in told
    rolls = GameFile.open(game.path).entries("deed")
    assert [roll.document["entry"]["values"] for roll in rolls] == [[0], [1], [2]]


def test_a_file_that_was_changed_between_two_evenings_is_told_of_and_not_sealed_anew(tmp_path):
    game = kept_in(tmp_path)
    game.begin_play(BEGINNING)
    game.add_actions([deed({"type": "roll", "values": [2]})])
    path = game.path
    game.close()
    path.write_bytes(path.read_bytes().replace(b'"values":[2]', b'"values":[6]'))
    game = kept_in(tmp_path, GameFile.open(path))
    (told,) = game.try_again()
    assert told.startswith(f"{path.name} was changed after it was written (entry 2 (deed) was ch")
    game.add_actions([deed({"type": "roll", "values": [3]})])
    game.close()
    assert (game.path, game.unsaved) == (path, "")
    assert len(GameFile.open(path).verified().faults) == 1
    # A new recording, begun because another program writes to the file, is logged.
    game = kept_in(tmp_path, GameFile.open(path))
    add(GameFile.open(path), 1)
    game.add_actions([deed({"type": "roll", "values": [4]})])
    game.close()
    assert game.path != path
    (notice,) = GameFile.open(game.path).entries("notice")
    assert "was changed after it was written" in notice.document["text"]


def test_a_busy_disk_at_the_end_is_no_damage(tmp_path):
    game = kept_in(tmp_path)
    add(game, 1)
    with sqlite3.connect(game.path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        game.close()
        other.execute("ROLLBACK")
    other.close()
    assert game.unsaved == ""
    assert [*tmp_path.glob("*.tablecam")] == [game.path]


def test_a_game_is_said_to_be_kept_only_where_nothing_of_it_is_lost(tmp_path, capsys):
    game = kept_in(tmp_path / "games")
    add(game, 1)
    game.close()
    say_where_kept(game)
    recorded, look_back = capsys.readouterr().err.splitlines()
    assert recorded == f"The game is recorded in {game.path}"
    assert look_back == f"Replay it with: tablecam replay {game.path}"
    game = kept_in(tmp_path / "games")
    add(game, 1)
    shutil.rmtree(tmp_path / "games")
    (tmp_path / "games").write_text("a file where the folder should be")
    game.close()
    with pytest.raises(click.exceptions.Exit) as ended:
        say_where_kept(game)
    assert ended.value.exit_code == 1
    told = capsys.readouterr().err
    assert told.startswith("1 dispute could not be saved: ")
    assert "is kept" not in told


def test_a_game_that_was_closed_may_be_gone_on_with_and_leaves_one_file(tmp_path):
    game = kept_in(tmp_path)
    add(game, 1)
    game.close()
    assert [*tmp_path.iterdir()] == [game.path]
    game.close()


def test_a_dispute_that_is_not_there_is_refused(tmp_path):
    game = kept_in(tmp_path)
    for number in (0, 1, -1):
        with pytest.raises(BadInput, match=f"there is no dispute {number}"):
            game.dispute_position(number)


def test_a_dispute_without_a_picture_has_none(tmp_path):
    game = kept_in(tmp_path)
    game.add_dispute(dispute(), position(), b"", b"")
    with pytest.raises(BadInput, match="with a picture"):
        game.dispute_picture(1)
    assert game.trouble == ""


BEGINNING = {"format": "tablecam.play", "version": 1, "game": "maurice-lite"}


def deed(entry):
    return {"entry": entry, "events": [], "after": {}}


def test_a_game_with_the_referee_is_kept_as_it_is_played(tmp_path):
    game = kept_in(tmp_path)
    assert game.unfinished() is None
    game.begin_play(BEGINNING)
    for number in range(3):
        game.add_actions([deed({"type": "roll", "values": [number]})])
    game.add_actions([deed({"undo": 1})])
    log = [{"type": "roll", "values": [number]} for number in range(3)]
    assert game.unfinished() == BEGINNING | {"log": [*log, {"undo": 1}]}
    game.begin_play(BEGINNING)
    assert game.unfinished() == BEGINNING | {"log": []}


def test_a_game_that_goes_on_has_its_disputes_and_actions(tmp_path):
    first = kept_in(tmp_path)
    add(first, 1)
    first.begin_play(BEGINNING)
    first.add_actions([deed({"type": "done"})])
    first.close()
    again = GameRecorder(partial(new_game_file, tmp_path, FACTS), GameFile.open(first.path))
    assert again.disputes() == first.disputes()
    assert again.dispute_position(1) == position(1)
    again.add_actions([deed({"type": "done"})])
    assert again.path == first.path
    assert again.unfinished()["log"] == [{"type": "done"}] * 2


def test_actions_that_a_full_disk_refused_are_counted_and_written_later_in_order(tmp_path):
    game = kept_in(tmp_path)
    game.begin_play(BEGINNING)
    text = "x" * 4_000
    with full_disk(120_000):
        for number in range(40):
            game.add_actions([deed({"number": number, "text": text})])
        assert "actions are not on the disk" in game.trouble
    game.add_actions([deed({"number": 40, "text": text})])
    assert game.trouble == ""
    assert [entry["number"] for entry in game.unfinished()["log"]] == list(range(41))
