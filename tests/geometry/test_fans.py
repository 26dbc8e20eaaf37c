"""Which rectangles the lanes after wheels meet, compared with strips and shapes of any kind."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import affinity

from tablecam.geometry.moves.fans import TurnedLanes, critical_arcs_mm, fan_before
from tablecam.geometry.moves.lanes import advanced, front_width_mm, turned_deg, wheeled
from tablecam.geometry.outlines import Axes
from tablecam.geometry.zone_ranges import critical_turns_deg, first_hit
from tablecam.geometry.zones import strip_before

LONGEST_MM, REACH_MM, DEEP_MM = 40.0, 160.0, 0.5
ARCS_MM = np.linspace(0.0, LONGEST_MM, 9)


def rectangle(x: float, y: float, wide: float, deep: float, heading: float) -> shapely.Polygon:
    shape = shapely.box(x - wide / 2, y - deep / 2, x + wide / 2, y + deep / 2)
    return affinity.rotate(shape, heading, origin=(x, y))


rectangles = st.builds(
    rectangle,
    st.floats(-100, 260),
    st.floats(-60, 240),
    st.floats(10, 80),
    st.floats(10, 80),
    st.floats(0, 360),
)
fronts = st.builds(
    lambda wide, heading: Axes(
        (0.0, 0.0),
        (wide * math.sin(math.radians(heading)), -wide * math.cos(math.radians(heading))),
        heading,
    ),
    st.sampled_from([80.0, 160.0]),
    st.floats(60, 120),
)
corners = st.sampled_from(["left", "right"])


def fan(front, corner, shapes):
    quads_mm = shapely.get_coordinates(shapes).reshape(-1, 5, 2)[:, :4]
    return fan_before(front, corner, quads_mm)


def strip(front, corner):
    return strip_before(front, front_width_mm(front), pivot=corner, is_cut=False)


@settings(max_examples=100)
@given(front=fronts, corner=corners, shapes=st.lists(rectangles, min_size=1, max_size=4))
def test_rectangles_begin_where_shapes_of_any_kind_do(front, corner, shapes):
    (begins_mm,) = TurnedLanes.of([fan(front, corner, shapes)], [ARCS_MM], 0.0).begins_mm(DEEP_MM)
    turns_deg = turned_deg(front, corner, 1.0) * ARCS_MM
    wanted = first_hit(strip(front, corner), turns_deg, shapes, DEEP_MM)
    # A shape in the lane by just this much may count as inside or not, depending on rounding.
    sure = np.isinf(first_hit(strip(front, corner), turns_deg, shapes, DEEP_MM + 1e-6)) == np.isinf(
        first_hit(strip(front, corner), turns_deg, shapes, DEEP_MM - 1e-6)
    )
    assert begins_mm[sure] == pytest.approx(wanted[sure], abs=1e-6)


@settings(max_examples=50)
@given(
    front=fronts,
    corner=corners,
    shape=rectangles,
    askew_deg=st.floats(-4, 4),
    arc_mm=st.floats(0, LONGEST_MM),
)
def test_of_a_front_that_lies_askew_the_way_is_from_its_edge(
    front, corner, shape, askew_deg, arc_mm
):
    askew = replace(front, heading_deg=front.heading_deg + askew_deg)
    (begins_mm,) = TurnedLanes.of(
        [fan(askew, corner, [shape])], [np.array([arc_mm])], 0.0
    ).begins_mm(0.0)
    if not 0.1 < begins_mm[0, 0] < 300.0:
        return  # it is already in contact, or out of the way
    edge, way_mm = wheeled(askew, corner, arc_mm), float(begins_mm[0, 0])
    for more_mm, is_met in ((-0.05, False), (0.05, True)):
        ends = advanced(edge, way_mm + more_mm)
        there = shapely.LineString([ends.left_mm, ends.right_mm])
        assert shapely.intersects(there, shape) == is_met


@given(front=fronts, corner=corners, shape=rectangles)
def test_below_0_a_depth_asks_who_comes_near_the_lane(front, corner, shape):
    (begins_mm,) = TurnedLanes.of([fan(front, corner, [shape])], [ARCS_MM], 3.0).begins_mm([-3.0])
    turns_deg = turned_deg(front, corner, 1.0) * ARCS_MM
    wanted = first_hit(strip(front, corner).narrowed(-3.0), turns_deg, [shape])
    assert begins_mm == pytest.approx(wanted, abs=1e-6)


@given(front=fronts, corner=corners, shape=rectangles)
def test_a_corner_crosses_a_side_at_the_same_wheels_as_of_any_shape(front, corner, shape):
    arcs_mm = critical_arcs_mm(fan(front, corner, [shape]), LONGEST_MM, DEEP_MM)
    per_mm = turned_deg(front, corner, 1.0)
    most_deg = abs(per_mm) * LONGEST_MM
    wanted = critical_turns_deg(strip(front, corner), [shape], most_deg, DEEP_MM) / per_mm
    assert np.unique(arcs_mm.round(6)) == pytest.approx(np.unique(wanted.round(6)), abs=1e-5)
