"""The results of a combat as variables of its dice (M-8.19, M-8.20), before anyone falls back.

With s = value + die for every engaged unit, and E(u) whom a unit engages:

- a defender d is broken outright where max s over E(d) is at least 2 s(d); else it takes 2
  disruptions where that maximum is above s(d), 1 where it is not, and breaks where its level then
  exceeds its bases (M-1.14);
- its standing score is s(d), or 0 once it is broken: it counts no longer then (M-8.21), and no
  score is as low as 0;
- an attacker a takes 2 where the highest standing score over E(a) is s(a) or more, else 1;
- it is still in contact where anyone whom it touches stands (M-8.23).

Units whose enemies have an enemy in common are not independent. No chance is multiplied as though
they were: `odds_chances` sums over the dice that each answer hangs on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import or_

from tablecam.rules.maurice.field.results import is_broken
from tablecam.rules.maurice.field.tables import COMBAT_BEATEN, COMBAT_DOUBLED, COMBAT_OTHERWISE
from tablecam.rules.maurice.odds.chances import Variable, certain, die, folded, follows


@dataclass(frozen=True, slots=True)
class Combatant:
    """An engaged unit: what its score is added to, and whom it meets.

    `value` is after all modifiers, not below 0; `disruption` is its level before the combat.
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
class Harm:
    """What a unit suffers: disruptions gained, and whether it breaks."""

    disruption: int = 0
    is_broken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Fight:
    """A unit's part in a combat. `has_contact` is for attackers: an enemy still touches it."""

    score: Variable[int]
    harm: Variable[Harm]
    standing: Variable[int]
    has_contact: Variable[bool]


def fights(combatants: Iterable[Combatant]) -> Mapping[str, Fight]:
    """All engaged units' parts, by id.

    Raises:
        KeyError: One of them is engaged with a unit that is not among them.
    """
    by_id = {each.id: each for each in combatants}
    scores = {each.id: _score(each) for each in by_id.values()}
    passive = {each.id: _defence(each, scores) for each in by_id.values() if not each.is_active}
    standing = {unit_id: fight.standing for unit_id, fight in passive.items()}
    active = {each.id: _attack(each, scores, standing) for each in by_id.values() if each.is_active}
    return passive | active


def _defended(combatant: Combatant, score: int, highest: int) -> Harm:
    """What a passive unit suffers from the highest score against it."""
    if highest >= COMBAT_DOUBLED * score:
        return Harm(0, is_broken=True)
    return _disrupted(combatant, COMBAT_BEATEN if highest > score else COMBAT_OTHERWISE)


def _attacked(combatant: Combatant, score: int, standing: int) -> Harm:
    """What an active unit suffers from the highest score of those that still stand."""
    return _disrupted(combatant, COMBAT_BEATEN if standing >= score else COMBAT_OTHERWISE)


def _disrupted(combatant: Combatant, gained: int) -> Harm:
    return Harm(gained, is_broken(combatant.disruption + gained, combatant.bases))


def _score(combatant: Combatant) -> Variable[int]:
    return follows(lambda pips: combatant.value + pips, die())


def _defence(combatant: Combatant, scores: Mapping[str, Variable[int]]) -> Fight:
    score = scores[combatant.id]
    highest = folded(max, [scores[enemy] for enemy in combatant.engaged_with])
    harm = follows(lambda own, best: _defended(combatant, own, best), score, highest)
    standing = follows(lambda own, hurt: 0 if hurt.is_broken else own, score, harm)
    return Fight(score, harm, standing, certain(state=True))


def _attack(
    combatant: Combatant,
    scores: Mapping[str, Variable[int]],
    standing: Mapping[str, Variable[int]],
) -> Fight:
    score = scores[combatant.id]
    highest = folded(max, [standing[enemy] for enemy in combatant.engaged_with])
    harm = follows(lambda own, best: _attacked(combatant, own, best), score, highest)
    return Fight(score, harm, certain(1), _contact(combatant, standing))


def _contact(combatant: Combatant, standing: Mapping[str, Variable[int]]) -> Variable[bool]:
    """Whether any enemy that it touches is left; nobody breaks who was not engaged."""
    if not combatant.touching:
        return certain(state=False)
    if any(enemy not in standing for enemy in combatant.touching):
        return certain(state=True)
    return folded(or_, [follows(bool, standing[enemy]) for enemy in combatant.touching])
