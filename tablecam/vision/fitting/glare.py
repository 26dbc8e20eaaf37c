"""Finds where a tag reflects a lamp, so that glare counts neither as paper nor as paint.

Gloss adds the lamp's light to that of paint and paper alike (the dichromatic model: S. Shafer,
"Using color to separate reflection components", 1985), until the picture saturates. So paint
becomes as bright as paper, and paper brighter than the tag's other paper. Overexposed paper is only
as bright as paper: no glare.

All tags have a black border inside a white rim: glare is a bar or a disc that is bright throughout,
across the border too, and brighter than paper on the rim.
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]
Values = NDArray[np.float32] | NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_ACROSS = 16
GLARE_SPOTS = _ACROSS**2
"""Glare is stored on a square grid of spots over the tag and half a cell of its rim."""
_DIRECTIONS = 16
_WIDTHS, _RADII = (1 / 7, 1.5 / 7), (1 / 7, 1.5 / 7)
"""Bars and discs that glare may cover, as shares of the grid's side; several cover wider glare."""
_BRIGHT, _BRIGHT_SHARE, _BRIGHTER, _DARK = 0.7, 0.93, 1.08, 0.5
"""Least values, 0 paint and 1 paper, of glare and of its mean on the rim. On 12 simulated tables of
2.3 px a cell, seen from the true poses, paint under a lamp had 0.77 or more and rims 1.08 or more;
without it, borders had 0.72 or less and rims 1.06 or less (each 99.5 %). Of the points under a lamp
99 % were found, and 4 % of the others."""
_LEAST_BORDER, _LEAST_RIM = 0.015, 0.01
"""Least parts of a shape on border and rim, as shares of the tag."""
_MOST_BORDER, _MOST_RIM, _MOST_DARK_RIM = 0.5, 0.35, 0.15
"""Largest shares of a bright border, and of a rim brighter than paper or dark: of 577 glared tags
95 % had at most 0.32, 0.19 and 0.16; most squares on grass and gravel have more."""


def glare_of(values: Values, right: Values, up: Values, real: Rows, side_cells: int) -> Rows:
    """Returns which spots of n tags reflect a lamp, and those beside them, (n, spots).

    `values` (n, m) are 0 for the tag's paint and 1 for its paper, at `right` and `up` cells of its
    middle, (n, m) or (m,); `real` (n, m) or (m,) marks those that count.
    """
    beside = np.maximum(np.abs(right), np.abs(up))
    is_rim = real & (beside > side_cells / 2)
    is_border = real & ~is_rim & (beside > side_cells / 2 - 1)
    is_bright, is_brighter = real & (values > _BRIGHT), is_rim & (values > _BRIGHTER)
    tag_area, rim, border = (part.sum(axis=-1) for part in (real, is_rim, is_border))
    bright_border, brighter_rim = (is_border & is_bright).sum(axis=1), is_brighter.sum(axis=1)
    # Few tags pass this test, and hardly anything that is no tag.
    rows = np.flatnonzero(
        (bright_border >= _LEAST_BORDER * tag_area)
        & (bright_border <= _MOST_BORDER * border)
        & (brighter_rim >= _LEAST_RIM / 2 * tag_area)
        & (brighter_rim <= _MOST_RIM * rim)
        & ((is_rim & (values < _DARK)).sum(axis=1) <= _MOST_DARK_RIM * rim)
    )
    glare = np.zeros((len(values), GLARE_SPOTS), dtype=np.bool_)
    if not len(rows):
        return glare

    def on_shapes(weights: Values | Rows, rows: Index) -> Map:
        """Returns the sum over each shape on each of the rows, (r, shapes)."""
        spots = np.broadcast_to(spots_of_all, values.shape)[rows]
        spots = (spots + GLARE_SPOTS * np.arange(len(rows))[:, None]).ravel()
        of_rows = np.broadcast_to(weights, values.shape)[rows].ravel()
        sums = np.bincount(spots, of_rows, minlength=len(rows) * GLARE_SPOTS)
        return np.asarray(sums.reshape(-1, GLARE_SPOTS).astype(np.float32) @ shapes.T)

    shapes, spots_of_all = _shapes(), _spots(right, up, side_cells)
    is_lit = on_shapes(np.where(is_rim, values - _BRIGHTER, 0), rows) >= 0
    is_lit &= on_shapes(is_bright - _BRIGHT_SHARE * real, rows) >= 0
    rows, is_lit = rows[is_lit.any(axis=1)], is_lit[is_lit.any(axis=1)]
    area = np.broadcast_to(tag_area, len(values))[rows, None]
    is_lit &= on_shapes(is_rim, rows) >= _LEAST_RIM * area
    is_lit &= on_shapes(is_border, rows) >= _LEAST_BORDER * area
    lit = (is_lit.astype(np.float32) @ shapes > 0).reshape(-1, _ACROSS, _ACROSS)
    # The lens's blur carries the lamp's light half a cell farther.
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    wider = [cv2.dilate(tag.astype(np.uint8), cross).ravel() for tag in lit]
    glare[rows] = np.array(wider, dtype=np.bool_).reshape(-1, GLARE_SPOTS)
    return glare


def is_glared(glare: Rows, right: Values, up: Values, side_cells: int) -> Rows:
    """Returns which points of n tags lie under their `glare`; arguments as for `glare_of`."""
    spots = np.broadcast_to(_spots(right, up, side_cells), (len(glare), right.shape[-1]))
    return np.take_along_axis(glare, spots, axis=1)


def _spots(right: Values, up: Values, side_cells: int) -> Index:
    """Returns the spot of the grid that each point lies on or is nearest to, row by row."""
    column, row = (
        np.floor((along / (side_cells + 1) + 0.5) * _ACROSS).clip(0, _ACROSS - 1)
        for along in (right, up)
    )
    return np.asarray(row * _ACROSS + column, dtype=np.int64)


@cache
def _shapes() -> Map:
    """Returns the spots of each shape that glare may have, 0 or 1, (shapes, spots)."""
    steps = (np.arange(_ACROSS) + 0.5) / _ACROSS - 0.5
    up, right = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    places = np.linspace(-0.5, 0.5, _ACROSS + 1)
    shapes = [
        np.abs(right * np.cos(angle) + up * np.sin(angle) - place) < width / 2
        for angle in np.arange(_DIRECTIONS) * (np.pi / _DIRECTIONS)
        for place in places
        for width in _WIDTHS
    ]
    shapes += [
        np.hypot(right - x, up - y) < radius
        for x in places[::2]
        for y in places[::2]
        for radius in _RADII
    ]
    # At the sides many shapes cover the same spots.
    return np.unique(np.array(shapes), axis=0).astype(np.float32)
