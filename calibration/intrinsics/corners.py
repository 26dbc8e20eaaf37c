"""Fits chessboard corners to their pixels: the crossing of two blurred edges.

The product of two blurred edges models the pixels around the crossing; place, two directions, two
blurs and brightness are adjusted to match. On the rendered lens boards of the benchmarks, corners
are off by 0.008 px (4K) and 0.019 px (1080p behind a colour filter) in root mean square; with
OpenCV's detector it is 0.044 px and 0.067 px, and no window of its `cornerSubPix` did better
(tests/benchmarks).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.edges import as_light, blurred_edge
from calibration.least_squares import Solution, least_squares

Array = NDArray[np.float64]

_FIRST_BLUR_PX = 0.7
_LEAST_RADIUS_PX = 3.0
_LARGEST_RADIUS_PX = 12.0  # more pixels cost time and, against noise, gain little
_LEAST_CONTRAST = 8.0  # grey levels between black and white, of 255
_LARGEST_MISFIT = 0.15  # root mean square residual, as a share of the contrast
_BLUR_WEIGHT, _BEND_WEIGHT = 3.0, 4.0  # grey levels for the blur's logarithm, and for the bend


@dataclass(frozen=True, slots=True, eq=False)
class FittedCorners:
    """Fitted corners, blurs and polarities.

    `corners_px` (n, 2) is NaN where no corner was found; `blur_px` (n, 2) is across the first and
    the second edge; `polarity` (n,) is +1 if the quarter between the two edge directions is white,
    -1 if it is black, 0 if no corner was found.
    """

    corners_px: Array
    blur_px: Array
    polarity: Array

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which corners were found, (n,)."""
        return np.asarray(np.isfinite(self.corners_px).all(axis=1))


def fit_corners(
    picture: NDArray[np.uint8], starts_px: Array, edges: Array, radius_px: Array
) -> FittedCorners:
    """Fits corners expected at `starts_px` (n, 2), to within half of `radius_px` (n,).

    Args:
        picture: Grey, (height, width).
        starts_px: Where the corners are expected, in a frame with (0, 0) the centre of the top-left
            pixel.
        edges: (n, 2, 2): at each corner the directions of its two edges.
        radius_px: Radius around each corner that contains only its four squares.
    """
    radius = np.clip(radius_px, _LEAST_RADIUS_PX, _LARGEST_RADIUS_PX)
    inside = _is_inside(picture, starts_px, _LEAST_RADIUS_PX)
    corners = np.full((len(starts_px), 2), np.nan)
    blur, polarity = np.full((len(starts_px), 2), np.nan), np.zeros(len(starts_px))
    if inside.any():
        fitted = _fit(picture, starts_px[inside], edges[inside], radius[inside])
        corners[inside], blur[inside], polarity[inside] = fitted
    return FittedCorners(corners, blur, polarity)


def _is_inside(
    picture: NDArray[np.uint8], points_px: NDArray[Any], margin_px: float = 0.0
) -> NDArray[np.bool_]:
    """Returns which points (..., 2) lie in the picture, at least `margin_px` from its edges."""
    height, width = picture.shape
    limits = np.array([width, height]) - 1 - margin_px
    # A corner that no marker predicts is NaN, which compares as outside.
    with np.errstate(invalid="ignore"):
        return np.asarray(((points_px >= margin_px) & (points_px <= limits)).all(axis=-1))


def _fit(
    picture: NDArray[np.uint8], starts_px: Array, edges: Array, radius_px: Array
) -> tuple[Array, Array, Array]:
    """Returns the corners (n, 2), NaN where none is found, their blurs (n, 2), polarities (n,)."""
    middles = np.rint(starts_px).astype(np.intp)
    offsets = _disc(int(np.ceil(radius_px.max())))
    at = middles[:, None, :] + offsets
    height, width = picture.shape
    grey = picture[np.clip(at[..., 1], 0, height - 1), np.clip(at[..., 0], 0, width - 1)]
    # Fit in linear light, where blurred edges are symmetric.
    grey = as_light(grey)
    weights = _weights(offsets - (starts_px - middles)[:, None], radius_px)
    # Clipping repeated the picture's border there: these pixels get no weight.
    weights *= _is_inside(picture, at)
    start = _start(grey, starts_px - middles, edges)

    def misfit(values: Array) -> tuple[Array, Array]:
        shades, by_value = _crossing(offsets[None].astype(np.float64), values)
        prior, prior_by_value = _prior_misfit(values)
        return (
            np.hstack([(shades - grey) * weights, prior]),
            np.hstack([by_value * weights[..., None], prior_by_value]),
        )

    solution = least_squares(misfit, start, steps=25, tolerance=1e-5)
    is_good = _is_good(solution, weights, starts_px - middles, radius_px)
    values = solution.values
    corners = np.where(is_good[:, None], values[:, :2] + middles, np.nan)
    # The sign of the contrast says which two quarters are white.
    return corners, np.exp(values[:, 4:6]), np.where(is_good, np.sign(values[:, 7]), 0.0)


def _prior_misfit(values: Array) -> tuple[Array, Array]:
    """Returns priors on blurs and bend as residuals, (n, 3), with small weights.

    They matter only if an edge runs along a row of pixels: its pixels then have one grey level,
    which leaves blur and bend undetermined.
    """
    # The floor keeps the bend's prior finite where there is no contrast.
    half = np.maximum(np.abs(values[:, 7]), 1.0)
    prior = np.empty((len(values), 3))
    prior[:, :2] = (values[:, 4:6] - np.log(_FIRST_BLUR_PX)) * _BLUR_WEIGHT
    prior[:, 2] = values[:, 8] / half * _BEND_WEIGHT
    prior_by_value = np.zeros((len(values), 3, values.shape[1]))
    prior_by_value[:, 0, 4] = prior_by_value[:, 1, 5] = _BLUR_WEIGHT
    prior_by_value[:, 2, 8] = _BEND_WEIGHT / half
    return prior, prior_by_value


def _is_good(
    solution: Solution, weights: Array, starts: Array, radius_px: Array
) -> NDArray[np.bool_]:
    """Returns which fits show a corner: enough contrast, small residuals, near the start."""
    values, pixels = solution.values, weights.shape[1]
    contrast, blur = 2 * np.abs(values[:, 7]), np.exp(values[:, 4:6])
    misfit_rms = np.sqrt((solution.residuals[:, :pixels] ** 2).sum(1) / weights.sum(1))
    # Rejects flat patches, other shapes, and fits that drifted to a neighbouring corner.
    is_good = (contrast > _LEAST_CONTRAST) & (misfit_rms < _LARGEST_MISFIT * contrast)
    is_good &= np.linalg.norm(values[:, :2] - starts, axis=1) < radius_px / 2
    return np.asarray(is_good & (blur < radius_px[:, None] / 2).all(axis=1))


def _disc(radius_px: int) -> NDArray[np.intp]:
    """Returns the offsets (m, 2), x and y, of all pixels in a circle."""
    span = np.arange(-radius_px, radius_px + 1)
    x, y = np.meshgrid(span, span)
    within = x**2 + y**2 <= radius_px**2
    return np.stack([x[within], y[within]], axis=1)


def _weights(offsets: Array, radius_px: Array) -> Array:
    """Returns weights: 1 within the radius, fading over its last pixel to keep the fit smooth."""
    distance = np.linalg.norm(offsets, axis=-1)
    return np.asarray(np.clip(radius_px[:, None] + 0.5 - distance, 0, 1))


def _start(grey: Array, places: Array, edges: Array) -> Array:
    """Returns the first values (n, 9) of the fit."""
    angles = np.arctan2(edges[..., 1], edges[..., 0])
    # Percentiles instead of extremes: single noisy pixels do not set the contrast.
    dark, light = np.percentile(grey, (10, 90), axis=1)
    start = np.zeros((len(grey), 9))
    # The contrast starts at 0, as its sign (the polarity) is unknown: the first step finds it.
    start[:, :2], start[:, 2:4] = places, angles
    start[:, 4:6] = np.log(_FIRST_BLUR_PX)
    start[:, 6] = (dark + light) / 2
    return start


def _crossing(offsets: Array, values: Array) -> tuple[Array, Array]:
    """Returns the shades (n, m) of crossings at pixels (1, m, 2), and derivatives (n, m, 9).

    The unknowns: x, y, the two edges' angles, the logarithms of their blurs, and three shades:
    middle grey, half the contrast, and gamma's bend of the greys between.
    """
    x, y, first, second, first_blur, second_blur, middle, half, bend = values.T[..., None]
    dx, dy = offsets[..., 0] - x, offsets[..., 1] - y
    by_value = np.empty((*dx.shape, 9))
    product, edges = np.ones_like(dx), []
    for angle, log_blur in ((first, first_blur), (second, second_blur)):
        # Signed distance from an edge through (x, y) at this angle.
        across = np.cos(angle) * dy - np.sin(angle) * dx
        light, slope, by_log_blur = blurred_edge(across, np.exp(np.clip(log_blur, -3.0, 3.0)))
        edges.append((light, slope, by_log_blur))
        product = product * light
    # Two edges from -1 to 1 multiply to equal signs in opposite quarters: a chessboard crossing.
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
