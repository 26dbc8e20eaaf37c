"""Strips before a front, turned; and cones: what lies in them, and how far."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.measure.outlines import axes, footprint
from tablecam.measure.zone_ranges import critical_turns_deg, first_met
from tablecam.measure.zones import cone_at, cone_before, strip_before
from tablecam.testing import base
from tests.strategies import bases

turns_deg = st.floats(-45.0, 45.0)
pivots = st.sampled_from(["middle", "left", "right"])
BEFORE = strip_before(axes(base(0, -20)), 40)  # Its front edge from (-20, 0) to (20, 0), north.


def starts(*shapes: shapely.Geometry, turned_deg: float = 0.0, sliver_mm: float = 0.5):
    return first_met(BEFORE, [turned_deg], shapes, sliver_mm)[0].tolist()


def test_a_range_is_taken_along_the_axis_to_the_first_part_inside():
    slanted = shapely.Polygon([(10, 100), (60, 50), (60, 150)])
    # Its nearest corner lies outside of the strip; what lies inside begins at the strip's side.
    assert starts(shapely.box(-50, 160, 50, 200), slanted) == pytest.approx([160, 90])


def test_what_is_beside_or_behind_is_not_in_a_strip():
    assert (
        starts(shapely.box(21, 0, 60, 40), shapely.box(-5, -40, 5, -1), shapely.box(-90, 5, -25, 9))
        == [math.inf] * 3
    )


@pytest.mark.parametrize(("in_mm", "is_in"), [(0.0, False), (0.4, False), (0.6, True)])
def test_g_5_less_than_a_sliver_from_the_side_or_the_front_line_is_not_in_it(in_mm, is_in):
    beside, before = shapely.box(20 - in_mm, 50, 60, 90), shapely.box(-5, -40, 5, in_mm)
    assert np.isfinite(starts(beside, before)).tolist() == [is_in, is_in]


def test_a_shape_with_a_hole_or_a_bay_begins_where_it_does():
    ring = shapely.box(-100, -100, 100, 200).difference(shapely.box(-60, -50, 60, 120))
    assert starts(ring) == [120]


def test_a_shape_all_over_the_near_end_begins_at_it():
    around = shapely.box(-300, -300, 300, 300)
    for turned_deg in (-45.0, 0.0, 30.0):
        assert starts(around, turned_deg=turned_deg) == pytest.approx([0.0])


def test_the_heel_of_a_turned_strip_falls_on_nobody_behind_the_front_line():
    mate = shapely.box(-60, -40, -20, 0)
    uncut = strip_before(axes(base(0, -20)), 40, is_cut=False)
    # Turned right, its left heel rises; turned left, it dips behind the line, onto the mate.
    corner = strip_before(axes(base(0, -20)), 40, pivot="right", is_cut=False)
    assert starts(mate, turned_deg=40) == [math.inf]
    assert np.isfinite(first_met(corner, [40], [shapely.box(-30, -40, 10, -5)], 0.5)).all()
    assert np.isfinite(first_met(uncut, [40], [shapely.box(-20, -40, -5, -5)], 0.5)).all()
    assert not np.isfinite(first_met(BEFORE, [40], [shapely.box(-20, -40, -5, -5)], 0.5)).any()


def test_about_a_corner_the_strip_swings_aside():
    """Turned by 45 degrees to the left about its right corner, or about its middle."""
    about_right = strip_before(axes(base(0, -20)), 40, pivot="right")
    target = shapely.Point(-60, 84).buffer(1)
    met = [math.isfinite(first_met(strip, [45], [target])[0, 0]) for strip in (BEFORE, about_right)]
    assert met == [True, False]


@settings(max_examples=60)
@given(bases(near_mm=60), st.lists(bases(near_mm=150), min_size=1, max_size=4), turns_deg, pivots)
def test_ranges_are_those_of_the_outline_cut_out_by_shapely(shooter, others, turned_deg, pivot):
    for is_cut in (True, False):
        strip = strip_before(axes(shooter), 40, pivot=pivot, is_cut=is_cut)
        outlines = [footprint(each) for each in others]
        met = first_met(strip, [turned_deg], outlines)[0]
        zone = strip.outline(turned_deg, 2000)
        for outline, range_mm in zip(outlines, met, strict=True):
            common = shapely.intersection(outline, zone)
            if common.area > 1e-6:
                inside = axes(base(0, 0, shooter.heading_deg + turned_deg))
                begins = inside.ahead_mm(shapely.get_coordinates(common) - strip.pivot_mm) + 20
                assert range_mm == pytest.approx(max(0.0, begins.min()), abs=1e-6)
            elif shapely.distance(outline, zone) > 1e-6:
                assert math.isinf(range_mm)


@given(bases(near_mm=60), bases(near_mm=300), turns_deg)
def test_between_critical_angles_nothing_enters_or_leaves(shooter, other, turned_deg):
    strip, outline = strip_before(axes(shooter), 40), [footprint(other)]
    critical = critical_turns_deg(strip, outline, 45)
    ahead = strip.local_mm(shapely.get_coordinates(outline[0]))[:, 1]
    if ahead.min() < 80:  # Where the near end and the front line take part there are others.
        return
    edges = np.array([-45.0, *critical, 45.0])
    place = np.clip(np.searchsorted(edges, turned_deg), 1, len(edges) - 1)
    middle = (edges[place - 1] + edges[place]) / 2
    met = np.isfinite(first_met(strip, [turned_deg, middle], outline))[:, 0]
    if np.abs(edges - turned_deg).min() > 1e-6:
        assert met[0] == met[1]


def test_a_cut_strip_cannot_be_turned_along_its_front():
    with pytest.raises(ValueError, match="expected angles below 89"):
        first_met(BEFORE, [90.0], [shapely.box(0, 0, 1, 1)])


def test_a_cone_of_45_degrees_opens_from_the_corners_of_a_front():
    cone = cone_before(axes(base(0, -20)), 45)
    just_in, just_out = shapely.Point(115, 100).buffer(1), shapely.Point(125, 100).buffer(1)
    behind, ahead = shapely.box(-5, -90, 5, -50), shapely.box(-10, 150, 10, 160)
    assert cone.nearest_mm([just_in, just_out, behind, ahead], 0.5) == pytest.approx(
        [math.hypot(95, 100) - 1, math.inf, math.inf, 150], abs=0.01
    )


def test_a_cone_from_a_point_holds_what_its_opening_says():
    cone = cone_at((0, 0), 90, 22.5)
    for bearing_deg, is_in in ((0, True), (11.2, True), (11.3, False), (-11.2, True)):
        turn = math.radians(90 + bearing_deg)
        dot = shapely.Point(300 * math.cos(turn), 300 * math.sin(turn)).buffer(1e-3)
        assert math.isfinite(cone.nearest_mm([dot])[0]) == is_in


def test_a_cone_opened_all_around_is_a_radius():
    cone = cone_before(axes(base(0, -20)), 180)
    assert cone.nearest_mm([shapely.box(-5, -130, 5, -100)]) == pytest.approx([100])
    assert cone.outline(50).area == pytest.approx(math.pi * 2500 + 40 * 100, rel=1e-3)


def test_a_cone_may_open_to_one_side_and_beyond_a_right_angle():
    cone = cone_before(axes(base(0, -20)), 135, 0)
    rear_left, right_ahead = shapely.box(-90, -50, -80, -45), shapely.box(40, 40, 50, 50)
    assert np.isfinite(cone.nearest_mm([rear_left, right_ahead])).tolist() == [True, False]
    with pytest.raises(ValueError, match="openings from 0 to 180"):
        cone_before(axes(base()), 181)
