"""A table drawn in characters: it pastes into any message that keeps their widths."""

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
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Point, Position, Terrain, Unit
from tablecam.table.sides import side_name

COLUMNS: Final = 72
"""How wide a map is, without its frame."""
_TALL: Final = 2.0
"""How many times as high as wide a character is."""

FILLS: Final = ("█", "▒", "▓", "░")
STARS: Final = ("★", "☆", "◆", "◇")
"""What the units and the commanders of each side are drawn with."""
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
_TIED: Final = "\u00a0"
"""A blank at which no line is broken."""

Cell = tuple[int, int]
"""Row from the top, column from the left."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """How a table is cut into characters."""

    rows: int
    cell_mm: float
    depth_mm: float

    @classmethod
    def of(cls, position: Position) -> _Grid:
        cell_mm = position.table.width_mm / COLUMNS
        depth_mm = position.table.depth_mm
        return cls(max(1, round(depth_mm / (cell_mm * _TALL))), cell_mm, depth_mm)

    @property
    def row_mm(self) -> float:
        return self.depth_mm / self.rows

    def cell(self, point: Point) -> Cell:
        """The cell of a point; the nearest of one beyond the table."""
        row = math.floor((self.depth_mm - point[1]) / self.row_mm)
        column = math.floor(point[0] / self.cell_mm)
        return min(max(row, 0), self.rows - 1), min(max(column, 0), COLUMNS - 1)

    def covered_mm2(self, shape: shapely.Polygon) -> NDArray[np.float64]:
        """How much of each cell a shape covers (rows, COLUMNS)."""
        found = np.zeros((self.rows, COLUMNS))
        left_mm, bottom_mm, right_mm, top_mm = shape.bounds
        top, left = self.cell((left_mm, top_mm))
        bottom, right = self.cell((right_mm, bottom_mm))
        x, y = np.meshgrid(
            np.arange(left, right + 1) * self.cell_mm,
            self.depth_mm - np.arange(top + 1, bottom + 2) * self.row_mm,
        )
        boxes = shapely.box(x, y, x + self.cell_mm, y + self.row_mm)
        inside = shapely.area(shapely.intersection(boxes, shape))
        found[top : bottom + 1, left : right + 1] = inside
        return found


class _Canvas:
    """Characters on a grid; those of units are not drawn over."""

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
    """The table seen from above, y upwards, and what the characters mean."""
    canvas = _Canvas(_Grid.of(position))
    for piece in position.terrain:
        for cell in _ground_cells(canvas.grid, piece):
            canvas.put(cell, _GROUND.get(piece.kind, _OTHER_GROUND))
    sides = sides_of(position)
    units = [unit for unit in position.units if unit.bases]
    cells = {unit.id: _unit_cells(canvas.grid, unit) for unit in units}
    for unit in units:
        for cell in cells[unit.id]:
            canvas.put(cell, _fill(sides, unit), is_unit=True)
    for unit in units:
        _label(canvas, unit.id, cells[unit.id], _fill(sides, unit))
    for unit in units:
        _arrow(canvas, unit)
    for leader in position.commanders:
        star = STARS[sides.index(leader.side) % len(STARS)]
        canvas.put(canvas.grid.cell((leader.x_mm, leader.y_mm)), star)
    legend = (textwrap.wrap(each, COLUMNS + 2) for each in _legend(position, canvas.grid))
    told = (line.replace(_TIED, " ") for lines in legend for line in lines)
    return [*canvas.lines(), *told]


def sides_of(position: Position) -> list[str]:
    """The sides that have anything on the table, in the order in which it lists them."""
    named = [unit.side for unit in position.units]
    return list(dict.fromkeys([*named, *(leader.side for leader in position.commanders)]))


def _ground_cells(grid: _Grid, piece: Terrain) -> list[Cell]:
    """The cells that terrain covers by half; of a thin piece, such as a wall, those it passes."""
    area = shapely.Polygon(piece.outline_mm)
    covered_mm2 = grid.covered_mm2(area)
    wide_mm = min(2.0 * area.area / area.length, grid.row_mm)
    share = 0.5 if wide_mm == grid.row_mm else 0.3
    return _where(covered_mm2 > share * grid.cell_mm * wide_mm)


def _unit_cells(grid: _Grid, unit: Unit) -> list[Cell]:
    """The cells that a unit covers by half; of each column that it fills, at least the fullest."""
    covered_mm2 = np.sum([grid.covered_mm2(footprint(base)) for base in unit.bases], axis=0)
    is_full = covered_mm2 > 0.5 * grid.cell_mm * grid.row_mm
    deep_mm = min(grid.row_mm, *(min(base.depth_mm, base.width_mm) for base in unit.bases))
    is_filled = covered_mm2.sum(axis=0) > 0.5 * grid.cell_mm * deep_mm
    # Rounded, or of two rows that are as full now this and now that would be drawn.
    fullest = np.round(covered_mm2).argmax(axis=0)
    for column in np.flatnonzero(is_filled & ~is_full.any(axis=0)):
        is_full[fullest[column], column] = True
    return _where(is_full) or [grid.cell(_middle(unit.bases))]


def _where(found: NDArray[np.bool_]) -> list[Cell]:
    return [(int(row), int(column)) for row, column in np.argwhere(found)]


def _fill(sides: list[str], unit: Unit) -> str:
    return FILLS[sides.index(unit.side) % len(FILLS)]


def _label(canvas: _Canvas, name: str, cells: list[Cell], fill: str) -> None:
    """A unit's name on the middle of the row that it fills most of; its side shows beside it."""
    rows = Counter(row for row, _ in cells)
    middle = sum(row for row, _ in cells) / len(cells)
    row = max(rows, key=lambda each: (rows[each], -abs(each - middle)))
    columns = [column for each, column in cells if each == row]
    label = name if len(columns) > len(name) else fill + name
    begins = round((min(columns) + max(columns) - len(label) + 1) / 2)
    begins = min(max(begins, 0), max(COLUMNS - len(label), 0))
    for place, character in enumerate(label):
        canvas.put((row, begins + place), character, is_unit=True)


def _arrow(canvas: _Canvas, unit: Unit) -> None:
    """Where a unit faces: ahead of its middle, on the first cell that nobody has."""
    grid, heading_deg = canvas.grid, unit.bases[0].heading_deg
    arrow = _ARROWS[round(heading_deg / 45.0) % len(_ARROWS)]
    step = np.array(forward(heading_deg))
    middle = np.array(_middle(unit.bases))
    edges = np.array([corner for base in unit.bases for corner in corners(base)])
    front_mm = float(((edges - middle) @ step).max())
    for far_mm in np.arange(1.0, 2.0 * grid.row_mm, grid.cell_mm / 2):
        x_mm, y_mm = middle + step * (front_mm + far_mm)
        cell = grid.cell((x_mm, y_mm))
        if canvas.is_free(cell):
            canvas.put(cell, arrow)
            return


def _middle(bases: Iterable[BasePose]) -> Point:
    places = np.array([(base.x_mm, base.y_mm) for base in bases])
    x_mm, y_mm = places.mean(axis=0)
    return float(x_mm), float(y_mm)


def _legend(position: Position, grid: _Grid) -> Iterator[str]:
    for place, side in enumerate(sides_of(position)):
        units = [_unit_words(unit) for unit in position.units if unit.side == side and unit.bases]
        fill = FILLS[place % len(FILLS)]
        yield f"{fill}{fill} {side_name(side)}: {', '.join(units) or 'nobody'}"
    kinds = dict.fromkeys(piece.kind for piece in position.terrain)
    ground = [_GROUND.get(kind, _OTHER_GROUND) + _TIED + kind.replace("_", _TIED) for kind in kinds]
    unit_mm = position.table.base_width_mm
    across, down = grid.cell_mm / unit_mm, grid.row_mm / unit_mm
    scale = f"a character is {across:.1f} BW wide and {down:.1f} high"
    yield "; ".join(filter(None, (", ".join(ground), scale)))


def _unit_words(unit: Unit) -> str:
    """A unit with what the game knows of it."""
    known = [
        key if value is True else f"{key} {value}" for key, value in unit.state.items() if value
    ]
    return f"{unit.id} ({', '.join(known)})" if known else unit.id
