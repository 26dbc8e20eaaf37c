"""How a tag looks to a camera: its printed pattern, blurred, at any point of its plane."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]
Index = NDArray[np.int64]

_SAMPLES_A_CELL = 8
_BEYOND_CELLS = 1.5
"""How much white surrounds the black square in a texture: a rim as wide as a cell, and more."""
_GAMMA = 2.2
_BLACK_LIGHT = 0.06
"""Black paint or toner sends back about this share of what white paper does."""


@dataclass(frozen=True, slots=True, eq=False)
class TagTextures:
    """The tags of some patterns as seen with one blur; 0 is black, 1 is white.

    `images` (k, s, s) has the top row first, `_SAMPLES_A_CELL` samples a cell.
    """

    images: Map
    side_cells: int

    def at(self, pattern: Index, right_cells: Map, up_cells: Map) -> tuple[Map, Map, Map]:
        """Value and slopes (by right, by up, a cell) of tags at points about their centres.

        `pattern` (n,) says which tag each row of the points, (n, m), belongs to.
        """
        size = self.images.shape[1]
        column = (right_cells + self._half_cells) * _SAMPLES_A_CELL - 0.5
        row = (self._half_cells - up_cells) * _SAMPLES_A_CELL - 0.5
        column, row = column.clip(0, size - 1.001), row.clip(0, size - 1.001)
        left, top = column.astype(np.int32), row.astype(np.int32)
        across, down = column - left, row - top
        corner = (pattern[:, None] * size + top) * size + left
        flat = self.images.reshape(-1)
        top_left, top_right = flat[corner], flat[corner + 1]
        low_left, low_right = flat[corner + size], flat[corner + size + 1]
        upper = top_left + across * (top_right - top_left)
        lower = low_left + across * (low_right - low_left)
        to_right = (1 - down) * (top_right - top_left) + down * (low_right - low_left)
        by_right, by_up = to_right * _SAMPLES_A_CELL, (upper - lower) * _SAMPLES_A_CELL
        return upper + down * (lower - upper), by_right, by_up

    @property
    def cells(self) -> Map:
        """The value in the middle of each cell of the black square, (k, side, side)."""
        white = int(_BEYOND_CELLS * _SAMPLES_A_CELL)
        squares = self.images[:, white:-white, white:-white]
        blocks = squares.reshape(
            -1, self.side_cells, _SAMPLES_A_CELL, self.side_cells, _SAMPLES_A_CELL
        )
        quarter = _SAMPLES_A_CELL // 4
        middles = blocks[:, :, quarter:-quarter, :, quarter:-quarter]
        return np.asarray(middles.mean(axis=(2, 4)))

    @property
    def _half_cells(self) -> float:
        return self.side_cells / 2 + _BEYOND_CELLS


def tag_textures(cells: NDArray[np.uint8], blur_cells: float) -> TagTextures:
    """How tags with these inner cells (k, n, n) look through a blur, and a camera's gamma.

    `blur_cells` is the blur's standard deviation.
    """
    framed = np.pad(cells, ((0, 0), (1, 1), (1, 1))).astype(np.float32)
    sharp = framed.repeat(_SAMPLES_A_CELL, axis=1).repeat(_SAMPLES_A_CELL, axis=2)
    white = int(_BEYOND_CELLS * _SAMPLES_A_CELL)
    sharp = np.pad(sharp, ((0, 0), (white, white), (white, white)), constant_values=1.0)
    # One tall picture: tags lie white to white, so that none blurs into the next.
    tall = sharp.reshape(-1, sharp.shape[2])
    sigma = blur_cells * _SAMPLES_A_CELL
    blurred = np.asarray(cv2.GaussianBlur(tall, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE))
    return TagTextures(_encoded(blurred).reshape(sharp.shape), framed.shape[1])


def _encoded(light: Map) -> Map:
    """Light, 0 black paint and 1 white paper, as a camera stores it, again from 0 to 1.

    Cameras blur light and store about its 1/2.2th power: white bleeds into black. Without this a
    tag's edges seem to lie a quarter of a pixel inside the true ones, on all sides alike.
    """
    stored = (_BLACK_LIGHT + (1 - _BLACK_LIGHT) * light) ** np.float32(1 / _GAMMA)
    black = np.float32(_BLACK_LIGHT ** (1 / _GAMMA))
    return np.asarray((stored - black) / (1 - black), dtype=np.float32)
