"""A table that plays in a hall: everything recorded reaches the server sooner or later."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tablecam.hall.server import Hall
from tablecam.hall.synchronisation import BATCH
from tablecam.hall.uploader import APART, AWAY, NOT_TAKEN, QueuedUpload, Uploader, UploadQueue
from tablecam.record.entries import NewEntry, Picture
from tablecam.record.faults import ServerUnavailable
from tablecam.record.game_file import GameFile
from tests.patience import comes_true
from tests.record.games import FACTS


@pytest.fixture
def game(tmp_path):
    return GameFile.create(tmp_path / "now.tablecam", replace(FACTS, id=uuid4().hex))


def keep(game, number):
    game.append(NewEntry("deed", {"entry": {"number": number}}))


def has_all(hall, game):
    return hall.journal(game.id).last() == game.last()


def is_there(hall, game):
    recordings = {recording.id: recording for recording in hall.recordings()}
    return recordings[game.id].silent_s is not None


def test_what_is_kept_at_the_table_is_soon_in_the_hall_and_the_table_is_there(hall, game):
    keep(game, 1)
    with Uploader(hall, lambda: game.path, game.path.parent) as sending:
        comes_true(lambda: sending.trouble == "" and has_all(hall, game))
        keep(game, 2)
        comes_true(lambda: has_all(hall, game))
        assert hall.journal(game.id).entries() == game.entries()
        comes_true(lambda: is_there(hall, game))


def test_a_lost_server_is_told_of_and_gets_the_rest_when_it_is_back(postgres, hall, game):
    keep(game, 1)
    with Uploader(hall, lambda: game.path, game.path.parent) as sending:
        comes_true(lambda: has_all(hall, game))
        postgres.stop()
        try:
            keep(game, 2)
            comes_true(lambda: sending.trouble == AWAY)
        finally:
            postgres.start()
        comes_true(lambda: sending.trouble == "" and has_all(hall, game))
    assert hall.journal(game.id).entries() == game.entries()


def owed(hall, *paths):
    note = UploadQueue(paths[0].parent, hall.name)
    for path in paths:
        note.add(QueuedUpload(path))


def test_games_that_ended_while_the_server_was_away_are_sent_at_the_next_start(
    postgres, hall, game
):
    keep(game, 1)
    postgres.stop()
    try:
        with Uploader(hall, lambda: game.path, game.path.parent) as sending:
            comes_true(lambda: sending.trouble != "")
    finally:
        postgres.start()
    with Uploader(hall, lambda: None, game.path.parent):
        comes_true(lambda: has_all(hall, game))
        comes_true(lambda: UploadQueue(game.path.parent, hall.name).games() == [])


def test_games_that_were_not_played_in_a_hall_are_not_shown_in_it(hall, game):
    private = GameFile.create(game.path.with_name("own.tablecam"), replace(FACTS, id=uuid4().hex))
    keep(private, 1)
    keep(game, 1)
    UploadQueue(game.path.parent, "postgresql://another/hall").add(QueuedUpload(private.path))
    with Uploader(hall, lambda: game.path, game.path.parent):
        comes_true(lambda: has_all(hall, game))
    with Uploader(hall, lambda: None, game.path.parent):
        comes_true(lambda: UploadQueue(game.path.parent, hall.name).games() == [])
    assert [recording.id for recording in hall.recordings()] == [game.id]


def test_what_was_done_last_is_sent_before_the_program_ends(hall, game):
    sending = Uploader(hall, lambda: game.path, game.path.parent)
    with sending:
        comes_true(lambda: sending._is_ready)
        keep(game, 1)
    assert has_all(hall, game)


def test_a_game_that_is_played_does_not_wait_for_those_before_it(hall, game):
    older = GameFile.create(game.path.with_name("before.tablecam"), replace(FACTS, id=uuid4().hex))
    older.append(*(NewEntry("notice", {"text": str(number)}) for number in range(2 * BATCH)))
    keep(game, 1)
    owed(hall, older.path)
    sending = Uploader(hall, lambda: game.path, game.path.parent)
    sending._step()
    assert has_all(hall, game)
    assert is_there(hall, game)
    assert hall.journal(older.id).last() == BATCH
    with sending:
        comes_true(lambda: has_all(hall, older))


def test_a_damaged_game_of_before_keeps_nothing_else_from_the_hall(hall, game):
    damaged = GameFile.create(game.path.with_name("a.tablecam"), replace(FACTS, id=uuid4().hex))
    damaged.append(NewEntry("notice", {"text": "Here."}))
    with sqlite3.connect(damaged.path) as raw:
        raw.execute("UPDATE entry SET document = '{'")
    raw.close()
    broken = game.path.with_name("b.tablecam")
    broken.write_bytes(b"no recording")
    keep(game, 1)
    owed(hall, damaged.path, broken, game.path)
    with Uploader(hall, lambda: None, game.path.parent) as sending:
        comes_true(lambda: has_all(hall, game))
        assert sending.trouble == ""


@pytest.fixture
def twin(game):
    """A copy of the game's file in a folder of another machine."""
    keep(game, 1)
    folder = game.path.parent / "elsewhere"
    folder.mkdir()
    return GameFile.open(Path(shutil.copy(game.path, folder)))


def test_a_copied_file_is_shown_as_a_game_of_its_own_and_that_is_said_once(hall, game, twin):
    keep(game, 2)
    keep(twin, 3)
    with Uploader(hall, lambda: game.path, game.path.parent, "Table 1") as first:
        comes_true(lambda: has_all(hall, game))
        with Uploader(hall, lambda: twin.path, twin.path.parent, "Table 2") as second:
            comes_true(lambda: len(hall.recordings()) == 2)
            apart = next(recording for recording in hall.recordings() if recording.id != game.id)
            keep(twin, 4)
            comes_true(lambda: hall.journal(apart.id).last() == twin.last())
            said = []
            comes_true(lambda: said.extend(second.news()) or said != [])
            keep(twin, 5)
            comes_true(lambda: hall.journal(apart.id).last() == twin.last())
            assert [*said, *second.news()] == [APART]
            assert second.trouble == ""
    assert first.news() == []
    assert hall.journal(game.id).entries() == game.entries()
    assert hall.journal(apart.id).entries() == twin.entries()
    assert names(hall) == {game.id: "Table 1", apart.id: "Table 2"}


def names(hall):
    return {recording.id: recording.name for recording in hall.recordings()}


def test_a_table_is_called_as_its_players_call_it_now(hall, game):
    keep(game, 1)
    for name, shown in (("Saal 3, Tür", "Saal 3, Tür"), ("a\n\tb\x00\udcff ", "a b ?")):
        with Uploader(hall, lambda: game.path, game.path.parent, name):
            comes_true(lambda shown=shown: names(hall).get(game.id) == shown)


def test_a_game_that_ended_while_the_server_was_away_has_its_name(postgres, hall, game):
    keep(game, 1)
    postgres.stop()
    try:
        with Uploader(hall, lambda: game.path, game.path.parent, "Table 1") as sending:
            comes_true(lambda: sending.trouble != "")
    finally:
        postgres.start()
    with Uploader(hall, lambda: None, game.path.parent, "Table 2"):
        comes_true(lambda: UploadQueue(game.path.parent, hall.name).games() == [])
    assert names(hall) == {game.id: "Table 1"}


def test_pictures_that_the_hall_lost_are_sent_while_the_game_is_played(hall, game):
    game.append(*(NewEntry("position", {}, (Picture("table", b"x"),)) for _ in range(50)))
    with Uploader(hall, lambda: game.path, game.path.parent):
        comes_true(lambda: has_all(hall, game))
    with hall.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM picture")
    with Uploader(hall, lambda: game.path, game.path.parent):
        comes_true(lambda: hall.journal(game.id).pictured() == game.pictured())


def test_a_server_that_is_lost_while_an_older_game_is_sent_is_still_owed_it(postgres, hall, game):
    keep(game, 1)
    owed(hall, game.path)
    sending = Uploader(hall, lambda: None, game.path.parent)
    hall.prepare()
    postgres.stop()
    try:
        with pytest.raises(ServerUnavailable):
            sending._send_older(QueuedUpload(game.path))
    finally:
        postgres.start()
    assert UploadQueue(game.path.parent, hall.name).games() == [QueuedUpload(game.path)]


def test_a_server_that_refuses_is_not_said_to_be_away(postgres, game, caplog):
    keep(game, 1)
    hall = Hall(postgres.address.replace("/postgres", "/nowhere"))
    with Uploader(hall, lambda: game.path, game.path.parent) as sending:
        comes_true(lambda: sending.trouble == NOT_TAKEN)
    assert 'database "nowhere" does not exist' in caplog.text
