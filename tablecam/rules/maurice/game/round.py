"""A round of Maurice Lite: each step's rules, and how the engine goes from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tablecam.rules.game import Asked
from tablecam.rules.maurice.game.actions import Action
from tablecam.rules.maurice.game.fire_rolls import RollingToDisruptRules, RollingToHitRules
from tablecam.rules.maurice.game.fire_steps import FiringRules
from tablecam.rules.maurice.game.march_steps import MarchingRules
from tablecam.rules.maurice.game.rally_steps import RallyingRules, RollingRallyRules
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.step_rules import Followed, StepRules
from tablecam.rules.maurice.game.steps import (
    Firing,
    Marching,
    Over,
    Rallying,
    RollingRally,
    RollingToDisrupt,
    RollingToHit,
    Step,
)

RULES: Final[Mapping[type[Step], StepRules]] = MappingProxyType(
    {
        Firing: FiringRules(),
        RollingToHit: RollingToHitRules(),
        RollingToDisrupt: RollingToDisruptRules(),
        Marching: MarchingRules(),
        Rallying: RallyingRules(),
        RollingRally: RollingRallyRules(),
    }
)
"""The rules of every step but the last, `Over`."""


def asked(state: State) -> Asked:
    """Who is asked what now."""
    if isinstance(state.step, Over):
        return Asked(state.step.because, is_over=True)
    return RULES[type(state.step)].asked(state, state.step)


def legal(state: State) -> tuple[Action, ...]:
    """The actions that may be listed now; none when the game is over."""
    if isinstance(state.step, Over):
        return ()
    return RULES[type(state.step)].legal(state, state.step)


def apply(state: State, action: Action) -> Followed:
    """What follows from an action.

    Raises:
        Refused: It is not legal now.
    """
    return RULES[type(state.step)].apply(state, state.step, action)
