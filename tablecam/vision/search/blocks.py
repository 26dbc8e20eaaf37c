"""The table cut into square blocks, and where a reduced picture shows each of them."""

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
"""A base and some more: what changes about one base is one to four blocks."""
_MARGIN_MM = 60.0
"""As far beyond the table and its own tags as tags are looked for."""
_EXACT_EVERY = 4
_NOWHERE_MM = 1e6


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """`columns` x `rows` blocks, numbered along x first, from the corner at `low_mm` (2,).

    `shown` (height, width) is the block that each pixel of a reduced picture shows; `count` where
    it shows none.
    """

    low_mm: Array
    columns: int
    rows: int
    shown: Index

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return self.columns * self.rows

    @property
    def sizes(self) -> Index:
        """How many reduced pixels show each block, (count,)."""
        return np.bincount(self.shown.ravel(), minlength=self.count + 1)[: self.count]

    def holding(self, pixels: Index) -> Index:
        """How many of some pixels show each block; these count into a reduced picture."""
        chosen = np.take(self.shown, pixels)
        return np.bincount(chosen, minlength=self.count + 1)[: self.count]

    def at(self, places_mm: Array) -> Index:
        """The block that holds each place (n, 2); the nearest one for places beyond all."""
        steps = np.floor((places_mm.reshape(-1, 2) - self.low_mm) / _SIDE_MM).astype(np.int64)
        column, row = steps.clip(0, [self.columns - 1, self.rows - 1]).T
        return np.asarray(row * self.columns + column)

    def around(self, places_mm: Array, reach_mm: float = 0.0) -> Rows:
        """The blocks (count,) that hold some places (n, 2), or what is beside them."""
        sides = np.array([[x, y] for x in (-reach_mm, reach_mm) for y in (-reach_mm, reach_mm)])
        chosen = np.zeros(self.count, dtype=np.bool_)
        chosen[self.at(places_mm[:, None] + sides)] = True
        return chosen

    def boxes_mm(self, chosen: Rows) -> Array:
        """The chosen blocks (count,) as boxes (k, 4) of the table: x low, y low, x high, y high.

        Blocks beside each other in a row are one box, and so are such rows of equal length.
        """
        grid = chosen.reshape(self.rows, self.columns)
        edges = np.diff(np.pad(grid, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        open_runs: dict[tuple[int, int], int] = {}
        found: list[tuple[int, int, int, int]] = []
        for row in range(self.rows + 1):
            runs = _runs(edges[row]) if row < self.rows else set()
            ended = open_runs.keys() - runs
            found += [(first, open_runs.pop((first, last)), last, row) for first, last in ended]
            open_runs |= {run: row for run in runs if run not in open_runs}
        low = np.tile(self.low_mm, 2)
        return np.array(sorted(found), dtype=np.float64).reshape(-1, 4) * _SIDE_MM + low

    def tile(self, number: int, tiles: int) -> Rows:
        """The blocks (count,) of one of about so many tiles; numbers beyond begin anew."""
        across = max(1, round(math.sqrt(tiles * self.columns / self.rows)))
        down = max(1, round(tiles / across))
        place = number % (across * down)
        columns = np.arange(self.columns) * across // self.columns == place % across
        rows = np.arange(self.rows) * down // self.rows == place // across
        return np.asarray((rows[:, None] & columns[None]).ravel())


def blocks_of(camera: Camera, box_mm: tuple[float, float, float, float]) -> Blocks:
    """The blocks of a box of the table's plane, and of a margin around it, as a camera sees them.

    The box (x low, y low, x high, y high) holds the table, and its own tags if they lie beside it.
    """
    x_low, y_low, x_high, y_high = box_mm
    wide, deep = x_high - x_low + 2 * _MARGIN_MM, y_high - y_low + 2 * _MARGIN_MM
    columns, rows = math.ceil(wide / _SIDE_MM), math.ceil(deep / _SIDE_MM)
    # Centred: what the last block reaches too far is shared by both ends.
    low_mm = np.array([x_low + x_high - columns * _SIDE_MM, y_low + y_high - rows * _SIDE_MM]) / 2
    across, down = -(-camera.lens.width_px // REDUCED), -(-camera.lens.height_px // REDUCED)
    steps = np.floor((_places_mm(camera, across, down) - low_mm) / _SIDE_MM)
    inside = np.all((steps >= 0) & (steps < np.array([columns, rows])), axis=2)
    column, row = np.moveaxis(np.where(inside[..., None], steps, 0).astype(np.int64), 2, 0)
    return Blocks(low_mm, columns, rows, np.where(inside, row * columns + column, columns * rows))


def _places_mm(camera: Camera, across: int, down: int) -> NDArray[np.float32]:
    """Where on the table each pixel of a reduced picture looks, (down, across, 2).

    Exact for one of sixteen and linear between: next to the size of a block that is exact.
    """
    step = REDUCED * _EXACT_EVERY
    wide, deep = -(-across // _EXACT_EVERY), -(-down // _EXACT_EVERY)
    middles_px = np.stack(np.meshgrid(np.arange(wide), np.arange(deep)), axis=-1) * step
    exact_mm = camera.to_table(middles_px.reshape(-1, 2) + (step - 1) / 2)
    coarse = np.nan_to_num(exact_mm, nan=_NOWHERE_MM).clip(-_NOWHERE_MM, _NOWHERE_MM)
    size = (wide * _EXACT_EVERY, deep * _EXACT_EVERY)
    dense = cv2.resize(coarse.reshape(deep, wide, 2).astype(np.float32), size)
    return np.asarray(dense)[:down, :across]


def _runs(edges: NDArray[np.int8]) -> set[tuple[int, int]]:
    """From where to before where a row is chosen, given its rises and falls."""
    starts, ends = np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist()
    return set(zip(starts, ends, strict=True))
