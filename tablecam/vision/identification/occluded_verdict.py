"""Which tag each half hidden tag is: the one that leaves nothing else to be.

What lies on the table for sure is no likely name for anything else, and a tag that lay here in
the picture before needs less to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import Readings
from tablecam.vision.detection.points import TagPoints, expected_at_points, tag_points
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.hypotheses import Hypotheses
from tablecam.vision.identification.occluders import UNLIKELY_NATS, Explanations, explanations

Map = NDArray[np.float32]

_LEAST_RING = 0.38
_RING_SLACK = 0.2
"""Tags of sizes whose ring is so much less like a tag's than another size's are not thought of.
Where ground darker than ink bleeds into a rim of one cell, at 2 px a cell, tags of 15.8 mm looked
like ones of 14.4 mm by up to 0.19: thought of as these alone, two were missed and one misnamed."""
_MOST_FOR_A_SQUARE = 3
_MOST_FREE, _MOST_TAKEN = 10, 2
_MOST_COST_OF_CANDIDATE, _MOST_MORE, _FOR_BLANK = 150.0, 12.0, 40.0
"""In nats, as `occluders` counts. Of 96 tags 15 to 50 % hidden that were known in the end, all cost
141 or less here, and 5 or less more than the best explanation; 95 of a hundred were the best."""
_LEAST_ALIKE = 0.55
"""Before it is fitted: all of 770 half hidden tags that were alike enough in the end had 0.61 or
more on 20 simulated tables at 2 to 6 px a cell; half to three quarters of all others have less."""
_OUT_OF_THE_QUESTION = 1e6


def half_hidden_hypotheses(
    sight: Sight, readings: Sequence[Readings], is_left: Rows, taken: Rows
) -> Hypotheses:
    """The few patterns that squares which are left (n,) are best explained by.

    Patterns `taken` (k,) were found elsewhere: they are thought of only where they explain more.
    """
    best_ring = np.max([reading.ring for reading in readings], axis=0)
    parts: list[_Explained] = []
    for reading in readings:
        fits_in = (reading.ring >= _LEAST_RING) & (reading.ring >= best_ring - _RING_SLACK)
        rows = np.flatnonzero(is_left & fits_in)
        if len(rows):
            parts += _explained(sight, reading, rows, taken)
    square = np.concatenate([np.empty(0, np.int64), *(part.square for part in parts)])
    cost = np.concatenate([np.empty(0), *(part.cost for part in parts)])
    order = np.lexsort((cost, square))
    first = np.searchsorted(square[order], square[order])
    near = (np.arange(len(order)) - first < _MOST_FOR_A_SQUARE) & (
        cost[order] < _MOST_COST_OF_CANDIDATE
    )
    chosen = order[near & (cost[order] - cost[order][first] < _MOST_MORE)]
    return Hypotheses(TagGuesses.joined([part.guesses for part in parts])[chosen], square[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    """Guesses (n,), the square that each is about, and what it costs to believe it."""

    guesses: TagGuesses
    square: Index
    cost: Array


def _explained(sight: Sight, reading: Readings, rows: Index, taken: Rows) -> list[_Explained]:
    """The best patterns for some rows of a reading: of those that are free, and of the others."""
    kind, many = reading.kind, np.ones(len(rows))
    upright = TagGuesses(
        np.zeros(len(rows), dtype=np.int64),
        reading.places_mm[rows],
        reading.headings_rad[rows],
        kind.height_mm * many,
        kind.size_mm * many,
    )
    points = tag_points(sight.patterns.side_cells)
    expected = expected_at_points(sight.patterns.cells[kind.pattern], sight.blur_cells(upright))
    seen = sight.seen(upright, points)
    black, gain = _levels(seen, expected, points)
    shown = (seen - black[:, None]) / gain[:, None]
    parts: list[_Explained] = []
    for is_taken, few, handicap in ((False, _MOST_FREE, 0.0), (True, _MOST_TAKEN, UNLIKELY_NATS)):
        mine = np.flatnonzero(taken[kind.pattern] == is_taken)
        if len(mine):
            noise = np.asarray(sight.noise_grey / gain, dtype=np.float64)
            found = explanations(shown, expected[mine], points, noise=noise, few=few)
            # What is as well explained by a plain square is hardly a tag.
            cost = found.cost + handicap + _FOR_BLANK * (found.cost > found.blank[:, None])
            alike = _likeness(shown, expected[mine][found.pattern, found.turns])
            cost = np.where(alike < _LEAST_ALIKE, _OUT_OF_THE_QUESTION, cost)
            each = np.arange(len(rows)).repeat(found.cost.shape[1])
            turned = upright.headings_rad[each] + found.turns.ravel() * (np.pi / 2)
            guesses = replace(
                upright[each],
                pattern=kind.pattern[mine[found.pattern.ravel()]],
                headings_rad=turned,
            )
            parts.append(_Explained(guesses, rows[each], cost.ravel()))
    return parts


def _likeness(seen: Map, meant: Map) -> Array:
    """The correlation of what is seen (n, m) with each of r explanations (n, r, m): (n, r)."""
    seen = seen - seen.mean(axis=1, keepdims=True)
    meant = meant - meant.mean(axis=2, keepdims=True)
    spread = np.linalg.norm(seen, axis=1)[:, None] * np.linalg.norm(meant, axis=2)
    together = np.einsum("nm,nrm->nr", seen, meant)
    return np.asarray(together / np.maximum(spread, 1e-6), dtype=np.float64)


def _levels(seen: Map, expected: Map, points: TagPoints) -> tuple[Map, Map]:
    """The grey of paint, and how much brighter paper is, by border and rim of each patch, (n,)."""
    ring = expected.mean(axis=(0, 1))
    border, rim = (np.median(seen[:, part], axis=1) for part in (points.is_border, points.is_rim))
    border_meant, rim_meant = (np.median(ring[part]) for part in (points.is_border, points.is_rim))
    gain = np.maximum((rim - border) / (rim_meant - border_meant), _LEAST_GAIN_GREY)
    return border - border_meant * gain, gain


Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_GAIN_GREY = 8.0

# Costs and margins are in nats, as far as those of `occluders` are. They were chosen so that no
# tag was taken for another in 108 pictures of tables of 120 tags, of two cameras, with 5,400 tags
# 15 to 50 % hidden by pieces of the same pictures and by flat black, white and grey ones; least
# margin of a wrong one to the next threshold: 1.
_MARGIN = 8.0
"""How much more every other pattern that is free must cost."""
_MARGIN_A_NAME = 1 / 12
"""More of it for each pattern that is free: the best of many is good by chance."""
_MARGIN_ALONE = 6.0
"""Where nothing is a tag for sure there may be no table at all: without it, in 324 searches of
photographs of other things, one thing came near."""
_LEAST_AHEAD = 2.0
"""How much more every pattern must cost that is taken, or not of the roster: unlikely ones. With
-1, one half hidden tag on 60 tables at 1.6 to 2.6 px a cell took the name of another."""
_MARGIN_TO_BLANK = 18.0
_MOST_COST, _MOST_COST_BEYOND_MARGIN = 110.0, 65.0
_MOST_COST_IF_ALIKE, _ALIKE = 125.0, 0.75
"""What looks as much like the tag as this may have more over it."""
_LEAST_LIKENESS, _LEAST_VISIBLE = 0.68, 0.5
"""Of 493 tags that were read on such tables, half hidden, one in a hundred was less like itself
than 0.69; of things that were none, at 1.6 and 1.8 px a cell, four had 0.62 to 0.66."""
_LEAST_OF_GAIN = 0.5
"""Of the contrast of the tags that are known: shadows take less. Of 493 tags that were read on 40
simulated tables and 4 rendered photographs, half hidden and in shadows, the least had 0.56 of it;
things that were no tags at all, but looked like one half hidden, had 0.23, 0.31 and 0.48."""
_LIKELIER_BEFORE = 6.0
"""What lay here in the picture before, to a third of a cell, is so much likelier to do so still."""
_MARGIN_OF_COPY = 20.0
_OUTDONE_BY = 10.0
"""Of two places that look like one tag the one whose margin is so much larger is it."""
_CLEARLY_A_TAG = 0.65
"""When it is told that a tag is there, though not which."""


@dataclass(frozen=True, slots=True, eq=False)
class HalfHidden:
    """Fits (n,) that may be half hidden tags, and all that each could be.

    `square` (n,) is what each is about. The patterns of `found` are those of the whole dictionary,
    its first column is what is fitted. `was_here` (n,) tells which lay there before.
    """

    fits: TagFits
    square: Index
    ids: Index
    found: Explanations
    was_here: Rows

    def __getitem__(self, rows: Index) -> HalfHidden:
        return HalfHidden(
            self.fits[rows],
            self.square[rows],
            self.ids[rows],
            self.found[rows],
            self.was_here[rows],
        )

    def rivals(self, most: int) -> tuple[Index, Index, Index]:
        """The cheapest other explanations of each, at most so many: row, pattern and turns."""
        order = np.argsort(self._more, axis=1, kind="stable")[:, :most]
        row = np.arange(len(self.ids)).repeat(order.shape[1])
        column = order.ravel()
        return row, self.found.pattern[row, column], self.found.turns[row, column]

    @property
    def own(self) -> Array:
        """What each costs as what it is fitted as, (n,)."""
        return self.found.cost[:, 0]

    def margin(self, rivals: Rows) -> tuple[Array, Index]:
        """How much more the best other pattern of these (k,) costs, (n,), and which it is."""
        more = np.where(rivals[self.found.pattern], self._more, np.inf)
        best = more.argmin(axis=1)
        every = np.arange(len(best))
        return more[every, best], self.found.pattern[every, best]

    @property
    def _more(self) -> Array:
        """How much more each explanation but its own costs, (n, r); inf for its own."""
        itself = (self.found.pattern == self.ids[:, None]) & (self.found.turns == 0)
        return np.where(itself, np.inf, self.found.cost - self.own[:, None])

    def known(self, free: Rows, taken: Rows) -> Index:
        """The rows that are known when these patterns (k,) of the dictionary are free, or taken."""
        wanted = self._wanted(free, is_alone=not taken.any())
        ahead = self._more - np.take_along_axis(wanted, self.found.pattern, axis=1)
        is_known = self.is_tag & free[self.ids] & (ahead >= 0).all(axis=1)
        rows = self._alone(is_known, wanted)
        rows = rows[self._outdo(rows, self.margin(np.ones_like(free))[0])]
        return rows[~self._again(rows)]

    def _wanted(self, free: Rows, *, is_alone: bool) -> Array:
        """How much more each pattern must cost where a tag is to be known, (n, k)."""
        margin = _MARGIN + _MARGIN_A_NAME * float(free.sum()) + _MARGIN_ALONE * is_alone
        wanted = np.where(free, margin, _LEAST_AHEAD)
        return np.asarray(wanted - _LIKELIER_BEFORE * self.was_here[:, None])

    def _outdo(self, rows: Index, margin: Array) -> Rows:
        """Which of the rows are by far the best to be their pattern; all where it is another's.

        A tag that is half hidden may look like one that lies elsewhere and can be seen better.
        """
        places_mm, sizes_mm = self.fits.tags.places_mm[rows], self.fits.tags.sizes_mm[rows]
        away_mm = np.linalg.norm(places_mm[:, None] - places_mm, axis=2)
        rivals = (self.ids[rows, None] == self.ids[rows]) & (away_mm > sizes_mm / 2)
        ahead = margin[rows, None] - margin[rows] >= _OUTDONE_BY
        return np.asarray((ahead | ~rivals).all(axis=1) | ~rivals.any(axis=1))

    def _again(self, rows: Index) -> Rows:
        """Which of the rows, the cheapest first, are one before at the same place."""
        places_mm, sizes_mm = self.fits.tags.places_mm[rows], self.fits.tags.sizes_mm[rows]
        near = np.linalg.norm(places_mm[:, None] - places_mm, axis=2) < sizes_mm / 2
        same = near & (self.ids[rows, None] == self.ids[rows])
        return np.asarray(np.tril(same, -1).any(axis=1))

    def copies(self, taken: Rows) -> Index:
        """The rows that are surely one of the patterns `taken` (k,), which lie elsewhere too."""
        is_copy = self.is_tag & taken[self.ids]
        is_copy &= self.margin(np.ones_like(taken))[0] >= _MARGIN_OF_COPY
        return self._alone(is_copy, np.full((len(self.ids), len(taken)), _MARGIN_OF_COPY))

    def unclear(self, free: Rows) -> tuple[Index, Index]:
        """The rows that are surely tags, likely of these patterns (k,); and the likeliest rival."""
        margin, rival = self.margin(np.ones_like(free))
        is_unclear = self.is_tag & free[self.ids] & (margin > 0)
        is_unclear &= self.fits.likeness >= _CLEARLY_A_TAG
        rows = best_of_each(self.square, np.flatnonzero(is_unclear), self.own)
        return rows, rival[rows]

    def _alone(self, chosen: Rows, wanted: Array) -> Index:
        """The cheapest chosen row of each square, but where another pattern costs as little.

        Another pattern may have been fitted to the same square elsewhere, or at another size.
        `wanted` (n, k) is how much more it must cost there.
        """
        rows = best_of_each(self.square, np.flatnonzero(chosen), self.own)
        if not len(rows):
            return rows
        beside = self.square[rows, None] == self.square
        beside &= self.ids[rows, None] != self.ids
        beside &= self.own < self.own[rows, None] + wanted[rows][:, self.ids]
        return np.asarray(rows[~(beside & self.is_tag).any(axis=1)])

    @property
    def is_tag(self) -> Rows:
        """Which look like some tag, whichever, with something over it."""
        to_blank = self.found.blank - self.own
        most = np.minimum(_MOST_COST, _MOST_COST_BEYOND_MARGIN + to_blank)
        most = np.where(self.fits.likeness >= _ALIKE, _MOST_COST_IF_ALIKE, most)
        return np.asarray((self.own <= most) & (to_blank >= _MARGIN_TO_BLANK))


def may_be_tags(fits: TagFits, usual_gain_grey: float) -> Rows:
    """Which fits are worth more thought: much of what is seen there is as predicted.

    They must be about as rich in contrast as is usual for the picture's tags; 0 where unknown.
    """
    return np.asarray(
        (fits.likeness >= _LEAST_LIKENESS)
        & (fits.visible_share >= _LEAST_VISIBLE)
        & (fits.gain_grey >= max(_LEAST_GAIN_GREY, _LEAST_OF_GAIN * usual_gain_grey))
    )


def half_hidden(sight: Sight, fits: TagFits, square: Index, was_here: Rows) -> HalfHidden:
    """All that fits could be: each compared with the whole dictionary."""
    ids = sight.patterns.ids[fits.tags.pattern]
    return HalfHidden(fits, square, ids, explained(sight, fits, ids[:, None]), was_here)


def explained(sight: Sight, fits: TagFits, ids: Index) -> Explanations:
    """What each fit may be, the tags `ids` (n, a) first."""
    points = tag_points(sight.patterns.side_cells)
    levels = sight.seen(fits.tags, points)
    gain = np.maximum(fits.gain_grey, _LEAST_GAIN_GREY)
    shown = ((levels - fits.black_grey[:, None]) / gain[:, None]).astype(np.float32)
    parts, rows = [], []
    sizes = fits.tags.sizes_mm
    for size_mm in np.unique(sizes):
        mine = np.flatnonzero(sizes == size_mm)
        expected = expected_at_points(sight.dictionary.cells, sight.blur_cells(fits.tags[mine]))
        noise = sight.noise_grey / gain[mine]
        parts.append(explanations(shown[mine], expected, points, noise=noise, always=ids[mine]))
        rows.append(mine)
    back = np.argsort(np.concatenate([np.empty(0, np.int64), *rows]))
    return Explanations.joined(parts)[back]


def best_of_each(group: Index, rows: Index, cost: Array) -> Index:
    """Of these rows the cheapest of each group, the cheapest first."""
    ordered = rows[np.argsort(cost[rows], kind="stable")]
    _, first = np.unique(group[ordered], return_index=True)
    return np.asarray(ordered[np.sort(first)])
