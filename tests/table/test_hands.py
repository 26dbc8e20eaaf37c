"""A base is in its place if it is as near as hands can put it and cameras can see it."""

from dataclasses import replace

import pytest

from tablecam.table.model import BasePose
from tablecam.table.motion import lies_there

WANTED = BasePose(500, 400, 90, 40, 40)


@pytest.mark.parametrize(
    ("x_mm", "heading_deg", "sigma_mm", "is_there"),
    [
        (503.0, 90.0, 0.0, True),
        (503.1, 90.0, 0.0, False),
        (503.1, 90.0, 0.1, True),
        (500.0, 93.0, 0.0, True),
        (500.0, 93.1, 0.0, False),
    ],
)
def test_as_near_as_a_hand_is_there(x_mm, heading_deg, sigma_mm, is_there):
    lies = replace(WANTED, x_mm=x_mm, heading_deg=heading_deg, sigma_mm=sigma_mm)
    assert lies_there(lies, WANTED) is is_there


def test_a_heading_just_beyond_north_is_near_one_just_before_it():
    assert lies_there(replace(WANTED, heading_deg=359.0), replace(WANTED, heading_deg=1.0))
