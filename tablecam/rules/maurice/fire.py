"""Fire (chapter 7): whom each base may shoot at from where it lies, at what number, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import shapely

from tablecam.measure.answer import EXACT_MM, Shape, shapes_of
from tablecam.measure.outlines import axes, corners
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.fire_cover import Aim, best_aim
from tablecam.rules.maurice.fire_shooter import Other, Shooter, others_of, shooter
from tablecam.rules.maurice.fire_zone import Met, met_ahead, met_turned
from tablecam.rules.maurice.ground import is_partly_in
from tablecam.rules.maurice.tables import CANISTER_DICE, TO_HIT

Range = Literal["short", "long"]
Angle = Literal["ahead", "left", "right"]
Blocked = Literal["column", "water", "woods", "friend", "obstruction", "no target"]

_EASIEST, _HARDEST = 2, 6
"""A natural 1 always misses, a natural 6 always hits (M-7.23)."""
_LENGTH_PLACES = 4


@dataclass(frozen=True, slots=True)
class FireOption:
    """One thing that a base may shoot at: the best way for the shooter to do it.

    `target_base` is the base that its zone meets first when it is turned by `turned_deg`
    (counter-clockwise, so to the left), `distance_mm` along the zone's axis; `to_hit` is the
    number needed on each of `dice`.
    """

    target: str
    target_base: str
    range: Range
    angle: Angle
    turned_deg: float
    distance_mm: float
    dice: int
    to_hit: int
    has_cover: bool
    is_enfilade: bool
    is_dense: bool
    because: str
    evidence: tuple[Shape, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The option as rulings carry it."""
        return {
            "target": self.target,
            "target_base": self.target_base,
            "range": self.range,
            "angle": self.angle,
            "turned_deg": round(self.turned_deg, _LENGTH_PLACES),
            "distance_mm": round(self.distance_mm, _LENGTH_PLACES),
            "dice": self.dice,
            "to_hit": self.to_hit,
            "cover": self.has_cover,
            "enfilade": self.is_enfilade,
            "dense": self.is_dense,
            "because": self.because,
            "evidence": [shape.to_json() for shape in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class BaseFire:
    """What a base may legally choose to shoot at, or what stops it."""

    base: str
    options: tuple[FireOption, ...]
    blocked: Blocked | None

    def to_json(self) -> dict[str, Any]:
        """The base's fire as rulings carry it."""
        return {"options": [option.to_json() for option in self.options], "blocked": self.blocked}


def fire_of(field: Field, unit: UnitOnField) -> Mapping[str, BaseFire]:
    """The fire of each base of a unit by the base's name; empty for cavalry (M-7.7)."""
    if unit.unit.arm == "cavalry":
        return MappingProxyType({})
    others = others_of(field, unit)
    found = {}
    for place in range(len(unit.bases)):
        name = unit.unit.base_name(place)
        barred = _barred(field, unit, place)
        found[name] = (
            BaseFire(name, (), barred)
            if barred
            else _fire(name, shooter(field, unit, place, others))
        )
    return MappingProxyType(found)


def _barred(field: Field, unit: UnitOnField, place: int) -> Blocked | None:
    """Why a base may not fire at all (M-7.6, M-7.7)."""
    base = unit.bases[place]
    if unit.formation == "column":
        return "column"
    if is_partly_in(base, field.ground.water):
        return "water"
    if unit.unit.arm == "artillery" and is_partly_in(base, field.ground.woods):
        return "woods"
    return None


def _fire(name: str, base: Shooter) -> BaseFire:
    """By the priorities of M-7.12: short range ahead, short turned, long ahead, long turned."""
    tried: list[Met] = []
    for met, wanted in _ways(base):
        options = _options(base, met, wanted)
        if options:
            return BaseFire(name, options, None)
        tried.append(met)
    return BaseFire(name, (), _stopped(base, tried))


def _ways(base: Shooter) -> Iterator[tuple[Met, Range]]:
    """What its zone meets, in the order in which it must look for targets."""
    ahead = met_ahead(base)
    yield ahead.shortened(base.short_mm), "short"
    if _has_enemy(base, base.short_mm):
        yield met_turned(base, base.short_mm), "short"
    if base.is_gun:
        yield ahead, "long"
        if _has_enemy(base, base.longest_mm):
            yield met_turned(base, base.longest_mm), "long"


def _has_enemy(base: Shooter, range_mm: float) -> bool:
    return any(other.is_enemy for other in base.within(range_mm))


def _stopped(base: Shooter, tried: Sequence[Met]) -> Blocked:
    reasons = (met.stopped_by(base.longest_mm) for met in tried)
    return next((reason for reason in reasons if reason), "no target")


def _options(base: Shooter, met: Met, wanted: Range) -> tuple[FireOption, ...]:
    """The best option against each unit that can be hit at a range, at any of some angles."""
    is_short = met.ranges_mm <= base.short_mm + EXACT_MM
    can_hit = met.can_hit & (is_short if wanted == "short" else ~is_short)
    best: dict[str, FireOption] = {}
    for place in np.flatnonzero(can_hit.any(axis=0)).tolist():
        other = met.others[place]
        aim = best_aim(base, other, met, np.flatnonzero(can_hit[:, place]))
        option = _option(base, other, met, place, aim, wanted)
        known = best.get(option.target)
        if known is None or _order(option) < _order(known):
            best[option.target] = option
    return tuple(best[target] for target in sorted(best))


def _order(option: FireOption) -> tuple[float, ...]:
    """Better options for the shooter first; of equal ones the nearer, then the less turned."""
    return (option.to_hit, option.distance_mm, abs(option.turned_deg))


def _option(
    base: Shooter, other: Other, met: Met, place: int, aim: Aim, wanted: Range
) -> FireOption:
    turned_deg = float(met.turns_deg[aim.at])
    distance_mm = float(met.ranges_mm[aim.at, place])
    dense = other.unit.formation in ("column", "massed")
    enfilade = _is_behind_front(base, other)
    modifiers = (
        ("dense target", 1, dense, "M-7.21"),
        ("enfilade", 1, enfilade, "M-7.22"),
        ("disrupted shooter", -1, is_disrupted(base.unit), "M-7.24"),
        ("cover", -1, aim.has_cover, "M-7.24"),
    )
    sum_of_modifiers = sum(value for _, value, applies, _ in modifiers if applies)
    to_hit = min(_HARDEST, max(_EASIEST, TO_HIT - sum_of_modifiers))
    angle: Angle = "ahead" if turned_deg == 0 else "left" if turned_deg > 0 else "right"
    return FireOption(
        target=other.unit.id,
        target_base=other.name,
        range=wanted,
        angle=angle,
        turned_deg=turned_deg,
        distance_mm=distance_mm,
        dice=CANISTER_DICE if base.is_gun and wanted == "short" else 1,
        to_hit=to_hit,
        has_cover=aim.has_cover,
        is_enfilade=enfilade,
        is_dense=dense,
        because=_because(base, other, turned_deg, distance_mm, to_hit, modifiers),
        evidence=_evidence(base, other, met, aim),
    )


def _is_behind_front(base: Shooter, other: Other) -> bool:
    """Whether all of the shooting base lies behind the front line of the base it hits (M-7.22)."""
    return bool(np.all(axes(other.pose).ahead_mm(corners(base.pose)) <= EXACT_MM))


def is_disrupted(unit: UnitOnField) -> bool:
    """Whether it has disruptions for half of its bases or more (M-7.24)."""
    return 2 * unit.disruption >= len(unit.bases)


def _because(
    base: Shooter,
    other: Other,
    turned_deg: float,
    distance_mm: float,
    to_hit: int,
    modifiers: Sequence[tuple[str, int, bool, str]],
) -> str:
    turned = "straight ahead"
    if turned_deg:
        turned = f"turned {abs(turned_deg):.1f} degrees {'left' if turned_deg > 0 else 'right'}"
    met = (
        f"{turned} its zone first meets base {other.name} of {other.unit.id}, "
        f"{distance_mm / base.bw_mm:.2f} BW on"
    )
    named = [f"{value:+d} {name} ({rule})" for name, value, applies, rule in modifiers if applies]
    return f"{met}: {TO_HIT}+" + (f" with {', '.join(named)} is {to_hit}+" if named else "")


def _evidence(base: Shooter, other: Other, met: Met, aim: Aim) -> tuple[Shape, ...]:
    turned_deg, end_mm = float(met.turns_deg[aim.at]), float(met.ends_mm[aim.at])
    zone = base.strip.outline(turned_deg, end_mm)
    place = met.others.index(other)
    axis = base.strip.axis(turned_deg, float(met.ranges_mm[aim.at, place]))
    drawn = shapes_of(zone, "fire-zone") + shapes_of(other.outline, "target", other.name)
    drawn += shapes_of(axis, "range", f"{shapely.length(axis) / base.bw_mm:.2f} BW")
    if aim.has_cover:
        drawn += shapes_of(shapely.intersection(base.cover, zone), "cover")
    elif aim.past is not None:
        drawn += shapes_of(aim.past, "line-of-fire", "past the cover")
    return drawn
