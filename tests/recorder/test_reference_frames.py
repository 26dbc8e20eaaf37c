"""Which picture of a place is kept before a hand reaches it."""

from dataclasses import replace

import numpy as np
import pytest

from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture
from tablecam.recorder.reference_frames import ReferenceFrames, Shot
from tablecam.simulate.demo import demo_camera
from tablecam.table.model import Position, TableSize, Unit
from tests.recorder.test_trajectories import hidden, moving, pose, resting

CAMERA = demo_camera(640, 360)
SMALL = np.zeros((36, 64, 3), np.uint8)
OWNERS = {1: "F1", 2: "F1", 3: "B1"}
START = {1: pose(100, tag=1), 2: pose(140, tag=2), 3: pose(500, tag=3)}


def shot(number, picture=SMALL):
    return Shot(Frame(DecodedPicture(picture), number, float(number)), CAMERA)


def position(places):
    units = (
        Unit("F1", "french", "infantry", (places[1], places[2])),
        Unit("B1", "british", "infantry", (places[3],)),
    )
    return Position("maurice-lite", TableSize(1800, 1200, 40), units)


def all_resting(places=START):
    return [resting(each, tag) for tag, each in places.items()]


@pytest.fixture
def looks():
    """A table that has settled, as picture 0 shows it."""
    looks = ReferenceFrames(OWNERS)
    looks.settle(position(START), all_resting(), shot(0))
    return looks


def number(kept):
    return None if kept is None else kept.frame.number


def test_what_lies_still_is_kept_as_it_was_seen_last(looks):
    looks.see(all_resting(), shot(10))
    assert number(looks.clear_shot("F1")) == 10


def test_pictures_are_looked_at_every_few_seconds(looks):
    looks.see(all_resting(), replace(shot(7), frame=replace(shot(7).frame, taken_at_s=9.5)))
    assert number(looks.clear_shot("F1")) == 0


def test_a_unit_without_a_picture_is_looked_for_sooner_and_others_keep_theirs(looks):
    there = START | {3: pose(500, 90, tag=3)}
    looks.settle(position(there), [*all_resting()[:2], hidden(there[3], 3)], shot(9))
    assert (number(looks.clear_shot("F1")), looks.clear_shot("B1")) == (9, None)
    looks.see(all_resting(there), shot(10))
    assert (number(looks.clear_shot("F1")), number(looks.clear_shot("B1"))) == (9, 10)


@pytest.mark.parametrize(
    "base",
    [hidden(START[2], 2), moving(pose(150, tag=2), START[2], 2), resting(pose(190, tag=2), 2)],
    ids=["hidden", "moving", "elsewhere"],
)
def test_a_unit_of_which_not_all_is_seen_in_place_keeps_its_older_picture(looks, base):
    looks.see([resting(START[1], 1), base, resting(START[3], 3)], shot(10))
    assert number(looks.clear_shot("F1")) == 0
    assert number(looks.clear_shot("B1")) == 10


def test_a_unit_that_settled_elsewhere_is_no_longer_shown_where_it_lay(looks):
    there = START | {1: pose(100, 90, tag=1), 2: pose(140, 90, tag=2)}
    bases = [*(hidden(there[tag], tag) for tag in (1, 2)), resting(there[3], 3)]
    looks.settle(position(there), bases, shot(9))
    assert looks.clear_shot("F1") is None
    assert number(looks.clear_shot("B1")) == 9
    looks.see(all_resting(there), shot(12))
    assert number(looks.clear_shot("F1")) == 12


def test_so_many_large_pictures_are_not_kept_that_memory_runs_short(looks):
    large = np.zeros((2160, 3840, 3), np.uint8)
    bases = {tag: resting(each, tag) for tag, each in START.items()}
    looks.see([bases[1], bases[2], hidden(START[3], 3)], shot(10, large))
    assert number(looks.clear_shot("B1")) == 0
    owners = {tag: f"unit {tag}" for tag in range(1, 21)}
    many = ReferenceFrames(owners)
    places = {tag: pose(50.0 * tag, tag=tag) for tag in owners}
    whole = Position(
        "maurice-lite",
        TableSize(1800, 1200, 40),
        tuple(Unit(owners[tag], "french", "infantry", (each,)) for tag, each in places.items()),
    )
    many.settle(whole, [], shot(0, large))
    for seen in owners:
        many.see([resting(places[seen], seen)], shot(10 * seen, large))
    kept = [number(many.clear_shot(name)) for name in owners.values()]
    assert [entry for entry in kept if entry is not None] == [170, 180, 190, 200]
