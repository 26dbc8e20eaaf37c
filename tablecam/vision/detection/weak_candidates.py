"""Finds weak candidates: tags without a peak of squareness, because neighbours are as square.

A rank of figures or the edge of a base or a card runs along a tag's own directions, so that the
peak may lie between them. After the clear tags are found, the rest of the table is scanned coarsely
for a border within a rim.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import SHIFT_CELLS, best_rings, square_grid
from tablecam.vision.detection.squares import (
    COARSER,
    PX_A_CELL,
    SquareFinder,
    SquarenessMap,
    Squares,
)
from tablecam.vision.fitting.tags import TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Rows = NDArray[np.bool_]

_SAMPLES_A_CELL = 1
_BLOCK_CELLS = 4.0
"""Width of a block in which one sample is tried, with the surroundings that tags are read from."""
_LEAST_SQUARENESS = 0.1
_LEAST_STRENGTH_SHARE = 0.3
"""Least strength, as a share of that of identified tags."""
_TAG_RADIUS = 0.75
"""Radius, as a share of its size, within which an identified tag explains candidates."""
_MOST_PLACES = 4000
"""More candidates than any picture of a table has shown, and fewer than OpenCV can sample."""
_LEAST_RING = 0.4
_SPACING_CELLS = 2.5


def weak_candidates(
    finder: SquareFinder,
    looks: Sequence[SquarenessMap],
    side_cells: int,
    known: TagGuesses,
    most: int,
) -> Squares:
    """Returns the `most` likely squares that lie on none of the `known` tags."""
    parts = [_candidates(finder, part, side_cells, known) for part in looks]
    candidates = np.concatenate([np.empty((0, 4)), *parts])
    candidates = candidates[np.argsort(-candidates[:, 3], kind="stable")]
    # Non-maximum suppression: the best ring of several that are close together.
    spacing = _SPACING_CELLS * PX_A_CELL / COARSER
    chosen = np.empty((0, 4))
    while len(candidates) and len(chosen) < most:
        chosen = np.concatenate([chosen, candidates[:1]])
        offsets = candidates[:, :2] - candidates[0, :2]
        candidates = candidates[np.einsum("nj,nj->n", offsets, offsets) >= spacing**2]
    return finder.squares(chosen[:, :2], chosen[:, 2])


def _candidates(
    finder: SquareFinder, part: SquarenessMap, side_cells: int, known: TagGuesses
) -> Array:
    """Returns column and row in the squareness map, phase and ring of candidates, (n, 4)."""
    middles = (finder.plane.pixels(known.places_mm) + 0.5) / COARSER - 0.5 - part.first
    # Testing a ring is expensive: only places with some squareness and strength qualify.
    is_open = part.core & (part.squareness > _LEAST_SQUARENESS)
    is_open &= part.strength > _LEAST_STRENGTH_SHARE * _typical_strength(part, middles)
    # Leave out candidates that identified tags explain.
    covered = np.zeros(is_open.shape, dtype=np.uint8)
    radii = _TAG_RADIUS * known.sizes_mm * finder.plane.px_per_mm / COARSER
    for (column, row), radius in zip(middles, radii, strict=True):
        cv2.circle(covered, (round(column), round(row)), round(radius), 1, cv2.FILLED)
    rows, columns = _one_a_block(np.where(is_open & (covered == 0), part.strength, 0))
    # Only as many samples as OpenCV can remap at once.
    strongest = np.argsort(-part.strength[rows, columns], kind="stable")[:_MOST_PLACES]
    if not len(strongest):
        return np.empty((0, 4))
    rows, columns = rows[strongest], columns[strongest]
    phase = part.phase[rows, columns].astype(np.float64)
    ring, offsets = _rings(part, rows, columns, phase / 4, side_cells)
    samples = np.stack([columns, rows], axis=1) + offsets + part.first
    return np.column_stack([samples, phase, ring])[ring >= _LEAST_RING]


def _typical_strength(part: SquarenessMap, middles: Array) -> float:
    """Returns the median strength at identified tags, or that of the strongest places if none."""
    size = np.array(part.strength.shape[::-1])
    inside = ((middles >= 0) & (middles < size - 0.5)).all(axis=1)
    if not inside.any():
        # Without an identified tag the strongest places stand in for tags.
        return float(np.quantile(part.strength, 0.999))
    columns, rows = np.rint(middles[inside]).astype(np.int64).T
    return float(np.median(part.strength[rows, columns]))


def _one_a_block(values: Map) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns rows and columns of each block's largest value, for blocks with one above 0."""
    across = max(1, round(_BLOCK_CELLS * PX_A_CELL / COARSER))
    # Rounds up to whole blocks, padded with zeros.
    down = [-(-side // across) * across for side in values.shape]
    whole = np.zeros(down, dtype=np.float32)
    whole[: values.shape[0], : values.shape[1]] = values
    blocks = whole.reshape(down[0] // across, across, down[1] // across, across)
    flat = blocks.transpose(0, 2, 1, 3).reshape(-1, across * across)
    best = flat.argmax(axis=1)
    block = np.flatnonzero(flat[np.arange(len(flat)), best] > 0)
    row, column = np.divmod(block, down[1] // across)
    below, right = np.divmod(best[block], across)
    return row * across + below, column * across + right


def _rings(
    part: SquarenessMap,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    angles_rad: Array,
    side_cells: int,
) -> tuple[Array, Array]:
    """Returns the best correlation with a tag's ring near samples, (n,), and its offset, (n, 2)."""
    grid = square_grid(side_cells + 2 + 2 * SHIFT_CELLS, 1 / _SAMPLES_A_CELL) * PX_A_CELL
    middles = np.stack([columns, rows], axis=1) * COARSER + (COARSER - 1) / 2
    # Right and up along the square; the plane's picture has y down, the grid y up.
    cosine, sine = np.cos(angles_rad), np.sin(angles_rad)
    right, up = np.stack([cosine, sine], axis=1), np.stack([sine, -cosine], axis=1)
    # Single precision resolves a thousandth of a pixel here.
    along, above = grid.T.astype(np.float32)
    x, y = (
        np.multiply.outer(by_right.astype(np.float32), along)
        + np.multiply.outer(by_up.astype(np.float32), above)
        + middle.astype(np.float32)[:, None]
        for by_right, by_up, middle in zip(right.T, up.T, middles.T, strict=True)
    )
    seen = np.asarray(cv2.remap(part.seen, x, y, cv2.INTER_LINEAR), dtype=np.float32)
    size = round(len(grid) ** 0.5)
    ring, centres = best_rings(seen.reshape(-1, size, size), side_cells, _SAMPLES_A_CELL)
    offsets = centres[:, :1] * right + centres[:, 1:] * up
    return ring, offsets * PX_A_CELL / COARSER
