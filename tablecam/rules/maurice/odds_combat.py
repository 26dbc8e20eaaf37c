"""The results of a combat as variables of its dice (M-8.19, M-8.20), before anyone falls back.

With s = value + die for every engaged unit, and E(u) whom a unit engages:

- a defender d is broken outright where max s over E(d) is at least 2 s(d); it takes 2 disruptions
  where that maximum is above s(d), else 1; it breaks too where these exceed its bases (M-1.14);
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

from tablecam.rules.maurice.odds_chances import Variable, certain, die, folded, follows


@dataclass(frozen=True, slots=True)
class Fighter:
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


def fights(fighters: Iterable[Fighter]) -> Mapping[str, Fight]:
    """All engaged units' parts, by id.

    Raises:
        KeyError: One of them is engaged with a unit that is not among them.
    """
    by_id = {each.id: each for each in fighters}
    scores = {each.id: _score(each) for each in by_id.values()}
    passive = {each.id: _defence(each, scores) for each in by_id.values() if not each.is_active}
    standing = {unit_id: fight.standing for unit_id, fight in passive.items()}
    active = {each.id: _attack(each, scores, standing) for each in by_id.values() if each.is_active}
    return passive | active


def defender_harm(fighter: Fighter, score: int, highest: int) -> Harm:
    """What a passive unit suffers from the highest score against it (M-8.20)."""
    gained = 2 if highest > score else 1
    is_broken = highest >= 2 * score or fighter.disruption + gained > fighter.bases
    return Harm(gained, is_broken)


def attacker_harm(fighter: Fighter, score: int, standing: int) -> Harm:
    """What an active unit suffers from the highest score of those that still stand (M-8.20)."""
    gained = 2 if standing >= score else 1
    return Harm(gained, fighter.disruption + gained > fighter.bases)


def _score(fighter: Fighter) -> Variable[int]:
    return follows(lambda pips: fighter.value + pips, die())


def _defence(fighter: Fighter, scores: Mapping[str, Variable[int]]) -> Fight:
    score = scores[fighter.id]
    highest = folded(max, [scores[enemy] for enemy in fighter.engaged_with])
    harm = follows(lambda own, best: defender_harm(fighter, own, best), score, highest)
    standing = follows(lambda own, hurt: 0 if hurt.is_broken else own, score, harm)
    return Fight(score, harm, standing, certain(state=True))


def _attack(
    fighter: Fighter,
    scores: Mapping[str, Variable[int]],
    standing: Mapping[str, Variable[int]],
) -> Fight:
    score = scores[fighter.id]
    highest = folded(max, [standing[enemy] for enemy in fighter.engaged_with])
    harm = follows(lambda own, best: attacker_harm(fighter, own, best), score, highest)
    return Fight(score, harm, certain(1), _contact(fighter, standing))


def _contact(fighter: Fighter, standing: Mapping[str, Variable[int]]) -> Variable[bool]:
    """Whether any enemy that it touches is left; nobody breaks who was not engaged."""
    if not fighter.touching:
        return certain(state=False)
    if any(enemy not in standing for enemy in fighter.touching):
        return certain(state=True)
    return folded(or_, [follows(bool, standing[enemy]) for enemy in fighter.touching])
