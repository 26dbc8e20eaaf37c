"""Which pixels to believe, and how much, from what a fit leaves unexplained of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.tag_model import GAIN, TagColumns

Array = NDArray[np.float64]
Map = NDArray[np.float32]

LEAST_GAIN_GREY = 3.0
TUKEY = 4.685
"""Residuals beyond so many standard deviations have no weight; 95 % efficient without outliers."""
_LEAST_NOISE_GREY = 1.5
_LEAST_FIRM = 0.35
_EDGE_PX = 0.07
"""To how much of a pixel the model knows where an edge is drawn: lens, ink and gamma differ a
little from it. So in clear pictures edges count less than noise would let them, and all alike.
Measured on the shared footage: 0.05 to 0.1 do; without it what is robust takes the edges of large
tags for outliers, and table tags of a 4K picture err by half a pixel."""


@dataclass(frozen=True, slots=True, eq=False)
class Believed:
    """Pixels (n, m) with what is left of each, in grey levels, and their weights, at most 1.

    `spread_grey` (n,) is the residuals' standard deviation where nothing is amiss, away from
    edges. `firmness` (n,), at most 1, is how much harder a tag's edges pull when it is moved than
    weights that stay would let them: moving it takes weight from some.
    """

    residuals: Map
    weights: Map
    spread_grey: Map
    firmness: Map


def believed(
    columns: TagColumns, shares: Map, grey: Map, px_per_cell: Array, *, furthest: float = TUKEY
) -> Believed:
    """Tukey's weights: as its noise lets it where a pixel is as predicted, 0 where it cannot be.

    `shares` (n, 8) of the columns are the prediction; `px_per_cell` (n,) is of the `grey` pixels.
    Those `furthest` standard deviations off, and further, have no weight.
    """
    residuals = grey - (shares[:, None] @ columns.values)[:, 0]
    spread = np.maximum(1.4826 * _typical(residuals, columns.on_tag), _LEAST_NOISE_GREY)
    gain = np.maximum(shares[:, GAIN], LEAST_GAIN_GREY)
    at_edges = (_EDGE_PX * gain / (spread * px_per_cell)).astype(np.float32)[:, None]
    variance = 1 + np.square(at_edges * columns.slope)
    noise = np.maximum(
        1.4826 * _typical(residuals / np.sqrt(variance), columns.on_tag), _LEAST_NOISE_GREY
    )
    far = residuals**2 / (variance * np.square(np.float32(furthest) * noise)[:, None])
    inside = (1 - far).clip(0, 1)
    scale = columns.on_tag / variance
    weights = inside * inside * scale
    # The derivative of weight times residual by the residual, where tags change.
    steepness = np.square(columns.slope) * scale
    firm = np.einsum("nm,nm,nm->n", inside, 1 - 5 * far, steepness)
    firm /= np.maximum(np.einsum("nm,nm,nm->n", inside, inside, steepness), 1e-6)
    return Believed(residuals, weights, noise, firm.clip(_LEAST_FIRM, 1))


def _typical(values: Map, on_tag: Map) -> Map:
    """The median of the values' sizes on each tag, (n,); 0 where none is."""
    count = on_tag.sum(axis=1).astype(np.int64)
    sizes = np.where(on_tag > 0, np.abs(values), np.float32(np.inf))
    sizes.sort(axis=1)
    middle = (count // 2).clip(0, values.shape[1] - 1)
    median = sizes[np.arange(len(values)), middle]
    return np.where(count > 0, median, np.float32(0)).astype(np.float32)
