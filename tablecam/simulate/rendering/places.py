"""Places of bases, and the arrangement of a unit's bases in formation.

In table millimetres; headings are in degrees counter-clockwise from +x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tablecam.table.roster import BaseType

Array = NDArray[np.float64]

ScriptFormation = Literal["line", "column", "massed", "single"]


@dataclass(frozen=True, slots=True)
class Place:
    """A base's centre and heading, and how many counters lie beneath it."""

    x_mm: float
    y_mm: float
    heading_deg: float
    level: int = 0

    def offset(self, forward_mm: float, right_mm: float, turn_deg: float = 0.0) -> Place:
        """Returns the place at an offset forward and right, turned counter-clockwise."""
        heading_rad = math.radians(self.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        return Place(
            self.x_mm + forward_mm * cos + right_mm * sin,
            self.y_mm + forward_mm * sin - right_mm * cos,
            self.heading_deg + turn_deg,
        )

    def turned_about(self, pivot: Place, turn_deg: float) -> Place:
        """Returns this place rotated counter-clockwise about a pivot."""
        turn_rad = math.radians(turn_deg)
        cos, sin = math.cos(turn_rad), math.sin(turn_rad)
        x, y = self.x_mm - pivot.x_mm, self.y_mm - pivot.y_mm
        return Place(
            pivot.x_mm + cos * x - sin * y,
            pivot.y_mm + sin * x + cos * y,
            self.heading_deg + turn_deg,
        )

    def seen_from(self, origin: Place) -> tuple[float, float]:
        """Returns how far forward and right of another place this one lies, in millimetres."""
        heading_rad = math.radians(origin.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        x, y = self.x_mm - origin.x_mm, self.y_mm - origin.y_mm
        return cos * x + sin * y, sin * x - cos * y


Places = tuple[Place, ...]
"""The bases of one unit, in the order of its tags."""


def corners_mm(place: Place, width_mm: float, depth_mm: float) -> Array:
    """Returns a base's corners (4, 2): front left, front right, rear right, rear left."""
    ends = [
        place.offset(forward, right)
        for forward, right in (
            (depth_mm / 2, -width_mm / 2),
            (depth_mm / 2, width_mm / 2),
            (-depth_mm / 2, width_mm / 2),
            (-depth_mm / 2, -width_mm / 2),
        )
    ]
    return np.array([(end.x_mm, end.y_mm) for end in ends])


def unit_corners_mm(places: Places, base_type: BaseType) -> Array:
    """Returns the corners (n, 4, 2) of a unit's bases."""
    return np.stack([corners_mm(place, base_type.width_mm, base_type.depth_mm) for place in places])


def unit_place(places: Places, base_type: BaseType) -> Place:
    """Returns the centre of a unit's footprint, with the heading of its first base."""
    front, right = _extent(places, base_type)
    return places[0].offset((front[0] + front[1]) / 2, (right[0] + right[1]) / 2)


def unit_outline_mm(places: Places, base_type: BaseType) -> Array:
    """Returns the corners (4, 2) of a unit's bounding rectangle along its first base's heading."""
    front, right = _extent(places, base_type)
    ends = [places[0].offset(front[a], right[b]) for a, b in ((1, 0), (1, 1), (0, 1), (0, 0))]
    return np.array([(end.x_mm, end.y_mm) for end in ends])


def front_corner(places: Places, base_type: BaseType, side: Literal["left", "right"]) -> Place:
    """Returns one end of a unit's front line, with the heading of its first base."""
    front, right = _extent(places, base_type)
    return places[0].offset(front[1], right[0] if side == "left" else right[1])


def formed(middle: Place, formation: ScriptFormation, count: int, base_type: BaseType) -> Places:
    """Arranges the bases of a unit in formation, its footprint centred at `middle`.

    A line counts its bases from the left, a column and a massed unit from the front.
    """
    ranks, files = {
        "line": (1, count),
        "column": (count, 1),
        "massed": (count // 2, 2),
        "single": (1, 1),
    }[formation]
    return tuple(
        middle.offset(
            ((ranks - 1) / 2 - rank) * base_type.depth_mm,
            (file - (files - 1) / 2) * base_type.width_mm,
        )
        # The bases' order: rank by rank from the front, each from the left.
        for rank in range(ranks)
        for file in range(files)
    )


def carried(places: Places, start: Place, goal: Place) -> Places:
    """Moves a unit as a rigid body that takes `start` to `goal`."""
    return tuple(
        goal.offset(*place.seen_from(start), place.heading_deg - start.heading_deg)
        for place in places
    )


def _extent(places: Sequence[Place], base_type: BaseType) -> tuple[Array, Array]:
    """Returns a unit's extent forward and right of its first base, as two (low, high)."""
    origin = places[0]
    local = np.array(
        [
            Place(x, y, 0.0).seen_from(origin)
            for corners in unit_corners_mm(tuple(places), base_type)
            for x, y in corners
        ]
    )
    ends = np.stack([local.min(axis=0), local.max(axis=0)])
    return ends[:, 0], ends[:, 1]
