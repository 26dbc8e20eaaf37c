"""Whether a straight line leads from an edge to a shape past others."""

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import footprint, front_edge
from tablecam.geometry.sight import free_line, is_hidden
from tests.strategies import bases

EDGE = shapely.LineString([(-20, 0), (20, 0)])
TARGET = shapely.box(-20, 200, 20, 240)


def test_nothing_between_leaves_the_straight_line():
    assert free_line(EDGE, TARGET, shapely.Polygon()).length == 200


def test_a_wall_across_hides_and_one_that_is_too_short_does_not():
    assert is_hidden(EDGE, TARGET, shapely.box(-30, 90, 30, 95))
    assert not is_hidden(EDGE, TARGET, shapely.box(-30, 90, 19, 95))


def test_a_line_may_run_along_an_outline_but_not_through_the_inside():
    assert not is_hidden(EDGE, TARGET, shapely.box(-30, 90, 20, 95))
    assert is_hidden(EDGE, TARGET, shapely.box(-30, 90, 20.01, 95))


def test_a_line_finds_its_way_between_two_blockers():
    """From the left end past a corner of each to the right end, and no other line."""
    slit = shapely.union(shapely.box(-90, 60, -2, 70), shapely.box(2, 130, 90, 140))
    narrower = shapely.union(shapely.box(-90, 60, 8, 70), shapely.box(-14, 130, 90, 140))
    line = free_line(EDGE, TARGET, slit)
    assert line is not None
    assert not line.crosses(shapely.buffer(slit, -0.01))
    assert is_hidden(EDGE, TARGET, narrower)


def test_blockers_that_meet_let_no_light_through_their_seam():
    meeting = shapely.union_all([shapely.box(-50, 90, 0, 95), shapely.box(0, 90, 50, 95)])
    assert is_hidden(EDGE, TARGET, meeting)


def test_behind_the_edge_and_beyond_the_target_nothing_hides():
    assert not is_hidden(EDGE, TARGET, shapely.box(-90, -20, 90, 0))
    assert not is_hidden(EDGE, TARGET, shapely.box(-90, 240, 90, 300))


def test_where_they_touch_inside_a_blocker_they_are_hidden_as_they_are_a_hair_apart():
    for apart_mm in (0.0, 0.1):
        there = shapely.box(-20, apart_mm, 20, 40)
        assert is_hidden(EDGE, there, shapely.box(-50, -10, 50, 10))
        assert not is_hidden(EDGE, there, shapely.box(-50, -10, 0, 10))


def test_an_edge_inside_a_blocker_sees_nothing_outside_and_an_empty_target_is_not_seen():
    assert is_hidden(EDGE, TARGET, shapely.box(-50, -10, 50, 10))
    assert is_hidden(EDGE, shapely.Polygon(), shapely.Polygon())


@settings(max_examples=60, deadline=None)
@given(
    bases(near_mm=50),
    bases(near_mm=250),
    st.lists(bases(near_mm=200), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
)
def test_where_any_of_many_lines_is_free_one_is_found_and_it_is_free(seer, seen, others, seed):
    edge, target = front_edge(seer), footprint(seen)
    blockers = shapely.union_all([footprint(each) for each in others], grid_size=1e-6)
    line = free_line(edge, target, blockers)
    solid = shapely.buffer(blockers, -2e-3, join_style="mitre")
    if line is not None:
        assert not shapely.intersects(solid, line)
        assert shapely.dwithin(line, edge, 1e-6)
        assert shapely.dwithin(line, target, 1e-6)
        return
    shares = np.random.default_rng(seed).random((400, 3))
    left, right = shapely.get_coordinates(edge)
    starts = left + shares[:, :1] * (right - left)
    corners = shapely.get_coordinates(target)
    ends = corners[0] + shares[:, 1:2] * (corners[1] - corners[0])
    ends = ends + shares[:, 2:] * (corners[3] - corners[0])
    lines = shapely.linestrings(np.stack([starts, ends], axis=1))
    # A line to a point inside the target has reached the target on the way.
    on_the_way = shapely.difference(lines, target)
    begun_there = shapely.is_empty(on_the_way)
    on_the_way[begun_there] = shapely.points(starts[begun_there])
    assert shapely.intersects(on_the_way, blockers).all()
