"""Divides the table into square blocks and maps each pixel of a reduced picture to its block."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.grey_picture import REDUCED

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_SIDE_MM = 60.0
"""A little larger than a base, so that a change about one base touches one to four blocks."""
_MARGIN_MM = 60.0
"""The search extends this far beyond the table and its own tags."""
_EXACT_EVERY = 4
"""One reduced pixel in 4 x 4 is projected exactly; the others are interpolated."""
_NOWHERE_MM = 1e6
"""Stands for pixels that see no point of the table's plane."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A grid of `columns` x `rows` square blocks, numbered along x first.

    It starts at the corner `low_mm` (2,). `shown` (height, width) gives the block that each pixel
    of a reduced picture shows, or `count` where it shows none.
    """

    low_mm: Array
    columns: int
    rows: int
    shown: Index

    @property
    def count(self) -> int:
        """The number of blocks."""
        return self.columns * self.rows

    @property
    def sizes(self) -> Index:
        """The number of reduced pixels that show each block, (count,)."""
        return np.bincount(self.shown.ravel(), minlength=self.count + 1)[: self.count]

    def holding(self, pixels: Index) -> Index:
        """Counts pixels per block, (count,); `pixels` are flat indices of a reduced picture."""
        # The last bin holds pixels that show no block; it is cut off.
        block = np.take(self.shown, pixels)
        return np.bincount(block, minlength=self.count + 1)[: self.count]

    def at(self, places_mm: Array) -> Index:
        """Returns the block that contains, or else is nearest to, each place (n, 2)."""
        steps = np.floor((places_mm.reshape(-1, 2) - self.low_mm) / _SIDE_MM).astype(np.int64)
        column, row = steps.clip(0, [self.columns - 1, self.rows - 1]).T
        return np.asarray(row * self.columns + column)

    def around(self, places_mm: Array, reach_mm: float = 0.0) -> Rows:
        """Marks the blocks (count,) within `reach_mm` of any of the places (n, 2)."""
        marked = np.zeros(self.count, dtype=np.bool_)
        if len(places_mm):
            # The corners of a square suffice, as `reach_mm` is below a block's side.
            reach = (-reach_mm, reach_mm)
            sides = np.array([[x, y] for x in reach for y in reach])
            marked[self.at(places_mm[:, None] + sides)] = True
        return marked

    def near(self, chosen: Rows, reach: int) -> Rows:
        """Marks the blocks (count,) up to `reach` blocks beside or diagonal to chosen ones."""
        grid = chosen.reshape(self.rows, self.columns).astype(np.uint8)
        window = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
        return np.asarray(cv2.dilate(grid, window), dtype=np.bool_).ravel()

    def boxes_mm(self, chosen: Rows) -> Array:
        """Merges the chosen blocks (count,) into boxes (k, 4): x low, y low, x high, y high.

        Adjacent blocks of a row join into a run, and equal runs of successive rows join into one
        box.
        """
        grid = chosen.reshape(self.rows, self.columns)
        # 1 where a run of chosen blocks begins, -1 behind its end.
        edges = np.diff(np.pad(grid, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        open_runs: dict[tuple[int, int], int] = {}
        boxes: list[tuple[int, int, int, int]] = []
        # One row more than there are closes the runs that are still open.
        for row in range(self.rows + 1):
            runs = _runs(edges[row]) if row < self.rows else set()
            ended = open_runs.keys() - runs
            boxes += [(first, open_runs.pop((first, last)), last, row) for first, last in ended]
            open_runs |= {run: row for run in runs if run not in open_runs}
        low = np.tile(self.low_mm, 2)
        return np.array(sorted(boxes), dtype=np.float64).reshape(-1, 4) * _SIDE_MM + low

    def tile(self, number: int, tiles: int) -> Rows:
        """Returns the blocks (count,) of one tile out of about `tiles`; numbers wrap around."""
        # Tiles are about as wide as deep.
        across = max(1, round(math.sqrt(tiles * self.columns / self.rows)))
        down = max(1, round(tiles / across))
        place = number % (across * down)
        columns = np.arange(self.columns) * across // self.columns == place % across
        rows = np.arange(self.rows) * down // self.rows == place // across
        return np.asarray((rows[:, None] & columns[None]).ravel())


def blocks_of(camera: Camera, box_mm: tuple[float, float, float, float]) -> Blocks:
    """Builds the blocks for a box of the table's plane plus a margin, as a camera sees them.

    The box (x low, y low, x high, y high) contains the table and any of its own tags beside it.
    """
    x_low, y_low, x_high, y_high = box_mm
    wide, deep = x_high - x_low + 2 * _MARGIN_MM, y_high - y_low + 2 * _MARGIN_MM
    columns, rows = math.ceil(wide / _SIDE_MM), math.ceil(deep / _SIDE_MM)
    # Whole blocks overshoot the box; centring shares the excess between both ends.
    low_mm = np.array([x_low + x_high - columns * _SIDE_MM, y_low + y_high - rows * _SIDE_MM]) / 2
    across, down = -(-camera.lens.width_px // REDUCED), -(-camera.lens.height_px // REDUCED)
    steps = np.floor((_places_mm(camera, across, down) - low_mm) / _SIDE_MM)
    inside = np.all((steps >= 0) & (steps < np.array([columns, rows])), axis=2)
    column, row = np.moveaxis(np.where(inside[..., None], steps, 0).astype(np.int64), 2, 0)
    return Blocks(low_mm, columns, rows, np.where(inside, row * columns + column, columns * rows))


def _places_mm(camera: Camera, across: int, down: int) -> NDArray[np.float32]:
    """Returns the table place that each pixel of a reduced picture shows, (down, across, 2).

    One pixel of sixteen is projected exactly and the rest interpolated: the error is far smaller
    than a block.
    """
    step = REDUCED * _EXACT_EVERY
    wide, deep = -(-across // _EXACT_EVERY), -(-down // _EXACT_EVERY)
    middles_px = np.stack(np.meshgrid(np.arange(wide), np.arange(deep)), axis=-1) * step
    exact_mm = camera.to_table(middles_px.reshape(-1, 2) + (step - 1) / 2)
    # Interpolation needs finite numbers, so pixels above the horizon go far off the table.
    coarse = np.nan_to_num(exact_mm, nan=_NOWHERE_MM).clip(-_NOWHERE_MM, _NOWHERE_MM)
    size = (wide * _EXACT_EVERY, deep * _EXACT_EVERY)
    dense = cv2.resize(coarse.reshape(deep, wide, 2).astype(np.float32), size)
    return np.asarray(dense)[:down, :across]


def _runs(edges: NDArray[np.int8]) -> set[tuple[int, int]]:
    """Returns the half-open runs of chosen columns, given where a row rises and falls."""
    starts, ends = np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist()
    return set(zip(starts, ends, strict=True))
