"""A position made ready for rulings: checked, with outlines, formations and ground at hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.errors import BadInput
from tablecam.geometry.outlines import Axes, axes, unit_footprints
from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.rules.maurice.field.ground import Ground, are_partly_in, is_partly_in
from tablecam.rules.maurice.field.overlaps import Overlap, overlaps
from tablecam.rules.maurice.field.tables import BASES, FORMATIONS, KINDS, MOST_WIDE
from tablecam.table.formation import Formation, Tolerances, read_formation
from tablecam.table.model import Arm, BasePose, Commander, Position, TableSize, Unit
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.wording import quoted, written

_CUT_MM: Final = 1.0
"""Bases are cut no more exactly than this."""
_WARNED_OVER_MM: Final = 0.5
"""What hangs less over the table's edge is no part of a base (G-5)."""
_LOOSE: Final = Tolerances(out_mm=12.0, out_share=1 / 3, heading_deg=20.0)
"""Twice those of M-1.7: a unit on the verge of them is not told of in one picture of two."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd, in one sentence, and whom it is about, by their ids."""

    about: frozenset[str]
    sentence: str


def oddities(position: Position) -> Iterator[Oddity]:
    """All that is odd about a position, whichever way formations were found out."""
    units, table = position.units, position.table
    yield from _over_the_edge(units, table)
    yield from _beside_the_table(position.commanders, table)
    for unit in units:
        for sentence in (*_misnamed(unit), *_massed(unit), *_broken(unit)):
            yield Oddity(frozenset({unit.id}), sentence)
    yield from _oddly_shaped(units)


def _over_the_edge(units: Sequence[Unit], table: TableSize) -> Iterator[Oddity]:
    """Bases that hang over the table's edge, by less than is refused (M-6.32)."""
    beyond_mm = _beyond_mm(rectangles(units).corners_mm(), table)
    named = ((unit, index) for unit in units for index in range(len(unit.bases)))
    for (unit, index), over_mm in zip(named, beyond_mm.max(axis=1).tolist(), strict=True):
        if over_mm > _WARNED_OVER_MM:
            name = unit.base_name(index)
            said = f"base {name} ({unit.id}) hangs {over_mm:.1f} mm over the table's edge"
            yield Oddity(frozenset({unit.id}), said)


def _beside_the_table(leaders: Sequence[Commander], table: TableSize) -> Iterator[Oddity]:
    """Commanders whose strings begin off the table, which should bound them (M-4.12)."""
    places_mm = np.array([(each.x_mm, each.y_mm) for each in leaders]).reshape(-1, 2)
    for leader, off_mm in zip(leaders, _beyond_mm(places_mm, table).tolist(), strict=True):
        if off_mm > _WARNED_OVER_MM:
            said = f"commander {leader.id} lies {off_mm:.1f} mm off the table"
            yield Oddity(frozenset({leader.id}), said)


def _beyond_mm(places_mm: NDArray[np.float64], table: TableSize) -> NDArray[np.float64]:
    """How far places (..., 2) lie beyond the table's nearest edge; negative on it."""
    farthest_mm = places_mm - (table.width_mm, table.depth_mm)
    return np.asarray(np.maximum(-places_mm, farthest_mm).max(axis=-1))


def _misnamed(unit: Unit) -> Iterator[str]:
    """A unit that does not lie as it is said to is taken at what is said (M-1.7)."""
    if unit.formation is None or not unit.bases:
        return
    found = _found(unit.id, unit.arm, unit.bases)
    if found.name != unit.formation:
        said = f"unit {unit.id} is said to be in formation {unit.formation}"
        yield f"{said}, but {found.because}"


@lru_cache(maxsize=512)
def _found(unit_id: str, arm: Arm, bases: tuple[BasePose, ...]) -> Formation:
    # Of units that lie still it is asked with every sheet that the page shows.
    return read_formation(Unit(unit_id, "", arm, bases), tolerances=_LOOSE)


def _oddly_shaped(units: Sequence[Unit]) -> Iterator[Oddity]:
    """Units on bases of other shapes than the rules are made for, those alike told of at once."""
    found: dict[tuple[float, float], list[str]] = {}
    for unit in units:
        odd = [
            (base.width_mm, base.depth_mm)
            for base in unit.bases
            if not base.depth_mm - _CUT_MM <= base.width_mm <= MOST_WIDE * base.depth_mm + _CUT_MM
        ]
        if odd and unit.arm != "artillery":
            found.setdefault(odd[-1], []).append(unit.id)
    for (wide_mm, deep_mm), names in found.items():
        who = f"unit {names[0]} has" if len(names) == 1 else f"units {', '.join(names)} have"
        said = (
            f"{who} bases of {wide_mm:g} x {deep_mm:g} mm: the rules (M-1.1) are made for bases "
            f"from square to {MOST_WIDE:g} times as wide as deep, and are applied as they are"
        )
        yield Oddity(frozenset(names), said)


def _massed(unit: Unit) -> Iterator[str]:
    """Foot two behind two, as only cavalry may lie (M-1.7)."""
    if unit.arm == "infantry" and (unit.formation or read_formation(unit).name) == "massed":
        yield f"unit {unit.id} lies massed: infantry may not"


def _broken(unit: Unit) -> Iterator[str]:
    """A unit that has more disruption than bases: broken, so off the table (M-1.14)."""
    count, disruption = len(unit.bases), int(unit.state.get("disruption", 0))
    if disruption > count:
        yield (
            f"unit {unit.id} has disruption {disruption} with {count} "
            f"base{'s' * (count > 1)}: it is broken and leaves the table"
        )


GAME = "maurice-lite"

MOST_OFF_TABLE_MM = 10.0
MOST_SIGMA_MM, MOST_SIGMA_DEG = 10.0, 10.0
"""Of bases less sure than about what M-1.7 allows, no formation, and no answer, can be told."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitOnField:
    """A unit with all that rules ask of it again and again.

    `outline` is the union of its bases, seams closed (G-7); `bases` are the rectangles one by one,
    in the order of `unit.bases`; `axes` are its front edge and heading (G-3); `formation` is as
    named in the position, or as its bases lie (M-1.7). `spread_mm` is a bound on the standard
    deviation of where any corner of it lies, along any line.
    """

    unit: Unit
    formation: str
    axes: Axes
    outline: shapely.Geometry
    bases: tuple[shapely.Polygon, ...]
    is_in_difficult: bool
    is_in_water: bool
    spread_mm: float

    @property
    def id(self) -> str:
        """The unit's id."""
        return self.unit.id

    @property
    def side(self) -> str:
        """The side that it is of."""
        return self.unit.side

    @property
    def disruption(self) -> int:
        """Its level of disruption (M-1.14)."""
        return int(self.unit.state.get("disruption", 0))

    @property
    def is_disrupted(self) -> bool:
        """Whether it has disruptions for half of its bases or more (M-7.24)."""
        return 2 * self.disruption >= len(self.bases)

    @property
    def has_smoke(self) -> bool:
        """Whether it is marked with smoke (M-4.23)."""
        return bool(self.unit.state.get("smoke", False))

    def has_beside_it(self, other: UnitOnField) -> bool:
        """Whether a friend stands flush with the flank of a line, beyond the flank line.

        In a wheel nothing but a rear corner comes there, by the line's diagonal less its width:
        some 5 mm of four bases, which counts for nothing (reading of M-6.14).
        """
        if self.formation != "line" or other.side != self.side:
            return False
        if not shapely.dwithin(self.outline, other.outline, TOUCH_MM + EXACT_MM):
            return False
        outside_mm = self.axes.outside_mm(shapely.get_coordinates(other.outline))
        return float(outside_mm.min()) >= -TOUCH_MM - EXACT_MM


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A checked position."""

    position: Position
    units: tuple[UnitOnField, ...]
    ground: Ground
    overlaps: tuple[Overlap, ...]
    by_id: Mapping[str, UnitOnField]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd but tolerated, one sentence each."""
        return tuple(each.sentence for each in self.oddities)

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """The same, and which units and commanders it is about."""
        overlaps = (Oddity(frozenset(each.units), each.sentence) for each in self.overlaps)
        return (*overlaps, *self.inside, *oddities(self.position))

    @property
    def inside(self) -> tuple[Oddity, ...]:
        """Units on ground that nobody may enter: they lay there before the game (M-5.1)."""
        barred = self.ground.impassable
        return tuple(
            Oddity(frozenset({unit.id}), f"unit {unit.id} stands on impassable ground (M-5.1)")
            for unit in self.units
            if is_partly_in(unit.outline, barred)
        )

    @property
    def bw_mm(self) -> float:
        """One base width (G-2)."""
        return self.position.table.base_width_mm

    def of_side(self, side: str) -> tuple[UnitOnField, ...]:
        """The units of a side."""
        return tuple(unit for unit in self.units if unit.side == side)

    def enemies_of(self, unit: UnitOnField) -> tuple[UnitOnField, ...]:
        """The units of other sides."""
        return tuple(other for other in self.units if other.side != unit.side)

    def friends_of(self, unit: UnitOnField) -> tuple[UnitOnField, ...]:
        """The other units of its side; a unit that lies elsewhere by now is none of them."""
        return tuple(
            other for other in self.units if other.side == unit.side and other.id != unit.id
        )

    def in_bw(self, length_mm: float) -> float:
        """A length in base widths."""
        return length_mm / self.bw_mm


def field_of(position: Position, source: str = "position") -> Field:
    """A position made ready; `source` is what errors call it.

    Raises:
        BadInput: It is of another game, a unit has the wrong number of bases, bases overlap by
            more than hands and errors explain, lie off the table or nobody knows where, or a
            terrain kind is unknown.
    """
    if position.game != GAME:
        raise BadInput(source, f"game: expected {GAME}, got {position.game}")
    _check_kinds(position, source)
    ground = Ground.of(position.terrain)
    units = _units(position, ground, source)
    found = tuple(overlaps(position.units, source))
    return Field(position, units, ground, found, _by_id(units))


def renewed_field(before: Field, position: Position, source: str = "position") -> Field:
    """The field of a position that follows an earlier one: as `field_of` makes it, only sooner.

    Where the table and its terrain are the same, units that are as they were are taken over.

    Raises:
        BadInput: As `field_of`.
    """
    if not is_same_ground(before.position, position):
        return field_of(position, source)
    known = {
        unit.id: before.by_id[unit.id]
        for unit in position.units
        if unit.id in before.by_id and before.by_id[unit.id].unit == unit
    }
    others = tuple(unit for unit in position.units if unit.id not in known)
    made = _units(replace(position, units=others), before.ground, source) if others else ()
    by_id = {**known, **_by_id(made)}
    units = tuple(by_id[unit.id] for unit in position.units)
    found = _renewed_overlaps(before, position, source, known)
    return Field(position, units, before.ground, found, _by_id(units))


def is_same_ground(one: Position, other: Position) -> bool:
    """Whether two positions are of the same game, table and terrain."""
    return (one.game, one.table, one.terrain) == (other.game, other.table, other.terrain)


def _renewed_overlaps(
    before: Field, position: Position, source: str, known: Collection[str]
) -> tuple[Overlap, ...]:
    """The overlaps of a field in which some units lie as before."""
    kept = [each for each in before.overlaps if each.units <= set(known)]
    others = [unit.id for unit in position.units if unit.id not in known]
    new = overlaps(position.units, source, among=others) if others else []
    place = {unit.id: index for index, unit in enumerate(position.units)}
    return tuple(
        sorted(kept + new, key=lambda each: [(place[unit], at) for unit, at in each.bases])
    )


def _by_id(units: Iterable[UnitOnField]) -> Mapping[str, UnitOnField]:
    return MappingProxyType({unit.id: unit for unit in units})


def _check_kinds(position: Position, source: str) -> None:
    for index, piece in enumerate(position.terrain):
        if piece.kind not in KINDS:
            expected = f"expected one of {', '.join(KINDS)}, got {quoted(piece.kind)}"
            raise BadInput(source, expected, key=written(("terrain", index, "kind")))


def _units(position: Position, ground: Ground, source: str) -> tuple[UnitOnField, ...]:
    """All units, with what is asked of their bases worked out for all of them at once."""
    units = position.units
    placed = rectangles(units)
    bases = np.asarray(shapely.polygons(placed.corners_mm()), dtype=object)
    _check_units(position, bases, source)
    in_difficult, in_water = (
        are_partly_in(bases, area) for area in (ground.difficult, ground.water)
    )
    spreads_mm = placed.sigmas[:, 0] + placed.sigmas[:, 2] * placed.arms_mm
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
            spread_mm=float(spreads_mm[span].max()),
        )
        for unit, outline, rectangles_of, span in zip(
            units, unit_footprints(own), own, spans, strict=True
        )
    )


def _check_units(position: Position, bases: NDArray[np.object_], source: str) -> None:
    """Refuse the first unit that cannot be as it is said to be."""
    table = position.table
    play = shapely.box(0, 0, table.width_mm, table.depth_mm).buffer(MOST_OFF_TABLE_MM)
    is_on_table = iter(shapely.contains(play, bases).tolist())
    for unit in position.units:
        wanted = BASES[unit.arm]
        on_table = [next(is_on_table) for _ in unit.bases]
        if len(unit.bases) != wanted:
            raise BadInput(
                source,
                f"unit {unit.id}: expected {wanted} base{'s' * (wanted > 1)} of {unit.arm}, "
                f"got {len(unit.bases)}",
            )
        _check_formation(unit, source)
        _check_state(unit, source)
        _check_sigmas(unit, source)
        if not all(on_table):
            name = unit.base_name(on_table.index(False))
            raise BadInput(
                source,
                f"unit {unit.id}: base {name} lies off the table of "
                f"{table.width_mm:g} x {table.depth_mm:g} mm",
            )


def _check_formation(unit: Unit, source: str) -> None:
    """Refuse what no unit of its arm lies in (M-1.7)."""
    known = FORMATIONS[unit.arm]
    if unit.formation is not None and unit.formation not in known:
        expected = f"expected {'one of ' * (len(known) > 1)}{', '.join(known)}"
        raise BadInput(
            source, f"unit {unit.id}: formation: {expected}, got {quoted(unit.formation)}"
        )


def _check_state(unit: Unit, source: str) -> None:
    disruption, smoke = unit.state.get("disruption", 0), unit.state.get("smoke", False)
    if isinstance(disruption, bool) or not isinstance(disruption, int) or disruption < 0:
        raise BadInput(
            source,
            f"unit {unit.id}: state.disruption: expected a whole number of 0 or more, "
            f"got {quoted(disruption)}",
        )
    if not isinstance(smoke, bool):
        raise BadInput(
            source, f"unit {unit.id}: state.smoke: expected true or false, got {quoted(smoke)}"
        )


def _check_sigmas(unit: Unit, source: str) -> None:
    for index, base in enumerate(unit.bases):
        for key, sigma, most in (
            ("sigma_mm", base.sigma_mm, MOST_SIGMA_MM),
            ("sigma_deg", base.sigma_deg, MOST_SIGMA_DEG),
        ):
            if sigma > most:
                raise BadInput(
                    source,
                    f"unit {unit.id}: base {unit.base_name(index)}: {key}: "
                    f"expected at most {most:g}, got {sigma:g}",
                )
