"""Reads how the bases of a unit are arranged, from which games recognise formations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tablecam.geometry.gaps import corner_gaps
from tablecam.geometry.rectangles import Array, rectangles
from tablecam.table.headings import forward, mean_deg, right
from tablecam.table.model import BasePose


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The ranks, files and groups of some bases, given by index in the list.

    `ranks` go from front to rear, each from left to right; `files` from left to right, each from
    front to rear. `groups` are the bases that are connected, the largest group first. `gaps_mm` lie
    between neighbours in each rank, negative for an overlap.
    """

    heading_deg: float
    ranks: tuple[tuple[int, ...], ...]
    files: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    gaps_mm: tuple[tuple[float, ...], ...]


def arrangement(bases: Sequence[BasePose], *, apart_mm: float = 2.0) -> Arrangement:
    """Reads the arrangement of one or more bases; those within `apart_mm` are connected.

    A base is in a rank (file) if its centre is less than half its depth (width) off the first.

    Raises:
        ValueError: There are no bases.
    """
    if not bases:
        raise ValueError("expected one or more bases")
    return _arrangement(tuple(bases), apart_mm)


# Rules ask for the same bases again and again while nobody moves.
@lru_cache(maxsize=2048)
def _arrangement(bases: tuple[BasePose, ...], apart_mm: float) -> Arrangement:
    heading_deg = mean_deg(base.heading_deg for base in bases)
    places = np.array([base.place_mm for base in bases])
    aside, ahead = places @ right(heading_deg), places @ forward(heading_deg)
    depths, widths = ([getattr(base, side) for base in bases] for side in ("depth_mm", "width_mm"))
    ranks = [sorted(rank, key=aside.__getitem__) for rank in _rows(-ahead, depths)]
    files = [sorted(file, key=(-ahead).__getitem__) for file in _rows(aside, widths)]
    gaps_mm = [
        tuple(_gap_mm(bases[index], bases[following]) for index, following in pairwise(rank))
        for rank in ranks
    ]
    return Arrangement(
        heading_deg=heading_deg,
        ranks=tuple(map(tuple, ranks)),
        files=tuple(map(tuple, files)),
        groups=_groups(bases, apart_mm),
        gaps_mm=tuple(gaps_mm),
    )


def _rows(along_mm: Array, sizes_mm: Sequence[float]) -> list[list[int]]:
    """Groups bases along an axis: each row ends half a base beyond its first."""
    rows: list[list[int]] = []
    for index in np.argsort(along_mm, kind="stable").tolist():
        if rows and along_mm[index] - along_mm[rows[-1][0]] < sizes_mm[rows[-1][0]] / 2:
            rows[-1].append(index)
        else:
            rows.append([index])
    return rows


def _gap_mm(base: BasePose, other: BasePose) -> float:
    return float(corner_gaps(rectangles([base]), rectangles([other])).gaps_mm.min())


def _groups(bases: Sequence[BasePose], apart_mm: float) -> tuple[tuple[int, ...], ...]:
    """Returns the groups of bases connected by gaps up to `apart_mm`, in the bases' order."""
    groups: list[set[int]] = []
    for index, base in enumerate(bases):
        joined = [
            group
            for group in groups
            if any(_gap_mm(base, bases[other]) <= apart_mm for other in group)
        ]
        groups = [group for group in groups if group not in joined]
        groups.append({index}.union(*joined))
    in_order = sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group))
    return tuple(map(tuple, in_order))
