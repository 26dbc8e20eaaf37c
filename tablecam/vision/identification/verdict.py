"""Accepts fitted tags, at most one a pattern and one a place, and gives reasons for the others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tablecam.table.model import TableSize
from tablecam.vision.detection.sighting import Rejection
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.tags import NO_TAGS, TagFits, TagGuesses
from tablecam.vision.identification.identity import Identities

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_OVER_THE_EDGE_MM = 10.0
"""A base may hang over the table's edge by less than half of it, or it would fall."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The rows of the fits that are tags on the table, and the rejected ones.

    `withdrawn` are carried patterns that can no longer be trusted.
    """

    rows: Index
    rejections: tuple[Rejection, ...]
    withdrawn: Index


def accept_tags(
    known: TagFits,
    patterns: TagPatterns,
    table: TableSize,
    *,
    anywhere: frozenset[int] = frozenset(),
    carried: TagGuesses = NO_TAGS,
) -> Verdict:
    """Returns the identified tags whose places are possible, the surest first.

    Tags lie on the table, except the ids that may lie `anywhere`: the table's own. `carried` tags
    lie elsewhere, as an earlier picture showed.
    """
    rows = _best_of_each_place(known.tags, carried)
    single, twice, withdrawn = _seen_once(known.tags, rows, patterns, carried)
    inside = _is_on_table(known.tags.places_mm[single], table)
    inside |= np.isin(patterns.ids[known.tags.pattern[single]], sorted(anywhere))
    outside = tuple(_off_the_table(known.tags, row, patterns, table) for row in single[~inside])
    return Verdict(single[inside], twice + outside, withdrawn)


def identified_rows(found: Identities, square: Index, taken: Rows) -> Index:
    """Returns the best fit of each square whose tag is identified, the likeliest first.

    Patterns `taken` (k,) are identified elsewhere.
    """
    likeness = found.fits.likeness
    pattern = found.fits.tags.pattern
    # First the certain ones, which remove rivals for the rest.
    first = _first_of_each(square, np.argsort(-likeness, kind="stable"))
    sure_rows = first[found.is_sure[first]]
    # A pattern that is certain elsewhere is neither a rival nor a name for an uncertain fit.
    taken = taken.copy()
    taken[pattern[sure_rows]] = True
    open_rows = np.flatnonzero(~taken[pattern] | np.isin(np.arange(len(pattern)), sure_rows))
    best = _first_of_each(square, open_rows[np.argsort(-likeness[open_rows], kind="stable")])
    return best[found.is_known(taken)[best]]


def _first_of_each(group: Index, order: Index) -> Index:
    """Returns the first row of each group, in the given order of rows."""
    _, first = np.unique(group[order], return_index=True)
    return order[np.sort(first)]


def _best_of_each_place(tags: TagGuesses, carried: TagGuesses) -> Index:
    """Returns the rows, the surest first, that overlap neither a surer nor a carried tag."""
    accepted: list[int] = []
    is_covered = overlaps(tags.places_mm, tags)
    # The rows come surest first, so an accepted one always beats a later one.
    for row in np.flatnonzero(~lies_on(tags.places_mm, carried)):
        if not is_covered[row, accepted].any():
            accepted.append(int(row))
    return np.array(accepted, dtype=np.int64)


def lies_on(places_mm: Array, others: TagGuesses) -> Rows:
    """Returns which places (n, 2) lie on any of the tags."""
    return np.asarray(overlaps(places_mm, others).any(axis=1))


def overlaps(places_mm: Array, tags: TagGuesses) -> Rows:
    """Returns which places (n, 2) lie on which tags, (n, m)."""
    distance_mm = np.linalg.norm(places_mm[:, None] - tags.places_mm, axis=2)
    return np.asarray(distance_mm < tags.sizes_mm / 2)


def _seen_once(
    tags: TagGuesses, rows: Index, patterns: TagPatterns, carried: TagGuesses
) -> tuple[Index, tuple[Rejection, ...], Index]:
    """Returns the rows whose tag appears once, rejections of the others, and withdrawn patterns.

    If a tag is seen twice, neither place can be trusted. Carried patterns seen twice are withdrawn.
    """
    pattern = tags.pattern[rows]
    all_patterns = np.concatenate([pattern, carried.pattern])
    places_mm = np.concatenate([tags.places_mm[rows], carried.places_mm])
    unique, counts = np.unique(all_patterns, return_counts=True)
    twice = unique[counts > 1]
    rejections = [
        _copied(int(patterns.ids[copied]), places_mm[all_patterns == copied]) for copied in twice
    ]
    rows = rows[~np.isin(pattern, twice)]
    return rows, tuple(chain.from_iterable(rejections)), np.intersect1d(twice, carried.pattern)


def _copied(tag: int, places_mm: Array) -> list[Rejection]:
    """Returns a rejection for each place where a tag is seen."""
    where = " and ".join(f"({x_mm:.0f}, {y_mm:.0f})" for x_mm, y_mm in places_mm)
    because = f"seen {len(places_mm)} times, at {where} mm: none can be trusted"
    return [
        Rejection(tag, because, float(x_mm), float(y_mm), is_duplicate=True)
        for x_mm, y_mm in places_mm
    ]


def _is_on_table(places_mm: Array, table: TableSize) -> Rows:
    """Returns which places lie on the table or hang over its edge a little."""
    size = np.array([table.width_mm, table.depth_mm])
    is_within = (places_mm > -_OVER_THE_EDGE_MM) & (places_mm < size + _OVER_THE_EDGE_MM)
    return np.asarray(is_within.all(axis=1))


def _off_the_table(
    tags: TagGuesses, row: int, patterns: TagPatterns, table: TableSize
) -> Rejection:
    """Returns the rejection of a tag that lies off the table."""
    x_mm, y_mm = tags.places_mm[row]
    return Rejection(
        int(patterns.ids[tags.pattern[row]]),
        f"lies at ({x_mm:.0f}, {y_mm:.0f}) mm, off the table of "
        f"{table.width_mm:g} x {table.depth_mm:g} mm",
        float(x_mm),
        float(y_mm),
    )
