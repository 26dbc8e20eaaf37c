"""Samples tags at a grid of two points a cell, and predicts the values there from the pattern.

The grid is finer than cells, to notice a half-covered cell; it is coarser than pixels and the same
for every heading, to compare many patterns at once. The outermost points lie on the white rim, a
quarter of a cell beyond the black square.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.decode import sampled, steps_right_and_up
from tablecam.vision.fitting.glare import glare_of, is_glared
from tablecam.vision.fitting.local_map import table_to_picture
from tablecam.vision.fitting.texture import stored_light

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Rows = NDArray[np.bool_]

_POINTS_A_CELL = 2
_SAMPLE_OFFSET_CELLS = 0.12
"""Each point averages four samples this far from it, to reduce the camera's noise."""
_BLUR_STEP_CELLS = 0.02
_LEAST_CONTRAST, _ALONG_LAMP_CELLS = 0.1, 0.3
"""Least contrast under a lamp that shows print, as a share of the usual, and how far from the
lamp's axis its light changes. On 12 simulated tables of 2.3 px a cell, 95 % of the points inside
tags then had 0.55 or more where they are white, and 0.48 or less where they are black."""


@dataclass(frozen=True, slots=True, eq=False)
class TagPoints:
    """The m sample points of a tag with `side_cells`, in cells right and up of its centre.

    `right` and `up` are (m,), the top row first; `is_rim`, `is_border` and `is_inner` (m,) mark the
    white rim, the black border and the cells inside.
    """

    side_cells: int
    right: Array
    up: Array
    is_rim: Rows
    is_border: Rows
    is_inner: Rows


@lru_cache(maxsize=4)
def tag_points(side_cells: int) -> TagPoints:
    """Returns the points of tags whose black square has `side_cells` cells a side."""
    across = _POINTS_A_CELL * (side_cells + 1)
    steps = (np.arange(across) - (across - 1) / 2) / _POINTS_A_CELL
    right, up = (grid.ravel() for grid in np.meshgrid(steps, -steps))
    distance = np.maximum(np.abs(right), np.abs(up))
    # The distance in the maximum norm makes nested squares.
    is_rim, is_inner = distance > side_cells / 2, distance < side_cells / 2 - 1
    return TagPoints(side_cells, right, up, is_rim, ~(is_rim | is_inner), is_inner)


def sample_points(
    grey: Grey,
    camera: Camera,
    points: TagPoints,
    cells_mm: Array,
    places_mm: Array,
    headings_rad: Array,
    heights_mm: Array,
) -> Map:
    """Returns grey levels at the points of n tags, (n, m), with cells `cells_mm` (n,) wide."""
    reach = float(cells_mm.max(initial=1.0)) * (points.side_cells / 2 + 1)
    to_picture = table_to_picture(camera, places_mm, heights_mm, reach)
    step = steps_right_and_up(headings_rad) * cells_mm[:, None, None]
    # Four samples around each point are averaged.
    signs = np.array([[x, y] for y in (1, -1) for x in (-1, 1)]) * _SAMPLE_OFFSET_CELLS
    middles = np.stack([points.right, points.up], axis=1)
    offsets = (middles[:, None] + signs).reshape(-1, 2)
    seen = sampled(grey, to_picture.turned(step), offsets)
    return np.asarray(seen.reshape(len(seen), -1, len(signs)).mean(axis=2), dtype=np.float32)


def values_of_print(
    levels: Map,
    black_grey: Array | Map,
    gain_grey: Array | Map,
    points: TagPoints,
    glare: Rows | None = None,
) -> Map:
    """Returns grey levels (n, m) of tags as 0 for paint and 1 for paper.

    `black_grey` (n,) is the level of paint; paper is brighter by `gain_grey` (n,). A lamp's
    reflection, given by `glare` (n, spots) or else detected, is subtracted; values are NaN if that
    leaves nothing.
    """
    values = ((levels - black_grey[:, None]) / gain_grey[:, None]).astype(np.float32)
    if glare is None:
        real = np.ones(values.shape[1], dtype=np.bool_)
        glare = glare_of(values, points.right, points.up, real, points.side_cells)
    if glare.any():
        is_lit = is_glared(glare, points.right, points.up, points.side_cells)
        for row in np.flatnonzero(is_lit.any(axis=1)):
            values[row, is_lit[row]] = _without_lamp(values[row], is_lit[row], points)
    return values


def _without_lamp(values: Map, is_lit: Rows, points: TagPoints) -> Map:
    """Returns the values that a tag's lit points (l,) of all (m,) would have without the lamp.

    A lamp is equally bright along its image: border and rim show paint and paper under that light.
    Where the two look alike, because both are saturated, nothing is known.
    """
    places = np.stack([points.right, points.up])
    # Eigenvalues ascend: the first direction is across the lit area.
    away = np.linalg.eigh(np.cov(places[:, is_lit]))[1][:, 0] @ places
    nearness = np.exp(-(((away[is_lit, None] - away) / _ALONG_LAMP_CELLS) ** 2) / 2)
    paint, paper = (
        nearness[:, part] @ values[part] / nearness[:, part].sum(axis=1)
        for part in (points.is_border, points.is_rim)
    )
    contrast = paper - paint
    shown = ((values[is_lit] - paint) / np.maximum(contrast, _LEAST_CONTRAST)).clip(0, 1)
    # Border and rim served to measure the lamp: they are no evidence for a tag.
    is_known = (contrast >= _LEAST_CONTRAST) & points.is_inner[is_lit]
    return np.where(is_known, shown, np.nan).astype(np.float32)


def expected_values(cells: NDArray[np.uint8], blur_cells: float) -> Map:
    """Returns the values that tags with these inner cells (k, c, c) show at the points: (k, 4, m).

    The second axis is the tag turned 0 to 3 quarters; 0 is black paint, 1 white paper. Cached, with
    the blur rounded to a fiftieth of a cell.
    """
    rounded = max(round(blur_cells / _BLUR_STEP_CELLS), 1) * _BLUR_STEP_CELLS
    return _expected_once(cells.tobytes(), cells.shape, rounded)


@lru_cache(maxsize=64)
def _expected_once(cells: bytes, shape: tuple[int, ...], blur_cells: float) -> Map:
    """Computes the values once and caches them, read-only."""
    patterns = np.frombuffer(cells, dtype=np.uint8).reshape(shape)
    framed = np.pad(patterns.astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    points = tag_points(framed.shape[1])
    across = round(len(points.up) ** 0.5)
    # The blur is separable: a cell's share of a point's light is the product of two 1-D shares.
    share = _share_of_cells(points.right[:across], framed.shape[1], blur_cells)
    # Blurs the dark cells, because the paper around the tag is white without end.
    dark = share @ (1 - framed) @ share.T
    shown = stored_light((1 - dark).astype(np.float32))
    turned = [np.rot90(shown, turns, axes=(1, 2)) for turns in range(4)]
    expected = np.ascontiguousarray(np.stack(turned, axis=1).reshape(len(shown), 4, -1))
    expected.flags.writeable = False
    return expected


def _share_of_cells(at_cells: Array, side_cells: int, blur_cells: float) -> Array:
    """Returns the share of each cell in a row in the blurred light at points (p,): (p, side)."""
    edges = np.arange(side_cells + 1) - side_cells / 2
    edge_sigmas = (edges - at_cells[:, None]) / (math.sqrt(2) * blur_cells)
    # The integral of the blur's Gaussian up to each edge.
    below = np.array([[math.erf(value) for value in row] for row in edge_sigmas]) / 2
    return np.diff(below, axis=1)
