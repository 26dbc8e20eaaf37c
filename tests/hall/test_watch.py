"""Watching a hall: its tables' news is known within moments, and a lost server is reported."""

from dataclasses import replace
from importlib.resources import files
from uuid import uuid4

import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.hall.server import Hall, RecordingSummary
from tablecam.hall.tables import Followed, Side, game_status
from tablecam.hall.watch import AWAY, HallWatch
from tablecam.record.entries import NewEntry
from tablecam.record.faults import ServerUnavailable
from tablecam.record.game_file import GameFile
from tablecam.rules.games import described
from tests.patience import comes_true
from tests.record.games import FACTS, catch_up
from tests.replay.small import deed, position


@pytest.fixture
def watch(hall):
    with HallWatch(hall) as watching:
        yield watching


@pytest.fixture
def game(tmp_path):
    made = GameFile.create(tmp_path / "game.tablecam", replace(FACTS, id=uuid4().hex))
    made.append(NewEntry("position", {"whole": position()}))
    return made


def table_of(watch, game):
    return next((table for table in watch.tables() if table.id == game.id), None)


def test_a_table_is_known_as_soon_as_it_has_sent_something(hall, watch, game):
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    assert not table_of(watch, game).is_playing  # it has never reported its presence
    hall.report_presence(game.id)
    game.append(deed("F1 hits B1 twice."))
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game).standing.words == "F1 hits B1 twice.")
    table = table_of(watch, game)
    assert table.is_playing
    assert (table.standing.turn, table.standing.active) == ("Round 3", "French")
    assert table.standing.sides == (Side("French", "morale 9"), Side("British", colour=1))
    assert watch.tables()[0] == table  # tables that play come first


def test_a_recording_that_was_changed_on_the_server_is_told_to_be_so(hall, game):
    game.append(deed("F1 hits B1 twice."))
    catch_up(game, hall)
    with hall.engine.begin() as connection:
        change = "UPDATE entry SET document = replace(document, 'twice', 'once')"
        connection.exec_driver_sql(f"{change} WHERE number = 2 AND recording = '{game.id}'")
    followed = Followed(hall.journal(game.id))
    followed.verify()
    (listed,) = (recording for recording in hall.recordings() if recording.id == game.id)
    told = followed.table(listed).standing.words
    assert told.startswith("Changed since it was written: entry 2 (deed)")


def test_a_table_is_called_as_its_players_call_it_and_its_sides_as_its_table_file_does(
    hall, watch, tmp_path
):
    path = tmp_path / "named.tablecam"
    table_file = (files("tablecam.simulate") / "demo_table.toml").read_text(encoding="utf-8")
    facts = replace(FACTS, id=uuid4().hex, table_file=table_file)
    game = GameFile.create(path, facts, [NewEntry("position", {"whole": position()})])
    catch_up(game, hall)
    hall.set_table_name(game.id, "Saal 3, Tür")
    comes_true(lambda: {table.name for table in watch.tables()} == {"Saal 3, Tür"})
    table = table_of(watch, game)
    assert table.standing.sides == (Side("Prussians"), Side("Austrians", colour=1))
    assert (table.standing.turn, table.standing.active) == ("", None)


@pytest.mark.parametrize("name", ["maida-1806", "huzzah-ge"])
def test_a_table_whose_game_has_not_begun_names_its_sides_alone(name):
    status = game_status(described(name), 1, "", ("french", "british"), None)
    assert (status.turn, status.sides) == ("", (Side("French"), Side("British", colour=1)))


def test_a_game_that_is_over_tells_of_its_end(hall, watch, game):
    last = deed("B1 breaks.")
    last.document["after"]["is_over"] = True
    game.append(deed("F1 hits B1 twice."), last)
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    table = table_of(watch, game)
    assert not table.is_playing
    assert (table.standing.words, table.standing.turn) == ("B1 breaks.", "Round 3")
    assert (table.standing.is_over, table.standing.active) == (True, None)
    assert table.standing.sides == (Side("French", "morale 9"),)


def test_a_thumbnail_shows_the_table_as_it_lies(hall, watch, game):
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    before = watch.thumbnail(game.id)
    changed = {"units": {"changed": {"F1": position(700.0)["units"][0]}}}
    game.append(NewEntry("position", {"changed": changed}))
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game).standing.entry == 2)
    after = watch.thumbnail(game.id)
    assert after == watch.thumbnail(game.id)
    shown = [cv2.imdecode(np.frombuffer(jpeg, np.uint8), 1) for jpeg in (before, after)]
    x_px, y_px = round(700 / 1200 * 720), 240
    spots = [
        picture[y_px - 3 : y_px + 3, x_px - 3 : x_px + 3].mean(axis=(0, 1)) for picture in shown
    ]
    assert spots[1][0] - spots[1][2] > spots[0][0] - spots[0][2] + 60  # it is blue there now


def test_a_table_that_is_not_there_is_named(watch):
    with pytest.raises(BadInput, match="there is no table nowhere"):
        watch.thumbnail("nowhere")


def test_a_table_is_not_told_of_by_a_server_that_is_lost():
    away = Hall("postgresql://nobody@127.0.0.1:1/tables")
    for silent_s in (0.0, None):  # one that plays, one that has ended
        listed = RecordingSummary("a", "maurice-lite", FACTS.started_at, last=7, silent_s=silent_s)
        with pytest.raises(ServerUnavailable):
            Followed(away.journal("a")).table(listed)


def test_a_lost_server_is_told_of_and_watched_again_when_it_is_back(postgres, hall, watch, game):
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    seen = watch.thumbnail(game.id)
    postgres.stop()
    try:
        comes_true(lambda: watch.trouble == AWAY)
        assert table_of(watch, game) is not None  # what is known stays visible
        assert watch.thumbnail(game.id) == seen
    finally:
        postgres.start()
    comes_true(lambda: watch.trouble == "")
    game.append(deed("On it goes."))
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game).standing.words == "On it goes.")
