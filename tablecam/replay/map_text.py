"""Draws a table in characters, for messages in a fixed-width font."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import corners, footprint
from tablecam.rules.descriptions import Described
from tablecam.rules.games import described
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Point, Position, Terrain, Unit
from tablecam.table.sides import side_name

COLUMNS: Final = 72
"""Width of a map in characters, without its frame."""
_CHARACTER_ASPECT: Final = 2.0
"""Height of a character relative to its width."""

FILLS: Final = ("█", "▒", "▓", "░")
STARS: Final = ("★", "☆", "◆", "◇")
"""Characters for the units and the commanders of each side."""
_ARROWS: Final = ("→", "↗", "↑", "↖", "←", "↙", "↓", "↘")
_GROUND: Final = {
    "woods": "♣",
    "rough": ":",
    "marsh": "≈",
    "stream": "~",
    "pond": "~",
    "ford": "=",
    "bridge": "#",
    "wall": "+",
    "trench": "%",
    "sunken_road": "-",
    "hill": "^",
    "crest": "'",
    "road": ".",
    "field": ",",
    "impassable": "x",
}
_OTHER_GROUND: Final = "o"
_NO_BREAK_SPACE: Final = "\u00a0"
"""A space at which no line is wrapped."""

Cell = tuple[int, int]
"""Row from the top, column from the left."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Divides a table into character cells."""

    rows: int
    cell_mm: float
    depth_mm: float

    @classmethod
    def of(cls, position: Position) -> _Grid:
        cell_mm = position.table.width_mm / COLUMNS
        depth_mm = position.table.depth_mm
        return cls(max(1, round(depth_mm / (cell_mm * _CHARACTER_ASPECT))), cell_mm, depth_mm)

    @property
    def row_mm(self) -> float:
        return self.depth_mm / self.rows

    def cell(self, point: Point) -> Cell:
        """Returns the cell of a point, or the nearest one if it is beyond the table."""
        row = math.floor((self.depth_mm - point[1]) / self.row_mm)
        column = math.floor(point[0] / self.cell_mm)
        return min(max(row, 0), self.rows - 1), min(max(column, 0), COLUMNS - 1)

    def covered_mm2(self, shape: shapely.Polygon) -> NDArray[np.float64]:
        """Returns how much of each cell a shape covers (rows, COLUMNS)."""
        covered = np.zeros((self.rows, COLUMNS))
        # Intersects only cells near the shape, because it is slow.
        left_mm, bottom_mm, right_mm, top_mm = shape.bounds
        top, left = self.cell((left_mm, top_mm))
        bottom, right = self.cell((right_mm, bottom_mm))
        x, y = np.meshgrid(
            np.arange(left, right + 1) * self.cell_mm,
            self.depth_mm - np.arange(top + 1, bottom + 2) * self.row_mm,
        )
        boxes = shapely.box(x, y, x + self.cell_mm, y + self.row_mm)
        inside = shapely.area(shapely.intersection(boxes, shape))
        covered[top : bottom + 1, left : right + 1] = inside
        return covered


class _Canvas:
    """Characters on a grid; nothing but units is drawn over units."""

    def __init__(self, grid: _Grid) -> None:
        self.grid = grid
        self._rows = [[" "] * COLUMNS for _ in range(grid.rows)]
        self._taken: set[Cell] = set()

    def put(self, cell: Cell, character: str, *, is_unit: bool = False) -> None:
        row, column = cell
        if (cell in self._taken and not is_unit) or not (
            0 <= row < self.grid.rows and 0 <= column < COLUMNS
        ):
            return
        self._rows[row][column] = character
        if is_unit:
            self._taken.add(cell)

    def is_free(self, cell: Cell) -> bool:
        return cell not in self._taken

    def lines(self) -> Iterator[str]:
        yield f"┌{'─' * COLUMNS}┐"
        yield from (f"│{''.join(row)}│" for row in self._rows)
        yield f"└{'─' * COLUMNS}┘"


def map_lines(position: Position) -> list[str]:
    """Returns the table from above, y upwards, followed by the legend."""
    canvas = _Canvas(_Grid.of(position))
    for piece in position.terrain:
        for cell in _ground_cells(canvas.grid, piece):
            canvas.put(cell, _GROUND.get(piece.kind, _OTHER_GROUND))
    sides = position.sides
    units = [unit for unit in position.units if unit.bases]
    cells = {unit.id: _unit_cells(canvas.grid, unit) for unit in units}
    # Fills, then labels, then arrows on cells that are still free.
    for unit in units:
        for cell in cells[unit.id]:
            canvas.put(cell, _fill(sides, unit), is_unit=True)
    for unit in units:
        _label(canvas, unit.id, cells[unit.id], _fill(sides, unit))
    for unit in units:
        _arrow(canvas, unit)
    for commander in position.commanders:
        star = STARS[sides.index(commander.side) % len(STARS)]
        canvas.put(canvas.grid.cell(commander.place_mm), star)
    # As wide as the map with its frame.
    paragraphs = (
        textwrap.wrap(paragraph, COLUMNS + 2) for paragraph in _legend(position, canvas.grid)
    )
    legend = (line.replace(_NO_BREAK_SPACE, " ") for lines in paragraphs for line in lines)
    return [*canvas.lines(), *legend]


def _ground_cells(grid: _Grid, piece: Terrain) -> list[Cell]:
    """Returns the cells that terrain covers by half; less for thin pieces such as walls."""
    area = shapely.Polygon(piece.outline_mm)
    covered_mm2 = grid.covered_mm2(area)
    width_mm = min(2.0 * area.area / area.length, grid.row_mm)
    share = 0.5 if width_mm == grid.row_mm else 0.3
    # A thin piece rarely fills half its width of a cell: a lower share leaves no gaps in a wall.
    return _cells_of(covered_mm2 > share * grid.cell_mm * width_mm)


def _unit_cells(grid: _Grid, unit: Unit) -> list[Cell]:
    """Returns the cells that a unit covers by half, and at least one in each column it fills."""
    covered_mm2 = np.sum([grid.covered_mm2(footprint(base)) for base in unit.bases], axis=0)
    is_full = covered_mm2 > 0.5 * grid.cell_mm * grid.row_mm
    depth_mm = min(grid.row_mm, *(min(base.depth_mm, base.width_mm) for base in unit.bases))
    is_filled = covered_mm2.sum(axis=0) > 0.5 * grid.cell_mm * depth_mm
    # Rounded, so that noise does not flip the choice between two rows that are equally full.
    fullest = np.round(covered_mm2).argmax(axis=0)
    for column in np.flatnonzero(is_filled & ~is_full.any(axis=0)):
        is_full[fullest[column], column] = True
    return _cells_of(is_full) or [grid.cell(_middle(unit.bases))]


def _cells_of(mask: NDArray[np.bool_]) -> list[Cell]:
    return [(int(row), int(column)) for row, column in np.argwhere(mask)]


def _fill(sides: list[str], unit: Unit) -> str:
    return FILLS[sides.index(unit.side) % len(FILLS)]


def _label(canvas: _Canvas, name: str, cells: list[Cell], fill: str) -> None:
    """Draws a unit's name on the row that it fills most, beside its side's character."""
    rows = Counter(row for row, _ in cells)
    middle = sum(row for row, _ in cells) / len(cells)
    # The row with the most cells; of equal ones the middle one.
    row = max(rows, key=lambda number: (rows[number], -abs(number - middle)))
    columns = [column for cell_row, column in cells if cell_row == row]
    # A cell beside the name must remain to show the side.
    label = name if len(columns) > len(name) else fill + name
    start = round((min(columns) + max(columns) - len(label) + 1) / 2)
    start = min(max(start, 0), max(COLUMNS - len(label), 0))
    for offset, character in enumerate(label):
        canvas.put((row, start + offset), character, is_unit=True)


def _arrow(canvas: _Canvas, unit: Unit) -> None:
    """Draws a unit's facing on the first free cell ahead of its middle."""
    grid, heading_deg = canvas.grid, unit.bases[0].heading_deg
    arrow = _ARROWS[round(heading_deg / 45.0) % len(_ARROWS)]
    step = np.array(forward(heading_deg))
    middle = np.array(_middle(unit.bases))
    corners_mm = np.array([corner for base in unit.bases for corner in corners(base)])
    front_mm = float(((corners_mm - middle) @ step).max())
    for ahead_mm in np.arange(1.0, 2.0 * grid.row_mm, grid.cell_mm / 2):
        x_mm, y_mm = middle + step * (front_mm + ahead_mm)
        cell = grid.cell((x_mm, y_mm))
        # Other units may cover the cells straight ahead.
        if canvas.is_free(cell):
            canvas.put(cell, arrow)
            return


def _middle(bases: Iterable[BasePose]) -> Point:
    places = np.array([base.place_mm for base in bases])
    x_mm, y_mm = places.mean(axis=0)
    return float(x_mm), float(y_mm)


def _legend(position: Position, grid: _Grid) -> Iterator[str]:
    game = described(position.game)
    for index, side in enumerate(position.sides):
        own = [unit for unit in position.units if unit.side == side and unit.bases]
        units = [_unit_words(game, unit) for unit in own]
        fill = FILLS[index % len(FILLS)]
        yield f"{fill}{fill} {side_name(side)}: {', '.join(units) or 'nobody'}"
    kinds = dict.fromkeys(piece.kind for piece in position.terrain)
    ground = [
        _GROUND.get(kind, _OTHER_GROUND) + _NO_BREAK_SPACE + kind.replace("_", _NO_BREAK_SPACE)
        for kind in kinds
    ]
    unit = game.length_unit(position.table)
    across, down = grid.cell_mm / unit.size_mm, grid.row_mm / unit.size_mm
    scale = f"a character is {across:.1f} {unit.symbol} wide and {down:.1f} {unit.symbol} high"
    yield "; ".join(filter(None, (", ".join(ground), scale)))


def _unit_words(game: Described, unit: Unit) -> str:
    """Returns a unit's name with what its markers say."""
    marks = [marker.words or marker.text for marker in game.markers(unit.state)]
    return f"{unit.id} ({', '.join(marks)})" if marks else unit.id
