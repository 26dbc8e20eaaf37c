"""How far rectangles can turn before they meet others, compared with shapely's swept areas."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from shapely import affinity

from tablecam.geometry.moves.lanes import swept_by_wheel
from tablecam.geometry.moves.turning import first_turn_rad, free_turns_rad, half_planes

SLIVER_MM = 0.5
MOST_RAD = 0.6
BETWEEN_MM = 0.12
"""Tolerance on the size of shapes: chords fall 0.05 mm short of their arcs, and the path of a
corner is cut by 0.1 mm more than the rim of the swept area."""


def corners(shape: shapely.Polygon) -> np.ndarray:
    return shapely.get_coordinates(shape)[:4]


def turn_rad(unit: shapely.Polygon, pivot, sense: float, other: shapely.Polygon) -> float:
    (angle_rad,) = free_turns_rad(
        np.array([pivot]),
        np.array([sense]),
        half_planes(corners(unit)[None]),
        half_planes(corners(other)[None]),
        SLIVER_MM,
    )
    return float(min(angle_rad, MOST_RAD))


def is_free(unit, pivot, sense: float, other, angle_rad: float) -> bool:
    """The slow way: the part of the swept area inside the other, except where the unit stands."""
    area = swept_by_wheel([unit], pivot, math.degrees(sense * angle_rad))
    common = shapely.intersection(area, other.difference(unit))
    return bool(shapely.is_empty(common.buffer(-SLIVER_MM / 2)))


def rectangle(x: float, y: float, wide: float, deep: float, heading: float) -> shapely.Polygon:
    shape = shapely.box(x - wide / 2, y - deep / 2, x + wide / 2, y + deep / 2)
    return affinity.rotate(shape, heading, origin=(x, y))


UNIT = shapely.box(0, -40, 160, 0)
others = st.builds(
    rectangle,
    st.floats(-120, 280),
    st.floats(-160, 140),
    st.floats(5, 160),
    st.floats(5, 90),
    st.floats(0, 360),
)


@settings(max_examples=300)
@given(other=others, sense=st.sampled_from([1.0, -1.0]))
def test_a_turn_ends_where_the_swept_area_meets_the_other(other, sense):
    pivot = (0.0, 0.0) if sense > 0 else (160.0, 0.0)
    assume(UNIT.intersection(other).area < 1e-3)
    angle_rad = turn_rad(UNIT, pivot, sense, other)
    if angle_rad > 1e-3:
        smaller = other.buffer(-BETWEEN_MM, join_style="mitre")
        assert is_free(UNIT, pivot, sense, smaller, angle_rad - 1e-4)
    if angle_rad < MOST_RAD:
        larger = other.buffer(BETWEEN_MM, join_style="mitre")
        assert not is_free(UNIT, pivot, sense, larger, angle_rad + 1e-3)


@settings(max_examples=100)
@example(deep=0.625, x=168.0, heading=-1.0)  # Askew: where it lies deepest by half a sliver.
@given(deep=st.floats(0.6, 3.0), x=st.floats(-60, 220), heading=st.floats(-3, 3))
def test_of_one_overlapped_at_the_start_the_rest_counts(deep, x, heading):
    """Hands are inexact: a friend that a front slightly overlaps."""
    friend = rectangle(x, 20 - deep, 80, 40, heading)
    angle_rad = turn_rad(UNIT, (0.0, 0.0), 1.0, friend)
    if angle_rad > 1e-3:
        smaller = friend.buffer(-BETWEEN_MM, join_style="mitre")
        assert is_free(UNIT, (0.0, 0.0), 1.0, smaller, angle_rad - 1e-4)
    if angle_rad < MOST_RAD:
        larger = friend.buffer(BETWEEN_MM, join_style="mitre")
        assert not is_free(UNIT, (0.0, 0.0), 1.0, larger, angle_rad + 1e-3)


def test_a_shape_straight_ahead_is_met_by_the_corner_that_swings_towards_it():
    ahead = shapely.box(120, 30, 200, 70)
    # The corner comes upon the near edge, drawn in by half a sliver as both are.
    reach = math.hypot(160 - 0.25, 0.25)
    wanted = math.asin(30.25 / reach) + math.atan2(0.25, 160 - 0.25)
    assert turn_rad(UNIT, (0.0, 0.0), 1.0, ahead) == pytest.approx(wanted, abs=1e-9)


def test_what_is_thinner_than_a_sliver_is_met_by_none():
    assert turn_rad(UNIT, (0.0, 0.0), 1.0, shapely.box(0, 20, 200, 20.4)) == MOST_RAD


@given(other=others)
def test_edges_of_any_outline_are_met_at_the_same_turn(other):
    inner = other.buffer(-SLIVER_MM / 2, join_style="mitre")
    own = UNIT.buffer(-SLIVER_MM / 2, join_style="mitre")
    # From edges alone one cannot tell that only the part beyond the unit's edge counts.
    assume(not inner.intersects(own) and UNIT.intersection(other).area < 1e-3)
    ring = shapely.get_coordinates(inner)
    edges = np.stack([ring[:-1], ring[1:]], axis=1)
    angle_rad = first_turn_rad((0.0, 0.0), 1.0, half_planes(corners(own)[None]), edges)
    assert min(angle_rad, MOST_RAD) == pytest.approx(turn_rad(UNIT, (0, 0), 1.0, other), abs=1e-6)
