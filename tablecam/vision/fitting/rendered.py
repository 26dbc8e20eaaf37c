"""Tags as they would look, drawn for the picture that they are to be compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.patches import cut_patches
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY
from tablecam.vision.fitting.tag_model import BLUR, GAIN, TagModel
from tablecam.vision.fitting.tags import TagGuesses
from tablecam.vision.fitting.texture import blur_steps, drawn_blur, tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnTags:
    """Tags of one size: `px_per_cell` and `blur_cells` (n,) are those that they are drawn with."""

    model: TagModel
    px_per_cell: Array
    blur_cells: Array

    def blurs_px(self, shares: Map) -> Array:
        """The picture's blur at each tag, (n,), as a fit's `shares` tell it."""
        change = shares[:, BLUR] / np.maximum(shares[:, GAIN], LEAST_GAIN_GREY)
        blur = self.blur_cells * np.exp(change.astype(np.float64).clip(-1, 1)) * self.px_per_cell
        shrink = self.model.patches.shrink
        return np.asarray(shrink * np.sqrt(np.maximum(blur**2 - _averaged(shrink), 0)))


def drawn_tags(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    guesses: TagGuesses,
    blurs_px: Array,
    *,
    rim_cells: float,
    slack_cells: float,
    with_ground: bool,
) -> DrawnTags:
    """Tags of one size, with `rim_cells` of their white rims, seen through blurs (n,).

    They may lie `slack_cells` from where they are thought to. `with_ground`, what lies around the
    rims may differ from their white.
    """
    cell_mm = float(guesses.sizes_mm[0]) / patterns.side_cells
    half_cells = patterns.side_cells / 2 + rim_cells
    patches = cut_patches(
        grey, camera, guesses, reach_mm=half_cells * cell_mm, slack_mm=slack_cells * cell_mm
    )
    px_per_cell = cell_mm / np.sqrt(patches.pixel_mm2)
    blur_px = np.sqrt((blurs_px / patches.shrink) ** 2 + _averaged(patches.shrink))
    steps = blur_steps(blur_px / px_per_cell)
    looks, which = np.unique(np.stack([guesses.pattern, steps]), axis=1, return_inverse=True)
    textures = tag_textures(patterns.cells[looks[0]], drawn_blur(looks[1]))
    blur_cells = drawn_blur(steps)
    model = TagModel(
        patches,
        textures,
        which.reshape(-1),
        cell_mm,
        half_cells,
        blur_cells if with_ground else None,
    )
    return DrawnTags(model, px_per_cell, blur_cells)


def _averaged(shrink: int) -> float:
    """What averaging pixels blurs, in these larger pixels: a variance."""
    return (1 - 1 / shrink**2) / 12
