"""Arithmetic of headings: differences, means and unit vectors.

Headings are in degrees counter-clockwise from +x, as everywhere in the table's frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tablecam.table.model import Point

_CANCELLED: Final = 0.3
"""Unit vectors with a shorter mean, such as those of a square, have no common direction."""


def difference_deg(heading_deg: float, other_deg: float) -> float:
    """Returns the turn from `other_deg` to `heading_deg`, counter-clockwise, -180 < d <= 180.

    >>> difference_deg(10, 350)
    20.0
    """
    turn_deg = (heading_deg - other_deg) % 360.0
    return turn_deg - 360.0 if turn_deg > 180.0 else float(turn_deg)


def signed_rad(angles_rad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns angles within [-pi, pi)."""
    return np.asarray((angles_rad + np.pi) % (2 * np.pi) - np.pi)


def mean_deg(headings_deg: Iterable[float]) -> float:
    """Returns the circular mean, 0 <= mean < 360; the first heading if they cancel out.

    >>> round(mean_deg([350, 30]), 6), mean_deg([270, 180, 90, 0, 270])
    (10.0, 270.0)
    """
    first, *others = headings_deg
    angles_rad = [math.radians(heading) for heading in (first, *others)]
    y, x = math.fsum(map(math.sin, angles_rad)), math.fsum(map(math.cos, angles_rad))
    if math.hypot(x, y) < _CANCELLED * len(angles_rad):
        return first % 360.0 % 360.0
    # Twice: a tiny negative angle modulo 360 rounds to 360 itself.
    return math.degrees(math.atan2(y, x)) % 360.0 % 360.0


def forward(heading_deg: float) -> Point:
    """Returns the unit vector along a heading."""
    quarters = heading_deg / 90.0
    # Quarter turns give exact zeros, so that a base parallel to the table edge has exact corners.
    if quarters == round(quarters):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    angle_rad = math.radians(heading_deg)
    return math.cos(angle_rad), math.sin(angle_rad)


def right(heading_deg: float) -> Point:
    """Returns the unit vector to the right of a heading."""
    x, y = forward(heading_deg)
    return y, -x
