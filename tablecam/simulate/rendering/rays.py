"""Maps pixels to points of a plane, exactly and fast, for the renderer.

A ray map is so smooth that a polynomial through a few exactly inverted pixels is accurate to far
below a thousandth of a pixel, for any lens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera

Array = NDArray[np.float64]

_NODES = np.cos((2 * np.arange(6) + 1) * np.pi / 12)
"""Chebyshev nodes of a polynomial of degree five on [-1, 1]."""
_FROM_NODES = np.linalg.inv(np.vander(_NODES, increasing=True))
_LARGEST_PATCH_PX = 160
"""The largest side of a patch; larger boxes are divided."""

PIXEL_SAMPLES = np.array([-0.5, 0.5]) / np.sqrt(3.0)
"""The two Gauss-Legendre nodes of a pixel: their mean is that of a blurred picture's pixel."""
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
        """Returns the smallest box around points (n, 2), with a margin on each side."""
        points = np.asarray(points_px, dtype=np.float64)
        low = np.floor(points.min(axis=0) - margin_px).astype(int)
        # Right and bottom lie behind the last pixel.
        high = np.ceil(points.max(axis=0) + margin_px).astype(int) + 1
        return cls(int(low[0]), int(low[1]), int(high[0]), int(high[1]))

    @property
    def width(self) -> int:
        """The number of columns, 0 if empty."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """The number of rows, 0 if empty."""
        return max(0, self.bottom - self.top)

    @property
    def is_empty(self) -> bool:
        """Whether the box contains no pixel."""
        return self.width == 0 or self.height == 0

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as an index into a picture: rows, columns."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def within(self, outer: Box) -> tuple[slice, slice]:
        """Returns the box as an index into a patch that covers `outer`."""
        return (
            slice(self.top - outer.top, self.bottom - outer.top),
            slice(self.left - outer.left, self.right - outer.left),
        )

    def clipped(self, other: Box) -> Box:
        """Returns the intersection of two boxes, which may be empty."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def joined(self, other: Box) -> Box:
        """Returns the smallest box around two."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def tiles(self, size_px: int) -> Iterator[Box]:
        """Yields the box in tiles of at most `size_px` a side."""
        for top in range(self.top, self.bottom, size_px):
            for left in range(self.left, self.right, size_px):
                yield Box(
                    left, top, min(left + size_px, self.right), min(top + size_px, self.bottom)
                )


def plane_map(
    camera: Camera, box: Box, height_mm: float = 0.0, samples: Array = PIXEL_CENTRE
) -> Array:
    """Returns the points of the plane `height_mm` above the table at the pixels of a box.

    `samples` (k,) are offsets from a pixel's centre, used along x and y. The result is
    (2, k * rows, k * columns): x_mm and y_mm, the samples of each pixel side by side. Pixels that
    miss the plane are nan.
    """
    # One polynomial is accurate only over a small patch.
    if max(box.width, box.height) <= _LARGEST_PATCH_PX:
        return _patch_map(camera, box, height_mm, samples)
    count = len(samples)
    points_mm = np.empty((2, count * box.height, count * box.width))
    for tile in box.tiles(_LARGEST_PATCH_PX):
        rows, columns = tile.within(box)
        target = (
            slice(None),
            slice(count * rows.start, count * rows.stop),
            slice(count * columns.start, count * columns.stop),
        )
        points_mm[target] = _patch_map(camera, tile, height_mm, samples)
    return points_mm


def pixel_means(values: Array, count: int) -> Array:
    """Returns the mean (rows, columns) of the `count` x `count` samples of each pixel."""
    if count == 1:
        return values
    rows, columns = values.shape[0] // count, values.shape[1] // count
    means: Array = values.reshape(rows, count, columns, count).mean(axis=(1, 3))
    return means


def _patch_map(camera: Camera, box: Box, height_mm: float, samples: Array) -> Array:
    middle = np.array([box.left + box.right - 1, box.top + box.bottom - 1]) / 2
    half_px = max(box.width, box.height) / 2
    grid_x, grid_y = np.meshgrid(_NODES * half_px + middle[0], _NODES * half_px + middle[1])
    nodes = np.stack([grid_x.ravel(), grid_y.ravel()], axis=-1)
    points_mm = camera.to_table(nodes, height_mm).T.reshape(2, len(_NODES), len(_NODES))
    # A tensor-product polynomial through the nodes, evaluated at all pixels at once.
    coefficients = _FROM_NODES @ points_mm @ _FROM_NODES.T
    across = _powers(np.arange(box.left, box.right), samples, middle[0], half_px)
    down = _powers(np.arange(box.top, box.bottom), samples, middle[1], half_px)
    return np.asarray(down @ coefficients @ across.T)


def _powers(pixels: NDArray[np.int_], samples: Array, middle: float, half_px: float) -> Array:
    # To [-1, 1], the range of the Chebyshev nodes.
    scaled = ((pixels[:, None] + samples).ravel() - middle) / half_px
    return np.vander(scaled, len(_NODES), increasing=True)
