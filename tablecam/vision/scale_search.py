"""The search for tags of like size: first what is clear, then what is left, half hidden or not.

Each step knows what the step before it found: the more of the roster is found, the fewer patterns
are left for what is hard to read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.table.model import TableSize
from tablecam.vision.decode import Readings, read_squares
from tablecam.vision.fit import fit_tags
from tablecam.vision.half_hidden import half_hidden_hypotheses
from tablecam.vision.half_hidden_verdict import HalfHidden, half_hidden, may_be_tags
from tablecam.vision.hypotheses import NO_HYPOTHESES, Hypotheses, clear_hypotheses
from tablecam.vision.identity import identify
from tablecam.vision.kinds import TagKind
from tablecam.vision.sight import Sight
from tablecam.vision.sighting import Rejection
from tablecam.vision.sought import SoughtPart
from tablecam.vision.squares import SquareFinder
from tablecam.vision.still import lying_before, squares_elsewhere, squares_off, still_tags
from tablecam.vision.strays import tags_of_another_size
from tablecam.vision.tags import TagFits, TagGuesses
from tablecam.vision.verdict import known_rows, lies_on, verdict

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_SHARPEST_PX = 0.3
_BLUR_SAMPLE = 8
_TELLING_CELLS = 0.12
"""On tags that are so much larger than the blur it hardly shows: what is usual does for them."""
_BLUR_ROUNDS, _NEAR_ENOUGH = 2, 0.3
"""Each tag's own blur is fitted later: from within a third of it, no place is the worse."""
_ROUNDS = 3
"""Each half hidden tag that is known leaves fewer names for the others."""
_HERE_CELLS, _HERE_RAD = 0.3, 0.1
"""So near to where a tag lay before, it has not been moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Kinds of tag of like size, and what notices them."""

    kinds: tuple[TagKind, ...]
    squares: SquareFinder
    most_squares: int


@dataclass(frozen=True, slots=True, eq=False)
class ScaleResult:
    """What a search for tags of like size gave: tags placed from this picture, and the rest.

    `withdrawn` are ids that were carried over and can no longer be trusted; `blur_px` is the
    picture's blur where it is known by now.
    """

    fits: TagFits
    rejections: tuple[Rejection, ...]
    withdrawn: frozenset[int]
    blur_px: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _Doubtful:
    """Fits about squares that may be the tags that were fitted, or not."""

    fits: TagFits
    square: Index


@dataclass(frozen=True, slots=True, eq=False)
class _Left:
    """What is left when the clear tags are known.

    Squares as read, and which of them are left, (n,); what was fitted in vain; the tags that lay
    here `before` and have not been found.
    """

    readings: Sequence[Readings]
    is_left: Rows
    doubtful: _Doubtful
    before: TagGuesses


def search_scale(
    sight: Sight,
    scale: Scale,
    sought: SoughtPart,
    table: TableSize,
    *,
    anywhere: frozenset[int],
    knows_blur: bool,
    larger: TagGuesses,
) -> ScaleResult:
    """All tags of like size in the part of the table that is sought.

    Nothing lies on the `larger` ones, which have been found.
    """
    patterns = sight.patterns
    carried = lying_before(patterns, scale.kinds, sought.carried.sightings)
    still = still_tags(
        sight.grey, sight.camera, patterns, scale.kinds, sought.before, blur_px=sight.blur_px
    )
    lying = TagGuesses.joined([still.tags, carried])
    readings = _readings(sight, scale, sought, lying, larger)
    clear = clear_hypotheses(readings, patterns) if readings else NO_HYPOTHESES
    blur_px = sight.blur_px if knows_blur else _blur_px(sight, clear)
    sight = replace(sight, blur_px=blur_px or sight.blur_px)
    taken = np.zeros(len(patterns.ids), dtype=np.bool_)
    taken[carried.pattern] = taken[larger.pattern] = True
    first, doubtful = _clear_tags(sight, scale.kinds, clear, still, sought, taken)
    taken[first.tags.pattern] = True
    if len(first):
        sight = replace(
            sight,
            noise_grey=float(np.median(first.noise_grey)),
            gain_grey=float(np.median(first.gain_grey)),
        )
    before = lying_before(patterns, scale.kinds, sought.before)
    before = before[~taken[before.pattern]]
    left = _Left(readings, _is_left(sight, readings, first.tags), doubtful, before)
    more, unclear = _tags_of_what_is_left(sight, scale.kinds, left, sought, taken)
    known = TagFits.joined([first, more])
    decided = verdict(known, patterns, table, anywhere=anywhere, carried=carried)
    believed = known[decided.rows]
    taken[believed.tags.pattern] = True
    rejections = decided.rejections + _strays(sight, readings, believed.tags, taken)
    told = {no.tag for no in rejections} | set(patterns.ids[taken].tolist())
    rejections += tuple({no.tag: no for no in unclear if no.tag not in told}.values())
    withdrawn = frozenset(patterns.ids[decided.withdrawn].tolist())
    if blur_px is None and len(first):
        blur_px = float(np.median(first.blur_px))
    return ScaleResult(believed, rejections, withdrawn, blur_px)


def _readings(
    sight: Sight, scale: Scale, sought: SoughtPart, lying: TagGuesses, larger: TagGuesses
) -> list[Readings]:
    """The squares that are noticed and lie on no tag yet, read as each kind of tag."""
    squares = scale.squares.find(sight.grey, scale.most_squares, sought.within_mm)
    squares = squares_elsewhere(squares, sight.on_plane(lying, squares.height_mm))
    larger = sight.on_plane(larger, squares.height_mm)
    squares = squares_off(squares, larger, sight.patterns.side_cells)
    kinds = scale.kinds if len(squares) else ()
    return [read_squares(sight.grey, sight.camera, sight.patterns, kind, squares) for kind in kinds]


def _strays(
    sight: Sight, readings: Sequence[Readings], believed: TagGuesses, taken: Rows
) -> tuple[Rejection, ...]:
    if not readings:
        return ()
    is_left = _is_left(sight, readings, believed)
    return tags_of_another_size(readings, sight.patterns, is_left, ~taken)


def _blur_px(sight: Sight, clear: Hypotheses) -> float | None:
    """The blur that the clearest squares have as tags, in the median; None without any."""
    sample = clear.guesses[np.arange(min(len(clear.guesses), _BLUR_SAMPLE))]
    if not len(sample):
        return None
    blur_px = sight.blur_px
    if sight.blur_cells(sample) < _TELLING_CELLS:
        return None
    for _ in range(_BLUR_ROUNDS):  # from far off, the first only comes near
        fits = fit_tags(sight.grey, sight.camera, sight.patterns, sample, blur_px=blur_px)
        before_px, blur_px = blur_px, max(float(np.median(fits.blur_px)), _SHARPEST_PX)
        if abs(math.log(blur_px / before_px)) < _NEAR_ENOUGH:
            break
    return blur_px


def _clear_tags(
    sight: Sight,
    kinds: Sequence[TagKind],
    clear: Hypotheses,
    still: TagFits,
    sought: SoughtPart,
    taken: Rows,
) -> tuple[TagFits, _Doubtful]:
    """The tags that are still, or clear and indeed what they read as; and the other clear ones."""
    fresh = sight.fitted(clear.guesses)
    fits = TagFits.joined([fresh, still])
    # Every still tag is a square of its own.
    square = np.concatenate([clear.square, -1 - np.arange(len(still))])
    wanted = sought.holds(fits.tags, sight.patterns.side_cells)
    fits, square = fits[wanted], square[wanted]
    found = identify(sight.grey, sight.camera, sight.patterns, kinds, fits, blur_px=sight.blur_px)
    rows = known_rows(found, square, taken)
    rest = np.setdiff1d(np.arange(len(fits)), rows)
    return fits[rows], _Doubtful(fits[rest], square[rest])


def _is_left(sight: Sight, readings: Sequence[Readings], known: TagGuesses) -> Rows:
    """Which of the squares lie on none of these tags."""
    on_known = [
        lies_on(reading.places_mm, sight.on_plane(known, reading.kind.height_mm))
        for reading in readings
    ]
    return np.asarray(~np.any(on_known, axis=0)) if readings else np.empty(0, dtype=np.bool_)


def _tags_of_what_is_left(
    sight: Sight, kinds: Sequence[TagKind], left: _Left, sought: SoughtPart, taken: Rows
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


def _fitted_again(sight: Sight, left: _Left, sought: SoughtPart, taken: Rows) -> _Doubtful:
    """All that may be tags yet: squares as what they look like most, tags where they lay before."""
    guess = NO_HYPOTHESES
    if left.is_left.any():
        guess = half_hidden_hypotheses(sight, left.readings, left.is_left, taken)
    # What lay here before is where it lay, on its hill if it was on one.
    again = fit_tags(sight.grey, sight.camera, sight.patterns, left.before, blur_px=sight.blur_px)
    fits = TagFits.joined([sight.fitted(guess.guesses), again])
    square = np.concatenate([guess.square, -1 - np.arange(len(left.before))])
    wanted = sought.holds(fits.tags, sight.patterns.side_cells)
    return _Doubtful(
        TagFits.joined([fits[wanted], left.doubtful.fits]),
        np.concatenate([square[wanted], left.doubtful.square]),
    )


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
