"""Units moved, turned and mirrored together, to show that no ruling depends on absolute place."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import strategies as st

from tablecam.table.model import Point, Terrain, Unit

MIDDLE: Point = (600.0, 500.0)
"""The point about which the whole table is turned."""


class Motion:
    """Optional mirroring of left and right, a turn about `MIDDLE`, and a shift to mid-table."""

    def __init__(self, turn_deg: float, shift_mm: Point, is_mirrored: bool) -> None:
        self._turn_deg, self._shift_mm, self.is_mirrored = turn_deg, shift_mm, is_mirrored

    def __repr__(self) -> str:
        return f"Motion({self._turn_deg}, {self._shift_mm}, {self.is_mirrored})"

    def point(self, place_mm: Point) -> Point:
        """Returns a moved point."""
        x_mm, y_mm = place_mm[0] - MIDDLE[0], place_mm[1] - MIDDLE[1]
        x_mm = -x_mm if self.is_mirrored else x_mm
        turn_rad = math.radians(self._turn_deg)
        cos, sin = math.cos(turn_rad), math.sin(turn_rad)
        return (
            900 + self._shift_mm[0] + x_mm * cos - y_mm * sin,
            600 + self._shift_mm[1] + x_mm * sin + y_mm * cos,
        )

    def unit(self, unit: Unit) -> Unit:
        """Returns a moved unit."""
        bases = []
        for base in unit.bases:
            x_mm, y_mm = self.point((base.x_mm, base.y_mm))
            faced_deg = 180.0 - base.heading_deg if self.is_mirrored else base.heading_deg
            bases.append(
                replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=faced_deg + self._turn_deg)
            )
        return replace(unit, bases=tuple(bases))

    def terrain(self, piece: Terrain) -> Terrain:
        """Returns a moved piece of terrain."""
        return replace(piece, outline_mm=tuple(self.point(place) for place in piece.outline_mm))


motions = st.builds(
    Motion, st.floats(0, 360), st.tuples(st.floats(-150, 150), st.floats(-100, 100)), st.booleans()
)
"""Any such motion."""
