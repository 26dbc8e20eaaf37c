"""Counters on one hex or two: what is next to them, shifts and wheels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tablecam.rules.hexes.grid import FACING_STEP_DEG, Grid, Hex
from tablecam.rules.hexes.zones import Hexes, right_hex

TURNS_DEG: Final = {"front": (30, -30), "flank": (90, -90), "rear": (150, -150)}
"""The directions of the neighbours from a facing, the left one first."""


def around(grid: Grid, hexes: Hexes) -> Hexes:
    """Returns the hexes on the map that a counter on one hex or two is adjacent to."""
    beside = (other for number in hexes for other in grid.neighbours(number))
    return tuple(number for number in dict.fromkeys(beside) if number not in hexes)


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
