import math

import pytest
from hypothesis import given

from tablecam.table.headings import difference_deg, forward, mean_deg, right
from tablecam.table.model import BasePose
from tests.strategies import headings_deg


@given(headings_deg, headings_deg)
def test_turning_by_the_difference_gives_the_other_heading(a: float, b: float) -> None:
    turn = difference_deg(a, b)
    assert -180.0 < turn <= 180.0
    assert math.cos(math.radians(b + turn - a)) == pytest.approx(1.0)


def test_the_mean_of_headings_about_north_crosses_zero() -> None:
    assert mean_deg([359, 1, 2, 358]) == pytest.approx(0.0, abs=1e-9) or mean_deg(
        [359, 1, 2, 358]
    ) == pytest.approx(360.0)
    assert mean_deg([340, 60]) == pytest.approx(20.0)


@given(headings_deg)
def test_right_is_a_quarter_turn_clockwise_of_forward(heading: float) -> None:
    (x, y), (across, down) = forward(heading), right(heading)
    assert x * across + y * down == pytest.approx(0.0, abs=1e-12)
    assert x * down - y * across == pytest.approx(-1.0)


def test_headings_along_the_table_have_no_rounding() -> None:
    assert [forward(quarter) for quarter in (0, 90, 180, 270)] == [(1, 0), (0, 1), (-1, 0), (0, -1)]


def test_a_heading_a_hair_below_zero_stays_below_360() -> None:
    assert 0.0 <= BasePose(0, 0, -1e-17, 40, 40).heading_deg < 360.0
