"""What is left of a search when the clear tags are known: the rest, half hidden or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import Readings
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.points import tag_points
from tablecam.vision.detection.sighting import Rejection
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.hypotheses import NO_HYPOTHESES
from tablecam.vision.identification.identity import identify
from tablecam.vision.identification.isolated_tags import likelier_by_size, lone_guesses
from tablecam.vision.identification.occluded_placement import ALONE, FLUSH, LOOSE
from tablecam.vision.identification.occluded_rows import Slots, at_slots, odds_of_mates
from tablecam.vision.identification.occluded_verdict import (
    HalfHidden,
    explained,
    half_hidden,
    half_hidden_hypotheses,
    may_be_tags,
)
from tablecam.vision.identification.unit_neighbours import FLUSH_NATS
from tablecam.vision.identification.verdict import known_rows, lies_on
from tablecam.vision.search.region import SoughtPart

Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_ROUNDS = 3
"""Each half hidden tag that is known leaves fewer names for the others."""
_RIVALS, _BETTER = 4, 6.0
"""In nats: 98 of a hundred that were right cost 2 less than their best rival even where that was
fitted as they were. Where a quarter of the names of a table file were wrong, one that was wrong
cost only 11 more, on 12 tables at 2 px a cell."""
_LEAST_DARKER = 0.15
"""Of the contrast of known tags: a border is so much darker than its rim, even half hidden."""
_LEAST_RING = 0.38
_HERE_CELLS, _HERE_RAD = 0.3, 0.1
"""So near to where a tag lay before, it has not been moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Doubtful:
    """Fits about squares that may be the tags that were fitted, or not."""

    fits: TagFits
    square: Index

    def without(self, square: Index) -> Doubtful:
        """All that is about other squares than these."""
        others = ~np.isin(self.square, square)
        return Doubtful(self.fits[others], self.square[others])

    @classmethod
    def joined(cls, parts: Sequence[Doubtful]) -> Doubtful:
        """All of the parts, one after the other."""
        return cls(
            TagFits.joined([part.fits for part in parts]),
            np.concatenate([part.square for part in parts]),
        )


_NOTHING = Doubtful(TagFits.joined([]), np.empty(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """What is left when the clear tags are known.

    Squares as read, and which of them are left, (n,); what was fitted in vain; the tags that lay
    here `before` and have not been found; and all that lies there for sure.
    """

    readings: Sequence[Readings]
    is_left: Rows
    doubtful: Doubtful
    before: TagGuesses
    known: TagGuesses


def tags_of_what_is_left(
    sight: Sight, kinds: Sequence[TagKind], left: Left, sought: SoughtPart, taken: Rows
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """The tags that are known when it is asked what is not found yet; and what remains unclear."""
    fits: list[TagFits] = []
    unclear: list[Rejection] = []
    lying, fresh, doubtful = left.known, left.known, _fitted_again(sight, left, sought, taken)
    strangers = 0
    while True:
        missing = _missing(kinds, taken)
        slots = _beside(sight, fresh, lying, missing, sought)
        if not len(doubtful.fits) + len(slots.fits):
            break
        strangers += slots.strangers(_of_dictionary(sight, missing))
        found, not_told = _told(sight, kinds, left, doubtful, slots, strangers, lying, taken)
        fits.append(found)
        unclear += not_told
        if not len(found):
            break
        taken = taken.copy()
        taken[found.tags.pattern] = True
        # Of what was found new the mates may lie beside it.
        fresh, doubtful = found.tags, _NOTHING
        lying = TagGuesses.joined([lying, fresh])
    lone = _alone(sight, kinds, left, lying, taken)
    odds = odds_of_mates(*sight.mates.agreement(lying), strangers)
    fits.append(lone.fits[lone.told(_of_dictionary(sight, _missing(kinds, taken)), odds)])
    return TagFits.joined(fits), tuple(unclear)


def _told(
    sight: Sight,
    kinds: Sequence[TagKind],
    left: Left,
    doubtful: Doubtful,
    slots: Slots,
    strangers: int,
    lying: TagGuesses,
    taken: Rows,
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """Which of the doubtful are known after all, beside what lies there; and what is unclear."""
    found = identify(
        sight.grey, sight.camera, sight.patterns, kinds, doubtful.fits, blur_px=sight.blur_px
    )
    rows = known_rows(found, doubtful.square, taken)
    known = doubtful.fits[rows]
    taken = taken.copy()
    taken[known.tags.pattern] = True
    lying = TagGuesses.joined([lying, known.tags])
    free = _of_dictionary(sight, _missing(kinds, taken))
    odds = odds_of_mates(*sight.mates.agreement(lying), strangers)
    slots = slots[~lies_on(slots.fits.tags.places_mm, known.tags)]
    known = TagFits.joined([known, slots.fits[slots.told(free, odds)]])
    taken[known.tags.pattern] = True
    rest = doubtful.without(doubtful.square[rows])
    may_be = may_be_tags(rest.fits, sight.gain_grey)
    may_be &= ~lies_on(rest.fits.tags.places_mm, known.tags)
    unclear: tuple[Rejection, ...] = ()
    if may_be.any():
        fits = rest.fits[may_be]
        was_here = _lay_there(fits.tags, left.before, sight)
        hidden = half_hidden(sight, fits, rest.square[may_be], was_here)
        half, unclear = _told_by_the_rest(sight, kinds, hidden, taken)
        known = TagFits.joined([known, half])
    free &= ~_of_dictionary(sight, known.tags.pattern)
    near = _near(sight, left, rest.fits, TagGuesses.joined([lying, known.tags]), free)
    return TagFits.joined([known, near.fits[near.told(free, odds)]]), unclear


def _near(sight: Sight, left: Left, fits: TagFits, lying: TagGuesses, free: Rows) -> Slots:
    """The fits, and squares near mates as each missing one of them, where nothing lies yet."""
    missing = np.flatnonzero(free[sight.patterns.ids])
    parts = []
    for reading in left.readings:
        of_kind = np.intersect1d(missing, reading.kind.pattern)
        parts.append(sight.mates.near(_squares(left, reading, lying), lying, of_kind))
    guesses = TagGuesses.joined(parts)
    guesses = guesses[_may_be_framed(sight, guesses)]
    fits = TagFits.joined([fits, sight.lit(guesses)])
    likelier = sight.mates.likelier(fits.tags, lying)
    # Far from all mates nothing speaks for one name: there a chessboard shows tags, too.
    is_near = likelier[np.arange(len(fits)), fits.tags.pattern] > 0
    is_near &= ~lies_on(fits.tags.places_mm, lying) & (sight.gain_grey > 0)
    return at_slots(sight, fits[is_near], likelier[is_near], LOOSE)


def _alone(
    sight: Sight, kinds: Sequence[TagKind], left: Left, lying: TagGuesses, taken: Rows
) -> Slots:
    """Squares as the missing tags that have no mates."""
    is_missing = sight.mates.is_lone & ~taken
    parts = []
    for reading in left.readings:
        lone = reading.kind.pattern[is_missing[reading.kind.pattern]]
        if len(lone):
            parts.append(lone_guesses(sight, _squares(left, reading, lying), lone))
    fits = sight.lit(TagGuesses.joined(parts))
    fits = fits[~lies_on(fits.tags.places_mm, lying)]
    likelier = likelier_by_size(fits, kinds, len(taken))
    return at_slots(sight, fits, likelier, ALONE, sizes_mm=[kind.size_mm for kind in kinds])


def _squares(left: Left, reading: Readings, lying: TagGuesses) -> TagGuesses:
    """The squares that are left and look a little like tags, of no pattern yet, where none lies."""
    rows = np.flatnonzero(left.is_left & (reading.ring >= _LEAST_RING))
    many = np.ones(len(rows))
    squares = TagGuesses(
        np.zeros(len(rows), dtype=np.int64),
        reading.places_mm[rows],
        reading.headings_rad[rows],
        reading.kind.height_mm * many,
        reading.kind.size_mm * many,
    )
    return squares[~lies_on(squares.places_mm, lying)]


def _missing(kinds: Sequence[TagKind], taken: Rows) -> Index:
    """The patterns of these kinds that are not among the roster's that are `taken` (k,)."""
    return np.setdiff1d(np.concatenate([kind.pattern for kind in kinds]), np.flatnonzero(taken))


def _of_dictionary(sight: Sight, pattern: Index) -> Rows:
    """Some of the roster's patterns among all tags of the dictionary."""
    some = np.zeros(len(sight.dictionary.ids), dtype=np.bool_)
    some[sight.patterns.ids[pattern]] = True
    return some


def _fitted_again(sight: Sight, left: Left, sought: SoughtPart, taken: Rows) -> Doubtful:
    """All that may be tags yet: squares as what they look like most, tags where they lay before."""
    guess = NO_HYPOTHESES
    if left.is_left.any():
        guess = half_hidden_hypotheses(sight, left.readings, left.is_left, taken)
    # What lay here before is where it lay, on its hill if it was on one.
    again = fit_tags(sight.grey, sight.camera, sight.patterns, left.before, blur_px=sight.blur_px)
    fits = TagFits.joined([sight.fitted(guess.guesses), again])
    square = np.concatenate([guess.square, -2 - 2 * np.arange(len(left.before))])
    wanted = sought.holds(fits.tags, sight.patterns.side_cells)
    return Doubtful.joined([Doubtful(fits[wanted], square[wanted]), left.doubtful])


def _beside(
    sight: Sight, fresh: TagGuesses, lying: TagGuesses, missing: Index, sought: SoughtPart
) -> Slots:
    """The missing tags fitted where they would lie flush with mates that were found just now."""
    guesses = sight.mates.places(fresh, missing)
    guesses = guesses[sought.holds(guesses, sight.patterns.side_cells)]
    guesses = guesses[~lies_on(guesses.places_mm, lying)]
    guesses = guesses[_may_be_framed(sight, guesses)]
    fits = sight.lit(guesses)
    likelier = sight.mates.likelier(fits.tags, lying)
    is_beside = likelier[np.arange(len(fits)), fits.tags.pattern] >= FLUSH_NATS
    is_beside &= ~lies_on(fits.tags.places_mm, lying)
    return at_slots(sight, fits[is_beside], likelier[is_beside], FLUSH)


def _may_be_framed(sight: Sight, guesses: TagGuesses) -> Rows:
    """Where there is something like a tag's black border in its white rim, (n,)."""
    if not len(guesses):
        return np.zeros(0, dtype=np.bool_)
    points = tag_points(sight.patterns.side_cells)
    seen = sight.seen(guesses, points)
    darker = seen[:, points.is_rim].mean(axis=1) - seen[:, points.is_border].mean(axis=1)
    return np.asarray(darker >= _LEAST_DARKER * sight.gain_grey)


def _lay_there(tags: TagGuesses, before: TagGuesses, sight: Sight) -> Rows:
    """Which of the tags lay where they seem to lie now."""
    away_mm = np.linalg.norm(tags.places_mm[:, None] - before.places_mm, axis=2)
    turned = tags.headings_rad[:, None] - before.headings_rad
    turned_rad = np.abs((turned + np.pi) % (2 * np.pi) - np.pi)
    cell_mm = tags.sizes_mm[:, None] / sight.patterns.side_cells
    same = tags.pattern[:, None] == before.pattern
    same &= (away_mm < _HERE_CELLS * cell_mm) & (turned_rad < _HERE_RAD)
    return np.asarray(same.any(axis=1))


def _told_by_the_rest(
    sight: Sight, kinds: Sequence[TagKind], hidden: HalfHidden, taken: Rows
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """The half hidden tags that are known, and copies of known ones; and what remains unclear."""
    free = _of_dictionary(sight, _missing(kinds, taken))
    elsewhere = _of_dictionary(sight, np.flatnonzero(taken))
    rows = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        more = np.setdiff1d(hidden.known(free, elsewhere), rows)
        more = more[~_is_rather_another(sight, hidden[more])]
        if not len(more):
            break
        rows = np.concatenate([rows, more])
        free[hidden.ids[more]], elsewhere[hidden.ids[more]] = False, True
    copies = hidden.copies(_of_dictionary(sight, np.flatnonzero(taken)))
    told = np.concatenate([rows, copies])
    vague, rivals = hidden.unclear(free)
    unclear = tuple(
        _unclear(sight, hidden.fits.tags, row, int(rival))
        for row, rival in zip(vague, rivals, strict=True)
        if hidden.square[row] not in hidden.square[told]
    )
    return hidden.fits[told], unclear


def _is_rather_another(sight: Sight, hidden: HalfHidden) -> Rows:
    """Which are clearly better explained as a rival, if that is fitted as they are, (n,)."""
    if not len(hidden.fits):
        return np.zeros(0, dtype=np.bool_)
    each, pattern, turns = hidden.rivals(_RIVALS)
    tags = hidden.fits.tags[each]
    turned_rad = tags.headings_rad + turns * (np.pi / 2)
    guesses = replace(tags, pattern=pattern, headings_rad=turned_rad)
    fits = fit_tags(sight.grey, sight.camera, sight.dictionary, guesses, blur_px=sight.blur_px)
    cost = explained(sight, fits, pattern[:, None]).cost[:, 0]
    better = cost < hidden.own[each] - _BETTER
    return np.bincount(each[better], minlength=len(hidden.fits)) > 0


def _unclear(sight: Sight, tags: TagGuesses, row: int, rival: int) -> Rejection:
    tag = int(sight.patterns.ids[tags.pattern[row]])
    x_mm, y_mm = (float(value) for value in tags.places_mm[row])
    because = (
        f"looks like tag {tag} or tag {rival}: too much of it is hidden"
        if rival != tag
        else f"looks like tag {tag}, but too much of it is hidden to tell how it is turned"
    )
    return Rejection(tag, because, x_mm, y_mm)
