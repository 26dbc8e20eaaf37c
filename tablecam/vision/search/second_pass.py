"""Searches again, once the clear tags are known, for tags that are occluded or faint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from tablecam.table.headings import signed_rad
from tablecam.vision.detection.decode import Readings
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.points import tag_points
from tablecam.vision.detection.sighting import Rejection
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.competing_placements import (
    CompetingPlacements,
    odds_of_unit_neighbour,
    placements_of,
    score_placements,
)
from tablecam.vision.identification.flush_rows import guess_rows
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.hypotheses import NO_HYPOTHESES
from tablecam.vision.identification.identity import identify
from tablecam.vision.identification.isolated_tags import evidence_by_size_nats, guess_isolated_tags
from tablecam.vision.identification.occluded_placement import (
    IN_CONTACT,
    IN_GUESSED_ROW,
    ISOLATED,
    NEAR_NEIGHBOUR,
)
from tablecam.vision.identification.occluded_verdict import (
    STAYED_NATS,
    OccludedTags,
    explain_occluded,
    occluded_hypotheses,
    plausible_fits,
)
from tablecam.vision.identification.unit_neighbours import CONTACT_NATS
from tablecam.vision.identification.verdict import identified_rows, lies_on, overlaps
from tablecam.vision.search.region import SoughtPart

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_ROUNDS = 3
"""Each occluded tag that is identified leaves fewer candidates for the others."""
_CLEAR_SHARE = 0.97
"""A tag with less than this share of an unoccluded one's likeness must be as sure as those that are
half hidden: something dark on white cells gave four of 38,000 another's name, with up to 0.961."""
_ALONE_NATS = 3.0
"""How much more evidence the name of a base needs if no other of its unit lies beside it."""
_LIKELY_ELSEWHERE = 0.5
"""Least probability of a tag at another place for its name to be judged again."""
_LEAST_DARKER = 0.15
"""The least darkness of a border below its rim, even half occluded, as a share of the known
contrast."""
_LEAST_RING = 0.38
_HERE_CELLS, _HERE_RAD = 0.3, 0.1
"""A tag within this distance and turn of its previous place has not been moved."""


@dataclass(frozen=True, slots=True, eq=False)
class UncertainFits:
    """Fits that may be tags, with the index of the `square` (n,) that each explains."""

    fits: TagFits
    square: Index

    def without(self, square: Index) -> UncertainFits:
        """Returns the fits of all squares but these."""
        others = ~np.isin(self.square, square)
        return UncertainFits(self.fits[others], self.square[others])

    @classmethod
    def joined(cls, parts: Sequence[UncertainFits]) -> UncertainFits:
        """Concatenates several parts."""
        return cls(
            TagFits.joined([part.fits for part in parts]),
            np.concatenate([part.square for part in parts]),
        )


_NO_UNCERTAIN = UncertainFits(TagFits.joined([]), np.empty(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class SecondPassInput:
    """The input of the second pass: the leftovers of the search for clear tags.

    Squares as decoded, and which of them no tag explains, (n,); fits that were not identified; tags
    seen `before` and not found again; and all `known` tags.
    """

    readings: Sequence[Readings]
    is_unexplained: Rows
    uncertain: UncertainFits
    before: TagGuesses
    known: TagGuesses


def second_pass_tags(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    sought: SoughtPart,
    taken: Rows,
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """Identifies the tags that the search for clear tags missed; rejects the unclear ones.

    Repeats as long as tags are found: each new tag predicts where its unit's other bases lie.
    """
    fits: list[TagFits] = []
    rejections: list[Rejection] = []
    placed, new_tags, uncertain = (
        given.known,
        given.known,
        _candidate_fits(context, given, sought, taken),
    )
    strangers = 0
    while True:
        missing = _missing(kinds, taken)
        placements = _flush_with_unit(context, new_tags, placed, missing, sought)
        # Foreign tags beside units make the whole table file less credible.
        strangers += placements.count_unknown_tags(_dictionary_mask(context, missing))
        new_fits, new_rejections = _identify_uncertain(
            context, kinds, given, uncertain, placements, strangers, placed, taken
        )
        rejections += new_rejections
        if not len(new_fits):
            new_fits = _rows(context, kinds, given, placed, taken, strangers)
        fits.append(new_fits)
        if not len(new_fits):
            break
        taken = taken.copy()
        taken[new_fits.tags.pattern] = True
        # Only the neighbours of newly found tags are new candidates.
        new_tags, uncertain = new_fits.tags, _NO_UNCERTAIN
        placed = TagGuesses.joined([placed, new_tags])
    isolated = _isolated_tags(context, kinds, given, placed, taken)
    odds = odds_of_unit_neighbour(*context.unit_neighbours.contact_counts(placed), strangers)
    fits.append(
        isolated.fits[isolated.identified(_dictionary_mask(context, _missing(kinds, taken)), odds)]
    )
    found = TagFits.joined(fits)
    found = found[_are_backed(context, kinds, given, found, placed, odds)]
    found = found[~_lie_elsewhere(context, kinds, given, found, placed, odds, taken)]
    return found, tuple(rejections)


def _identify_uncertain(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    uncertain: UncertainFits,
    placements: CompetingPlacements,
    strangers: int,
    placed: TagGuesses,
    taken: Rows,
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """Identifies tags among the uncertain fits and beside known tags; rejects unclear ones."""
    identities = identify(
        context.grey,
        context.camera,
        context.patterns,
        kinds,
        uncertain.fits,
        blur_px=context.blur_px,
    )
    rows = identified_rows(identities, uncertain.square, taken)
    odds = odds_of_unit_neighbour(*context.unit_neighbours.contact_counts(placed), strangers)
    free = _dictionary_mask(context, _missing(kinds, taken))
    is_sure = identities.likeness_share[rows] >= _CLEAR_SHARE
    fits = uncertain.fits[rows[~is_sure]]
    # A tag that lay here before needs less evidence.
    own_nats = np.where(_is_unmoved(fits.tags, given.before, context), STAYED_NATS, 0.0)
    is_sure[~is_sure] = _are_sure(context, kinds, given, fits, own_nats, placed, free, odds)
    rows = rows[is_sure]
    known = uncertain.fits[rows]
    taken = taken.copy()
    taken[known.tags.pattern] = True
    placed = TagGuesses.joined([placed, known.tags])
    free &= ~_dictionary_mask(context, known.tags.pattern)
    # A place that has just been identified otherwise is settled.
    placements = placements[~lies_on(placements.fits.tags.places_mm, known.tags)]
    known = TagFits.joined([known, placements.fits[placements.identified(free, odds)]])
    taken[known.tags.pattern] = True
    remaining = uncertain.without(uncertain.square[rows])
    is_candidate = plausible_fits(remaining.fits, context.gain_grey)
    placed = TagGuesses.joined([placed, known.tags[np.arange(len(rows), len(known))]])
    is_candidate &= _has_room(context, remaining.fits.tags, placed)
    rejections: tuple[Rejection, ...] = ()
    occluded = TagFits.joined([])
    if is_candidate.any():
        fits = remaining.fits[is_candidate]
        # A tag that lay here before needs less evidence.
        was_here = _is_unmoved(fits.tags, given.before, context)
        candidates = explain_occluded(context, fits, remaining.square[is_candidate], was_here)
        occluded, rejections = _identify_occluded(
            context, kinds, given, candidates, placed, odds, taken
        )
        known = TagFits.joined([known, occluded])
    free &= ~_dictionary_mask(context, known.tags.pattern)
    placed = TagGuesses.joined([placed, occluded.tags])
    near_unit = _near_unit(context, given, remaining.fits, placed, free)
    return TagFits.joined([known, near_unit.fits[near_unit.identified(free, odds)]]), rejections


def _near_unit(
    context: FrameContext, given: SecondPassInput, fits: TagFits, placed: TagGuesses, free: Rows
) -> CompetingPlacements:
    """Scores the fits and squares near known bases of a unit as each of its missing tags."""
    return score_placements(
        context, *_fits_near_unit(context, given, fits, placed, free), NEAR_NEIGHBOUR
    )


def _fits_near_unit(
    context: FrameContext, given: SecondPassInput, fits: TagFits, placed: TagGuesses, free: Rows
) -> tuple[TagFits, Array]:
    """Fits the squares near known bases of a unit as each of its missing tags.

    Returns them with those of the `fits` (n,) that lie near, and how much the known bases favour
    each pattern there.
    """
    missing = np.flatnonzero(free[context.patterns.ids])
    parts = []
    for reading in given.readings:
        of_kind = np.intersect1d(missing, reading.kind.pattern)
        parts.append(
            context.unit_neighbours.guesses_near(
                _remaining_squares(given, reading, placed), placed, of_kind
            )
        )
    guesses = TagGuesses.joined(parts)
    guesses = guesses[_may_be_framed(context, guesses)]
    fits = TagFits.joined([fits, context.fit_in_known_light(guesses)])
    prior_nats = context.unit_neighbours.evidence_nats(fits.tags, placed)
    # Far from a unit nothing favours one tag, and textures such as a chessboard would pass.
    is_near = prior_nats[np.arange(len(fits)), 0, fits.tags.pattern] > 0
    is_near &= _has_room(context, fits.tags, placed) & (context.gain_grey > 0)
    return fits[is_near], prior_nats[is_near]


def _rows(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    placed: TagGuesses,
    taken: Rows,
    strangers: int,
) -> TagFits:
    """Identifies tags of flush squares by the other squares in their rows."""
    missing = _missing(kinds, taken)
    parts, prior_nats = [], [np.empty((0, len(taken)))]
    for reading in given.readings:
        squares = _remaining_squares(given, reading, placed)
        of_kind = np.intersect1d(missing, reading.kind.pattern)
        rows = guess_rows(context, squares, of_kind)
        parts.append(rows.guesses)
        prior_nats.append(rows.prior_nats)
    guesses = TagGuesses.joined(parts)
    if not len(guesses):
        return TagFits.joined([])
    odds = odds_of_unit_neighbour(*context.unit_neighbours.contact_counts(placed), strangers)
    fits = context.fit_in_known_light(guesses)
    has_room = _has_room(context, fits.tags, placed)
    nats = np.concatenate(prior_nats)[has_room]
    placements = score_placements(context, fits[has_room], nats[:, None], IN_GUESSED_ROW)
    return placements.fits[placements.identified(_dictionary_mask(context, missing), odds)]


def _isolated_tags(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    placed: TagGuesses,
    taken: Rows,
) -> CompetingPlacements:
    """Scores squares as the missing tags that have no unit neighbours."""
    is_missing = context.unit_neighbours.is_isolated & ~taken
    parts = []
    for reading in given.readings:
        patterns = reading.kind.pattern[is_missing[reading.kind.pattern]]
        if len(patterns):
            parts.append(
                guess_isolated_tags(context, _remaining_squares(given, reading, placed), patterns)
            )
    fits = context.fit_in_known_light(TagGuesses.joined(parts))
    fits = fits[_has_room(context, fits.tags, placed)]
    prior_nats = evidence_by_size_nats(fits, kinds, len(taken))
    return score_placements(
        context, fits, prior_nats[:, None], ISOLATED, sizes_mm=[kind.size_mm for kind in kinds]
    )


def _remaining_squares(given: SecondPassInput, reading: Readings, placed: TagGuesses) -> TagGuesses:
    """Returns the unexplained squares that look somewhat like tags, without a pattern."""
    rows = np.flatnonzero(given.is_unexplained & (reading.ring >= _LEAST_RING))
    ones = np.ones(len(rows))
    squares = TagGuesses(
        np.zeros(len(rows), dtype=np.int64),
        reading.places_mm[rows],
        reading.headings_rad[rows],
        reading.kind.height_mm * ones,
        reading.kind.size_mm * ones,
    )
    return squares[~lies_on(squares.places_mm, placed)]


def _missing(kinds: Sequence[TagKind], taken: Rows) -> Index:
    """Returns the patterns of these kinds that are not `taken` (k,)."""
    return np.setdiff1d(np.concatenate([kind.pattern for kind in kinds]), np.flatnonzero(taken))


def _dictionary_mask(context: FrameContext, pattern: Index) -> Rows:
    """Marks the given patterns of the roster among all tags of the dictionary."""
    mask = np.zeros(len(context.dictionary.ids), dtype=np.bool_)
    mask[context.patterns.ids[pattern]] = True
    return mask


def _candidate_fits(
    context: FrameContext, given: SecondPassInput, sought: SoughtPart, taken: Rows
) -> UncertainFits:
    """Fits every candidate: squares as their best patterns, and earlier tags where they lay."""
    hypotheses = NO_HYPOTHESES
    if given.is_unexplained.any():
        hypotheses = occluded_hypotheses(context, given.readings, given.is_unexplained, taken)
    # Earlier tags start at their own place and height, so no hill needs to be tried.
    again = fit_tags(
        context.grey, context.camera, context.patterns, given.before, blur_px=context.blur_px
    )
    fits = TagFits.joined([context.fit(hypotheses.guesses), again])
    # Earlier tags get even negative numbers as squares: still tags have the odd ones.
    square = np.concatenate([hypotheses.square, -2 - 2 * np.arange(len(given.before))])
    is_sought = sought.holds(fits.tags, context.patterns.side_cells)
    return UncertainFits.joined(
        [UncertainFits(fits[is_sought], square[is_sought]), given.uncertain]
    )


def _flush_with_unit(
    context: FrameContext,
    new_tags: TagGuesses,
    placed: TagGuesses,
    missing: Index,
    sought: SoughtPart,
) -> CompetingPlacements:
    """Fits the missing tags where they would lie flush with newly found bases of their units."""
    guesses = context.unit_neighbours.guesses_in_contact(new_tags, missing)
    guesses = guesses[sought.holds(guesses, context.patterns.side_cells)]
    guesses = guesses[~lies_on(guesses.places_mm, placed)]
    guesses = guesses[_may_be_framed(context, guesses)]
    fits = context.fit_in_known_light(guesses)
    prior_nats = context.unit_neighbours.evidence_nats(fits.tags, placed)
    # A fit that wandered off is no longer in contact.
    is_beside = prior_nats[np.arange(len(fits)), 0, fits.tags.pattern] >= CONTACT_NATS
    is_beside &= _has_room(context, fits.tags, placed)
    return score_placements(context, fits[is_beside], prior_nats[is_beside], IN_CONTACT)


def _has_room(context: FrameContext, tags: TagGuesses, placed: TagGuesses) -> Rows:
    """Marks the tags whose bases lie on no placed one, (n,)."""
    is_on_another = lies_on(tags.places_mm, placed)
    return ~(is_on_another | context.unit_neighbours.are_on_bases(tags, placed))


def _may_be_framed(context: FrameContext, guesses: TagGuesses) -> Rows:
    """Marks the guesses that show a dark border inside a bright rim, (n,)."""
    if not len(guesses):
        return np.zeros(0, dtype=np.bool_)
    points = tag_points(context.patterns.side_cells)
    # Many guesses differ in their patterns only: each place is sampled once.
    places = np.column_stack([guesses.places_mm, guesses.headings_rad, guesses.sizes_mm])
    _, first, which = np.unique(places, axis=0, return_index=True, return_inverse=True)
    seen = context.values_at(guesses[first], points)
    # Means over whole border and rim survive partial occlusion.
    darker = seen[:, points.is_rim].mean(axis=1) - seen[:, points.is_border].mean(axis=1)
    return np.asarray(darker >= _LEAST_DARKER * context.gain_grey)[which]


def _is_unmoved(tags: TagGuesses, before: TagGuesses, context: FrameContext) -> Rows:
    """Marks the tags that lie where they lay before."""
    away_mm = np.linalg.norm(tags.places_mm[:, None] - before.places_mm, axis=2)
    turned_rad = np.abs(signed_rad(tags.headings_rad[:, None] - before.headings_rad))
    cell_mm = tags.sizes_mm[:, None] / context.patterns.side_cells
    is_same = tags.pattern[:, None] == before.pattern
    is_same &= (away_mm < _HERE_CELLS * cell_mm) & (turned_rad < _HERE_RAD)
    return np.asarray(is_same.any(axis=1))


def _identify_occluded(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    candidates: OccludedTags,
    placed: TagGuesses,
    odds: float,
    taken: Rows,
) -> tuple[TagFits, tuple[Rejection, ...]]:
    """Identifies occluded tags by elimination, adds copies and rejects unclear tags."""
    free = _dictionary_mask(context, _missing(kinds, taken))
    elsewhere = _dictionary_mask(context, np.flatnonzero(taken))
    rows = np.empty(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        more = np.setdiff1d(candidates.identified(free, elsewhere), rows)
        fits = candidates.fits[more]
        own_nats = np.where(candidates.lay_here_before[more], STAYED_NATS, 0.0)
        # Models of simple and of compact occluders are sometimes far too sure, but seldom both.
        more = more[_are_sure(context, kinds, given, fits, own_nats, placed, free, odds)]
        if not len(more):
            break
        rows = np.concatenate([rows, more])
        free[candidates.ids[more]], elsewhere[candidates.ids[more]] = False, True
    # Copies are passed on so that the verdict can reject both places.
    copies = candidates.copies(_dictionary_mask(context, np.flatnonzero(taken)))
    identified = np.concatenate([rows, copies])
    vague, rivals = candidates.unclear(free)
    rejections = tuple(
        _unclear(context, candidates.fits.tags, row, int(rival))
        for row, rival in zip(vague, rivals, strict=True)
        if candidates.square[row] not in candidates.square[identified]
    )
    return candidates.fits[identified], rejections


def _are_sure(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    fits: TagFits,
    own_nats: Array,
    placed: TagGuesses,
    free: Rows,
    odds: float,
) -> Rows:
    """Marks the fits whose names are sure though no unit neighbour gives their headings, (n,).

    `own_nats` (n,) is the other evidence for each name. A tag whose unit lies elsewhere may lie
    there, too: of the eight surest wrong names in 165 crowded pictures, six belonged to tags half
    hidden near their unit.
    """
    prior_nats = context.unit_neighbours.evidence_nats(fits.tags, placed)
    prior_nats[np.arange(len(fits)), 0, fits.tags.pattern] += own_nats
    sizes_mm = [kind.size_mm for kind in kinds]
    places = placements_of(context, fits, prior_nats, ISOLATED, sizes_mm=sizes_mm)
    is_sure = np.array([place.is_likely(free, odds) for place in places], dtype=np.bool_)
    if not is_sure.any():
        return is_sure
    names = _dictionary_mask(context, fits.tags.pattern[is_sure])
    near, near_nats = _fits_near_unit(context, given, TagFits.joined([]), placed, names)
    others = placements_of(context, near, near_nats, NEAR_NEIGHBOUR, sizes_mm=())
    is_rival = (fits.tags.pattern[:, None] == near.tags.pattern) & ~overlaps(
        fits.tags.places_mm, near.tags
    )
    for row in np.flatnonzero(is_sure):
        is_sure[row] = places[row].is_sure(free, odds, compress(others, is_rival[row]))
    return is_sure


def _are_backed(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    fits: TagFits,
    placed: TagGuesses,
    odds: float,
) -> Rows:
    """Marks the fits whose bases lie, or lay before, beside others of the unit, (n,).

    Fits beside none are marked if they are surer than others, now that all tags are known, and if
    no single object of one grey can imitate them. Units lie together: of 37,968 half hidden tags 31
    took another's name; 26 of those had no base of the named unit beside them, and nearly half of
    the 26 had one of the true unit, which was found later.
    """
    neighbours, pattern = context.unit_neighbours, fits.tags.pattern
    nats = neighbours.evidence_nats(fits.tags, placed)[np.arange(len(fits)), 0, pattern]
    is_backed = (nats > 0) | neighbours.is_isolated[pattern]
    is_backed |= _is_unmoved(fits.tags, given.before, context)
    alone = fits[~is_backed]
    pattern = alone.tags.pattern
    taken = np.zeros(len(context.patterns.ids), dtype=np.bool_)
    taken[np.setdiff1d(placed.pattern, pattern)] = True
    free = _dictionary_mask(context, _missing(kinds, taken))
    own_nats = np.full(len(alone), -_ALONE_NATS)
    is_sure = _are_sure(context, kinds, given, alone, own_nats, placed, free, odds)
    is_backed[~is_backed] = is_sure & ~context.patterns.is_plain[pattern]
    return np.asarray(is_backed)


def _lie_elsewhere(
    context: FrameContext,
    kinds: Sequence[TagKind],
    given: SecondPassInput,
    fits: TagFits,
    placed: TagGuesses,
    odds: float,
    taken: Rows,
) -> Rows:
    """Marks the fits whose tags more likely lie at another place by their unit, (n,).

    A name may be given before the tag's own place is known: of the ten surest wrong names in 260
    pictures where four of five tags were covered, six belonged to tags that looked more like
    themselves at another place.
    """
    neighbours, pattern = context.unit_neighbours, fits.tags.pattern
    beside = neighbours.guesses_in_contact(placed, np.unique(pattern))
    beside = beside[~lies_on(beside.places_mm, placed)]
    beside = beside[_may_be_framed(context, beside)]
    others, nats = _fits_near_unit(
        context,
        given,
        context.fit_in_known_light(beside),
        placed,
        _dictionary_mask(context, pattern),
    )
    elsewhere = placements_of(context, others, nats, NEAR_NEIGHBOUR, sizes_mm=())
    is_rival = pattern[:, None] == others.tags.pattern
    lie_elsewhere = is_rival.any(axis=1) & ~_is_unmoved(fits.tags, given.before, context)
    missing = _missing(kinds, taken)
    for row in np.flatnonzero(lie_elsewhere):
        one = np.array([row])
        free = _dictionary_mask(context, np.append(missing, pattern[row]))
        nats = neighbours.evidence_nats(fits.tags[one], placed)
        in_contact = nats[0, 0, pattern[row]] >= CONTACT_NATS
        least = IN_CONTACT if in_contact else ISOLATED
        (place,) = placements_of(context, fits[one], nats, least, sizes_mm=())
        rivals = tuple(compress(elsewhere, is_rival[row]))
        is_likely_there = place.probability_elsewhere(free, odds, rivals) >= _LIKELY_ELSEWHERE
        lie_elsewhere[row] = is_likely_there and not (
            place.is_likely(free, odds) and place.is_sure(free, odds, rivals)
        )
    return np.asarray(lie_elsewhere)


def _unclear(context: FrameContext, tags: TagGuesses, row: int, rival: int) -> Rejection:
    """Builds the rejection of a tag that a rival explains nearly as well."""
    tag = int(context.patterns.ids[tags.pattern[row]])
    x_mm, y_mm = (float(value) for value in tags.places_mm[row])
    because = (
        f"could be tag {tag} or tag {rival}: too much of it is hidden"
        if rival != tag
        else f"looks like tag {tag}, but too much of it is hidden to tell which way it faces"
    )
    return Rejection(tag, because, x_mm, y_mm)
