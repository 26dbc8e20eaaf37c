"""Verifies which tag a fit shows by comparing its cells with all patterns of its kind.

A wrong name is worse than a missing one. A tag must look like its own pattern and like no other of
its kind, and enough of its border must be visible to trust the cells inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.decode import cell_means, steps_right_and_up
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.points import sample_points, tag_points, values_of_print
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.light import MIN_GAIN_GREY
from tablecam.vision.fitting.local_map import table_to_picture
from tablecam.vision.fitting.tags import TagFits
from tablecam.vision.fitting.texture import tag_textures

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Rows = NDArray[np.bool_]


# A mismatch is the squared difference of a cell from its expected value, 1 for a wrong cell.
# Measured on four pictures with 461 tags at least 85 % visible, 2.3 to 4 px a cell, 16 cells and a
# border of 20: at most 0.5 for the cells and 1 for the border of all but two (0.9 and 2.0),
# likeness 0.81 or more, and other patterns mismatch more by as much as they differ in print. Other
# things had a likeness of at most 0.70 or a border mismatch above 2.3. Partly occluded tags remain:
# three hidden cells can turn one tag into another.
_LEAST_LIKENESS = 0.75
_LEAST_LIKENESS_SHARE, _LEAST_SHARE_IF_PLAIN = 0.93, 0.97
"""Least likeness, as a share of an unoccluded tag's. 98 % of 978 tags at least 85 % visible had
more; of 2,900 tags 15 to 50 % hidden, 12 had less and looked like another: `occluded_verdict`
examines all that have less. Plain tags need more: something dark over another tag's white cells
leaves few white cells. Of 3,800 half hidden tags two became tag 17, with 0.935 and 0.955."""
_TAG_SIGMA = 0.45
"""Standard deviation of a tag's own pixels, black to white; about half of them are white."""
_MOST_CELL_MISMATCH = 1.0 / 16
_MOST_RIVAL_SHARE = 0.5
"""A tag must be nearer to its pattern than half way to the next one: a tag of another roster is
three cells away."""
_MOST_BORDER_MISMATCH = 2.3 / 20
_LEAST_MARGIN, _MOST_MARGIN = 0.5, 1.0
"""Share of the mismatch with the nearest other pattern; for tags without glare, of at most one
cell."""
_MARGIN_FOR_BORDER = 0.5
"""Extra margin per border mismatch: if the border is hidden, cells may be too, and resemble
another tag's."""
_UNMISTAKABLE_MARGIN, _UNMISTAKABLE_SHARE = 0.65, 0.97
"""For tags named before their neighbours are known: least margin, as a share of the mismatch with
the nearest other pattern, or else least likeness, as a share of an unoccluded tag's. Five of
45,600 half hidden tags took another's name then, with margins up to 0.62 and shares up to 0.964; of
661 clear tags on crowded tables nine in ten have more."""
_SURE_LIKENESS = 0.85
_SURE_MARGIN = 0.75


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """How well fitted tags match their patterns, in columns of n rows.

    `mismatch` (n, k) is the mismatch of the inner cells with each of the roster's k patterns at its
    best turn; inf for patterns of another kind. `border_mismatch` (n,) is that of the black border,
    `rival_mismatch` (n,) that of the nearest other pattern with a perfect picture of the tag.
    `is_plain` (n,): most of its cells have one colour.
    """

    fits: TagFits
    mismatch: Array
    border_mismatch: Array
    rival_mismatch: Array
    is_plain: Rows
    inner_cells: int

    @property
    def own_mismatch(self) -> Array:
        """The mismatch of the cells with the fitted pattern, (n,)."""
        return np.asarray(self.mismatch[np.arange(len(self.fits)), self.fits.tags.pattern])

    def margin(self, taken: Rows | None = None) -> Array:
        """Returns how much more the best other pattern mismatches, (n,).

        Patterns `taken` (k,) are identified elsewhere and do not compete.
        """
        others = self.mismatch.copy() if taken is None else np.where(taken, np.inf, self.mismatch)
        # A tag does not compete with itself.
        others[np.arange(len(self.fits)), self.fits.tags.pattern] = np.inf
        return np.asarray(others.min(axis=1, initial=np.inf) - self.own_mismatch)

    @property
    def is_tag(self) -> Rows:
        """Which fits look like their own tags, (n,)."""
        cells, border = self.inner_cells**2, 4 * self.inner_cells + 4
        share = np.where(self.is_plain, _LEAST_SHARE_IF_PLAIN, _LEAST_LIKENESS_SHARE)
        return np.asarray(
            (self.fits.likeness >= _LEAST_LIKENESS)
            & (self.likeness_share >= share)
            & (self.fits.gain_grey >= MIN_GAIN_GREY)
            & (self.own_mismatch <= _MOST_CELL_MISMATCH * cells)
            & (self.own_mismatch <= _MOST_RIVAL_SHARE * self.rival_mismatch)
            & (self.border_mismatch <= _MOST_BORDER_MISMATCH * border)
        )

    @property
    def likeness_share(self) -> Array:
        """The likeness as a share of that of unoccluded tags at the same noise, (n,)."""
        gain_grey = np.maximum(self.fits.gain_grey, MIN_GAIN_GREY)
        noise = self.fits.noise_grey / (_TAG_SIGMA * gain_grey)
        return np.asarray(self.fits.likeness * np.hypot(1, noise))

    def is_known(self, taken: Rows) -> Rows:
        """Returns which fits look like their tag, and like no other that is not `taken` (k,)."""
        # Under a lamp cells may be unknown: the others must separate the tags half as well.
        most = np.where(self.fits.glare.any(axis=1), np.inf, _MOST_MARGIN)
        least_margin = _LEAST_MARGIN * np.minimum(self.rival_mismatch, most)
        # A hidden border suggests hidden cells, which may look like another pattern.
        least_margin += _MARGIN_FOR_BORDER * self.border_mismatch
        return np.asarray(self.is_tag & (self.margin(taken) >= least_margin))

    @property
    def is_unmistakable(self) -> Rows:
        """Which fits show no sign of an occluder that could have turned another tag into theirs."""
        is_clear = self.margin() >= _UNMISTAKABLE_MARGIN * self.rival_mismatch
        is_clear |= self.likeness_share >= _UNMISTAKABLE_SHARE
        # Cells hidden by a lamp do not separate tags either.
        return np.asarray(is_clear | self.fits.glare.any(axis=1))

    @property
    def is_sure(self) -> Rows:
        """Which fits are so clear that their pattern need not be considered elsewhere, (n,)."""
        nothing = np.zeros(self.mismatch.shape[1], dtype=np.bool_)
        likely = self.fits.likeness >= _SURE_LIKENESS
        clear = self.margin() >= _SURE_MARGIN * self.rival_mismatch
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
    """Compares fitted tags with all patterns of their kind."""
    mismatch = np.full((len(fits), len(patterns.ids)), np.inf)
    border_mismatch, rival_mismatch = np.zeros(len(fits)), np.zeros(len(fits))
    for kind in kinds:
        rows = np.flatnonzero(np.isin(fits.tags.pattern, kind.pattern))
        if len(rows):
            seen = _seen_cells(grey, camera, patterns, kind, fits[rows])
            px_per_mm = camera.px_per_mm(fits.tags.places_mm[rows], kind.height_mm)
            # One blur for all tags of a kind: their scales in a picture are similar.
            px_per_cell = float(np.median(px_per_mm)) * kind.size_mm / patterns.side_cells
            expected, nearest = _expected(patterns.cells[kind.pattern], blur_px / px_per_cell)
            mismatch[np.ix_(rows, kind.pattern)] = _inner_mismatch(seen, expected)
            border_mismatch[rows] = _border_mismatch(seen, expected)
            # The patterns of a kind are sorted, so this is each fit's place among them.
            own = np.searchsorted(kind.pattern, fits.tags.pattern[rows])
            rival_mismatch[rows] = nearest[own]
    is_plain = patterns.is_plain[fits.tags.pattern]
    return Identities(
        fits, mismatch, border_mismatch, rival_mismatch, is_plain, patterns.inner_cells
    )


def _expected(cells: NDArray[np.uint8], blur_cells: float) -> tuple[Map, Array]:
    """Returns the blurred cells (k, n, n) of tags, and `_nearest_other` for them.

    Cached, as parts of a picture are searched often; the blur is rounded to a fiftieth of a cell.
    """
    rounded = max(round(blur_cells * 50), 1) / 50
    return _expected_once(cells.tobytes(), cells.shape, rounded)


@lru_cache(maxsize=32)
def _expected_once(cells: bytes, shape: tuple[int, ...], blur_cells: float) -> tuple[Map, Array]:
    """Computes the cells once and caches them, read-only."""
    patterns = np.frombuffer(cells, dtype=np.uint8).reshape(shape)
    expected = tag_textures(patterns, blur_cells).cells
    nearest = _nearest_other(expected)
    expected.flags.writeable = nearest.flags.writeable = False
    return expected, nearest


def _seen_cells(
    grey: Grey, camera: Camera, patterns: TagPatterns, kind: TagKind, fits: TagFits
) -> Map:
    """Returns the cells of the black square, from 0 for the tag's paint to 1 for its paper."""
    side = patterns.side_cells
    cell_mm = kind.size_mm / side
    to_picture = table_to_picture(
        camera, fits.tags.places_mm, fits.tags.heights_mm, kind.size_mm / 2
    )
    step = steps_right_and_up(fits.tags.headings_rad) * cell_mm
    levels = cell_means(grey, to_picture.turned(step), np.zeros((len(fits), 2)), side)
    gain = np.maximum(fits.gain_grey, MIN_GAIN_GREY)[:, None, None]
    seen = ((levels - fits.black_grey[:, None, None]) / gain).astype(np.float32)
    lit = np.flatnonzero(fits.glare.any(axis=1))
    if len(lit):
        seen[lit] = _cells_without_lamps(grey, camera, fits[lit], side)
    return seen


def _cells_without_lamps(grey: Grey, camera: Camera, fits: TagFits, side_cells: int) -> Map:
    """Returns the cells of tags that reflect a lamp, less its light; NaN where unknown."""
    points, tags = tag_points(side_cells), fits.tags
    cells_mm = tags.sizes_mm / side_cells
    levels = sample_points(
        grey, camera, points, cells_mm, tags.places_mm, tags.headings_rad, tags.heights_mm
    )
    gain = np.maximum(fits.gain_grey, MIN_GAIN_GREY)
    values = values_of_print(levels, fits.black_grey, gain, points, fits.glare)
    across = math.isqrt(values.shape[1])
    on_square = values.reshape(-1, across, across)[:, 1:-1, 1:-1]
    of_cells = on_square.reshape(len(fits), side_cells, 2, side_cells, 2)
    is_known = ~np.isnan(of_cells)
    count = is_known.sum(axis=(2, 4))
    total = np.where(is_known, of_cells, 0).sum(axis=(2, 4))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)


def _inner_mismatch(seen: Map, expected: Map) -> Array:
    """Returns the mismatch of n tags' inner cells with k patterns, best turned: (n, k)."""
    inner = seen[:, 1:-1, 1:-1].reshape(len(seen), 1, -1)
    # A rival may lie in any quarter turn.
    turned = [np.rot90(expected[:, 1:-1, 1:-1], turns, axes=(1, 2)) for turns in range(4)]
    mismatch = [
        _mismatch(inner - pattern.reshape(1, len(expected), -1)).sum(axis=2) for pattern in turned
    ]
    return np.asarray(np.min(mismatch, axis=0), dtype=np.float64)


def _nearest_other(expected: Map) -> Array:
    """Returns the mismatch of k perfect tags with the nearest other pattern, (k,)."""
    mismatch = _inner_mismatch(expected, expected)
    # A pattern is not its own rival.
    np.fill_diagonal(mismatch, np.inf)
    return np.asarray(mismatch.min(axis=1, initial=float(expected[0].size)))


def _border_mismatch(seen: Map, expected: Map) -> Array:
    """Returns the mismatch of the black border, (n,)."""
    # All patterns share the border, so their mean shows it.
    mismatch = _mismatch(seen - expected.mean(axis=0))
    inside = mismatch[:, 1:-1, 1:-1].sum(axis=(1, 2))
    return np.asarray(mismatch.sum(axis=(1, 2)) - inside, dtype=np.float64)


def _mismatch(difference: Map) -> Map:
    """Returns the squared difference, at most 1."""
    # Unknown cells, NaN, contradict nothing.
    return np.asarray(np.fmax(np.minimum(difference * difference, 1), 0))
