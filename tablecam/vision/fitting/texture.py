"""Renders a tag's printed pattern, blurred, as a texture that can be sampled at any point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import edges

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

_SAMPLES_A_CELL = (8, 24)
"""Coarse and fine textures. The fine one is for tags too sharp for the coarse one, i.e. large tags.
Table tags in the shared footage's 4K pictures are off by 0.025 to 0.03 mm (rms) with 24 samples a
cell, by 0.04 to 0.1 with 8; simulated ones of 13 px a cell by 0.01 and 0.03."""
_SAMPLES_A_BLUR = 0.8
"""The blur's sigma must span this many samples, or the fine texture is used."""
_FEW = 16
"""For more tags than this, fine textures cost more than they gain."""
_BEYOND_CELLS = 1.0
"""Width of the white around the black square in a texture."""
_BLUR_RATIO = 1.1
"""Blurs within this ratio share one texture; the blur column of the fit corrects the difference."""
_TALLEST_PX = 32766
"""OpenCV's `remap` accepts no taller picture."""
_LEVELS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class TagTextures:
    """Blurred textures of tag patterns; 0 is black, 1 is white.

    `images` (k, s, s) has the top row first, `samples` to a cell. `sheet` holds all of them in one
    picture with four channels, `rows` to a column: the value, its slopes to the right and upwards
    per cell, and its derivative by the logarithm of the blur.
    """

    images: Map
    sheet: Map
    rows: int
    side_cells: int
    samples: int

    def at(self, which: Index, right_cells: Map, up_cells: Map) -> tuple[Map, Map, Map, Map]:
        """Samples values and slopes (by right, by up, by log blur) at points around tags.

        `which` (n,) is the texture of each row of the points, (n, m).
        """
        size, half = self.images.shape[1], self._half_cells
        column = (right_cells + half) * np.float32(self.samples) - np.float32(0.5)
        row = (half - up_cells) * np.float32(self.samples) - np.float32(0.5)
        # Stay inside this texture, so that its neighbour in the sheet does not bleed in.
        np.clip(column, 0, size - 1, out=column)
        np.clip(row, 0, size - 1, out=row)
        column += (which // self.rows * size)[:, None].astype(np.float32)
        row += (which % self.rows * size)[:, None].astype(np.float32)
        sampled = cv2.remap(self.sheet, column, row, cv2.INTER_LINEAR)
        # Arithmetic on contiguous parts is nearly twice as fast as on interleaved ones.
        value, by_right, by_up, by_blur = map(np.asarray, cv2.split(sampled))
        return value, by_right, by_up, by_blur

    @property
    def cells(self) -> Map:
        """The mean value in the middle of each cell of the black square, (k, side, side)."""
        samples = self.samples
        white = int(_BEYOND_CELLS * samples)
        squares = self.images[:, white:-white, white:-white]
        blocks = squares.reshape(-1, self.side_cells, samples, self.side_cells, samples)
        quarter = samples // 4
        # The outer quarters of a cell mix with its neighbours.
        middles = blocks[:, :, quarter:-quarter, :, quarter:-quarter]
        return np.asarray(middles.mean(axis=(2, 4)))

    @property
    def _half_cells(self) -> float:
        """Half the side of a texture, in cells."""
        return self.side_cells / 2 + _BEYOND_CELLS


def tag_textures(cells: NDArray[np.uint8], blur_cells: float | Array) -> TagTextures:
    """Renders tags with these inner cells (k, n, n) through a blur and a camera's gamma.

    `blur_cells` is the blur's standard deviation, one for all or one a tag, (k,). Small sets are
    cached: table tags use fine textures and are needed again and again.
    """
    step = blur_steps(np.broadcast_to(np.asarray(blur_cells, dtype=np.float64), len(cells)))
    if len(cells) > _FEW:
        return _drawn(cells, step)
    return _drawn_once(cells.tobytes(), cells.shape, tuple(step.tolist()))


@lru_cache(maxsize=4)
def _drawn_once(cells: bytes, shape: tuple[int, ...], steps: tuple[int, ...]) -> TagTextures:
    """Renders textures once and caches them, read-only."""
    drawn = _drawn(np.frombuffer(cells, np.uint8).reshape(shape), np.array(steps, np.int64))
    drawn.images.flags.writeable = drawn.sheet.flags.writeable = False
    return drawn


def _drawn(cells: NDArray[np.uint8], step: Index) -> TagTextures:
    """Renders the textures of these cells (k, n, n), each with its own blur step (k,)."""
    framed = np.pad(cells, ((0, 0), (1, 1), (1, 1))).astype(np.float32)
    samples = _samples_a_cell(step)
    sharp = framed.repeat(samples, axis=1).repeat(samples, axis=2)
    white = int(_BEYOND_CELLS * samples)
    sharp = np.pad(sharp, ((0, 0), (white, white), (white, white)), constant_values=1.0)
    light, by_blur = np.empty_like(sharp), np.empty_like(sharp)
    for blur_step in np.unique(step):
        tags = np.flatnonzero(step == blur_step)
        sigma = _BLUR_RATIO**blur_step * samples
        # Blur linear light first: gamma is applied afterwards, as in a camera.
        light[tags] = _blurred(sharp[tags], sigma)
        # The derivative by log blur as a difference over one step of the blur.
        wider = _blurred(sharp[tags], sigma * _BLUR_RATIO)
        by_blur[tags] = (wider - light[tags]) / np.float32(math.log(_BLUR_RATIO))
    return _with_slopes(light, by_blur, framed.shape[1], samples)


def blur_steps(blur: Array) -> Index:
    """Rounds blurs (n,) to steps of their logarithm; blurs of one step share a texture."""
    return np.rint(np.log(blur) / math.log(_BLUR_RATIO)).astype(np.int64)


def _samples_a_cell(steps: Index) -> int:
    """Returns the samples a cell that show the sharpest of these blurs."""
    sharpest = _BLUR_RATIO ** float(steps.min(initial=0))
    coarse, fine = _SAMPLES_A_CELL
    return coarse if sharpest * coarse >= _SAMPLES_A_BLUR or len(steps) > _FEW else fine


def blur_of_steps(steps: Index) -> Array:
    """Returns the blur that textures of these steps are rendered with."""
    return np.asarray(_BLUR_RATIO ** steps.astype(np.float64))


def _blurred(sharp: Map, sigma: float) -> Map:
    """Blurs pictures (k, s, s) with a Gaussian."""
    # One tall picture: tags are adjacent at their white rims, so none blurs into the next.
    tall = sharp.reshape(-1, sharp.shape[2])
    blurred = cv2.GaussianBlur(tall, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(blurred).reshape(sharp.shape)


def _with_slopes(light: Map, light_by_blur: Map, side_cells: int, samples: int) -> TagTextures:
    """Encodes the light as a camera stores it and lays out values and slopes in one sheet."""
    count, size, _ = light.shape
    # A camera blurs light and then applies gamma, so the derivatives get gamma's slope too.
    stored, by_light = _encoded(light)
    # One sheet for all textures: a single remap samples every tag.
    rows = min(_TALLEST_PX // size, max(count, 1))
    columns = max(1, math.ceil(count / rows))
    tiles = np.zeros((rows * columns, size, size, 4), dtype=np.float32)
    channels = tiles[:count]
    channels[..., 0] = stored
    half = np.float32(samples / 2)
    # Central differences, per cell.
    channels[:, :, 1:-1, 1] = (stored[:, :, 2:] - stored[:, :, :-2]) * half
    channels[:, 1:-1, :, 2] = (stored[:, :-2] - stored[:, 2:]) * half
    channels[..., 3] = by_light * light_by_blur
    side_by_side = tiles.reshape(columns, rows * size, size, 4).transpose(1, 0, 2, 3)
    sheet = np.ascontiguousarray(side_by_side).reshape(rows * size, -1, 4)
    return TagTextures(stored, sheet, rows, side_cells, samples)


def stored_light(light: Map) -> Map:
    """Converts linear light (0 black paint, 1 white paper) to a camera's stored values, 0 to 1."""
    return _encoded(light)[0]


def _encoded(light: Map) -> tuple[Map, Map]:
    """Returns the stored values of linear light (0 black paint, 1 white paper), and their slope.

    Without this a tag's edges appear a quarter of a pixel inside the true ones, on all sides.
    """
    stored, by_light = _encoding()
    # A table of levels replaces a power for each sample.
    level = (light * np.float32(_LEVELS - 1) + np.float32(0.5)).astype(np.int64)
    return stored.take(level), by_light.take(level)


@lru_cache(maxsize=1)
def _encoding() -> tuple[Map, Map]:
    """Returns a table of the stored value and its slope for each level of light."""
    stored, by_light = edges.stored_light(np.linspace(0, 1, _LEVELS))
    return stored.astype(np.float32), by_light.astype(np.float32)
