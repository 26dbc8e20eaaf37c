"""Melees in the game: their dice, the figures that they cost, and draws (S-F)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, Refused, Sum
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.steps import YES_OR_NO, Decide
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.flights import way_out
from tablecam.rules.syw_d6.marches import disordered_on_the_way
from tablecam.rules.syw_d6.morale import (
    SKILLS,
    MoraleTest,
    RowDue,
    TestDie,
    and_a_die,
    company_of,
    losses_factor,
    take_test,
    test_terms,
    too_far_to_command,
)
from tablecam.rules.syw_d6.state import Due, State
from tablecam.wording import counted


def figures_due(difference: int) -> int:
    """Returns the figures that the loser of a melee removes: three a point (S-F.3)."""
    return tables.FIGURES_A_POINT * abs(difference)


class MeleeDice(Due):
    """The dice of a melee, the attackers' first (S-F.2)."""

    hint = f"The loser removes {tables.FIGURES_A_POINT} figures for each point of difference."
    fight: acts.Fight

    def needs(self, state: State) -> tuple[RowDue, ...]:
        """Returns the rows that the units need."""
        asked = [row for name in self.fight.units for row in self._test(state, name, 3).asks_for]
        return tuple(map(RowDue, dict.fromkeys(asked)))

    def roll(self, state: State) -> Roll:
        """Returns a die for each side."""
        attackers = ", ".join(self.fight.attackers)
        return Roll(f"the melee of {attackers} with {self.fight.defender}", 2)

    def sums(self, state: State) -> tuple[Sum, ...]:
        """Returns what both sides count before their dice."""
        return tuple(self._sum(state, side, None)[1] for side in self.fight.sides)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns a die for each side; they are compared."""
        sides = (" + ".join(self.fight.attackers), self.fight.defender)
        return tuple(DiceGroup(names, None, (place,)) for place, names in enumerate(sides))

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the loser's figures due, or with the melee going on."""
        fight = self.fight
        totals = [self._sum(state, *side) for side in zip(fight.sides, answer, strict=True)]
        (attack, _), (defence, _) = totals
        facts: dict[str, Any] = {"attackers": list(fight.attackers), "defender": fight.defender}
        facts |= {"totals": [attack, defence], "sums": [one._asdict() for _, one in totals]}
        dice = " and ".join(map(str, answer))
        sides = f"{', '.join(fight.attackers)} {attack}, {fight.defender} {defence}"
        text = f"Melee: {sides} (dice {dice})"
        state = state.tells("melee", text, "S-F.3", **facts)
        others = tuple(one for one in state.fights if one != fight)
        if attack == defence:
            state = replace(state, fights=(*others, replace(fight, is_new=False)))
            return state.pushed(WishDue(fight, state.active))
        state = replace(state, fights=others)
        losers = fight.attackers if attack < defence else (fight.defender,)
        enemy = fight.defender if attack < defence else fight.attackers[0]
        due = LossesDue(losers, figures_due(attack - defence), enemy)
        return acts.ended(state, fight.units).pushed(due)

    def _sum(self, state: State, names: tuple[str, ...], die: int | None) -> tuple[int, Sum]:
        """Returns the total of a side, and its terms: the best factors of its units (S-F.5).

        Without a die they say what each number on it counts.
        """
        troops = state.field.troops
        tests = [self._test(state, name, None) for name in names]
        parts = {key: max(test.parts[key] or 0 for test in tests) for key in tests[0].parts}
        strongest = max(names, key=lambda name: troops[name].figures)
        parts["losses"] = losses_factor(troops[strongest])
        # The bonus outlasts the disorder that a melee brings (S-H.6).
        parts["charging"] = int(any(name in self.fight.chargers for name in names))
        best = max((troops[name].skill.test for name in names), key=SKILLS.index)
        total, side = sum(parts.values()), ", ".join(names)
        if die is None:
            reckoned = and_a_die(side, parts, best)
            far = () if parts["command"] else too_far_to_command(state, names)
            return total, reckoned._replace(terms=(*reckoned.terms, *far))
        by_die = tables.MODIFIER[best].get(die, 0)
        total += by_die
        return total, Sum(f"{side} {total}", (*test_terms(parts), f"die {die} {by_die:+d}"))

    def _test(self, state: State, name: str, die: int | None) -> MoraleTest:
        company = company_of(state, name, is_charging=name in self.fight.chargers)
        return take_test(state.field.troops[name], "melee", company, die, state.chart)


class LossesDue(Due):
    """The figures that a melee's losers remove, shared out by their owner (S-F.3, S-F.5)."""

    question = "Who loses the {figures} figures?"
    least_answers = 2
    units: tuple[str, ...]
    figures: int
    enemy: str

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the units that are left."""
        return tuple(name for name in self.units if state.has(name))

    def legal(self, state: State) -> tuple[acts.ShareLosses, ...]:
        """Returns the usual shares: one unit first, or all alike."""
        units, troops = self.names(state), state.field.troops
        shares: list[acts.ShareLosses] = []
        for first in units:
            left, share = self.figures, dict[str, int]()
            for name in (first, *(unit for unit in units if unit != first)):
                share[name] = min(left, troops[name].figures)
                left -= share[name]
            shares.append(acts.ShareLosses({name: share[name] for name in units}))
        return tuple(share for place, share in enumerate(shares) if share not in shares[:place])

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action shares the losses; `follow` counts them."""
        return isinstance(answer, acts.ShareLosses)

    def follow(self, state: State, answer: acts.ShareLosses | None) -> State:
        """Returns the state without those figures, and the losers' TESTs due (S-F.4)."""
        units, troops = self.names(state), state.field.troops
        share = dict.fromkeys(units, self.figures) if answer is None else dict(answer.figures)
        if answer is not None:
            due = min(self.figures, sum(troops[name].figures for name in units))
            odd = set(share) - set(units) or sum(share.values()) != due
            if odd or any(not 0 <= share[name] <= troops[name].figures for name in share):
                raise Refused(f"expected {due} figures of {', '.join(units)}", rule="S-F.5")
        points = counted(self.figures // tables.FIGURES_A_POINT, "point")
        each = "each of " if self.figures > tables.FIGURES_A_POINT else ""
        reckoned = f"{tables.FIGURES_A_POINT} for {each}{points}"
        for name in units:
            has, lost = troops[name].figures, share.get(name, 0)
            why = f", {reckoned}"
            if min(has, lost) < self.figures:
                more = ", but has no more" if has <= lost else ""
                why = f" of the {self.figures} due ({reckoned}{more})"
            state = acts.with_losses(state, name, lost, why, "S-F.3")
        tests = (TestDie(name, "melee", self.enemy) for name in units if state.has(name))
        return state.pushed(*tests)


class WishDue(Due):
    """After a draw: does a side wish the melee to go on (S-F.6)?"""

    question = "A draw between {names}: fight on next sequence?"
    hint = "If neither side wishes it, all fall back 3 in and are disordered."
    answers = YES_OR_NO
    fight: acts.Fight
    side: str

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the units that fight."""
        return self.fight.units

    def follow(self, state: State, answer: Decide) -> State:
        """Returns the state: the other side is asked, the melee goes on, or all fall back."""
        if answer.yes:
            return state.tells("melee", "The melee goes on", "S-F.6")
        if self.side == state.active:
            return state.pushed(WishDue(self.fight, state.enemy_of(self.side)))
        kept = tuple(one for one in state.fights if one.units != self.fight.units)
        state = replace(state, fights=kept)
        text = f"{', '.join(self.fight.units)} fall back 3 in"
        state = state.tells("melee", text, "S-F.6")
        for name in self.fight.units:
            state = self._fallen_back(state, name)
        return acts.ended(state, self.fight.units)

    def _fallen_back(self, state: State, name: str) -> State:
        """Returns the state with a unit back: who was struck goes as his first striker faces."""
        fight, ground, unit = self.fight, state.field, state.unit(name)
        striker, is_struck = state.unit(fight.attackers[0]), name == fight.defender
        away_deg = axes_of(striker if is_struck else unit).heading_deg + 180.0 * (not is_struck)
        enemy = striker.id if is_struck else fight.defender
        way = way_out(state, unit, away_deg, tables.FALL_BACK_IN, enemy=enemy, turns=False)
        if way is None or way.is_off:
            text = f"{name} has no room to fall back"
            return state.tells("melee", text, "S-F.6", unit=name)
        state = state.changed(name, bases=way.bases)
        return disordered_on_the_way(state, ground, unit, way.swept)
