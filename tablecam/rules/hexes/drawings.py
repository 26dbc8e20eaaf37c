"""Shapes of hexes, hexsides, ways and lines of sight for a page to draw, and a ground's colours."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.hexes.files import Ground
from tablecam.rules.hexes.grid import Grid, Hex
from tablecam.rules.hexes.zones import Hexes
from tablecam.table.model import Point

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

PLAIN: Final[Colour] = (251, 249, 240)
_TERRAINS: Final[tuple[Colour, ...]] = (
    (204, 224, 184), (194, 219, 230), (237, 222, 184), (222, 209, 224), (214, 214, 204),
)  # fmt: skip
"""Light tones, on which counters and the numbers of hexes can be seen."""
_SIDES: Final[tuple[Colour, ...]] = ((77, 133, 184), (122, 92, 61), (51, 51, 51))

_COUNTERS: Final[tuple[Colour, ...]] = (
    (168, 209, 237), (247, 196, 163), (168, 227, 204), (237, 204, 224),
)  # fmt: skip
"""Light tones of the page's colours of the sides, on which black words can be read."""


def counter_colours(sides: Iterable[str]) -> dict[str, Colour]:
    """Returns the colour of the counters of each side, in the order of a table file."""
    return dict(zip(dict.fromkeys(sides), cycle(_COUNTERS), strict=False))


def ground_colours(ground: Ground) -> tuple[dict[str, Colour], dict[str, Colour]]:
    """Returns a colour for each terrain that is not the default, and for each kind of hexside."""
    terrains = dict.fromkeys(kind for kind in ground.terrain.values() if kind != ground.default)
    sides = dict.fromkeys(ground.sides.values())
    return (
        dict(zip(terrains, cycle(_TERRAINS), strict=False)),
        dict(zip(sides, cycle(_SIDES), strict=False)),
    )


def map_json(ground: Ground) -> dict[str, Any]:
    """Returns a map for a page to draw: its hexes, the ground of each kind, and its hexsides."""
    grid = ground.grid
    terrains, sides = ground_colours(ground)
    return {
        "size_mm": grid.size_mm,
        "hexes": [
            {"id": number, "middle_mm": _rounded(grid.middle_mm((number,)))}
            for number in grid.hexes
        ],
        "corners_mm": [_rounded(grid.arm_mm(deg)) for deg in grid.facings_deg],
        "terrain": [
            {
                "kind": kind,
                "colour": _hexadecimal(colour),
                "hexes": [number for number in grid.hexes if ground.terrain_of(number) == kind],
            }
            for kind, colour in terrains.items()
        ],
        "sides": [
            {
                "kind": kind,
                "colour": _hexadecimal(colour),
                "lines_mm": [
                    [_rounded(point) for point in hexside_shape(grid, one, other, kind).points_mm]
                    for (one, other) in (
                        sorted(pair) for pair, side in ground.sides.items() if side == kind
                    )
                ],
            }
            for kind, colour in sides.items()
        ],
    }


def _rounded(point: Point) -> list[float]:
    return [round(number, 2) for number in point]


def _hexadecimal(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def hexes_shapes(grid: Grid, hexes: Iterable[Hex], role: str) -> tuple[Shape, ...]:
    """Returns the outlines of some hexes."""
    return tuple(Shape("polygon", grid.corners_mm(number), role) for number in hexes)


def hexside_shape(grid: Grid, one: Hex, other: Hex, role: str) -> Shape:
    """Returns the side between two hexes that touch."""
    shared = [
        point
        for point in grid.corners_mm(one)
        if any(abs(point[0] - x) + abs(point[1] - y) < 0.01 for x, y in grid.corners_mm(other))
    ]
    return Shape("line", tuple(shared), role)


def line_shape(grid: Grid, start: Hexes, end: Hexes, role: str, label: str = "") -> Shape:
    """Returns the line between the middles of two counters."""
    return Shape("line", (grid.middle_mm(start), grid.middle_mm(end)), role, label)


def way_shape(grid: Grid, places: Iterable[Hexes], role: str, label: str = "") -> Shape:
    """Returns the way of a counter from place to place."""
    return Shape("line", tuple(grid.middle_mm(hexes) for hexes in places), role, label)
