"""Clearing disorder: throws, and units that form up afresh (S-A.3, S-A.4)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tablecam.geometry.moves.poses import laid_at
from tablecam.rules.dice import Roll
from tablecam.rules.miniatures.battle import Bases, permitted
from tablecam.rules.miniatures.ground import centre_mm
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.flights import flight_of
from tablecam.rules.syw_d6.movement import clearing, clearing_dice
from tablecam.rules.syw_d6.state import Due, State
from tablecam.rules.syw_d6.tables import FORM_UP_IN
from tablecam.rules.syw_d6.troops import formation_of
from tablecam.uncertainty.answer import Answer, certain


class ClearDie(Due):
    """A unit with a red marker throws to clear it; after a one, its second chance (S-A.3)."""

    unit: str
    first: int = 0

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        if not self.first:
            return Roll(f"{self.unit} to clear its disorder", 1)
        skill = state.field.troops[self.unit].skill.clear
        return Roll(f"the second chance of {self.unit}", clearing_dice(skill, 1) - 1)

    def then(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the unit in order, or still with its marker."""
        name, troops = self.unit, state.field.troops[self.unit]
        if not self.first and answer[0] == 1 and clearing_dice(troops.skill.clear, 1) > 1:
            return state.pushed(ClearDie(name, 1))
        dice = (1, *answer) if self.first else answer
        is_kind = state.options.get("second_chance") == "not_one"
        result = clearing(troops, dice, is_kind=is_kind)
        word, rule = ("clears", "S-A.4") if result.is_cleared else ("does not clear", "S-A.5")
        state = state.tells("clear", f"{name} {word} its disorder", rule, unit=name, dice=[*dice])
        if result.is_cleared:
            state = state.changed(
                name, disordered=None, reforming=None, status=None, fled=None, flees_from=None
            )
            return state.pushed(FormUpDue(name))
        state = state.changed(name, moved=True, fired=True)
        if troops.status == "routing":
            state = state.changed(name, reforming=None, disordered=True)
            state = state.pushed(flight_of(state.unit(name)))
        return state


class FormUpDue(Due):
    """A unit that has cleared is laid out afresh (S-A.4)."""

    question = "{unit} forms up: in any formation, facing any way"
    hint = f"Its centre stays within {FORM_UP_IN:g} in."
    unit: str

    def legal(self, state: State) -> tuple[acts.FormUp, ...]:
        """Returns that it stays as it lies."""
        return (acts.FormUp(self.unit, state.unit(self.unit).bases),)

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action lays it out; `follow` judges how."""
        return isinstance(answer, acts.FormUp) and answer.unit == self.unit

    def judge(self, state: State, bases: Bases) -> Answer:
        """Judges how hands have laid it out."""
        unit = state.unit(self.unit)
        if len(bases) != len(unit.bases):
            return certain("no", "S-A.4", f"{unit.id} lacks a base")
        far_in = math.dist(centre_mm(bases), centre_mm(unit.bases)) / state.field.inch_mm
        troops = replace(state.field.troops[unit.id], formation="none")
        reading = formation_of(bases, troops, inch_mm=state.field.inch_mm)
        if ban := reading.why_not:
            return certain("no", ban.rule, f"{unit.id} is in no formation: {ban.because}")
        words = (
            f"{unit.id} forms {reading.formation.replace('_', ' ')}, its centre {far_in:.1f} in off"
        )
        is_near = far_in <= FORM_UP_IN + 0.05
        return certain("yes" if is_near else "no", "S-A.4", words)

    def then(self, state: State, answer: acts.FormUp) -> State:
        """Returns the state with the unit as it is laid out."""
        unit = state.unit(self.unit)
        if answer.bases != unit.bases:
            permitted(self.judge(state, answer.bases))
            state = state.changed(unit.id, bases=laid_at(unit.bases, answer.bases))
        reading = state.field.troops[unit.id].formation
        words = f"forms {reading.replace('_', ' ')}"
        is_limbered = bool(unit.state.get("limbered"))
        if unit.arm == "artillery" and unit.state.get("changing"):
            # Limbering and unlimbering are formation changes (S-L.6).
            is_limbered = not is_limbered
            words = "limbers" if is_limbered else "unlimbers"
        state = state.changed(unit.id, formation=reading, limbered=is_limbered, changing=None)
        return state.tells("form", f"{unit.id} {words}", "S-A.4", unit=unit.id)
