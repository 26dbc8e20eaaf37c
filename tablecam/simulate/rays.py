"""Where each pixel of a picture looks on a plane: the renderer's exact geometry, made quick.

A ray map is so smooth that inverting the camera at a few pixels and passing a polynomial through
them is exact to far below a thousandth of a pixel, whatever the lens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera

Array = NDArray[np.float64]

_NODES = np.cos((2 * np.arange(6) + 1) * np.pi / 12)
"""Chebyshev's places for a polynomial of degree five on [-1, 1]."""
_FROM_NODES = np.linalg.inv(np.vander(_NODES, increasing=True))
_LARGEST_PATCH_PX = 160
"""Beyond this a lens's rays are cut into several patches."""

PIXEL_SAMPLES = np.array([-0.5, 0.5]) / np.sqrt(3.0)
"""Gauss-Legendre's two places in a pixel: their mean is the mean over a blurred picture's pixel."""
PIXEL_CENTRE = np.zeros(1)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of whole pixels: columns left..right-1, rows top..bottom-1."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def around(cls, points_px: ArrayLike, margin_px: float = 0.0) -> Box:
        """The smallest box that holds points (n, 2), and so much more on each side."""
        points = np.asarray(points_px, dtype=np.float64)
        low = np.floor(points.min(axis=0) - margin_px).astype(int)
        high = np.ceil(points.max(axis=0) + margin_px).astype(int) + 1
        return cls(int(low[0]), int(low[1]), int(high[0]), int(high[1]))

    @property
    def width(self) -> int:
        """Columns in the box; 0 when it is empty."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """Rows in the box; 0 when it is empty."""
        return max(0, self.bottom - self.top)

    @property
    def is_empty(self) -> bool:
        """Whether there is no pixel in the box."""
        return self.width == 0 or self.height == 0

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as an index into a picture: rows, columns."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def within(self, outer: Box) -> tuple[slice, slice]:
        """The box as an index into a patch that covers `outer`."""
        return (
            slice(self.top - outer.top, self.bottom - outer.top),
            slice(self.left - outer.left, self.right - outer.left),
        )

    def clipped(self, other: Box) -> Box:
        """What two boxes share; empty when they share nothing."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def joined(self, other: Box) -> Box:
        """The smallest box around two."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def tiles(self, size_px: int) -> Iterator[Box]:
        """The box in pieces of at most `size_px` a side."""
        for top in range(self.top, self.bottom, size_px):
            for left in range(self.left, self.right, size_px):
                yield Box(
                    left, top, min(left + size_px, self.right), min(top + size_px, self.bottom)
                )


def plane_map(
    camera: Camera, box: Box, height_mm: float = 0.0, samples: Array = PIXEL_CENTRE
) -> Array:
    """Where the pixels of a box look on the plane `height_mm` above the table.

    `samples` (k,) are places in a pixel, from its centre, along x and y alike. Returns
    (2, k * rows, k * columns): x_mm and y_mm, the samples of one pixel side by side. Pixels that
    look past the plane are nan.
    """
    if max(box.width, box.height) <= _LARGEST_PATCH_PX:
        return _patch_map(camera, box, height_mm, samples)
    count = len(samples)
    found = np.empty((2, count * box.height, count * box.width))
    for tile in box.tiles(_LARGEST_PATCH_PX):
        rows, columns = tile.within(box)
        target = (
            slice(None),
            slice(count * rows.start, count * rows.stop),
            slice(count * columns.start, count * columns.stop),
        )
        found[target] = _patch_map(camera, tile, height_mm, samples)
    return found


def pixel_means(values: Array, count: int) -> Array:
    """The mean (rows, columns) over the `count` x `count` samples of each pixel."""
    if count == 1:
        return values
    rows, columns = values.shape[0] // count, values.shape[1] // count
    means: Array = values.reshape(rows, count, columns, count).mean(axis=(1, 3))
    return means


def _patch_map(camera: Camera, box: Box, height_mm: float, samples: Array) -> Array:
    middle = np.array([box.left + box.right - 1, box.top + box.bottom - 1]) / 2
    reach = max(box.width, box.height) / 2
    grid_x, grid_y = np.meshgrid(_NODES * reach + middle[0], _NODES * reach + middle[1])
    nodes = np.stack([grid_x.ravel(), grid_y.ravel()], axis=-1)
    places = camera.to_table(nodes, height_mm).T.reshape(2, len(_NODES), len(_NODES))
    coefficients = _FROM_NODES @ places @ _FROM_NODES.T
    across = _powers(np.arange(box.left, box.right), samples, middle[0], reach)
    down = _powers(np.arange(box.top, box.bottom), samples, middle[1], reach)
    return np.asarray(down @ coefficients @ across.T)


def _powers(pixels: NDArray[np.int_], samples: Array, middle: float, reach: float) -> Array:
    places = ((pixels[:, None] + samples).ravel() - middle) / reach
    return np.vander(places, len(_NODES), increasing=True)
