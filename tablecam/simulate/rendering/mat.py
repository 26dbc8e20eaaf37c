"""A canvas of the table from above, in screen colours, for painting ground and scenery.

The canvas is flat, so anything tall is painted where the camera sees it: a point above the table
hides a table point farther from the camera's foot.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from tablecam.simulate.rendering.light import GAMMA, Linear, Picture
from tablecam.simulate.rendering.rays import Array, Box
from tablecam.table.model import TableSize

Colour = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""
Mask = NDArray[np.float32]

SHADOW_MM_PER_MM = np.array([0.52, -0.42])
"""The offset of a shadow along x and y per millimetre of height: the window is far left."""

_SHIFT_BITS = 4
_FINER_THAN_PICTURE = 1.25
_MARGIN_MM = 25.0
"""Margin beyond the camera's view, because the camera may be bumped."""
_STEP_PX = 8


class Canvas:
    """A canvas in table millimetres, backed by a picture (rows, columns, 3)."""

    def __init__(
        self, picture: Picture, origin_mm: Array, scale: float, camera_centre_mm: Array
    ) -> None:
        self.picture = picture
        self.shape = (picture.shape[0], picture.shape[1])
        self.scale = scale
        self._origin_mm = origin_mm
        self._centre_mm = camera_centre_mm

    @classmethod
    def under(cls, camera: Camera, table: TableSize) -> Canvas:
        """Returns a black canvas of the part of a table and its surroundings that a camera sees."""
        edge = _picture_edge_mm(camera)
        middle = np.array([[table.width_mm / 2, table.depth_mm / 2]])
        scale = float(camera.px_per_mm(middle)[0] * _FINER_THAN_PICTURE)
        origin_mm = edge.min(axis=0) - _MARGIN_MM
        size = np.ceil((edge.max(axis=0) + _MARGIN_MM - origin_mm) * scale).astype(int)
        picture = np.zeros((int(size[1]), int(size[0]), 3), dtype=np.uint8)
        return cls(picture, origin_mm, scale, camera.pose.camera_centre_mm)

    def part(self, outline_mm: ArrayLike, margin_mm: float) -> Canvas:
        """Returns the part of the canvas around an outline (n, 2), which shares its pixels."""
        around = Box.around(self.pixels(outline_mm), margin_mm * self.scale)
        box = around.clipped(Box(0, 0, self.shape[1], self.shape[0]))
        origin_mm = self._origin_mm + np.array([box.left, box.top]) / self.scale
        return Canvas(self.picture[box.slices], origin_mm, self.scale, self._centre_mm)

    def pixels(self, points_mm: ArrayLike) -> Array:
        """Converts table points (n, 2) to pixels (n, 2) of the canvas, whose rows run along y."""
        points = np.asarray(points_mm, dtype=np.float64)
        return np.asarray((points - self._origin_mm) * self.scale - 0.5)

    def lifted(self, points_mm: ArrayLike, height_mm: float) -> Array:
        """Projects points (n, 2) at a height to the table, as seen from the camera."""
        points = np.asarray(points_mm, dtype=np.float64)
        foot, camera_height = self._centre_mm[:2], self._centre_mm[2]
        # Similar triangles about the camera's foot.
        return np.asarray(foot + (points - foot) * camera_height / (camera_height - height_mm))

    def from_camera_foot_mm(self, point_mm: ArrayLike) -> float:
        """Returns a point's distance from the camera's foot: the farther, the earlier painted."""
        return float(np.linalg.norm(np.asarray(point_mm) - self._centre_mm[:2]))

    def mask(self, outline_mm: ArrayLike, *, soft_mm: float = 0.0) -> Mask:
        """Returns the share of each pixel inside an outline (n, 2), with a blurred edge."""
        mask = np.zeros(self.shape, dtype=np.uint8)
        _fill(mask, self.pixels(outline_mm), 255)
        if soft_mm > 0:
            mask = cv2.GaussianBlur(mask, (0, 0), soft_mm * self.scale)
        return np.asarray(mask / np.float32(255), dtype=np.float32)

    def polygon(self, outline_mm: ArrayLike, colour: Colour) -> None:
        """Fills an outline (n, 2)."""
        _fill(self.picture, self.pixels(outline_mm), colour[::-1])

    def line(self, points_mm: ArrayLike, colour: Colour, width_mm: float) -> None:
        """Draws a line through points (n, 2)."""
        path = _fixed(self.pixels(points_mm))
        thick = max(1, round(width_mm * self.scale))
        cv2.polylines(
            self.picture, [path], False, colour[::-1], thick, cv2.LINE_AA, shift=_SHIFT_BITS
        )

    def disc(self, middle_mm: ArrayLike, radius_mm: float, colour: Colour) -> None:
        """Draws a filled circle."""
        middle = _fixed(self.pixels(middle_mm))
        radius = max(1, round(radius_mm * self.scale * 2**_SHIFT_BITS))
        cv2.circle(
            self.picture,
            (int(middle[0]), int(middle[1])),
            radius,
            colour[::-1],
            -1,
            cv2.LINE_AA,
            shift=_SHIFT_BITS,
        )

    def wash(self, mask: Mask, colour: Colour | Picture) -> None:
        """Blends in a colour, or another picture of the same size, through a mask."""
        # Most masks cover a small part of the canvas.
        box = _extent(mask)
        if box is None:
            return
        part, share = self.picture[box], mask[box][..., None]
        paint = np.asarray(colour[::-1] if isinstance(colour, tuple) else colour[box], np.float32)
        # Adding 0.5 rounds when the result is truncated to 8 bits.
        part[:] = part + (paint - part) * share + np.float32(0.5)

    def brighten(self, factor: Mask) -> None:
        """Multiplies the picture by a factor (rows, columns), below 1 for shade."""
        three = cv2.merge([factor.astype(np.float32)] * 3)
        self.picture[:] = cv2.multiply(self.picture, three, dtype=cv2.CV_8U)

    def shadow(self, outlines_mm: Sequence[ArrayLike], strength: float, soft_mm: float) -> None:
        """Darkens the outlines of shadows on the table."""
        outlines = [self.pixels(outline) for outline in outlines_mm]
        soft_px = max(soft_mm * self.scale, 0.3)
        box = Box.around(np.concatenate(outlines), 4 * soft_px).clipped(
            Box(0, 0, self.shape[1], self.shape[0])
        )
        mask = np.zeros((box.height, box.width), dtype=np.uint8)
        for outline in outlines:
            _fill(mask, outline - [box.left, box.top], 255)
        soft = cv2.GaussianBlur(mask, (0, 0), soft_px)
        factor = 1 - np.asarray(soft, dtype=np.float32) * np.float32(strength / 255)
        self.picture[box.slices] = self.picture[box.slices] * factor[..., None]

    def noise(self, grain_mm: float, rng: np.random.Generator) -> Mask:
        """Returns smooth noise of a grain size, with mean 0 and standard deviation near 1."""
        cells = max(1.0, grain_mm * self.scale)
        rows, columns = (int(length / cells) + 3 for length in self.shape)
        coarse = rng.standard_normal((rows, columns), dtype=np.float32)
        full = cv2.resize(
            coarse,
            (int(np.ceil(columns * cells)), int(np.ceil(rows * cells))),
            interpolation=cv2.INTER_CUBIC if cells > 1 else cv2.INTER_NEAREST,
        )
        return np.ascontiguousarray(full[: self.shape[0], : self.shape[1]], dtype=np.float32)

    def seen(self, camera: Camera) -> Linear:
        """Renders the canvas on the table as the camera sees it, in linear light."""
        pixel_map = self.pixels(_coarse_map(camera)).astype(np.float32)
        pixel_map = _enlarged(pixel_map, camera.lens.width_px, camera.lens.height_px)
        picture = cv2.remap(
            self.picture, pixel_map, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        levels = ((np.arange(256) / 255) ** GAMMA).astype(np.float32)
        return np.asarray(levels[picture], dtype=np.float32)


def _coarse_map(camera: Camera) -> Array:
    """Returns the table point of every eighth pixel, (rows, columns, 2), also off the table."""
    rows, columns = (
        length // _STEP_PX + 2 for length in (camera.lens.height_px, camera.lens.width_px)
    )
    x_px, y_px = np.meshgrid(np.arange(columns) * _STEP_PX, np.arange(rows) * _STEP_PX)
    points_mm = camera.to_table(np.stack([x_px.ravel(), y_px.ravel()], axis=-1))
    return points_mm.reshape(rows, columns, 2)


def _enlarged(coarse: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    """Interpolates values at every eighth pixel (rows, columns, 2) to every pixel."""
    to_coarse = np.array([[1 / _STEP_PX, 0.0, 0.0], [0.0, 1 / _STEP_PX, 0.0]])
    # `resize` would centre the values on blocks; here they lie on every eighth pixel.
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(coarse, to_coarse, (width, height), flags=flags))


def _picture_edge_mm(camera: Camera) -> Array:
    lens = camera.lens
    right, bottom = lens.width_px - 1, lens.height_px - 1
    steps = np.linspace(0, 1, 17)
    edge = np.concatenate(
        [
            np.column_stack([steps * right, 0 * steps]),
            np.column_stack([steps * right, 0 * steps + bottom]),
            np.column_stack([0 * steps, steps * bottom]),
            np.column_stack([0 * steps + right, steps * bottom]),
        ]
    )
    return camera.to_table(edge)


def _fixed(pixels: Array) -> NDArray[np.int32]:
    return np.asarray(np.rint(pixels * 2**_SHIFT_BITS), dtype=np.int32)


def _fill(picture: Picture, pixels: Array, colour: int | tuple[int, ...]) -> None:
    cv2.fillPoly(picture, [_fixed(pixels)], colour, cv2.LINE_AA, shift=_SHIFT_BITS)


def _extent(mask: Mask) -> tuple[slice, slice] | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
