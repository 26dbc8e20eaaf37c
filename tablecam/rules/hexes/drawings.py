"""Shapes of hexes, ways and lines of sight for a page to draw."""

from __future__ import annotations

from collections.abc import Iterable

from tablecam.geometry.shapes import Shape
from tablecam.rules.hexes.grid import Grid, Hex
from tablecam.rules.hexes.zones import Hexes


def hexes_shapes(grid: Grid, hexes: Iterable[Hex], role: str) -> tuple[Shape, ...]:
    """Returns the outlines of some hexes."""
    return tuple(Shape("polygon", grid.corners_mm(number), role) for number in hexes)


def line_shape(grid: Grid, start: Hexes, end: Hexes, role: str, label: str = "") -> Shape:
    """Returns the line between the middles of two counters."""
    return Shape("line", (grid.middle_mm(start), grid.middle_mm(end)), role, label)


def way_shape(grid: Grid, places: Iterable[Hexes], role: str, label: str = "") -> Shape:
    """Returns the way of a counter from place to place."""
    return Shape("line", tuple(grid.middle_mm(hexes) for hexes in places), role, label)
