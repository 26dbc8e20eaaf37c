"""Renders tags at the scale and blur of the picture that they are compared with."""

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
from tablecam.vision.fitting.texture import blur_of_steps, blur_steps, tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class RenderedTags:
    """A model of tags of one size, with the scale and blur (n,) that they are rendered with."""

    model: TagModel
    px_per_cell: Array
    blur_cells: Array

    def blurs_px(self, coefficients: Map) -> Array:
        """Returns the picture's blur at each tag, (n,), from a fit's `coefficients`."""
        # The blur's column is the derivative by its logarithm, scaled by gain like all others.
        log_blur_change = coefficients[:, BLUR] / np.maximum(coefficients[:, GAIN], LEAST_GAIN_GREY)
        blur = (
            self.blur_cells
            * np.exp(log_blur_change.astype(np.float64).clip(-1, 1))
            * self.px_per_cell
        )
        shrink = self.model.patches.shrink
        return np.asarray(shrink * np.sqrt(np.maximum(blur**2 - _averaging_variance(shrink), 0)))


def render_tags(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    guesses: TagGuesses,
    blurs_px: Array,
    *,
    rim_cells: float,
    slack_cells: float,
    with_ground: bool,
) -> RenderedTags:
    """Renders tags of one size, with `rim_cells` of their white rims, at blurs (n,) in pixels.

    The tags may lie up to `slack_cells` from their guesses. With `with_ground`, the fit allows the
    ground around the rims to differ from their white.
    """
    cell_mm = float(guesses.sizes_mm[0]) / patterns.side_cells
    half_cells = patterns.side_cells / 2 + rim_cells
    patches = cut_patches(
        grey, camera, guesses, reach_mm=half_cells * cell_mm, slack_mm=slack_cells * cell_mm
    )
    px_per_cell = cell_mm / np.sqrt(patches.pixel_mm2)
    # Averaging pixels blurs them, too: variances add.
    blur_px = np.sqrt((blurs_px / patches.shrink) ** 2 + _averaging_variance(patches.shrink))
    steps = blur_steps(blur_px / px_per_cell)
    # Tags with the same pattern and blur share one texture.
    spread = int(np.ptp(steps)) + 1
    _, first, which = np.unique(
        guesses.pattern * spread + steps, return_index=True, return_inverse=True
    )
    textures = tag_textures(patterns.cells[guesses.pattern[first]], blur_of_steps(steps[first]))
    blur_cells = blur_of_steps(steps)
    model = TagModel(
        patches,
        textures,
        which,
        cell_mm,
        half_cells,
        blur_cells if with_ground else None,
    )
    return RenderedTags(model, px_per_cell, blur_cells)


def _averaging_variance(shrink: int) -> float:
    """Returns the variance that averaging `shrink` x `shrink` pixels adds, in the larger pixels."""
    return (1 - 1 / shrink**2) / 12
