"""Headings: the one place where degrees are added, compared and averaged.

Degrees counter-clockwise from +x, as everywhere in the table's frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tablecam.table.model import Point


def difference_deg(heading_deg: float, other_deg: float) -> float:
    """How far `other_deg` must be turned counter-clockwise to face `heading_deg`: -180 < d <= 180.

    >>> difference_deg(10, 350)
    20.0
    """
    turned = (heading_deg - other_deg) % 360.0
    return turned - 360.0 if turned > 180.0 else float(turned)


def mean_deg(headings_deg: Iterable[float]) -> float:
    """The circular mean, 0 <= mean < 360; of no meaning where the headings cancel each other.

    >>> round(mean_deg([350, 30]), 6)
    10.0
    """
    angles_rad = [math.radians(heading) for heading in headings_deg]
    across, along = math.fsum(map(math.sin, angles_rad)), math.fsum(map(math.cos, angles_rad))
    return math.degrees(math.atan2(across, along)) % 360.0 % 360.0


def forward(heading_deg: float) -> Point:
    """The unit vector along a heading.

    A quarter turn gives exact zeros, so that a base squared to the table has square corners.
    """
    quarters = heading_deg / 90.0
    if quarters == round(quarters):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    angle_rad = math.radians(heading_deg)
    return math.cos(angle_rad), math.sin(angle_rad)


def right(heading_deg: float) -> Point:
    """The unit vector to the right of a heading."""
    x, y = forward(heading_deg)
    return y, -x
