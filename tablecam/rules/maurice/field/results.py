"""Computes combat results from scores: passive units first, then active ones (M-8.20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.rules.maurice.field.tables import COMBAT_BEATEN, COMBAT_DOUBLED, COMBAT_OTHERWISE


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """An engaged unit with its score, its opponents, its disruption and its number of bases."""

    id: str
    is_active: bool
    score: int
    engaged_with: tuple[str, ...]
    disruption: int
    bases: int


@dataclass(frozen=True, slots=True)
class CombatResult:
    """A unit's combat result: disruption gained, whether it breaks or falls back, and why.

    `fall_back_mm` is the distance of the fall-back.
    """

    disruption: int = 0
    is_broken: bool = False
    because: tuple[str, ...] = ()
    falls_back: bool = False
    fall_back_mm: float = 0.0


def is_broken(disruption: int, bases: int) -> bool:
    """Returns whether a unit with this level of disruption breaks (M-1.14)."""
    return disruption > bases


def results(units: Iterable[ScoredUnit]) -> Mapping[str, CombatResult]:
    """Returns the result of every engaged unit by id, in the order of resolution."""
    everyone = {unit.id: unit for unit in units}
    result_of: dict[str, CombatResult] = {}
    for unit in everyone.values():
        if not unit.is_active:
            result_of[unit.id] = _passive(unit, everyone)
    # Passive units that break no longer count against active ones (M-8.20).
    standing = {name for name, result in result_of.items() if not result.is_broken}
    for unit in everyone.values():
        if unit.is_active:
            result_of[unit.id] = _active(unit, everyone, standing)
    return MappingProxyType(result_of)


def _passive(unit: ScoredUnit, everyone: Mapping[str, ScoredUnit]) -> CombatResult:
    best = _best(unit, everyone, unit.engaged_with)
    if best.score >= COMBAT_DOUBLED * unit.score:
        why = f"M-8.20 doubled by {best.id}, {best.score} to {unit.score}: broken"
        return CombatResult(0, True, (why,))
    if best.score > unit.score:
        why = f"M-8.20 beaten by {best.id}, {best.score} to {unit.score}"
        return _disrupted(unit, COMBAT_BEATEN, why)
    why = f"M-8.20 not beaten, {unit.score} to {best.id}'s {best.score}"
    return _disrupted(unit, COMBAT_OTHERWISE, why)


def _active(
    unit: ScoredUnit, everyone: Mapping[str, ScoredUnit], standing: set[str]
) -> CombatResult:
    opponents = [name for name in unit.engaged_with if name in standing]
    if not opponents:
        return _disrupted(unit, COMBAT_OTHERWISE, "M-8.20 all its enemies broke")
    best = _best(unit, everyone, opponents)
    if best.score >= unit.score:
        why = f"M-8.20 reached by {best.id}, {best.score} to {unit.score}"
        return _disrupted(unit, COMBAT_BEATEN, why)
    why = f"M-8.20 won, {unit.score} to {best.id}'s {best.score}"
    return _disrupted(unit, COMBAT_OTHERWISE, why)


def _best(
    unit: ScoredUnit, everyone: Mapping[str, ScoredUnit], enemies: Iterable[str]
) -> ScoredUnit:
    return max((everyone[name] for name in enemies), key=lambda enemy: enemy.score)


def _disrupted(unit: ScoredUnit, gained: int, why: str) -> CombatResult:
    level = unit.disruption + gained
    because = [f"{why}: {gained} disruption{'s' * (gained > 1)}"]
    if is_broken(level, unit.bases):
        because.append(breaking_reason(level, unit.bases))
    return CombatResult(gained, is_broken(level, unit.bases), tuple(because))


def breaking_reason(level: int, bases: int) -> str:
    """Returns the line that explains why this level of disruption breaks a unit."""
    return f"M-1.14 {level} disruptions are more than its {bases} base{'s' * (bases > 1)}: broken"
