"""A tag's four sides, each fitted to the pixels along it, bent as the lens bends it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.edges import blurred_edge
from calibration.least_squares import least_squares
from calibration.lens import Lens

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_REACH_CELLS = 0.8  # within a tag's border, and within the white around it
_LARGEST_REACH_PX = 6.0
_LEAST_REACH_PX = 1.5
_PART_OF_SIDE = 0.85  # its ends are rounded by blur
_FIRST_BLUR_PX = 0.7
_BLUR_SPREAD = 0.5
_USUAL_BEND, _BEND_SPREAD = -0.2, 0.15  # gamma's, as a share of half the contrast
_MISFIT_LEVELS = 40.0  # what sharpening leaves, grown as neighbouring pixels' misfits are alike
_LEAST_CONTRAST = 8.0
_LARGEST_MISFIT = 0.15  # of the contrast


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Four sides in the order of their corners, from the top left clockwise.

    Side i runs from t = -1 to t = 1 along `middles_px` (4, 2) plus t times `halves_px` (4, 2), and
    lies beside that by `outward_px` (4, 3): the polynomial 1, t, t² in pixels, outward positive.
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
    """The sides of the dark square near `quad_px` (4, 2) in a grey picture.

    A side is as bent as the lens bends it there, straight without one: to let each side bend as
    its pixels like it would leave its ends at the mercy of noise.
    None where a side cannot be fitted: it leaves the picture, or something covers it.
    """
    rough = _rough_sides(quad_px, lens)
    bow = rough.outward_px[:, 2]
    strips = [_strip(picture, rough, side, cell_px) for side in range(4)]
    if any(strip is None or strip.shape[1] < 30 for strip in strips):
        return None
    along, beside, grey, weights = _padded([strip for strip in strips if strip is not None])

    def misfit(values: Array) -> tuple[Array, Array]:
        shades, by_value = _side_shades(along, beside, bow, values)
        held, by_held = _held(values)
        return (
            np.hstack([(shades - grey) * weights, held]),
            np.hstack([by_value * weights[..., None], by_held]),
        )

    solution = least_squares(misfit, _start(grey, weights), steps=40, tolerance=1e-6)
    values = solution.values
    left_over = np.sqrt((solution.residuals[:, :-2] ** 2).sum(1) / weights.sum(1))
    contrast = 2 * values[:, 5]  # white outside: negative would be a white square
    if not np.all((contrast > _LEAST_CONTRAST) & (left_over < _LARGEST_MISFIT * contrast)):
        return None
    outward = np.column_stack([values[:, :2], bow])
    outward[:, 0] -= bow  # a bow is nothing at the side's ends
    return Sides(rough.middles_px, rough.halves_px, outward)


def meeting_points(sides: Sides) -> Array:
    """Where each side meets the one before it: the four corners (4, 2), by Newton's method."""
    before = np.roll(np.arange(4), 1)
    at_start, at_end = -np.ones(4), np.ones(4)
    for _ in range(4):
        here, by_start = _point(sides, np.arange(4), at_start)
        there, by_end = _point(sides, before, at_end)
        slopes = np.stack([by_start, -by_end], axis=2)
        step = np.linalg.solve(slopes, (here - there)[..., None])[..., 0]
        at_start, at_end = at_start - step[:, 0], at_end - step[:, 1]
    return _point(sides, np.arange(4), at_start)[0]


def corners_covariance(quad_px: Array, sigma_px: float, ends_alike: float) -> Array:
    """The covariance (8, 8) of corners (4, 2) where sides meet that err each for itself.

    `sigma_px` is one standard deviation of a corner across either side, `ends_alike` the
    correlation of a side's two ends.
    """
    root = np.linalg.inv(_offsets_and_slopes(quad_px, ends_alike))
    return np.asarray(sigma_px**2 * root @ root.T)


def _offsets_and_slopes(quad_px: Array, ends_alike: float) -> Array:
    """What makes of errors of corners (4, 2) those of their sides, (8, 8).

    First how far outward each side lies, then how far its ends lie apart, each in units of what it
    has where corners have unit variance and the two ends of a side the correlation `ends_alike`.
    """
    along = np.roll(quad_px, -1, axis=0) - quad_px
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
    one = outward / np.sqrt(2 + 2 * ends_alike)
    other = outward / np.sqrt(2 - 2 * ends_alike)
    matrix = np.zeros((2, 4, 4, 2))
    start, end = np.arange(4), np.array([1, 2, 3, 0])
    matrix[0, start, start], matrix[0, start, end] = one, one
    matrix[1, start, start], matrix[1, start, end] = -other, other
    return matrix.reshape(8, 8)


def _rough_sides(quad_px: Array, lens: Lens | None) -> Sides:
    ends = np.roll(quad_px, -1, axis=0)
    straight = Sides((quad_px + ends) / 2, (ends - quad_px) / 2, np.zeros((4, 3)))
    if lens is None:
        return straight
    halfway = (lens.to_directions(quad_px) + lens.to_directions(ends)) / 2
    sagitta = np.sum((lens.to_pixels(halfway) - straight.middles_px) * straight.outward, axis=1)
    bow = -np.where(np.isfinite(sagitta), sagitta, 0.0)
    return Sides(straight.middles_px, straight.halves_px, np.outer(bow, [0.0, 0.0, 1.0]))


def _point(sides: Sides, which: NDArray[np.intp], t: Array) -> tuple[Array, Array]:
    offset, slope, bow = sides.outward_px[which].T
    outward = sides.outward[which]
    beside = (offset + slope * t + bow * t**2)[:, None] * outward
    point = sides.middles_px[which] + t[:, None] * sides.halves_px[which] + beside
    return point, sides.halves_px[which] + (slope + 2 * bow * t)[:, None] * outward


def _strip(picture: Picture, sides: Sides, side: int, cell_px: float) -> Array | None:
    """The pixels along a side, (3, m): how far along it, how far outside, how light.

    None where the strip leaves the picture.
    """
    reach = float(np.clip(_REACH_CELLS * cell_px, _LEAST_REACH_PX, _LARGEST_REACH_PX))
    middle, half, outward = sides.middles_px[side], sides.halves_px[side], sides.outward[side]
    box = np.abs(half) + reach + 1
    low, high = np.floor(middle - box).astype(int), np.ceil(middle + box).astype(int)
    if np.any(low < 0) or high[0] >= picture.shape[1] or high[1] >= picture.shape[0]:
        return None
    x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
    offsets = np.stack([x, y], axis=-1) - middle
    along, beside = offsets @ half / (half @ half), offsets @ outward
    within = (np.abs(along) < _PART_OF_SIDE) & (np.abs(beside) < reach)
    return np.stack([along[within], beside[within], picture[y[within], x[within]]])


def _padded(strips: list[Array]) -> tuple[Array, Array, Array, Array]:
    """Strips of different lengths as one array a row, and weights: 0 where there is no pixel."""
    length = max(strip.shape[1] for strip in strips)
    padded = np.zeros((4, len(strips), length))
    for row, strip in enumerate(strips):
        padded[:3, row, : strip.shape[1]] = strip
        padded[3, row, : strip.shape[1]] = 1
    along, beside, grey, weights = padded
    return along, beside, grey, weights


def _start(grey: Array, weights: Array) -> Array:
    start = np.zeros((len(grey), 8))
    start[:, 2] = np.log(_FIRST_BLUR_PX)
    for side, (shades, weight) in enumerate(zip(grey, weights, strict=True)):
        dark, light = np.percentile(shades[weight > 0], (10, 90))
        start[side, 3], start[side, 5] = (dark + light) / 2, (light - dark) / 2
    return start


def _side_shades(along: Array, beside: Array, bow: Array, values: Array) -> tuple[Array, Array]:
    """The shades (n, m) of sides at pixels, and their derivatives (n, m, 8).

    The unknowns: how far outward the ends lie, on average and in half their difference, the
    logarithm of the blur, middle grey and how it changes along the side, half the contrast and how
    that changes, and gamma's bend.
    """
    offset, slope, log_blur, middle, drift, half, half_drift, bend = values.T[..., None]
    from_side = beside - (offset + slope * along + bow[:, None] * (along**2 - 1))
    light, steepness, by_log_blur = blurred_edge(from_side, np.exp(np.clip(log_blur, -3.0, 3.0)))
    contrast = half + half_drift * along
    by_light = contrast + 2 * bend * light
    by_value = np.empty((*light.shape, 8))
    by_value[..., 0] = -by_light * steepness
    by_value[..., 1] = by_value[..., 0] * along
    by_value[..., 2] = by_light * by_log_blur
    by_value[..., 3], by_value[..., 4] = 1, along
    by_value[..., 5], by_value[..., 6], by_value[..., 7] = light, light * along, light**2
    return middle + drift * along + contrast * light + bend * light**2, by_value


def _held(values: Array) -> tuple[Array, Array]:
    """How far blur and bend are from the usual, (n, 2).

    Beside the halo of a camera's sharpening, a wild bend could explain an edge a pixel away.
    """
    half = np.maximum(np.abs(values[:, 5]), 1.0)
    blur_scale, bend_scale = _MISFIT_LEVELS / _BLUR_SPREAD, _MISFIT_LEVELS / _BEND_SPREAD
    held = np.stack(
        [
            (values[:, 2] - np.log(_FIRST_BLUR_PX)) * blur_scale,
            (values[:, 7] / half - _USUAL_BEND) * bend_scale,
        ],
        axis=1,
    )
    by_held = np.zeros((len(values), 2, 8))
    by_held[:, 0, 2], by_held[:, 1, 7] = blur_scale, bend_scale / half
    return held, by_held
