"""Counters that hands have laid: the table as the game has it, moves by hand, overrules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from tablecam.rules.game import Ban, Suggestion
from tablecam.rules.hexes.counters import faces_of, place_of, seen_faces
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.hexes.hex_game import position_of
from tablecam.rules.hexes.stacks import Change, explain, seen_counters
from tablecam.rules.musket_saber import aftermath, moves, sequence
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.state import State
from tablecam.rules.musket_saber.troops import Unit
from tablecam.table.model import BasePose, Position
from tablecam.uncertainty.answer import Answer, certain

# Moves by hand.


def detect_moves(state: State, position: Position) -> tuple[Suggestion, ...]:
    """Infers the moves by hand; of stacks the game knows the content, the camera sees the tops."""
    if state.phase == "over" or (state.step is not None and state.step.roll(state) is not None):
        return ()
    return tuple(_suggested(state, position))


def _suggested(state: State, position: Position) -> Iterator[Suggestion]:
    seen = {n: at for n, at in seen_counters(position).items() if n in state.names}
    poses = {unit.id: unit.bases[0] for unit in position.units if unit.bases}
    for side in state.folio.scenario.sides:
        own = {n: at for n, at in seen.items() if state.side_of(n) == side}
        entering = [n for n in own if state.thing(n).hex is None]
        known = {n: at for n, at in own.items() if n not in entering}
        # Else taken off the table.
        stacks = {n: one for n, one in state.stacks(side).items() if any(map(position.unit, one))}
        explanations = explain(stacks, known, state.grid)
        # A new top counter is no action: the order of a stack has no meaning (K-G4).
        if any(all(change.kind == "reorder" for change in changes) for changes in explanations):
            explanations = ()
        for change in dict.fromkeys(chain.from_iterable(explanations)):
            if change.kind != "reorder":
                sure = all(change in changes for changes in explanations)
                yield _of_change(state, change, poses, position, is_sure=sure)
        for name in entering:
            change = Change("move", (name,), own[name])
            yield _of_change(state, change, poses, position, is_sure=True)
        for name, number in own.items():
            if state.thing(name).hex == number and (words := wrong_side(state, position, name)):
                yield Suggestion(name, words, None, certain("no", "K-G4", words))
    for commander in position.commanders:
        leader = next((leader for leader in state.leaders if leader.id == commander.id), None)
        there = state.grid.hex_at(commander.place_mm)
        if leader is not None and commander.seen != "held" and there not in (None, leader.hex):
            yield _suggestion(state, leader.id, there or "", None)


def wrong_side(state: State, position: Position, name: str) -> str:
    """Returns how the printed side that is seen disagrees with the game, nothing if it agrees."""
    unit, listed = state.thing(name), position.unit(name)
    seen = () if listed is None else seen_faces(listed)
    if not isinstance(unit, Unit) or listed is None or len(faces_of(listed)) < 2:
        return ""
    if not seen or any(face["side"] == unit.face for face in seen):
        return ""
    return f"{name} shows the wrong side of its counter: expected the {unit.face}"


def _of_change(
    state: State, change: Change, poses: Mapping[str, BasePose], position: Position, *,
    is_sure: bool,
) -> Suggestion:  # fmt: skip
    name = change.units[0]
    place = None
    if name in poses and poses[name].seen != "held":
        tolerance_mm = position.table.tolerance_mm
        place = place_of(state.grid, poses[name], has_facing=False, tolerance_mm=tolerance_mm)
    close = place is not None and place.answer == "too_close"
    doubt = (place.margin_mm, place.sigma_mm, place.probability) if place and close else None
    if not is_sure:
        doubt = (0.0, 0.0, 0.5)
    return _suggestion(state, name, change.hex, doubt)


def _suggestion(
    state: State, name: str, number: Hex, doubt: tuple[float, float, float] | None
) -> Suggestion:
    """Returns the action of a counter that lies in another hex, and whether it is legal."""
    text, thing = f"{name} to {number}", state.thing(name)
    action = _action(state, name, number)
    if action is None and thing.hex is None:
        why = f"{name} is off the map: its counter does not belong in {number}"
        return Suggestion(name, why, None, certain("no", _rule(state), why))
    if action is None:
        why, answer = f"{name} may not go to {number}", _refused(state, name, number)
        return Suggestion(name, why, None, answer, position_of(state))
    if isinstance(action, acts.Start):
        text = f"{name} rolls for its Movement Allowance before it moves"
        if thing.hex is not None:
            need = moves.judged(state, _move(state, action, number)).mp
            text += f": to {number} with " + (f"{need:g} or more" if need > 1 else "any die")
    if doubt is not None:
        text += ": too close to call"
        return Suggestion(name, text, action, Answer("too_close", *doubt, "K-G3", text))
    return Suggestion(name, text, action, certain("yes", _rule(state), text))


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
    ban = ban or Ban(_rule(state), "it is not asked to go there now")
    return certain("no", ban.rule, f"{ban.because} ({ban.rule})")
