"""The sequence of a turn: its phases, what they bring by themselves, and its end (S-0.10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from tablecam.rules.game import Event
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6 import trials
from tablecam.rules.syw_d6.flights import FlightDie
from tablecam.rules.syw_d6.fog_of_war import FogDie, RainDie
from tablecam.rules.syw_d6.orders import OF_PHASE
from tablecam.rules.syw_d6.reforming import ClearDie
from tablecam.rules.syw_d6.state import PHASES, Events, State
from tablecam.table.sides import side_name

_TURN_MARKS: Final = ("casualties_this_turn", "casualties_from", "tested_this_turn", "contacted_on")


_SEQUENCE_MARKS: Final = (
    "moved",
    "fired",
    "evaded",
    "slowed",
    "inspired",
    "fires_twice",
    "relocates_in",
)


_STEPS: Final[Mapping[acts.Phase, str]] = {
    "move": "Move", "fire": "Fire", "melee": "Melee and moral"
}  # fmt: skip


def _flights_due(state: State) -> State:
    """Returns the state with the next forced move due, if there is one (S-A.1)."""
    for unit in state.position.units:
        status = unit.state.get("status")
        is_due = status and not unit.state.get("reforming") and unit.id not in state.tried
        if unit.side == state.active and is_due:
            kind = "routs" if status == "routing" else "retreats"
            enemy = str(unit.state.get("flees_from", ""))
            state = replace(state, tried=(*state.tried, unit.id))
            return state.pushed(FlightDie(unit.id, kind, enemy))  # type: ignore[arg-type]
    return state


def _clearing_due(state: State) -> State:
    """Returns the state with the next throw to clear due, if there is one (S-A.3)."""
    for unit in state.position.units:
        is_due = unit.state.get("reforming") and f"clear {unit.id}" not in state.tried
        if unit.side == state.active and is_due:
            state = replace(state, tried=(*state.tried, f"clear {unit.id}"))
            return state.pushed(ClearDie(unit.id))
    return state


def _melee_due(state: State) -> State:
    """Returns the state with the next melee due, if there is one (S-F)."""
    for fight in state.fights:
        key = f"melee {' '.join(fight.units)}"
        if key not in state.tried:
            state = replace(state, tried=(*state.tried, key))
            return state.pushed(trials.MeleeDice(fight))
    return state


_AUTOMATIC: Final[Mapping[str, Callable[[State], State]]] = {
    "fog": lambda state: state,
    "flights": _flights_due,
    "clear": _clearing_due,
    "melee": _melee_due,
    "moral": lambda state: trials.moral_due(state)[0],
}


def settled(state: State) -> tuple[State, Events]:
    """Returns the state at the next decision or dice, with all that happens until then."""
    events: Events = ()
    while state.phase != "over":
        if _is_decided(state):
            after = replace(state, phase="over", due=())
            return after, (*events, Event("over", outcome(after), "S-0.9"))
        if state.due:
            due = state.due[-1]
            if due.roll(state) is not None or due.asked(state) is not None:
                return state, events
            state, more = due.follow(replace(state, due=state.due[:-1]), None)
            events += more
            continue
        if state.phase in _AUTOMATIC:
            before, state = state, _AUTOMATIC[state.phase](state)
            if state.due or state.calamities != before.calamities:
                continue
        elif any(not isinstance(action, acts.Done) for action in OF_PHASE[state.phase](state)):
            return state, events
        state, more = next_phase(state)
        events += more
    return state, events


def next_phase(state: State) -> tuple[State, Events]:
    """Returns the state in the next phase, sequence or turn."""
    if state.phase != "moral":
        phase = PHASES[PHASES.index(state.phase) + 1]
        step = _STEPS.get(phase)
        return entered(state, phase), () if step is None else (Event("phase", step),)
    in_force = tuple(
        replace(one, sequences=one.sequences - 1) for one in state.in_force if one.sequences > 1
    )
    rained = [
        one.side for one in state.in_force if one.event == "heavy_rain" and one.sequences == 1
    ]
    marks = _SEQUENCE_MARKS if state.half == 0 else (*_SEQUENCE_MARKS, *_TURN_MARKS)
    for unit in state.position.units:
        state = state.changed(unit.id, **dict.fromkeys(marks))
    turn, calamities = state.turn, state.calamities
    if state.half == 1:
        turn, calamities = turn + 1, ()
        if state.options.get("alternate_first"):
            state = replace(state, sides=(state.sides[1], state.sides[0]))
    state = replace(state, half=1 - state.half, turn=turn, calamities=calamities, in_force=in_force)
    side = side_name(state.active)
    last = int(state.options.get("turns", 0))
    if last and turn > last:
        state = replace(state, phase="over", turn=turn - 1)
        return state, (Event("over", outcome(state), "S-0.9"),)
    state = entered(state, "fog")
    if state.active in rained:
        state = state.pushed(RainDie(state.active))
    kind = "turn" if state.half == 0 else "phase"
    return state, (Event(kind, f"Turn {turn}: {side}", "S-0.9"),)


def entered(state: State, phase: acts.Phase) -> State:
    """Returns the state at the beginning of a phase."""
    state = replace(state, phase=phase, tried=(), allowed={}, due=())
    if phase == "fog" and state.options.get("fog", True):
        return state.pushed(FogDie())
    if phase == "move":
        guns = {unit.id: unit.state.get("relocates_in") for unit in state.position.units}
        allowed = {name: acts.Allowance(inches) for name, inches in guns.items() if inches}
        return replace(state, allowed=allowed)
    return state


def _is_decided(state: State) -> bool:
    return len({unit.side for unit in state.position.units}) < 2


def outcome(state: State) -> str:
    """Returns how a battle has ended."""
    left = list(dict.fromkeys(unit.side for unit in state.position.units))
    if len(left) == 1:
        return f"{side_name(left[0])} hold the field"
    return f"The battle is over after {state.turn} turns" if left else "Nobody holds the field"
