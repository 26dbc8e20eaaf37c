"""The place of a tag: the (x, y, heading) whose predicted picture fits the pixels best.

A tag on its plane has no other unknowns but how bright it is (gain and offset, which are linear)
and the picture's blur. Gauss-Newton with robust weights, so that what lies over a part of the
tag pulls little; all tags of one size at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.dictionary import TagPatterns
from tablecam.vision.patches import Patches, cut_patches
from tablecam.vision.tags import TagFits, TagGuesses
from tablecam.vision.texture import TagTextures, tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Index = NDArray[np.int64]

_STEPS = 4
"""Places move by less than a hundredth of their sigma after."""
_LONGEST_STEP_CELLS = 0.7
_RIM_CELLS = 0.5
"""How much of the white rim is compared: all of it would meet the base, and figures."""
_TUKEY = 4.685
"""Residuals beyond so many standard deviations have no weight; 95 % efficient without outliers."""
_TUKEY_SPREAD = 1.099
"""Gaussian residuals with these weights spread by so much less than without."""
_AS_PREDICTED = 0.3
"""A pixel so near to its prediction, as a share of black to white, shows the tag."""
_LEAST_NOISE_GREY = 1.5
_LEAST_GAIN_GREY = 3.0
_STIFFNESS = 1e-3
"""Keeps the normal equations solvable where no pixel is left to tell."""
_CORRELATED = 1.9
"""How much larger errors are than they would be if what one cell's pixels leave unexplained were
independent of the next cell's. Measured against truth on four pictures of two cameras, 456 tags:
1.6 to 2.2 for places, 1.6 to 1.7 for headings. (Independent pixels would need 1.7 to 3.4.)"""


def fit_tags(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    guesses: TagGuesses,
    *,
    blur_px: float,
    steps: int = _STEPS,
) -> TagFits:
    """The guesses moved to where they fit best; each must start within about a cell.

    Fewer `steps` are enough for guesses that start nearer. All are fitted, whether tags are there
    or not: `likeness` tells.
    """
    sizes = np.unique(guesses.sizes_mm)
    rows = [np.flatnonzero(guesses.sizes_mm == size_mm) for size_mm in sizes]
    fits = [_fit_one_size(grey, camera, patterns, guesses[group], blur_px, steps) for group in rows]
    order = np.argsort(np.concatenate([np.empty(0, np.int64), *rows]))
    return TagFits.joined(fits)[order]


def likeness_by_blur(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    tags: TagGuesses,
    *,
    blurs_px: Sequence[float],
) -> Array:
    """How much tags look as predicted where they are, with each of the blurs: (blurs, n)."""
    likeness = np.zeros((len(blurs_px), len(tags)))
    for size_mm in np.unique(tags.sizes_mm):
        rows = np.flatnonzero(tags.sizes_mm == size_mm)
        one_size = tags[rows]
        cut = _cut(grey, camera, patterns, one_size)
        for index, blur_px in enumerate(blurs_px):
            fit = _prepared(camera, patterns, one_size, cut, blur_px)
            likeness[index, rows] = fit.likeness(fit.predict(fit.start(one_size)))
    return likeness


def _fit_one_size(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    guesses: TagGuesses,
    blur_px: float,
    steps: int,
) -> TagFits:
    patches = _cut(grey, camera, patterns, guesses)
    fit = _prepared(camera, patterns, guesses, patches, blur_px)
    state = fit.start(guesses)
    for step in range(steps):
        # What lies over a tag is told from it only near its true place.
        state = fit.step(state, robust=step > 0 or steps < _STEPS)
    return fit.result(state, guesses)


def _cut(grey: Grey, camera: Camera, patterns: TagPatterns, guesses: TagGuesses) -> Patches:
    """The pixels to compare with guesses of one size."""
    cell_mm = float(guesses.sizes_mm[0]) / patterns.side_cells
    half_mm = (patterns.side_cells / 2 + _RIM_CELLS) * cell_mm
    return cut_patches(grey, camera, guesses, reach_mm=half_mm, cell_mm=cell_mm)


def _prepared(
    camera: Camera, patterns: TagPatterns, guesses: TagGuesses, patches: Patches, blur_px: float
) -> _Fit:
    """What fits these guesses, all of one size, to these pixels."""
    cell_mm = float(guesses.sizes_mm[0]) / patterns.side_cells
    # One blur for all: px a cell differ by a tenth over a picture, which moves no centre.
    px_per_mm = float(np.median(camera.px_per_mm(guesses.places_mm, guesses.heights_mm)))
    # Pixels that were averaged are a blur of their own.
    blur_px = math.hypot(blur_px, math.sqrt((patches.shrink**2 - 1) / 12))
    used, pattern = np.unique(guesses.pattern, return_inverse=True)
    textures = tag_textures(patterns.cells[used], blur_px / (px_per_mm * cell_mm))
    return _Fit(patches, textures, pattern, cell_mm, patterns.side_cells / 2 + _RIM_CELLS)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Where the fit stands: how far tags moved (n, 2), headings (n,), gain and black (n, 2)."""

    moved_cells: Map
    headings_rad: Map
    light_grey: Map


@dataclass(frozen=True, slots=True, eq=False)
class _Prediction:
    """How the tags of a state would look.

    `columns` (n, 5, m) are what the pixels are linear in: the tag from 0 to 1, a constant, and
    the tag's slopes by x, y (a cell) and heading. `counts` (n, m) is 1 on the tag, else 0.
    `block` (n, m) numbers the cell that a pixel lies on.
    """

    columns: Map
    counts: Map
    block: Index


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The Gauss-Newton fit of n tags of one size to m pixels each."""

    patches: Patches
    textures: TagTextures
    pattern: Index
    cell_mm: float
    half_cells: float

    def start(self, guesses: TagGuesses) -> _State:
        return _State(
            np.zeros((len(guesses), 2), np.float32),
            guesses.headings_rad.astype(np.float32),
            np.zeros((len(guesses), 2), np.float32),
        )

    def step(self, state: _State, *, robust: bool) -> _State:
        predicted = self.predict(state)
        weights = self._weights(predicted, state) if robust else predicted.counts
        weighted = predicted.columns * weights[:, None]
        normal = weighted @ predicted.columns.transpose(0, 2, 1) + _STIFFNESS * np.eye(5)
        right = weighted @ self.patches.grey[..., None]
        found = np.linalg.solve(normal.astype(np.float64), right)[..., 0]
        # The slopes' shares are gain times the step: the picture is linear in these.
        gain = np.maximum(found[:, :1], _LEAST_GAIN_GREY)
        change = found[:, 2:] / gain
        longest = np.abs(change).max(axis=1, keepdims=True)
        change *= np.minimum(1.0, _LONGEST_STEP_CELLS / np.maximum(longest, 1e-9))
        return _State(
            (state.moved_cells + change[:, :2]).astype(np.float32),
            (state.headings_rad + change[:, 2]).astype(np.float32),
            found[:, :2].astype(np.float32),
        )

    def result(self, state: _State, guesses: TagGuesses) -> TagFits:
        predicted = self.predict(state)
        moved_mm = state.moved_cells.astype(np.float64) * self.cell_mm
        tags = replace(
            guesses,
            places_mm=guesses.places_mm + moved_mm,
            headings_rad=state.headings_rad.astype(np.float64),
        )
        gain, black = state.light_grey.astype(np.float64).T
        return TagFits(
            tags,
            self._covariance(predicted, state),
            self.likeness(predicted),
            black,
            gain,
            *self._noise_and_visible(predicted, state),
        )

    def predict(self, state: _State) -> _Prediction:
        cosine, sine = np.cos(state.headings_rad)[:, None], np.sin(state.headings_rad)[:, None]
        away = self.patches.offsets_mm / np.float32(self.cell_mm) - state.moved_cells[:, None]
        right = away[..., 0] * sine - away[..., 1] * cosine
        up = away[..., 0] * cosine + away[..., 1] * sine
        value, by_right, by_up = self.textures.at(self.pattern, right, up)
        columns = np.stack(
            [
                value,
                np.ones_like(value),
                -by_right * sine - by_up * cosine,
                by_right * cosine - by_up * sine,
                by_right * up - by_up * right,
            ],
            axis=1,
        )
        half, side = self.half_cells, int(np.ceil(2 * self.half_cells))
        on_tag = self.patches.real & (np.maximum(np.abs(right), np.abs(up)) < half)
        row = (half - up).clip(0, side - 1).astype(np.int64)
        column = (half + right).clip(0, side - 1).astype(np.int64)
        return _Prediction(columns, on_tag.astype(np.float32), row * side + column)

    def _residuals(self, predicted: _Prediction, state: _State) -> Map:
        gain, black = state.light_grey[:, :1], state.light_grey[:, 1:]
        return np.asarray(self.patches.grey - predicted.columns[:, 0] * gain - black)

    def _weights(self, predicted: _Prediction, state: _State) -> Map:
        """Tukey's weights: 1 where a pixel is as predicted, 0 where it cannot be the tag."""
        residuals = self._residuals(predicted, state)
        typical = _median_where(np.abs(residuals), predicted.counts > 0)
        spread = np.maximum(1.4826 * typical, _LEAST_NOISE_GREY)[:, None]
        inside = 1 - (residuals / (_TUKEY * spread)) ** 2
        return np.asarray(predicted.counts * inside.clip(0, 1) ** 2, dtype=np.float32)

    def _covariance(self, predicted: _Prediction, state: _State) -> Array:
        """Of (x_mm, y_mm, heading_rad), from what each cell leaves unexplained, (n, 3, 3).

        A camera's noise is alike in neighbouring pixels (demosaicing, JPEG, a figure's edge), so
        cells are taken as what is independent, not pixels: the "sandwich" over blocks.
        """
        columns = predicted.columns.copy()
        columns[:, 2:] *= state.light_grey[:, :1, None]
        weighted = columns * self._weights(predicted, state)[:, None]
        normal = weighted @ columns.transpose(0, 2, 1) + _STIFFNESS * np.eye(5)
        inverse = np.linalg.inv(normal.astype(np.float64))
        pulls = weighted * self._residuals(predicted, state)[:, None]
        blocks = _block_sums(pulls, predicted.block)
        spread = inverse @ (blocks.transpose(0, 2, 1) @ blocks) @ inverse
        units = np.array([self.cell_mm, self.cell_mm, 1.0]) * _CORRELATED
        return np.asarray(spread[:, 2:, 2:] * units[:, None] * units)

    def _noise_and_visible(self, predicted: _Prediction, state: _State) -> tuple[Array, Array]:
        """The residuals' spread where the tag is seen, (n,), and how much of it is, (n,)."""
        residuals = self._residuals(predicted, state)
        weights = self._weights(predicted, state)
        total = np.maximum(weights.sum(axis=1), 1)
        noise = _TUKEY_SPREAD * np.sqrt((weights * residuals**2).sum(axis=1) / total)
        near = _AS_PREDICTED * np.maximum(state.light_grey[:, :1], _LEAST_GAIN_GREY)
        seen = (predicted.counts * (np.abs(residuals) < near)).sum(axis=1)
        whole = (2 * self.half_cells * self.cell_mm) ** 2 / self.patches.pixel_mm2
        share = seen / np.maximum(whole, predicted.counts.sum(axis=1))
        return noise.astype(np.float64), share.astype(np.float64)

    def likeness(self, predicted: _Prediction) -> Array:
        """The correlation of predicted and seen pixels on each tag, (n,)."""
        counts = predicted.counts
        total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        seen, meant = self.patches.grey, predicted.columns[:, 0]
        seen = (seen - (seen * counts).sum(axis=1, keepdims=True) / total) * counts
        meant = (meant - (meant * counts).sum(axis=1, keepdims=True) / total) * counts
        size = np.sqrt((seen**2).sum(axis=1) * (meant**2).sum(axis=1))
        return np.asarray((seen * meant).sum(axis=1) / np.maximum(size, 1e-6), dtype=np.float64)


def _block_sums(pulls: Map, block: Index) -> Array:
    """The sums of pulls (n, k, m) over the pixels of each block: (n, blocks, k)."""
    tags, kinds, _ = pulls.shape
    blocks = int(block.max(initial=0)) + 1
    flat = (block + np.arange(tags)[:, None] * blocks).ravel()
    sums = [np.bincount(flat, pulls[:, k].ravel(), tags * blocks) for k in range(kinds)]
    return np.stack(sums, axis=-1).reshape(tags, blocks, kinds).astype(np.float64)


def _median_where(values: Map, wanted: NDArray[np.bool_]) -> Map:
    """The median of the wanted values of each row."""
    ordered = np.sort(np.where(wanted, values, np.inf), axis=1)
    middle = (wanted.sum(axis=1) // 2).clip(0, values.shape[1] - 1)
    median = ordered[np.arange(len(values)), middle]
    return np.asarray(np.where(np.isfinite(median), median, 0), dtype=np.float32)
