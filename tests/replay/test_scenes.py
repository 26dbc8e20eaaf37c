"""A recording as scenes: moves, sentences, and the standing of the game."""

import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.record.entries import NewEntry, Picture
from tablecam.record.game_file import GameFile
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import scenes
from tests.record.games import FACTS, dispute
from tests.replay.small import deed, position

SIDES = ("french", "british")


@pytest.fixture
def game(tmp_path):
    return GameFile.create(tmp_path / "game.tablecam", FACTS)


def test_nothing_is_shown_before_the_first_position(game):
    game.append(NewEntry("notice", {"text": "The camera was bumped."}))
    assert list(scenes(game)) == []
    game.append(NewEntry("position", {"whole": position()}))
    assert [(scene.entry, scene.before) for scene in scenes(game)] == [(2, None)]


def test_a_unit_that_moved_comes_from_where_it_lay(game):
    changed = {"units": {"changed": {"F1": position(500.0)["units"][0]}}}
    whole = NewEntry("position", {"whole": position()})
    game.append(whole, NewEntry("position", {"changed": changed}))
    moved = list(scenes(game))[-1]
    assert moved.position.unit("F1").bases[0].x_mm == 500.0
    assert moved.before.unit("F1").bases[0].x_mm == 300.0


def test_a_deed_is_said_with_its_rule_its_drawing_and_how_the_game_stands(game):
    game.append(NewEntry("position", {"whole": position()}), deed("F1 hits B1 twice."))
    said = list(scenes(game))[-1]
    assert (said.words, said.rule) == ("F1 hits B1 twice.", "M-7.1")
    assert said.headline == "Round 3 · French · French: morale 9"
    assert said.markers == {"B1": "D2 S"}
    assert [shape.role for shape in said.shapes] == ["target"]


def test_what_was_taken_back_is_said(game):
    first = NewEntry("position", {"whole": position()})
    game.append(first, deed("F1 hits."), deed("", undoes=[1, 0], events=[]))
    assert list(scenes(game))[-1].words == "The last 2 actions are taken back."


def test_a_dispute_is_shown_with_its_answer(game):
    kept = {"dispute": dispute("Is B1 in range?", "too_close"), "position": position()}
    game.append(NewEntry("position", {"whole": position()}), NewEntry("dispute", kept))
    assert list(scenes(game))[-1].words == "Disputed: Is B1 in range? Too close to call"


def test_longer_words_stand_longer_but_none_for_ever(game):
    game.append(NewEntry("position", {"whole": position()}))
    game.append(deed("Hit."), deed("B1 is hit twice, and disrupted by it. " * 2), deed("ah " * 400))
    *_, short, long, endless = scenes(game)
    assert short.shown_s < long.shown_s < endless.shown_s < 5


def test_a_difference_without_a_position_before_names_its_entry(game):
    game.append(NewEntry("position", {"changed": {}}))
    with pytest.raises(BadInput, match="entry 1 does not fit the position before it"):
        list(scenes(game))


@pytest.mark.parametrize(
    "bad", [NewEntry("notice", {}), deed("", after={"state": {}}), deed("", events=[{"text": "x"}])]
)
def test_an_entry_of_another_shape_is_named(game, bad):
    game.append(NewEntry("position", {"whole": position()}), bad)
    with pytest.raises(BadInput, match=r"entry 2 is not a valid (notice|deed)"):
        list(scenes(game))


@pytest.mark.parametrize("words", ["F1 hits B1 twice. " * 40, "Onewordwithoutanyend" * 20])
def test_words_that_do_not_fit_end_within_the_picture(game, words):
    sides = {"name": "The Kingdom of the Two Sicilies " * 5, "morale": 3}
    state = {"round": {"number": 3}, "sides": [sides]}
    game.append(NewEntry("position", {"whole": position()}))
    game.append(deed(words, after={"state": state, "markers": {}}))
    ((picture, _),) = studio(game).frames(list(scenes(game))[-1])
    strip = picture[402:]
    assert strip[:, 300:580].min() < 120  # there are words
    assert strip[:, 590:].min() > 230  # and room beside them


def colour_at(picture, place_mm):
    """The mean colour around a table place in a 600 x 476 picture, at half a pixel a millimetre."""
    x_px, y_px = round(place_mm[0] / 2), 400 - round(place_mm[1] / 2)
    return picture[y_px - 4 : y_px + 4, x_px - 4 : x_px + 4].reshape(-1, 3).mean(axis=0)


def studio(game, **options):
    return Studio(game, SIDES, width_px=600, height_px=476, per_s=10, **options)


def is_blue(colour):
    blue, _, red = colour
    return blue > red + 60


def test_a_moving_unit_is_drawn_on_its_way_and_where_it_arrives(game):
    changed = {"units": {"changed": {"F1": position(700.0)["units"][0]}}}
    game.append(NewEntry("position", {"whole": position(300.0)}))
    game.append(NewEntry("position", {"changed": changed}))
    frames = list(studio(game).frames(list(scenes(game))[-1]))
    assert [count for _, count in frames[:-1]] == [1] * 8  # 0.8 s of moving
    start, middle, end = frames[0][0], frames[4][0], frames[-1][0]
    assert is_blue(colour_at(start, (300, 400)))
    assert not is_blue(colour_at(middle, (300, 400)))
    assert is_blue(colour_at(end, (700, 400)))
    assert not is_blue(colour_at(end, (300, 400)))


def test_a_commander_who_is_known_as_a_point_is_drawn_too(game):
    leader = {"id": "murray", "side": "french", "x_mm": 600.0, "y_mm": 200.0}
    game.append(NewEntry("position", {"whole": position() | {"commanders": [leader]}}))
    ((shown, _),) = studio(game).frames(next(iter(scenes(game))))
    assert is_blue(colour_at(shown, (600, 200)))


def test_the_photograph_lies_beneath_unless_the_map_is_wanted(game):
    red = np.full((80, 120, 3), (0, 0, 255), dtype=np.uint8)
    _, encoded = cv2.imencode(".png", red)
    photograph = Picture("table", encoded.tobytes(), "image/png")
    game.append(NewEntry("position", {"whole": position()}))
    game.append(NewEntry("picture", {"of": 1}, (photograph,)), deed("F1 hits."))
    scene = list(scenes(game))[-1]
    ((shown, _),) = studio(game).frames(scene)
    ((plain, _),) = studio(game, photographs=False).frames(scene)
    assert colour_at(shown, (600, 100)) == pytest.approx((0, 0, 255))
    assert colour_at(plain, (600, 100)) != pytest.approx((0, 0, 255), abs=60)
