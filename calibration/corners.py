"""Where two edges cross: a chessboard's corner, fitted to its pixels.

Two blurred edges, multiplied, are laid over the pixels around the crossing, and the place, the two
directions, the two blurs and the brightness are turned until the picture is explained. On the
rendered boards that tablecam is measured against this is right to about 0.01 to 0.03 px, where
OpenCV's `cornerSubPix` stays at 0.05 to 0.07 px with any window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.edges import blurred_edge
from calibration.least_squares import Solution, least_squares

Array = NDArray[np.float64]

_FIRST_BLUR_PX = 0.7
_LEAST_RADIUS_PX = 3.0
_LARGEST_RADIUS_PX = 12.0  # more pixels cost time and, against noise, gain little
_LEAST_CONTRAST = 8.0  # grey levels between black and white, of 255
_LARGEST_MISFIT = 0.15  # root mean square of what is left over, as a share of the contrast
_ENOUGH_TO_COMPARE = 8


@dataclass(frozen=True, slots=True, eq=False)
class FittedCorners:
    """Corners as their pixels show them.

    `corners_px` (n, 2), nan where no corner was found; `blur_px` (n, 2) across the first and the
    second edge; `polarity` (n,), +1 where the quarter between the two edge directions is white,
    -1 where it is black.
    """

    corners_px: Array
    blur_px: Array
    polarity: Array

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which corners are there, (n,)."""
        return np.asarray(np.isfinite(self.corners_px).all(axis=1))


def fit_corners(
    picture: NDArray[np.uint8], starts_px: Array, edges: Array, radius_px: Array
) -> FittedCorners:
    """Fit corners that are expected at `starts_px` (n, 2), to within a third of `radius_px` (n,).

    Args:
        picture: Grey, (height, width).
        starts_px: Where the corners are expected, in a frame with (0, 0) the centre of the
            top-left pixel.
        edges: (n, 2, 2): at each corner the directions of its two edges.
        radius_px: How far around each corner there is nothing but its four squares.
    """
    radius = np.clip(radius_px, _LEAST_RADIUS_PX, _LARGEST_RADIUS_PX)
    inside = _is_inside(picture, starts_px, _LEAST_RADIUS_PX)
    corners = np.full((len(starts_px), 2), np.nan)
    blur, polarity = np.full((len(starts_px), 2), np.nan), np.zeros(len(starts_px))
    if inside.any():
        found = _fit(picture, starts_px[inside], edges[inside], radius[inside])
        corners[inside], blur[inside], polarity[inside] = found
    return FittedCorners(corners, blur, polarity)


def _is_inside(
    picture: NDArray[np.uint8], points_px: NDArray[Any], margin_px: float = 0.0
) -> NDArray[np.bool_]:
    height, width = picture.shape
    limits = np.array([width, height]) - 1 - margin_px
    with np.errstate(invalid="ignore"):
        return np.asarray(((points_px >= margin_px) & (points_px <= limits)).all(axis=-1))


def _fit(
    picture: NDArray[np.uint8], starts_px: Array, edges: Array, radius_px: Array
) -> tuple[Array, Array, Array]:
    middles = np.rint(starts_px).astype(np.intp)
    offsets = _disc(int(np.ceil(radius_px.max())))
    at = middles[:, None, :] + offsets
    height, width = picture.shape
    grey = picture[np.clip(at[..., 1], 0, height - 1), np.clip(at[..., 0], 0, width - 1)]
    grey = grey.astype(np.float64)
    weights = _weights(offsets - (starts_px - middles)[:, None], radius_px)
    weights *= _is_inside(picture, at)
    patches = _Patches(grey, weights, offsets.astype(np.float64))
    start = _start(grey, starts_px - middles, edges)
    solution = patches.solve(start, _ANY_LOOK)
    good = _is_good(solution, weights, starts_px - middles, radius_px)
    if good.sum() >= _ENOUGH_TO_COMPARE:
        solution = patches.solve(solution.values, _common_look(solution, weights, good))
        good &= _is_good(solution, weights, starts_px - middles, radius_px)
    values = solution.values
    corners = np.where(good[:, None], values[:, :2] + middles, np.nan)
    return corners, np.exp(values[:, 4:6]), np.where(good, np.sign(values[:, 7]), 0.0)


@dataclass(frozen=True, slots=True)
class _Look:
    """What the corners of one picture share, and how far they may differ from it.

    The blur's logarithm, gamma's bend as a share of half the contrast, and the misfit of pixels in
    grey levels.
    """

    log_blur: float
    bend: float
    noise: float
    log_blur_spread: float = 0.1
    bend_spread: float = 0.05


_ANY_LOOK = _Look(np.log(_FIRST_BLUR_PX), 0.0, noise=2.0, log_blur_spread=0.7, bend_spread=0.5)


@dataclass(frozen=True, slots=True, eq=False)
class _Patches:
    """The pixels around n corners: `grey` (n, m) and `weights` (n, m) at `offsets` (m, 2)."""

    grey: Array
    weights: Array
    offsets: Array

    def solve(self, start: Array, look: _Look) -> Solution:
        """The nine unknowns of each corner, held near the look where the pixels are silent."""

        def misfit(values: Array) -> tuple[Array, Array]:
            shades, by_value = _crossing(self.offsets[None], values)
            residuals = (shades - self.grey) * self.weights
            by_value *= self.weights[..., None]
            held, by_held = _held_near(look, values)
            return np.hstack([residuals, held]), np.hstack([by_value, by_held])

        return least_squares(misfit, start, steps=25, tolerance=1e-5)


def _held_near(look: _Look, values: Array) -> tuple[Array, Array]:
    """How far each corner looks unlike the rest, (n, 3), in the size of the pixels' misfits.

    Where an edge runs along a row of pixels only one row is grey, and a shift, a blur and a bend
    look the same in it: without this such corners are wrong by up to 0.2 px in a sharp picture.
    """
    half = np.maximum(np.abs(values[:, 7]), 1.0)
    blur_scale = look.noise / look.log_blur_spread
    bend_scale = look.noise / look.bend_spread
    held = np.empty((len(values), 3))
    held[:, :2] = (values[:, 4:6] - look.log_blur) * blur_scale
    held[:, 2] = (values[:, 8] / half - look.bend) * bend_scale
    by_held = np.zeros((len(values), 3, values.shape[1]))
    by_held[:, 0, 4] = by_held[:, 1, 5] = blur_scale
    by_held[:, 2, 8] = bend_scale / half
    return held, by_held


def _common_look(solution: Solution, weights: Array, good: NDArray[np.bool_]) -> _Look:
    values, spread = solution.values[good], solution.covariance[good]
    noise = np.sqrt(np.median((solution.residuals[good] ** 2).sum(1) / weights[good].sum(1)))
    variances = np.diagonal(spread, axis1=1, axis2=2)
    log_blur = _weighted_median(values[:, 4:6].ravel(), 1 / variances[:, 4:6].ravel())
    half = np.abs(values[:, 7])
    bend = _weighted_median(values[:, 8] / half, half**2 / variances[:, 8])
    return _Look(log_blur, bend, float(noise))


def _weighted_median(values: Array, weights: Array) -> float:
    usable = np.isfinite(weights) & (weights > 0)
    order = np.argsort(values[usable])
    total = np.cumsum(weights[usable][order])
    return float(values[usable][order][np.searchsorted(total, total[-1] / 2)])


def _is_good(
    solution: Solution, weights: Array, starts: Array, radius_px: Array
) -> NDArray[np.bool_]:
    values, pixels = solution.values, weights.shape[1]
    contrast, blur = 2 * np.abs(values[:, 7]), np.exp(values[:, 4:6])
    left_over = np.sqrt((solution.residuals[:, :pixels] ** 2).sum(1) / weights.sum(1))
    good = (contrast > _LEAST_CONTRAST) & (left_over < _LARGEST_MISFIT * contrast)
    good &= np.linalg.norm(values[:, :2] - starts, axis=1) < radius_px / 2
    return np.asarray(good & (blur < radius_px[:, None] / 2).all(axis=1))


def _disc(radius_px: int) -> NDArray[np.intp]:
    """The offsets (m, 2), x and y, of all pixels within a circle."""
    span = np.arange(-radius_px, radius_px + 1)
    x, y = np.meshgrid(span, span)
    within = x**2 + y**2 <= radius_px**2
    return np.stack([x[within], y[within]], axis=1)


def _weights(offsets: Array, radius_px: Array) -> Array:
    """1 within the radius, fading over its last pixel, so that no pixel switches on or off."""
    distance = np.linalg.norm(offsets, axis=-1)
    return np.asarray(np.clip(radius_px[:, None] + 0.5 - distance, 0, 1))


def _start(grey: Array, places: Array, edges: Array) -> Array:
    angles = np.arctan2(edges[..., 1], edges[..., 0])
    dark, light = np.percentile(grey, (10, 90), axis=1)
    start = np.zeros((len(grey), 9))
    start[:, :2], start[:, 2:4] = places, angles
    start[:, 4:6] = np.log(_FIRST_BLUR_PX)
    start[:, 6] = (dark + light) / 2
    return start


def _crossing(offsets: Array, values: Array) -> tuple[Array, Array]:
    """The shades (n, m) of crossings at pixels (1, m, 2), and their derivatives (n, m, 9).

    The unknowns: x, y, the two edges' angles, the logarithms of their blurs, and three shades:
    middle grey, half the contrast, and the bend that gamma gives to what lies between.
    """
    x, y, first, second, first_blur, second_blur, middle, half, bend = values.T[..., None]
    dx, dy = offsets[..., 0] - x, offsets[..., 1] - y
    by_value = np.empty((*dx.shape, 9))
    product, edges = np.ones_like(dx), []
    for angle, log_blur in ((first, first_blur), (second, second_blur)):
        across = np.cos(angle) * dy - np.sin(angle) * dx
        light, slope, by_log_blur = blurred_edge(across, np.exp(np.clip(log_blur, -3.0, 3.0)))
        edges.append((light, slope, by_log_blur))
        product = product * light
    by_product = half + 2 * bend * product
    by_value[..., :2] = 0
    for edge, (angle, other) in enumerate(((first, edges[1][0]), (second, edges[0][0]))):
        _, slope, by_log_blur = edges[edge]
        by_across = by_product * other * slope
        by_value[..., 0] += by_across * np.sin(angle)
        by_value[..., 1] -= by_across * np.cos(angle)
        by_value[..., 2 + edge] = -by_across * (np.cos(angle) * dx + np.sin(angle) * dy)
        by_value[..., 4 + edge] = by_product * other * by_log_blur
    by_value[..., 6], by_value[..., 7], by_value[..., 8] = 1, product, product**2
    return middle + half * product + bend * product**2, by_value
