"""Checks a position and prepares it for rulings: outlines, formations, ground and distances."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, compress
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.errors import BadInput
from tablecam.geometry.outlines import GRID_MM, Axes, axes, unit_footprints
from tablecam.geometry.rectangles import EXACT_MM, Array, rectangles
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.ground import Ground, are_partly_in, ground_of, is_partly_in
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.memo import Memo
from tablecam.rules.miniatures.placement import (
    Overlap,
    PositionWarning,
    edge_warnings,
    faults,
    overlaps,
)
from tablecam.table.formation import Formation, Tolerances, read_formation
from tablecam.table.model import Arm, BasePose, Position, Unit
from tablecam.table.rows import with_rows
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.lengths import distances_of_pairs
from tablecam.uncertainty.margins import SIGMAS
from tablecam.wording import quoted, written

_CUT_MM: Final = 1.0
"""Tolerance for base dimensions: bases are not cut more precisely than this."""
_LOOSE: Final = Tolerances(out_mm=12.0, out_share=1 / 3, heading_deg=20.0)
"""Twice the tolerances of M-1.7, so that a unit at their limit causes no flickering warning."""


def position_warnings(
    position: Position, about: Collection[str] | None = None
) -> Iterator[PositionWarning]:
    """Yields every warning about a position except overlaps and units on impassable ground.

    With `about`, only these units' formations are read, as that is slow.
    """
    yield from edge_warnings(position)
    for unit in position.units:
        if about is None or unit.id in about:
            for sentence in _oddities(unit):
                yield PositionWarning(frozenset({unit.id}), f"unit {unit.id} {sentence}")
    yield from _oddly_shaped(position.units)


def _oddities(unit: Unit) -> Iterator[str]:
    """Warns of an odd formation (M-1.7), and of a broken unit that must leave (M-1.14)."""
    if unit.formation is not None and unit.bases:
        formation = _read_loosely(unit.id, unit.arm, unit.bases)
        # Rulings use the declared formation.
        if formation.name != unit.formation:
            yield f"is declared to be in formation {unit.formation}, but {formation.because}"
    if unit.arm == "infantry" and (unit.formation or read_formation(unit).name) == "massed":
        yield "is massed, which infantry may not be"
    count, disruption = len(unit.bases), int(unit.state.get("disruption", 0))
    if disruption > count:
        has = f"has disruption {disruption} with {count} base{'s' * (count > 1)}"
        yield f"{has}: it is broken and leaves the table"


@lru_cache(maxsize=512)
def _read_loosely(unit_id: str, arm: Arm, bases: tuple[BasePose, ...]) -> Formation:
    # Cached: each unit report on the page asks again about units that have not moved.
    return read_formation(Unit(unit_id, "", arm, bases), tolerances=_LOOSE)


def _oddly_shaped(units: Sequence[Unit]) -> Iterator[PositionWarning]:
    """Warns of units with base shapes that M-1.1 does not cover, one warning for each shape."""
    ids_by_size_mm: dict[tuple[float, float], list[str]] = {}
    for unit in units:
        odd_sizes_mm = [
            (base.width_mm, base.depth_mm)
            for base in unit.bases
            if not base.depth_mm - _CUT_MM
            <= base.width_mm
            <= tables.MAX_WIDTH_TO_DEPTH * base.depth_mm + _CUT_MM
        ]
        # Guns may be of any depth (M-1.1).
        if odd_sizes_mm and unit.arm != "artillery":
            ids_by_size_mm.setdefault(odd_sizes_mm[-1], []).append(unit.id)
    for (wide_mm, deep_mm), names in ids_by_size_mm.items():
        who = f"unit {names[0]} has" if len(names) == 1 else f"units {', '.join(names)} have"
        sentence = (
            f"{who} bases of {wide_mm:g} x {deep_mm:g} mm: the rules (M-1.1) expect bases "
            f"from square to {tables.MAX_WIDTH_TO_DEPTH:g} times as wide as deep, but are applied "
            "as they are"
        )
        yield PositionWarning(frozenset(names), sentence)


FAR_SIGMAS = 6.0
"""Bound on the error of a unit, in sigmas; no answer depends on a larger one."""

GAME = "maurice-lite"


@dataclass(frozen=True, slots=True, eq=False)
class UnitOnField:
    """A unit with its geometry prepared for rulings.

    `outline` is the union of its bases with the seams closed (G-7); `bases` are their rectangles
    in the order of `unit.bases`; `axes` are its front edge and heading (G-3); `formation` is the
    declared one or else is read from the bases (M-1.7). `sigma_bound_mm` bounds the standard
    deviation of any corner's position in any direction. `place` is the same object whenever the
    same unit lies here in the same formation.
    """

    unit: Unit
    formation: str
    axes: Axes
    outline: shapely.Geometry
    bases: tuple[shapely.Polygon, ...]
    is_in_difficult: bool
    is_in_water: bool
    sigma_bound_mm: float
    place: object

    @property
    def id(self) -> str:
        """The unit's id."""
        return self.unit.id

    @property
    def side(self) -> str:
        """The unit's side."""
        return self.unit.side

    @property
    def disruption(self) -> int:
        """The unit's level of disruption (M-1.14)."""
        return int(self.unit.state.get("disruption", 0))

    @property
    def is_disrupted(self) -> bool:
        """Whether the disruption is at least half of the number of bases (M-7.24)."""
        return 2 * self.disruption >= len(self.bases)

    @property
    def has_smoke(self) -> bool:
        """Whether the unit has a smoke marker (M-4.23)."""
        return bool(self.unit.state.get("smoke", False))

    @property
    def longest_range_bw(self) -> float:
        """The unit's longest range of fire (M-7.9, M-7.10)."""
        return tables.LONG_BW if self.unit.arm == "artillery" else tables.SHORT_BW

    @property
    def is_disrupted_by_passing(self) -> bool:
        """Whether passing through friends disrupts the unit: neither guns nor columns (M-6.7)."""
        return self.unit.arm != "artillery" and self.formation != "column"

    @property
    def breaks_if_passed(self) -> bool:
        """Whether a friend that passes through the unit would break it (M-6.8)."""
        return self.is_disrupted_by_passing and self.breaks_with(1)

    def breaks_with(self, disruptions: int) -> bool:
        """Returns whether this many more disruptions would break the unit (M-1.14)."""
        return self.disruption + disruptions > len(self.bases)

    def breaking_reason(self, disruptions: int) -> Reason:
        """Returns why this many more disruptions break the unit."""
        return Reason("M-1.14", "breaking", (self.disruption + disruptions, len(self.bases)))

    def touches_flank_of_line(self, other: UnitOnField) -> bool:
        """Returns whether a friend touches this line's flank and lies beyond its flank line.

        When the line wheels, only its rear corner swings into such a friend, by the line's diagonal
        minus its width: about 5 mm for four bases, which is ignored (reading of M-6.14).
        """
        if self.formation != "line" or other.side != self.side:
            return False
        if not shapely.dwithin(self.outline, other.outline, TOUCH_MM + EXACT_MM):
            return False
        outside_mm = self.axes.outside_mm(shapely.get_coordinates(other.outline))
        return float(outside_mm.min()) >= -TOUCH_MM - EXACT_MM


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A checked position: its units, ground and tolerated overlaps.

    Units may extend `over_edge_mm` over the table's edge.
    """

    position: Position
    units: tuple[UnitOnField, ...]
    ground: Ground
    overlaps: tuple[Overlap, ...]
    by_id: Mapping[str, UnitOnField]
    over_edge_mm: float = 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences of all warnings."""
        return self.warnings_about(None)

    def warnings_about(self, ids: Collection[str] | None) -> tuple[str, ...]:
        """Returns the sentences of all warnings, or of those that concern some ids."""
        overlaps = (overlap.warning for overlap in self.overlaps)
        oddities = *overlaps, *self.on_impassable, *position_warnings(self.position, ids)
        return tuple(
            oddity.sentence
            for oddity in oddities
            if ids is None or not oddity.concerned_ids.isdisjoint(ids)
        )

    @property
    def on_impassable(self) -> tuple[PositionWarning, ...]:
        """Warnings of units on impassable ground, possible only before the game (M-5.1)."""
        return tuple(
            PositionWarning(frozenset({unit.id}), f"{unit.id} stands on impassable ground (M-5.1)")
            for unit in self.units
            if is_partly_in(unit.outline, self.ground.impassable)
        )

    @property
    def bw_mm(self) -> float:
        """The length of one base width (G-2)."""
        return self.position.table.bw_mm

    @property
    def tolerance_mm(self) -> float:
        """The players' tolerance: a smaller margin is too close to call."""
        return self.position.table.tolerance_mm

    def bound_mm(self, sigma_mm: float) -> float:
        """Returns the largest error of a length to consider: 3.5 sigma or the tolerance."""
        return max(SIGMAS * sigma_mm, self.tolerance_mm)

    @property
    def is_exact(self) -> bool:
        """Whether all poses are exact and the players' tolerance is 0."""
        return not self.tolerance_mm and not any(unit.sigma_bound_mm for unit in self.units)

    @property
    def outlines(self) -> NDArray[np.object_]:
        """The outlines (n,) of the units."""
        return np.array([unit.outline for unit in self.units], dtype=object)

    def within(self, shape: shapely.Geometry, reach_mm: Any) -> list[UnitOnField]:
        """Returns the units no farther from a shape than a length, one for all or one each (n,)."""
        return [*compress(self.units, shapely.dwithin(self.outlines, shape, reach_mm))]

    def with_units(self, units: Iterable[UnitOnField]) -> Field:
        """Returns the field with these units alone."""
        present = tuple(units)
        return replace(self, units=present, by_id=_by_id(present))

    def of_side(self, side: str) -> tuple[UnitOnField, ...]:
        """Returns the units of a side."""
        return tuple(unit for unit in self.units if unit.side == side)

    def enemies_of(self, unit: UnitOnField) -> tuple[UnitOnField, ...]:
        """Returns the units of all other sides."""
        return tuple(other for other in self.units if other.side != unit.side)

    def friends_of(self, unit: UnitOnField) -> tuple[UnitOnField, ...]:
        """Returns the other units of its side; `unit` is excluded by id, so it may have moved."""
        return tuple(
            other for other in self.units if other.side == unit.side and other.id != unit.id
        )

    def keys(self, units: Sequence[UnitOnField], reaches_mm: Sequence[float]) -> list[Hashable]:
        """Returns a cache key for answers about each unit if nothing beyond its reach matters.

        It holds the table, its ground, the unit itself, and the poses of all units within reach.
        """
        # Doubled for the unit's own error and the other's.
        errors_mm = 2 * FAR_SIGMAS * max((unit.sigma_bound_mm for unit in self.units), default=0.0)
        farther_mm, outlines = errors_mm + self.tolerance_mm, self.outlines
        places = [unit.place for unit in self.units]
        return [
            (
                self.position.table,
                self.ground,
                unit,
                *compress(places, shapely.dwithin(outlines, unit.outline, reach_mm + farther_mm)),
            )
            for unit, reach_mm in zip(units, reaches_mm, strict=True)
        ]

    def level(self, unit: UnitOnField) -> int:
        """Counts the hills under more than half of a unit (M-5.9)."""
        hills = [hill.outline for hill in self.ground.pieces if hill.terrain.kind == "hill"]
        on_hill_mm2 = shapely.area(shapely.intersection(hills, unit.outline, grid_size=GRID_MM))
        return int((on_hill_mm2 > shapely.area(unit.outline) / 2).sum())

    def is_uphill(self, attacker: UnitOnField, defender: UnitOnField) -> bool:
        """Returns whether the defender is on a higher level than the attacker (M-8.15)."""
        return self.level(defender) > self.level(attacker)

    def in_bw(self, length_mm: float) -> float:
        """Converts a length to base widths."""
        return length_mm / self.bw_mm


_REMEMBERED: Memo[UnitOnField] = Memo(size=4096)


def field_of(position: Position, source: str = "position") -> Field:
    """Checks a position and prepares it; errors name it `source`.

    The ground is cached, and so are units on it that have not moved.

    Raises:
        BadInput: The game, a formation, a unit's state or a kind of terrain is unknown, a unit has
            the wrong number of bases, or bases lie off the table, are measured too inaccurately
            or overlap by more than hand placement and measuring errors explain.
    """
    if position.game != GAME:
        raise BadInput(source, f"game: expected {GAME}, got {position.game}")
    # Checked first: `Ground.of` looks the kinds up.
    _check_kinds(position, source)
    position = with_rows(position)
    ground = ground_of(position.terrain)

    def prepared(new: Sequence[int]) -> tuple[UnitOnField, ...]:
        units = tuple(position.units[index] for index in new)
        return _units(replace(position, units=units), ground, source)

    # States are keyed by their repr, which tells True from 1.
    keys = [
        (position.table, ground, *_place_of(unit), repr(unit.state), repr(unit.extra))
        for unit in position.units
    ]
    units = tuple(_REMEMBERED.answers(keys, prepared))
    return Field(position, units, ground, tuple(overlaps(position.units, source)), _by_id(units))


def _place_of(unit: Unit) -> tuple[Hashable, ...]:
    return unit.id, unit.side, unit.arm, unit.formation, unit.bases


def _by_id(units: Iterable[UnitOnField]) -> Mapping[str, UnitOnField]:
    return MappingProxyType({unit.id: unit for unit in units})


def _check_kinds(position: Position, source: str) -> None:
    for index, piece in enumerate(position.terrain):
        if piece.kind not in tables.KINDS:
            expected = f"expected one of {', '.join(tables.KINDS)}, got {quoted(piece.kind)}"
            raise BadInput(source, expected, key=written(("terrain", index, "kind")))


def _units(position: Position, ground: Ground, source: str) -> tuple[UnitOnField, ...]:
    units = position.units
    # Checked first: formations can only be read from complete units.
    _check_units(position, source)
    placed = rectangles(units)
    bases = np.asarray(shapely.polygons(placed.corners_mm()), dtype=object)
    in_difficult, in_water = (
        are_partly_in(bases, area) for area in (ground.difficult, ground.water)
    )
    spreads_mm = placed.sigma_bounds_mm
    ends = np.cumsum([len(unit.bases) for unit in units]).tolist()
    spans = [slice(end - len(unit.bases), end) for unit, end in zip(units, ends, strict=True)]
    own = [tuple(bases[span].tolist()) for span in spans]
    return tuple(
        UnitOnField(
            unit,
            unit.formation or read_formation(unit).name,
            axes(unit),
            outline,
            rectangles_of,
            is_in_difficult=bool(in_difficult[span].any()),
            is_in_water=bool(in_water[span].any()),
            sigma_bound_mm=float(spreads_mm[span].max()),
            place=_place(*_place_of(unit)),
        )
        for unit, outline, rectangles_of, span in zip(
            units, unit_footprints(own), own, spans, strict=True
        )
    )


@lru_cache(maxsize=4096)
def _place(*_: object) -> object:
    """Returns the same object for equal arguments, quick to compare."""
    return object()


def _check_units(position: Position, source: str) -> None:
    fault_of = faults(position, tables.BASES)
    for unit in position.units:
        why = fault_of[unit.id].message if unit.id in fault_of else _fault(unit)
        if why is not None:
            raise BadInput(source, f"unit {unit.id}: {why}")


def _fault(unit: Unit) -> str | None:
    """Returns the fault in a unit's state or formation, which its arm must allow (M-1.7)."""
    known = tables.FORMATIONS[unit.arm]
    if unit.formation is not None and unit.formation not in known:
        expected = f"expected {'one of ' * (len(known) > 1)}{', '.join(known)}"
        return f"formation: {expected}, got {quoted(unit.formation)}"
    disruption, smoke = unit.state.get("disruption", 0), unit.state.get("smoke", False)
    # A `bool` is an `int` too.
    if isinstance(disruption, bool) or not isinstance(disruption, int) or disruption < 0:
        expected = "expected a whole number of at least 0"
        return f"state.disruption: {expected}, got {quoted(disruption)}"
    if not isinstance(smoke, bool):
        return f"state.smoke: expected true or false, got {quoted(smoke)}"
    return None


_DISTANCES: Memo[tuple[float, float]] = Memo(size=16_384)


@dataclass(frozen=True, slots=True, eq=False)
class DistanceMatrix:
    """The distances (n, n) between unit footprints in mm, in the field's order, with sigmas."""

    indices: Mapping[str, int]
    value_mm: Array
    spread_mm: Array

    def mm(self, a_id: str, b_id: str) -> float:
        """Returns the distance between two units; 0 if they touch or overlap."""
        return float(self.value_mm[self.indices[a_id], self.indices[b_id]])

    def sigma_mm(self, a_id: str, b_id: str) -> float:
        """Returns the standard deviation of the distance between two units."""
        return float(self.spread_mm[self.indices[a_id], self.indices[b_id]])


# Cached: several rulings on one field use it.
@lru_cache(maxsize=8)
def distance_matrix(field: Field) -> DistanceMatrix:
    """Measures the distances between all units of a field; known ones are cached."""
    units = [unit.unit for unit in field.units]
    pairs = np.array([*combinations(range(len(units)), 2)], dtype=np.intp).reshape(-1, 2)
    places = [unit.place for unit in field.units]

    def measured(new: list[int]) -> list[tuple[float, float]]:
        lengths = distances_of_pairs(units, pairs[new])
        return list(zip(*(values.tolist() for values in lengths), strict=True))

    keys = [*combinations(places, 2)]
    lengths = np.array(_DISTANCES.answers(keys, measured), dtype=np.float64).reshape(-1, 2)
    matrices = np.zeros((2, len(units), len(units)))
    first, second = pairs.T
    matrices[:, first, second] = matrices[:, second, first] = lengths.T
    indices = {unit.id: place for place, unit in enumerate(field.units)}
    return DistanceMatrix(indices, *matrices)
