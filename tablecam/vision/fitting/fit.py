"""The place of a tag: the (x, y, heading) whose predicted picture fits the pixels best.

A tag on its plane has no other unknowns but how it is lit (gain, black level, and how the light
changes across it) and how blurred it is. Gauss-Newton with robust weights, so that what lies over
a part of the tag pulls little; all tags of one size at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from tablecam.vision.fitting.covariance import grown_where_hidden, place_covariances
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.gauss_newton import expected, light_and_blur_held, moved, solved
from tablecam.vision.fitting.light import ExpectedLight
from tablecam.vision.fitting.rendered import drawn_tags
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY, Believed, believed
from tablecam.vision.fitting.tag_model import (
    BLACK,
    GAIN,
    PLACE,
    TagColumns,
    TagModel,
    TagPoses,
)
from tablecam.vision.fitting.tags import TagFits, TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_STEPS = 4
"""Places move by less than a hundredth of their sigma after."""
_RIM_CELLS = 0.7
"""How much of the white rim is compared: all of it would meet the base, and figures."""
_SLACK_CELLS = 0.6
"""How far a tag may turn out to lie from where its pixels were cut."""
_LOOKS_LIKE_A_TAG = 0.8
_TUKEY_SPREAD = 1.099
"""Gaussian residuals with these weights spread by so much less than without."""
_AS_PREDICTED = 0.3
"""A pixel so near to its prediction, as a share of black to white, shows the tag."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """What a fit of tags of one size ended with: the columns are those of its last step."""

    poses: TagPoses
    columns: TagColumns
    shares: Map
    prior: Array
    left: Believed


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
    """The guesses moved to where they fit best; each must start within about a cell.

    `blur_px` is what the blur is held for, one for all or one a guess, (n,); being off by a half
    does no harm, as the fit finds each tag's own. Fewer `steps` are enough for guesses that start
    nearer. The `light` that is expected on each, where it is known, keeps what lies over a tag
    from being taken for its paper. All are fitted, whether tags are there or not: `likeness` tells.
    """
    sizes = np.unique(guesses.sizes_mm)
    rows = [np.flatnonzero(guesses.sizes_mm == size_mm) for size_mm in sizes]
    blurs_px = np.broadcast_to(np.asarray(blur_px, dtype=np.float64), len(guesses))
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
    drawn = drawn_tags(
        grey,
        camera,
        patterns,
        guesses,
        blurs_px,
        rim_cells=_RIM_CELLS,
        slack_cells=_SLACK_CELLS,
        with_ground=False,
    )
    fitted = _fitted(drawn.model, drawn.model.start(guesses), drawn.px_per_cell, steps, light)
    return _result(drawn.model, guesses, fitted, drawn.blurs_px(fitted.shares))


def _fitted(
    model: TagModel,
    poses: TagPoses,
    px_per_cell: Array,
    steps: int,
    light: ExpectedLight | None,
) -> _Fitted:
    """The poses after some steps; each gives the shares of its columns, and so where to go."""
    grey = model.patches.grey
    columns = model.columns(poses)
    prior = light_and_blur_held(columns)
    shares = solved(columns, columns.values * columns.on_tag[:, None], grey, prior, light)
    # What lies over a tag is told from it only near its true place: far from it, move first.
    near, firmness = steps < _STEPS, np.ones(len(grey), np.float32)
    for step in range(steps):
        if step > 0 or near:
            left = believed(columns, shares, grey, px_per_cell)
            prior, firmness = expected(shares, left), left.firmness
            told = columns.values * left.weights[:, None]
            shares = solved(columns, told, grey, prior, light, left.spread_grey)
        is_last = step == steps - 1
        poses = moved(poses, shares, None if is_last else firmness)
        if not is_last:
            columns = model.columns(poses)
            shares[:, PLACE] = 0
    return _Fitted(poses, columns, shares, prior, believed(columns, shares, grey, px_per_cell))


def _result(model: TagModel, guesses: TagGuesses, fitted: _Fitted, blurs_px: Array) -> TagFits:
    moved_mm = fitted.poses.moved_cells.astype(np.float64) * model.cell_mm
    tags = replace(
        guesses,
        places_mm=guesses.places_mm + moved_mm,
        headings_rad=fitted.poses.headings_rad.astype(np.float64),
    )
    likeness = _likeness(model.patches.grey, fitted.columns)
    units = np.array([model.cell_mm, model.cell_mm, 1.0])
    covariance = place_covariances(
        fitted.columns,
        fitted.columns.values * fitted.left.weights[:, None],
        fitted.left,
        fitted.shares,
        fitted.prior,
        model.patches,
        likeness > _LOOKS_LIKE_A_TAG,
    )
    noise, visible = _noise_and_visible(model, fitted)
    covariance = grown_where_hidden(covariance, visible)
    gain, black = fitted.shares[:, [GAIN, BLACK]].astype(np.float64).T
    return TagFits(
        tags,
        covariance * units[:, None] * units,
        likeness,
        black,
        gain,
        noise,
        visible,
        blurs_px,
    )


def _noise_and_visible(model: TagModel, fitted: _Fitted) -> tuple[Array, Array]:
    """The residuals' spread where the tag is seen, (n,), and how much of it is, (n,)."""
    weights, residuals = fitted.left.weights, fitted.left.residuals
    on_tag = fitted.columns.on_tag
    total = np.maximum(weights.sum(axis=1), 1)
    noise = _TUKEY_SPREAD * np.sqrt((weights * residuals**2).sum(axis=1) / total)
    near = _AS_PREDICTED * np.maximum(fitted.shares[:, :1], LEAST_GAIN_GREY)
    seen = (on_tag * (np.abs(residuals) < near)).sum(axis=1)
    whole = (2 * model.half_cells * model.cell_mm) ** 2 / model.patches.pixel_mm2
    share = seen / np.maximum(whole, on_tag.sum(axis=1))
    return noise.astype(np.float64), share.astype(np.float64)


def _likeness(grey: Map, columns: TagColumns) -> Array:
    """The correlation of predicted and seen pixels on each tag, (n,)."""
    on_tag = columns.on_tag
    total = np.maximum(on_tag.sum(axis=1, keepdims=True), 1)
    meant = columns.values[:, GAIN]
    seen = (grey - (grey * on_tag).sum(axis=1, keepdims=True) / total) * on_tag
    meant = (meant - (meant * on_tag).sum(axis=1, keepdims=True) / total) * on_tag
    size = np.sqrt((seen**2).sum(axis=1) * (meant**2).sum(axis=1))
    return np.asarray((seen * meant).sum(axis=1) / np.maximum(size, 1e-6), dtype=np.float64)
