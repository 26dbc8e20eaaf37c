"""Bases on hills: placed on the hill that the table file gives, and on no other."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.table.model import Terrain
from tablecam.vision.detection.kinds import tag_ids
from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.fitting.tags import TagGuesses
from tablecam.vision.identification.heights import Hills, project_to_planes
from tablecam.vision.search.tag_finder import TagFinder
from tests.vision.pictures import CAMERA, FOOT, ROSTER, Print, picture_of
from tests.vision.sightings import base_poses

HILL_MM = 25.0
PATTERNS = tag_patterns("DICT_4X4_250", tag_ids(ROSTER))


def terrain(kind, left_mm, low_mm, right_mm, high_mm, height_mm=HILL_MM):
    corners = ((left_mm, low_mm), (right_mm, low_mm), (right_mm, high_mm), (left_mm, high_mm))
    return Terrain(f"{kind} {left_mm}", kind, corners, height_mm)


HILL = terrain("hill", 60, 60, 190, 180)
HILLY = replace(ROSTER, terrain=(HILL,))
ON_THE_HILL = [
    Print(10, 100, 100, 35.0, height_mm=HILL_MM + 3),
    Print(11, 150, 120, 210.0, height_mm=HILL_MM + 3),
]
ON_THE_TABLE = [Print(12, 300, 150, 80.0), Print(13, 250, 80, 300.0)]


def seen(search):
    return {sighting.tag: sighting for sighting in search.sightings}


def test_bases_on_a_hill_are_placed_on_it_and_others_on_the_table():
    search = TagFinder(CAMERA, HILLY).search(picture_of(ON_THE_HILL + ON_THE_TABLE))
    sightings = seen(search)
    assert search.rejections == ()
    for printed in ON_THE_HILL + ON_THE_TABLE:
        sighting = sightings[printed.tag]
        assert sighting.height_mm == printed.height_mm
        # A tenth of the hill's effect: if assumed to lie on the table, they are 3 to 7 mm off.
        assert math.hypot(sighting.x_mm - printed.x_mm, sighting.y_mm - printed.y_mm) < 0.15
    (pose,) = base_poses([sightings[10]], [FOOT], CAMERA)
    assert pose.x_mm == pytest.approx(100 + 10 * math.cos(math.radians(35)), abs=0.2)
    assert pose.y_mm == pytest.approx(100 + 10 * math.sin(math.radians(35)), abs=0.2)


def test_a_hill_of_unknown_height_raises_nothing():
    flat = replace(ROSTER, terrain=(replace(HILL, height_mm=None),))
    search = TagFinder(CAMERA, flat).search(picture_of(ON_THE_TABLE))
    assert {sighting.height_mm for sighting in search.sightings} == {3.0}


def test_a_base_on_a_hill_stays_one_base_from_picture_to_picture():
    finder, picture = TagFinder(CAMERA, HILLY), picture_of(ON_THE_HILL + ON_THE_TABLE)
    first = finder.search(picture)
    again = finder.search(picture, before=first)
    assert again.rejections == ()
    for tag, sighting in seen(first).items():
        there = seen(again)[tag]
        assert there.height_mm == sighting.height_mm
        assert math.hypot(there.x_mm - sighting.x_mm, there.y_mm - sighting.y_mm) < 0.05


def test_a_base_that_is_carried_off_a_hill_lies_on_the_table_again():
    finder = TagFinder(CAMERA, HILLY)
    before = finder.search(picture_of(ON_THE_HILL))
    moved = Print(10, 320, 220, 35.0)
    sighting = seen(finder.search(picture_of([moved, ON_THE_HILL[1]]), before=before))[10]
    assert sighting.height_mm == 3.0
    assert math.hypot(sighting.x_mm - 320, sighting.y_mm - 220) < 0.15


def tag(x_mm, y_mm, heading_deg, height_mm):
    """One tag of a foot base as it truly lies."""
    return TagGuesses(
        np.array([PATTERNS.index_of[10]]),
        np.array([[x_mm, y_mm]]),
        np.radians([heading_deg]),
        np.array([height_mm]),
        np.array([15.0]),
    )


def ground_under(roster, x_mm, y_mm, heading_deg, ground_mm):
    """The height assumed for a tag at `ground_mm`, from its apparent place on the table."""
    truly = tag(x_mm, y_mm, heading_deg, ground_mm + FOOT.tag_height_mm)
    as_seen = project_to_planes(CAMERA, truly, np.array([FOOT.tag_height_mm]))
    return float(Hills.of(roster, PATTERNS).under(CAMERA, as_seen)[0])


headings = st.floats(0, 360)


@settings(max_examples=60, deadline=None)
@given(x_mm=st.floats(75, 175), y_mm=st.floats(75, 165), heading_deg=headings)
def test_wherever_a_base_stands_on_a_hill_it_is_known_to(x_mm, y_mm, heading_deg):
    # The tag lies 10 mm behind the base's middle, which decides.
    assert ground_under(HILLY, x_mm, y_mm, heading_deg, HILL_MM) == HILL_MM


@settings(max_examples=60, deadline=None)
@given(x_mm=st.floats(215, 400), y_mm=st.floats(20, 280), heading_deg=headings)
def test_wherever_a_base_stands_clear_of_a_hill_it_is_known_to(x_mm, y_mm, heading_deg):
    # From the right of the hill, the camera sees nothing through it; 10 mm as above, 12 to spare.
    assert ground_under(HILLY, x_mm, y_mm, heading_deg, 0.0) == 0.0


def test_what_stands_on_overlapping_hills_stands_on_the_highest():
    higher = terrain("hill", 80, 80, 130, 130, 40.0)
    for order in ((HILL, higher), (higher, HILL)):
        roster = replace(ROSTER, terrain=order)
        assert ground_under(roster, 105, 105, 60.0, 40.0) == 40.0
        assert ground_under(roster, 165, 150, 60.0, HILL_MM) == HILL_MM


def test_bases_stand_among_trees_and_not_on_them():
    woods = replace(ROSTER, terrain=(terrain("woods", 60, 60, 190, 180, 60.0),))
    assert ground_under(woods, 120, 120, 10.0, 0.0) == 0.0


def test_the_middle_of_the_base_decides_at_an_edge():
    # Nearly flat, so that only the edge at x = 190 decides; the tag lies 10 mm behind the middle.
    flat = replace(ROSTER, terrain=(terrain("hill", 60, 60, 190, 180, 0.01),))
    assert ground_under(flat, 196, 120, 180.0, 0.01) == 0.01
    assert ground_under(flat, 204, 120, 180.0, 0.0) == 0.0
    assert ground_under(flat, 184, 120, 0.0, 0.0) == 0.0
    assert ground_under(flat, 176, 120, 0.0, 0.01) == 0.01
