"""Fits a tag's four sides to the pixels along them, curved as the lens predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.edges import blurred_edge
from calibration.least_squares import least_squares
from calibration.lens import Lens

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_REACH_CELLS = 0.8  # inside a tag's border, and inside the white around it
_LARGEST_REACH_PX = 6.0
_LEAST_REACH_PX = 1.5
_PART_OF_SIDE = 0.85  # blur rounds its ends
_FIRST_BLUR_PX = 0.7
_BLUR_SIGMA = 0.5
_USUAL_BEND, _BEND_SIGMA = -0.2, 0.15  # gamma's, as a share of half the contrast
_MISFIT_GREY = 40.0  # sharpening's residuals, inflated for correlated neighbours
_LEAST_CONTRAST = 8.0
_LARGEST_MISFIT = 0.15  # of the contrast


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Four sides in the order of their corners, from the top left clockwise.

    Side i runs from t = -1 to t = 1 along `middles_px` (4, 2) plus t times `halves_px` (4, 2),
    displaced by `outward_px` (4, 3): a polynomial in 1, t, t² in pixels, outward positive.
    """

    middles_px: Array
    halves_px: Array
    outward_px: Array

    @property
    def outward(self) -> Array:
        """The unit vectors (4, 2) away from the tag."""
        along = self.halves_px / np.linalg.norm(self.halves_px, axis=1, keepdims=True)
        return np.stack([along[:, 1], -along[:, 0]], axis=1)


def fit_sides(
    picture: Picture, quad_px: Array, cell_px: float, lens: Lens | None = None
) -> Sides | None:
    """Fits the sides of the dark square near `quad_px` (4, 2) in a grey picture.

    A side has the curvature that the lens gives it, none without a lens: a free curvature would let
    noise move its ends. Returns None if a side cannot be fitted: it leaves the picture, or
    something covers it.
    """
    rough = _rough_sides(quad_px, lens)
    bow = rough.outward_px[:, 2]
    strips = [_strip(picture, rough, side, cell_px) for side in range(4)]
    # A strip with fewer pixels hardly determines its eight unknowns.
    if any(strip is None or strip.shape[1] < 30 for strip in strips):
        return None
    along, outside, grey, weights = _padded([strip for strip in strips if strip is not None])

    def misfit(values: Array) -> tuple[Array, Array]:
        shades, by_value = _side_shades(along, outside, bow, values)
        prior, prior_by_value = _prior_misfit(values)
        return (
            np.hstack([(shades - grey) * weights, prior]),
            np.hstack([by_value * weights[..., None], prior_by_value]),
        )

    solution = least_squares(misfit, _start(grey, weights), steps=40, tolerance=1e-6)
    values = solution.values
    misfit_rms = np.sqrt((solution.residuals[:, :-2] ** 2).sum(1) / weights.sum(1))
    contrast = 2 * values[:, 5]  # white outside: negative would be a white square
    if not np.all((contrast > _LEAST_CONTRAST) & (misfit_rms < _LARGEST_MISFIT * contrast)):
        return None
    outward = np.column_stack([values[:, :2], bow])
    outward[:, 0] -= bow  # the curve is 0 at the side's ends
    return Sides(rough.middles_px, rough.halves_px, outward)


def meeting_points(sides: Sides) -> Array:
    """Intersects each side with the one before: the four corners (4, 2), by Newton's method."""
    before = np.roll(np.arange(4), 1)
    at_start, at_end = -np.ones(4), np.ones(4)
    # Two parameters per corner; the curves are nearly straight, so four steps suffice.
    for _ in range(4):
        on_side, by_start = _point(sides, np.arange(4), at_start)
        on_previous, by_end = _point(sides, before, at_end)
        slopes = np.stack([by_start, -by_end], axis=2)
        step = np.linalg.solve(slopes, (on_side - on_previous)[..., None])[..., 0]
        at_start, at_end = at_start - step[:, 0], at_end - step[:, 1]
    return _point(sides, np.arange(4), at_start)[0]


def corners_covariance(quad_px: Array, sigma_px: float, end_correlation: float) -> Array:
    """Returns the covariance (8, 8) of corners (4, 2) where independently fitted sides meet.

    `sigma_px` is the sigma of a corner across either side, `end_correlation` the correlation of a
    side's two ends.
    """
    root = np.linalg.inv(_offsets_and_slopes(quad_px, end_correlation))
    return np.asarray(sigma_px**2 * root @ root.T)


def _offsets_and_slopes(quad_px: Array, end_correlation: float) -> Array:
    """Returns the matrix (8, 8) from errors of corners (4, 2) to those of their sides.

    Its rows give each side's offset outward, then the difference of its ends, each scaled to unit
    variance where corners have unit variance and a side's two ends correlate by `end_correlation`.
    """
    along = np.roll(quad_px, -1, axis=0) - quad_px
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
    # Sum and difference of a side's ends are independent, with the variances 2 + 2r and 2 - 2r.
    mean = outward / np.sqrt(2 + 2 * end_correlation)
    difference = outward / np.sqrt(2 - 2 * end_correlation)
    matrix = np.zeros((2, 4, 4, 2))
    start, end = np.arange(4), np.array([1, 2, 3, 0])
    matrix[0, start, start], matrix[0, start, end] = mean, mean
    matrix[1, start, start], matrix[1, start, end] = -difference, difference
    return matrix.reshape(8, 8)


def _rough_sides(quad_px: Array, lens: Lens | None) -> Sides:
    """Returns the sides between the corners of a quad, curved by the lens."""
    ends = np.roll(quad_px, -1, axis=0)
    straight = Sides((quad_px + ends) / 2, (ends - quad_px) / 2, np.zeros((4, 3)))
    if lens is None:
        return straight
    # The middle of the straight line in space, seen through the lens, gives the curve's height.
    halfway = (lens.to_directions(quad_px) + lens.to_directions(ends)) / 2
    sagitta = np.sum((lens.to_pixels(halfway) - straight.middles_px) * straight.outward, axis=1)
    bow = -np.where(np.isfinite(sagitta), sagitta, 0.0)
    return Sides(straight.middles_px, straight.halves_px, np.outer(bow, [0.0, 0.0, 1.0]))


def _point(sides: Sides, which: NDArray[np.intp], t: Array) -> tuple[Array, Array]:
    """Returns points at parameters t of sides `which`, and the derivatives by t, (n, 2) each."""
    offset, slope, bow = sides.outward_px[which].T
    outward = sides.outward[which]
    outside = (offset + slope * t + bow * t**2)[:, None] * outward
    point = sides.middles_px[which] + t[:, None] * sides.halves_px[which] + outside
    return point, sides.halves_px[which] + (slope + 2 * bow * t)[:, None] * outward


def _strip(picture: Picture, sides: Sides, side: int, cell_px: float) -> Array | None:
    """Returns the pixels along a side, (3, m): place along it, distance outside, grey level.

    None if the strip leaves the picture.
    """
    reach = float(np.clip(_REACH_CELLS * cell_px, _LEAST_REACH_PX, _LARGEST_REACH_PX))
    middle, half, outward = sides.middles_px[side], sides.halves_px[side], sides.outward[side]
    box = np.abs(half) + reach + 1
    low, high = np.floor(middle - box).astype(int), np.ceil(middle + box).astype(int)
    if np.any(low < 0) or high[0] >= picture.shape[1] or high[1] >= picture.shape[0]:
        return None
    x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
    offsets = np.stack([x, y], axis=-1) - middle
    along, outside = offsets @ half / (half @ half), offsets @ outward
    within = (np.abs(along) < _PART_OF_SIDE) & (np.abs(outside) < reach)
    return np.stack([along[within], outside[within], picture[y[within], x[within]]])


def _padded(strips: list[Array]) -> tuple[Array, Array, Array, Array]:
    """Pads strips to one length, a row each, with weights of 0 for padding."""
    length = max(strip.shape[1] for strip in strips)
    padded = np.zeros((4, len(strips), length))
    for row, strip in enumerate(strips):
        padded[:3, row, : strip.shape[1]] = strip
        padded[3, row, : strip.shape[1]] = 1
    along, outside, grey, weights = padded
    return along, outside, grey, weights


def _start(grey: Array, weights: Array) -> Array:
    """Returns the first values (n, 8) of the fit."""
    start = np.zeros((len(grey), 8))
    start[:, 2] = np.log(_FIRST_BLUR_PX)
    for side, (shades, weight) in enumerate(zip(grey, weights, strict=True)):
        dark, light = np.percentile(shades[weight > 0], (10, 90))
        start[side, 3], start[side, 5] = (dark + light) / 2, (light - dark) / 2
    return start


def _side_shades(along: Array, outside: Array, bow: Array, values: Array) -> tuple[Array, Array]:
    """Returns the shades (n, m) of sides at pixels, and their derivatives (n, m, 8).

    The unknowns: the mean and half the difference of the ends' offsets outward, the logarithm of
    the blur, middle grey and its change along the side, half the contrast and its change, and
    gamma's bend.
    """
    offset, slope, log_blur, middle, drift, half, half_drift, bend = values.T[..., None]
    # The bow is 0 at the side's ends, so offset and slope alone place them.
    distance_px = outside - (offset + slope * along + bow[:, None] * (along**2 - 1))
    light, steepness, by_log_blur = blurred_edge(distance_px, np.exp(np.clip(log_blur, -3.0, 3.0)))
    contrast = half + half_drift * along
    by_light = contrast + 2 * bend * light
    by_value = np.empty((*light.shape, 8))
    by_value[..., 0] = -by_light * steepness
    by_value[..., 1] = by_value[..., 0] * along
    by_value[..., 2] = by_light * by_log_blur
    by_value[..., 3], by_value[..., 4] = 1, along
    by_value[..., 5], by_value[..., 6], by_value[..., 7] = light, light * along, light**2
    return middle + drift * along + contrast * light + bend * light**2, by_value


def _prior_misfit(values: Array) -> tuple[Array, Array]:
    """Returns priors on blur and bend as residuals, (n, 2), with derivatives.

    Near the halo of a camera's sharpening, a free bend could explain an edge one pixel away.
    """
    half = np.maximum(np.abs(values[:, 5]), 1.0)
    blur_scale, bend_scale = _MISFIT_GREY / _BLUR_SIGMA, _MISFIT_GREY / _BEND_SIGMA
    prior = np.stack(
        [
            (values[:, 2] - np.log(_FIRST_BLUR_PX)) * blur_scale,
            (values[:, 7] / half - _USUAL_BEND) * bend_scale,
        ],
        axis=1,
    )
    prior_by_value = np.zeros((len(values), 2, 8))
    prior_by_value[:, 0, 2], prior_by_value[:, 1, 7] = blur_scale, bend_scale / half
    return prior, prior_by_value
