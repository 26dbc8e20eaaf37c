"""Weights pixels by their residuals (Tukey's biweight), so that occluders pull a fit little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.tag_model import GAIN, TagColumns

Array = NDArray[np.float64]
Map = NDArray[np.float32]

LEAST_GAIN_GREY = 3.0
TUKEY = 4.685
"""Cut-off of the biweight in standard deviations: 95 % efficient without outliers."""
_LEAST_NOISE_GREY = 1.5
_LEAST_CURVATURE_RATIO = 0.35
_EDGE_PX = 0.07
"""The model's own error at edges, in pixels: lens, ink and gamma differ a little from it, so in
clear pictures edges get less weight than noise alone would give them. Measured on the shared
footage: 0.05 to 0.1 work; without it the robust weights reject the edges of large tags as outliers
and table tags in a 4K picture are half a pixel off."""


@dataclass(frozen=True, slots=True, eq=False)
class RobustWeights:
    """The residuals (n, m) of pixels in grey levels, and their weights (n, m), at most 1.

    `sigma_grey` (n,) is the standard deviation of unoccluded residuals away from edges.
    `curvature_ratio` (n,), at most 1, is the cost's true curvature at the tag's edges over the one
    with constant weights: a step moves some pixels towards the cut-off, where they lose weight.
    """

    residuals: Map
    weights: Map
    sigma_grey: Map
    curvature_ratio: Map


def robust_weights(
    columns: TagColumns,
    coefficients: Map,
    grey: Map,
    px_per_cell: Array,
    *,
    cutoff_sigmas: float = TUKEY,
) -> RobustWeights:
    """Returns Tukey's weights of the `grey` pixels (n, m) from their residuals.

    The `coefficients` (n, k) times the columns are the prediction; `px_per_cell` (n,) is the scale
    of the `grey` pixels. Residuals beyond `cutoff_sigmas` standard deviations have weight 0.
    """
    residuals = grey - (coefficients[:, None] @ columns.values)[:, 0]
    # The median absolute deviation, scaled to a Gaussian's sigma, ignores up to half of outliers.
    spread = np.maximum(1.4826 * _median_size(residuals, columns.on_tag), _LEAST_NOISE_GREY)
    gain = np.maximum(coefficients[:, GAIN], LEAST_GAIN_GREY)
    at_edges = (_EDGE_PX * gain / (spread * px_per_cell)).astype(np.float32)[:, None]
    variance = 1 + np.square(at_edges * columns.slope)
    # Estimate the noise again without the part that edges explain.
    noise = np.maximum(
        1.4826 * _median_size(residuals / np.sqrt(variance), columns.on_tag), _LEAST_NOISE_GREY
    )
    far = residuals**2 / (variance * np.square(np.float32(cutoff_sigmas) * noise)[:, None])
    # Tukey's biweight: (1 - (r / cutoff)²)², 0 beyond the cut-off.
    inside = (1 - far).clip(0, 1)
    scale = columns.on_tag / variance
    weights = inside * inside * scale
    # The derivative of weight times residual by the residual, summed over the tag's edges.
    steepness = np.square(columns.slope) * scale
    curvature_ratio = np.einsum("nm,nm,nm->n", inside, 1 - 5 * far, steepness)
    curvature_ratio /= np.maximum(np.einsum("nm,nm,nm->n", inside, inside, steepness), 1e-6)
    return RobustWeights(residuals, weights, noise, curvature_ratio.clip(_LEAST_CURVATURE_RATIO, 1))


def _median_size(values: Map, on_tag: Map) -> Map:
    """Returns the median absolute value on each tag, (n,); 0 for tags without pixels."""
    count = on_tag.sum(axis=1).astype(np.int64)
    # Pixels off the tag sort to the end, beyond the median of the others.
    sizes = np.where(on_tag > 0, np.abs(values), np.float32(np.inf))
    sizes.sort(axis=1)
    middle = (count // 2).clip(0, values.shape[1] - 1)
    median = sizes[np.arange(len(values)), middle]
    return np.where(count > 0, median, np.float32(0)).astype(np.float32)
