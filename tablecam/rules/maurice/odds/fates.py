"""Fates of units when attackers fall back after a combat, as random variables.

Attackers fall back one after the other (M-8.24). The result for each depends on whether it is still
in contact (M-8.23), which enemies near its path stand, and where the friends near its path have
gone and how disrupted they are by then (M-8.25 to M-8.27). Who can affect whom depends on places
alone. For those units the rule is called once per combination of their fates, and its results are
their next variables. So probabilities stay exact however the paths cross, and a unit with nothing
behind it adds only itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tablecam.rules.maurice.odds.combat import CombatVariables
from tablecam.rules.maurice.odds.variables import Variable, constant, derived


@dataclass(frozen=True, slots=True)
class Fate:
    """The fate of a unit so far: disruption gained, and the distance fallen back in millimetres."""

    disruption: int = 0
    is_broken: bool = False
    falls_back: bool = False
    back_mm: float = 0.0


@dataclass(frozen=True, slots=True)
class AffectingUnits:
    """The units that can affect one that falls back: enemies in the order asked, and friends."""

    enemies: tuple[str, ...] = ()
    friends: tuple[str, ...] = ()


class Ground(Protocol):
    """The geometry of a combat, as far as falling back needs it."""

    def concern(self, unit_id: str, places_mm: Mapping[str, frozenset[float]]) -> AffectingUnits:
        """Returns the units that can affect one that falls back.

        `places_mm` are the possible distances that each other unit of its side has fallen back by
        then.
        """

    def fall_back(
        self, unit_id: str, fates: Mapping[str, Fate], standing: frozenset[str]
    ) -> Mapping[str, Fate]:
        """Returns the fates of a unit and of the friends that concern it, after it falls back.

        `standing` are the enemies that concern it and are not broken.
        """


Fates = Mapping[str, Variable[Fate]]


def fall_back_fates(
    fights: Mapping[str, CombatVariables], order: Sequence[str], ground: Ground
) -> Fates:
    """Returns the fates of all engaged units, and of friends that some of them pass through.

    `fights` are the results of the combat; `order` lists the attackers in the order in which they
    fall back on `ground`.
    """
    fate_of = {unit_id: _after_results(fight) for unit_id, fight in fights.items()}
    for unit_id in order:
        # An attacker that is certainly out of contact needs no turn.
        if True in fights[unit_id].has_contact.states:
            fate_of |= _after_falling_back(unit_id, fate_of, fights, set(order), ground)
    return fate_of


def _after_results(fight: CombatVariables) -> Variable[Fate]:
    return derived(lambda harm: Fate(harm.disruption, harm.is_broken), fight.harm)


def _after_falling_back(
    unit_id: str,
    so_far: Fates,
    fights: Mapping[str, CombatVariables],
    attackers: Iterable[str],
    ground: Ground,
) -> dict[str, Variable[Fate]]:
    """Returns the fates of a unit and of the friends that concern it after its turn."""
    places_mm = {name: _places_mm(so_far[name]) for name in attackers if name != unit_id}
    concern = ground.concern(unit_id, places_mm)
    names = (unit_id, *concern.friends)
    before = [so_far.get(name) or constant(Fate()) for name in names]
    # Enemies outside the combat stand for certain and need no variable.
    may_stand = [name for name in concern.enemies if name in fights]
    always = frozenset(concern.enemies) - frozenset(may_stand)

    def turn(has_contact: bool, *states: Any) -> tuple[Fate, ...]:
        held, stand = states[: len(names)], states[len(names) :]
        # Without contact it stays (M-8.23); if a friend's way back broke it, it is gone.
        if not has_contact or held[0].is_broken:
            return tuple(held)
        standing = always | {
            enemy for enemy, stands in zip(may_stand, stand, strict=True) if stands
        }
        after = ground.fall_back(unit_id, dict(zip(names, held, strict=True)), standing)
        return tuple(after[name] for name in names)

    stands = [derived(bool, fights[name].standing) for name in may_stand]
    after = derived(turn, fights[unit_id].has_contact, *before, *stands)
    return {name: _one_of(after, place) for place, name in enumerate(names)}


def _places_mm(fate: Variable[Fate]) -> frozenset[float]:
    # A broken unit is on no place.
    return frozenset(state.back_mm for state in fate.states if not state.is_broken)


def _one_of(several: Variable[tuple[Fate, ...]], place: int) -> Variable[Fate]:
    return derived(lambda states: states[place], several)
