"""Simple moves of a front: a wheel, and a straight move before it, after it or none (M-6.12).

Paths of three steps lead to whatever lies inside of all that can be reached. Where simple moves
lead lies on its edge: who lies aside of there by the camera's error or a hand's slip is beyond it,
and only a way right round would lead to him. So simple moves are looked for by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tablecam.geometry.moves.lanes import Corner, advanced, front_width_mm, wheeled
from tablecam.geometry.moves.paths import forward_turn_rad, squared
from tablecam.geometry.outlines import Axes
from tablecam.table.headings import forward

_CORNERS: tuple[Corner, Corner] = ("left", "right")


def simply_reached(start: Axes, end: Axes, *, within_mm: float) -> Iterator[Axes]:
    """The fronts to which simple moves lead exactly, and that lie near another one.

    Of those about each corner the nearest, if both of its corners are within so many mm.
    """
    width_mm = front_width_mm(start)
    start, end = squared(start, width_mm), squared(end, width_mm)
    for corner in _CORNERS:
        turn_rad = forward_turn_rad(corner, start.heading_deg, end.heading_deg)
        front = wheeled(start, corner, turn_rad * width_mm)
        left_over = np.subtract(end.left_mm, front.left_mm)
        for heading_deg in (start.heading_deg, end.heading_deg):
            far_mm = max(float(left_over @ np.array(forward(heading_deg))), 0.0)
            there = advanced(replace(front, heading_deg=heading_deg), far_mm)
            if _apart_mm(there, end) <= within_mm:
                yield replace(there, heading_deg=front.heading_deg)


def _apart_mm(one: Axes, other: Axes) -> float:
    """How far apart the corners of two fronts are, where they are farthest."""
    return max(math.dist(one.left_mm, other.left_mm), math.dist(one.right_mm, other.right_mm))
