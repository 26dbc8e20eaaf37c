"""A round of Maurice Lite: the rules of each step and the passage from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tablecam.rules.game import PendingDecision, Refused
from tablecam.rules.lay import Lay
from tablecam.rules.maurice.game.cards import card_steps, draw_steps
from tablecam.rules.maurice.game.command import (
    activation_steps,
    command_steps,
    end_steps,
    fire_steps,
    rally_steps,
)
from tablecam.rules.maurice.game.moves import charge_steps, combat_steps, march_steps
from tablecam.rules.maurice.game.procedure.drawing import with_shapes
from tablecam.rules.maurice.game.procedure.overrule import overruled
from tablecam.rules.maurice.game.setup import setup_steps
from tablecam.rules.maurice.game.setup.laying import with_corrected_poses
from tablecam.rules.maurice.game.state import steps
from tablecam.rules.maurice.game.state.actions import Action, Overrule
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.step_rules import StepRules
from tablecam.rules.maurice.game.state.steps import Over, Step

RULES: Final[Mapping[type[Step], StepRules]] = {
    steps.RollingTerrain: setup_steps.RollingTerrainRules(),
    steps.LayingTerrain: setup_steps.LayingTerrainRules(),
    steps.ChoosingEdge: setup_steps.ChoosingEdgeRules(),
    steps.ChoosingOrder: setup_steps.ChoosingOrderRules(),
    steps.Deploying: setup_steps.DeployingRules(),
    steps.RollingFirstRound: setup_steps.RollingFirstRoundRules(),
    steps.Interrupting: card_steps.InterruptingRules(),
    steps.Modifying: card_steps.ModifyingRules(),
    steps.Drawing: draw_steps.DrawingRules(),
    steps.Removing: card_steps.RemovingRules(),
    steps.VolleyChoice: command_steps.VolleyChoiceRules(),
    steps.CommandChoice: command_steps.CommandChoiceRules(),
    steps.Activating: activation_steps.ActivatingRules(),
    steps.MovingCommander: end_steps.MovingCommanderRules(),
    steps.Displacing: end_steps.DisplacingRules(),
    steps.Discarding: end_steps.DiscardingRules(),
    steps.Firing: fire_steps.FiringRules(),
    steps.RollingToHit: fire_steps.RollingToHitRules(),
    steps.RollingToDisrupt: fire_steps.RollingToDisruptRules(),
    steps.Marching: march_steps.MarchingRules(),
    steps.Charging: charge_steps.ChargingRules(),
    steps.RollingCombat: combat_steps.RollingCombatRules(),
    steps.ChoosingFallBacks: combat_steps.ChoosingFallBacksRules(),
    steps.Rallying: rally_steps.RallyingRules(),
    steps.RollingRally: rally_steps.RollingRallyRules(),
}
"""The rules of every step in which somebody is asked."""

_AUTOMATIC: Final[Mapping[type[Step], Callable[[State, Any], StateAndEvents | None]]] = {
    steps.Interrupting: card_steps.without_interrupt,
    steps.Modifying: card_steps.without_modifier,
    steps.Drawing: draw_steps.automatic_draw,
    steps.Firing: fire_steps.fired_out,
    steps.EndingRound: end_steps.end_of_round,
}
"""Transitions without a question; each returns None where somebody must be asked."""


def asked(state: State) -> PendingDecision:
    """Returns who is asked what now."""
    if isinstance(state.step, Over):
        return PendingDecision(state.step.because, is_over=True)
    return RULES[type(state.step)].asked(state, state.step)


def legal(state: State) -> tuple[Action, ...]:
    """Lists legal actions; none when the game is over."""
    if isinstance(state.step, Over):
        return ()
    return RULES[type(state.step)].legal(state, state.step)


def apply(state: State, action: Action) -> StateAndEvents:
    """Returns the state and events that follow from an action.

    Raises:
        Refused: The action is not legal now.
    """
    # The referee's own action: it takes nobody's turn and has no events.
    if isinstance(action, Lay):
        return with_corrected_poses(state, action), ()
    # At any step, even when the game is over.
    if isinstance(action, Overrule):
        after, events = onward(overruled(state, action))
    elif isinstance(state.step, Over):
        raise Refused("the game is over", rule=state.step.rule)
    else:
        after, events = onward(RULES[type(state.step)].apply(state, state.step, action))
    return after, with_shapes(state, after, events)


def onward(followed: StateAndEvents) -> StateAndEvents:
    """Advances until somebody is asked something, or the game is over."""
    state, events = followed
    # One automatic step may lead to another.
    while (transition := _AUTOMATIC.get(type(state.step))) is not None:
        automatic = transition(state, state.step)
        if automatic is None:
            break
        state, events = automatic[0], (*events, *automatic[1])
    return state, events
