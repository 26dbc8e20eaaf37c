"""Which fitted tags to believe, at most one a pattern and one a place; and why not the others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tablecam.table.model import TableSize
from tablecam.vision.dictionary import TagPatterns
from tablecam.vision.identity import Identities
from tablecam.vision.sighting import Rejection

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_OVER_THE_EDGE_MM = 10.0
"""A base may hang over the table's edge, by less than half of it: else it would fall."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The rows of the fits that are tags on the table, and what was refused."""

    rows: Index
    rejections: tuple[Rejection, ...]


def verdict(
    found: Identities,
    square: Index,
    patterns: TagPatterns,
    table: TableSize,
    *,
    anywhere: frozenset[int] = frozenset(),
) -> Verdict:
    """The believed ones of fits about squares (n,).

    Tags lie on the table, but for the ids that may lie `anywhere`: the table's own.
    """
    rows = _best_of_each_place(found, _known_rows(found, square))
    once, twice = _seen_once(found, rows, patterns)
    inside = _is_on_table(found.fits.tags.places_mm[once], table)
    inside |= np.isin(patterns.ids[found.fits.tags.pattern[once]], sorted(anywhere))
    outside = tuple(_off_the_table(found, row, patterns, table) for row in once[~inside])
    return Verdict(once[inside], twice + outside)


def _known_rows(found: Identities, square: Index) -> Index:
    """The best fit of each square, where it is known which tag it is; the likeliest first."""
    likeness = found.fits.likeness
    pattern = found.fits.tags.pattern
    first = _first_of_each(square, np.argsort(-likeness, kind="stable"))
    sure = first[found.is_sure[first]]
    # A pattern that is surely elsewhere is no rival, and no name for what is not sure.
    taken = np.zeros(found.amiss.shape[1], dtype=np.bool_)
    taken[pattern[sure]] = True
    open_rows = np.flatnonzero(~taken[pattern] | np.isin(np.arange(len(pattern)), sure))
    best = _first_of_each(square, open_rows[np.argsort(-likeness[open_rows], kind="stable")])
    return best[found.is_known(taken)[best]]


def _first_of_each(group: Index, order: Index) -> Index:
    """The first row of each group, of rows in this order, in this order."""
    _, first = np.unique(group[order], return_index=True)
    return order[np.sort(first)]


def _best_of_each_place(found: Identities, rows: Index) -> Index:
    """The rows, likeliest first, without those that lie on one that is likelier."""
    tags = found.fits.tags
    kept: list[int] = []
    for row in rows:
        away_mm = np.hypot(*(tags.places_mm[kept] - tags.places_mm[row]).T)
        if not (away_mm < tags.sizes_mm[kept] / 2).any():
            kept.append(int(row))
    return np.array(kept, dtype=np.int64)


def _seen_once(
    found: Identities, rows: Index, patterns: TagPatterns
) -> tuple[Index, tuple[Rejection, ...]]:
    """The rows whose tag no other row shows; of tags shown twice neither can be trusted."""
    pattern = found.fits.tags.pattern[rows]
    shown, counts = np.unique(pattern, return_counts=True)
    twice = shown[counts > 1]
    rejections = [
        _copied(int(patterns.ids[copied]), found.fits.tags.places_mm[rows[pattern == copied]])
        for copied in twice
    ]
    return rows[~np.isin(pattern, twice)], tuple(chain.from_iterable(rejections))


def _copied(tag: int, places_mm: Array) -> list[Rejection]:
    """One rejection for each place that a tag is seen at."""
    where = " and ".join(f"({x_mm:.0f}, {y_mm:.0f})" for x_mm, y_mm in places_mm)
    because = f"seen {len(places_mm)} times, at {where} mm: none can be trusted"
    return [Rejection(tag, because, float(x_mm), float(y_mm)) for x_mm, y_mm in places_mm]


def _is_on_table(places_mm: Array, table: TableSize) -> Rows:
    size = np.array([table.width_mm, table.depth_mm])
    near = (places_mm > -_OVER_THE_EDGE_MM) & (places_mm < size + _OVER_THE_EDGE_MM)
    return np.asarray(near.all(axis=1))


def _off_the_table(
    found: Identities, row: int, patterns: TagPatterns, table: TableSize
) -> Rejection:
    tags = found.fits.tags
    x_mm, y_mm = tags.places_mm[row]
    return Rejection(
        int(patterns.ids[tags.pattern[row]]),
        f"lies at ({x_mm:.0f}, {y_mm:.0f}) mm, off the table of "
        f"{table.width_mm:g} x {table.depth_mm:g} mm",
        float(x_mm),
        float(y_mm),
    )
