"""Results of a combat as random variables (M-8.19, M-8.20), before anyone falls back.

With s = value + die for every engaged unit, and E(u) the enemies that u is engaged with:

- a defender d breaks at once if max s over E(d) is at least 2 s(d); otherwise it takes 2
  disruptions if that maximum exceeds s(d), else 1, and breaks if its level then exceeds its bases
  (M-1.14);
- its standing score is s(d), or 0 if it is broken: it no longer counts (M-8.21), and no score is as
  low as 0;
- an attacker a takes 2 if the highest standing score over E(a) is at least s(a), else 1;
- it stays in contact if any unit that it touches stands (M-8.23).

Units with common enemies are not independent, so their probabilities are never multiplied;
`chances.py` sums over the dice that each answer depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import or_

from tablecam.rules.maurice.field.results import is_broken
from tablecam.rules.maurice.field.tables import COMBAT_BEATEN, COMBAT_DOUBLED, COMBAT_OTHERWISE
from tablecam.rules.maurice.odds.variables import Variable, constant, derived, die, folded


@dataclass(frozen=True, slots=True)
class Combatant:
    """An engaged unit with its combat value and its enemies.

    `value` includes all modifiers and is at least 0; `disruption` is the level before the combat.
    `touching` are the enemies in base contact, engaged or not.
    """

    id: str
    is_active: bool
    value: int
    disruption: int
    bases: int
    engaged_with: tuple[str, ...]
    touching: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CombatEffect:
    """The result of a combat for a unit: disruption gained, and whether it breaks."""

    disruption: int = 0
    is_broken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CombatVariables:
    """The random variables of one unit; `has_contact` is for attackers in contact afterwards."""

    score: Variable[int]
    harm: Variable[CombatEffect]
    standing: Variable[int]
    has_contact: Variable[bool]


def combat_variables(combatants: Iterable[Combatant]) -> Mapping[str, CombatVariables]:
    """Returns the random variables of all engaged units, by id.

    Raises:
        KeyError: A unit is engaged with one that is not among the combatants.
    """
    by_id = {combatant.id: combatant for combatant in combatants}
    scores = {combatant.id: _score(combatant) for combatant in by_id.values()}
    passive = {
        combatant.id: _defence(combatant, scores)
        for combatant in by_id.values()
        if not combatant.is_active
    }
    # Attackers are compared only with the defenders that still stand (M-8.20).
    standing = {unit_id: fight.standing for unit_id, fight in passive.items()}
    active = {
        combatant.id: _attack(combatant, scores, standing)
        for combatant in by_id.values()
        if combatant.is_active
    }
    return passive | active


def _defended(combatant: Combatant, score: int, highest: int) -> CombatEffect:
    """Returns a passive unit's result from the highest score against it."""
    if highest >= COMBAT_DOUBLED * score:
        return CombatEffect(0, is_broken=True)
    return _disrupted(combatant, COMBAT_BEATEN if highest > score else COMBAT_OTHERWISE)


def _attacked(combatant: Combatant, score: int, standing: int) -> CombatEffect:
    """Returns an active unit's result from the highest score of enemies that still stand."""
    return _disrupted(combatant, COMBAT_BEATEN if standing >= score else COMBAT_OTHERWISE)


def _disrupted(combatant: Combatant, gained: int) -> CombatEffect:
    return CombatEffect(gained, is_broken(combatant.disruption + gained, combatant.bases))


def _score(combatant: Combatant) -> Variable[int]:
    return derived(lambda pips: combatant.value + pips, die())


def _defence(combatant: Combatant, scores: Mapping[str, Variable[int]]) -> CombatVariables:
    """Returns a passive unit's random variables."""
    score = scores[combatant.id]
    highest = folded(max, [scores[enemy] for enemy in combatant.engaged_with])
    harm = derived(lambda own, best: _defended(combatant, own, best), score, highest)
    # No score is as low as 0, so 0 marks a broken unit.
    standing = derived(lambda own, result: 0 if result.is_broken else own, score, harm)
    return CombatVariables(score, harm, standing, constant(state=True))


def _attack(
    combatant: Combatant,
    scores: Mapping[str, Variable[int]],
    standing: Mapping[str, Variable[int]],
) -> CombatVariables:
    """Returns an active unit's random variables."""
    score = scores[combatant.id]
    highest = folded(max, [standing[enemy] for enemy in combatant.engaged_with])
    harm = derived(lambda own, best: _attacked(combatant, own, best), score, highest)
    return CombatVariables(score, harm, constant(1), _contact(combatant, standing))


def _contact(combatant: Combatant, standing: Mapping[str, Variable[int]]) -> Variable[bool]:
    """Returns whether a touched enemy is left."""
    if not combatant.touching:
        return constant(state=False)
    # A unit that is not engaged cannot break.
    if any(enemy not in standing for enemy in combatant.touching):
        return constant(state=True)
    return folded(or_, [derived(bool, standing[enemy]) for enemy in combatant.touching])
