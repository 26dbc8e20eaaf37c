"""Nim: a die says how many counters there are; whoever takes the last of them wins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pydantic import TypeAdapter

from tablecam.errors import BadInput
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.frozen_json import Variant, from_plain, one_of, renamed, to_plain
from tablecam.rules.game import Event, Game, Offer, PendingDecision, Refused
from tablecam.table.model import Position, TableSize

SIDES: Final = ("left", "right")
DUE: Final = Roll("counters", 1)


class Take(Variant):
    """The side whose turn it is takes one counter or two."""

    count: int


@dataclass(frozen=True, slots=True)
class State:
    """How many counters are left (None: not rolled yet), and whose turn it is."""

    left: int | None = None
    turn: int = 0


_ACTIONS: Final = one_of(Roll, Take)
_STATES: Final = TypeAdapter(State)


class Nim(Game[State, Roll | Take]):
    """A whole rule system, on a table without any units."""

    name: Final = "nim"
    state_to_json = action_to_json = seen_by = staticmethod(
        lambda value, seat=None: to_plain(value)
    )

    def begin(self, position, options):
        if position.units or options:
            raise BadInput("position", "expected no units, and no options")
        return State()

    def asked(self, state):
        if state.left is None:
            return PendingDecision("a die for the counters")
        side, other = SIDES[state.turn], SIDES[1 - state.turn]
        if state.left == 0:
            return PendingDecision(f"{other} has won", is_over=True)
        return PendingDecision("Take?", side)

    def legal(self, state):
        return (DUE,) if state.left is None else tuple(Take(n) for n in (1, 2) if n <= state.left)

    def apply(self, state, action):
        if state.left is None and isinstance(action, Roll):
            (counters,) = values_of(action, DUE)
            return replace(state, left=counters), (Event("counters", f"there are {counters}"),)
        if action not in self.legal(state):
            raise Refused(f"expected one of {self.legal(state)}, got {action}")
        side, left = SIDES[state.turn], state.left - action.count
        taken, won = Event("take", f"{side} takes {action.count}"), Event("over", f"{side} wins")
        return State(left, 1 - state.turn), (taken,) if left else (taken, won)

    def settle(self, state, action, chance):
        return action.rolled(chance) if isinstance(action, Roll) else action

    def offered(self, state, action):
        return Offer(action.type, f"Take {action.count}" if isinstance(action, Take) else "Roll")

    def position(self, state):
        return Position("nim", TableSize(100, 100, 10))

    def state_from_json(self, data):
        return from_plain(_STATES, data, "state")

    def action_from_json(self, data):
        return from_plain(_ACTIONS, renamed(data, "for", "for_"), "action")


GAME: Final = Nim()
