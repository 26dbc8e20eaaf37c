"""Which tag each half hidden tag is: the one that leaves nothing else to be.

What lies on the table for sure is no likely name for anything else, and a tag that lay here in
the picture before needs less to be believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.occluders import Explanations, explanations
from tablecam.vision.points import expected_at_points, tag_points
from tablecam.vision.sight import Sight
from tablecam.vision.tags import TagFits

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
_LEAST_AHEAD = 3.0
"""How much more every pattern must cost that is taken, or not of the roster: unlikely ones. With
-1, two half hidden tags on 36 tables at 1.6 to 2.6 px a cell took the name of another."""
_MARGIN_TO_BLANK = 18.0
_MOST_COST, _MOST_COST_BEYOND_MARGIN = 110.0, 70.0
_LEAST_LIKENESS, _LEAST_VISIBLE = 0.68, 0.5
"""Of 493 tags that were read on such tables, half hidden, one in a hundred was less like itself
than 0.69; of things that were none, at 1.6 and 1.8 px a cell, four had 0.62 to 0.66."""
_LEAST_OF_GAIN = 0.42
"""Of the contrast of the tags that are known: shadows take less. Of 493 tags that were read on 40
simulated tables and 4 rendered photographs, half hidden and in shadows, the least had 0.56 of it;
two things that were no tags at all, but looked like one half hidden, had 0.23 and 0.31."""
_LIKELIER_BEFORE = 6.0
"""What lay here in the picture before, to a third of a cell, is so much likelier to do so still."""
_MARGIN_OF_COPY = 20.0
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

    @property
    def own(self) -> Array:
        """What each costs as what it is fitted as, (n,)."""
        return self.found.cost[:, 0]

    def margin(self, rivals: Rows) -> tuple[Array, Index]:
        """How much more the best other pattern of these (k,) costs, (n,), and which it is."""
        other = np.where(rivals[self.found.pattern], self.found.cost, np.inf)
        other[:, 0] = np.inf
        itself = (self.found.pattern == self.ids[:, None]) & (self.found.turns == 0)
        other[itself] = np.inf
        best = other.argmin(axis=1)
        every = np.arange(len(best))
        return other[every, best] - self.own, self.found.pattern[every, best]

    def known(self, free: Rows, taken: Rows) -> Index:
        """The rows that are known when these patterns (k,) of the dictionary are free, or taken."""
        bonus = np.asarray(_LIKELIER_BEFORE * self.was_here, dtype=np.float64)
        wanted = _MARGIN + _MARGIN_A_NAME * float(free.sum()) - bonus
        if not taken.any():
            wanted += _MARGIN_ALONE
        is_known = self.is_tag & free[self.ids] & (self.margin(free)[0] >= wanted)
        for unlikely in (taken, ~(free | taken)):
            is_known &= self.margin(unlikely)[0] >= _LEAST_AHEAD - bonus
        return self._alone(is_known, np.where(free, wanted[:, None], _LEAST_AHEAD - bonus[:, None]))

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
        return np.asarray(
            (self.own <= np.minimum(_MOST_COST, _MOST_COST_BEYOND_MARGIN + to_blank))
            & (to_blank >= _MARGIN_TO_BLANK)
        )


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
    return HalfHidden(fits, square, ids, Explanations.joined(parts)[back], was_here)


def best_of_each(group: Index, rows: Index, cost: Array) -> Index:
    """Of these rows the cheapest of each group, the cheapest first."""
    ordered = rows[np.argsort(cost[rows], kind="stable")]
    _, first = np.unique(group[ordered], return_index=True)
    return np.asarray(ordered[np.sort(first)])
