"""Fire (chapter 7): whom each base may shoot at from where it lies, at what number, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as datafield
from types import MappingProxyType
from typing import Any, Literal

from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.fire.doubts import Together
from tablecam.rules.maurice.fire.option import FireOption, Range, options
from tablecam.rules.maurice.fire.shooter import Shooter, shooters
from tablecam.rules.maurice.fire.sureness import Sureness
from tablecam.rules.maurice.fire.zone import Met, met_ahead, met_turned
from tablecam.uncertainty.answer import Answer

__all__ = ["BaseFire", "FireOption", "fire_of", "fires"]

Blocked = Literal["column", "water", "woods", "friend", "obstruction", "no target"]


@dataclass(frozen=True, slots=True)
class BaseFire:
    """What a base may legally choose to shoot at, or what stops it.

    `sure` tells how sure that is, where not everything on the table is exact.
    """

    base: str
    options: tuple[FireOption, ...]
    blocked: Blocked | None
    sure: Sureness | None = datafield(default=None, compare=False, repr=False)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The questions about it that hang on errors; also those that are answered."""
        return () if self.sure is None else self.sure.answers

    @property
    def doubts(self) -> tuple[Answer, ...]:
        """The questions about it that are too close to call."""
        return tuple(answer for answer in self.answers if answer.answer == "too_close")

    def to_json(self) -> dict[str, Any]:
        """The base's fire as rulings carry it.

        `doubts` are the questions too close to call, `answers` others that are not certain.
        """
        told: dict[str, Any] = {
            "options": [option.to_json() for option in self.options],
            "blocked": self.blocked,
        }
        decided = [answer for answer in self.answers if answer.answer != "too_close"]
        for key, answers in (("doubts", self.doubts), ("answers", decided)):
            if answers:
                told[key] = [answer.to_json() for answer in answers]
        return told


Fires = Mapping[str, Mapping[str, BaseFire]]
"""The fire of units by their ids, each by its bases' names."""


def fires(field: Field, only: Collection[str] | None = None, known: Fires | None = None) -> Fires:
    """The fire of all units, or of those named only, each by its bases' names.

    Empty for cavalry (M-7.7). `known` is the fire on the same ground before some units changed: a
    measured base that faces the very same ones is not asked again, nor is how sure that is.
    """
    asked = [unit for unit in field.units if only is None or unit.id in only]
    bases = [
        (unit, place)
        for unit in asked
        if unit.unit.arm != "cavalry"
        for place in range(len(unit.bases))
    ]
    barred = _barred(field, bases)
    ready = shooters(field, [base for base, why in zip(bases, barred, strict=True) if not why])
    kept = [_kept(shooter, known or {}) for shooter in ready]
    new = tuple(base for base, old in zip(ready, kept, strict=True) if old is None)
    shot, together = iter(_shot(new)), Together(new, field.position.table.tolerance_mm)
    found: dict[str, dict[str, BaseFire]] = {unit.id: {} for unit in asked}
    able, is_measured = iter(zip(ready, kept, strict=True)), not is_exact(field)
    for (unit, place), why in zip(bases, barred, strict=True):
        name = unit.unit.base_name(place)
        shooter, fire = (None, BaseFire(name, (), why)) if why else next(able)
        if fire is None or shooter is None:
            fire = fire or next(shot)
            fire = _unsure(field, unit, place, fire, shooter, together) if is_measured else fire
        found[unit.id][name] = fire
    return MappingProxyType({name: MappingProxyType(each) for name, each in found.items()})


def _kept(shooter: Shooter, known: Fires) -> BaseFire | None:
    """The fire of a base as it is known, if it faces who it faced then."""
    old = known.get(shooter.unit.id, {}).get(shooter.name)
    if old is None or old.sure is None or old.sure.shooter is None:
        return None
    return old if old.sure.shooter.faces_as(shooter) else None


def fire_of(field: Field, unit: UnitOnField) -> Mapping[str, BaseFire]:
    """The fire of each base of a unit by the base's name; empty for cavalry (M-7.7)."""
    return fires(field, only=[unit.id])[unit.id]


def _unsure(
    field: Field,
    unit: UnitOnField,
    place: int,
    fire: BaseFire,
    shooter: Shooter | None,
    together: Together,
) -> BaseFire:
    """The same with how sure it is: of where the base stands, and of what it may shoot at."""
    areas = {} if unit.formation == "column" else {"water": field.ground.water}
    if unit.unit.arm == "artillery":
        areas["woods"] = field.ground.woods
    pose = unit.unit.bases[place]
    sure = Sureness(fire.base, pose, areas, shooter, fire.options, together)
    options = tuple(replace(option, sure=sure) for option in fire.options)
    return replace(fire, options=options, sure=sure)


def _barred(field: Field, bases: Sequence[tuple[UnitOnField, int]]) -> list[Blocked | None]:
    """Why each base may not fire at all, if it may not (M-7.6, M-7.7)."""
    found: list[Blocked | None] = []
    for unit, place in bases:
        if unit.formation == "column":
            found.append("column")
        elif unit.is_in_water and is_partly_in(unit.bases[place], field.ground.water):
            found.append("water")
        elif unit.unit.arm == "artillery" and is_partly_in(unit.bases[place], field.ground.woods):
            found.append("woods")
        else:
            found.append(None)
    return found


def _shot(bases: Sequence[Shooter]) -> list[BaseFire]:
    """By the priorities of M-7.12: short range ahead, short turned, long ahead, long turned."""
    found: list[tuple[FireOption, ...]] = [() for _ in bases]
    tried: list[list[Met]] = [[] for _ in bases]
    # Where no enemy is near enough nothing need be asked.
    everyone = [at for at, base in enumerate(bases) if _has_enemy(base, base.longest_mm)]
    ahead = dict(zip(everyone, met_ahead([bases[at] for at in everyone]), strict=True))

    def try_for(wanted: Range, asked: Sequence[int], met: Sequence[Met]) -> None:
        pairs = [(bases[at], each) for at, each in zip(asked, met, strict=True)]
        for at, each, new in zip(asked, met, options(pairs, wanted), strict=True):
            found[at] = new
            tried[at].append(each)

    def turned(asked: Sequence[int], lengths_mm: Sequence[float]) -> list[Met]:
        return met_turned([bases[at] for at in asked], lengths_mm)

    try_for("short", everyone, [ahead[at].shortened(bases[at].short_mm) for at in everyone])
    asked = [at for at in everyone if not found[at] and _has_enemy(bases[at], bases[at].short_mm)]
    try_for("short", asked, turned(asked, [bases[at].short_mm for at in asked]))
    guns = [at for at in everyone if not found[at] and bases[at].is_gun]
    try_for("long", guns, [ahead[at] for at in guns])
    asked = [at for at in guns if not found[at] and _has_enemy(bases[at], bases[at].longest_mm)]
    try_for("long", asked, turned(asked, [bases[at].longest_mm for at in asked]))
    return [
        BaseFire(base.name, each, None if each else _stopped(base, met))
        for base, each, met in zip(bases, found, tried, strict=True)
    ]


def _has_enemy(base: Shooter, range_mm: float) -> bool:
    return any(other.is_enemy for other in base.within(range_mm))


def _stopped(base: Shooter, tried: Sequence[Met]) -> Blocked:
    reasons = (met.stopped_by(base.longest_mm) for met in tried)
    return next((reason for reason in reasons if reason), "no target")
