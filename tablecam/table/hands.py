"""Hands are hands: how near to where it should lie a base that was put there by hand lies."""

from __future__ import annotations

import math

from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Commander

HAND_MM, HAND_DEG = 3.0, 3.0
"""So far off a hand puts a base, or counts as contact (G-8 of Maurice Lite)."""
SLIP_MM = 1.0
"""So far it slips when it moves one along a ruler: such a hair is nobody's fault (G-8)."""
_SIGMAS = 3.0


def apart_mm(base: BasePose, other: BasePose) -> float:
    """How far apart the centres of two bases are."""
    return math.hypot(base.x_mm - other.x_mm, base.y_mm - other.y_mm)


def lies_there(base: BasePose, wanted: BasePose) -> bool:
    """Whether a base lies where it is wanted, as well as hands put it and cameras see it."""
    turned_deg = abs(difference_deg(base.heading_deg, wanted.heading_deg))
    return (
        apart_mm(base, wanted) <= HAND_MM + _SIGMAS * base.sigma_mm
        and turned_deg <= HAND_DEG + _SIGMAS * base.sigma_deg
    )


def has_its_place(leader: Commander, wanted: Commander) -> bool:
    """Whether a commander stands where he is wanted, as well as hands put him."""
    far_mm = math.hypot(leader.x_mm - wanted.x_mm, leader.y_mm - wanted.y_mm)
    return far_mm <= HAND_MM + _SIGMAS * leader.sigma_mm
