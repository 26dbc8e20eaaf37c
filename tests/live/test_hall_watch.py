"""A hall is watched: what its tables do is known within moments, and a lost server is told of."""

from dataclasses import replace
from uuid import uuid4

import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.live.hall_watch import AWAY, HallWatch
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
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
    return next((each for each in watch.tables() if each.id == game.id), None)


def test_a_table_is_known_as_soon_as_it_has_sent_something(hall, watch, game):
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    assert not table_of(watch, game).is_playing  # it has never said that it is there
    hall.say_it_is_there(game.id)
    game.append(deed("F1 hits B1 twice."))
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game).words == "F1 hits B1 twice.")
    table = table_of(watch, game)
    assert table.is_playing
    assert table.headline == "Round 3 · French is active · French: morale 9"
    assert watch.tables()[0] == table  # who plays comes first


def test_a_thumbnail_shows_the_table_as_it_lies(hall, watch, game):
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    before = watch.thumbnail(game.id)
    changed = {"units": {"changed": {"F1": position(700.0)["units"][0]}}}
    game.append(NewEntry("position", {"changed": changed}))
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game).entry == 2)
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


def test_a_lost_server_is_told_of_and_watched_again_when_it_is_back(postgres, hall, watch, game):
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game) is not None)
    seen = watch.thumbnail(game.id)
    postgres.stop()
    try:
        comes_true(lambda: watch.trouble == AWAY)
        assert table_of(watch, game) is not None  # what is known stays to be seen
        assert watch.thumbnail(game.id) == seen
    finally:
        postgres.start()
    comes_true(lambda: watch.trouble == "")
    game.append(deed("On it goes."))
    catch_up(game, hall)
    comes_true(lambda: table_of(watch, game).words == "On it goes.")
