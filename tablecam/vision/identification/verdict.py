"""Which fitted tags to believe, at most one a pattern and one a place; and why not the others."""

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
"""A base may hang over the table's edge, by less than half of it: else it would fall."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The rows of the fits that are tags on the table, and what was refused.

    `withdrawn` are patterns that were carried over, and can no longer be trusted.
    """

    rows: Index
    rejections: tuple[Rejection, ...]
    withdrawn: Index


def verdict(
    known: TagFits,
    patterns: TagPatterns,
    table: TableSize,
    *,
    anywhere: frozenset[int] = frozenset(),
    carried: TagGuesses = NO_TAGS,
) -> Verdict:
    """Those of the tags that are `known`, the surest first, that can lie where they seem to.

    Tags lie on the table, but for the ids that may lie `anywhere`: the table's own. `carried`
    tags lie elsewhere, as is known from before.
    """
    rows = _best_of_each_place(known.tags, carried)
    once, twice, withdrawn = _seen_once(known.tags, rows, patterns, carried)
    inside = _is_on_table(known.tags.places_mm[once], table)
    inside |= np.isin(patterns.ids[known.tags.pattern[once]], sorted(anywhere))
    outside = tuple(_off_the_table(known.tags, row, patterns, table) for row in once[~inside])
    return Verdict(once[inside], twice + outside, withdrawn)


def known_rows(found: Identities, square: Index, taken: Rows) -> Index:
    """The best fit of each square, where it is known which tag it is; the likeliest first.

    Patterns `taken` (k,) were found elsewhere before.
    """
    likeness = found.fits.likeness
    pattern = found.fits.tags.pattern
    first = _first_of_each(square, np.argsort(-likeness, kind="stable"))
    sure = first[found.is_sure[first]]
    # A pattern that is surely elsewhere is no rival, and no name for what is not sure.
    taken = taken.copy()
    taken[pattern[sure]] = True
    open_rows = np.flatnonzero(~taken[pattern] | np.isin(np.arange(len(pattern)), sure))
    best = _first_of_each(square, open_rows[np.argsort(-likeness[open_rows], kind="stable")])
    return best[found.is_known(taken)[best]]


def _first_of_each(group: Index, order: Index) -> Index:
    """The first row of each group, of rows in this order, in this order."""
    _, first = np.unique(group[order], return_index=True)
    return order[np.sort(first)]


def _best_of_each_place(tags: TagGuesses, carried: TagGuesses) -> Index:
    """The rows, the surest first, without those that lie on one that is surer, or carried."""
    kept: list[int] = []
    on_each = _lies_on_each(tags.places_mm, tags)
    for row in np.flatnonzero(~lies_on(tags.places_mm, carried)):
        if not on_each[row, kept].any():
            kept.append(int(row))
    return np.array(kept, dtype=np.int64)


def lies_on(places_mm: Array, others: TagGuesses) -> Rows:
    """Which of the places (n, 2) lie on one of the tags."""
    return np.asarray(_lies_on_each(places_mm, others).any(axis=1))


def _lies_on_each(places_mm: Array, tags: TagGuesses) -> Rows:
    """Which of the places (n, 2) lie on which of the tags, (n, m)."""
    away_mm = np.linalg.norm(places_mm[:, None] - tags.places_mm, axis=2)
    return np.asarray(away_mm < tags.sizes_mm / 2)


def _seen_once(
    tags: TagGuesses, rows: Index, patterns: TagPatterns, carried: TagGuesses
) -> tuple[Index, tuple[Rejection, ...], Index]:
    """The rows whose tag is shown nowhere else; of tags shown twice neither can be trusted.

    The last are those of the carried tags that can no longer be trusted.
    """
    pattern = tags.pattern[rows]
    shown = np.concatenate([pattern, carried.pattern])
    places_mm = np.concatenate([tags.places_mm[rows], carried.places_mm])
    each, counts = np.unique(shown, return_counts=True)
    twice = each[counts > 1]
    rejections = [
        _copied(int(patterns.ids[copied]), places_mm[shown == copied]) for copied in twice
    ]
    rows = rows[~np.isin(pattern, twice)]
    return rows, tuple(chain.from_iterable(rejections)), np.intersect1d(twice, carried.pattern)


def _copied(tag: int, places_mm: Array) -> list[Rejection]:
    """One rejection for each place that a tag is seen at."""
    where = " and ".join(f"({x_mm:.0f}, {y_mm:.0f})" for x_mm, y_mm in places_mm)
    because = f"seen {len(places_mm)} times, at {where} mm: none can be trusted"
    return [
        Rejection(tag, because, float(x_mm), float(y_mm), is_copy=True) for x_mm, y_mm in places_mm
    ]


def _is_on_table(places_mm: Array, table: TableSize) -> Rows:
    size = np.array([table.width_mm, table.depth_mm])
    near = (places_mm > -_OVER_THE_EDGE_MM) & (places_mm < size + _OVER_THE_EDGE_MM)
    return np.asarray(near.all(axis=1))


def _off_the_table(
    tags: TagGuesses, row: int, patterns: TagPatterns, table: TableSize
) -> Rejection:
    x_mm, y_mm = tags.places_mm[row]
    return Rejection(
        int(patterns.ids[tags.pattern[row]]),
        f"lies at ({x_mm:.0f}, {y_mm:.0f}) mm, off the table of "
        f"{table.width_mm:g} x {table.depth_mm:g} mm",
        float(x_mm),
        float(y_mm),
    )
