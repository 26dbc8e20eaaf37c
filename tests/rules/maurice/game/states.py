"""States of a game for tests, in the middle of a round, and actions on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.game import Event
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Action, Charge, Fire, March
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import RollingCombat
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Command, Deck, Round, Side, State, Step
from tablecam.table.model import Position, Terrain, Unit
from tests.rules.maurice.tables import FAR, position


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


def laid(
    step: Step, *units: Unit, terrain: Sequence[Terrain] = (), commanders: Any = (), **more: Any
) -> State:
    """A game with these units on its table and `step` due."""
    return state_at(position(*units, terrain=terrain, commanders=commanders), step, **more)


def marching(*units: Unit, **more: Any) -> State:
    """All french units activated to march, an enemy far away."""
    return laid(Marching(_french(units)), *units, FAR, command="march", **more)


def charging(*units: Unit, **more: Any) -> State:
    """All french units activated to charge; nobody has cards."""
    return laid(Charging(_french(units)), *units, command="charge", **{"hand": 0, **more})


def combat(*units: Unit, engaged: str, **more: Any) -> State:
    """All charges made, the dice of the engaged units due; nobody has cards."""
    step = RollingCombat(tuple(engaged.split()))
    return laid(step, *units, command="charge", hand=0, **more)


def _french(units: Sequence[Unit]) -> tuple[str, ...]:
    return tuple(unit.id for unit in units if unit.side == "french")


def march(unit: Unit) -> March:
    """A march to the unit's place."""
    return March(unit.id, unit.bases)


def charge(unit: Unit, target: str) -> Charge:
    """A charge that ends at the unit's place."""
    return Charge(unit.id, target, unit.bases)


def fire(unit: str, target: str, *places: int) -> Fire:
    """Fire of bases at one target: of all four unless some are given."""
    return Fire(unit, {f"{unit}/{place}": target for place in places or (1, 2, 3, 4)})


def after(state: State, *actions: Action) -> tuple[State, tuple[Event, ...]]:
    """Returns the state after some actions in turn, and all events."""
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
    """Returns a unit's disruption; None if it has left the table."""
    found = state.position.unit(unit)
    return None if found is None else int(found.state.get("disruption", 0))


def kinds(events: Sequence[Event]) -> list[str]:
    """Returns the kinds of events, in order."""
    return [event.kind for event in events]


def scores(events: Sequence[Event]) -> dict[str, int]:
    """Returns each unit's score in a combat."""
    return {each.facts["unit"]: each.facts["score"] for each in events if each.kind == "score"}
