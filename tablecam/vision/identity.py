"""Which tag a fitted tag is: its cells against every pattern that could lie there.

A wrong name is worse than a missing one, so a tag must look like its own pattern, not like any other
of its kind, and its border and rim must be seen well enough to trust what lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.decode import cell_means, steps_right_and_up
from tablecam.vision.dictionary import TagPatterns
from tablecam.vision.kinds import TagKind
from tablecam.vision.local_map import table_to_picture
from tablecam.vision.tags import TagFits
from tablecam.vision.texture import tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]

_LEAST_GAIN_GREY = 8.0

# Measured on four pictures with 466 tags, of which 457 at least 85 % visible, 2.3 to 4 px a cell:
# tags at least 85 % visible had a likeness of 0.81 or more, up to 2.1 of their 16 cells amiss, 3.2
# of the 20 of their border, and any other pattern at least 0.99 more. What was no tag, or another,
# and fitted best at its place, failed one of these, except where half of a tag was hidden.
_LEAST_LIKENESS = 0.70
_MOST_CELLS_AMISS = 2.5 / 16
_MOST_BORDER_AMISS = 4.0 / 20
_MOST_TOGETHER_AMISS = 3.7 / 16
"""Of cells and half of the border's: where much of the border is hidden, cells must be right."""
_LEAST_MARGIN = 0.9
_SURE_LIKENESS = 0.8
_SURE_MARGIN = 1.2


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """How well fitted tags are what they are said to be: equally long columns.

    `amiss` (n, k) counts the inner cells, softly, that are not as each of the k patterns of the
    roster has them at its best turn; inf for patterns of another kind. `border_amiss` (n,) does so
    for the cells of the black border.
    """

    fits: TagFits
    amiss: Array
    border_amiss: Array
    inner_cells: int

    @property
    def own_amiss(self) -> Array:
        """How many cells are not as the fitted pattern has them, (n,)."""
        return np.asarray(self.amiss[np.arange(len(self.fits)), self.fits.tags.pattern])

    def margin(self, taken: NDArray[np.bool_]) -> Array:
        """How many more cells are amiss with the best other pattern, (n,).

        Patterns `taken` (k,) have been found elsewhere for sure and do not compete.
        """
        others = np.where(taken, np.inf, self.amiss)
        others[np.arange(len(self.fits)), self.fits.tags.pattern] = np.inf
        return np.asarray(others.min(axis=1, initial=np.inf) - self.own_amiss)

    @property
    def is_tag(self) -> NDArray[np.bool_]:
        """Which of the fits look like the tags that they are said to be, (n,)."""
        cells, border = self.inner_cells**2, 4 * self.inner_cells + 4
        together = self.own_amiss + self.border_amiss / 2
        return np.asarray(
            (self.fits.likeness >= _LEAST_LIKENESS)
            & (self.fits.gain_grey >= _LEAST_GAIN_GREY)
            & (self.own_amiss <= _MOST_CELLS_AMISS * cells)
            & (self.border_amiss <= _MOST_BORDER_AMISS * border)
            & (together <= _MOST_TOGETHER_AMISS * cells)
        )

    def is_known(self, taken: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Which look like their tag and like no other that is not `taken`, (n,)."""
        nothing = np.zeros(self.amiss.shape[1], dtype=np.bool_)
        margin = self.margin(nothing if taken is None else taken)
        return np.asarray(self.is_tag & (margin >= _LEAST_MARGIN))

    @property
    def is_sure(self) -> NDArray[np.bool_]:
        """Which are known so well that their pattern need not be thought of elsewhere, (n,)."""
        margin = self.margin(np.zeros(self.amiss.shape[1], dtype=np.bool_))
        likely = self.fits.likeness >= _SURE_LIKENESS
        return np.asarray(self.is_tag & likely & (margin >= _SURE_MARGIN))


def identify(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    kinds: Sequence[TagKind],
    fits: TagFits,
    *,
    blur_px: float,
) -> Identities:
    """The fitted tags compared with all patterns of their kind."""
    amiss = np.full((len(fits), len(patterns.ids)), np.inf)
    border_amiss = np.zeros(len(fits))
    for kind in kinds:
        rows = np.flatnonzero(np.isin(fits.tags.pattern, kind.pattern))
        if len(rows):
            seen = _seen_cells(grey, camera, patterns, kind, fits[rows])
            px_per_mm = camera.px_per_mm(fits.tags.places_mm[rows], kind.height_mm)
            px_per_cell = float(np.median(px_per_mm)) * kind.size_mm / patterns.side_cells
            meant = tag_textures(patterns, blur_px / px_per_cell).cells[kind.pattern]
            amiss[np.ix_(rows, kind.pattern)] = _inner_amiss(seen, meant)
            border_amiss[rows] = _border_amiss(seen, meant)
    return Identities(fits, amiss, border_amiss, patterns.inner_cells)


def _seen_cells(
    grey: Grey, camera: Camera, patterns: TagPatterns, kind: TagKind, fits: TagFits
) -> Map:
    """The cells of the black square as seen, 0 as black as the tag's paint and 1 as its paper."""
    side = patterns.side_cells
    cell_mm = kind.size_mm / side
    to_picture = table_to_picture(
        camera, fits.tags.places_mm, fits.tags.heights_mm, kind.size_mm / 2
    )
    step = steps_right_and_up(fits.tags.headings_rad) * cell_mm
    levels = cell_means(grey, to_picture, step, np.zeros((len(fits), 2)), side)
    gain = np.maximum(fits.gain_grey, _LEAST_GAIN_GREY)[:, None, None]
    return np.asarray((levels - fits.black_grey[:, None, None]) / gain, dtype=np.float32)


def _inner_amiss(seen: Map, meant: Map) -> Array:
    """How many inner cells of n tags differ from those of k patterns at their best turn, (n, k)."""
    inner = seen[:, 1:-1, 1:-1].reshape(len(seen), 1, -1)
    turned = [np.rot90(meant[:, 1:-1, 1:-1], turns, axes=(1, 2)) for turns in range(4)]
    differences = [
        np.abs(inner - pattern.reshape(1, len(meant), -1)).clip(0, 1).sum(axis=2)
        for pattern in turned
    ]
    return np.asarray(np.min(differences, axis=0), dtype=np.float64)


def _border_amiss(seen: Map, meant: Map) -> Array:
    """How many cells of the border are not as black as the border of tags is, (n,)."""
    amiss = np.abs(seen - meant.mean(axis=0)).clip(0, 1)
    inside = amiss[:, 1:-1, 1:-1].sum(axis=(1, 2))
    return np.asarray(amiss.sum(axis=(1, 2)) - inside, dtype=np.float64)
