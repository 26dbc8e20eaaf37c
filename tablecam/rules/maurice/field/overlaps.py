"""Bases that overlap: tolerated as far as hands and errors explain it, and told; else refused."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.errors import BadInput
from tablecam.geometry.gaps import separations
from tablecam.geometry.outlines import footprint
from tablecam.geometry.rectangles import Rectangles, rectangles
from tablecam.table.model import BasePose, Unit

MOST_OVERLAP_MM = 3.0
"""Hands are hands: bases that truly overlap by more than this cannot lie so."""
_SIGMAS = 3.5
"""By how many standard deviations more two bases may be measured into each other."""

_WARNED_OVERLAP_MM = 0.5
_MOST_WIDER = 2 * math.sqrt(2)
"""How many times as deep as the way that parts two rectangles an overlap of theirs can be.

The smallest rectangle about a convex shape has at most twice its area, which is at most its width
times its diameter; and its longer side is no shorter than the diameter over the root of 2.
"""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two bases, each by its unit's id and its place there, that overlap; and a sentence on it."""

    bases: tuple[tuple[str, int], tuple[str, int]]
    sentence: str

    @property
    def units(self) -> set[str]:
        """The ids of their units."""
        return {unit_id for unit_id, _ in self.bases}


Placed = tuple[Unit, int]
"""A base, as the unit that it is of and its place there."""


def overlaps(
    units: Sequence[Unit], source: str, *, among: Collection[str] | None = None
) -> list[Overlap]:
    """The overlaps of bases of units, in the order in which the bases are named.

    Only those in which a base of the units `among` takes part, where these are given.

    Raises:
        BadInput: Two bases overlap by more than hands and the errors of both explain.
    """
    found = []
    for (a, in_a), (b, in_b), deep_mm in overlapping(units, among=among):
        names = f"{a.base_name(in_a)} ({a.id}) and {b.base_name(in_b)} ({b.id})"
        what = f"bases {names} overlap by {deep_mm:.1f} mm"
        most_mm = most_overlap_mm(a.bases[in_a], b.bases[in_b])
        if deep_mm > most_mm:
            raise BadInput(source, f"{what}: expected at most {most_mm:.3g} mm")
        found.append(Overlap(((a.id, in_a), (b.id, in_b)), what))
    return found


def most_overlap_mm(one: BasePose, other: BasePose) -> float:
    """By how much two bases may be measured into each other: by what hands explain, and errors."""
    turned_mm = (
        math.radians(base.sigma_deg) * math.hypot(base.width_mm, base.depth_mm) / 2
        for base in (one, other)
    )
    return MOST_OVERLAP_MM + _SIGMAS * math.hypot(one.sigma_mm, other.sigma_mm, *turned_mm)


def overlapping(
    units: Sequence[Unit], *, among: Collection[str] | None = None
) -> Iterator[tuple[Placed, Placed, float]]:
    """The pairs of bases of units that overlap by as much as is told, and how deep."""
    named = [(unit, index) for unit in units for index in range(len(unit.bases))]
    asked = np.array([among is None or unit.id in among for unit, _ in named], dtype=np.bool_)
    for first, second in zip(*_deep(rectangles(units), asked), strict=True):
        pair = named[first], named[second]
        one, other = (footprint(unit.bases[index]) for unit, index in pair)
        deep_mm = _deep_mm(shapely.intersection(one, other))
        if deep_mm > _WARNED_OVERLAP_MM:
            yield *pair, deep_mm


def _deep_mm(common: shapely.Geometry) -> float:
    """How deep an overlap is: the shorter side of the smallest rectangle about it."""
    box = shapely.minimum_rotated_rectangle(common)
    if not isinstance(box, shapely.Polygon):
        return 0.0
    corners = shapely.get_coordinates(box)
    sides = [float(shapely.Point(a).distance(shapely.Point(b))) for a, b in pairwise(corners[:3])]
    return min(sides)


def _deep(these: Rectangles, asked: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The pairs of rectangles that may overlap by as much as is told, one of them asked about."""
    reach_mm = np.linalg.norm(these.halves_mm, axis=1)
    apart_mm = np.linalg.norm(these.centres_mm[:, None] - these.centres_mm, axis=-1)
    is_close = (apart_mm < reach_mm[:, None] + reach_mm) & (asked[:, None] | asked)
    first, second = np.nonzero(np.triu(is_close, k=1))
    gaps_mm, _, _ = separations(these.take(first), these.take(second))
    is_deep = -gaps_mm * _MOST_WIDER > _WARNED_OVERLAP_MM
    return first[is_deep].tolist(), second[is_deep].tolist()
