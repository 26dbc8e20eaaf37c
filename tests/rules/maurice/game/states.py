"""States of a game for tests, in the middle of a round, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.game import Event
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Action
from tablecam.rules.maurice.game.state import Command, Deck, Round, Side, State, Step
from tablecam.table.model import Position


def state_at(
    position: Position,
    step: Step,
    *,
    active: str = "french",
    command: Command | None = None,
    morale: int = 5,
    hand: int = 6,
    **of_round: Any,
) -> State:
    """A game of the french against the british with `step` due in the active side's round."""
    sides = (Side("french", morale, hand), Side("british", morale, hand))
    begun = replace(Round(1, active, position), command=command, **of_round)
    return State(position, sides, Deck(left=40, discarded=0), begun, step)


def after(state: State, *actions: Action) -> tuple[State, tuple[Event, ...]]:
    """What follows from actions one after the other, and all that happened."""
    told: list[Event] = []
    for action in actions:
        state, events = GAME.apply(state, action)
        told += events
    return state, tuple(told)


def dice(state: State, *values: int) -> Roll:
    """The roll that is due, with these dice."""
    (due,) = GAME.legal(state)
    assert isinstance(due, Roll)
    return replace(due, values=values)


def level(state: State, unit: str) -> int | None:
    """A unit's disruption; None when it has left the table."""
    found = state.position.unit(unit)
    return None if found is None else int(found.state.get("disruption", 0))


def kinds(events: Sequence[Event]) -> list[str]:
    """What kinds of things happened, in their order."""
    return [event.kind for event in events]
