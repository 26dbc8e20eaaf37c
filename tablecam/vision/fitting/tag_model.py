"""What the pixels on a tag depend on: its light, its blur and its place, as columns to fit.

Around where a tag is thought to lie, its pixels are linear in all of these, so one prediction
gives both what is left unexplained and which way to move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.edges import BLACK_STORED
from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.tags import TagGuesses
from tablecam.vision.fitting.texture import TagTextures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

GAIN, BLACK, ACROSS, ALONG, BLUR = range(5)
"""The columns of how a tag looks: black to white, black, more light to the right, more light
upwards, the logarithm of the blur."""
PLACE = slice(5, 8)
"""The columns of where it lies: x and y in cells, and the heading in radians."""
GROUND = 8
"""The column of how much darker than the tag's white is what lies around its rim."""

_RIM_CELLS = 1.0
"""How wide the white around the black square is printed."""
_LOGISTIC = 1.7
"""A logistic curve so much steeper than 1 is a Gaussian's integral, to a hundredth."""


@dataclass(frozen=True, slots=True, eq=False)
class TagPoses:
    """How far tags lie from where their pixels were cut, (n, 2), and their headings, (n,)."""

    moved_cells: Map
    headings_rad: Map


@dataclass(frozen=True, slots=True, eq=False)
class TagColumns:
    """How n tags would look, at poses: `values` (n, 8 or 9, m) are what m pixels are linear in.

    Those of `PLACE` are of a tag of gain 1. `on_tag` (n, m) is 1 on the tag, else 0; `slope`
    (n, m) is how fast the tag changes there, a cell.
    """

    values: Map
    on_tag: Map
    slope: Map


@dataclass(frozen=True, slots=True, eq=False)
class TagModel:
    """Tags of one size and the pixels about them; `which` (n,) texture belongs to each.

    `half_cells` is how far from a tag's middle, along its sides, pixels are compared. With the blur
    of each, `blur_cells` (n,), there is a column more, of the `GROUND`.
    """

    patches: Patches
    textures: TagTextures
    which: Index
    cell_mm: float
    half_cells: float
    blur_cells: Array | None = None

    def start(self, guesses: TagGuesses) -> TagPoses:
        """The poses that were guessed."""
        moved = np.zeros((len(guesses), 2), np.float32)
        return TagPoses(moved, guesses.headings_rad.astype(np.float32))

    def columns(self, poses: TagPoses) -> TagColumns:
        """What the pixels are linear in around these poses."""
        cosine, sine = np.cos(poses.headings_rad)[:, None], np.sin(poses.headings_rad)[:, None]
        x, y = self.patches.offsets_mm / np.float32(self.cell_mm) - poses.moved_cells.T[..., None]
        right, up = x * sine - y * cosine, x * cosine + y * sine
        value, by_right, by_up, by_blur = self.textures.at(self.which, right, up)
        count = GROUND if self.blur_cells is None else GROUND + 1
        columns = np.empty((len(value), count, value.shape[1]), np.float32)
        columns[:, GAIN], columns[:, BLACK], columns[:, BLUR] = value, 1, by_blur
        # Light falls on paint as on paper: what is stored of both grows by the same share.
        lit = (value + np.float32(BLACK_STORED)) / np.float32(self.half_cells)
        columns[:, ACROSS], columns[:, ALONG] = lit * right, lit * up
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
        """How much of what lies around the rim blurs into pixels, from 0 to 1, (n, m)."""
        steep = (_LOGISTIC / blur_cells).astype(np.float32)[:, None]
        edge = np.float32(self.textures.side_cells / 2 + _RIM_CELLS)
        beside, beyond = (np.exp(steep * (np.abs(away) - edge)) for away in (right, up))
        return np.asarray(1 - 1 / ((1 + beside) * (1 + beyond)), dtype=np.float32)
