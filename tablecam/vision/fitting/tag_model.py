"""Models the pixels on a tag as linear in its light, blur and pose: one column for each.

The picture is linear in all of these near the guessed pose, so one prediction gives both the
residuals and the Gauss-Newton step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.edges import BLACK_STORED
from tablecam.vision.fitting.glare import is_glared
from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.tags import TagGuesses
from tablecam.vision.fitting.texture import TagTextures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

GAIN, BLACK, GRADIENT_RIGHT, GRADIENT_UP, BLUR = range(5)
"""Columns of a tag's appearance: gain (white minus black), black level, the light's slope to the
right and upwards, the logarithm of the blur."""
POSE = slice(5, 8)
"""Columns of the pose: x and y in cells, heading in radians."""
GROUND = 8
"""Column of the ground: how much darker than the rim's white the surroundings are."""

_ALL = slice(None)
_RIM_CELLS = 1.0
"""Printed width of the white around the black square."""
_LOGISTIC = 1.7
"""A logistic curve with this steepness matches a Gaussian's integral to 0.01."""


@dataclass(frozen=True, slots=True, eq=False)
class TagPoses:
    """Poses of n tags: offsets (n, 2) from where their pixels were cut, and headings (n,)."""

    offset_cells: Map
    headings_rad: Map


@dataclass(frozen=True, slots=True, eq=False)
class TagColumns:
    """The derivatives of n tags' pixels at given poses: `values` (n, 8 or 9, m) for m pixels.

    The `POSE` columns are those of a tag with gain 1. `on_tag` (n, m) is 1 on the tag, else 0;
    `slope` (n, m) is the tag's gradient there, per cell.
    """

    values: Map
    on_tag: Map
    slope: Map


@dataclass(frozen=True, slots=True, eq=False)
class TagModel:
    """Predicts the pixels of tags of one size; `which` (n,) is the texture of each tag.

    Pixels are compared up to `half_cells` from a tag's middle along its sides. If `blur_cells` (n,)
    is given, the model has one more column, for the `GROUND`.
    """

    patches: Patches
    textures: TagTextures
    which: Index
    cell_mm: float
    half_cells: float
    blur_cells: Array | None = None

    def start(self, guesses: TagGuesses) -> TagPoses:
        """Returns the guessed poses as the start of a fit."""
        offset = np.zeros((len(guesses), 2), np.float32)
        return TagPoses(offset, guesses.headings_rad.astype(np.float32))

    def along_sides(self, poses: TagPoses, rows: Index | slice = _ALL) -> tuple[Map, Map]:
        """Returns where pixels lie, in cells right and up of the tags' middles, (n, m) each."""
        heading_rad, offset_cells = poses.headings_rad[rows, None], poses.offset_cells[rows]
        cosine, sine = np.cos(heading_rad), np.sin(heading_rad)
        offsets_mm = self.patches.offsets_mm[:, rows]
        x, y = offsets_mm / np.float32(self.cell_mm) - offset_cells.T[..., None]
        # Up is a tag's heading, right a quarter turn clockwise.
        return x * sine - y * cosine, x * cosine + y * sine

    def without_glare(self, poses: TagPoses, glare: NDArray[np.bool_]) -> TagModel:
        """Returns the model without the pixels that reflect a lamp; `glare` as in `TagFits`."""
        if not glare.any():
            return self
        rows, real = np.flatnonzero(glare.any(axis=1)), self.patches.real.copy()
        right, up = self.along_sides(poses, rows)
        real[rows] &= ~is_glared(glare[rows], right, up, self.textures.side_cells)
        return replace(self, patches=replace(self.patches, real=real))

    def columns(self, poses: TagPoses) -> TagColumns:
        """Returns the columns of the linear model at these poses."""
        cosine, sine = np.cos(poses.headings_rad)[:, None], np.sin(poses.headings_rad)[:, None]
        right, up = self.along_sides(poses)
        value, by_right, by_up, by_blur = self.textures.at(self.which, right, up)
        count = GROUND if self.blur_cells is None else GROUND + 1
        columns = np.empty((len(value), count, value.shape[1]), np.float32)
        columns[:, GAIN], columns[:, BLACK], columns[:, BLUR] = value, 1, by_blur
        # A slope of light scales the stored values of paint and of paper by the same factor.
        lit = (value + np.float32(BLACK_STORED)) / np.float32(self.half_cells)
        columns[:, GRADIENT_RIGHT], columns[:, GRADIENT_UP] = lit * right, lit * up
        # A tag that moves in x shows at a pixel what lay before it: the slope with a minus sign.
        columns[:, 5] = -by_right * sine - by_up * cosine
        columns[:, 6] = by_right * cosine - by_up * sine
        columns[:, 7] = by_right * up - by_up * right
        if self.blur_cells is not None:
            columns[:, GROUND] = -self._ground(right, up, self.blur_cells)
        on_tag = self.patches.real & (
            np.maximum(np.abs(right), np.abs(up)) < np.float32(self.half_cells)
        )
        slope = np.sqrt(by_right * by_right + by_up * by_up)
        return TagColumns(columns, on_tag.astype(np.float32), slope)

    def _ground(self, right: Map, up: Map, blur_cells: Array) -> Map:
        """Returns the share of each pixel that the ground around the rim fills, (n, m), 0 to 1."""
        steep = (_LOGISTIC / blur_cells).astype(np.float32)[:, None]
        edge = np.float32(self.textures.side_cells / 2 + _RIM_CELLS)
        # Approximates the blurred square by a product of two logistic edges.
        across_sides, along_sides = (
            np.exp(steep * (np.abs(distance) - edge)) for distance in (right, up)
        )
        return np.asarray(1 - 1 / ((1 + across_sides) * (1 + along_sides)), dtype=np.float32)
