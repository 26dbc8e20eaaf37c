"""The path of a unit, from sightings of its bases while hands move them."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.recorder.trajectories import PathPoint, Trajectories, path, path_document
from tablecam.table.model import BasePose
from tablecam.vision.tracking.tracking import TrackedBase

FRAME_S = 0.1


def pose(x_mm, y_mm=0.0, heading_deg=0.0, **more):
    return BasePose(x_mm, y_mm, heading_deg, 40, 40, **more)


def resting(at, tag=1):
    return TrackedBase(tag, at, is_settled=True, rest=at)


def moving(at, came_from, tag=1):
    return TrackedBase(tag, at, is_settled=False, rest=came_from)


def hidden(rest, tag=1):
    return TrackedBase(tag, replace(rest, seen="held"), is_settled=True, rest=rest, hidden_for_s=1)


def watched(*looks):
    """Trails after sightings of one base each, a frame apart."""
    trails = Trajectories()
    for number, base in enumerate(looks):
        trails.watch([base], number * FRAME_S)
    return trails


def test_a_base_that_lies_still_leaves_no_trail():
    base = resting(pose(100))
    trajectories, now_s = watched(base, base, base).take()
    assert trajectories == {}
    assert now_s == pytest.approx(2 * FRAME_S)


def test_a_way_begins_when_a_base_left_its_rest_and_ends_where_it_rests():
    start, end = pose(100), pose(200)
    seen = [moving(pose(x), start) for x in (120, 160, 190)]
    trajectories, _ = watched(resting(start), resting(start), *seen, resting(end)).take()
    assert [(each.at_s, each.x_mm) for each in trajectories[1]] == [
        (pytest.approx(0.1), 100),
        (pytest.approx(0.2), 120),
        (pytest.approx(0.3), 160),
        (pytest.approx(0.4), 190),
        (pytest.approx(0.5), 200),
    ]


def test_what_is_taken_is_not_told_again():
    start, end = pose(100), pose(200)
    trails = watched(resting(start), moving(pose(150), start), resting(end))
    trails.take()
    assert trails.take()[0] == {}
    trails.watch([moving(pose(250), end)], 1.0)
    assert [each.x_mm for each in trails.take()[0][1]] == [200, 250]


def test_a_hand_that_only_passes_over_leaves_no_trail():
    start = pose(100)
    assert watched(resting(start), hidden(start), hidden(start), resting(start)).take()[0] == {}


def test_a_base_that_is_carried_unseen_has_its_two_ends():
    start, end = pose(100), pose(300)
    trajectories, _ = watched(resting(start), hidden(start), resting(end)).take()
    assert [each.x_mm for each in trajectories[1]] == [100, 300]


def test_of_a_long_way_only_so_much_is_remembered_as_tells_it():
    start = pose(0)
    away = [moving(pose(x), start) for x in range(1, 1500)]
    aside = [moving(pose(1499, y), start) for y in range(1, 1500)]
    (way,) = watched(resting(start), *away, *aside).take()[0].values()
    assert len(way) <= 400
    points = told([pose(0)], [pose(1499, 1499)], way)
    assert [(point.x_mm, point.y_mm) for point in points] == [(0, 0), (1499, 0), (1499, 1499)]
    assert points[1].at_s == pytest.approx(149.9)


def test_of_a_long_way_with_many_turns_a_part_is_remembered():
    start = pose(0)
    looks = [moving(pose(5.0 * x, 50.0 * (x % 2)), start) for x in range(1, 3000)]
    (way,) = watched(resting(start), *looks).take()[0].values()
    assert len(way) <= 400
    assert (way[0].x_mm, way[-1].x_mm) == (0, 5.0 * 2999)


def told(start, end, *trajectories):
    return path(start, end, trajectories, now_s=9.0)


def test_a_straight_push_is_told_by_its_two_ends():
    way = [PathPoint(t, 100 + 10 * t, 0.0, 0.0) for t in range(11)]
    assert told([pose(100)], [pose(200)], way) == (way[0], way[-1])


def test_a_way_round_a_corner_has_the_corner():
    there = [PathPoint(t, 10.0 * t, 0.0, 0.0) for t in range(11)]
    back = [PathPoint(10 + t, 100.0, 10.0 * t, 90.0) for t in range(1, 11)]
    points = told([pose(0)], [pose(100, 100)], [*there, *back])
    assert [(point.x_mm, point.y_mm) for point in points] == [(0, 0), (100, 0), (100, 100)]
    assert points[1].at_s == 10


def test_a_unit_goes_as_the_middle_of_its_bases():
    start, end = [pose(0), pose(40)], [pose(0, 100), pose(40, 100)]
    first = [PathPoint(0, 0, 0, 0), PathPoint(1, 0, 100, 0)]
    second = [PathPoint(2, 40, 0, 0), PathPoint(3, 40, 100, 0)]
    points = told(start, end, first, second)
    assert [(point.at_s, point.x_mm, point.y_mm) for point in points] == [(0, 20, 0), (3, 20, 100)]


def test_a_wheel_turns_the_middle_with_it():
    angles = [math.radians(10 * step) for step in range(10)]
    way = [
        PathPoint(step, 100 * math.cos(angle), 100 * math.sin(angle), math.degrees(angle))
        for step, angle in enumerate(angles)
    ]
    points = told([pose(100)], [pose(0, 100, 90)], way)
    assert 4 <= len(points) <= 8  # a quarter circle of 100 mm, no chord more than 2 mm off
    assert [point.heading_deg for point in points] == sorted(p.heading_deg for p in points)


def test_a_way_that_nobody_saw_is_from_here_to_there_at_once():
    points = told([pose(0)], [pose(100)], ())
    assert [(point.at_s, point.x_mm) for point in points] == [(9.0, 0), (9.0, 100)]


def test_a_document_counts_backwards_from_the_entry():
    way = [PathPoint(1.0, 0, 0, 0), PathPoint(2.5, 33.333, 0, 359.999)]
    assert path_document(way, now_s=3.0) == [[2.0, 0, 0, 0], [0.5, 33.33, 0, 360.0]]


@given(st.lists(st.tuples(st.floats(0, 1000), st.floats(0, 1000)), min_size=1, max_size=30))
def test_no_seen_place_lies_beside_the_path_that_is_told(places):
    way = [PathPoint(float(t), x, y, 0.0) for t, (x, y) in enumerate([places[0], *places])]
    points = told([pose(*places[0])], [pose(*places[-1])], way)
    assert set(points) <= {replace(each) for each in way}
    assert points[0].x_mm == places[0][0]
    assert points[-1].y_mm == places[-1][1]
    line = [(point.x_mm, point.y_mm) for point in points]
    for place in places:
        assert min(off_mm(place, *ends) for ends in pairwise(line)) <= 2.0 + 1e-6


def off_mm(place, a, b):
    along = (b[0] - a[0], b[1] - a[1])
    length = along[0] ** 2 + along[1] ** 2
    share = (
        ((place[0] - a[0]) * along[0] + (place[1] - a[1]) * along[1]) / length if length else 0.0
    )
    share = min(max(share, 0.0), 1.0)
    return math.hypot(place[0] - a[0] - share * along[0], place[1] - a[1] - share * along[1])
