"""Front, flank and rear of a counter on one hex or two, and the line on two hexes.

A facing points to a corner of the hex: two neighbours are Front, two Flank and two Rear. A line on
two hexes has its left hex first and three Front, two Flank and three Rear hexes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tablecam.rules.hexes.grid import FACING_STEP_DEG, Cube, Grid, Hex

ZoneName = Literal["front", "flank", "rear"]
ZONES: Final[tuple[ZoneName, ...]] = ("front", "flank", "rear")
Hexes = tuple[Hex, ...]
Cubes = tuple[Cube, ...]

TURNS_DEG: Final = {"front": (30, -30), "flank": (90, -90), "rear": (150, -150)}
"""The directions of the neighbours from a facing, the left one first."""


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
    """Returns the zones of a counter on one hex, or on a left and a right one."""
    left, right = grid.cube(hexes[0]), grid.cube(hexes[-1])

    def beside(cube: Cube, turn_deg: int) -> Cube:
        return cube.plus(grid.step((facing_deg + turn_deg) % 360))

    def row(turn_deg: int) -> Cubes:
        """The hexes ahead or behind from left to right; those of two hexes share the middle one."""
        pairs = ((cube, turn) for cube in (left, right) for turn in (turn_deg, -turn_deg))
        return tuple(dict.fromkeys(beside(cube, turn) for cube, turn in pairs))

    return Zones(row(30), (beside(left, 90), beside(right, -90)), row(150))


def around(grid: Grid, hexes: Hexes) -> Hexes:
    """Returns the hexes on the map that a counter on one hex or two is adjacent to."""
    beside = (other for number in hexes for other in grid.neighbours(number))
    return tuple(number for number in dict.fromkeys(beside) if number not in hexes)


def zone_toward(grid: Grid, hexes: Hexes, facing_deg: int, others: Hexes) -> ZoneName | None:
    """Returns the best zone of a counter in which one of some hexes is; None if none is."""
    zones = zones_of(grid, hexes, facing_deg)
    cubes = {grid.cube(number) for number in others}
    return next((name for name in ZONES if cubes.intersection(zones.of(name))), None)


def right_hex(grid: Grid, left: Hex, facing_deg: int) -> Hex | None:
    """Returns the right hex of a line on two hexes by its left one, None off the map."""
    return grid.neighbour(left, (facing_deg - 90) % 360)


def are_flank_to_flank(
    grid: Grid, one: Hexes, one_facing_deg: int, other: Hexes, other_facing_deg: int
) -> bool:
    """Whether two counters face alike and each has the other in a Flank hex."""
    if one_facing_deg != other_facing_deg or set(one) & set(other):
        return False
    pairs = ((one, other), (other, one))
    return all(
        set(grid.on_map(zones_of(grid, own, one_facing_deg).flank)).intersection(neighbours)
        for own, neighbours in pairs
    )


def shifted(grid: Grid, hexes: Hexes, direction_deg: int) -> Hexes | None:
    """Returns the hexes of a counter that shifts as a whole, None if it left the map."""
    moved = tuple(grid.neighbour(number, direction_deg % 360) for number in hexes)
    return None if None in moved else tuple(number for number in moved if number is not None)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of a line on two hexes about one of them: its hexes, its facing, and what it enters.

    It goes to its left or right, forward or backward.
    """

    to: Literal["left", "right"]
    backward: bool
    hexes: Hexes
    facing_deg: int
    entered: Hex


_WHEELS: Final = (
    ("left", False, 0, -30, FACING_STEP_DEG),
    ("right", False, 1, 30, -FACING_STEP_DEG),
    ("right", True, 0, -150, -FACING_STEP_DEG),
    ("left", True, 1, 150, FACING_STEP_DEG),
)
"""Where it goes, whether backward, the hex that stays (0: left), where the other goes, the turn."""


def wheels_of(grid: Grid, hexes: Hexes, facing_deg: int) -> tuple[Wheel, ...]:
    """Returns the four wheels of a line on two hexes, without those off the map."""
    wheels = []
    for to, backward, pivot, way_deg, turn_deg in _WHEELS:
        entered = grid.neighbour(hexes[pivot], (facing_deg + way_deg) % 360)
        if entered is None:
            continue
        facing = (facing_deg + turn_deg) % 360
        pair: Hexes = (hexes[pivot], entered)
        left = next(number for number in pair if right_hex(grid, number, facing) in pair)
        ordered = (left, *(number for number in pair if number != left))
        side: Literal["left", "right"] = "left" if to == "left" else "right"
        wheels.append(Wheel(side, backward, ordered, facing, entered))
    return tuple(wheels)
