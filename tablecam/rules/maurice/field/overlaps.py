"""Finds overlapping bases: warns of small overlaps and refuses those that no error explains."""

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

MAX_OVERLAP_MM = 3.0
"""The largest true overlap that is tolerated, as bases are placed by hand."""
_SIGMAS = 3.5
"""The tolerance for measuring errors on top of that, in standard deviations."""

_WARNED_OVERLAP_MM = 0.5
_MOST_WIDER = 2 * math.sqrt(2)
"""Upper bound of an overlap's depth divided by the separation that would part two rectangles.

The smallest rectangle around a convex shape has at most twice its area, which is at most its width
times its diameter; and its longer side is at least the diameter divided by the root of 2.
"""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two overlapping bases, each as unit id and index, and a sentence that warns of it."""

    bases: tuple[tuple[str, int], tuple[str, int]]
    sentence: str

    @property
    def units(self) -> set[str]:
        """The ids of the units involved."""
        return {unit_id for unit_id, _ in self.bases}


Placed = tuple[Unit, int]
"""A base as its unit and its index in it."""


def overlaps(
    units: Sequence[Unit], source: str, *, among: Collection[str] | None = None
) -> list[Overlap]:
    """Returns the tolerated overlaps of bases, in the order of the units.

    If `among` is given, only those that involve a unit with one of these ids.

    Raises:
        BadInput: Two bases overlap by more than `max_overlap_mm`.
    """
    tolerated = []
    for (a, in_a), (b, in_b), deep_mm in overlapping_bases(units, among=among):
        names = f"{a.base_name(in_a)} ({a.id}) and {b.base_name(in_b)} ({b.id})"
        sentence = f"bases {names} overlap by {deep_mm:.1f} mm"
        most_mm = max_overlap_mm(a.bases[in_a], b.bases[in_b])
        if deep_mm > most_mm:
            raise BadInput(source, f"{sentence}: expected at most {most_mm:.3g} mm")
        tolerated.append(Overlap(((a.id, in_a), (b.id, in_b)), sentence))
    return tolerated


def max_overlap_mm(one: BasePose, other: BasePose) -> float:
    """Returns the largest tolerated overlap of two bases, given their measuring errors."""
    # A turn moves the corners most, half a diagonal from the centre.
    turned_mm = (
        math.radians(base.sigma_deg) * math.hypot(base.width_mm, base.depth_mm) / 2
        for base in (one, other)
    )
    return MAX_OVERLAP_MM + _SIGMAS * math.hypot(one.sigma_mm, other.sigma_mm, *turned_mm)


def overlapping_bases(
    units: Sequence[Unit], *, among: Collection[str] | None = None
) -> Iterator[tuple[Placed, Placed, float]]:
    """Yields the pairs of bases that overlap by more than the warning limit, with the depth."""
    named = [(unit, index) for unit in units for index in range(len(unit.bases))]
    asked = np.array([among is None or unit.id in among for unit, _ in named], dtype=np.bool_)
    for first, second in zip(*_candidates(rectangles(units), asked), strict=True):
        pair = named[first], named[second]
        one, other = (footprint(unit.bases[index]) for unit, index in pair)
        deep_mm = _deep_mm(shapely.intersection(one, other))
        if deep_mm > _WARNED_OVERLAP_MM:
            yield *pair, deep_mm


def _deep_mm(common: shapely.Geometry) -> float:
    """Returns an overlap's depth: the shorter side of the smallest rectangle around it."""
    box = shapely.minimum_rotated_rectangle(common)
    # Bases that only touch have a line or a point in common.
    if not isinstance(box, shapely.Polygon):
        return 0.0
    corners = shapely.get_coordinates(box)
    sides = [float(shapely.Point(a).distance(shapely.Point(b))) for a, b in pairwise(corners[:3])]
    return min(sides)


def _candidates(bases: Rectangles, asked: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Preselects the pairs, at least one of them asked for, that may overlap beyond the limit."""
    reach_mm = np.linalg.norm(bases.halves_mm, axis=1)
    apart_mm = np.linalg.norm(bases.centres_mm[:, None] - bases.centres_mm, axis=-1)
    # Circles first: separating axes are computed only for the few pairs that are close.
    is_close = (apart_mm < reach_mm[:, None] + reach_mm) & (asked[:, None] | asked)
    first, second = np.nonzero(np.triu(is_close, k=1))
    gaps_mm, _, _ = separations(bases.take(first), bases.take(second))
    is_deep = -gaps_mm * _MOST_WIDER > _WARNED_OVERLAP_MM
    return first[is_deep].tolist(), second[is_deep].tolist()
