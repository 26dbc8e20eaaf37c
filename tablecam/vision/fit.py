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
from tablecam.vision.dictionary import TagPatterns
from tablecam.vision.fit_errors import place_covariances
from tablecam.vision.patches import cut_patches
from tablecam.vision.robust import LEAST_GAIN_GREY, Believed, believed
from tablecam.vision.tag_model import (
    ACROSS,
    ALONG,
    BLACK,
    BLUR,
    COLUMNS,
    GAIN,
    PLACE,
    TagColumns,
    TagModel,
    TagPoses,
)
from tablecam.vision.tags import TagFits, TagGuesses
from tablecam.vision.texture import blur_steps, drawn_blur, tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_STEPS = 4
"""Places move by less than a hundredth of their sigma after."""
_LONGEST_STEP_CELLS = 0.7
_LEAST_FIRM = 0.7
"""Steps are lengthened by no more than this divides: longer ones swing to and fro."""
_RIM_CELLS = 0.7
"""How much of the white rim is compared: all of it would meet the base, and figures."""
_STIFFNESS = 1e-3
"""Keeps the normal equations solvable where no pixel is left to tell."""
_LIGHT_CHANGES = 0.05
"""From a tag's middle to its side, as a share: one standard deviation of what is expected. Shadows'
edges and lamps' light falling off do this; unless they are fitted, tags are drawn towards the light
by up to a twentieth of a pixel (two pictures of the shared footage: median error 0.090 px without,
0.058 with)."""
_BLUR_DIFFERS = 0.1
"""The blur's logarithm, likewise: the fit moves it freely for tags that tell."""
_HELD = 1e6
_LOOKS_LIKE_A_TAG = 0.8
_TUKEY_SPREAD = 1.099
"""Gaussian residuals with these weights spread by so much less than without."""
_AS_PREDICTED = 0.3
"""A pixel so near to its prediction, as a share of black to white, shows the tag."""
_WHOLE, _HIDDEN_PULLS = 0.98, 2.5
"""From which `visible_share` on a tag is whole; and by how much a standard deviation grows with the
share that is not. What lies over a tag pulls at the rest, by half of a sigma where a fifth is
hidden: measured on 300 tags of the shared footage and of simulated tables, 30 to 95 % visible."""


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
) -> TagFits:
    """The guesses moved to where they fit best; each must start within about a cell.

    `blur_px` is what the blur is held for, one for all or one a guess, (n,); being off by a half
    does no harm, as the fit finds each tag's own. Fewer `steps` are enough for guesses that start
    nearer. All are fitted, whether tags are there or not: `likeness` tells.
    """
    sizes = np.unique(guesses.sizes_mm)
    rows = [np.flatnonzero(guesses.sizes_mm == size_mm) for size_mm in sizes]
    blurs_px = np.broadcast_to(np.asarray(blur_px, dtype=np.float64), len(guesses))
    fits = [
        _fit_one_size(grey, camera, patterns, guesses[group], blurs_px[group], steps)
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
) -> TagFits:
    cell_mm = float(guesses.sizes_mm[0]) / patterns.side_cells
    half_cells = patterns.side_cells / 2 + _RIM_CELLS
    patches = cut_patches(grey, camera, guesses, reach_mm=half_cells * cell_mm, cell_mm=cell_mm)
    px_per_cell = cell_mm / np.sqrt(patches.pixel_mm2)
    # Pixels that were averaged are a blur of their own, in these larger pixels.
    averaged = (1 - 1 / patches.shrink**2) / 12
    drawn = blur_steps(np.sqrt((blurs_px / patches.shrink) ** 2 + averaged) / px_per_cell)
    looks, which = np.unique(np.stack([guesses.pattern, drawn]), axis=1, return_inverse=True)
    textures = tag_textures(patterns.cells[looks[0]], drawn_blur(looks[1]))
    model = TagModel(patches, textures, which.reshape(-1), cell_mm, half_cells)
    fitted = _fitted(model, model.start(guesses), px_per_cell, steps)
    blur = drawn_blur(drawn) * np.exp(_own_blur(fitted.shares)) * px_per_cell
    blurs_px = patches.shrink * np.sqrt(np.maximum(blur**2 - averaged, 0))
    return _result(model, guesses, fitted, blurs_px)


def _fitted(model: TagModel, poses: TagPoses, px_per_cell: Array, steps: int) -> _Fitted:
    """The poses after some steps; each gives the shares of its columns, and so where to go."""
    grey = model.patches.grey
    columns = model.columns(poses)
    prior = _light_and_blur_held(len(grey))
    shares = _solved(columns, columns.on_tag, grey, prior)
    # What lies over a tag is told from it only near its true place: far from it, move first.
    near, firmness = steps < _STEPS, np.ones(len(grey), np.float32)
    for step in range(steps):
        if step > 0 or near:
            left = believed(columns, shares, grey, px_per_cell)
            prior = _expected(shares, left)
            shares, firmness = _solved(columns, left.weights, grey, prior), left.firmness
        is_last = step == steps - 1
        poses = _moved(poses, shares, None if is_last else firmness)
        if not is_last:
            columns = model.columns(poses)
            shares[:, PLACE] = 0
    return _Fitted(poses, columns, shares, prior, believed(columns, shares, grey, px_per_cell))


def _solved(columns: TagColumns, weights: Map, grey: Map, prior: Array) -> Map:
    """The shares (n, 8) of the columns that explain the pixels best."""
    weighted = columns.values * weights[:, None]
    normal = (weighted @ columns.values.transpose(0, 2, 1)).astype(np.float64)
    normal += prior[:, :, None] * np.eye(COLUMNS)
    right = (weighted @ grey[..., None]).astype(np.float64)
    return np.asarray(np.linalg.solve(normal, right)[..., 0], dtype=np.float32)


def _light_and_blur_held(count: int) -> Array:
    """A prior (n, 8) for the first step, which knows nothing yet of light and noise."""
    prior = np.full((count, COLUMNS), _STIFFNESS)
    prior[:, [ACROSS, ALONG, BLUR]] = _HELD
    return prior


def _expected(shares: Map, left: Believed) -> Array:
    """A prior (n, 8): how well light and blur are known before, in units of the pixels' noise."""
    gain = np.maximum(shares[:, GAIN], LEAST_GAIN_GREY).astype(np.float64)
    prior = np.full(shares.shape, _STIFFNESS)
    prior[:, ACROSS] = prior[:, ALONG] = (left.spread_grey / (_LIGHT_CHANGES * gain)) ** 2
    prior[:, BLUR] = (left.spread_grey / (_BLUR_DIFFERS * gain)) ** 2
    return prior


def _moved(poses: TagPoses, shares: Map, firmness: Map | None) -> TagPoses:
    """The poses after a step, a longer one where tags pull less firmly than their weights do.

    A step changes the weights as well, so that half hidden tags would come near slowly.
    """
    # The slopes' shares are gain times the step: the picture is linear in these.
    change = shares[:, PLACE] / np.maximum(shares[:, :1], LEAST_GAIN_GREY)
    if firmness is not None:
        change = change / np.maximum(firmness, _LEAST_FIRM)[:, None]
    longest = np.abs(change).max(axis=1, keepdims=True)
    change = change * np.minimum(1.0, _LONGEST_STEP_CELLS / np.maximum(longest, 1e-9))
    change = change.astype(np.float32)
    return TagPoses(poses.moved_cells + change[:, :2], poses.headings_rad + change[:, 2])


def _own_blur(shares: Map) -> Array:
    """The logarithm of how much more blurred tags are than they were drawn, (n,)."""
    change = shares[:, BLUR] / np.maximum(shares[:, GAIN], LEAST_GAIN_GREY)
    return change.astype(np.float64).clip(-1, 1)


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
        fitted.left,
        fitted.shares,
        fitted.prior,
        model.patches,
        likeness > _LOOKS_LIKE_A_TAG,
    )
    noise, visible = _noise_and_visible(model, fitted)
    hidden = 1 + _HIDDEN_PULLS * np.maximum(_WHOLE - visible, 0)
    covariance *= np.square(hidden)[:, None, None]
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
