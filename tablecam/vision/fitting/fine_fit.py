"""Refines the poses of identified tags to a hundredth of a pixel.

The first fit must distinguish tags from clutter and models plain black and white. For an identified
tag this fit also models the ground that blurs into the rim, the sensor's colour filter, and
correlated errors of neighbouring pixels. On simulated tables of 2 and 2.3 px a cell it reduces the
median error from 0.038 to 0.029 px and from 0.034 to 0.026 px.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.fitting.covariance import inflated_by_occlusion, pose_covariances
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.gauss_newton import (
    fixed_light_and_blur_prior,
    light_and_blur_prior,
    solve_coefficients,
    take_step,
)
from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.rendered import render_tags
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY, robust_weights
from tablecam.vision.fitting.tag_model import GAIN, POSE, TagColumns, TagModel, TagPoses
from tablecam.vision.fitting.tags import TagFits

Index = NDArray[np.int64]

_CORRELATION = np.float32(0.2)
"""How much weight a pixel loses for each of its four neighbours: neighbouring residuals are
correlated by 0.15 to 0.4, on the shared footage and on simulated tables. With 0.1 to 0.23 the
largest errors shrink by a tenth to a fifth, most at shadow edges."""
_FOUR_NEIGHBOURS = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32)


def filter_patches(values: Map, patches: Patches, kernel: Map, *, fill: float = 0.0) -> Map:
    """Filters values (k, n, m) with a kernel (3, 3), with `fill` where the tags have no pixel."""
    indices = _square_indices(patches)
    count, across = len(patches.spots), patches.across
    squares = np.full((len(values), count * across**2), fill, np.float32)
    # Padding goes to spot 0, a corner that no real pixel uses and that neighbours no tag pixel.
    squares[:, indices] = values.reshape(len(values), -1)
    # One tall picture filters all squares at once: no tag pixel lies in a square's outermost rows.
    tall = squares.reshape(-1, across)
    filtered = cv2.filter2D(tall, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE)
    at_pixels = np.asarray(filtered).reshape(squares.shape).take(indices, axis=1)
    return np.asarray(at_pixels.reshape(values.shape), dtype=np.float32)


def decorrelated_columns(values: Map, weights: Map, patches: Patches) -> Map:
    """Weights columns (n, k, m) for correlated errors of neighbouring pixels.

    `weights` (n, m) are the pixels' weights if their errors were independent.
    """
    root = np.sqrt(weights)
    scaled = values.transpose(1, 0, 2) * root
    # Root weights on both sides keep the matrix of weights symmetric.
    scaled -= _CORRELATION * filter_patches(scaled, patches, _FOUR_NEIGHBOURS)
    return np.asarray((scaled * root).transpose(1, 0, 2), dtype=np.float32)


def _square_indices(patches: Patches) -> Index:
    """Returns each pixel's index in the squares laid out one after the other, (n * m,)."""
    rows = np.arange(len(patches.spots))[:, None] * patches.across**2
    return np.asarray((patches.spots + rows).ravel())


Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_STEPS = 2
_RIM_CELLS = 0.95
"""Width of the white rim that is compared: all but the part that may be cut off, because light and
ground are fitted. With 0.85 the median error is 2 % larger at 2 and 2.3 px a cell, with 0.7 7 %."""
_CUTOFF_SIGMAS = 7.0
"""Cut-off of the robust weights. So near to the true pose most residuals are the model's own
errors, not outliers: with 4.7 the median error is a tenth larger."""
_LIGHT_SLOPE_SIGMA = 0.1
"""Prior sigma of the light's slope over half a tag, as a share of the gain: shadow edges under
lamps cause it, and occluders are identified by now."""
_SLACK_CELLS = 0.2
_LARGEST_CELL_PX = 5.0
"""Pixels per cell above which refining gains nothing: at 6 px the error is 0.018 px before, 0.019
after."""
_LEAST_LIKENESS = 0.8
"""Least likeness of a tag that contributes to the picture's demosaicing model."""
_ALONG_ROWS = np.array([[0, 0, 0], [1, -2, 1], [0, 0, 0]], np.float32)
_CROSSWISE = np.array([[1, 0, 1], [0, -4, 0], [1, 0, 1]], np.float32)
_KERNELS = (_ALONG_ROWS, _ALONG_ROWS.T, _CROSSWISE)
"""Kernels whose multiples model the blur that demosaicing adds. All are symmetric, so that fitting
them moves no tag."""
_BAYER_PLACES = 4
"""Pixels in one square of the Bayer pattern; each has its own interpolation."""
_MULTIPLE_SIGMA = 0.1
"""Prior sigma of each kernel's multiple: up to 0.25 was measured, typically 0.1."""
_WHITE = 1.0
_REGULARISATION = 1e-9
"""Regularises the normal equations where all residuals are 0."""


def refine_poses(grey: Grey, camera: Camera, patterns: TagPatterns, fits: TagFits) -> TagFits:
    """Returns the fits with refined poses and covariances; their other fields do not change."""
    sizes_mm = fits.tags.sizes_mm
    rows = [np.flatnonzero(sizes_mm == size_mm) for size_mm in np.unique(sizes_mm)]
    placed = [_refined(grey, camera, patterns, fits[group]) for group in rows]
    order = np.argsort(np.concatenate([np.empty(0, np.int64), *rows]))
    return TagFits.joined(placed)[order]


def _refined(grey: Grey, camera: Camera, patterns: TagPatterns, fits: TagFits) -> TagFits:
    """Refines tags of one size."""
    cell_mm = fits.tags.sizes_mm[0] / patterns.side_cells
    px_per_mm = camera.px_per_mm(fits.tags.places_mm, fits.tags.heights_mm)
    if np.median(px_per_mm) * cell_mm > _LARGEST_CELL_PX:
        return fits
    rendered = render_tags(
        grey,
        camera,
        patterns,
        fits.tags,
        # The median over all tags is steadier than each tag's own blur.
        np.full(len(fits), np.median(fits.blur_px)),
        rim_cells=_RIM_CELLS,
        slack_cells=_SLACK_CELLS,
        with_ground=True,
    )
    model, is_reliable = rendered.model, fits.likeness > _LEAST_LIKENESS
    start = model.start(fits.tags)
    poses, covariance = _refined_poses(
        model.without_glare(start, fits.glare), start, rendered.px_per_cell, is_reliable
    )
    tags = replace(
        fits.tags,
        places_mm=fits.tags.places_mm + poses.offset_cells.astype(np.float64) * model.cell_mm,
        headings_rad=poses.headings_rad.astype(np.float64),
    )
    units = np.array([model.cell_mm, model.cell_mm, 1.0])
    covariance = inflated_by_occlusion(covariance, fits.visible_share, fits.glare)
    return replace(fits, tags=tags, covariance=covariance * units[:, None] * units)


def _refined_poses(
    model: TagModel, poses: TagPoses, px_per_cell: Array, is_reliable: NDArray[np.bool_]
) -> tuple[TagPoses, Array]:
    """Returns the refined poses, and their covariances (n, 3, 3) in cells and radians."""
    patches = model.patches
    grey, trace = patches.grey, np.zeros_like(patches.grey)
    columns = model.columns(poses)
    on_tag = columns.values * columns.on_tag[:, None]
    coefficients = solve_coefficients(columns, on_tag, grey, fixed_light_and_blur_prior(columns))
    for step in range(_STEPS):
        if step > 0:
            columns = model.columns(poses)
            coefficients[:, POSE] = 0
        robust = robust_weights(
            columns, coefficients, grey - trace, px_per_cell, cutoff_sigmas=_CUTOFF_SIGMAS
        )
        # Only tags that look as predicted may shape the picture's demosaicing model.
        reliable_weights = robust.weights * is_reliable[:, None]
        trace = demosaicing_effect(
            columns, coefficients, robust.residuals + trace, reliable_weights, patches
        )
        weighted = _weighted_columns(columns, robust.weights, patches)
        prior = light_and_blur_prior(coefficients, robust, light_slope_sigma=_LIGHT_SLOPE_SIGMA)
        coefficients = solve_coefficients(columns, weighted, grey - trace, prior)
        poses = take_step(poses, coefficients, robust.curvature_ratio)
    residuals = grey - trace - (coefficients[:, None] @ columns.values)[:, 0]
    # The last weights with residuals after the last step: for the covariance only.
    robust = replace(robust, residuals=residuals)
    return poses, pose_covariances(
        columns, weighted, robust, coefficients, prior, patches, is_reliable
    )


def _weighted_columns(columns: TagColumns, weights: Map, patches: Patches) -> Map:
    """Returns the columns times their pixels' weights, (n, k, m).

    Only the pose's columns are corrected for correlated errors: for light the effect is negligible.
    """
    weighted = columns.values * weights[:, None]
    weighted[:, POSE] = decorrelated_columns(columns.values[:, POSE], weights, patches)
    return weighted


def demosaicing_effect(
    columns: TagColumns, coefficients: Map, residuals: Map, weights: Map, patches: Patches
) -> Map:
    """Estimates the effect of demosaicing on tags' pixels, in grey levels, (n, m).

    A sensor measures one colour a pixel, in squares of two by two, and interpolates the others: its
    grey picture is sharp where green was measured and blurred along rows, columns or both where it
    was not. At two pixels a cell that moves tags by more than noise does. Cameras interpolate
    differently, so the effect is measured on the tags of the picture itself.

    `residuals` (n, m) are those of a prediction without it, with `weights` (n, m). The effect is 0
    where pixels were averaged.
    """
    trace = np.zeros_like(residuals)
    if patches.shrink > 1:
        return trace
    gain = np.maximum(coefficients[:, GAIN], LEAST_GAIN_GREY)
    rendered = columns.values[None, :, GAIN]
    # The change that each kernel makes to the rendered tag.
    kernel_effects = gain[:, None] * np.concatenate(
        [filter_patches(rendered, patches, blur, fill=_WHITE) for blur in _KERNELS]
    )
    place = _bayer_places(patches)
    for bayer_place in range(_BAYER_PLACES):
        is_here = place == bayer_place
        multiples = _kernel_multiples(kernel_effects, weights * is_here, residuals)
        trace += is_here * np.tensordot(multiples, kernel_effects, 1)
    return trace


def _kernel_multiples(kernel_effects: Map, weights: Map, residuals: Map) -> Map:
    """Fits the multiple of each kernel's effect (3, n, m) to the residuals, (3,)."""
    weighted = (weights * kernel_effects).reshape(len(kernel_effects), -1)
    normal = (weighted @ kernel_effects.reshape(len(kernel_effects), -1).T).astype(np.float64)
    right = (weighted @ residuals.ravel()).astype(np.float64)
    total = max(float(weights.sum()), 1.0)
    noise = float((weights * residuals**2).sum()) / total
    # A ridge prior: with few or noisy pixels the multiples stay near 0.
    normal += (noise / _MULTIPLE_SIGMA**2 + _REGULARISATION) * np.eye(len(kernel_effects))
    return np.linalg.solve(normal, right).astype(np.float32)


def _bayer_places(patches: Patches) -> NDArray[np.int64]:
    """Returns each pixel's place in the square of the Bayer pattern, 0 to 3, (n, m)."""
    down, right = np.divmod(patches.spots, patches.across)
    column, row = patches.corners_px.T[..., None]
    return np.asarray((row + down) % 2 * 2 + (column + right) % 2)
