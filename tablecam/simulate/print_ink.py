"""Renders printed tags and boards, seen through a blurring lens, without rasterising them.

A print is a grid of black and white cells. A Gaussian blur turns each edge into an error function,
so the light at a point follows exactly from its place on the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.simulate.rays import PIXEL_CENTRE, PIXEL_SAMPLES, Array, Box, pixel_means, plane_map

_REACH = 4.5
"""Standard deviations at which a blurred edge ends: 3e-6 of its step remain."""
_STEPS = np.linspace(-_REACH, _REACH, 1801)
_EDGE = np.array([0.5 * (1 + math.erf(step / math.sqrt(2))) for step in _STEPS])


_PIXEL_SPREAD_PX = math.sqrt(1 / 12)
"""The standard deviation of a uniform pixel."""


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """A grid of cells on the plane `height_mm` above the table, centred at `middle_mm`.

    `right_mm` and `down_mm` (2,) are orthogonal unit vectors; `across_mm` and `along_mm` are the
    positions of the cells' edges along them, from the middle. `cells` (rows, columns) are 1 for
    white.
    """

    middle_mm: Array
    right_mm: Array
    down_mm: Array
    across_mm: Array
    along_mm: Array
    cells: Array
    height_mm: float = 0.0

    @property
    def corners_mm(self) -> Array:
        """The corners (4, 3) of the print: top left, top right, bottom right, bottom left."""
        ends = [
            self.middle_mm + self.right_mm * across + self.down_mm * along
            for across, along in (
                (self.across_mm[0], self.along_mm[0]),
                (self.across_mm[-1], self.along_mm[0]),
                (self.across_mm[-1], self.along_mm[-1]),
                (self.across_mm[0], self.along_mm[-1]),
            )
        ]
        return np.column_stack([ends, np.full(4, self.height_mm)])

    def box(self, camera: Camera, margin_px: float) -> Box:
        """Returns the box of pixels that it covers, with a margin on each side."""
        return Box.around(camera.to_image(self.corners_mm), margin_px)


def seen_print(
    camera: Camera, sheet: Print, box: Box, blur_px: float, *, is_quick: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns the share of each pixel of a box that the print covers, and that its white covers.

    Both are (rows, columns), 0 to 1; `blur_px` is the standard deviation of the lens's blur.
    """
    samples = PIXEL_CENTRE if is_quick else PIXEL_SAMPLES
    # The quick way treats the pixel's square as more blur: a quarter of the work, no edge moves.
    blur_px = math.hypot(blur_px, _PIXEL_SPREAD_PX) if is_quick else blur_px
    count = len(samples)
    x_mm, y_mm = plane_map(camera, box, sheet.height_mm, samples)
    x_mm, y_mm = x_mm - sheet.middle_mm[0], y_mm - sheet.middle_mm[1]
    u = x_mm * sheet.right_mm[0] + y_mm * sheet.right_mm[1]
    v = x_mm * sheet.down_mm[0] + y_mm * sheet.down_mm[1]
    across = _cell_weights(u, sheet.across_mm, blur_px * _steepness(u, count))
    along = _cell_weights(v, sheet.along_mm, blur_px * _steepness(v, count))
    covered = across.sum(axis=-1) * along.sum(axis=-1)
    # The blur is separable, so two small products replace a 2-D convolution.
    white = ((along @ sheet.cells) * across).sum(axis=-1)
    return (
        pixel_means(covered, count).astype(np.float32),
        pixel_means(white, count).astype(np.float32),
    )


def _cell_weights(places_mm: Array, edges_mm: Array, blur_mm: float) -> Array:
    """Returns the weight of each cell at each point, (..., cells), blurred in one direction."""
    steps = np.interp((places_mm[..., None] - edges_mm) / blur_mm, _STEPS, _EDGE)
    # A cell's weight is the difference of the blurred edges on its two sides.
    return np.asarray(steps[..., :-1] - steps[..., 1:])


def _steepness(values: Array, count: int) -> float:
    """Returns the change of a coordinate per pixel, at the middle of a patch."""
    rows, columns = values.shape[0] // 2, values.shape[1] // 2
    # Each pixel has `count` samples along an axis.
    down = (values[-1, columns] - values[0, columns]) / (values.shape[0] / count - 1)
    across = (values[rows, -1] - values[rows, 0]) / (values.shape[1] / count - 1)
    return math.hypot(down, across)
