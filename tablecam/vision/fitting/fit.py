"""Fits tags to pixels: finds the (x, y, heading) whose predicted picture matches best.

The other unknowns of a tag on its plane are its light (gain, black level, slopes) and its blur.
Solved by Gauss-Newton with robust weights, so that occluders pull little; all tags of one size at
once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from tablecam.vision.fitting.covariance import inflated_by_occlusion, pose_covariances
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.gauss_newton import (
    fixed_light_and_blur_prior,
    light_and_blur_prior,
    solve_coefficients,
    take_step,
)
from tablecam.vision.fitting.glare import GLARE_SPOTS, glare_of
from tablecam.vision.fitting.light import ExpectedLight
from tablecam.vision.fitting.rendered import render_tags
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY, RobustWeights, robust_weights
from tablecam.vision.fitting.tag_model import (
    BLACK,
    GAIN,
    POSE,
    TagColumns,
    TagModel,
    TagPoses,
)
from tablecam.vision.fitting.tags import TagFits, TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Rows = NDArray[np.bool_]

_STEPS = 4
"""After four steps, places move by less than a hundredth of their sigma."""
_RIM_CELLS = 0.7
"""Width of the white rim that is compared: all of it would include the base and figures."""
_SLACK_CELLS = 0.6
"""How far a tag may lie from its guess."""
_LEAST_TAG_LIKENESS = 0.8
_LEAST_BRIGHTER, _MOST_BRIGHTER = 0.03, 0.25
"""Shares of a tag under a lamp that are far brighter than predicted: of 439 glared tags 98 % had
0.036 to 0.24."""
_TUKEY_SIGMA = 1.099
"""Ratio of the true to the weighted standard deviation of Gaussian residuals."""
_VISIBLE_RESIDUAL_SHARE = 0.3
"""Largest residual, as a share of black to white, of a pixel that shows the tag."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """The final state of a fit of tags of one size; the columns are those of its last step."""

    poses: TagPoses
    columns: TagColumns
    coefficients: Map
    prior: Array
    robust: RobustWeights
    glare: Rows


def fit_tags(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    guesses: TagGuesses,
    *,
    blur_px: ArrayLike,
    steps: int = _STEPS,
    light: ExpectedLight | None = None,
) -> TagFits:
    """Fits the guesses to the picture; each must start within about a cell of the true place.

    `blur_px` is the initial blur, one for all or one a guess, (n,); an error of half does no harm,
    as the fit estimates each tag's own. Guesses that start closer need fewer `steps`. The expected
    `light`, if known, prevents the fit from mistaking an occluder for the tag's paper. Every guess
    is fitted, even where there is no tag: `likeness` shows it.
    """
    blurs_px = np.broadcast_to(np.asarray(blur_px, dtype=np.float64), len(guesses))
    # The usual case needs no sorting.
    if len(guesses) and (guesses.sizes_mm == guesses.sizes_mm[0]).all():
        return _fit_one_size(grey, camera, patterns, guesses, blurs_px, steps, light)
    sizes = np.unique(guesses.sizes_mm)
    rows = [np.flatnonzero(guesses.sizes_mm == size_mm) for size_mm in sizes]
    fits = [
        _fit_one_size(
            grey,
            camera,
            patterns,
            guesses[group],
            blurs_px[group],
            steps,
            None if light is None else light[group],
        )
        for group in rows
    ]
    # Groups were fitted one after the other: put the rows back into the guesses' order.
    order = np.argsort(np.concatenate([np.empty(0, np.int64), *rows]))
    return TagFits.joined(fits)[order]


def _fit_one_size(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    guesses: TagGuesses,
    blurs_px: Array,
    steps: int,
    light: ExpectedLight | None,
) -> TagFits:
    """Fits guesses that share one tag size."""
    rendered = render_tags(
        grey,
        camera,
        patterns,
        guesses,
        blurs_px,
        rim_cells=_RIM_CELLS,
        slack_cells=_SLACK_CELLS,
        with_ground=False,
    )
    fitted = _fitted(
        rendered.model, rendered.model.start(guesses), rendered.px_per_cell, steps, light
    )
    return _result(rendered.model, guesses, fitted, rendered.blurs_px(fitted.coefficients))


def _fitted(
    model: TagModel,
    poses: TagPoses,
    px_per_cell: Array,
    steps: int,
    light: ExpectedLight | None,
) -> _Fitted:
    """Iterates the fit and returns its final state."""
    grey = model.patches.grey
    columns = model.columns(poses)
    prior = fixed_light_and_blur_prior(columns)
    coefficients = solve_coefficients(
        columns, columns.values * columns.on_tag[:, None], grey, prior, light
    )
    # Far from the true place residuals do not show occluders: the first step has no weights.
    starts_near, curvature_ratio = steps < _STEPS, np.ones(len(grey), np.float32)
    glare = np.zeros((len(grey), GLARE_SPOTS), dtype=np.bool_)
    for step in range(steps):
        if step > 0 or starts_near:
            robust = robust_weights(columns, coefficients, grey, px_per_cell)
            prior, curvature_ratio = (
                light_and_blur_prior(coefficients, robust),
                robust.curvature_ratio,
            )
            weighted = columns.values * robust.weights[:, None]
            coefficients = solve_coefficients(
                columns, weighted, grey, prior, light, robust.sigma_grey
            )
            # The first weighted step shows how bright the tag's own paper is.
            if step == (0 if starts_near else 1):
                glare = _glare(model, poses, columns, coefficients, robust)
                model = model.without_glare(poses, glare)
        # Lengthened steps only speed up convergence: the last one must be exact.
        is_last = step == steps - 1
        poses = take_step(poses, coefficients, None if is_last else curvature_ratio)
        if not is_last:
            columns = model.columns(poses)
            # The step is in the poses now: residuals must not count it twice.
            coefficients[:, POSE] = 0
    return _Fitted(
        poses,
        columns,
        coefficients,
        prior,
        robust_weights(columns, coefficients, grey, px_per_cell),
        glare,
    )


def _glare(
    model: TagModel,
    poses: TagPoses,
    columns: TagColumns,
    coefficients: Map,
    robust: RobustWeights,
) -> Rows:
    """Returns where the tags reflect lamps, (n, spots), given how bright their paper is."""
    gain = np.maximum(coefficients[:, [GAIN]], LEAST_GAIN_GREY)
    # Paint under a lamp is far brighter than predicted: most tags have no such pixels.
    is_brighter = (columns.on_tag > 0) & (robust.residuals > gain / 2)
    share = is_brighter.sum(axis=1) / np.maximum(columns.on_tag.sum(axis=1), 1)
    rows = np.flatnonzero((share >= _LEAST_BRIGHTER) & (share <= _MOST_BRIGHTER))
    glare = np.zeros((len(gain), GLARE_SPOTS), dtype=np.bool_)
    if len(rows):
        values = (model.patches.grey[rows] - coefficients[rows][:, [BLACK]]) / gain[rows]
        right, up = model.along_sides(poses, rows)
        is_on_tag = columns.on_tag[rows] > 0
        glare[rows] = glare_of(values, right, up, is_on_tag, model.textures.side_cells)
    return glare


def _result(model: TagModel, guesses: TagGuesses, fitted: _Fitted, blurs_px: Array) -> TagFits:
    """Converts a fit from cells to millimetres, with its covariance and quality measures."""
    offset_mm = fitted.poses.offset_cells.astype(np.float64) * model.cell_mm
    tags = replace(
        guesses,
        places_mm=guesses.places_mm + offset_mm,
        headings_rad=fitted.poses.headings_rad.astype(np.float64),
    )
    likeness = _likeness(model.patches.grey, fitted.columns)
    units = np.array([model.cell_mm, model.cell_mm, 1.0])
    covariance = pose_covariances(
        fitted.columns,
        fitted.columns.values * fitted.robust.weights[:, None],
        fitted.robust,
        fitted.coefficients,
        fitted.prior,
        model.patches,
        likeness > _LEAST_TAG_LIKENESS,
    )
    noise, visible = _noise_and_visible(model, fitted)
    covariance = inflated_by_occlusion(covariance, visible, fitted.glare)
    gain, black = fitted.coefficients[:, [GAIN, BLACK]].astype(np.float64).T
    return TagFits(
        tags,
        covariance * units[:, None] * units,
        likeness,
        black,
        gain,
        noise,
        visible,
        blurs_px,
        fitted.glare,
    )


def _noise_and_visible(model: TagModel, fitted: _Fitted) -> tuple[Array, Array]:
    """Returns the residuals' sigma on the visible part, (n,), and the visible share, (n,)."""
    weights, residuals = fitted.robust.weights, fitted.robust.residuals
    on_tag = fitted.columns.on_tag
    total = np.maximum(weights.sum(axis=1), 1)
    noise = _TUKEY_SIGMA * np.sqrt((weights * residuals**2).sum(axis=1) / total)
    # As a share of the contrast, so that noise alone does not make a tag look hidden.
    most_grey = _VISIBLE_RESIDUAL_SHARE * np.maximum(fitted.coefficients[:, :1], LEAST_GAIN_GREY)
    observed = (on_tag * (np.abs(residuals) < most_grey)).sum(axis=1)
    # A tag at the picture's edge has fewer pixels, but counts as partly hidden.
    whole = (2 * model.half_cells * model.cell_mm) ** 2 / model.patches.pixel_mm2
    share = observed / np.maximum(whole, on_tag.sum(axis=1))
    return noise.astype(np.float64), share.astype(np.float64)


def _likeness(grey: Map, columns: TagColumns) -> Array:
    """Returns the correlation of predicted and observed pixels on each tag, (n,)."""
    on_tag = columns.on_tag
    total = np.maximum(on_tag.sum(axis=1, keepdims=True), 1)
    predicted = columns.values[:, GAIN]
    observed = (grey - (grey * on_tag).sum(axis=1, keepdims=True) / total) * on_tag
    predicted = (predicted - (predicted * on_tag).sum(axis=1, keepdims=True) / total) * on_tag
    size = np.sqrt((observed**2).sum(axis=1) * (predicted**2).sum(axis=1))
    return np.asarray((observed * predicted).sum(axis=1) / np.maximum(size, 1e-6), dtype=np.float64)
