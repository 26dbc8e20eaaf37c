"""Printed black and white, seen through a blurring lens: tags and boards without any raster.

A print is a grid of cells that are black or white. Blurred by a Gaussian, each edge is an error
function, so the light at a point follows exactly from the point's place on the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.simulate.rays import PIXEL_CENTRE, PIXEL_SAMPLES, Array, Box, pixel_means, plane_map

_REACH = 4.5
"""Standard deviations beyond which a blurred edge is taken to be over: 3e-6 of its step."""
_STEPS = np.linspace(-_REACH, _REACH, 1801)
_EDGE = np.array([0.5 * (1 + math.erf(step / math.sqrt(2))) for step in _STEPS])


_PIXEL_SPREAD_PX = math.sqrt(1 / 12)
"""One standard deviation of a pixel's own width."""


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """A grid of cells that lies on a plane: `height_mm` above the table, its middle at `middle_mm`.

    `right_mm`, `down_mm` (2,) are directions of length 1, at right angles; `across_mm`,
    `along_mm` are where the cells' edges lie along them, from the middle. `cells`
    (rows, columns) are 1 where it is white.
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
        """The corners (4, 3) of the whole: top left, top right, bottom right, bottom left."""
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
        """The pixels that it reaches, and so much more on each side."""
        return Box.around(camera.to_image(self.corners_mm), margin_px)


def seen_print(
    camera: Camera, sheet: Print, box: Box, blur_px: float, *, is_quick: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How much of each pixel of a box the print fills, and how much its white does.

    Both (rows, columns), 0 to 1; `blur_px` is the lens's, one standard deviation. Quickly, a
    pixel's own square is taken for a bit more blur: a quarter of the work, and no edge is moved.
    """
    samples = PIXEL_CENTRE if is_quick else PIXEL_SAMPLES
    blur_px = math.hypot(blur_px, _PIXEL_SPREAD_PX) if is_quick else blur_px
    count = len(samples)
    x_mm, y_mm = plane_map(camera, box, sheet.height_mm, samples)
    x_mm, y_mm = x_mm - sheet.middle_mm[0], y_mm - sheet.middle_mm[1]
    u = x_mm * sheet.right_mm[0] + y_mm * sheet.right_mm[1]
    v = x_mm * sheet.down_mm[0] + y_mm * sheet.down_mm[1]
    across = _cell_weights(u, sheet.across_mm, blur_px * _steepness(u, count))
    along = _cell_weights(v, sheet.along_mm, blur_px * _steepness(v, count))
    covered = across.sum(axis=-1) * along.sum(axis=-1)
    white = ((along @ sheet.cells) * across).sum(axis=-1)
    return (
        pixel_means(covered, count).astype(np.float32),
        pixel_means(white, count).astype(np.float32),
    )


def _cell_weights(places_mm: Array, edges_mm: Array, blur_mm: float) -> Array:
    """How much of each cell reaches a place, (..., cells), by the blur along one direction."""
    steps = np.interp((places_mm[..., None] - edges_mm) / blur_mm, _STEPS, _EDGE)
    return np.asarray(steps[..., :-1] - steps[..., 1:])


def _steepness(values: Array, count: int) -> float:
    """How much a coordinate changes over one pixel, about the middle of a patch."""
    rows, columns = values.shape[0] // 2, values.shape[1] // 2
    down = (values[-1, columns] - values[0, columns]) / (values.shape[0] / count - 1)
    across = (values[rows, -1] - values[rows, 0]) / (values.shape[1] / count - 1)
    return math.hypot(down, across)
