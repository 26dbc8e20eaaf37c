"""Where bases lie and how a unit's bases lie together.

Frame: table millimetres; headings in degrees counter-clockwise from +x.
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
    """A base's centre and where its front edge faces."""

    x_mm: float
    y_mm: float
    heading_deg: float

    def offset(self, forward_mm: float, right_mm: float, turn_deg: float = 0.0) -> Place:
        """The place so far forward and to the right of this one, turned counter-clockwise."""
        heading_rad = math.radians(self.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        return Place(
            self.x_mm + forward_mm * cos + right_mm * sin,
            self.y_mm + forward_mm * sin - right_mm * cos,
            self.heading_deg + turn_deg,
        )

    def turned_about(self, pivot: Place, turn_deg: float) -> Place:
        """This place after the table has been turned about a pivot, counter-clockwise."""
        turn_rad = math.radians(turn_deg)
        cos, sin = math.cos(turn_rad), math.sin(turn_rad)
        x, y = self.x_mm - pivot.x_mm, self.y_mm - pivot.y_mm
        return Place(
            pivot.x_mm + cos * x - sin * y,
            pivot.y_mm + sin * x + cos * y,
            self.heading_deg + turn_deg,
        )

    def seen_from(self, origin: Place) -> tuple[float, float]:
        """How far forward and to the right of another place this one lies, in millimetres."""
        heading_rad = math.radians(origin.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        x, y = self.x_mm - origin.x_mm, self.y_mm - origin.y_mm
        return cos * x + sin * y, sin * x - cos * y


Places = tuple[Place, ...]
"""The bases of one unit, in the order of its tags."""


def corners_mm(place: Place, width_mm: float, depth_mm: float) -> Array:
    """A base's corners (4, 2): front left, front right, rear right, rear left."""
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
    """The corners (n, 4, 2) of a unit's bases."""
    return np.stack([corners_mm(place, base_type.width_mm, base_type.depth_mm) for place in places])


def unit_place(places: Places, base_type: BaseType) -> Place:
    """The centre of a unit's footprint, facing as its first base does."""
    front, right = _extent(places, base_type)
    return places[0].offset((front[0] + front[1]) / 2, (right[0] + right[1]) / 2)


def unit_outline_mm(places: Places, base_type: BaseType) -> Array:
    """The corners (4, 2) of the rectangle about a unit, along its first base's heading."""
    front, right = _extent(places, base_type)
    ends = [places[0].offset(front[a], right[b]) for a, b in ((1, 0), (1, 1), (0, 1), (0, 0))]
    return np.array([(end.x_mm, end.y_mm) for end in ends])


def front_corner(places: Places, base_type: BaseType, side: Literal["left", "right"]) -> Place:
    """One end of a unit's front line, facing as its first base does."""
    front, right = _extent(places, base_type)
    return places[0].offset(front[1], right[0] if side == "left" else right[1])


def formed(middle: Place, formation: ScriptFormation, count: int, base_type: BaseType) -> Places:
    """The bases of a unit in formation, its footprint's centre at `middle`.

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
        for rank in range(ranks)
        for file in range(files)
    )


def carried(places: Places, start: Place, goal: Place) -> Places:
    """A unit carried as one rigid body, so that what lay at `start` lies at `goal`."""
    return tuple(
        goal.offset(*place.seen_from(start), place.heading_deg - start.heading_deg)
        for place in places
    )


def _extent(places: Sequence[Place], base_type: BaseType) -> tuple[Array, Array]:
    """How far a unit reaches forward and to the right of its first base: two of (low, high)."""
    origin = places[0]
    seen = np.array(
        [
            Place(x, y, 0.0).seen_from(origin)
            for corners in unit_corners_mm(tuple(places), base_type)
            for x, y in corners
        ]
    )
    ends = np.stack([seen.min(axis=0), seen.max(axis=0)])
    return ends[:, 0], ends[:, 1]
