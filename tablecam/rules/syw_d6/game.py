"""The Seven Years' War d6 sheet as a game on the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from pydantic import TypeAdapter

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import has_same_bases
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.frozen_json import from_plain, one_of, renamed, to_plain
from tablecam.rules.game import Event, Game, Json, PendingDecision, Refused, Suggestion
from tablecam.rules.lay import Lay, with_bases
from tablecam.rules.syw_d6 import charges, marches, page
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.field import axes_of, troops_of
from tablecam.rules.syw_d6.flights import home_edges
from tablecam.rules.syw_d6.fog_of_war import Pick
from tablecam.rules.syw_d6.orders import OF_PHASE, acted
from tablecam.rules.syw_d6.reforming import FormUpDue
from tablecam.rules.syw_d6.sequence import entered, next_phase, outcome, settled
from tablecam.rules.syw_d6.state import Bases, Events, State
from tablecam.rules.syw_d6.tables import GAME as NAME
from tablecam.table.model import Position, Unit, inches
from tablecam.table.motion import has_its_place, lies_there
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import certain

_ACTIONS: Final = one_of(
    Roll, acts.Throw, acts.ThrowTogether, acts.Take, acts.Move, acts.MoveCommander, acts.Charge,
    acts.StayPut, acts.ChangeFormation, acts.RetreatByChoice, acts.Reform, acts.FormUp, acts.Fire,
    acts.Respond, acts.Decide, acts.ShareLosses, acts.GiveRow, acts.Done, acts.Overrule, Pick, Lay,
)  # fmt: skip


_STATES: Final = TypeAdapter(State)


_OPTIONS: Final[Mapping[str, tuple[Any, ...]]] = {
    "alternate_first": (False, True),
    "second_chance": ("six", "not_one"),
    "rain_affects": ("fire", "fire_and_move"),
    "fog": (True, False),
}


class SevenYearsWar(Game[State, Any]):
    """Two sides with units of figures, in sequences of fog, move, fire and melee (S-0.10)."""

    name: Final = NAME
    length_unit = staticmethod(inches)

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first state.

        Raises:
            BadInput: There are not two sides, a unit lacks a key, or an option is unknown.
        """
        sides = tuple(dict.fromkeys(unit.side for unit in position.units if unit.bases))
        if len(sides) != 2:
            raise BadInput("position", f"expected units of two sides, got {len(sides)}")
        known = dict(options)
        first, turns = known.pop("first", sides[0]), known.pop("turns", 0)
        chart = (known.pop("charts", None) or {}).get("test", {})
        if first not in sides:
            raise BadInput(
                "options", f"expected one of {', '.join(sides)}, got {first}", key="first"
            )
        if not isinstance(turns, int) or isinstance(turns, bool) or not 0 <= turns <= 100:
            raise BadInput("options", f"expected 0 to 100 turns, got {turns}", key="turns")
        for key, value in known.items():
            if value not in _OPTIONS.get(key, ()):
                expected = _OPTIONS.get(key, "first, turns, charts, " + ", ".join(_OPTIONS))
                raise BadInput("options", f"expected {expected}, got {value}", key=key)
        for unit in position.units:
            if unit.bases:
                troops_of(unit, position.table.inch_mm)
        order = (first, next(side for side in sides if side != first))
        edges = home_edges(order, tuple(unit for unit in position.units if unit.bases))
        rows = {row: None if value == "none" else value for row, value in chart.items()}
        state = State(position, order, {**known, "turns": turns}, edges, rows)
        for unit in position.units:
            if unit.bases:
                figures = unit.state.get("figures", unit.extra.get("figures"))
                state = state.changed(unit.id, figures=figures)
        return settled(entered(state, "fog"))[0]

    def asked(self, state: State) -> PendingDecision:
        """Returns what is due, or what the phase asks."""
        if state.phase == "over":
            return PendingDecision(outcome(state), is_over=True)
        if state.due:
            due = state.due[-1]
            roll = due.roll(state)
            decision = due.asked(state)
            return decision if roll is None and decision else PendingDecision(str(roll))
        question, hint = _QUESTIONS[state.phase]
        if state.allowed:
            question = "move what has its dice"
            may = (f"{name} up to {may.value_in:g} in" for name, may in state.allowed.items())
            hint = f"By hand: {', '.join(may)}."
        side = side_name(state.active)
        return PendingDecision(f"{side}: {question}", state.active, hint=hint)

    def legal(self, state: State) -> tuple[Any, ...]:
        """Lists the actions, the usual ones of moves."""
        if state.phase == "over":
            return ()
        if state.due:
            due = state.due[-1]
            roll = due.roll(state)
            return due.legal(state) if roll is None else (roll,)
        return (*OF_PHASE[state.phase](state), acts.Done())

    def apply(self, state: State, action: Any) -> tuple[State, Events]:
        """Returns the next state and the events.

        Raises:
            Refused: The action is not legal now.
        """
        if isinstance(action, acts.Overrule):
            after, events = _overruled(state, action)
        elif isinstance(action, Lay):
            for name, bases in action.units.items():
                if len(bases) != len(state.unit(name).bases):
                    raise Refused(f"expected the bases that {name} has", rule="S-0.3")
            return replace(state, position=with_bases(state.position, action.units)), ()
        elif state.phase == "over":
            raise Refused("expected nothing more: the battle is over")
        elif state.due:
            after, events = _answered(state, action)
        elif isinstance(action, acts.Done):
            after, events = next_phase(state)
        else:
            after, events = acted(state, action)
        after, more = settled(after)
        return after, (*events, *more)

    def settle(self, state: State, action: Any, chance: Random) -> Any:
        """Returns a roll with its dice."""
        return action.rolled(chance) if isinstance(action, Roll) else action

    def state_to_json(self, state: State) -> Json:
        """Returns the JSON value of a state."""
        document: Json = to_plain(state)
        return document

    def action_to_json(self, action: Any) -> Json:
        """Returns the JSON value of an action."""
        document: Json = to_plain(action)
        return document

    def state_from_json(self, data: object) -> State:
        """Parses a state."""
        state: State = from_plain(_STATES, data, "state")
        return state

    def action_from_json(self, data: object) -> Any:
        """Parses an action."""
        return from_plain(_ACTIONS, renamed(data, "for", "for_"), "action")

    def passed(self, state: State) -> Any | None:
        """Returns that a unit holds its fire, where response fire is asked for (S-C.1)."""
        responds = state.due and isinstance(state.due[-1], charges.ResponseFire)
        return acts.Decide(False) if responds else None

    def adopt_positions(self, state: State, position: Position) -> Any | None:
        """Returns where units really lie, as the steps Move and Fire begin.

        Ranges and ways are then measured from where hands have put the bases, not from ghosts.
        """
        left = super().adopt_positions(state, position)
        if left is not None or not _step_begins(state):
            return left
        seen = {unit.id: unit.bases for unit in position.units}
        there = {
            unit.id: seen[unit.id]
            for unit in state.position.units
            if unit.id in seen and seen[unit.id] != unit.bases and _lies_there(unit, seen[unit.id])
        }
        return Lay(there) if there else None

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Returns the way of a charge that waits for its answer."""
        due = state.due[-1] if state.due else None
        return due.shapes(state) if isinstance(due, charges.Answering) else ()

    def position(self, state: State) -> Position:
        """Returns the table according to the game."""
        return state.position

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state without the position, which stands beside it."""
        return {
            "sides": list(state.sides),
            "turn": state.turn,
            "active": state.active,
            "figures": {
                side: sum(
                    unit.state.get("figures", 0)
                    for unit in state.position.units
                    if unit.side == side
                )
                for side in state.sides
            },
            "position": None,
        }

    def detect_moves(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """Infers moves by hand: of units that have their dice, to contact, and forming up."""
        return tuple(_suggested(state, position))

    @property
    def action_groups(self) -> Mapping[str, about.ActionGroup]:
        """The headings of the actions."""
        return page.GROUPS

    @property
    def moments(self) -> Mapping[str, about.MomentKind]:
        """What players look for in a replay."""
        return page.MOMENTS

    offered = staticmethod(page.offered)
    standing = staticmethod(page.standing)
    markers = staticmethod(page.markers)
    settings = staticmethod(page.settings)
    begin_form = staticmethod(page.begin_form)

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation of a unit by how its bases lie (S-L)."""
        try:
            reading = troops_of(unit, 25.4).formation
        except BadInput:
            return None
        return None if reading == "none" else reading.replace("_", " ")


_QUESTIONS: Final = {
    "swap": ("which disordered units shall reform?", "A red marker takes the place of the orange."),
    "move": (
        "throw for a unit or a brigade, or end the moves",
        "Dice first, then the move.",
    ),
    "fire": ("fire, or end the fire", ""),
}


def _answered(state: State, action: Any) -> tuple[State, Events]:
    """Returns what follows from the answer to what is due."""
    due, below = state.due[-1], replace(state, due=state.due[:-1])
    roll = due.roll(state)
    if roll is not None:
        return due.follow(below, values_of(action, roll))
    if isinstance(due, charges.Pursuit) and isinstance(action, acts.Move):
        ruling = due.judge(state, action.bases)
        if action not in due.legal(state) and ruling.answer == "no":
            raise Refused(ruling.because, rule=ruling.rule)
        return due.follow(below, action)
    is_free = isinstance(action, acts.FormUp | acts.ShareLosses)
    kinds = tuple({type(one) for one in due.legal(state)})
    if not (is_free and isinstance(action, kinds)) and action not in due.legal(state):
        raise Refused(f"expected an answer to: {due.asked(state).question}")  # type: ignore[union-attr]
    return due.follow(below, action)


def _overruled(state: State, action: acts.Overrule) -> tuple[State, Events]:
    """Returns the state as players set it."""
    for name, bases in action.units.items():
        state = state.changed(name, bases=bases)
    for name, figures in action.figures.items():
        state = state.changed(name, figures=figures)
    for name, marker in action.marker.items():
        state = state.changed(name, disordered=marker == "orange", reforming=marker == "red")
    for name, status in action.status.items():
        state = state.changed(name, status=None if status == "steady" else status)
    for name in action.off:
        state = acts.destroyed(state, name, "by the players")[0]
    if action.active is not None:
        if action.active not in state.sides:
            raise Refused(f"expected one of {', '.join(state.sides)}", key="active")
        state = replace(state, half=state.sides.index(action.active))
    if action.turn is not None:
        state = replace(state, turn=action.turn)
    if action.phase is not None and action.phase != state.phase:
        state = entered(state, action.phase)
    words = [key for key, value in vars(action).items() if value and key not in ("type", "why")]
    text = f"Overruled: {', '.join(words)} {action.why}".strip()
    return state, (Event("overrule", text),)


def _lies_there(unit: Unit, bases: Bases) -> bool:
    """Whether a unit lies where the game has it, as well as hands put it (S-0.3)."""
    return has_same_bases(bases, unit.bases) and all(map(lies_there, bases, unit.bases))


def _step_begins(state: State) -> bool:
    """Whether Move or Fire begins: nobody has moved or fired, and nothing is due."""
    mark = {"move": "moved", "fire": "fired"}.get(state.phase)
    if mark is None or state.due or state.allowed or state.tried:
        return False
    units = state.position.units
    return not any(unit.state.get(mark) for unit in units if unit.side == state.active)


def _suggested(state: State, position: Position) -> Iterator[Suggestion]:
    """Yields a suggestion for each unit that does not lie where the game has it."""
    seen = {unit.id: unit.bases for unit in position.units}
    for unit in state.position.units:
        bases = seen.get(unit.id, ())
        if _lies_there(unit, bases):
            continue
        yield _suggestion(state, unit, bases)
    leaders = {leader.id: leader for leader in position.commanders}
    for leader in state.position.commanders:
        there = leaders.get(leader.id)
        if there is None or has_its_place(there, leader) or leader.id not in state.allowed:
            continue
        action = acts.MoveCommander(leader.id, there.x_mm, there.y_mm)
        ruling = marches.commander_moved(state, leader.id, there.x_mm, there.y_mm)[1]
        yield Suggestion(leader.id, ruling.because, action, ruling)


def _suggestion(state: State, unit: Unit, bases: Bases) -> Suggestion:
    due = state.due[-1] if state.due else None
    if not has_same_bases(bases, unit.bases):
        why = certain("no", "S-0.7", f"{unit.id} has {len(bases)} of {len(unit.bases)} bases")
        return Suggestion(unit.id, why.because, None, why)
    if isinstance(due, FormUpDue) and due.unit == unit.id:
        answer = due.judge(state, bases)
        return Suggestion(unit.id, answer.because, acts.FormUp(unit.id, bases), answer)
    if isinstance(due, charges.Pursuit) and due.charge.unit == unit.id and due.asked(state):
        answer = due.judge(state, bases)
        return Suggestion(unit.id, answer.because, acts.Move(unit.id, bases), answer)
    is_moving = state.phase == "move" and unit.side == state.active and due is None
    if is_moving and unit.id in state.allowed:
        return _move_suggested(state, unit, bases)
    if is_moving and marches.may_throw(state, unit):
        text = f"{unit.id} has moved before its dice were thrown"
        return Suggestion(unit.id, text, None, certain("no", "S-B.4", text))
    text = f"{unit.id} does not lie where the game has it"
    return Suggestion(unit.id, text, None, certain("no", "S-B.1", text))


def _move_suggested(state: State, unit: Unit, bases: Bases) -> Suggestion:
    allowance, moved = state.allowed[unit.id], replace(unit, bases=bases)
    front = axes_of(moved).edge
    for enemy in state.field.enemies(unit):
        if front.distance(state.field.outlines[enemy.id]) <= 5.0:
            answer = charges.judged_charge(state, unit, enemy, bases, allowance.value_in)[0]
            charge = acts.Charge(unit.id, enemy.id, bases)
            return Suggestion(unit.id, answer.because, charge, answer)
    answer = marches.judged(state, unit, bases, allowance).answer
    return Suggestion(unit.id, answer.because, acts.Move(unit.id, bases), answer)


GAME: Final = SevenYearsWar()
