"""Lines of sight between hexes, in exact fractions: which hexes a line crosses or runs along.

A hex with centre c holds the points p for which the differences of the coordinates of p - c lie
between -1 and 1. Coordinates are doubled, so that the middle of a hexside is an integer too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from tablecam.rules.hexes.grid import Cube

Cubes = tuple[Cube, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a line that lies in a hex, as shares of its length.

    The line `runs_along` a side of the hex, or crosses its interior.
    """

    cube: Cube
    start: Fraction
    end: Fraction
    runs_along: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A line from the middle of a firer's hexes to the middle of a target's, each one hex or two.

    `between` are the hexes, except either's own, that it crosses or runs along; `leaves` those
    beside it where it leaves the firer's, `arrives` where it reaches the target's: one hex, or two
    at a hexside. A hex touched at a single point does not count.
    """

    between: tuple[Stretch, ...]
    leaves: Cubes
    arrives: Cubes


@cache
def line_between(firer: Cubes, target: Cubes) -> Line:
    """Returns the line of sight between two counters that do not share a hex."""
    stretches = tuple(_stretches(_middle(firer), _middle(target)))
    outside = [stretch for stretch in stretches if stretch.cube not in firer]
    first = min(stretch.start for stretch in outside)
    inside = [stretch for stretch in stretches if stretch.cube not in target]
    last = max(stretch.end for stretch in inside)
    return Line(
        tuple(stretch for stretch in outside if stretch.cube not in target),
        tuple(stretch.cube for stretch in outside if stretch.start == first),
        tuple(stretch.cube for stretch in inside if stretch.end == last),
    )


def _middle(cubes: Sequence[Cube]) -> Cube:
    """Returns the doubled coordinates of the middle of one hex or two."""
    one, other = cubes[0], cubes[-1]
    return one.plus(other)


def _stretches(start: Cube, end: Cube) -> Iterator[Stretch]:
    """Yields the stretches of positive length of a line between doubled points, hex by hex."""
    qs = sorted((int(start.q), int(end.q)))
    rs = sorted((int(start.r), int(end.r)))
    for q in range(qs[0] // 2 - 1, qs[1] // 2 + 2):
        for r in range(rs[0] // 2 - 1, rs[1] // 2 + 2):
            stretch = _stretch(Cube(q, r), start, end)
            if stretch is not None:
                yield stretch


def _stretch(cube: Cube, start: Cube, end: Cube) -> Stretch | None:
    low, high, runs_along = Fraction(0), Fraction(1), False
    centre = Cube(2 * cube.q, 2 * cube.r)
    for at, slope in zip(_differences(start, centre), _differences(end, start), strict=True):
        # Inside where -2 <= at + t * slope <= 2.
        if slope == 0:
            if abs(at) > 2:
                return None
            runs_along = runs_along or abs(at) == 2
            continue
        ends = sorted((Fraction(-2 - at, slope), Fraction(2 - at, slope)))
        low, high = max(low, ends[0]), min(high, ends[1])
    return Stretch(cube, low, high, runs_along) if low < high else None


def _differences(point: Cube, origin: Cube) -> tuple[int, int, int]:
    q, r, s = (int(a - b) for a, b in zip((*point, point.s), (*origin, origin.s), strict=True))
    return q - r, r - s, s - q
