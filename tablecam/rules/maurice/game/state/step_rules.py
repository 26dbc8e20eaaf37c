"""The interface between the round and the rules of each step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tablecam.errors import BadInput
from tablecam.rules.dice import Roll
from tablecam.rules.game import PendingDecision, Refused
from tablecam.rules.maurice.game.state.actions import Action
from tablecam.rules.maurice.game.state.state import State, StateAndEvents


@contextmanager
def refusing(rule: str | None = None, key: str | None = None) -> Iterator[None]:
    """Refuses an action under a rule if what it leads to is bad input."""
    try:
        yield
    except BadInput as error:
        raise Refused(error.message, rule=rule, key=key or error.key) from None


class StepRules(Protocol):
    """The rules of one kind of step: whom it asks, what it allows and what that does.

    `step` is always `state.step`, of the kind that the rules are for.
    """

    def asked(self, state: State, step: Any) -> PendingDecision:
        """Returns who decides, and the question."""

    def legal(self, state: State, step: Any) -> tuple[Action, ...]:
        """Returns the actions to list; never empty."""

    def apply(self, state: State, step: Any, action: Action) -> StateAndEvents:
        """Returns the state and events that follow from an action.

        Raises:
            Refused: The action is not legal now.
        """


class RollRules(ABC):
    """Rules of a step whose only action is a roll; subclasses say which, and what it does."""

    @abstractmethod
    def roll(self, state: State, step: Any) -> Roll:
        """Returns the roll that is due."""

    def legal(self, state: State, step: Any) -> tuple[Action, ...]:
        """Lists the roll."""
        return (self.roll(state, step),)
