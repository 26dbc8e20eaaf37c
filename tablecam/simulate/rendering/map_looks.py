"""The look of a printed hex map, for every picture: the colours, lines and blocks of its ground."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from math import dist
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from tablecam.documents import Document, read_toml
from tablecam.geometry.shapes import Shape
from tablecam.rules.game_files import file_faults
from tablecam.rules.games import described
from tablecam.rules.hexes.files import Ground, HexMapFile
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.table.model import HexMap, Point
from tablecam.table.sections import first_of

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

PLAIN: Final[Colour] = (251, 249, 240)
_TERRAINS: Final[tuple[Colour, ...]] = (
    (182, 208, 158), (200, 223, 233), (243, 230, 196), (214, 199, 216), (224, 224, 216),
)  # fmt: skip
"""Light tones, each a different grey, on which counters and hex numbers are legible."""
_HIGH_GROUND: Final[Colour] = (236, 208, 162)


@dataclass(frozen=True)
class Stroke:
    """The style of a line on a map; `dash_mm` are the lengths of dash and gap, None if solid.

    Kinds also differ in their dashes, so that a map printed in grey is legible.
    """

    colour: Colour
    width_mm: float
    dash_mm: tuple[float, float] | None = None


_SIDES: Final[tuple[Stroke, ...]] = (
    Stroke((77, 133, 184), 1.6), Stroke((122, 92, 61), 1.4, (3.0, 2.2)),
    Stroke((51, 51, 51), 1.8, (0.1, 2.6)),
)  # fmt: skip
_PATH: Final = (Stroke((92, 74, 52), 0.8, (2.2, 1.6)),)
_PATHS: Final[Mapping[str, tuple[Stroke, ...]]] = {
    "road": (Stroke((92, 74, 52), 2.6), Stroke((255, 252, 240), 1.5))
}
"""A road is the light strip between two dark lines, any other path a dashed line."""
_SECONDARY: Final[tuple[Colour, ...]] = ((70, 62, 58), (140, 92, 84), (84, 104, 84))
_BLOCK, _BLOCKS_OUT = 0.1, 0.72
"""Secondary terrain is a block near each corner: its size and distance, as shares of the hex."""

_NO_COSTS: Final[Mapping[str, str]] = MappingProxyType({})

_COUNTERS: Final[tuple[Colour, ...]] = (
    (168, 209, 237), (247, 196, 163), (168, 227, 204), (237, 204, 224),
)  # fmt: skip
"""Light tones of the page's side colours, on which black words are legible."""


def counter_colours(sides: Iterable[str]) -> dict[str, Colour]:
    """Returns the colour of the counters of each side, in the order of a table file."""
    return dict(zip(dict.fromkeys(sides), cycle(_COUNTERS), strict=False))


def terrain_colours(ground: Ground) -> dict[str, Colour]:
    """Returns a colour for each terrain that is not the default."""
    tones = cycle(_TERRAINS)
    kinds = dict.fromkeys(kind for kind in ground.terrain.values() if kind != ground.default)
    return {kind: _HIGH_GROUND if kind.startswith("hill") else next(tones) for kind in kinds}


def secondary_colours(ground: Ground) -> dict[str, Colour]:
    """Returns a colour for each secondary terrain."""
    kinds = dict.fromkeys(kind for kinds in ground.secondary.values() for kind in kinds)
    return dict(zip(kinds, cycle(_SECONDARY), strict=False))


def strokes_of(ground: Ground) -> dict[str, tuple[Stroke, ...]]:
    """Returns the strokes of each kind of hexside and path, the lowest first."""
    sides = zip(dict.fromkeys(ground.sides.values()), cycle(_SIDES), strict=False)
    strokes: dict[str, tuple[Stroke, ...]] = {kind: (stroke,) for kind, stroke in sides}
    return strokes | {kind: _PATHS.get(kind, _PATH) for kind in ground.paths.values()}


Ends = tuple[Point, Point]


def lines_of(ground: Ground) -> Iterator[tuple[str, Stroke, list[Ends]]]:
    """Yields the lines of a map: the kind, a stroke, and its dashes from end to end."""
    ends: dict[str, list[Ends]] = {}
    for pair, kind in ground.sides.items():
        one, other = sorted(pair)
        start, end = hexside_shape(ground.grid, one, other, kind).points_mm
        ends.setdefault(kind, []).append((start, end))
    for pair, kind in ground.paths.items():
        start, end = (ground.grid.middle_mm((number,)) for number in sorted(pair))
        ends.setdefault(kind, []).append((start, end))
    for kind, strokes in strokes_of(ground).items():
        for stroke in strokes:
            yield kind, stroke, [dash for line in ends[kind] for dash in dashes(stroke, line)]


def dashes(stroke: Stroke, ends: Ends) -> list[Ends]:
    """Returns the parts of a line that a stroke draws."""
    if stroke.dash_mm is None:
        return [ends]
    (x_mm, y_mm), (to_x, to_y) = ends
    length_mm, (drawn_mm, left_out_mm) = dist(*ends), stroke.dash_mm
    count = max(round((length_mm + left_out_mm) / (drawn_mm + left_out_mm)), 1)
    # The dashes begin and end with the line, so that they join the next line's.
    step, part = length_mm / count, drawn_mm / (drawn_mm + left_out_mm)
    shares = [((n + (1 - part) / 2) * step, (n + (1 + part) / 2) * step) for n in range(count)]

    def at(along_mm: float) -> Point:
        share = along_mm / length_mm
        return x_mm + share * (to_x - x_mm), y_mm + share * (to_y - y_mm)

    return [(at(start), at(end)) for start, end in shares]


def blocks_of(ground: Ground) -> Iterator[tuple[Colour, tuple[Point, ...]]]:
    """Yields the blocks of secondary terrain: the colour and the corners of each."""
    colours = secondary_colours(ground)
    grid = ground.grid
    half_mm = _BLOCK * grid.size_mm / 2
    for number, kinds in ground.secondary.items():
        middle_x, middle_y = grid.middle_mm((number,))
        for place, (x_mm, y_mm) in enumerate(grid.corners_mm(number)):
            x_mm = middle_x + _BLOCKS_OUT * (x_mm - middle_x)
            y_mm = middle_y + _BLOCKS_OUT * (y_mm - middle_y)
            corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
            outline = tuple((x_mm + x * half_mm, y_mm + y * half_mm) for x, y in corners)
            yield colours[kinds[place % len(kinds)]], outline


def words_of(ground: Ground, number: Hex, costs: Mapping[str, str]) -> str:
    """Describes a hex and its sides, and what each kind of ground costs, by `costs`."""
    paths = (kind for pair, kind in ground.paths.items() if number in pair)
    inside = (ground.terrain_of(number), *ground.secondary.get(number, ()), *paths)
    sides: dict[str, list[Hex]] = {}
    for beside in ground.grid.neighbours(number):
        if kind := ground.side_of(number, beside):
            sides.setdefault(kind, []).append(beside)
    words = [*dict.fromkeys(inside), *sides]
    return ", ".join(
        kind
        + (f" towards {' and '.join(sides[kind])}" if kind in sides else "")
        + (f" ({costs[kind]})" if costs.get(kind) else "")
        for kind in words
        if kind
    )


def map_json(ground: Ground, costs: Mapping[str, str] = _NO_COSTS) -> dict[str, Any]:
    """Returns a map for a page to draw: hexes, the ground of each kind, lines, and blocks.

    `costs` describe the cost of each kind of ground.
    """
    grid = ground.grid
    blocks = {colour: kind for kind, colour in secondary_colours(ground).items()}
    terrains = terrain_colours(ground)
    return {
        "size_mm": grid.size_mm,
        "hexes": [
            {
                "id": number,
                "middle_mm": _rounded(grid.middle_mm((number,))),
                "words": words_of(ground, number, costs),
            }
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
        "lines": [
            {
                "kind": kind,
                "colour": _hexadecimal(stroke.colour),
                "width_mm": stroke.width_mm,
                "dash_mm": stroke.dash_mm or (),
                "lines_mm": [[_rounded(point) for point in ends] for ends in lines],
            }
            for kind, stroke, lines in lines_of(ground)
        ],
        "blocks": [
            {
                "kind": blocks[colour],
                "colour": _hexadecimal(colour),
                "outline_mm": [_rounded(point) for point in outline],
            }
            for colour, outline in blocks_of(ground)
        ],
    }


def _rounded(point: Point) -> list[float]:
    return [round(number, 2) for number in point]


def _hexadecimal(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def hexside_shape(grid: Grid, one: Hex, other: Hex, role: str) -> Shape:
    """Returns the side between two adjacent hexes."""
    shared = [
        point
        for point in grid.corners_mm(one)
        if any(abs(point[0] - x) + abs(point[1] - y) < 0.01 for x, y in grid.corners_mm(other))
    ]
    return Shape("line", tuple(shared), role)


def table_ground(hex_map: HexMap, game: str, file: Path | Document | None) -> Ground:
    """Returns the ground of a table from its map file; without one all hexes are alike.

    Raises:
        BadInput: The file cannot be read, is another game's, or names hexes off the map.
    """
    grid = grid_of(hex_map)
    if file is None:
        return Ground(grid, "", {}, {})
    document = read_toml(file) if isinstance(file, Path) else file
    model = described(game).file_models.get("map", HexMapFile)
    first_of(file_faults(document, game, {"map": model}, hex_map))
    parsed = document.parsed(model)
    assert isinstance(parsed, HexMapFile)
    return parsed.ground(grid)
