"""Odds of a request: the probabilities of all its outcomes before any die is thrown.

Fire and rally: every die is an independent try, so numbers of successes are convolved. A shot
disrupts with the probability to hit times that to disrupt (M-7.23, M-7.25).

Combat: all throws of each melee are settled at once. Falling back is resolved once for each set of
results that they lead to, as units of different melees may cross each other's ways.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as datafield
from typing import Any

import numpy as np
import shapely

from tablecam.rules.maurice.combat.combat import (
    Meeting,
    check_combat,
    fall_back_order,
    fallen_back,
    meeting,
    scored_unit,
    scores_of,
)
from tablecam.rules.maurice.combat.fall_back import (
    FallBackPath,
    fall_back_path,
    moved_back,
    swept_back,
)
from tablecam.rules.maurice.combat.rally import rally_attempt
from tablecam.rules.maurice.combat.score import CombatValue
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField
from tablecam.rules.maurice.field.requests import Combat, Rally, Request, Volley
from tablecam.rules.maurice.field.results import CombatResult, settle
from tablecam.rules.maurice.field.terms import chance_to_reach
from tablecam.rules.maurice.fire.volley import Shot, shot_list
from tablecam.rules.odds import (
    PLUS_MINUS,
    SAMPLES,
    Chances,
    counted,
    number_json,
    successes,
    throws,
    together,
)
from tablecam.uncertainty.contact import TOUCH_MM

Json = dict[str, Any]

_SAFE_MM = 0.5
"""Extra range for units on a way back: one too many changes no outcome, a missing one would."""


def odds(field: Field, request: Request) -> Json:
    """Returns the probabilities of all outcomes of a request.

    `disruption` is what a unit gains (negative: sheds), as in resolutions: none if it breaks at
    once. Where there are too many outcomes to count, `samples` says how many were drawn and
    `plus_minus` what a probability may be off by.

    Raises:
        BadInput: The request is not allowed, as when it is resolved.
    """
    if isinstance(request, Volley):
        return _volley(field, request)
    if isinstance(request, Combat):
        return _combat(field, request)
    return _rally(field, request)


def _volley(field: Field, request: Volley) -> Json:
    """Returns the odds of a volley or bombardment, by target."""
    shots = shot_list(field, request)
    targets = dict.fromkeys(shot.target for shot in shots)
    units = {
        target: _target(field.by_id[target], [shot for shot in shots if shot.target == target])
        for target in targets
    }
    shot_documents = [shot.to_json() for shot in shots]
    return {"game": GAME, "kind": request.kind, "shots": shot_documents, "units": units}


def _target(unit: UnitOnField, shots: Sequence[Shot]) -> Json:
    """Returns the odds of all shots at one target."""
    dice = [shot for shot in shots for _ in range(shot.dice)]
    hit = [chance_to_reach(shot.to_hit) for shot in dice]
    gained = successes(
        chance * chance_to_reach(shot.disrupt_on) for chance, shot in zip(hit, dice, strict=True)
    )
    return {
        "dice": len(dice),
        "disrupt_on": dice[0].disrupt_on,
        "hits": number_json(successes(hit)),
        "disruption": number_json(gained),
        "breaks": sum(share for number, share in gained.items() if unit.breaks_with(number)),
    }


def _rally(field: Field, request: Rally) -> Json:
    terms = rally_attempt(field, request)
    shed = successes([chance_to_reach(terms.needed)] * terms.dice)
    unit = {
        "basic": terms.basic,
        "modifiers": dict(terms.modifiers),
        "needed": terms.needed,
        "disruption": number_json({-number: share for number, share in shed.items()}),
    }
    return {"game": GAME, "kind": "rally", "units": {terms.unit: unit}}


def _combat(field: Field, request: Combat) -> Json:
    """Returns the odds of a combat, by unit and by side."""
    met = meeting(field, request.active)
    check_combat(request, met)
    scores = scores_of(field, met, request.cards)
    order, ways = fall_back_order(field, request, met.contacts), _WaysBack(field, met.contacts)
    melees = _merged({name, *value.engaged_with} for name, value in scores.items())
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    broken = {field.by_id[name].side: {0: 1.0} for name in scores}
    is_exact = True
    # Units of melees in one group may meet as they fall back; groups are independent.
    for group in _merged(ways.may_meet(melee) for melee in melees):
        in_group = [
            _results(field, met, scores, tuple(name for name in scores if name in melee))
            for melee in melees
            if melee <= group
        ]
        before = together(in_group)
        is_exact &= before.is_exact
        own_order = [name for name in order if name in group]
        lost: defaultdict[str, _Shares] = defaultdict(_shares)
        for state, share in before.of.items():
            results = {name: _RESULTS[result] for melee in state for name, result in melee}
            after = fallen_back(field, own_order, met, results, ways)
            number = dict.fromkeys(broken, 0)
            for name, result in after.items():
                has_broken = name in results and results[name].is_broken
                tallies[name].add(result, share, has_broken=has_broken)
                number[field.by_id[name].side] += result.is_broken
            for side, count in number.items():
                lost[side][count] += share
        broken = {side: _sum(chances, lost[side]) for side, chances in broken.items()}
    units: Json = {}
    for unit in field.units:
        if unit.id in tallies:
            value = _value(scores[unit.id]) if unit.id in scores else {}
            fate = tallies[unit.id].to_json(is_attacker=unit.id in met.contacts)
            units[unit.id] = {"side": unit.side, **value, **fate}
    sides = {side: {"broken": number_json(chances)} for side, chances in broken.items()}
    precision = {} if is_exact else {"samples": SAMPLES, "plus_minus": round(PLUS_MINUS, 4)}
    document = {"game": GAME, "kind": "combat", "active": request.active}
    return document | precision | {"units": units, "sides": sides}


def _merged(sets: Iterable[set[str]]) -> list[set[str]]:
    """Returns sets of units, those that share a unit joined into one."""
    merged: list[set[str]] = []
    for units in sets:
        apart = [other for other in merged if other.isdisjoint(units)]
        merged = [*apart, units.union(*(other for other in merged if other not in apart))]
    return merged


def _sum(some: Mapping[int, float], more: Mapping[int, float]) -> dict[int, float]:
    """Returns the chances of the sum of two independent numbers."""
    chances = _shares()
    for number, share in some.items():
        for other, other_share in more.items():
            chances[number + other] += share * other_share
    return dict(chances)


_ALWAYS = 1.0 - 1e-9
"""Sums of probabilities differ from 1 by rounding alone."""

_Shares = defaultdict[int, float]


def _shares() -> _Shares:
    return defaultdict(float)


_Result = tuple[int, int]
"""The disruption that a unit gains, and 1 if it breaks."""
_Melee = tuple[tuple[str, _Result], ...]

_RESULTS = {
    (gained, broken): CombatResult(gained, bool(broken))
    for gained in range(3)
    for broken in range(2)
}


def _results(
    field: Field, met: Meeting, scores: Mapping[str, CombatValue], names: tuple[str, ...]
) -> Chances[_Melee]:
    """Returns the chances of the results of a melee (M-8.20), before anyone falls back."""
    # Their scores are those of all throws below.
    units = [scored_unit(field, met, name, scores[name], 0) for name in names]
    dice, is_exact = throws(len(names))
    settled = settle(units, dice + np.array([scores[name].value for name in names]))
    rows = counted(np.hstack([settled.gained, settled.is_broken]), is_exact=is_exact)
    chances = {
        tuple(zip(names, zip(row, row[len(names) :], strict=False), strict=True)): share
        for row, share in rows.of.items()
    }
    return Chances(chances, is_exact)


class _WaysBack:
    """The ways straight back from a melee, each computed once for the units that stand on it."""

    def __init__(self, field: Field, attackers: Collection[str]) -> None:
        table = field.position.table
        far_mm = float(np.hypot(table.width_mm, table.depth_mm))
        self._attackers = attackers
        self._behind = {
            name: shapely.buffer(swept_back(field.by_id[name], far_mm), TOUCH_MM + _SAFE_MM)
            for name in attackers
        }
        self._others = {
            name: [
                other.id
                for other in field.units
                if other.id != name
                and shapely.intersects(area, self._behind.get(other.id, other.outline))
            ]
            for name, area in self._behind.items()
        }
        self._ways: dict[tuple[str, tuple[tuple[str, float], ...]], FallBackPath] = {}
        self._met: dict[tuple[str, str, float], bool] = {}

    def may_meet(self, melee: Collection[str]) -> set[str]:
        """Returns a melee's units and all that they may meet as both fall back."""
        return set(melee).union(*(self._others[name] for name in melee if name in self._others))

    def __call__(
        self, field: Field, unit_id: str, before: Mapping[str, CombatResult]
    ) -> FallBackPath:
        """Returns the way back as `fall_back_path` does."""
        nobody = CombatResult()
        there = ((name, before.get(name, nobody)) for name in self._others[unit_id])
        on_way = tuple(
            (name, result.fall_back_mm)
            for name, result in there
            if not result.is_broken and self._meets(field, unit_id, name, result.fall_back_mm)
        )
        key = (unit_id, on_way)
        if key not in self._ways:
            # No other unit can matter, and the rule is faster on a small field.
            names = {unit_id, *(name for name, _ in on_way)}
            small = field.with_units(unit for unit in field.units if unit.id in names)
            self._ways[key] = fall_back_path(small, unit_id, before)
        return self._ways[key]

    def _meets(self, field: Field, unit_id: str, other_id: str, back_mm: float) -> bool:
        """Whether a unit stands on another's way after it has fallen back itself."""
        if other_id not in self._attackers:
            return True
        key = (unit_id, other_id, back_mm)
        if key not in self._met:
            outline = moved_back(field.by_id[other_id], back_mm).outline
            self._met[key] = bool(shapely.intersects(self._behind[unit_id], outline))
        return self._met[key]


@dataclass(slots=True)
class _Tally:
    """What becomes of a unit: the chances of the disruption that it gains, and of its fate."""

    disruption: _Shares = datafield(default_factory=_shares)
    seen: float = 0.0
    breaks: float = 0.0
    falls_back: float = 0.0
    breaks_falling_back: float = 0.0

    def add(self, result: CombatResult, share: float, *, has_broken: bool) -> None:
        """Adds an outcome; `has_broken` before anyone fell back."""
        self.disruption[result.disruption] += share
        self.seen += share
        self.breaks += share * result.is_broken
        self.falls_back += share * result.falls_back
        self.breaks_falling_back += share * (result.is_broken and not has_broken)

    def to_json(self, *, is_attacker: bool) -> Json:
        """Returns a unit's fate, results and falling back together.

        `breaks_falling_back` is the part of `breaks` that results alone (M-8.20) do not cause.
        """
        # A friend of the attackers is left out of outcomes that do not touch it.
        left_out = {0: self.disruption[0] + 1.0 - self.seen} if self.seen < _ALWAYS else {}
        chances = dict(self.disruption) | left_out
        document: Json = {"disruption": number_json(chances), "breaks": self.breaks}
        if not is_attacker:
            return document
        ends = {"falls_back": self.falls_back, "breaks_falling_back": self.breaks_falling_back}
        return document | ends


def _value(value: CombatValue) -> Json:
    return {
        "basic": value.basic,
        "modifiers": dict(value.modifiers),
        "value": value.value,
        "engaged_with": list(value.engaged_with),
        "because": list(map(str, value.because)),
    }
