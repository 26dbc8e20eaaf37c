"""What a hand seems to have done, going by where bases and commanders lie now."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tablecam.measure.answer import Answer
from tablecam.rules.game import Refused, Suggestion
from tablecam.rules.maurice.game import round as rounds
from tablecam.rules.maurice.game.actions import Action, Charge, March, PlaceCommander
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.steps import Charging, Displacing, Marching, MovingCommander
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Commander, Position, Unit

MOVED_MM, TURNED_DEG = 1.0, 1.0
"""Less than this is no move: a camera sees bases at rest a good deal steadier."""


def suggestions(state: State, position: Position) -> tuple[Suggestion, ...]:
    """A suggestion for each unit and commander that does not lie where the game has it.

    Raises:
        BadInput: What lies on the table now cannot lie so.
    """
    return (*_of_units(state, position), *_of_commanders(state, position))


def _of_units(state: State, position: Position) -> Iterator[Suggestion]:
    for unit in state.position.units:
        seen = position.unit(unit.id)
        if seen is None or len(seen.bases) != len(unit.bases):
            lie = 0 if seen is None else len(seen.bases)
            why = f"{lie} of {unit.id}'s {len(unit.bases)} bases are on the table"
            yield Suggestion(unit.id, f"{unit.id} is not whole", None, _no("M-1.6", why))
        elif _has_moved(unit, seen):
            yield _move(state, unit, seen)


def _of_commanders(state: State, position: Position) -> Iterator[Suggestion]:
    lie = {leader.id: leader for leader in position.commanders}
    for leader in state.position.commanders:
        seen = lie.get(leader.id)
        if seen is None or math.dist(_place(leader), _place(seen)) <= MOVED_MM:
            continue
        action = PlaceCommander(leader.side, seen.x_mm, seen.y_mm)
        may_be = isinstance(state.step, MovingCommander | Displacing)
        yield _judged(state, leader.id, [action] if may_be else [], f"{leader.id} is moved")


def _move(state: State, unit: Unit, seen: Unit) -> Suggestion:
    """The march or the charge that a unit has made, if it is one."""
    bases = seen.bases
    tried: list[Action] = []
    if isinstance(state.step, Charging):
        tried = [
            Charge(unit.id, enemy.id, bases)
            for enemy in state.position.units
            if enemy.side != unit.side
        ]
    if isinstance(state.step, Charging | Marching):
        tried.append(March(unit.id, bases))
    return _judged(state, unit.id, tried, f"{unit.id} is moved")


def _judged(state: State, name: str, tried: list[Action], text: str) -> Suggestion:
    """The first of some actions that is legal, else the last with why it is not."""
    refusal = _no("M-4.2", f"nothing is to be moved now: {rounds.asked(state).question}")
    action: Action | None = None
    for action in tried:
        try:
            _, events = rounds.apply(state, action)
        except Refused as refused:
            refusal = _no(refused.rule or "M-6.1", refused.message)
        else:
            said = next((event.text for event in events), text)
            return Suggestion(name, said, action, Answer("yes", 0.0, 0.0, 1.0, "M-6.1", said))
    return Suggestion(name, text, action, refusal)


def _has_moved(unit: Unit, seen: Unit) -> bool:
    return any(map(_is_elsewhere, unit.bases, seen.bases))


def _is_elsewhere(base: BasePose, seen: BasePose) -> bool:
    far_mm = math.hypot(seen.x_mm - base.x_mm, seen.y_mm - base.y_mm)
    return far_mm > MOVED_MM or abs(difference_deg(seen.heading_deg, base.heading_deg)) > TURNED_DEG


def _place(leader: Commander) -> tuple[float, float]:
    return leader.x_mm, leader.y_mm


def _no(rule: str, because: str) -> Answer:
    return Answer("no", 0.0, 0.0, 0.0, rule, because)
