"""Moves of a unit by a hand: paths of its bases from start to end.

Terms and geometry are those of linear tactics: a line moves straight forward or backward, or wheels
about one end of its front line; a column turns its bases to become a line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from tablecam.simulate.rendering.places import (
    Place,
    Places,
    front_corner,
    unit_corners_mm,
    unit_place,
)
from tablecam.table.roster import BaseType

Side = Literal["left", "right"]

_TURNING_MM_PER_DEG = 0.6
"""The length of a push that takes as long as turning a base on the spot by one degree."""


class Move(Protocol):
    """One push of a hand."""

    def along(self, start: Places, base_type: BaseType, progress: float) -> Places:
        """Returns the places of the bases after a share, 0 to 1, of the move."""

    def length_mm(self, start: Places, base_type: BaseType) -> float:
        """Returns the longest path of any part of the unit."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A straight move ahead, or backward if negative."""

    distance_mm: float

    def along(self, start: Places, base_type: BaseType, progress: float) -> Places:
        """Moves all bases along the heading of the first."""
        del base_type
        ahead = Place(0, 0, start[0].heading_deg).offset(self.distance_mm * progress, 0)
        return tuple(
            Place(place.x_mm + ahead.x_mm, place.y_mm + ahead.y_mm, place.heading_deg)
            for place in start
        )

    def length_mm(self, start: Places, base_type: BaseType) -> float:
        """Returns the distance."""
        del start, base_type
        return abs(self.distance_mm)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel about one end of the front line, which stays in place.

    To the left it turns counter-clockwise about the left end, to the right clockwise about the
    right end.
    """

    side: Side
    degrees: float

    def along(self, start: Places, base_type: BaseType, progress: float) -> Places:
        """Turns all bases about the corner."""
        # From the unit's start, so that the pivot stays in place all the way.
        pivot = front_corner(start, base_type, self.side)
        turn_deg = self.degrees * progress * (1 if self.side == "left" else -1)
        return tuple(place.turned_about(pivot, turn_deg) for place in start)

    def length_mm(self, start: Places, base_type: BaseType) -> float:
        """Returns the length of the arc of the unit's farthest corner."""
        pivot = front_corner(start, base_type, self.side)
        corners = unit_corners_mm(start, base_type).reshape(-1, 2)
        radius_mm = max(math.dist(corner, (pivot.x_mm, pivot.y_mm)) for corner in corners)
        return radius_mm * math.radians(abs(self.degrees))


@dataclass(frozen=True, slots=True)
class Glide:
    """A straight move with a turn on the way, for guns and commanders, which do not wheel."""

    x_mm: float
    y_mm: float
    heading_deg: float

    def along(self, start: Places, base_type: BaseType, progress: float) -> Places:
        """Moves the unit's centre straight to its goal, turning the shorter way."""
        middle = unit_place(start, base_type)
        # Brings the turn to [-180, 180), the shorter way.
        turn_deg = (self.heading_deg - middle.heading_deg + 180) % 360 - 180
        step_x, step_y = self.x_mm - middle.x_mm, self.y_mm - middle.y_mm
        return tuple(
            Place(
                turned.x_mm + step_x * progress, turned.y_mm + step_y * progress, turned.heading_deg
            )
            for turned in (place.turned_about(middle, turn_deg * progress) for place in start)
        )

    def length_mm(self, start: Places, base_type: BaseType) -> float:
        """Returns the length of the centre's path."""
        middle = unit_place(start, base_type)
        return math.dist((middle.x_mm, middle.y_mm), (self.x_mm, self.y_mm))


@dataclass(frozen=True, slots=True)
class Deploy:
    """A column of square bases becomes a line that faces to one side.

    A base cannot turn while it touches its neighbours, so they are spread, turned and closed up.
    """

    side: Side

    def along(self, start: Places, base_type: BaseType, progress: float) -> Places:
        """Spreads in the first third, turns in the second, and closes up in the last."""
        spread = _between(progress, 0, 1 / 3) - _between(progress, 2 / 3, 1)
        # The turn takes the middle third, when the bases are spread.
        turn_deg = 90 * _between(progress, 1 / 3, 2 / 3) * (1 if self.side == "left" else -1)
        middle = unit_place(start, base_type)
        # Spreading moves the bases away from the unit's middle.
        stretch = 1 + spread * (_spread_gap_mm(base_type) / base_type.depth_mm)
        return tuple(
            Place(
                middle.x_mm + (place.x_mm - middle.x_mm) * stretch,
                middle.y_mm + (place.y_mm - middle.y_mm) * stretch,
                place.heading_deg + turn_deg,
            )
            for place in start
        )

    def length_mm(self, start: Places, base_type: BaseType) -> float:
        """Returns three times the length that stands for the turn."""
        del start, base_type
        return 3 * 90 * _TURNING_MM_PER_DEG


def _between(progress: float, start: float, end: float) -> float:
    """Returns the completed share, 0 to 1, of the interval from `start` to `end`."""
    return min(max((progress - start) / (end - start), 0.0), 1.0)


def _spread_gap_mm(base_type: BaseType) -> float:
    """Returns the gap that two neighbouring bases need to turn."""
    return math.hypot(base_type.width_mm, base_type.depth_mm) - base_type.depth_mm + 1.0
