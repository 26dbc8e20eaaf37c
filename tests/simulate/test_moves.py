import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.simulate.moves import Deploy, Forward, Glide, Wheel
from tablecam.simulate.overlap import do_overlap
from tablecam.simulate.rendering.places import (
    Place,
    formed,
    front_corner,
    unit_corners_mm,
    unit_outline_mm,
    unit_place,
)
from tablecam.table.roster import BaseType

FOOT = BaseType("foot", 30, 30, 14)
HORSE = BaseType("horse", 30, 36, 14)

headings = st.floats(-720, 720)
places = st.builds(Place, st.floats(0, 1200), st.floats(0, 800), headings)
formations = st.sampled_from(["line", "column", "massed"])
shares = st.floats(0, 1)


def _xy(place: Place) -> tuple[float, float]:
    return place.x_mm, place.y_mm


@given(places, formations)
def test_a_formed_unit_has_its_centre_where_it_was_told(middle, formation):
    unit = formed(middle, formation, 4, HORSE)
    assert _xy(unit_place(unit, HORSE)) == pytest.approx(_xy(middle), abs=1e-6)
    corners = unit_corners_mm(unit, HORSE)
    for index in range(3):
        assert not do_overlap(corners[: index + 1], corners[index + 1 :])


def test_a_line_counts_its_bases_from_the_left():
    unit = formed(Place(100, 100, 90), "line", 4, FOOT)
    assert [place.x_mm for place in unit] == pytest.approx([55, 85, 115, 145])


def test_a_column_counts_its_bases_from_the_front():
    unit = formed(Place(100, 100, 90), "column", 4, FOOT)
    assert [place.y_mm for place in unit] == pytest.approx([145, 115, 85, 55])


@given(places, formations, st.sampled_from(["left", "right"]), st.floats(1, 180), shares)
def test_a_wheel_keeps_its_pivot_corner(middle, formation, side, degrees, share):
    unit = formed(middle, formation, 4, FOOT)
    pivot = front_corner(unit, FOOT, side)
    wheeled = Wheel(side, degrees).along(unit, FOOT, share)
    assert _xy(front_corner(wheeled, FOOT, side)) == pytest.approx(_xy(pivot), abs=1e-6)


@given(places, st.floats(1, 90))
def test_a_wheel_to_the_left_turns_counter_clockwise_and_goes_forward(middle, degrees):
    unit = formed(middle, "line", 4, FOOT)
    wheeled = Wheel("left", degrees).along(unit, FOOT, 1.0)
    assert wheeled[0].heading_deg - unit[0].heading_deg == pytest.approx(degrees)
    ahead, _ = front_corner(wheeled, FOOT, "right").seen_from(front_corner(unit, FOOT, "right"))
    assert ahead > 0


def test_a_wheel_is_as_long_as_the_way_of_its_outer_corner():
    unit = formed(Place(0, 0, 90), "line", 4, FOOT)
    rear = math.hypot(120, 30)  # the rear outer corner goes farther than the front one
    assert Wheel("left", 90).length_mm(unit, FOOT) == pytest.approx(rear * math.pi / 2)


@given(places, formations, st.floats(-200, 200), shares)
def test_forward_is_straight_ahead(middle, formation, distance_mm, share):
    unit = formed(middle, formation, 4, FOOT)
    moved = Forward(distance_mm).along(unit, FOOT, share)
    for before, after in zip(unit, moved, strict=True):
        assert after.seen_from(before) == pytest.approx((distance_mm * share, 0), abs=1e-6)
        assert after.heading_deg == before.heading_deg


@given(places, places)
def test_a_glide_ends_at_its_goal(middle, goal):
    unit = formed(middle, "massed", 4, HORSE)
    moved = Glide(goal.x_mm, goal.y_mm, goal.heading_deg).along(unit, HORSE, 1.0)
    end = unit_place(moved, HORSE)
    assert _xy(end) == pytest.approx(_xy(goal), abs=1e-6)
    assert math.cos(math.radians(end.heading_deg - goal.heading_deg)) == pytest.approx(1)


@given(places, st.sampled_from(["left", "right"]))
def test_a_column_deploys_into_a_line_in_its_own_footprint(middle, side):
    unit = formed(middle, "column", 4, FOOT)
    line = Deploy(side).along(unit, FOOT, 1.0)
    turn_deg = 90 if side == "left" else -90
    assert [place.heading_deg for place in line] == pytest.approx(
        [middle.heading_deg + turn_deg] * 4
    )
    assert _xy(unit_place(line, FOOT)) == pytest.approx(_xy(middle), abs=1e-6)
    sides = np.linalg.norm(np.diff(unit_outline_mm(line, FOOT), axis=0), axis=1)
    assert sides == pytest.approx([120, 30, 120])


@given(st.sampled_from(["left", "right"]), shares)
def test_bases_do_not_overlap_while_they_deploy(side, share):
    unit = formed(Place(300, 300, 20), "column", 4, FOOT)
    corners = unit_corners_mm(Deploy(side).along(unit, FOOT, share), FOOT)
    for index in range(3):
        assert not do_overlap(corners[: index + 1], corners[index + 1 :])


@pytest.mark.parametrize("move", [Forward(50), Wheel("right", 30), Glide(9, 9, 9), Deploy("left")])
def test_a_move_begins_where_the_unit_lies(move):
    unit = formed(Place(300, 300, 20), "column", 4, FOOT)
    for before, after in zip(unit, move.along(unit, FOOT, 0.0), strict=True):
        assert _xy(after) == pytest.approx(_xy(before))
        assert after.heading_deg == pytest.approx(before.heading_deg)
    assert move.length_mm(unit, FOOT) > 0
