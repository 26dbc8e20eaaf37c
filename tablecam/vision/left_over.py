"""What is left of a search when the clear tags are known: the rest, half hidden or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.decode import Readings
from tablecam.vision.fit import fit_tags
from tablecam.vision.half_hidden import half_hidden_hypotheses
from tablecam.vision.half_hidden_verdict import HalfHidden, half_hidden, may_be_tags
from tablecam.vision.hypotheses import NO_HYPOTHESES
from tablecam.vision.identity import identify
from tablecam.vision.kinds import TagKind
from tablecam.vision.sight import Sight
from tablecam.vision.sighting import Rejection
from tablecam.vision.sought import SoughtPart
from tablecam.vision.tags import TagFits, TagGuesses
from tablecam.vision.verdict import known_rows, lies_on

Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_ROUNDS = 3
"""Each half hidden tag that is known leaves fewer names for the others."""
_HERE_CELLS, _HERE_RAD = 0.3, 0.1
"""So near to where a tag lay before, it has not been moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Doubtful:
    """Fits about squares that may be the tags that were fitted, or not."""

    fits: TagFits
    square: Index

    @classmethod
    def joined(cls, parts: Sequence[Doubtful]) -> Doubtful:
        """All of the parts, one after the other."""
        return cls(
            TagFits.joined([part.fits for part in parts]),
            np.concatenate([part.square for part in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """What is left when the clear tags are known.

    Squares as read, and which of them are left, (n,); what was fitted in vain; the tags that lay
    here `before` and have not been found.
    """

    readings: Sequence[Readings]
    is_left: Rows
    doubtful: Doubtful
    before: TagGuesses


def tags_of_what_is_left(
    sight: Sight, kinds: Sequence[TagKind], left: Left, sought: SoughtPart, taken: Rows
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """The tags that are known when it is asked what is not found yet; and what remains unclear."""
    doubtful = _fitted_again(sight, left, sought, taken)
    if not len(doubtful.fits):
        return doubtful.fits, ()
    found = identify(
        sight.grey, sight.camera, sight.patterns, kinds, doubtful.fits, blur_px=sight.blur_px
    )
    rows = known_rows(found, doubtful.square, taken)
    taken = taken.copy()
    taken[doubtful.fits.tags.pattern[rows]] = True
    known = doubtful.fits[rows]
    rest = ~np.isin(doubtful.square, doubtful.square[rows])
    rest &= may_be_tags(doubtful.fits, sight.gain_grey)
    rest &= ~lies_on(doubtful.fits.tags.places_mm, known.tags)
    if not rest.any():
        return known, ()
    fits = doubtful.fits[rest]
    hidden = half_hidden(
        sight, fits, doubtful.square[rest], _lay_there(fits.tags, left.before, sight)
    )
    half, unclear = _told_by_the_rest(sight, kinds, hidden, taken)
    return TagFits.joined([known, half]), unclear


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
    ids = sight.patterns.ids
    mine = np.zeros_like(taken)
    mine[np.concatenate([kind.pattern for kind in kinds])] = True
    free, elsewhere = (np.zeros(len(sight.dictionary.ids), dtype=np.bool_) for _ in range(2))
    free[ids[mine & ~taken]] = elsewhere[ids[taken]] = True
    rows = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        more = np.setdiff1d(hidden.known(free, elsewhere), rows)
        if not len(more):
            break
        rows = np.concatenate([rows, more])
        free[hidden.ids[more]], elsewhere[hidden.ids[more]] = False, True
    copies = hidden.copies(np.isin(np.arange(len(free)), ids[taken]))
    told = np.concatenate([rows, copies])
    vague, rivals = hidden.unclear(free)
    unclear = tuple(
        _unclear(sight, hidden.fits.tags, row, int(rival))
        for row, rival in zip(vague, rivals, strict=True)
        if hidden.square[row] not in hidden.square[told]
    )
    return hidden.fits[told], unclear


def _unclear(sight: Sight, tags: TagGuesses, row: int, rival: int) -> Rejection:
    tag = int(sight.patterns.ids[tags.pattern[row]])
    x_mm, y_mm = (float(value) for value in tags.places_mm[row])
    because = (
        f"looks like tag {tag} or tag {rival}: too much of it is hidden"
        if rival != tag
        else f"looks like tag {tag}, but too much of it is hidden to tell how it is turned"
    )
    return Rejection(tag, because, x_mm, y_mm)
