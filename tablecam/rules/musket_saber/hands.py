"""Counters that hands have laid: the table as the game has it, moves by hand, overrules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tablecam.rules.game import Ban, Suggestion
from tablecam.rules.hexes.counters import faces_of, laid, place_finding, seen_faces
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.hexes.hex_game import position_of
from tablecam.rules.hexes.stacks import seen_counters
from tablecam.rules.lay import Lay
from tablecam.rules.musket_saber import aftermath, battle, moves, sequence
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.state import State
from tablecam.rules.musket_saber.troops import Leader, Post, Unit
from tablecam.table.model import Position
from tablecam.uncertainty.answer import Answer, certain
from tablecam.wording import joined

Thing = Unit | Leader | Post
_CHARGE: Final = "It may charge from there: a charge is announced with its move (K-7.13c, K-9.3)"
_LEADER: Final = "A leader enters an enemy zone of control only along with a unit (K-10.1)"


# Moves by hand.


def detect_moves(state: State, position: Position) -> tuple[Suggestion, ...]:
    """Infers the moves by hand; of stacks the game knows the content, the camera sees the tops."""
    if state.phase == "over" or (state.step is not None and state.step.roll(state) is not None):
        return ()
    return tuple(_suggested(state, position))


def _suggested(state: State, position: Position) -> Iterator[Suggestion]:
    """Yields one suggestion for each counter that is elsewhere, on its wrong side, or hidden.

    The order of a stack has no meaning: each of its counters may be the one that is seen (K-G4).
    """
    seen = seen_counters(position)
    leaders = ((n.id, state.grid.hex_at(n.place_mm), n.seen) for n in position.commanders)
    seen |= {name: number for name, number, how in leaders if number and how != "held"}
    seen = {name: number for name, number in seen.items() if name in state.names}
    for name, number in seen.items():
        if state.thing(name).hex != number:
            yield _suggestion(state, position, name, number)
        elif words := wrong_side(state, position, name):
            yield Suggestion(name, words, None, certain("no", "K-G4", words))
    for thing in state.counters:
        is_hidden = thing.id not in seen and thing.hex not in (None, *seen.values())
        # One that is not listed was taken off the table.
        if is_hidden and position.unit(thing.id) and not _is_said_to_lie(state, thing):
            yield _asked(state, thing, seen)


def _is_said_to_lie(state: State, thing: Unit | Post) -> bool:
    """Whether players have said that a counter that is not seen lies where the game has it."""
    lies = state.lies.get(thing.id)
    if lies is None or lies.seen != "held":
        return False
    return state.grid.hex_at(lies.place_mm) == thing.hex


def _asked(state: State, thing: Unit | Post, seen: Mapping[str, Hex]) -> Suggestion:
    """Returns what players are asked about a counter when nothing is seen in its hex (K-G4).

    It may lie under any friend that it may join, or under something that is no counter.
    """
    name = thing.id
    friends = {number for other, number in seen.items() if state.side_of(other) == thing.side}
    joins = ((_action(state, name, number), number) for number in sorted(friends))
    there = laid(state.grid, (thing.hex or "",), 0, tag=None)
    choices: dict[str, object] = {
        f"It lies in {thing.hex}": Lay({name: (replace(there, seen="held"),)})
    }
    for action, number in joins:
        if action is not None and action not in choices.values():
            rolls = isinstance(action, acts.Start)
            choices["It rolls to move" if rolls else f"It goes to {number}"] = action
    text = f"{name} is not seen any more: where is it?"
    why = "Lay it on top for a moment, or say where it lies."
    answer = Answer("too_close", 0.0, 0.0, 0.5, "K-G4", why)
    return Suggestion(name, text, None, answer, choices=tuple(choices.items()))


def wrong_side(state: State, position: Position, name: str) -> str:
    """Returns how the printed side that is seen disagrees with the game, nothing if it agrees."""
    unit, listed = state.thing(name), position.unit(name)
    seen = () if listed is None else seen_faces(listed)
    if not isinstance(unit, Unit) or listed is None or len(faces_of(listed)) < 2:
        return ""
    if not seen or any(face["side"] == unit.face for face in seen):
        return ""
    return f"{name} shows the wrong side of its counter: expected the {unit.face}"


def _suggestion(state: State, position: Position, name: str, number: Hex) -> Suggestion:
    """Returns the action of a counter that lies in another hex, and whether it is legal."""
    text, thing = f"{name} to {number}", state.thing(name)
    action = _action(state, name, number)
    if action is None and thing.hex is None:
        why = f"{name} is off the map: its counter does not belong in {number}"
        return Suggestion(name, why, None, certain("no", _rule(state), why))
    if led := _led(state, thing, number) if action is None else {}:
        answer = certain("yes", "K-10.1", _refused(state, name, number).because)
        return Suggestion(name, f"{text} with a unit", None, answer, choices=tuple(led.items()))
    if action is None:
        why, answer = f"{name} may not go to {number}", _refused(state, name, number)
        return Suggestion(name, why, None, answer, position_of(state))
    if isinstance(action, acts.Start):
        text = f"{name} rolls for its Movement Allowance before it moves"
        if thing.hex is not None:
            need = moves.judged(state, _move(state, action, number)).mp
            text += f": to {number} with " + (f"{need:g} or more" if need > 1 else "any die")
    answer = certain("yes", _rule(state), text)
    if unit := position.unit(name):
        place = place_finding(position, unit, "K-G3", has_facing=False)[1].answer
        if place is not None and place.answer == "too_close":
            text += ": too close to call"
            answer = replace(place, because=text, evidence=())
    charges, led = _charges(state, name, number), _leading(state, action)
    if charges or led:
        answer = replace(answer, because=_CHARGE if charges else _LEADER)
        along = "does it charge" if charges else f"does {joined(led, 'or')} go along"
        choices = {"Only move" if charges else f"Only {name}": action, **charges}
        choices |= {f"{leader} goes along": move for leader, move in led.items()}
        text += f": {along}?"
        return Suggestion(name, text, None, answer, choices=tuple(choices.items()))
    return Suggestion(name, text, action, answer)


def _leading(state: State, action: object) -> dict[str, object]:
    """Returns a unit's moves with a leader of its hex who may not follow it alone, by leader."""
    if not isinstance(action, acts.Move) or action.charge or len(action.units) > 1:
        return {}
    unit, step = state.thing(action.units[0]), state.step
    if not isinstance(unit, Unit) or action.path[-1] not in state.field.enemy_zone(unit.side):
        return {}
    most = step.mp if isinstance(step, moves.Go) else None
    leaders = state.field.leaders_at(unit.hex, unit.side) if unit.hex else ()
    ways = {leader.id: replace(action, units=(unit.id, leader.id)) for leader in leaders}
    return {
        name: move for name, move in ways.items() if moves.judged(state, move, most).ban is None
    }


def _led(state: State, leader: Thing, number: Hex) -> dict[str, object]:
    """Returns the moves of units of a leader's hex that take him along, by what they are called."""
    if not isinstance(leader, Leader) or state.phase != "movement" or leader.moved:
        return {}
    moves_with: dict[str, object] = {}
    for unit in state.field.units_at(leader.hex):
        step, start = state.step, acts.Start(unit.id)
        if step is None and (moves.ban_on_start(state, start) or moves.must_roll(state, unit)):
            continue
        if step is not None and not (isinstance(step, moves.Go) and step.unit == unit.id):
            continue
        most = None if step is None else step.mp
        move = replace(_move(state, start, number), units=(unit.id, leader.id))
        if moves.judged(state, move, most).ban is None:
            moves_with[f"{unit.id} goes with him"] = move
    return moves_with


def _charges(state: State, name: str, number: Hex) -> dict[str, object]:
    """Returns the charges that a counter may begin from a hex, by what they are called."""
    if state.phase != "movement":
        return {}
    legal = moves.charges(state) if state.step is None else state.step.legal(state)
    charges: dict[str, object] = {}
    for move in legal:
        if not isinstance(move, acts.Move) or not move.charge:
            continue
        if move.units[0] == name and move.path[-1] == number:
            others = f" with {joined(move.units[1:])}" if move.units[1:] else ""
            charges[f"Move and charge {battle.whom(state, move.charge)}{others}"] = move
    return charges


def _rule(state: State) -> str:
    step = state.step
    rules = {aftermath.Flee: "K-7.9a", aftermath.Victors: "K-7.12", aftermath.Onward: "K-9.3"}
    return rules.get(type(step), "K-4.2")


def _action(state: State, name: str, number: Hex) -> Any | None:
    """Returns the legal action that brings a counter to a hex, a plain move before a march."""
    if state.step is not None:
        for answer in state.step.legal(state):
            units = getattr(answer, "units", (getattr(answer, "unit", None),))
            path = getattr(answer, "path", ()) or (getattr(answer, "to", None),)
            if units[:1] == (name,) and path[-1] == number:
                return answer
        return None
    if state.phase != "movement":
        return None
    place = acts.Place(name, number)
    if sequence.ban_on_place(state, place) is None:
        return place
    thing = state.thing(name)
    for start in (acts.Start(name), acts.Start(name, march=True)):
        move = _move(state, start, number)
        if moves.ban_on_start(state, start) is None and moves.judged(state, move).ban is None:
            return start if isinstance(thing, Unit) and moves.must_roll(state, thing) else move
    return None


def _move(state: State, start: acts.Start, number: Hex) -> acts.Move:
    """Returns the cheapest move to a hex; where none leads there, one that its last step bars."""
    ways = moves.reached(state, start.unit, math.inf, march=start.march)
    near = ((*ways[beside], number) for beside in state.grid.neighbours(number) if beside in ways)
    return acts.Move((start.unit,), ways.get(number) or next(near, (number,)), start.march)


def _refused(state: State, name: str, number: Hex) -> Answer:
    """Returns why no action brings a counter on the map to a hex."""
    step, start, ban = state.step, acts.Start(name), None
    if isinstance(step, moves.Go) and step.unit == name:
        move = _move(state, acts.Start(name, step.march), number)
        ban = moves.judged(state, move, step.mp).ban
    elif step is None and state.phase == "movement":
        ban = moves.ban_on_start(state, start)
        ban = ban or moves.judged(state, _move(state, start, number)).ban
    ban = ban or Ban(_rule(state), "it is not asked to move now")
    return certain("no", ban.rule, f"{ban.because} ({ban.rule})")
