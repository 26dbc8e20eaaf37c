"""Tags that no peak of squareness shows, as what is beside them is as square as they are.

A rank of figures, the edge of a base or of a card run along a tag's own directions, and the peak
may lie between them. So what is left when the clear tags are found is looked at all over, coarsely:
a border within a rim tells where a tag may be.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import SHIFT_CELLS, best_rings, square_grid
from tablecam.vision.detection.squares import COARSER, PX_A_CELL, Look, SquareFinder, Squares
from tablecam.vision.fitting.tags import TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Rows = NDArray[np.bool_]

_SAMPLES_A_CELL = 1
_BLOCK_CELLS = 4.0
"""One place is looked at in each block so wide, and as far around it as tags are read."""
_LEAST_SQUARENESS = 0.1
_LEAST_OF_KNOWN = 0.3
"""Of the strength of known tags."""
_ON_TAG = 0.75
"""Of a tag's size: how near its centre all is explained by it."""
_MOST_PLACES = 4000
"""More than there are in any picture of a table that we know, and fewer than OpenCV can sample."""
_LEAST_RING = 0.4
_APART_CELLS = 2.5


def unnoticed_squares(
    finder: SquareFinder, looks: Sequence[Look], side_cells: int, known: TagGuesses, most: int
) -> Squares:
    """The `most` likeliest squares that lie on none of the `known` tags, noticed or not."""
    parts = [_likely(finder, look, side_cells, known) for look in looks]
    found = np.concatenate([np.empty((0, 4)), *parts])
    found = found[np.argsort(-found[:, 3], kind="stable")]
    apart = _APART_CELLS * PX_A_CELL / COARSER
    kept = np.empty((min(most, len(found)), 4))
    count = 0
    for each in found:
        if count == len(kept):
            break
        away = kept[:count, :2] - each[:2]
        if (np.einsum("nj,nj->n", away, away) >= apart**2).all():
            kept[count] = each
            count += 1
    return finder.squares(kept[:count, :2], kept[:count, 2])


def _likely(finder: SquareFinder, look: Look, side_cells: int, known: TagGuesses) -> Array:
    """Column and row in the map of squareness, phase and ring of what may be tags, (n, 4)."""
    middles = (finder.plane.pixels(known.places_mm) + 0.5) / COARSER - 0.5 - look.first
    is_open = look.core & (look.squareness > _LEAST_SQUARENESS)
    is_open &= look.strength > _LEAST_OF_KNOWN * _typical(look, middles)
    covered = np.zeros(is_open.shape, dtype=np.uint8)
    radii = _ON_TAG * known.sizes_mm * finder.plane.px_per_mm / COARSER
    for (column, row), radius in zip(middles, radii, strict=True):
        cv2.circle(covered, (round(column), round(row)), round(radius), 1, cv2.FILLED)
    rows, columns = _one_a_block(np.where(is_open & (covered == 0), look.strength, 0))
    strongest = np.argsort(-look.strength[rows, columns], kind="stable")[:_MOST_PLACES]
    if not len(strongest):
        return np.empty((0, 4))
    rows, columns = rows[strongest], columns[strongest]
    phase = look.phase[rows, columns].astype(np.float64)
    ring, moved = _rings(look, rows, columns, phase / 4, side_cells)
    at = np.stack([columns, rows], axis=1) + moved + look.first
    return np.column_stack([at, phase, ring])[ring >= _LEAST_RING]


def _typical(look: Look, middles: Array) -> float:
    """The strength of known tags in the median; of the strongest places where none is known."""
    size = np.array(look.strength.shape[::-1])
    inside = ((middles >= 0) & (middles < size - 0.5)).all(axis=1)
    if not inside.any():
        return float(np.quantile(look.strength, 0.999))
    columns, rows = np.rint(middles[inside]).astype(np.int64).T
    return float(np.median(look.strength[rows, columns]))


def _one_a_block(values: Map) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and columns of the largest value of each block that has one above 0."""
    across = max(1, round(_BLOCK_CELLS * PX_A_CELL / COARSER))
    down = [-(-side // across) * across for side in values.shape]
    whole = np.zeros(down, dtype=np.float32)
    whole[: values.shape[0], : values.shape[1]] = values
    blocks = whole.reshape(down[0] // across, across, down[1] // across, across)
    flat = blocks.transpose(0, 2, 1, 3).reshape(-1, across * across)
    best = flat.argmax(axis=1)
    block = np.flatnonzero(flat[np.arange(len(flat)), best] > 0)
    row, column = np.divmod(block, down[1] // across)
    below, beside = np.divmod(best[block], across)
    return row * across + below, column * across + beside


def _rings(
    look: Look,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    angles_rad: Array,
    side_cells: int,
) -> tuple[Array, Array]:
    """How much like a tag's ring it is at best about samples, (n,); and how far off, (n, 2)."""
    grid = square_grid(side_cells + 2 + 2 * SHIFT_CELLS, 1 / _SAMPLES_A_CELL) * PX_A_CELL
    middles = np.stack([columns, rows], axis=1) * COARSER + (COARSER - 1) / 2
    # Right and down along the square, in the plane's picture; the grid has y up.
    cosine, sine = np.cos(angles_rad), np.sin(angles_rad)
    right, up = np.stack([cosine, sine], axis=1), np.stack([sine, -cosine], axis=1)
    # In single precision: a thousandth of the pixels between which it is sampled.
    along, above = grid.T.astype(np.float32)
    x, y = (
        np.multiply.outer(by_right.astype(np.float32), along)
        + np.multiply.outer(by_up.astype(np.float32), above)
        + middle.astype(np.float32)[:, None]
        for by_right, by_up, middle in zip(right.T, up.T, middles.T, strict=True)
    )
    seen = np.asarray(cv2.remap(look.seen, x, y, cv2.INTER_LINEAR), dtype=np.float32)
    size = round(len(grid) ** 0.5)
    ring, centres = best_rings(seen.reshape(-1, size, size), side_cells, _SAMPLES_A_CELL)
    moved = centres[:, :1] * right + centres[:, 1:] * up
    return ring, moved * PX_A_CELL / COARSER
