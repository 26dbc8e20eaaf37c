"""Rectifies the camera's picture: shows a plane over the table from straight above.

The rectified picture has x to the right and y up the page: its first row lies at y = depth. Its
pixel (column, row) shows x = (column + 0.5) / px_per_mm - margin; y is counted likewise, from
the top.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.model import TableSize

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_NODE_SPACING = 8
"""The camera is exact at every eighth pixel and interpolated between: off by less than 0.005 px."""
_FAR_PX = 30_000
"""Where unseen places map to: OpenCV's fixed-point maps hold 16 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Rectifier:
    """Rectifies pictures of one camera to one plane; made once, used for each frame.

    `map_xy` is OpenCV's fixed-point map from the plane to a picture reduced by `shrink`.
    """

    table: TableSize
    px_per_mm: float
    margin_mm: float
    shrink: int
    map_xy: tuple[NDArray[np.int16], NDArray[np.uint16]]

    def rectify(
        self, picture: Picture, rows: slice = slice(None), columns: slice = slice(None)
    ) -> Picture:
        """Returns the plane's picture, black where the camera does not see, in grey or colour.

        Only these `rows` and `columns` are computed.
        """
        place, fraction = self.map_xy[0][rows, columns], self.map_xy[1][rows, columns]
        if self.shrink > 1:
            first, picture = _shrunk_about(picture, place, self.shrink)
            # Unseen places stay outside: the shift is smaller than their distance from any picture.
            place = place - first
        return np.asarray(cv2.remap(picture, place, fraction, cv2.INTER_LINEAR))

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of the plane's picture."""
        rows, columns = self.map_xy[1].shape
        return rows, columns

    def pixels(self, places_mm: Array) -> Array:
        """Returns the pixels (n, 2) of the rectified picture that show table places (n, 2)."""
        left_top = np.array([-self.margin_mm, self.table.depth_mm + self.margin_mm])
        return np.asarray((places_mm - left_top) * [1, -1] * self.px_per_mm - 0.5)

    def places_mm(self, pixels: Array) -> Array:
        """Returns the table places (n, 2) that pixels (n, 2) of the rectified picture show."""
        left_top = np.array([-self.margin_mm, self.table.depth_mm + self.margin_mm])
        return left_top + (pixels + 0.5) / self.px_per_mm * [1, -1]


def make_rectifier(
    camera: Camera,
    table: TableSize,
    *,
    px_per_mm: float,
    height_mm: float = 0.0,
    margin_mm: float = 0.0,
) -> Rectifier:
    """Makes the rectifier of the plane `height_mm` above the table, plus `margin_mm` around it."""
    width_px = max(1, round((table.width_mm + 2 * margin_mm) * px_per_mm))
    height_px = max(1, round((table.depth_mm + 2 * margin_mm) * px_per_mm))
    columns, rows = _nodes(width_px), _nodes(height_px)
    x_mm, y_mm = np.meshgrid(
        (columns + 0.5) / px_per_mm - margin_mm,
        table.depth_mm + margin_mm - (rows + 0.5) / px_per_mm,
    )
    nodes_mm = np.stack([x_mm, y_mm, np.full_like(x_mm, height_mm)], axis=-1)
    seen_px = camera.to_image(nodes_mm.reshape(-1, 3)).reshape(nodes_mm.shape[0], -1, 2)
    middle_mm = np.array([[table.width_mm / 2, table.depth_mm / 2]])
    # Average where a rectified pixel spans two or more: grain would alias to noise.
    shrink = max(1, int(float(camera.px_per_mm(middle_mm, height_mm)[0]) / px_per_mm))
    # A reduced pixel's centre is that of its block, hence the half pixels.
    seen_px = (np.nan_to_num(seen_px) + 0.5) / shrink - 0.5
    nodes = np.concatenate([seen_px, _is_seen(camera, nodes_mm)], axis=-1).astype(np.float32)
    # Projects only the nodes: exact projection of every pixel would take far longer.
    dense_px = _interpolated(nodes[..., :2], width_px, height_px)
    # Count a place as seen only if all the nodes around it are.
    dense_px[_interpolated(nodes[..., 2], width_px, height_px) < 0.999] = _FAR_PX
    return Rectifier(
        table, px_per_mm, margin_mm, shrink, cv2.convertMaps(dense_px, None, cv2.CV_16SC2)
    )


def _shrunk_about(
    picture: Picture, place: NDArray[np.int16], shrink: int
) -> tuple[NDArray[np.int16], Picture]:
    """Reduces the part of the picture that is mapped; returns its first reduced pixel and the part.

    `place` (rows, columns, 2) are pixels of the reduced picture, or far outside it.
    """
    size = np.array([picture.shape[1] // shrink, picture.shape[0] // shrink])
    columns, rows = cv2.split(place)
    is_seen = ((columns < _FAR_PX // 2) & (rows < _FAR_PX // 2)).astype(np.uint8)
    # The smallest and the largest column and row; both are 0 if nothing is seen.
    ends = np.array([cv2.minMaxLoc(values, is_seen)[:2] for values in (columns, rows)], np.int64)
    # One more pixel before and after: remap interpolates.
    first = (ends[:, 0] - 1).clip(0, size - 1)
    last = (ends[:, 1] + 3).clip(first + 1, size)
    low, high = first * shrink, last * shrink
    whole = picture[low[1] : high[1], low[0] : high[0]]
    across, down = (int(value) for value in last - first)
    smaller = cv2.resize(whole, (across, down), interpolation=cv2.INTER_AREA)
    return first.astype(np.int16), np.asarray(smaller)


def _nodes(count: int) -> NDArray[np.float64]:
    """Returns node positions that cover `count` pixels."""
    return np.arange(0, count + _NODE_SPACING, _NODE_SPACING, dtype=np.float64)


def _interpolated(nodes: NDArray[np.float32], width_px: int, height_px: int) -> NDArray[np.float32]:
    """Interpolates values at 0, 1, ... each way between nodes `_NODE_SPACING` apart."""
    to_nodes = np.array([[1 / _NODE_SPACING, 0, 0], [0, 1 / _NODE_SPACING, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP  # exact: warpAffine resolves 1/32 of a node
    dense = cv2.warpAffine(
        np.ascontiguousarray(nodes),
        to_nodes,
        (width_px, height_px),
        flags=flags,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(dense, np.float32)


def _is_seen(camera: Camera, places_mm: Array) -> Array:
    """Returns 1 where the camera sees a place (rows, columns, 3), or nearly so; else 0.

    Strong distortion folds far places back into the picture: projecting such a pixel back to the
    table gives another place, which reveals it.
    """
    beyond_px = 100.0  # so that a place at the picture's edge has seen nodes all around
    points_mm = places_mm.reshape(-1, 3)
    pixels = camera.to_image(points_mm)
    size = np.array([camera.lens.width_px, camera.lens.height_px])
    is_near = ((pixels > -beyond_px) & (pixels < size + beyond_px)).all(axis=-1)
    seen = np.zeros(len(points_mm))
    back_mm = camera.to_table(pixels[is_near], points_mm[is_near, 2])
    seen[is_near] = (np.abs(back_mm - points_mm[is_near, :2]) < 1.0).all(axis=-1)
    return seen.reshape(*places_mm.shape[:2], 1)
