"""Strips in front of a unit, turned, and cones: what lies in them, and how far away."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import axes, footprint
from tablecam.geometry.zone_ranges import (
    critical_turns_deg,
    first_hit,
    first_hit_by_strip,
)
from tablecam.geometry.zones import cone_at, cone_before, strip_before
from tablecam.testing import base
from tests.strategies import bases

turns_deg = st.floats(-45.0, 45.0)
pivots = st.sampled_from(["middle", "left", "right"])
BEFORE = strip_before(axes(base(0, -20)), 40)  # Its front edge from (-20, 0) to (20, 0), north.


def starts(*shapes: shapely.Geometry, turned_deg: float = 0.0, sliver_mm: float = 0.5):
    return first_hit(BEFORE, [turned_deg], shapes, sliver_mm)[0].tolist()


def test_a_range_is_taken_along_the_axis_to_the_first_part_inside():
    slanted = shapely.Polygon([(10, 100), (60, 50), (60, 150)])
    # Its nearest corner lies outside the strip; the part inside begins at the strip's side.
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
    assert np.isfinite(first_hit(corner, [40], [shapely.box(-30, -40, 10, -5)], 0.5)).all()
    assert np.isfinite(first_hit(uncut, [40], [shapely.box(-20, -40, -5, -5)], 0.5)).all()
    assert not np.isfinite(first_hit(BEFORE, [40], [shapely.box(-20, -40, -5, -5)], 0.5)).any()


def test_about_a_corner_the_strip_swings_aside():
    """Turned 45 degrees to the left about its right corner, or about its middle."""
    about_right = strip_before(axes(base(0, -20)), 40, pivot="right")
    target = shapely.Point(-60, 84).buffer(1)
    met = [math.isfinite(first_hit(strip, [45], [target])[0, 0]) for strip in (BEFORE, about_right)]
    assert met == [True, False]


@settings(max_examples=60)
@given(bases(near_mm=60), st.lists(bases(near_mm=150), min_size=1, max_size=4), turns_deg, pivots)
def test_ranges_are_those_of_the_outline_cut_out_by_shapely(shooter, others, turned_deg, pivot):
    for is_cut in (True, False):
        strip = strip_before(axes(shooter), 40, pivot=pivot, is_cut=is_cut)
        outlines = [footprint(each) for each in others]
        met = first_hit(strip, [turned_deg], outlines)[0]
        zone = strip.outline(turned_deg, 2000)
        for outline, range_mm in zip(outlines, met, strict=True):
            common = shapely.intersection(outline, zone)
            if common.area > 1e-6:
                inside = axes(base(0, 0, shooter.heading_deg + turned_deg))
                begins = inside.ahead_mm(shapely.get_coordinates(common) - strip.pivot_mm) + 20
                assert range_mm == pytest.approx(max(0.0, begins.min()), abs=1e-6)
            elif shapely.distance(outline, zone) > 1e-6:
                assert math.isinf(range_mm)


woods = st.builds(
    lambda x_mm, y_mm, radii_mm: shapely.Polygon(
        [
            (x_mm + radius * math.cos(turn), y_mm + radius * math.sin(turn))
            for radius, turn in zip(radii_mm, np.linspace(0, 2 * math.pi, 9)[:-1], strict=True)
        ]
    ),
    st.floats(-150, 150),
    st.floats(-150, 150),
    st.lists(st.floats(20.0, 110.0), min_size=8, max_size=8),
)
"""A grove of eight corners, of varying depth, that may lie over the strip's near end."""


@settings(max_examples=60)
@given(
    st.lists(bases(near_mm=150), min_size=1, max_size=3),
    st.lists(st.one_of(bases(near_mm=250).map(footprint), woods), min_size=1, max_size=5),
    st.lists(turns_deg, min_size=1, max_size=3),
    st.booleans(),
)
def test_many_strips_at_once_meet_what_shapely_cuts_out_of_each(shooters, shapes, turned_deg, cut):
    """What counts is the part between the strip's sides, less a sliver each, and its distance."""
    strips = [strip_before(axes(shooter), 40, is_cut=cut) for shooter in shooters]
    turns = np.array(turned_deg)
    met = first_hit_by_strip(strips, [turns] * len(strips), [shapes] * len(strips), 0.5)
    for strip, by_turn in zip(strips, met, strict=True):
        for turn_deg, ranges_mm in zip(turned_deg, by_turn, strict=True):
            zone, deep = strip.outline(turn_deg, 2000), strip.narrowed(0.5).outline(turn_deg, 2000)
            for shape, range_mm in zip(shapes, ranges_mm, strict=True):
                if shapely.intersection(shape, deep).area > 1e-6:
                    ahead = replace(strip, heading_deg=strip.heading_deg + turn_deg)
                    begins = shapely.get_coordinates(shapely.intersection(shape, zone))
                    assert range_mm == pytest.approx(ahead.local_mm(begins)[:, 1].min(), abs=1e-6)
                elif shapely.distance(shape, deep) > 1e-6:
                    assert math.isinf(range_mm)


def test_a_rectangle_square_to_a_strip_but_for_rounding_begins_at_its_side():
    """An edge along the axis but for rounding leads to neither side."""
    wall = [(-200.0, 60.0), (160.0, 60.0), (160.0, 65.0), (-200.0, 65.0)]
    for turn_deg in range(0, 360, 7):
        cos, sin = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
        for first in range(4):
            places = [*wall[first:], *wall[:first]]
            turned = shapely.Polygon([(cos * x - sin * y, sin * x + cos * y) for x, y in places])
            pose = base(20 * sin, -20 * cos, 90.0 + turn_deg)
            met = first_hit(strip_before(axes(pose), 40), [0.0], [turned], 0.5)
            assert met[0, 0] == pytest.approx(60.0)


@given(bases(near_mm=60), bases(near_mm=300), turns_deg)
def test_between_critical_angles_nothing_enters_or_leaves(shooter, other, turned_deg):
    strip, outline = strip_before(axes(shooter), 40), [footprint(other)]
    critical = critical_turns_deg(strip, outline, 45)
    ahead = strip.local_mm(shapely.get_coordinates(outline[0]))[:, 1]
    if ahead.min() < 80:  # With the near end and the front line come others.
        return
    edges = np.array([-45.0, *critical, 45.0])
    place = np.clip(np.searchsorted(edges, turned_deg), 1, len(edges) - 1)
    middle = (edges[place - 1] + edges[place]) / 2
    met = np.isfinite(first_hit(strip, [turned_deg, middle], outline))[:, 0]
    if np.abs(edges - turned_deg).min() > 1e-6:
        assert met[0] == met[1]


@given(
    bases(),
    st.lists(bases(), min_size=1, max_size=6),
    turns_deg,
    st.floats(1.0, 400.0),
    st.floats(0.0, 400.0),
)
def test_growing_a_range_never_loses_a_target(shooter, others, turned_deg, length_mm, more_mm):
    strip = strip_before(axes(shooter), 40)
    short, long = (strip.outline(turned_deg, reach) for reach in (length_mm, length_mm + more_mm))
    for other in others:
        held, still_held = (footprint(other).intersection(zone).area for zone in (short, long))
        assert still_held >= held - 1e-6


def test_a_cut_strip_cannot_be_turned_along_its_front():
    with pytest.raises(ValueError, match="expected angles below 89"):
        first_hit(BEFORE, [90.0], [shapely.box(0, 0, 1, 1)])


def test_a_cone_of_45_degrees_opens_from_the_corners_of_a_front():
    cone = cone_before(axes(base(0, -20)), 45)
    just_in, just_out = shapely.Point(115, 100).buffer(1), shapely.Point(125, 100).buffer(1)
    behind, ahead = shapely.box(-5, -90, 5, -50), shapely.box(-10, 150, 10, 160)
    assert cone.nearest_mm([just_in, just_out, behind, ahead]) == pytest.approx(
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


def test_a_cone_may_open_beyond_a_right_angle():
    cone = cone_before(axes(base(0, -20)), 135)
    rear_left, rear = shapely.box(-90, -50, -80, -45), shapely.box(-5, -90, 5, -80)
    assert np.isfinite(cone.nearest_mm([rear_left, rear])).tolist() == [True, False]
    with pytest.raises(ValueError, match="opening of 0 to 180"):
        cone_before(axes(base()), 181)
