"""Simple moves of a front are found from an end a hair beside theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.moves.lanes import Corner, advanced, wheeled
from tablecam.geometry.moves.paths import cheapest_path, paths_between, simple_end_fronts
from tablecam.geometry.outlines import Axes

START = Axes((420.0, 500.0), (580.0, 500.0), 90.0)
CORNERS = st.sampled_from(["left", "right"])


@given(
    CORNERS,
    st.floats(1, 200),
    st.floats(0, 300),
    st.booleans(),
    st.floats(-0.7, 0.7),
    st.floats(-0.7, 0.7),
)
def test_a_wheel_with_a_straight_move_before_or_after_it_is_found_from_beside_it(
    corner: Corner, arc_mm: float, far_mm: float, is_first: bool, x_mm: float, y_mm: float
) -> None:
    if is_first:
        end = wheeled(advanced(START, far_mm), corner, arc_mm)
    else:
        end = advanced(wheeled(START, corner, arc_mm), far_mm)
    beside = replace(
        end,
        left_mm=(end.left_mm[0] + x_mm, end.left_mm[1] + y_mm),
        right_mm=(end.right_mm[0] + x_mm, end.right_mm[1] + y_mm),
    )
    costs = [
        path.cost_mm
        for end_front in simple_end_fronts(START, beside, within_mm=1.0)
        for path in paths_between(START, end_front)
    ]
    assert min(costs) == pytest.approx(arc_mm + far_mm, abs=1.0)


@given(CORNERS, st.floats(10, 80), st.floats(10, 80), st.floats(-0.7, 0.7), st.floats(-0.7, 0.7))
def test_two_wheels_are_found_from_beside_their_end(
    corner: Corner, first_mm: float, last_mm: float, x_mm: float, y_mm: float
) -> None:
    end = wheeled(
        wheeled(START, corner, first_mm), "right" if corner == "left" else "left", last_mm
    )
    beside = replace(
        end,
        left_mm=(end.left_mm[0] + x_mm, end.left_mm[1] + y_mm),
        right_mm=(end.right_mm[0] + x_mm, end.right_mm[1] + y_mm),
    )
    # A wheel moves the middle half as far as the corner, so a hair ahead counts twice.
    assert cheapest_path(START, beside, within_mm=1.0).cost_mm <= first_mm + last_mm + 3.0


def test_what_lies_farther_off_is_none() -> None:
    aside = replace(START, left_mm=(423.0, 500.0), right_mm=(583.0, 500.0))
    assert not list(simple_end_fronts(START, aside, within_mm=1.0))
    assert list(simple_end_fronts(START, aside, within_mm=3.5))
