"""Checks that bases lie as they can: complete, on the table, well seen, without overlaps.

A document that fails is refused. On a live table, units may lie impossibly for a moment while
players move them: they are left out, with the reason in a sentence, and rulings cover the rest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.errors import BadInput
from tablecam.geometry.gaps import separations
from tablecam.geometry.outlines import footprint, table_outline
from tablecam.geometry.rectangles import Rectangles, rectangles
from tablecam.table.formation import base_words
from tablecam.table.model import Arm, BasePose, Commander, Position, TableSize, Unit
from tablecam.wording import joined

_MAX_OFF_TABLE_MM = 10.0
_MAX_SIGMA_MM, _MAX_SIGMA_DEG = 10.0, 10.0
"""The largest errors of a base's pose for which its formation can still be read."""
_MAX_OVERLAP_MM = 3.0
"""The largest actual overlap that is tolerated, as bases are placed by hand."""
_SIGMAS = 3.5
"""The tolerance for measuring errors on top of that, in standard deviations."""

_WARNED_OVERLAP_MM = 0.5
_WARNED_OVER_MM = 0.5
"""An overhang beyond the table's edge up to this length is ignored."""
_MOST_WIDER = 2 * math.sqrt(2)
"""Upper bound of an overlap's depth, divided by the shift that would separate two rectangles.

The smallest rectangle around a convex shape has at most twice its area, which is at most its width
times its diameter; and its longer side is at least the diameter divided by the root of 2.
"""


@dataclass(frozen=True, slots=True)
class PositionWarning:
    """A warning about a position: one sentence, and the ids of its units or commanders."""

    concerned_ids: frozenset[str]
    sentence: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a unit's bases: a `message` about a document, a `sentence` for players."""

    message: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two overlapping bases, each as unit id and index, and a sentence that warns of it."""

    bases: tuple[tuple[str, int], tuple[str, int]]
    sentence: str

    @property
    def warning(self) -> PositionWarning:
        """The warning of the overlap."""
        return PositionWarning(frozenset(self.units), self.sentence)

    @property
    def units(self) -> set[str]:
        """The ids of the units involved."""
        return {unit_id for unit_id, _ in self.bases}


Placed = tuple[Unit, int]
"""A base, as its unit and its index there."""


def units_fit_for_rulings(
    position: Position, bases: Mapping[Arm, int]
) -> tuple[Position, Mapping[str, str]]:
    """Returns the position without unfit units, and the reasons for their omission by id.

    `bases` is the number of bases of a unit, by arm.
    """
    why = {
        unit_id: f"{unit_id} is left out: {fault.sentence}"
        for unit_id, fault in faults(position, bases).items()
    }
    complete = [unit for unit in position.units if unit.id not in why]
    # Only among the others: a unit left out anyway disturbs nobody.
    why |= _on_top_of_each_other(complete)
    units = tuple(unit for unit in position.units if unit.id not in why)
    return replace(position, units=units), MappingProxyType(why)


def faults(position: Position, count_of: Mapping[Arm, int]) -> dict[str, Fault]:
    """Returns the faults of units' bases, each unit by itself, by id."""
    play = table_outline(position.table).buffer(_MAX_OFF_TABLE_MM)
    # One query for all bases: one by one would take far longer.
    bases = shapely.polygons(rectangles(position.units).corners_mm())
    is_on_table = iter(np.asarray(shapely.contains(play, bases)).tolist())
    table_mm = f"{position.table.width_mm:g} x {position.table.depth_mm:g} mm"
    fault_of = {}
    for unit in position.units:
        on_table = [next(is_on_table) for _ in unit.bases]
        if fault := _fault(unit, count_of[unit.arm], on_table, table_mm):
            fault_of[unit.id] = fault
    return fault_of


def _fault(unit: Unit, expected: int, on_table: Sequence[bool], table_mm: str) -> Fault | None:
    count = len(unit.bases)
    if count != expected:
        return Fault(
            f"expected {expected} base{'s' * (expected > 1)} of {unit.arm}, got {count}",
            f"{count} of its {expected} bases are on the table",
        )
    for index, (pose, is_on_table) in enumerate(zip(unit.bases, on_table, strict=True)):
        name, words = unit.base_name(index), base_words(unit, index)
        for key, sigma, most in (
            ("sigma_mm", pose.sigma_mm, _MAX_SIGMA_MM),
            ("sigma_deg", pose.sigma_deg, _MAX_SIGMA_DEG),
        ):
            if sigma > most:
                return Fault(
                    f"base {name}: {key}: expected at most {most:g}, got {sigma:g}",
                    f"the place of {words} is too uncertain",
                )
        if not is_on_table:
            return Fault(f"base {name} is off the table of {table_mm}", f"{words} is off the table")
    return None


def _on_top_of_each_other(units: list[Unit]) -> dict[str, str]:
    """Returns why units with impossible overlaps are left out, by id: the hidden one, or both."""
    why: dict[str, str] = {}
    for *both, depth_mm in _overlapping_bases(units):
        if depth_mm <= _max_overlap_mm(*(unit.bases[index] for unit, index in both)):
            continue
        names = joined(base_words(unit, index) for unit, index in both)
        # Where only one of the two is seen, the camera is right about that one.
        hidden = [unit.id for unit, index in both if unit.bases[index].seen == "held"]
        for unit_id in hidden if len(hidden) == 1 else [unit.id for unit, _ in both]:
            why[unit_id] = f"{unit_id} is left out: {names} are on top of each other"
    return why


def overlaps(
    units: Sequence[Unit], source: str, *, among: Collection[str] | None = None
) -> list[Overlap]:
    """Returns the tolerated overlaps of bases, in the order of the units.

    With `among`, only those that involve a unit with one of these ids.

    Raises:
        BadInput: Two bases overlap by more than `_max_overlap_mm`.
    """
    tolerated = []
    for (a, in_a), (b, in_b), depth_mm in _overlapping_bases(units, among=among):
        overlap = _overlap((a, in_a), (b, in_b), depth_mm)
        most_mm = _max_overlap_mm(a.bases[in_a], b.bases[in_b])
        if depth_mm > most_mm:
            raise BadInput(source, f"{overlap.sentence}: expected at most {most_mm:.3g} mm")
        tolerated.append(overlap)
    return tolerated


def placement_warnings(position: Position, *units: str) -> tuple[str, ...]:
    """Returns the sentences of all warnings about some units: overlaps, and the table's edge."""
    pairs = _overlapping_bases(position.units, among=units)
    found = (*(_overlap(*pair).warning for pair in pairs), *edge_warnings(position))
    return tuple(one.sentence for one in found if not one.concerned_ids.isdisjoint(units))


def _overlap(one: Placed, other: Placed, depth_mm: float) -> Overlap:
    (a, in_a), (b, in_b) = one, other
    names = f"{base_words(a, in_a)} and {base_words(b, in_b)}"
    sentence = f"{names} overlap by {depth_mm:.1f} mm"
    return Overlap(((a.id, in_a), (b.id, in_b)), sentence)


def _max_overlap_mm(one: BasePose, other: BasePose) -> float:
    """Returns the largest tolerated overlap of two bases, given their measuring errors."""
    # Rotation moves the corners most, half a diagonal from the centre.
    turned_mm = (
        math.radians(base.sigma_deg) * math.hypot(base.width_mm, base.depth_mm) / 2
        for base in (one, other)
    )
    return _MAX_OVERLAP_MM + _SIGMAS * math.hypot(one.sigma_mm, other.sigma_mm, *turned_mm)


def _overlapping_bases(
    units: Sequence[Unit], *, among: Collection[str] | None = None
) -> Iterator[tuple[Placed, Placed, float]]:
    """Yields the pairs of bases that overlap by more than the warning limit, with the depth."""
    named = [(unit, index) for unit in units for index in range(len(unit.bases))]
    asked = np.array([among is None or unit.id in among for unit, _ in named], dtype=np.bool_)
    for first, second in zip(*_candidates(rectangles(units), asked), strict=True):
        pair = named[first], named[second]
        one, other = (footprint(unit.bases[index]) for unit, index in pair)
        depth_mm = _depth_mm(shapely.intersection(one, other))
        if depth_mm > _WARNED_OVERLAP_MM:
            yield *pair, depth_mm


def _depth_mm(common: shapely.Geometry) -> float:
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


def edge_warnings(position: Position) -> Iterator[PositionWarning]:
    """Yields the warnings of bases that overhang the table's edge, and of commanders beside it."""
    yield from _over_the_edge(position.units, position.table)
    yield from _beside_the_table(position.commanders, position.table)


def _over_the_edge(units: Sequence[Unit], table: TableSize) -> Iterator[PositionWarning]:
    """Warns of bases that overhang the table's edge by less than the limit for refusal."""
    beyond_mm = _beyond_mm(rectangles(units).corners_mm(), table)
    named = ((unit, index) for unit in units for index in range(len(unit.bases)))
    for (unit, index), over_mm in zip(named, beyond_mm.max(axis=1).tolist(), strict=True):
        if over_mm > _WARNED_OVER_MM:
            name = base_words(unit, index)
            sentence = f"{name} extends {over_mm:.1f} mm over the table's edge"
            yield PositionWarning(frozenset({unit.id}), sentence)


def _beside_the_table(leaders: Sequence[Commander], table: TableSize) -> Iterator[PositionWarning]:
    """Warns of commanders off the table."""
    places_mm = np.array([leader.place_mm for leader in leaders]).reshape(-1, 2)
    for leader, off_mm in zip(leaders, _beyond_mm(places_mm, table).tolist(), strict=True):
        if off_mm > _WARNED_OVER_MM:
            sentence = f"commander {leader.name} is {off_mm:.1f} mm off the table"
            yield PositionWarning(frozenset({leader.id}), sentence)


def _beyond_mm(places_mm: NDArray[np.float64], table: TableSize) -> NDArray[np.float64]:
    """Returns how far points (..., 2) lie beyond the nearest table edge; negative on the table."""
    farthest_mm = places_mm - (table.width_mm, table.depth_mm)
    return np.asarray(np.maximum(-places_mm, farthest_mm).max(axis=-1))
