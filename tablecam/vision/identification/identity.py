"""Which tag a fitted tag is: its cells against every pattern that could lie there.

A wrong name is worse than a missing one, so a tag must look like its own pattern, not like any
other of its kind, and enough of its border must be seen to trust what lies inside of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.decode import cell_means, steps_right_and_up
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.local_map import table_to_picture
from tablecam.vision.fitting.tags import TagFits
from tablecam.vision.fitting.texture import tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Rows = NDArray[np.bool_]

_LEAST_GAIN_GREY = 8.0

# What is amiss is the squared difference of a cell from what it should be, 1 for a wrong cell.
# Measured on four pictures with 461 tags that were at least 85 % visible, 2.3 to 4 px a cell, 16
# cells and a border of 20: 0.5 of the cells and 1 of the border at most for all but two of them
# (0.9 and 2.0), likeness 0.81 or more, and as much more amiss with any other pattern as printed.
# What was no tag had a likeness of at most 0.70 or more than 2.3 of the border amiss. That leaves
# half hidden tags: three hidden cells can turn one tag into another.
_LEAST_LIKENESS = 0.75
_MOST_HIDDEN = 0.93
"""Of what the likeness would be if nothing were hidden. 98 % of 978 tags at least 85 % visible had
more; of 2,900 tags 15 to 50 % hidden, 12 had less and looked like another: `half_hidden_verdict`
looks more closely at all that have less."""
_CONTRAST = 0.45
"""The spread of a tag's own pixels, from black to white; about half of them are white."""
_MOST_CELLS_AMISS = 1.0 / 16
_MOST_OF_RIVAL = 0.5
"""Nearer to its pattern than to half way to the next: a tag of no roster is three cells away."""
_MOST_BORDER_AMISS = 2.3 / 20
_LEAST_MARGIN = 0.5
"""Of what the nearest other pattern would have amiss, but never more than half a cell."""
_MARGIN_FOR_BORDER = 0.5
"""The more of the border is hidden, the more cells may be, and look like another tag's."""
_SURE_LIKENESS = 0.85
_SURE_MARGIN = 0.75


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """How well fitted tags are what they are said to be: equally long columns.

    `amiss` (n, k) is how much is amiss with the inner cells if they are those of each of the k
    patterns of the roster at its best turn; inf for patterns of another kind. `border_amiss` (n,)
    is the same for the black border, `rival_amiss` (n,) what would be amiss with the nearest
    other pattern if the tag were seen perfectly.
    """

    fits: TagFits
    amiss: Array
    border_amiss: Array
    rival_amiss: Array
    inner_cells: int

    @property
    def own_amiss(self) -> Array:
        """What is amiss with the cells as the fitted pattern has them, (n,)."""
        return np.asarray(self.amiss[np.arange(len(self.fits)), self.fits.tags.pattern])

    def margin(self, taken: Rows | None = None) -> Array:
        """How much more is amiss with the best other pattern, (n,).

        Patterns `taken` (k,) have been found elsewhere for sure and do not compete.
        """
        others = self.amiss.copy() if taken is None else np.where(taken, np.inf, self.amiss)
        others[np.arange(len(self.fits)), self.fits.tags.pattern] = np.inf
        return np.asarray(others.min(axis=1, initial=np.inf) - self.own_amiss)

    @property
    def is_tag(self) -> Rows:
        """Which of the fits look like the tags that they are said to be, (n,)."""
        cells, border = self.inner_cells**2, 4 * self.inner_cells + 4
        return np.asarray(
            (self.fits.likeness >= np.maximum(_LEAST_LIKENESS, _MOST_HIDDEN * self._noisy))
            & (self.fits.gain_grey >= _LEAST_GAIN_GREY)
            & (self.own_amiss <= _MOST_CELLS_AMISS * cells)
            & (self.own_amiss <= _MOST_OF_RIVAL * self.rival_amiss)
            & (self.border_amiss <= _MOST_BORDER_AMISS * border)
        )

    @property
    def _noisy(self) -> Array:
        """The likeness that tags which are wholly seen have with as much noise, (n,)."""
        gain_grey = np.maximum(self.fits.gain_grey, _LEAST_GAIN_GREY)
        return np.asarray(1 / np.hypot(1, self.fits.noise_grey / (_CONTRAST * gain_grey)))

    def is_known(self, taken: Rows) -> Rows:
        """Which look like their tag, and like no other that is not `taken` (k,)."""
        wanted = _LEAST_MARGIN * np.minimum(self.rival_amiss, 1.0)
        wanted += _MARGIN_FOR_BORDER * self.border_amiss
        return np.asarray(self.is_tag & (self.margin(taken) >= wanted))

    @property
    def is_sure(self) -> Rows:
        """Which are known so well that their pattern need not be thought of elsewhere, (n,)."""
        nothing = np.zeros(self.amiss.shape[1], dtype=np.bool_)
        likely = self.fits.likeness >= _SURE_LIKENESS
        clear = self.margin() >= _SURE_MARGIN * self.rival_amiss
        return np.asarray(self.is_known(nothing) & likely & clear)


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
    border_amiss, rival_amiss = np.zeros(len(fits)), np.zeros(len(fits))
    for kind in kinds:
        rows = np.flatnonzero(np.isin(fits.tags.pattern, kind.pattern))
        if len(rows):
            seen = _seen_cells(grey, camera, patterns, kind, fits[rows])
            px_per_mm = camera.px_per_mm(fits.tags.places_mm[rows], kind.height_mm)
            px_per_cell = float(np.median(px_per_mm)) * kind.size_mm / patterns.side_cells
            meant, nearest = _expected(patterns.cells[kind.pattern], blur_px / px_per_cell)
            amiss[np.ix_(rows, kind.pattern)] = _inner_amiss(seen, meant)
            border_amiss[rows] = _border_amiss(seen, meant)
            own = np.searchsorted(kind.pattern, fits.tags.pattern[rows])
            rival_amiss[rows] = nearest[own]
    return Identities(fits, amiss, border_amiss, rival_amiss, patterns.inner_cells)


def _expected(cells: NDArray[np.uint8], blur_cells: float) -> tuple[Map, Array]:
    """The cells of tags with these inner cells (k, n, n) as seen, and `_nearest_other` of them.

    Remembered, as a part of a picture is soon searched; the blur is rounded to a fiftieth.
    """
    rounded = max(round(blur_cells * 50), 1) / 50
    return _expected_once(cells.tobytes(), cells.shape, rounded)


@lru_cache(maxsize=32)
def _expected_once(cells: bytes, shape: tuple[int, ...], blur_cells: float) -> tuple[Map, Array]:
    patterns = np.frombuffer(cells, dtype=np.uint8).reshape(shape)
    meant = tag_textures(patterns, blur_cells).cells
    nearest = _nearest_other(meant)
    meant.flags.writeable = nearest.flags.writeable = False
    return meant, nearest


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
    levels = cell_means(grey, to_picture.turned(step), np.zeros((len(fits), 2)), side)
    gain = np.maximum(fits.gain_grey, _LEAST_GAIN_GREY)[:, None, None]
    return np.asarray((levels - fits.black_grey[:, None, None]) / gain, dtype=np.float32)


def _inner_amiss(seen: Map, meant: Map) -> Array:
    """What is amiss with the inner cells of n tags as each of k patterns, best turned: (n, k)."""
    inner = seen[:, 1:-1, 1:-1].reshape(len(seen), 1, -1)
    turned = [np.rot90(meant[:, 1:-1, 1:-1], turns, axes=(1, 2)) for turns in range(4)]
    amiss = [_amiss(inner - pattern.reshape(1, len(meant), -1)).sum(axis=2) for pattern in turned]
    return np.asarray(np.min(amiss, axis=0), dtype=np.float64)


def _nearest_other(meant: Map) -> Array:
    """What is amiss with the nearest other pattern on each of k perfect tags, (k,)."""
    amiss = _inner_amiss(meant, meant)
    np.fill_diagonal(amiss, np.inf)
    return np.asarray(amiss.min(axis=1, initial=float(meant[0].size)))


def _border_amiss(seen: Map, meant: Map) -> Array:
    """What is amiss with the black border, (n,)."""
    amiss = _amiss(seen - meant.mean(axis=0))
    inside = amiss[:, 1:-1, 1:-1].sum(axis=(1, 2))
    return np.asarray(amiss.sum(axis=(1, 2)) - inside, dtype=np.float64)


def _amiss(difference: Map) -> Map:
    return np.asarray(np.minimum(difference * difference, 1))
