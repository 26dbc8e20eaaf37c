"""Fire (chapter 7): what each base may shoot at from its place, its number to hit, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as datafield
from types import MappingProxyType
from typing import Any, Literal

from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ZONE_BW
from tablecam.rules.maurice.fire.confidence import FireConfidence
from tablecam.rules.maurice.fire.option import FireOption, Range, options
from tablecam.rules.maurice.fire.shooter import Shooter, shooters
from tablecam.rules.maurice.fire.target_confidence import FireBatch
from tablecam.rules.maurice.fire.zone import ZoneContents, met_ahead, zone_contents_turned
from tablecam.rules.memo import Memo
from tablecam.uncertainty.answer import Answer

__all__ = ["BaseFire", "FireOption", "fire_of", "fire_of_units"]

Blocked = Literal["column", "water", "woods", "friend", "obstruction", "no target"]


@dataclass(frozen=True, slots=True)
class BaseFire:
    """The targets that a base may legally choose, or what blocks its fire.

    `confidence` holds how certain each is, where not every pose is exact.
    """

    base: str
    options: tuple[FireOption, ...]
    blocked: Blocked | None
    confidence: FireConfidence | None = datafield(default=None, compare=False, repr=False)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers about this base that depend on measurement errors."""
        return () if self.confidence is None else self.confidence.answers

    @property
    def close_calls(self) -> tuple[Answer, ...]:
        """The answers that are too close to call."""
        return tuple(answer for answer in self.answers if answer.answer == "too_close")

    def to_json(self) -> dict[str, Any]:
        """Returns the base's fire as rulings carry it.

        `close_calls` are the answers too close to call, `answers` the others that are not certain.
        """
        record: dict[str, Any] = {
            "options": [option.to_json() for option in self.options],
            "blocked": self.blocked,
        }
        decided = [answer for answer in self.answers if answer.answer != "too_close"]
        for key, answers in (("doubts", self.close_calls), ("answers", decided)):
            if answers:
                record[key] = [answer.to_json() for answer in answers]
        return record


FireByUnit = Mapping[str, Mapping[str, BaseFire]]
"""Each base's fire, by unit id and base name."""


_REMEMBERED: Memo[Mapping[str, BaseFire]] = Memo()


def fire_of_units(field: Field, only: Collection[str] | None = None) -> FireByUnit:
    """Returns the fire of all units, or of the `only` ids, by unit id and base name.

    Cavalry has no entries (M-7.7). The fire of units around which nothing has changed is
    remembered.
    """
    units = [unit for unit in field.units if only is None or unit.id in only]
    keys = field.keys(units, [_reach_mm(field, unit) for unit in units])
    fire = _REMEMBERED.answers(keys, lambda new: _fire_of(field, [units[index] for index in new]))
    return MappingProxyType({unit.id: of for unit, of in zip(units, fire, strict=True)})


def fire_of(field: Field, unit: UnitOnField) -> Mapping[str, BaseFire]:
    """Returns the fire of each base of a unit, by base name; empty for cavalry (M-7.7)."""
    return fire_of_units(field, only=[unit.id])[unit.id]


def _reach_mm(field: Field, unit: UnitOnField) -> float:
    """Bounds the distance of anything that a unit's fire depends on."""
    return (unit.longest_range_bw + ZONE_BW) * field.bw_mm


def _fire_of(field: Field, units: Sequence[UnitOnField]) -> list[Mapping[str, BaseFire]]:
    """Works out the fire of units together."""
    bases = [
        (unit, place)
        for unit in units
        if unit.unit.arm != "cavalry"
        for place in range(len(unit.bases))
    ]
    barred = _blocked_bases(field, bases)
    ready = shooters(field, [base for base, why in zip(bases, barred, strict=True) if not why])
    computed = zip(ready, _fire_by_priority(ready), strict=True)
    batch = FireBatch(ready, field.position.table.tolerance_mm)
    fire_by_unit: dict[str, dict[str, BaseFire]] = {unit.id: {} for unit in units}
    is_measured = not field.is_exact
    for (unit, place), why in zip(bases, barred, strict=True):
        name = unit.unit.base_name(place)
        shooter, fire = (None, BaseFire(name, (), why)) if why else next(computed)
        if is_measured:
            fire = _with_confidence(field, unit, place, fire, shooter, batch)
        fire_by_unit[unit.id][name] = fire
    return [MappingProxyType(base_fires) for base_fires in fire_by_unit.values()]


def _with_confidence(
    field: Field,
    unit: UnitOnField,
    place: int,
    fire: BaseFire,
    shooter: Shooter | None,
    batch: FireBatch,
) -> BaseFire:
    """Attaches the confidence in where the base stands and in what it may shoot at."""
    areas = {} if unit.formation == "column" else {"water": field.ground.water}
    if unit.unit.arm == "artillery":
        areas["woods"] = field.ground.woods
    pose = unit.unit.bases[place]
    confidence = FireConfidence(fire.base, pose, areas, shooter, fire.options, batch)
    options = tuple(replace(option, confidence=confidence) for option in fire.options)
    return replace(fire, options=options, confidence=confidence)


def _blocked_bases(field: Field, bases: Sequence[tuple[UnitOnField, int]]) -> list[Blocked | None]:
    """Returns for each base why it may not fire at all, or None (M-7.6, M-7.7)."""
    reasons: list[Blocked | None] = []
    for unit, place in bases:
        if unit.formation == "column":
            reasons.append("column")
        elif unit.is_in_water and is_partly_in(unit.bases[place], field.ground.water):
            reasons.append("water")
        elif unit.unit.arm == "artillery" and is_partly_in(unit.bases[place], field.ground.woods):
            reasons.append("woods")
        else:
            reasons.append(None)
    return reasons


def _fire_by_priority(bases: Sequence[Shooter]) -> list[BaseFire]:
    """Finds targets in the order of M-7.12.

    Short range ahead, short range turned, then for guns long range ahead, long range turned.
    """
    options_of: list[tuple[FireOption, ...]] = [() for _ in bases]
    zones_of: list[list[ZoneContents]] = [[] for _ in bases]
    # Bases without an enemy in range need no zones: most bases of a large table.
    everyone = [at for at, base in enumerate(bases) if _has_enemy(base, base.longest_mm)]
    ahead = dict(zip(everyone, met_ahead([bases[at] for at in everyone]), strict=True))

    def try_for(fire_range: Range, places: Sequence[int], met: Sequence[ZoneContents]) -> None:
        pairs = [(bases[at], zone) for at, zone in zip(places, met, strict=True)]
        for at, zone, fire_options in zip(places, met, options(pairs, fire_range), strict=True):
            options_of[at] = fire_options
            zones_of[at].append(zone)

    def turned(places: Sequence[int], lengths_mm: Sequence[float]) -> list[ZoneContents]:
        return zone_contents_turned([bases[at] for at in places], lengths_mm)

    try_for("short", everyone, [ahead[at].shortened(bases[at].short_mm) for at in everyone])
    places = [
        at for at in everyone if not options_of[at] and _has_enemy(bases[at], bases[at].short_mm)
    ]
    try_for("short", places, turned(places, [bases[at].short_mm for at in places]))
    guns = [at for at in everyone if not options_of[at] and bases[at].is_gun]
    try_for("long", guns, [ahead[at] for at in guns])
    places = [
        at for at in guns if not options_of[at] and _has_enemy(bases[at], bases[at].longest_mm)
    ]
    try_for("long", places, turned(places, [bases[at].longest_mm for at in places]))
    return [
        BaseFire(base.name, fire_options, None if fire_options else _why_no_target(base, zones))
        for base, fire_options, zones in zip(bases, options_of, zones_of, strict=True)
    ]


def _has_enemy(base: Shooter, range_mm: float) -> bool:
    return any(other.is_enemy for other in base.within(range_mm))


def _why_no_target(base: Shooter, tried: Sequence[ZoneContents]) -> Blocked:
    """Returns what blocks the first zone that is blocked, else `no target`."""
    reasons = (met.stopped_by(base.longest_mm) for met in tried)
    return next((reason for reason in reasons if reason), "no target")
