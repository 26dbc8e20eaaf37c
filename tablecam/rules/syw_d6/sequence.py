"""The sequence: its steps, what the active side may do in each, and what follows (S-0.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tablecam.rules.game import Ban, Refused
from tablecam.rules.miniatures.battle import permitted
from tablecam.rules.syw_d6 import charges, marches, morale, tables, volleys
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.flights import ClearDie, flight_of
from tablecam.rules.syw_d6.fog_of_war import FogDie, RainDie
from tablecam.rules.syw_d6.state import PHASES, Due, State, Weather
from tablecam.table.model import Unit
from tablecam.table.sides import side_name

_TURN_MARKS: Final = ("casualties_this_turn", "casualties_from", "tested_this_turn", "contacted_on")
_SEQUENCE_MARKS: Final = (
    "moved", "fired", "evaded", "slowed", "inspired", "fires_twice", "relocates_in",
)  # fmt: skip
_STEPS: Final[Mapping[acts.Phase, str]] = {
    "move": "Move", "fire": "Fire", "melee": "Melee and moral"
}  # fmt: skip


def _flights_due(state: State) -> State:
    """Returns the state with the next forced move due, if there is one (S-A.1)."""
    return state.with_next(
        (unit.id, flight_of(unit))
        for unit in state.field.of_side(state.active)
        if unit.state.get("status") and not unit.state.get("reforming")
    )


def _clearing_due(state: State) -> State:
    """Returns the state with the next throw to clear due, if there is one (S-A.3)."""
    own = state.field.of_side(state.active)
    return state.with_next(
        (f"clear {unit.id}", ClearDie(unit.id)) for unit in own if unit.state.get("reforming")
    )


def _melee_due(state: State) -> State:
    """Returns the state with the next melee due, if there is one (S-F)."""
    return state.with_next(
        (f"melee {' '.join(fight.units)}", morale.MeleeDice(fight)) for fight in state.fights
    )


AUTOMATIC: Final[Mapping[str, Callable[[State], State]]] = {
    "fog": lambda state: state,
    "flights": _flights_due,
    "clear": _clearing_due,
    "melee": _melee_due,
    "moral": morale.moral_due,
}


def next_phase(state: State) -> State:
    """Returns the state in the next phase, sequence or turn."""
    if state.phase != "moral":
        phase = PHASES[PHASES.index(state.phase) + 1]
        step = _STEPS.get(phase)
        state = entered(state, phase)
        return state if step is None else state.tells("phase", step)
    # The sequence ends; after the second one, so does the turn.
    rained = [one.side for one in state.in_force if one == Weather("heavy_rain", one.side)]
    in_force = tuple(
        replace(one, sequences=one.sequences - 1) for one in state.in_force if one.sequences > 1
    )
    ends_turn = state.half == 1
    marks = (*_SEQUENCE_MARKS, *(_TURN_MARKS if ends_turn else ()))
    names = [unit.id for unit in state.position.units]
    state = state.all_changed(names, **dict.fromkeys(marks))
    state = replace(state, half=1 - state.half, in_force=in_force)
    if ends_turn:
        state = replace(state, turn=state.turn + 1, calamities=())
        if state.options.get("alternate_first"):
            state = replace(state, sides=(state.sides[1], state.sides[0]))
    last = int(state.options.get("turns", 0))
    if last and state.turn > last:
        state = replace(state, phase="over", turn=last)
        return state.tells("over", f"The battle is over after {last} turns", "S-0.9")
    state = entered(state, "fog")
    if state.active in rained:
        state = state.pushed(RainDie(state.active))
    text = f"Turn {state.turn}: {side_name(state.active)}"
    return state.tells("phase" if state.half else "turn", text, "S-0.9")


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


def _swaps(state: State) -> Iterator[acts.Reform]:
    """Yields the units that may change orange for red (S-A.6)."""
    for unit in state.field.of_side(state.active):
        marks = unit.state
        if marks.get("disordered") and not (marks.get("reforming") or marks.get("melee_with")):
            yield acts.Reform(unit.id)


def _moves(state: State) -> Iterator[Any]:
    """Yields what the active side may do in its Move step (S-B); what is under way comes first."""
    ground = state.field
    own = ground.of_side(state.active)
    leaders = [leader for leader in state.position.commanders if leader.side == state.active]
    for unit in own:
        if unit.id in state.allowed:
            yield from marches.usual_moves(state, unit)
            value_in = state.allowed[unit.id].value_in
            for enemy in ground.enemies(unit):
                for charge in charges.ways(state, unit, enemy, value_in):
                    yield acts.Charge(unit.id, enemy.id, charge.bases)
    for leader in leaders:
        if leader.id in state.allowed:
            yield acts.MoveCommander(leader.id, leader.x_mm, leader.y_mm)
    if state.allowed:
        return
    for brigade in dict.fromkeys(unit.extra.get("brigade") for unit in own):
        if brigade and marches.brigade_of(state, brigade)[1] is not None:
            yield acts.ThrowTogether(brigade)
    able = [unit.id for unit in own if marches.ban_on_throwing(state, unit) is None]
    yield from (acts.Throw(name) for name in able if marches.dice_of(state, name).dice)
    yield from (acts.Throw(leader.id) for leader in leaders if leader.id not in state.tried)
    yield from map(acts.ChangeFormation, able)
    yield from map(acts.RetreatByChoice, able)


CHOICES: Final[Mapping[str, Callable[[State], Iterable[Any]]]] = {
    "swap": _swaps,
    "move": _moves,
    "fire": volleys.shots,
}


def _thrown(state: State, action: acts.Throw) -> State:
    unit = state.position.unit(action.unit)
    if unit is None:
        leaders = {leader.id for leader in state.position.commanders if leader.side == state.active}
        if action.unit not in leaders or action.unit in (*state.tried, *state.allowed):
            raise Refused(f"expected a commander who may move, got {action.unit}", rule="S-K.5")
    elif ban := marches.ban_on_throwing(state, unit):
        raise ban.refused(action.unit)
    dice = marches.dice_of(state, action.unit)
    if dice.dice == 0:
        raise Refused(f"{action.unit} does not march", rule="S-B.3")
    return state.pushed(marches.MoveDie((action.unit,), dice))


def _thrown_together(state: State, action: acts.ThrowTogether) -> State:
    names, dice = marches.brigade_of(state, action.brigade)
    if dice is None:
        raise Refused(f"brigade {action.brigade} cannot move as one", rule="S-B.7")
    return state.pushed(marches.MoveDie(names, dice))


def _moved(state: State, action: acts.Move) -> State:
    unit = state.unit(action.unit)
    way = marches.judged(state, unit, action.bases, _allowance(state, unit))
    permitted(way.answer)
    after = marches.spent(marches.moved_to(state, unit, action.bases, way), unit.id)
    return after.pushed(*charges.responses(after, unit.id, way.swept))


def _charged(state: State, action: acts.Charge) -> State:
    unit, target = state.unit(action.unit), state.unit(action.target)
    value_in = _allowance(state, unit).value_in
    ruling, charge = charges.judged_charge(state, unit, target, action.bases, value_in)
    if charge is None:
        raise Refused(ruling.because, rule=ruling.rule)
    return charges.declared(marches.spent(state, unit.id), charge)


def _allowance(state: State, unit: Unit) -> acts.Allowance:
    if unit.id not in state.allowed:
        raise Refused(f"{unit.id} throws its dice first", rule="S-B.4")
    return state.allowed[unit.id]


def _stayed(state: State, action: acts.StayPut) -> State:
    _allowance(state, state.unit(action.unit))
    if action not in tuple(marches.usual_moves(state, state.unit(action.unit))):
        raise Refused(f"{action.unit} must use its dice", rule="S-B.6")
    state = marches.spent(state.changed(action.unit, moved=True), action.unit)
    return state.tells("move", f"{action.unit} stays", "S-B.6", unit=action.unit)


def _commander(state: State, action: acts.MoveCommander) -> State:
    state, ruling = marches.commander_moved(state, action.commander, action.x_mm, action.y_mm)
    because, rule = permitted(ruling).because, ruling.rule
    return state.tells("move", because, rule, commander=action.commander)


def _reformed(state: State, action: acts.Reform) -> State:
    if action not in tuple(_swaps(state)):
        raise Refused(f"{action.unit} has no orange marker to swap", rule="S-A.6")
    state = state.changed(action.unit, reforming=True, disordered=None)
    return state.tells("form", f"{action.unit} reforms", "S-A.6", unit=action.unit)


def _changes_formation(state: State, action: acts.ChangeFormation) -> State:
    if ban := marches.ban_on_throwing(state, state.unit(action.unit)):
        raise ban.refused(action.unit)
    state = state.changed(action.unit, reforming=True, disordered=None, moved=True, changing=True)
    return state.tells("form", f"{action.unit} changes formation", "S-B.5", unit=action.unit)


def _retreats(state: State, action: acts.RetreatByChoice) -> State:
    name = action.unit
    if ban := marches.ban_on_throwing(state, state.unit(name)):
        raise ban.refused(action.unit)
    state = acts.with_losses(state, name, tables.RETREAT_FIGURES)
    if state.has(name):
        ground, unit = state.field, state.unit(name)
        enemy = min(ground.enemies(unit), key=lambda other: ground.apart_in(unit, other))
        state = state.changed(name, flees_from=enemy.id, moved=True)
        state = state.pushed(morale.TestDie(name, "melee"), FleeNow(name))
    return state


class FleeNow(Due):
    """A retreat by choice is made at once, after its TEST (S-B.10)."""

    unit: str

    def then(self, state: State, answer: None) -> State:
        """Returns the state with the flight due."""
        return state.pushed(flight_of(state.unit(self.unit)))


def _fired(state: State, action: acts.Fire) -> State:
    firer, target = state.unit(action.unit), state.unit(action.target)
    if ban := state.field.aim(firer, target)[1]:
        raise ban.refused(firer.id)
    return state.pushed(volleys.FireDice(firer.id, target.id))


WHY_NOT: Final[Mapping[str, Mapping[str, Callable[[State, str], Ban | None]]]] = {
    "move": {"move": marches.ban_on_moving, "charge": charges.ban_on_charging},
    "fire": {"fire": volleys.ban_on_shots},
}
HANDLERS: Final[Mapping[tuple[str, type], Any]] = {
    ("swap", acts.Reform): _reformed,
    ("move", acts.Throw): _thrown,
    ("move", acts.ThrowTogether): _thrown_together,
    ("move", acts.Move): _moved,
    ("move", acts.MoveCommander): _commander,
    ("move", acts.Charge): _charged,
    ("move", acts.StayPut): _stayed,
    ("move", acts.ChangeFormation): _changes_formation,
    ("move", acts.RetreatByChoice): _retreats,
    ("fire", acts.Fire): _fired,
}
