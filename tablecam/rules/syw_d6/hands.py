"""Moves that players make by hand, judged by where the bases lie now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tablecam.geometry.moves.poses import has_same_bases
from tablecam.rules.game import Suggestion
from tablecam.rules.syw_d6 import charges, marches
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.field import axes_of
from tablecam.rules.syw_d6.reforming import FormUpDue
from tablecam.rules.syw_d6.state import Bases, State
from tablecam.table.model import Position, Unit
from tablecam.table.motion import has_its_place, lies_there
from tablecam.uncertainty.answer import certain


def suggested(state: State, position: Position) -> Iterator[Suggestion]:
    """Yields a suggestion for each unit that does not lie where the game has it."""
    seen = {unit.id: unit.bases for unit in position.units}
    for unit in state.position.units:
        bases = seen.get(unit.id, ())
        if has_same_bases(bases, unit.bases) and all(map(lies_there, bases, unit.bases)):
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
