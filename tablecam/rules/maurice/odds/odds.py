"""Odds of a request: exact probabilities of all its outcomes before any die is thrown.

Fire and rally: every die is an independent try, so numbers of successes are convolved
(`shots.py`). A shot disrupts with the probability to hit times that to disrupt (M-7.23,
M-7.25); a unit breaks if its level plus what it gains exceeds its bases (M-1.14).

Combat: units share dice through their enemies, so probabilities of different units cannot be
multiplied. Scores, results (`combat.py`) and falling back (`fates.py`) form a network of
variables, which `chances.py` sums exactly, one variable at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, assert_never

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.rules.maurice.combat.combat import (
    Meeting,
    check_combat,
    fall_back_order,
    meeting,
    scores_of,
)
from tablecam.rules.maurice.combat.fall_back import fall_back
from tablecam.rules.maurice.combat.rally import rally_attempt
from tablecam.rules.maurice.combat.score import CombatValue
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField
from tablecam.rules.maurice.field.requests import Combat, Rally, Request, Volley
from tablecam.rules.maurice.field.results import CombatResult, is_broken
from tablecam.rules.maurice.field.tables import FALL_BACK_BW, SLIVER_MM
from tablecam.rules.maurice.fire.volley import Shot, shot_list
from tablecam.rules.maurice.odds.combat import Combatant, CombatEffect, combat_variables
from tablecam.rules.maurice.odds.fates import AffectingUnits, Fate, Fates, fall_back_fates
from tablecam.rules.maurice.odds.shots import chance_of, expected, successes
from tablecam.rules.maurice.odds.variables import State, derived, distribution, folded
from tablecam.table.headings import forward
from tablecam.uncertainty.contact import TOUCH_MM

_SAFE_MM = 0.5
"""Extra range for enemies: one too many changes no probability, a missing one would."""


@dataclass(frozen=True, slots=True, eq=False)
class FieldGround:
    """A field before anyone falls back, as the `Ground` of `fates.py`."""

    field: Field

    def concern(self, unit_id: str, places_mm: Mapping[str, frozenset[float]]) -> AffectingUnits:
        """Returns the units that can affect one that falls back."""
        return affecting_units(self.field, self.field.by_id[unit_id], places_mm)

    def fall_back(
        self, unit_id: str, fates: Mapping[str, Fate], standing: frozenset[str]
    ) -> Mapping[str, Fate]:
        """Returns the fates of a unit that falls back and of friends (M-8.24 to M-8.27)."""
        # No other unit can matter, and the rule is faster on a small field.
        names = fates.keys() | standing
        units = tuple(unit for unit in self.field.units if unit.id in names)
        by_id = MappingProxyType({unit.id: unit for unit in units})
        before = {
            name: CombatResult(fate.disruption, fate.is_broken, (), fate.falls_back, fate.back_mm)
            for name, fate in fates.items()
        }
        after = fall_back(replace(self.field, units=units, by_id=by_id), unit_id, before)
        return {**fates, **{name: _fate(result) for name, result in after.items()}}


def _fate(result: CombatResult) -> Fate:
    return Fate(result.disruption, result.is_broken, result.falls_back, result.fall_back_mm)


def affecting_units(
    field: Field, unit: UnitOnField, places_mm: Mapping[str, frozenset[float]]
) -> AffectingUnits:
    """Returns the units that can affect one that falls back (M-8.25 to M-8.27).

    `field` holds all units before any falls back; `places_mm` are the possible distances that each
    other attacker has fallen back by then.
    """
    friends = {
        friend.id: [fallen_back(friend, back_mm) for back_mm in places_mm.get(friend.id, {0.0})]
        for friend in field.friends_of(unit)
    }
    least_mm = FALL_BACK_BW * field.bw_mm
    longest_mm = _longest_mm(
        unit, least_mm, [shape for outlines in friends.values() for shape in outlines]
    )
    # Shrinking the path by less than half a sliver keeps all that intrudes by more (G-5).
    path = shapely.buffer(_swept(unit, 0.0, longest_mm), -0.4 * SLIVER_MM, join_style="mitre")
    ends = _swept(unit, least_mm, longest_mm)
    passed = tuple(
        name for name, shapes in friends.items() if shapely.intersects(path, shapes).any()
    )
    enemies = tuple(
        enemy.id
        for enemy in field.enemies_of(unit)
        if shapely.intersects(path, enemy.outline)
        or shapely.dwithin(ends, enemy.outline, TOUCH_MM + _SAFE_MM)
    )
    return AffectingUnits(enemies, passed)


def fallen_back(unit: UnitOnField, back_mm: float) -> shapely.Geometry:
    """Returns a unit's outline after it moves straight back (M-8.24)."""
    step = np.array(forward(unit.axes.heading_deg)) * -back_mm
    return shapely.transform(unit.outline, lambda points: points + step)


def _longest_mm(unit: UnitOnField, least_mm: float, friends: Sequence[shapely.Geometry]) -> float:
    """Returns the longest way back until a unit overlaps no friend, wherever these are (M-8.25)."""
    longest_mm = least_mm
    # Going farther back may reach another friend, so repeat until nothing more is met.
    while friends:
        ends = _swept(unit, least_mm, longest_mm)
        is_met = shapely.area(shapely.intersection(ends, friends)) > 0
        past_mm = [
            _past_mm(unit, friend) for friend, met in zip(friends, is_met, strict=True) if met
        ]
        if max(past_mm, default=0.0) <= longest_mm:
            break
        longest_mm = max(past_mm)
    return longest_mm


def _past_mm(unit: UnitOnField, friend: shapely.Geometry) -> float:
    """Returns how far back a unit is wholly behind a friend."""
    ahead = np.array(forward(unit.axes.heading_deg))
    own, others = (shapely.get_coordinates(outline) @ ahead for outline in (unit.outline, friend))
    return float(own.max() - others.min())


def _swept(unit: UnitOnField, from_mm: float, to_mm: float) -> shapely.Geometry:
    """Returns the area that a unit's bases cover between two distances back."""
    ahead = np.array(forward(unit.axes.heading_deg))
    return shapely.union_all([*_hulls(unit.bases, -from_mm * ahead, -to_mm * ahead)])


def _hulls(
    bases: Iterable[shapely.Polygon], first: NDArray[np.float64], last: NDArray[np.float64]
) -> Iterable[shapely.Geometry]:
    """Yields each base's hull between two displacements."""
    for base in bases:
        corners = shapely.get_coordinates(base)
        yield shapely.convex_hull(
            shapely.MultiPoint(np.concatenate([corners + first, corners + last]))
        )


_PLACES = 15
"""Decimal places of differences; a difference of sums beyond them is rounding error."""


def number_json(chances: Mapping[int, float]) -> Json:
    """Returns the distribution of a number as JSON: its mean and the probability of each value.

    >>> number_json({1: 0.75, 0: 0.25})
    {'expected': 0.75, 'chances': {'0': 0.25, '1': 0.75}}
    """
    named = {str(number): chances[number] for number in sorted(chances)}
    return {"expected": expected(chances), "chances": named}


def fate_json(chances: Mapping[Fate, float]) -> Json:
    """Returns a unit's fate as JSON, results and falling back together."""
    return {
        "disruption": number_json(_marginal(chances, lambda fate: fate.disruption)),
        "breaks": _share(chances, lambda fate: fate.is_broken),
    }


def attacker_json(chances: Mapping[Fate, float], results: Mapping[CombatEffect, float]) -> Json:
    """Returns an attacker's fate as JSON, with how it leaves.

    `breaks_falling_back` is the part of `breaks` that results alone (M-8.20) do not cause.
    """
    document = fate_json(chances)
    already = _share(results, lambda harm: harm.is_broken)
    return {
        **document,
        "falls_back": _share(chances, lambda fate: fate.falls_back),
        # A difference of two sums of the same terms; rounding removes float error.
        "breaks_falling_back": max(0.0, round(document["breaks"] - already, _PLACES)),
    }


def broken_json(fates: Fates, unit_ids: Iterable[str]) -> Json:
    """Returns the distribution of how many of some units break; they are not independent."""
    broken = [derived(lambda fate: int(fate.is_broken), fates[name]) for name in unit_ids]
    return number_json(distribution(folded(lambda some, more: some + more, broken)))


def _marginal(chances: Mapping[Fate, float], number: Callable[[Fate], int]) -> dict[int, float]:
    by_number: dict[int, float] = {}
    for fate, share in chances.items():
        by_number[number(fate)] = by_number.get(number(fate), 0.0) + share
    return by_number


def _share(chances: Mapping[State, float], question: Callable[[State], bool]) -> float:
    return sum((share for state, share in chances.items() if question(state)), 0.0)


Json = dict[str, Any]


def odds(field: Field, request: Request) -> Json:
    """Returns the probabilities of all outcomes of a request.

    `disruption` is what a unit gains (negative: sheds), as in resolutions: none if it breaks at
    once.

    Raises:
        BadInput: The request is not allowed, as when it is resolved.
    """
    if isinstance(request, Volley):
        return _volley(field, request)
    if isinstance(request, Combat):
        return _combat(field, request)
    if isinstance(request, Rally):
        return _rally(field, request)
    assert_never(request)


def _volley(field: Field, request: Volley) -> Json:
    """Returns the odds of a volley or bombardment, by target."""
    shots = shot_list(field, request)
    targets = dict.fromkeys(shot.target for shot in shots)
    units = {
        target: _target(field, target, [shot for shot in shots if shot.target == target])
        for target in targets
    }
    shot_documents = [shot.to_json() for shot in shots]
    return {"game": GAME, "kind": request.kind, "shots": shot_documents, "units": units}


def _target(field: Field, target: str, shots: Sequence[Shot]) -> Json:
    """Returns the odds of all shots at one target."""
    unit = field.by_id[target]
    # Each die of a shot is a try of its own.
    dice = [shot for shot in shots for _ in range(shot.dice)]
    hit = [chance_of(shot.to_hit) for shot in dice]
    gained = successes(
        chance * chance_of(shot.disrupt_on) for chance, shot in zip(hit, dice, strict=True)
    )
    breaks = sum(
        share
        for number, share in gained.items()
        if is_broken(unit.disruption + number, len(unit.bases))
    )
    return {
        "dice": len(dice),
        "disrupt_on": dice[0].disrupt_on,
        "hits": number_json(successes(hit)),
        "disruption": number_json(gained),
        "breaks": breaks,
    }


def _combat(field: Field, request: Combat) -> Json:
    """Returns the odds of a combat, by unit and by side."""
    combat = meeting(field, request.active)
    check_combat(request, combat)
    scores = scores_of(field, combat, request.cards)
    parts = combat_variables(
        _combatant(field, name, value, combat) for name, value in scores.items()
    )
    order = fall_back_order(field, request, combat.contacts)
    ends = fall_back_fates(parts, order, FieldGround(field))
    units: Json = {}
    for name in (unit.id for unit in field.units if unit.id in ends):
        value_document = _value(scores[name]) if name in scores else {}
        chances = distribution(ends[name])
        fate_document = (
            attacker_json(chances, distribution(parts[name].harm))
            if name in combat.contacts
            else fate_json(chances)
        )
        units[name] = {"side": field.by_id[name].side, **value_document, **fate_document}
    # In this order the fold's tables stay small.
    along = _along_the_front(field, ends)
    sides: Json = {}
    for side in dict.fromkeys(field.by_id[name].side for name in ends):
        of_side = [name for name in along if field.by_id[name].side == side]
        sides[side] = {"broken": broken_json(ends, of_side)}
    return {
        "game": GAME,
        "kind": "combat",
        "active": request.active,
        "units": units,
        "sides": sides,
    }


def _combatant(field: Field, name: str, value: CombatValue, met: Meeting) -> Combatant:
    unit = field.by_id[name]
    return Combatant(
        name,
        name in met.contacts,
        value.value,
        unit.disruption,
        len(unit.bases),
        value.engaged_with,
        met.contacts.get(name, ()),
    )


def _along_the_front(field: Field, unit_ids: Iterable[str]) -> list[str]:
    """Returns units sorted along the front.

    Folding them in this order keeps units with common enemies together and tables small.
    """
    names = list(unit_ids)
    middles = shapely.get_coordinates(
        shapely.centroid([field.by_id[name].outline for name in names])
    )
    # The front runs along the longer extent of the units.
    longer = int(np.argmax(np.ptp(middles, axis=0)))
    return [names[place] for place in np.argsort(middles[:, longer], kind="stable")]


def _value(value: CombatValue) -> Json:
    return {
        "basic": value.basic,
        "modifiers": dict(value.modifiers),
        "value": value.value,
        "engaged_with": list(value.engaged_with),
        "because": list(value.because),
    }


def _rally(field: Field, request: Rally) -> Json:
    terms = rally_attempt(field, request)
    shed = successes([chance_of(terms.needed)] * terms.dice)
    unit = {
        "basic": terms.basic,
        "modifiers": dict(terms.modifiers),
        "needed": terms.needed,
        "disruption": number_json({-number: share for number, share in shed.items()}),
    }
    return {"game": GAME, "kind": "rally", "units": {terms.unit: unit}}
