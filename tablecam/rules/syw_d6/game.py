"""The Seven Years' War d6 sheet as a game on the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter

from tablecam.errors import BadInput
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import one_of
from tablecam.rules.game import Suggestion
from tablecam.rules.lay import Lay
from tablecam.rules.miniatures.battle import Bases, Done
from tablecam.rules.miniatures.battle_game import (
    BattleGame,
)
from tablecam.rules.miniatures.by_hand import suggested
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.miniatures.nearest import Start, farthest_legal, nearest_after_wheels
from tablecam.rules.steps import Decide
from tablecam.rules.syw_d6 import charges, marches, page, sequence
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.field import read_keys, troops_of
from tablecam.rules.syw_d6.flights import FormUpDue, home_edges
from tablecam.rules.syw_d6.fog_of_war import Pick
from tablecam.rules.syw_d6.sequence import entered, next_phase
from tablecam.rules.syw_d6.state import State
from tablecam.rules.syw_d6.tables import GAME as NAME
from tablecam.rules.syw_d6.unit_keys import Charts
from tablecam.table.model import Commander, Position, Unit, inches
from tablecam.uncertainty.answer import Answer, certain

_QUESTIONS: Final = {
    "swap": ("which disordered units shall reform?", "A red marker takes the place of the orange."),
    "move": ("throw for a unit or a brigade, or end the moves", "Dice first, then the move."),
    "fire": ("fire, or end the fire", ""),
}


class SevenYearsWar(BattleGame[State]):
    """Two sides with units of figures, in sequences of fog, move, fire and melee (S-0.10)."""

    name: Final = NAME
    actions = one_of(
        Roll, Lay, Done, Decide, Pick, acts.Throw, acts.ThrowTogether, acts.Take, acts.Move,
        acts.MoveCommander, acts.Charge, acts.StayPut, acts.ChangeFormation, acts.RetreatByChoice,
        acts.Reform, acts.FormUp, acts.Fire, acts.Respond, acts.ShareLosses, acts.GiveRow,
        acts.Overrule,
    )  # fmt: skip
    states = TypeAdapter(State)
    options: ClassVar = {
        "alternate_first": (False, True),
        "second_chance": ("six", "not_one"),
        "rain_affects": ("fire", "fire_and_move"),
        "fog": (True, False),
    }
    charts = Charts
    end_rule = "S-0.9"
    bases_rule = "S-0.7"
    gone_rule = "S-H.4"
    upon_rule = "S-J.6"
    leader_rule = "S-K.5"
    strength = "figures"
    choices_by_phase = sequence.CHOICES
    automatic_by_phase = sequence.AUTOMATIC
    handlers = sequence.HANDLERS
    why_not = sequence.WHY_NOT
    questions = _QUESTIONS
    offers = page.OFFERS
    unit_settings = page.UNIT_SETTINGS
    phase_words = page.PHASE_WORDS
    action_groups = page.GROUPS
    moments = page.MOMENTS
    length_unit = staticmethod(inches)

    def begun(
        self, position: Position, sides: tuple[str, str], options: Mapping[str, Any], charts: Charts
    ) -> State:
        """Returns the state with the rows that the sheet's owner gives, and all units' figures."""
        units = tuple(unit for unit in position.units if unit.bases)
        edges = home_edges(sides, units)
        state = State(position, sides, options, edges=edges, chart=charts.test.rows)
        for unit in units:
            figures = unit.state.get("figures", unit.extra.get("figures"))
            state = state.changed(unit.id, figures=figures)
        return state

    def read_keys(self, thing: Unit | Commander) -> None:
        """Reads the keys of a unit (S-0.4)."""
        if isinstance(thing, Unit):
            read_keys(thing)

    def under_way(self, state: State) -> tuple[str, str] | None:
        """Returns how far those may move that have thrown their dice."""
        may = (f"{name} up to {may.value_in:g} in" for name, may in state.allowed.items())
        hint = f"By hand: {', '.join(may)}."
        return ("move the units that have thrown", hint) if state.allowed else None

    next_phase = staticmethod(next_phase)
    entered = staticmethod(entered)

    def lost(self, state: State, name: str) -> State:
        """Returns the state without a unit, which is destroyed."""
        return acts.destroyed(state, name, "by the players")

    def passed(self, state: State) -> Any | None:
        """Returns that a unit holds its fire, where response fire is asked for (S-C.1)."""
        responds = state.due and isinstance(state.due[-1], charges.ResponseFire)
        return Decide(False) if responds else None

    def adopts(self, state: State) -> bool:
        """Whether Move or Fire begins: nobody has moved or fired."""
        mark = {"move": "moved", "fire": "fired"}.get(state.phase)
        if mark is None or state.allowed or state.tried:
            return False
        units = state.position.units
        return not any(unit.state.get(mark) for unit in units if unit.side == state.active)

    def strength_of(self, unit: Unit) -> int:
        """Returns the figures of a unit."""
        return int(unit.state.get("figures", 0))

    def suggestion(self, state: State, unit: Unit, seen: Unit) -> Suggestion | None:
        """Infers a move, a charge or a formation from where hands have laid a unit."""
        bases = seen.bases
        due = state.due[-1] if state.due else None
        if isinstance(due, FormUpDue) and due.unit == unit.id:
            return suggested(unit.id, due.judge(state, bases), acts.FormUp(unit.id, bases))
        if isinstance(due, charges.Pursuit) and due.charge.unit == unit.id and due.asked(state):
            return suggested(unit.id, due.judge(state, bases), acts.Move(unit.id, bases))
        is_moving = state.phase == "move" and unit.side == state.active and due is None
        if is_moving and unit.id in state.allowed:
            return _move_suggested(state, unit, bases)
        if is_moving and marches.ban_on_throwing(state, unit) is None:
            text = f"{unit.id} has moved before its dice were thrown"
            return suggested(unit.id, certain("no", "S-B.4", text))
        return None

    def judged_move(self, state: State, unit: Unit, bases: Bases) -> Answer:
        """Returns the ruling on a move within the dice (S-B.8, S-B.9)."""
        return marches.judged(state, unit, bases, state.allowed[unit.id]).answer

    def nearest(self, state: State, unit: Unit, bases: Bases) -> Bases | None:
        """Returns how far the unit may go that way within its dice (S-B.8, S-B.9)."""
        if state.due or unit.id not in state.allowed:
            return None
        is_legal = self.clearly_legal(state, unit)
        if state.field.troops[unit.id].formation == "open":
            return farthest_legal(unit, bases, is_legal)
        reach_mm = state.allowed[unit.id].value_in * state.field.inch_mm
        start = Start(unit.bases, axes_of(unit), axes_of(unit, bases), reach_mm)
        return nearest_after_wheels([start], is_legal)

    def commander_suggestion(self, state: State, seen: Commander) -> Suggestion | None:
        """Infers the move of a commander who has thrown his dice."""
        if seen.id not in state.allowed:
            return None
        action = acts.MoveCommander(seen.id, seen.x_mm, seen.y_mm)
        ruling = marches.commander_moved(state, seen.id, seen.x_mm, seen.y_mm)[1]
        return suggested(seen.id, ruling, action)

    markers = staticmethod(page.markers)

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation of a unit by how its bases lie (S-L)."""
        try:
            reading = troops_of(unit, 25.4).formation
        except BadInput:
            return None
        return None if reading == "none" else reading.replace("_", " ")


def _move_suggested(state: State, unit: Unit, bases: Bases) -> Suggestion:
    allowance, moved = state.allowed[unit.id], replace(unit, bases=bases)
    front = axes_of(moved).edge
    for enemy in state.field.enemies(unit):
        if front.distance(state.field.outlines[enemy.id]) <= 5.0:
            answer = charges.judged_charge(state, unit, enemy, bases, allowance.value_in)[0]
            return suggested(unit.id, answer, acts.Charge(unit.id, enemy.id, bases))
    answer = marches.judged(state, unit, bases, allowance).answer
    return suggested(unit.id, answer, acts.Move(unit.id, bases))


GAME: Final = SevenYearsWar()
