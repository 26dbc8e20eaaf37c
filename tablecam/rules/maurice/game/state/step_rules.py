"""What the rules of a step are, to the round that goes through them."""

from __future__ import annotations

from typing import Any, Protocol

from tablecam.rules.game import Asked, Event
from tablecam.rules.maurice.game.state.actions import Action
from tablecam.rules.maurice.game.state.state import State

Followed = tuple[State, tuple[Event, ...]]
"""A state and what happened on the way to it."""


class StepRules(Protocol):
    """What a step asks, allows and does. `step` is the state's, of the kind that these are for."""

    def asked(self, state: State, step: Any) -> Asked:
        """Who is asked what."""

    def legal(self, state: State, step: Any) -> tuple[Action, ...]:
        """The actions that may be listed; never empty."""

    def apply(self, state: State, step: Any, action: Action) -> Followed:
        """What follows from an action.

        Raises:
            Refused: It is not legal now.
        """
