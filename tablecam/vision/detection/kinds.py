"""Groups a table file's tags into kinds of one size and height, to search for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.table.roster import Roster
from tablecam.vision.fitting.dictionary import TagPatterns

_LARGEST_RATIO = 1.5
"""Tags up to this much larger are searched together with the smallest, at one scale."""


@dataclass(frozen=True, slots=True, eq=False)
class TagKind:
    """Tags of one size and one height above the table, which differ only in their pattern.

    `pattern` (k,) are the rows of the `TagPatterns` that are printed at this size.
    """

    size_mm: float
    height_mm: float
    pattern: NDArray[np.int64]


def tag_ids(roster: Roster) -> tuple[int, ...]:
    """Returns all tags of a table file: the table's own, then those of bases."""
    return (*(tag.id for tag in roster.table_tags), *roster.base_type_by_tag())


def tag_kinds(roster: Roster, patterns: TagPatterns) -> tuple[TagKind, ...]:
    """Returns the kinds of tag of a table file, the smallest first."""
    ids: dict[tuple[float, float], list[int]] = {}
    for tag in roster.table_tags:
        ids.setdefault((roster.table_tag_size_mm, 0.0), []).append(tag.id)
    for base_tag, base in roster.base_type_by_tag().items():
        ids.setdefault((base.tag_size_mm, base.tag_height_mm), []).append(base_tag)
    return tuple(
        TagKind(size_mm, height_mm, _rows(patterns, tags))
        for (size_mm, height_mm), tags in sorted(ids.items())
    )


def kinds_of_like_size(kinds: Sequence[TagKind]) -> tuple[tuple[TagKind, ...], ...]:
    """Groups kinds, sorted by size, whose sizes lie within a factor of 1.5."""
    groups: list[list[TagKind]] = []
    for kind in kinds:
        # Compares with the smallest of the group: sizes must not drift apart step by step.
        if groups and kind.size_mm <= _LARGEST_RATIO * groups[-1][0].size_mm:
            groups[-1].append(kind)
        else:
            groups.append([kind])
    return tuple(map(tuple, groups))


def _rows(patterns: TagPatterns, ids: Iterable[int]) -> NDArray[np.int64]:
    """Returns the sorted rows of the patterns with these ids."""
    return np.array(sorted(patterns.index_of[tag] for tag in ids), dtype=np.int64)
