"""Fits a tag's whole pattern to its pixels, for its corners and their covariance.

The sides of a 4x4 tag are a third of all its edges, so its inside adds as much information again.
The pattern is rendered as a camera would see it (flat, blurred, then stored with gamma, which pulls
sides inward) and moved until it fits. The residuals give the covariance: neighbouring pixels have
correlated misfits (sharpening, a colour filter, a renderer's ragged edges), so they are summed over
windows of half a cell.

On the six pictures of the shared footage, with four tags each, centres are off by 0.023 and 0.018
px along x or y (uhd-b, hd-b; 0.039 and 0.022 px from the sides alone), tags are rotated by 0.033
and 0.007 px over half a side (0.070 and 0.032 px), and errors are 1.0 and 1.1 times what is stated;
on simulated tables of 1080p and 4K, 0.8 times. Places through these calibrations are off by 0.008
and 0.022 mm; they were by 0.017 and 0.026 mm.

Tried on them without improvement: weighting edges less than plain black and white, with Tukey's
weights (centres off by 0.026 to 0.031 px, uhd-b); light that falls off in a curve; gamma of 1.6 or
1.8; vision's fit of (x, y, heading) to a smaller picture (0.031 and 0.015 px; rotated by 0.061 and
0.009 px), which needs a camera first.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.edges import BLACK_STORED, blurred_edge, stored_light
from calibration.least_squares import least_squares
from calibration.lens import Lens

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_RIM_CELLS = 0.8
"""Width of the white around the tag that is compared."""
_SMOOTHED_PX = 0.7
"""Sigma of the smoothing of pixels, which undoes a camera's sharpening and the artefacts of a
colour filter. With 0, 0.7, 1 and 1.5 px, calibrations of the footage are off by 0.013, 0.008,
0.008, 0.014 mm (uhd-b) and 0.025, 0.022, 0.022, 0.025 mm (hd-b)."""
_FIRST_BLUR_PX = 0.9
_BLUR_RANGE = -2.0, 2.0  # of its logarithm
_WINDOW_CELLS = 0.5
"""Reach of the correlation of residuals: from a quarter to one cell, stated errors agree to a
tenth."""
_LEAST_SIGMA_PX = 0.005
"""Least sigma, however clean the picture: lens, paper and print differ from the model."""
_LEAST_CONTRAST = 8.0
_LEAST_COVERED_MISFIT = 0.25
"""Least misfit, root mean square in a window as a share of the contrast, of an occluder. Ragged
edges reach 0.12."""
_LARGEST_COVERED = 0.3  # as a share of the pixels
_LARGEST_MISFIT = 0.15  # of the contrast, where nothing covers the tag
_MOST_ROUNDS = 3
_HOMOGRAPHY, _BLUR, _GAIN, _BLACK, _ACROSS, _ALONG = slice(0, 8), 8, 9, 10, 11, 12
_UNKNOWNS = 13
_SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@dataclass(frozen=True, slots=True, eq=False)
class FittedPattern:
    """A tag's corners (4, 2), from its top left clockwise, and their covariance (8, 8) in px²."""

    corners_px: Array
    covariance_px2: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """A frame around a tag without lens distortion: `centre` (2,) is its origin, `unit` its scale.

    Its points are directions in front of the camera if the lens is known, else pixels.
    """

    lens: Lens | None
    centre: Array
    unit: float

    @classmethod
    def about(cls, quad_px: Array, lens: Lens | None) -> _Flat:
        """Returns the frame around a quad (4, 2)."""
        quad = quad_px if lens is None else lens.to_directions(quad_px)
        centre = quad.mean(axis=0)
        return cls(lens, centre, float(np.linalg.norm(quad - centre, axis=1).mean()))

    def to_flat(self, points_px: Array) -> Array:
        """Maps points (n, 2) of the picture into the frame; NaN where the lens sees none."""
        points = points_px if self.lens is None else self.lens.to_directions(points_px)
        return np.asarray((points - self.centre) / self.unit)

    def to_px(self, points: Array) -> tuple[Array, Array]:
        """Maps points (n, 2) of the frame to pixels, with the derivatives (n, 2, 2)."""
        flat = self.centre + self.unit * points
        if self.lens is None:
            return flat, np.broadcast_to(self.unit * np.eye(2), (len(points), 2, 2))
        pixels, by_direction = self.lens.to_pixels_with_jacobian(flat)
        return pixels, by_direction * self.unit


@dataclass(frozen=True, slots=True, eq=False)
class _Tag:
    """The pixels on and around a tag, and the pattern that they should show.

    `white` (s + 2, s + 2) is the pattern with its black border and a white rim, 1 where white, the
    top row first; `pixels` (m, 2) are columns and rows, `flat` (m, 2) their places, `grey` (m,)
    their values. A cell is `cell_px` (2,) across and down.
    """

    white: Array
    cell_px: Array
    pixels: NDArray[np.int64]
    flat: Array
    grey: Array

    @property
    def side_cells(self) -> int:
        """The number of cells along a side, black border included."""
        return len(self.white) - 2

    def only(self, is_included: NDArray[np.bool_]) -> _Tag:
        """Returns the tag with some of its pixels."""
        return _Tag(
            self.white,
            self.cell_px,
            self.pixels[is_included],
            self.flat[is_included],
            self.grey[is_included],
        )

    def shades(self, values: Array) -> tuple[Array, Array]:
        """Returns the shades (m,) that its pixels should have, and their derivatives (m, 13).

        The unknowns: the homography from the flat frame to cells, the logarithm of the blur, gain
        (white minus black), black, and the light's slope across and down.
        """
        cells, by_homography = _in_cells(values[_HOMOGRAPHY], self.flat)
        light, by_cells, by_blur = self._light(cells, values[_BLUR])
        stored, by_light = stored_light(light)
        middle = (cells - self.side_cells / 2) / (self.side_cells / 2)
        lit = (stored + BLACK_STORED)[:, None] * middle
        lamp = values[_GAIN] + middle @ values[_ACROSS:]
        by_value = np.empty((len(cells), _UNKNOWNS))
        steepness = (lamp * by_light)[:, None]
        by_value[:, _HOMOGRAPHY] = np.einsum("mi,mih->mh", steepness * by_cells, by_homography)
        by_value[:, _BLUR] = steepness[:, 0] * by_blur
        by_value[:, _GAIN], by_value[:, _BLACK], by_value[:, _ACROSS:] = stored, 1, lit
        shades = values[_BLACK] + values[_GAIN] * stored + lit @ values[_ACROSS:]
        return shades, by_value

    def _light(self, cells: Array, log_blur: float) -> tuple[Array, Array, Array]:
        """Returns the light at places (m, 2) in cells, 0 to 1, by place (m, 2) and by the blur."""
        blur_px = np.exp(np.clip(log_blur, *_BLUR_RANGE))
        across, down = (
            _column_shares(cells[:, axis], self.side_cells, self.cell_px[axis], blur_px)
            for axis in (0, 1)
        )
        # einsum, as threads of a matrix product cost more than they save on so few numbers.
        rows, rows_by_place, rows_by_blur = (
            np.einsum("mc,rc->mr", part, self.white) for part in across
        )
        # A pixel's share of each row times its share of each column, where the cell is white.
        light = np.einsum("mr,mr->m", down[0], rows)
        by_right = np.einsum("mr,mr->m", down[0], rows_by_place)
        by_down = np.einsum("mr,mr->m", down[1], rows)
        by_blur = np.einsum("mr,mr->m", down[0], rows_by_blur)
        by_blur += np.einsum("mr,mr->m", down[2], rows)
        return light, np.column_stack([by_right, by_down]), by_blur


def fit_pattern(
    picture: Picture, quad_px: Array, cells: Array, lens: Lens | None = None
) -> FittedPattern | None:
    """Fits the tag with these inner cells (n, n), 1 where white, near `quad_px` (4, 2).

    `picture` is grey. Returns None if the tag cannot be fitted: it leaves the picture, or something
    covers too much of it.
    """
    flat = _Flat.about(quad_px, lens)
    whole = _cut(picture, quad_px, cells, flat)
    if whole is None:
        return None
    tag, values = whole, _start(whole, flat.to_flat(quad_px))
    for _ in range(_MOST_ROUNDS):
        values = _fitted(tag, values)
        covered = _is_covered(whole, values)
        if values[_GAIN] < _LEAST_CONTRAST or covered.mean() > _LARGEST_COVERED:
            return None
        # The same pixels as before: the fit has converged.
        if np.array_equal(whole.pixels[~covered], tag.pixels):
            break
        tag = whole.only(~covered)
    shades, by_value = tag.shades(values)
    residuals = tag.grey - shades
    if np.sqrt(np.square(residuals).mean()) > _LARGEST_MISFIT * values[_GAIN]:
        return None
    corners_px, by_homography = _corners(values[_HOMOGRAPHY], tag.side_cells, flat)
    # How much each pixel's residual moves the homography.
    influences = np.linalg.solve(by_value.T @ by_value, by_value.T)[_HOMOGRAPHY] * residuals
    window = max(1, round(_WINDOW_CELLS * float(tag.cell_px.mean())))
    covariance = _correlated_covariance(by_homography @ influences, tag.pixels, window)
    return FittedPattern(corners_px, covariance + _LEAST_SIGMA_PX**2 * np.eye(8))


def _cut(picture: Picture, quad_px: Array, cells: Array, flat: _Flat) -> _Tag | None:
    """Cuts out the pixels of a tag and a part of its rim; None if they leave the picture."""
    # First the black border, then the white rim.
    white = np.pad(np.pad(cells, 1), 1, constant_values=1.0)
    side = len(white) - 2
    right, down = quad_px[[1, 2]] - quad_px[[0, 3]], quad_px[[3, 2]] - quad_px[[0, 1]]
    cell_px = np.array([np.linalg.norm(edge, axis=1).mean() for edge in (right, down)]) / side
    # 0.3 cells more than the rim, as pixels are selected by their exact place later.
    margin = 1 + 2 * (_RIM_CELLS + 0.3) / side
    outline = quad_px.mean(axis=0) + margin * (quad_px - quad_px.mean(axis=0))
    low, high = np.floor(outline.min(axis=0)).astype(int), np.ceil(outline.max(axis=0)).astype(int)
    if np.any(low < 0) or high[0] >= picture.shape[1] or high[1] >= picture.shape[0]:
        return None
    x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
    pixels = np.stack([x.ravel(), y.ravel()], axis=1)
    window = picture[low[1] : high[1] + 1, low[0] : high[0] + 1].astype(np.float64)
    grey = np.asarray(cv2.GaussianBlur(window, (0, 0), _SMOOTHED_PX)).ravel()
    places = flat.to_flat(pixels.astype(np.float64))
    in_cells, _ = _in_cells(_homography(flat.to_flat(quad_px), side), places)
    is_near = (np.abs(in_cells - side / 2) < side / 2 + _RIM_CELLS).all(axis=1)
    return _Tag(white, cell_px, pixels, places, grey).only(np.asarray(is_near))


def _start(tag: _Tag, quad: Array) -> Array:
    """Returns the first values of the fit, (13,)."""
    dark, light = np.percentile(tag.grey, (10, 90))
    start = np.zeros(_UNKNOWNS)
    start[_HOMOGRAPHY] = _homography(quad, tag.side_cells)
    start[_BLUR], start[_GAIN], start[_BLACK] = np.log(_FIRST_BLUR_PX), light - dark, dark
    return start


def _fitted(tag: _Tag, start: Array) -> Array:
    """Returns the values that fit the pixels best, (13,)."""

    def misfit(values: Array) -> tuple[Array, Array]:
        shades, by_value = tag.shades(values[0])
        return (shades - tag.grey)[None], by_value[None]

    return np.asarray(least_squares(misfit, start[None], steps=20, tolerance=1e-6).values[0])


def _is_covered(tag: _Tag, values: Array) -> NDArray[np.bool_]:
    """Returns which pixels lie where a whole window of them differs from the tag, (m,)."""
    residuals = tag.grey - tag.shades(values)[0]
    window = max(3, round(_WINDOW_CELLS * float(tag.cell_px.mean())))
    size = (window, window)
    squares, places = _as_pictures(np.square(residuals)[None], tag.pixels, 0)
    # The windows are not full at the tag's edge: the mean is over its pixels only.
    counts, _ = _as_pictures(np.ones((1, len(residuals))), tag.pixels, 0)
    sums, pixels = (
        np.asarray(
            cv2.boxFilter(sheet[0], -1, size, normalize=False, borderType=cv2.BORDER_CONSTANT)
        )
        for sheet in (squares, counts)
    )
    mean = (sums / np.maximum(pixels, 1))[places[:, 1], places[:, 0]]
    return np.asarray(mean > (_LEAST_COVERED_MISFIT * values[_GAIN]) ** 2)


def _homography(quad: Array, side_cells: int) -> Array:
    """Returns the homography (8,) from the corners of a flat quad (4, 2) to those of a tag."""
    corners = side_cells * _SQUARE
    # Two linear equations a corner determine eight entries; the ninth is 1.
    rows, zeros = np.column_stack([quad, np.ones(4)]), np.zeros((4, 3))
    first = np.column_stack([rows, zeros, -corners[:, :1] * quad])
    second = np.column_stack([zeros, rows, -corners[:, 1:] * quad])
    return np.asarray(np.linalg.solve(np.vstack([first, second]), corners.T.ravel()))


def _in_cells(homography: Array, flat: Array) -> tuple[Array, Array]:
    """Maps flat points (m, 2) to cells right of and below the tag's top left corner.

    Also returns the derivatives by the homography, (m, 2, 8).
    """
    ones = np.column_stack([flat, np.ones(len(flat))])
    scale = (flat @ homography[6:] + 1)[:, None]
    cells = ones @ homography[:6].reshape(2, 3).T / scale
    by_homography = np.zeros((len(flat), 2, 8))
    by_homography[:, 0, :3] = by_homography[:, 1, 3:6] = ones / scale
    by_homography[:, :, 6:] = -cells[:, :, None] * (flat / scale)[:, None]
    return cells, by_homography


def _column_shares(
    places: Array, side_cells: int, cell_px: float, blur_px: float
) -> tuple[Array, Array, Array]:
    """Returns the share of each column of cells, rims included, in pixels (m,): (m, s + 2).

    Also returns its derivatives by place, in cells, and by the blur's logarithm.
    """
    distance_px = (places[:, None] - np.arange(side_cells + 1)) * cell_px
    light, slope, by_blur = blurred_edge(distance_px, np.asarray(blur_px))
    zeros = np.zeros((len(places), 1))
    # A cell's share is the difference of two blurred edges; the rim has one edge only.
    shares = -np.diff(np.hstack([zeros + 1, (light + 1) / 2, zeros]), axis=1)
    by_place = -np.diff(np.hstack([zeros, slope * cell_px / 2, zeros]), axis=1)
    return shares, by_place, -np.diff(np.hstack([zeros, by_blur / 2, zeros]), axis=1)


def _corners(homography: Array, side_cells: int, flat: _Flat) -> tuple[Array, Array]:
    """Returns the corners (4, 2) in the picture and their derivatives by the homography."""
    across, down, scale = homography[:3], homography[3:6], np.append(homography[6:], 1.0)
    inverse = np.linalg.inv(np.stack([across, down, scale]))
    points = np.column_stack([side_cells * _SQUARE, np.ones(4)]) @ inverse.T
    points = points[:, :2] / points[:, 2:]
    cells, by_homography = _in_cells(homography, points)
    scale_at_point = (points @ homography[6:] + 1)[:, None, None]
    by_point = (
        np.stack([across[:2], down[:2]]) - cells[:, :, None] * homography[6:]
    ) / scale_at_point
    corners_px, by_flat = flat.to_px(points)
    # The point moves so that it stays on the tag's corner (implicit function theorem).
    by_homography_px = -by_flat @ np.linalg.solve(by_point, by_homography)
    return corners_px, np.asarray(by_homography_px.reshape(8, 8))


def _correlated_covariance(influences: Array, pixels: NDArray[np.int64], window: int) -> Array:
    """Returns the covariance (k, k) of sums of influences (k, m) with errors correlated in windows.

    Windows lie everywhere, so that the assumed correlation of two pixels falls with their distance
    (W. K. Newey, K. D. West 1987, in two dimensions).
    """
    # With a margin, so that windows count that overlap the tag only in part.
    pictures, _ = _as_pictures(influences, pixels, window)
    sums = [
        cv2.boxFilter(sheet, -1, (window, window), normalize=False, borderType=cv2.BORDER_CONSTANT)
        for sheet in pictures
    ]
    # Each pixel is in window² windows.
    flat = np.reshape(sums, (len(influences), -1))
    return np.asarray(flat @ flat.T / window**2)


def _as_pictures(
    values: Array, pixels: NDArray[np.int64], margin: int
) -> tuple[Array, NDArray[np.int64]]:
    """Lays values (k, m) of pixels (m, 2) out as k small pictures; returns the pixels' places."""
    places = pixels - pixels.min(axis=0) + margin
    across, down = places.max(axis=0) + 1 + margin
    pictures = np.zeros((len(values), down, across))
    pictures[:, places[:, 1], places[:, 0]] = values
    return pictures, places
