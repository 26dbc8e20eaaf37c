"""Front, flank and rear hexes of a counter on one hex, or of a line on two.

A facing points to a corner of the hex: two neighbours are Front, two Flank and two Rear. A line on
two hexes, the left one first, has three Front, two Flank and three Rear hexes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tablecam.rules.hexes.grid import Cube, Grid, Hex

ZoneName = Literal["front", "flank", "rear"]
ZONES: Final[tuple[ZoneName, ...]] = ("front", "flank", "rear")
Hexes = tuple[Hex, ...]
Cubes = tuple[Cube, ...]


@dataclass(frozen=True, slots=True)
class Zones:
    """The hexes around a counter by its facing, on the map or off it."""

    front: Cubes
    flank: Cubes
    rear: Cubes

    def of(self, name: ZoneName) -> Cubes:
        """Returns the hexes of a zone."""
        zone: Cubes = getattr(self, name)
        return zone


def zones_of(grid: Grid, hexes: Hexes, facing_deg: int) -> Zones:
    """Returns the zones of a counter on one hex, or on two, the left one first."""
    left, right = grid.cube(hexes[0]), grid.cube(hexes[-1])

    def beside(cube: Cube, turn_deg: int) -> Cube:
        return cube.plus(grid.step((facing_deg + turn_deg) % 360))

    def row(turn_deg: int) -> Cubes:
        """The hexes ahead or behind, from left to right; two hexes share the middle one."""
        pairs = ((cube, turn) for cube in (left, right) for turn in (turn_deg, -turn_deg))
        return tuple(dict.fromkeys(beside(cube, turn) for cube, turn in pairs))

    return Zones(row(30), (beside(left, 90), beside(right, -90)), row(150))


def right_hex(grid: Grid, left: Hex, facing_deg: int) -> Hex | None:
    """Returns the right hex of a line on two hexes, from its left one; None off the map."""
    return grid.neighbour(left, (facing_deg - 90) % 360)
