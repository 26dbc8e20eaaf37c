"""Wheels and straight moves: where they end, and what they sweep."""

import math

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import affinity

from tablecam.geometry.moves.lanes import (
    ARC_ERROR_MM,
    advanced,
    all_ahead,
    lane,
    pivot_mm,
    swept_by_wheel,
    swept_straight,
    turned_deg,
    wheeled,
)
from tablecam.geometry.outlines import Axes

FRONT = Axes((100.0, 50.0), (260.0, 50.0), 90.0)
LINE = shapely.box(100, 10, 260, 50)

corners = st.sampled_from(["left", "right"])


def test_a_line_of_four_turns_a_quarter_of_a_radian_for_one_base_width():  # M-6.14
    assert turned_deg(FRONT, "left", 40.0) == pytest.approx(math.degrees(0.25))
    assert turned_deg(FRONT, "right", 40.0) == pytest.approx(-math.degrees(0.25))


@given(corner=corners, arc_mm=st.floats(0, 200))
def test_a_wheel_leaves_one_end_and_takes_the_other_along_its_arc(corner, arc_mm):
    end = wheeled(FRONT, corner, arc_mm)
    still, before, after = (
        (end.left_mm, FRONT.right_mm, end.right_mm)
        if corner == "left"
        else (end.right_mm, FRONT.left_mm, end.left_mm)
    )
    assert still == pytest.approx(pivot_mm(FRONT, corner))
    chord_mm = 2 * 160 * math.sin(arc_mm / 160 / 2)
    assert math.dist(before, after) == pytest.approx(chord_mm, abs=1e-9)
    assert after[1] >= before[1] - 1e-9  # forward


def test_a_straight_move_keeps_the_heading():
    assert advanced(FRONT, 30.0) == Axes((100.0, 80.0), (260.0, 80.0), 90.0)


def test_a_lane_is_what_the_front_passes_over():
    assert lane(FRONT, 30.0).equals(shapely.box(100, 50, 260, 80))
    assert lane(FRONT, 30.0, behind_mm=5.0).equals(shapely.box(100, 45, 260, 80))


def test_all_ahead_is_bounded_by_the_front_line():
    area = all_ahead(FRONT, 1000.0)
    assert area.bounds[1] == 50.0
    assert area.covers(shapely.Point(-800, 900))


def test_a_straight_move_passes_over_start_end_and_all_between():
    assert swept_straight([LINE], 90.0, 25.0).equals(shapely.box(100, 10, 260, 75))
    assert swept_straight([LINE], 0.0, 25.0).equals(shapely.box(100, 10, 285, 50))


@settings(max_examples=40)
@given(corner=corners, arc_mm=st.floats(0, 160), share=st.floats(0, 1))
def test_a_wheel_passes_over_every_place_on_its_way(corner, arc_mm, share):
    about = pivot_mm(FRONT, corner)
    whole_deg = turned_deg(FRONT, corner, arc_mm)
    area = swept_by_wheel([LINE], about, whole_deg)
    place = affinity.rotate(LINE, share * whole_deg, origin=about)
    outside = shapely.difference(place, area)
    farthest_mm = shapely.hausdorff_distance(shapely.union(area, outside), area)
    assert farthest_mm <= ARC_ERROR_MM + 1e-6


@settings(max_examples=20)
@given(corner=corners, arc_mm=st.floats(1, 160))
def test_a_wheel_passes_over_nothing_else(corner, arc_mm):
    """Compared with many places on the way, with gaps no wider than a step."""
    about, whole_deg = pivot_mm(FRONT, corner), turned_deg(FRONT, corner, arc_mm)
    area = swept_by_wheel([LINE], about, whole_deg)
    places = [affinity.rotate(LINE, whole_deg * step / 200, origin=about) for step in range(201)]
    union = shapely.union_all(places)
    assert shapely.hausdorff_distance(area, union) <= ARC_ERROR_MM + 165 * arc_mm / 160 / 200
