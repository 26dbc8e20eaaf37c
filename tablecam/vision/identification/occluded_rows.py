"""Which missing base lies flush beside its mates, where too much of its tag is hidden to read it.

Such a place is as good as known, and so are the few names that it may have: the unit's missing
ones. So what is seen of border and cells needs only to be likelier as one of these than as all
else together: another tag of the table, one that the table file does not know, a card, or nothing.
How far names that are not the unit's are thought of depends on the table file: it is believed as
far as the clear tags of the picture agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import expected_at_points, tag_points
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.occluded_placement import (
    AS_SHOWN,
    LEAST_GAIN_GREY,
    LOOSE,
    Least,
    Slot,
    shown_at,
)

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_HALF_SURE = 0.5
_AHEAD = 4.5
"""Of two names that may lie at one place, or places for one name, the better must cost so much
less."""
_MATES_BEFORE, _OTHERS_BEFORE = 150.0, 0.5
"""What is thought of a table file before a picture is seen: 300 of 301 such places hold a mate."""
_ROUNDS = 3
"""Each base that is known leaves fewer names for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """What lies flush beside mates: fits (n,) as missing ones of their units, each a name `ids`.

    `worth` (n,) is how much less each costs than that nothing of the kind lies there.
    """

    fits: TagFits
    ids: Index
    worth: Array
    each: tuple[Slot, ...]

    def __getitem__(self, rows: Rows) -> Slots:
        each = tuple(slot for slot, is_kept in zip(self.each, rows, strict=True) if is_kept)
        return Slots(self.fits[rows], self.ids[rows], self.worth[rows], each)

    def told(self, free: Rows, odds: float) -> Index:
        """The rows that are known, one a name and one a place.

        `free` (k,) are the tags of the dictionary that are on the table but not found yet. Such a
        place holds a mate `odds` times as often as any other tag.
        """
        told, free = np.empty(0, dtype=np.int64), free.copy()
        wanted = np.array([slot.wanted for slot in self.each])
        for _ in range(_ROUNDS):
            sure = _sure(self.each, free, odds)
            more = np.flatnonzero((sure >= wanted) & ~self._is_outdone(sure, told))
            if not len(more):
                break
            told = np.concatenate([told, more])
            free[self.ids[more]] = False
        return told

    def strangers(self, free: Rows) -> int:
        """At how many places a tag lies that is none of the unit's."""
        kept: list[int] = []
        for row, slot in enumerate(self.each):
            if slot.is_another(free) and not self._near[row, kept].any():
                kept.append(row)
        return len(kept)

    @property
    def _near(self) -> Rows:
        places_mm = self.fits.tags.places_mm
        away_mm = np.linalg.norm(places_mm[:, None] - places_mm, axis=2)
        return np.asarray(away_mm < self.fits.tags.sizes_mm / 2)

    def _is_outdone(self, sure: Array, told: Index) -> Rows:
        """Where another name costs as little at one place, or another place for one name."""
        near, same = self._near, self.ids[:, None] == self.ids
        ahead = self.worth[:, None] - self.worth
        order = np.arange(len(self.ids))
        again = near & same & ((ahead < 0) | ((ahead == 0) & (order[:, None] > order)))
        elsewhere = ~near & same & (sure >= _HALF_SURE) & (ahead < _AHEAD)
        otherwise = near & ~same & (ahead < _AHEAD)
        return np.asarray((again | elsewhere | otherwise).any(axis=1) | near[:, told].any(axis=1))


def odds_of_mates(mates: int, others: int, strangers: int) -> float:
    """How often a place beside a mate holds a mate, and not another tag.

    By how many bases of the picture lie flush with mates, how many with none but with `others`,
    and beside how many lies what is on no list: a table file may name tags wrongly.
    """
    return (mates + _MATES_BEFORE) / (others + strangers + _OTHERS_BEFORE)


def at_slots(
    sight: Sight, fits: TagFits, likelier: Array, least: Least, *, sizes_mm: Sequence[float] = ()
) -> Slots:
    """The fits (n,) that lie beside mates, flush or not, or alone, as far as they look like tags.

    `likelier` (n, k) is how much likelier each of the roster's patterns is there by its unit, in
    nats. What lies there may be a tag of another of the sizes.
    """
    # Where no tag's contrast is known, what is dim and a little like a tag could be anything.
    least = least if sight.gain_grey > 0 else LOOSE
    by_id = np.zeros((len(fits), len(sight.dictionary.ids)))
    by_id[:, sight.patterns.ids] = likelier
    rows, slots = [], []
    for size_mm in np.unique(fits.tags.sizes_mm):
        mine = np.flatnonzero(fits.tags.sizes_mm == size_mm)
        meant = expected_at_points(sight.dictionary.cells, sight.blur_cells(fits.tags[mine]))
        shown = shown_at(sight, fits[mine])
        is_framed = _are_framed(sight, fits[mine], shown, meant, least)
        for row, patch in zip(mine[is_framed], shown[is_framed], strict=True):
            own = int(sight.patterns.ids[fits.tags.pattern[row]])
            fit = fits[np.array([row])]
            slot = Slot(sight, fit, patch, meant, own, by_id[row], least, sizes_mm)
            if slot.is_worth:
                rows.append(int(row))
                slots.append(slot)
    kept = fits[np.array(rows, dtype=np.int64)]
    worth = np.array([slot.worth for slot in slots])
    return Slots(kept, sight.patterns.ids[kept.tags.pattern], worth, tuple(slots))


def _are_framed(sight: Sight, fits: TagFits, shown: Map, meant: Map, least: Least) -> Rows:
    """Which fits show enough of a tag's border and rim, and contrast enough."""
    points = tag_points(sight.patterns.side_cells)
    amiss = np.abs(shown - meant.mean(axis=(0, 1)))[:, ~points.is_inner]
    gain_grey = max(LEAST_GAIN_GREY, least.of_gain * sight.gain_grey)
    is_framed = (amiss < AS_SHOWN).mean(axis=1) >= least.framed
    is_framed &= (shown[:, points.is_rim] > 1 - AS_SHOWN).mean(axis=1) >= least.rim
    return np.asarray(is_framed & (fits.gain_grey >= gain_grey))


def _sure(slots: Sequence[Slot], free: Rows, odds: float) -> Array:
    """How likely each is its own name, of all that it may be, (n,)."""
    sure = np.zeros(len(slots))
    thoughts = {row: slot.thoughts(free, odds) for row, slot in enumerate(slots)}
    guesses = [thought.guesses for some in thoughts.values() for thought in some]
    if not guesses:
        return sure
    # One fit of many tags takes little longer than one of a few.
    sight, start = slots[0].sight, 0
    fits = sight.lit(TagGuesses.joined(guesses), sight.dictionary)
    for row, some in thoughts.items():
        fitted = []
        for thought in some:
            end = start + len(thought.rivals)
            fitted.append(slots[row].as_fitted(thought, fits[np.arange(start, end)]))
            start = end
        if fitted:
            sure[row] = slots[row].sure(*fitted)
    return sure
