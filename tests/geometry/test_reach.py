import math

import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shapely import affinity

from tablecam.geometry.moves.paths import cheapest_path
from tablecam.geometry.moves.reach import snaking_reach, wheeling_reach
from tablecam.geometry.outlines import Axes
from tablecam.geometry.taut_path import corridor

FRONT = Axes((-80.0, 0.0), (80.0, 0.0), 90.0)
BODY = shapely.box(-80, -40, 80, 0)


def test_a_line_reaches_straight_ahead_as_far_as_it_may_move_and_no_farther() -> None:
    area = wheeling_reach(FRONT, [BODY], 160.0)
    assert area.buffer(0.1).covers(shapely.box(-80, -40, 80, 160))
    assert area.bounds[3] == pytest.approx(160.0, abs=0.1)


def test_a_line_stops_before_what_bars_it() -> None:
    wall = shapely.box(-200, 60, 200, 80)
    area = wheeling_reach(FRONT, [BODY], 160.0, barred=wall)
    assert area.intersection(wall).buffer(-0.51).is_empty
    assert area.bounds[3] > 55.0


@settings(deadline=None, max_examples=15)
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_reach_holds_what_wheels_and_goes(share: float, ahead: float) -> None:
    area = wheeling_reach(FRONT, [BODY], 160.0)
    turn = share / 1.0
    left = (-80.0, 0.0)
    right = (left[0] + 160 * math.cos(turn), 160 * math.sin(turn))
    along = (160 - 160 * turn) * ahead
    step = (-math.sin(turn) * along, math.cos(turn) * along)
    end = Axes(
        (left[0] + step[0], left[1] + step[1]),
        (right[0] + step[0], right[1] + step[1]),
        90 + math.degrees(turn),
    )
    assert cheapest_path(FRONT, end).cost_mm <= 160 + 1e-6
    # Wheels are sampled every 20 mm of their arc, with chords in between.
    assert area.buffer(2.0).covers(shapely.LineString([end.left_mm, end.right_mm]))


def test_with_nothing_in_the_way_a_snaking_reach_is_a_disc() -> None:
    area = snaking_reach((0, 0), 100.0, width_mm=40.0)
    # Chords of sixteenths of a quarter fall short by 0.12 % of the radius.
    assert area.area == pytest.approx(math.pi * 120**2, rel=5e-3)


def test_behind_a_shape_a_snaking_reach_is_as_long_as_the_way_round() -> None:
    wall = shapely.box(40, -100, 60, 100)
    area = snaking_reach((0, 0), 200.0, width_mm=40.0, around=[wall])
    assert area.intersection(wall).buffer(-0.5).is_empty
    assert not area.covers(shapely.Point(150, 0))
    assert area.covers(shapely.Point(80, 110))
    assert area.covers(shapely.Point(-180, 0))


def test_a_snaking_reach_stays_where_it_must() -> None:
    table = shapely.box(-50, -50, 50, 50)
    area = snaking_reach((0, 0), 100.0, width_mm=40.0, inside=table)
    assert area.area == pytest.approx(table.area)


@settings(deadline=None, max_examples=25)
@given(
    x=st.floats(-150, 150),
    y=st.floats(-150, 150),
    turn=st.floats(0, 90),
    aside=st.floats(-60, 60),
)
def test_where_a_corridor_leads_a_snaking_reach_covers(x, y, turn, aside) -> None:
    """And none of it lies inside the obstacles, apart from the chords of arcs about them."""
    walls = [
        affinity.rotate(shapely.box(60, aside - 60, 75, aside + 60), turn),
        shapely.box(-100, 50, 20, 90),
    ]
    way = corridor((0.0, 0.0), (x, y), width_mm=30.0, around=walls)
    # Nearer obstacles are ignored around the start, so that it can leave.
    assume(min(wall.distance(shapely.Point(0, 0)) for wall in walls) > 31)
    area = snaking_reach((0, 0), 200.0, width_mm=30.0, around=walls)
    assert area.intersection(shapely.union_all(walls)).buffer(-0.3).is_empty
    # Rings of chords lie up to 0.1 mm inside their arcs, so a way round them is hardly shorter.
    if way is not None and way.length_mm <= 199.0:
        assert area.buffer(0.3).covers(shapely.Point(x, y).buffer(15.0))
