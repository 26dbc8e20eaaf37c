import math

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.moves.lanes import advanced, rotated, wheeled
from tablecam.geometry.moves.paths import (
    Wheel,
    cheapest_path,
    faced_about,
    paths_between,
    swept,
)
from tablecam.geometry.outlines import Axes

FRONT = Axes((-80.0, 0.0), (80.0, 0.0), 90.0)
MASSED = Axes((-40.0, 0.0), (40.0, 0.0), 90.0)

corners = st.sampled_from(["left", "right"])
arcs_mm = st.floats(0.0, 200.0)
steps = st.one_of(st.tuples(corners, arcs_mm), st.tuples(st.just("ahead"), st.floats(0.0, 300.0)))
short_steps = st.one_of(
    st.tuples(corners, st.floats(0.0, 60.0)), st.tuples(st.just("ahead"), st.floats(0.0, 120.0))
)


def walk(front: Axes, moves: list[tuple[str, float]]) -> list[Axes]:
    fronts = [front]
    for how, length_mm in moves:
        last = fronts[-1]
        fronts.append(
            advanced(last, length_mm) if how == "ahead" else wheeled(last, how, length_mm)  # type: ignore[arg-type]
        )
    return fronts


def farthest_corner_mm(start: Axes, end: Axes) -> float:
    left, right = math.dist(start.left_mm, end.left_mm), math.dist(start.right_mm, end.right_mm)
    return max(left, right)


def test_straight_ahead_costs_its_length() -> None:
    path = cheapest_path(FRONT, advanced(FRONT, 100.0))
    assert path.cost_mm == pytest.approx(100.0)
    assert len(path.steps) == 1


def test_m_6_14_a_wheel_costs_the_arc_of_the_corner_that_moves() -> None:
    path = cheapest_path(FRONT, wheeled(FRONT, "left", 40.0))
    assert path.cost_mm == pytest.approx(40.0)
    assert [type(step) for step in path.steps] == [Wheel]
    assert path.steps[0].angle_deg == pytest.approx(math.degrees(0.25))  # 14.3 degrees, one BW


def test_t_17_massed_horse_wheels_1_goes_2_wheels_1_for_4() -> None:
    end = walk(MASSED, [("right", 40.0), ("ahead", 80.0), ("left", 40.0)])[-1]
    path = cheapest_path(MASSED, end)
    assert path.cost_mm == pytest.approx(160.0)
    assert path.steps[0].angle_deg == pytest.approx(-math.degrees(0.5))


def test_whose_way_counts_is_the_callers_reading() -> None:
    end = walk(MASSED, [("right", 40.0), ("ahead", 80.0), ("left", 40.0)])[-1]
    assert cheapest_path(MASSED, end, counted="middle").cost_mm == pytest.approx(120.0)


def test_m_6_15_backward_is_forward_of_the_front_that_faces_about() -> None:
    about = faced_about(FRONT, 40.0)
    assert about.left_mm == (80.0, -40.0)
    assert about.right_mm == (-80.0, -40.0)
    end = faced_about(wheeled(about, "left", 80.0), 40.0)
    assert cheapest_path(about, faced_about(end, 40.0)).cost_mm == pytest.approx(80.0)


def test_what_a_path_sweeps_holds_where_it_starts_and_ends() -> None:
    body = shapely.box(-80, -40, 80, 0)
    path = cheapest_path(FRONT, walk(FRONT, [("left", 60.0), ("ahead", 50.0)])[-1])
    area = swept(path, [body])
    ends = path.places([(-80.0, -40.0), (80.0, -40.0), (80.0, 0.0), (-80.0, 0.0)])[-1]
    assert area.buffer(1e-3).covers(body)
    assert area.buffer(1e-3).covers(shapely.Polygon(ends))
    assert area.area > body.area + 160 * 50


@given(st.lists(steps, max_size=3))
def test_a_path_leads_to_its_end(moves) -> None:
    end = walk(FRONT, moves)[-1]
    for path in paths_between(FRONT, end):
        left, right = path.places([FRONT.left_mm, FRONT.right_mm])[-1]
        assert left == pytest.approx(end.left_mm, abs=1e-4)
        assert right == pytest.approx(end.right_mm, abs=1e-4)


@given(corners, arcs_mm, st.floats(0, 400), corners, arcs_mm)
def test_the_cheapest_path_is_never_longer_than_one_of_three_steps(a, by, ahead, b, then) -> None:
    end = walk(FRONT, [(a, by), ("ahead", ahead), (b, then)])[-1]
    assert cheapest_path(FRONT, end).cost_mm <= by + ahead + then + 1e-4


@given(st.floats(0, 400), corners, arcs_mm, st.floats(0, 400))
def test_nor_longer_than_a_single_wheel_on_the_way(ahead, corner, by, then) -> None:
    end = walk(FRONT, [("ahead", ahead), (corner, by), ("ahead", then)])[-1]
    assert cheapest_path(FRONT, end).cost_mm <= ahead + by + then + 1e-4


@given(st.lists(short_steps, min_size=3, max_size=6))
def test_nor_longer_than_any_mix_of_more_steps(moves) -> None:
    end = walk(FRONT, moves)[-1]
    assert cheapest_path(FRONT, end).cost_mm <= sum(mm for _, mm in moves) + 1e-4


@given(st.lists(steps, max_size=4))
def test_it_is_never_shorter_than_the_straight_distance_of_the_farthest_corner(moves) -> None:
    end = walk(FRONT, moves)[-1]
    assert cheapest_path(FRONT, end).cost_mm >= farthest_corner_mm(FRONT, end) - 1e-6


@given(st.lists(steps, max_size=3), st.floats(0, 360))
def test_the_cheapest_path_is_the_same_on_a_turned_or_mirrored_table(moves, by_deg) -> None:
    end = walk(FRONT, moves)[-1]

    def turned(front: Axes) -> Axes:
        left, right = rotated([front.left_mm, front.right_mm], (300.0, -200.0), by_deg).tolist()
        return Axes(tuple(left), tuple(right), front.heading_deg + by_deg)

    def mirrored(front: Axes) -> Axes:
        (lx, ly), (rx, ry) = front.left_mm, front.right_mm
        return Axes((-rx, ry), (-lx, ly), 180.0 - front.heading_deg)

    cost = cheapest_path(FRONT, end).cost_mm
    for change in (turned, mirrored):
        assert cheapest_path(change(FRONT), change(end)).cost_mm == pytest.approx(cost, abs=1e-3)


@given(
    heading_deg=st.floats(0, 359.9),
    askew_deg=st.floats(-2, 2),
    width_mm=st.floats(30, 200),
)
def test_there_is_no_way_from_a_front_to_itself_however_little_it_is_square(
    heading_deg: float, askew_deg: float, width_mm: float
) -> None:
    """As with measured bases: their front line is not quite square to their heading."""
    along_rad = math.radians(heading_deg - 90.0 + askew_deg)
    end = (500 + width_mm * math.cos(along_rad), 400 + width_mm * math.sin(along_rad))
    front = Axes((500.0, 400.0), end, heading_deg)
    assert cheapest_path(front, front).cost_mm == 0.0
