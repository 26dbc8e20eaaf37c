"""Identifies partly occluded tags: a name is accepted if every other one is much less likely.

A tag identified elsewhere is an unlikely name; a tag that lay here in the previous picture needs
less evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import Readings
from tablecam.vision.detection.points import (
    TagPoints,
    expected_values,
    tag_points,
    values_of_print,
)
from tablecam.vision.fitting.light import MIN_GAIN_GREY
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.hypotheses import Hypotheses
from tablecam.vision.identification.occluders import UNLIKELY_NATS, Explanations, explanations

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_RING = 0.38
_RING_TOLERANCE = 0.2
"""Sizes whose ring matches worse than another size's by more than this are not considered. Where
ground darker than ink bleeds into a rim of one cell, at 2 px a cell, tags of 15.8 mm matched the
ring of 14.4 mm better by up to 0.19; with that size alone, two were missed and one misnamed."""
_MOST_FOR_A_SQUARE = 3
_MOST_FREE, _MOST_TAKEN = 10, 2
_MOST_CANDIDATE_COST, _MOST_EXTRA_COST, _BLANK_PENALTY = 150.0, 12.0, 40.0
"""In nats, like the costs of `occluders`. Of 96 tags 15 to 50 % hidden that were identified in the
end, all cost 141 or less here, and 5 or less more than the best explanation; 95 of a hundred were
the best."""
_LEAST_LIKENESS_BEFORE_FIT = 0.55
"""Least likeness before the fit: all of 770 partly occluded tags that were accepted in the end had
0.61 or more on 20 simulated tables at 2 to 6 px a cell; half to three quarters of all others have
less."""
_IMPOSSIBLE_COST = 1e6

# Costs and margins are in nats, as in `occluders`. They are chosen so that no tag is taken for
# another in 108 pictures of tables of 120 tags, of two cameras, with 5,400 tags 15 to 50 % hidden
# by pieces of the same pictures and by flat black, white and grey ones; the least margin of a wrong
# one to the next threshold is 1.
_MARGIN = 8.0
"""Margin to every other missing pattern."""
_MARGIN_PER_PATTERN = 1 / 12
"""Extra margin per missing pattern: the best of many is good by chance."""
_MARGIN_IF_NO_TAGS = 6.0
"""Extra margin where no tag is identified, as there may be no table at all: without it, in 324
searches of photographs of other things, one came near acceptance."""
_LEAST_LEAD = 2.0
"""Margin to every unlikely name: a pattern taken, or not in the roster. With -1, one partly
occluded tag on 60 tables at 1.6 to 2.6 px a cell took the name of another."""
_MARGIN_TO_BLANK = 18.0
_MOST_COST, _MOST_COST_BEYOND_MARGIN = 110.0, 65.0
_MOST_COST_IF_ALIKE, _LIKENESS_IF_ALIKE = 125.0, 0.75
"""Tags with at least this likeness may have more hidden."""
_LEAST_LIKENESS, _LEAST_VISIBLE = 0.68, 0.5
"""Of 493 partly occluded tags read on such tables, one in a hundred had a likeness below 0.69; of
things that were no tags, at 1.6 and 1.8 px a cell, four had 0.62 to 0.66."""
_LEAST_GAIN_SHARE = 0.5
"""Least share of the contrast of identified tags: shadows take less. Of 493 tags read on 40
simulated tables and 4 rendered photographs, partly occluded and in shadows, the least had 0.56 of
it; clutter that looked like a partly occluded tag had 0.23, 0.31 and 0.48."""
_LEAST_RING_GAIN_SHARE = 0.15
"""The same for a square's ring, before the fit. On 18 simulated tables half of the squares had less
than 0.15; of 1,300 on which a tag was found in the end, 95 % had 0.56 or more."""
STAYED_NATS = 6.0
"""Prior in nats for a tag that lay within a third of a cell in the previous picture."""
_MARGIN_OF_COPY = 20.0
_LEAST_PLACE_LEAD = 10.0
"""Of two places that look like one tag, one must lead by this margin."""
_CLEARLY_A_TAG = 0.65
"""Least likeness at which a tag is reported although its name is unclear."""


def occluded_hypotheses(
    sight: FrameContext, readings: Sequence[Readings], is_left: Rows, taken: Rows
) -> Hypotheses:
    """Returns the few patterns that best explain each remaining square (n,).

    Patterns `taken` (k,) are identified elsewhere: they are considered only if they explain it
    better.
    """
    best_ring = np.max([reading.ring for reading in readings], axis=0)
    parts: list[_Explained] = []
    for reading in readings:
        is_this_size = (reading.ring >= _LEAST_RING) & (reading.ring >= best_ring - _RING_TOLERANCE)
        rows = np.flatnonzero(is_left & is_this_size)
        if len(rows):
            parts += _explained(sight, reading, rows, taken)
    square = np.concatenate([np.empty(0, np.int64), *(part.square for part in parts)])
    cost = np.concatenate([np.empty(0), *(part.cost for part in parts)])
    order = np.lexsort((cost, square))
    # Sorted by square and cost: `first` is the cheapest row of the same square.
    first = np.searchsorted(square[order], square[order])
    is_chosen = (np.arange(len(order)) - first < _MOST_FOR_A_SQUARE) & (
        cost[order] < _MOST_CANDIDATE_COST
    )
    chosen = order[is_chosen & (cost[order] - cost[order][first] < _MOST_EXTRA_COST)]
    return Hypotheses(TagGuesses.joined([part.guesses for part in parts])[chosen], square[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    """Guesses (n,), the square of each, and the cost of each explanation."""

    guesses: TagGuesses
    square: Index
    cost: Array


def _explained(
    sight: FrameContext, reading: Readings, rows: Index, taken: Rows
) -> list[_Explained]:
    """Returns the best patterns for some rows of a reading: missing ones, then those taken."""
    kind, many = reading.kind, np.ones(len(rows))
    upright = TagGuesses(
        np.zeros(len(rows), dtype=np.int64),
        reading.places_mm[rows],
        reading.headings_rad[rows],
        kind.height_mm * many,
        kind.size_mm * many,
    )
    points = tag_points(sight.patterns.side_cells)
    expected = expected_values(sight.patterns.cells[kind.pattern], sight.blur_cells(upright))
    seen = sight.values_at(upright, points)
    black, gain = _levels(seen, expected, points)
    # Grass and gravel look like squares of hardly any contrast.
    is_likely = gain >= _LEAST_RING_GAIN_SHARE * sight.gain_grey
    rows, upright = rows[is_likely], upright[is_likely]
    seen, black, gain = seen[is_likely], black[is_likely], gain[is_likely]
    if not len(rows):
        return []
    values = values_of_print(seen, black, gain, points)
    parts: list[_Explained] = []
    for is_taken, few, handicap in ((False, _MOST_FREE, 0.0), (True, _MOST_TAKEN, UNLIKELY_NATS)):
        patterns = np.flatnonzero(taken[kind.pattern] == is_taken)
        if len(patterns):
            noise = np.asarray(sight.noise_grey / gain, dtype=np.float64)
            best = explanations(values, expected[patterns], points, noise=noise, few=few)
            # A tag that a plain square explains as well is hardly one.
            cost = best.cost + handicap + _BLANK_PENALTY * (best.cost > best.blank[:, None])
            likeness = _likeness(values, expected[patterns][best.pattern, best.turns])
            cost = np.where(likeness < _LEAST_LIKENESS_BEFORE_FIT, _IMPOSSIBLE_COST, cost)
            row = np.arange(len(rows)).repeat(best.cost.shape[1])
            headings_rad = upright.headings_rad[row] + best.turns.ravel() * (np.pi / 2)
            guesses = replace(
                upright[row],
                pattern=kind.pattern[patterns[best.pattern.ravel()]],
                headings_rad=headings_rad,
            )
            parts.append(_Explained(guesses, rows[row], cost.ravel()))
    return parts


def _likeness(seen: Map, expected: Map) -> Array:
    """Returns the correlation of values (n, m) with each of r explanations (n, r, m): (n, r)."""
    known = ~np.isnan(seen)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    seen, expected = np.where(known, seen, 0), np.where(known[:, None], expected, 0)
    seen = (seen - seen.sum(axis=1, keepdims=True) / count) * known
    expected -= expected.sum(axis=2, keepdims=True) / count[:, None]
    expected *= known[:, None]
    norms = np.linalg.norm(seen, axis=1)[:, None] * np.linalg.norm(expected, axis=2)
    product = np.einsum("nm,nrm->nr", seen, expected)
    return np.asarray(product / np.maximum(norms, 1e-6), dtype=np.float64)


def _levels(seen: Map, expected: Map, points: TagPoints) -> tuple[Map, Map]:
    """Returns the grey of paint, and paper minus paint, from each patch's border and rim, (n,)."""
    # All tags share border and rim: their mean shows both.
    ring = expected.mean(axis=(0, 1))
    border, rim = (np.median(seen[:, part], axis=1) for part in (points.is_border, points.is_rim))
    expected_border, expected_rim = (
        np.median(ring[part]) for part in (points.is_border, points.is_rim)
    )
    gain = np.maximum((rim - border) / (expected_rim - expected_border), MIN_GAIN_GREY)
    return border - expected_border * gain, gain


@dataclass(frozen=True, slots=True, eq=False)
class OccludedTags:
    """Fits (n,) that may be partly occluded tags, and all explanations of each.

    `square` (n,) is the square of each. The patterns of `explanations` are rows of the whole
    dictionary, its first column is the fitted one. `lay_here_before` (n,) marks those that
    lay there before.
    """

    fits: TagFits
    square: Index
    ids: Index
    explanations: Explanations
    lay_here_before: Rows

    @property
    def own_cost(self) -> Array:
        """The cost of each as the fitted pattern, (n,)."""
        return self.explanations.cost[:, 0]

    def margin(self, rivals: Rows) -> tuple[Array, Index]:
        """Returns the margin to the best other of these patterns (k,), (n,), and that pattern."""
        extra_cost = np.where(rivals[self.explanations.pattern], self._extra_cost, np.inf)
        best = extra_cost.argmin(axis=1)
        rows = np.arange(len(best))
        return extra_cost[rows, best], self.explanations.pattern[rows, best]

    @property
    def _extra_cost(self) -> Array:
        """How much more each explanation but its own costs, (n, r); inf for its own."""
        is_own = (self.explanations.pattern == self.ids[:, None]) & (self.explanations.turns == 0)
        return np.where(is_own, np.inf, self.explanations.cost - self.own_cost[:, None])

    def identified(self, free: Rows, taken: Rows) -> Index:
        """Returns the rows that are identified, given which patterns (k,) are missing or taken."""
        margins = self._margins(free, is_alone=not taken.any())
        lead = self._extra_cost - np.take_along_axis(margins, self.explanations.pattern, axis=1)
        is_known = self.is_tag & free[self.ids] & (lead >= 0).all(axis=1)
        rows = self._without_rivals(is_known, margins)
        # Two squares may look like one tag: only a clear leader may take the name.
        rows = rows[self._leads(rows, self.margin(np.ones_like(free))[0])]
        return rows[~self._is_repeat(rows)]

    def _margins(self, free: Rows, *, is_alone: bool) -> Array:
        """Returns the margin that each pattern needs for a tag to be identified, (n, k)."""
        margin = _MARGIN + _MARGIN_PER_PATTERN * float(free.sum()) + _MARGIN_IF_NO_TAGS * is_alone
        margins = np.where(free, margin, _LEAST_LEAD)
        return np.asarray(margins - STAYED_NATS * self.lay_here_before[:, None])

    def _leads(self, rows: Index, margin: Array) -> Rows:
        """Returns which rows lead all rivals for their pattern, or have none.

        A partly occluded tag may look like one elsewhere that is seen better.
        """
        places_mm, sizes_mm = self.fits.tags.places_mm[rows], self.fits.tags.sizes_mm[rows]
        distance_mm = np.linalg.norm(places_mm[:, None] - places_mm, axis=2)
        rivals = (self.ids[rows, None] == self.ids[rows]) & (distance_mm > sizes_mm / 2)
        lead = margin[rows, None] - margin[rows] >= _LEAST_PLACE_LEAD
        return np.asarray((lead | ~rivals).all(axis=1) | ~rivals.any(axis=1))

    def _is_repeat(self, rows: Index) -> Rows:
        """Returns which rows, the cheapest first, repeat an earlier one at the same place."""
        places_mm, sizes_mm = self.fits.tags.places_mm[rows], self.fits.tags.sizes_mm[rows]
        overlaps = np.linalg.norm(places_mm[:, None] - places_mm, axis=2) < sizes_mm / 2
        is_repeat = overlaps & (self.ids[rows, None] == self.ids[rows])
        return np.asarray(np.tril(is_repeat, -1).any(axis=1))

    def copies(self, taken: Rows) -> Index:
        """Returns the rows that certainly show one of the patterns `taken` (k,) elsewhere."""
        is_copy = self.is_tag & taken[self.ids]
        is_copy &= self.margin(np.ones_like(taken))[0] >= _MARGIN_OF_COPY
        return self._without_rivals(is_copy, np.full((len(self.ids), len(taken)), _MARGIN_OF_COPY))

    def unclear(self, free: Rows) -> tuple[Index, Index]:
        """Returns the rows that certainly show a tag, probably one of `free`, and its rival."""
        margin, rival = self.margin(np.ones_like(free))
        is_unclear = self.is_tag & free[self.ids] & (margin > 0)
        is_unclear &= self.fits.likeness >= _CLEARLY_A_TAG
        rows = best_of_each(self.square, np.flatnonzero(is_unclear), self.own_cost)
        return rows, rival[rows]

    def _without_rivals(self, chosen: Rows, margins: Array) -> Index:
        """Returns the cheapest chosen row of each square if no other pattern comes close.

        Another pattern may have been fitted to the same square at another place or size; it must
        cost `margins` (n, k) more.
        """
        rows = best_of_each(self.square, np.flatnonzero(chosen), self.own_cost)
        if not len(rows):
            return rows
        is_close_rival = self.square[rows, None] == self.square
        is_close_rival &= self.ids[rows, None] != self.ids
        is_close_rival &= self.own_cost < self.own_cost[rows, None] + margins[rows][:, self.ids]
        return np.asarray(rows[~(is_close_rival & self.is_tag).any(axis=1)])

    @property
    def is_tag(self) -> Rows:
        """Which look like some tag, whatever its name, with something over it."""
        to_blank = self.explanations.blank - self.own_cost
        # A square that a blank card explains almost as well may have less over it.
        most = np.minimum(_MOST_COST, _MOST_COST_BEYOND_MARGIN + to_blank)
        most = np.where(self.fits.likeness >= _LIKENESS_IF_ALIKE, _MOST_COST_IF_ALIKE, most)
        return np.asarray((self.own_cost <= most) & (to_blank >= _MARGIN_TO_BLANK))


def plausible_fits(fits: TagFits, usual_gain_grey: float) -> Rows:
    """Returns which fits may be partly occluded tags: much of what is visible is as predicted.

    Their contrast must be near the usual one of the picture's tags, 0 if unknown.
    """
    return np.asarray(
        (fits.likeness >= _LEAST_LIKENESS)
        & (fits.visible_share >= _LEAST_VISIBLE)
        & (fits.gain_grey >= max(MIN_GAIN_GREY, _LEAST_GAIN_SHARE * usual_gain_grey))
    )


def explain_occluded(
    sight: FrameContext, fits: TagFits, square: Index, was_here: Rows
) -> OccludedTags:
    """Compares fits with the whole dictionary."""
    ids = sight.patterns.ids[fits.tags.pattern]
    points = tag_points(sight.patterns.side_cells)
    levels = sight.values_at(fits.tags, points)
    gain = np.maximum(fits.gain_grey, MIN_GAIN_GREY)
    values = values_of_print(levels, fits.black_grey, gain, points, fits.glare)
    parts, rows = [], []
    sizes = fits.tags.sizes_mm
    for size_mm in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size_mm)
        expected = expected_values(sight.dictionary.cells, sight.blur_cells(fits.tags[of_size]))
        noise = sight.noise_grey / gain[of_size]
        parts.append(
            explanations(values[of_size], expected, points, noise=noise, always=ids[of_size, None])
        )
        rows.append(of_size)
    order = np.argsort(np.concatenate([np.empty(0, np.int64), *rows]))
    return OccludedTags(fits, square, ids, Explanations.joined(parts)[order], was_here)


def best_of_each(group: Index, rows: Index, cost: Array) -> Index:
    """Returns the cheapest of these rows in each group, the cheapest first."""
    ordered = rows[np.argsort(cost[rows], kind="stable")]
    _, first = np.unique(group[ordered], return_index=True)
    return np.asarray(ordered[np.sort(first)])
