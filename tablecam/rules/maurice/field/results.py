"""Computes combat results from scores: passive units first, then active ones (M-8.20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablecam.rules.maurice.field.tables import COMBAT_BEATEN, COMBAT_DOUBLED, COMBAT_OTHERWISE
from tablecam.rules.maurice.field.terms import Reason
from tablecam.uncertainty.margins import Flags

Ints = NDArray[np.intp]

_NOBODY = -1


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
    because: tuple[Reason, ...] = ()
    falls_back: bool = False
    fall_back_mm: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Returns the outcome and its reasons, as answers and events hold them."""
        because = list(map(str, self.because))
        return {"disruption": self.disruption, "broken": self.is_broken, "because": because}


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """The outcome of m throws for n units: disruption gained, broken or not, best opponent (m, n).

    `best` is the index of the standing opponent with the highest score, -1 if all of them broke.
    """

    gained: Ints
    is_broken: Flags
    best: Ints


def is_broken(disruption: int, bases: int) -> bool:
    """Returns whether a unit with this level of disruption breaks (M-1.14)."""
    return disruption > bases


def settle(units: Sequence[ScoredUnit], scores: Ints) -> Settled:
    """Settles m throws (m, n) of all engaged units at once (M-8.20); `units` state no scores."""
    places = {unit.id: place for place, unit in enumerate(units)}
    gained, best = np.zeros_like(scores), np.full_like(scores, _NOBODY)
    broken = np.zeros(scores.shape, dtype=np.bool_)
    # Passive units that break no longer count against active ones.
    for place, unit in sorted(enumerate(units), key=lambda entry: entry[1].is_active):
        own, enemies = scores[:, place], [places[name] for name in unit.engaged_with]
        against = np.where(broken[:, enemies] & unit.is_active, _NOBODY, scores[:, enemies])
        top = against.argmax(axis=1)
        highest = against.max(axis=1)
        # No score is negative, so an active unit is not beaten where nobody stands.
        is_beaten = highest >= own if unit.is_active else highest > own
        gained[:, place] = np.where(is_beaten, COMBAT_BEATEN, COMBAT_OTHERWISE)
        broken[:, place] = unit.disruption + gained[:, place] > unit.bases
        best[:, place] = np.where(highest == _NOBODY, _NOBODY, np.array(enemies)[top])
        if not unit.is_active:
            is_doubled = highest >= COMBAT_DOUBLED * own
            gained[is_doubled, place] = 0
            broken[is_doubled, place] = True
    return Settled(gained, broken, best)


def results(units: Iterable[ScoredUnit]) -> Mapping[str, CombatResult]:
    """Returns the result of every engaged unit by id, in the order of resolution."""
    everyone = tuple(units)
    settled = settle(everyone, np.array([[unit.score for unit in everyone]]))
    result_of = {}
    for place, unit in sorted(enumerate(everyone), key=lambda entry: entry[1].is_active):
        best = int(settled.best[0, place])
        opponent = None if best == _NOBODY else everyone[best]
        gained, broken = int(settled.gained[0, place]), bool(settled.is_broken[0, place])
        because = _because(unit, opponent, gained)
        result_of[unit.id] = CombatResult(gained, broken, because)
    return MappingProxyType(result_of)


def _because(unit: ScoredUnit, best: ScoredUnit | None, gained: int) -> tuple[Reason, ...]:
    if best is None:
        reason = Reason("M-8.20", "alone", (gained,))
    elif gained == 0:
        return (Reason("M-8.20", "doubled", (best.id, unit.score, best.score)),)
    else:
        is_beaten = gained == COMBAT_BEATEN
        how = "drawn" if unit.score == best.score else "beaten" if is_beaten else "winning"
        reason = Reason("M-8.20", how, (best.id, unit.score, best.score, gained))
    level = unit.disruption + gained
    breaks = is_broken(level, unit.bases)
    return (reason, breaking_reason(level, unit.bases)) if breaks else (reason,)


def breaking_reason(level: int, bases: int) -> Reason:
    """Returns why this level of disruption breaks a unit."""
    return Reason("M-1.14", "breaking", (level, bases))
