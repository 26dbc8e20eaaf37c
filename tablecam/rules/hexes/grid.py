"""The grid of a printed hex map: numbers, cube coordinates, millimetres, and paths across it.

A hex is named by its four digits. Arithmetic uses cube coordinates (q, r, s) with q + r + s = 0; a
direction is the heading from a hex's centre to a neighbour's in the map's frame. Follows
https://www.redblobgames.com/grids/hexagons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from heapq import heappop, heappush
from typing import Final, Generic, NamedTuple, TypeVar

from tablecam.geometry.shapes import Shape
from tablecam.table.headings import difference_deg
from tablecam.table.model import HexMap, Point

Hex = str
"""The four digits of a hex."""

FACING_STEP_DEG: Final = 60


class Cube(NamedTuple):
    """A hex, or a point between hexes, in cube coordinates; the third is -q - r."""

    q: float
    r: float

    @property
    def s(self) -> float:
        """The third coordinate."""
        return -self.q - self.r

    def plus(self, other: Cube) -> Cube:
        """Returns the sum."""
        return Cube(self.q + other.q, self.r + other.r)


_STEPS: Final = (Cube(1, -1), Cube(0, -1), Cube(-1, 0), Cube(-1, 1), Cube(0, 1), Cube(1, 0))
"""Steps to the neighbours, counter-clockwise from 30 degrees on flat, 60 on pointy hexes."""


def cube_distance(one: Cube, other: Cube) -> int:
    """Returns the distance between two hexes."""
    q, r = one.q - other.q, one.r - other.r
    return int(max(abs(q), abs(r), abs(q + r)))


@dataclass(frozen=True)
class Grid:
    """The hexes of a map; use `grid_of`, which builds each grid once."""

    map: HexMap

    @property
    def size_mm(self) -> float:
        """The distance between the centres of two neighbours."""
        return self.map.hex_size_mm

    @property
    def is_flat(self) -> bool:
        """Whether hexes are flat-topped."""
        return self.map.orientation == "flat"

    @property
    def facings_deg(self) -> tuple[int, ...]:
        """The headings from a hex's centre to its corners, in the map's frame."""
        first = 0 if self.is_flat else 30
        return tuple(range(first, 360, FACING_STEP_DEG))

    @property
    def directions_deg(self) -> tuple[int, ...]:
        """The directions of the neighbours, in the map's frame, in ascending order."""
        first = 30 if self.is_flat else 0
        return tuple(range(first, 360, FACING_STEP_DEG))

    @cached_property
    def _cubes(self) -> dict[Hex, Cube]:
        columns = range(self.map.first_column, self.map.first_column + self.map.columns)
        rows = range(self.map.first_row, self.map.first_row + self.map.rows)
        return {self._named(c, r): self._cube(c, r) for c in columns for r in rows}

    @cached_property
    def _numbers(self) -> dict[Cube, Hex]:
        return {cube: number for number, cube in self._cubes.items()}

    @property
    def hexes(self) -> Iterable[Hex]:
        """All hexes of the map, column by column."""
        return self._cubes

    def _named(self, column: int, row: int) -> Hex:
        pair = (column, row) if self.map.numbering == "CCRR" else (row, column)
        return "{:02}{:02}".format(*pair)

    def _cube(self, column: int, row: int) -> Cube:
        a, b = column - self.map.first_column, row - self.map.first_row
        if self.is_flat:
            shift = self._shift(column) - self._shift(self.map.first_column)
            return Cube(a, b + (shift - a) // 2)
        shift = self._shift(row) - self._shift(self.map.first_row)
        return Cube(a + (shift - b) // 2, b)

    def _shift(self, line: int) -> int:
        return int(line % 2 == (self.map.shifted == "odd"))

    def __contains__(self, number: object) -> bool:
        return number in self._cubes

    def cube(self, number: Hex) -> Cube:
        """Returns a hex's cube coordinates.

        Raises:
            KeyError: The hex is not on the map.
        """
        return self._cubes[number]

    def number(self, cube: Cube) -> Hex | None:
        """Returns the number of a hex, None off the map."""
        return self._numbers.get(cube)

    def on_map(self, cubes: Iterable[Cube]) -> tuple[Hex, ...]:
        """Returns the numbers of the hexes that are on the map."""
        return tuple(number for cube in cubes if (number := self.number(cube)) is not None)

    def step(self, direction_deg: int) -> Cube:
        """Returns the step to the neighbour in a direction.

        Raises:
            ValueError: No neighbour lies there.
        """
        first = 30 if self.is_flat else 60
        turns, rest = divmod(direction_deg - first, FACING_STEP_DEG)
        if rest:
            raise ValueError(f"expected one of {self.directions_deg}, got {direction_deg}")
        return _STEPS[turns % 6]

    def neighbour(self, number: Hex, direction_deg: int) -> Hex | None:
        """Returns the neighbour in a direction, None off the map."""
        return self.number(self.cube(number).plus(self.step(direction_deg)))

    def neighbours(self, number: Hex) -> tuple[Hex, ...]:
        """Returns the neighbours on the map, counter-clockwise by their directions."""
        return self._neighbours[number]

    @cached_property
    def _neighbours(self) -> dict[Hex, tuple[Hex, ...]]:
        steps = [self.step(deg) for deg in self.directions_deg]
        return {
            number: self.on_map(cube.plus(step) for step in steps)
            for number, cube in self._cubes.items()
        }

    def direction_deg(self, number: Hex, other: Hex) -> int | None:
        """Returns the direction from a hex to its neighbour, None if they do not touch."""
        start, end = self.cube(number), self.cube(other)
        for deg in self.directions_deg:
            if start.plus(self.step(deg)) == end:
                return deg
        return None

    def distance(self, one: Iterable[Hex], other: Iterable[Hex]) -> int:
        """Returns the smallest distance between the hexes of two counters."""
        ends = [self.cube(number) for number in other]
        return min(cube_distance(self.cube(number), end) for number in one for end in ends)

    # Millimetres.

    def centre_mm(self, cube: Cube) -> Point:
        """Returns where a hex's centre, or a point between hexes, lies on the table."""
        across = math.sqrt(3) / 2 * self.size_mm
        if self.is_flat:
            x_mm, y_mm = across * cube.q, -self.size_mm * (cube.r + cube.q / 2)
        else:
            x_mm, y_mm = self.size_mm * (cube.q + cube.r / 2), -across * cube.r
        return self._on_table(x_mm, y_mm)

    def _on_table(self, x_mm: float, y_mm: float) -> Point:
        turn = math.radians(self.map.rotation_deg)
        cos, sin = math.cos(turn), math.sin(turn)
        to_x, to_y = self.map.origin_mm
        return to_x + cos * x_mm - sin * y_mm, to_y + sin * x_mm + cos * y_mm

    def middle_mm(self, hexes: Iterable[Hex]) -> Point:
        """Returns the middle of the hexes that a counter lies on."""
        points = [self.centre_mm(self.cube(number)) for number in hexes]
        xs, ys = zip(*points, strict=True)
        return sum(xs) / len(xs), sum(ys) / len(ys)

    def corners_mm(self, number: Hex) -> tuple[Point, ...]:
        """Returns the corners of a hex on the table, counter-clockwise."""
        x_mm, y_mm = self.centre_mm(self.cube(number))
        return tuple(
            (x_mm + dx, y_mm + dy) for dx, dy in (self.arm_mm(deg) for deg in self.facings_deg)
        )

    def arm_mm(self, facing_deg: float) -> Point:
        """Returns the vector from a hex's centre to its corner in a facing, on the table."""
        turn = math.radians(facing_deg + self.map.rotation_deg)
        arm_mm = self.size_mm / math.sqrt(3)
        return arm_mm * math.cos(turn), arm_mm * math.sin(turn)

    def cube_at(self, point_mm: Point) -> tuple[Cube, float]:
        """Returns the hex in which a point lies, and how far it is from its nearest side, in mm.

        On a side, it is the hex with the lower number.
        """
        fraction = self._fraction(point_mm)
        nearest = _rounded(fraction)
        margin_mm = self._margin_mm(fraction, nearest)
        if margin_mm < _ON_SIDE_MM:
            near = [nearest, *(nearest.plus(step) for step in _STEPS)]
            sharing = [c for c in near if self._margin_mm(fraction, c) > -_ON_SIDE_MM]
            nearest = min(sharing, key=lambda cube: self.number(cube) or "9999")
            margin_mm = 0.0
        return nearest, margin_mm

    def hex_at(self, point_mm: Point) -> Hex | None:
        """Returns the hex in which a point lies, None off the map."""
        return self.number(self.cube_at(point_mm)[0])

    def _fraction(self, point_mm: Point) -> Cube:
        turn = math.radians(-self.map.rotation_deg)
        x, y = (place - start for place, start in zip(point_mm, self.map.origin_mm, strict=True))
        x, y = math.cos(turn) * x - math.sin(turn) * y, math.sin(turn) * x + math.cos(turn) * y
        if self.is_flat:
            q = 2 * x / (math.sqrt(3) * self.size_mm)
            return Cube(q, -y / self.size_mm - q / 2)
        r = -2 * y / (math.sqrt(3) * self.size_mm)
        return Cube(x / self.size_mm - r / 2, r)

    def _margin_mm(self, point: Cube, cube: Cube) -> float:
        """Returns how far a point is from the nearest side of a hex, negative outside."""
        q, r, s = point.q - cube.q, point.r - cube.r, point.s - cube.s
        # The three differences are 1 on the sides, w/2 from the centre.
        return (1.0 - max(abs(q - r), abs(r - s), abs(s - q))) * self.size_mm / 2

    def facing_near(self, heading_deg: float) -> tuple[int, float]:
        """Returns the facing nearest to a heading on the table, and the difference in degrees."""
        on_map = heading_deg - self.map.rotation_deg
        nearest = min(self.facings_deg, key=lambda deg: abs(difference_deg(on_map, deg)))
        return nearest, difference_deg(on_map, nearest)

    def outlines(self, hexes: Iterable[Hex], role: str) -> tuple[Shape, ...]:
        """Draws some hexes."""
        return tuple(Shape("polygon", self.corners_mm(number), role) for number in hexes)

    def way(self, places: Iterable[Sequence[Hex]], role: str) -> Shape:
        """Draws the path of a counter from place to place, or the line between two."""
        return Shape("line", tuple(self.middle_mm(hexes) for hexes in places), role)

    def reached(
        self, start: Iterable[Hex], most: int, may_step: Callable[[Hex, Hex], bool]
    ) -> dict[Hex, tuple[Hex, ...]]:
        """Returns the hexes within `most` steps of a start, each with a shortest path to it.

        `may_step` says whether a step from a hex into its neighbour is allowed.
        """
        paths: dict[Hex, tuple[Hex, ...]] = dict.fromkeys(start, ())
        edge = list(paths)
        for _ in range(most):
            further = []
            for number in edge:
                for beside in self.neighbours(number):
                    if beside not in paths and may_step(number, beside):
                        paths[beside] = (*paths[number], beside)
                        further.append(beside)
            edge = further
        return paths


_ON_SIDE_MM: Final = 1e-6


def _rounded(cube: Cube) -> Cube:
    """Returns the hex that holds a point; the coordinate rounded most is set from the others."""
    q, r, s = round(cube.q), round(cube.r), round(cube.s)
    off_q, off_r, off_s = abs(q - cube.q), abs(r - cube.r), abs(s - cube.s)
    if off_q > off_r and off_q > off_s:
        q = -r - s
    elif off_r > off_s:
        r = -q - s
    return Cube(q, r)


@cache
def grid_of(hex_map: HexMap) -> Grid:
    """Returns the grid of a map."""
    return Grid(hex_map)


# Paths.

Place = TypeVar("Place", bound=Hashable)
Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class Way(Generic[Place, Step]):
    """A path by its steps: its places, its cost, and the names of those who react to it."""

    places: tuple[Place, ...]
    steps: tuple[Step, ...]
    cost: float
    triggers: frozenset[str]


NextSteps = Callable[[Way[Place, Step]], Iterable[tuple[Step, Place, float, Iterable[str]]]]
"""Returns what may follow a path: a step, the place it leads to, its cost, and who reacts."""


def ways_from(
    start: Place, next_steps: NextSteps[Place, Step], most: float
) -> dict[Place, tuple[Way[Place, Step], ...]]:
    """Returns the cheapest paths to each place within a cost, one for each set of triggers.

    A path that triggers all that another one does, and costs no less, is left out.
    """
    first: Way[Place, Step] = Way((start,), (), 0.0, frozenset())
    kept: dict[Place, list[Way[Place, Step]]] = {}
    waiting = [(0.0, 0, first)]
    count = 0
    while waiting:
        _, _, way = heappop(waiting)
        known = kept.setdefault(way.places[-1], [])
        if any(other.triggers <= way.triggers and other.cost <= way.cost for other in known):
            continue
        known.append(way)
        for step, place, cost, triggers in next_steps(way):
            total = way.cost + cost
            if total <= most and place not in way.places:
                count += 1
                further = Way(
                    (*way.places, place), (*way.steps, step), total,
                    way.triggers.union(triggers),
                )  # fmt: skip
                heappush(waiting, (total, count, further))
    return {place: tuple(ways) for place, ways in kept.items()}
