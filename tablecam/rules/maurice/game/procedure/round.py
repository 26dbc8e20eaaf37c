"""A round of Maurice Lite: the rules of each step and the passage from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from tablecam.rules.game import PendingDecision, Refused
from tablecam.rules.maurice.game.cards.card_steps import (
    InterruptingRules,
    ModifyingRules,
    RemovingRules,
    without_interrupt,
    without_modifier,
)
from tablecam.rules.maurice.game.cards.draw_steps import DrawingRules, automatic_draw
from tablecam.rules.maurice.game.command.activation_steps import ActivatingRules
from tablecam.rules.maurice.game.command.command_steps import CommandChoiceRules, VolleyChoiceRules
from tablecam.rules.maurice.game.command.end_steps import (
    DiscardingRules,
    DisplacingRules,
    MovingCommanderRules,
    end_of_round,
)
from tablecam.rules.maurice.game.command.rally_steps import RallyingRules, RollingRallyRules
from tablecam.rules.maurice.game.fire.fire_rolls import RollingToDisruptRules, RollingToHitRules
from tablecam.rules.maurice.game.fire.fire_steps import FiringRules, fired_out
from tablecam.rules.maurice.game.moves.charge_steps import ChargingRules
from tablecam.rules.maurice.game.moves.combat_steps import (
    ChoosingFallBacksRules,
    RollingCombatRules,
)
from tablecam.rules.maurice.game.moves.march_steps import MarchingRules
from tablecam.rules.maurice.game.procedure.drawing import with_shapes
from tablecam.rules.maurice.game.procedure.overrule import overruled
from tablecam.rules.maurice.game.setup.laying import with_corrected_poses
from tablecam.rules.maurice.game.setup.setup_steps import (
    ChoosingEdgeRules,
    ChoosingOrderRules,
    DeployingRules,
    LayingTerrainRules,
    RollingFirstRoundRules,
    RollingTerrainRules,
)
from tablecam.rules.maurice.game.state.actions import Action, CorrectPoses, Overrule
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import StateAndEvents, StepRules
from tablecam.rules.maurice.game.state.steps import (
    Activating,
    Charging,
    ChoosingEdge,
    ChoosingFallBacks,
    ChoosingOrder,
    CommandChoice,
    Deploying,
    Discarding,
    Displacing,
    Drawing,
    EndingRound,
    Firing,
    Interrupting,
    LayingTerrain,
    Marching,
    Modifying,
    MovingCommander,
    Over,
    Rallying,
    Removing,
    RollingCombat,
    RollingFirstRound,
    RollingRally,
    RollingTerrain,
    RollingToDisrupt,
    RollingToHit,
    Step,
    VolleyChoice,
)

RULES: Final[Mapping[type[Step], StepRules]] = MappingProxyType(
    {
        RollingTerrain: RollingTerrainRules(),
        LayingTerrain: LayingTerrainRules(),
        ChoosingEdge: ChoosingEdgeRules(),
        ChoosingOrder: ChoosingOrderRules(),
        Deploying: DeployingRules(),
        RollingFirstRound: RollingFirstRoundRules(),
        Interrupting: InterruptingRules(),
        Modifying: ModifyingRules(),
        Drawing: DrawingRules(),
        Removing: RemovingRules(),
        VolleyChoice: VolleyChoiceRules(),
        CommandChoice: CommandChoiceRules(),
        Activating: ActivatingRules(),
        MovingCommander: MovingCommanderRules(),
        Displacing: DisplacingRules(),
        Discarding: DiscardingRules(),
        Firing: FiringRules(),
        RollingToHit: RollingToHitRules(),
        RollingToDisrupt: RollingToDisruptRules(),
        Marching: MarchingRules(),
        Charging: ChargingRules(),
        RollingCombat: RollingCombatRules(),
        ChoosingFallBacks: ChoosingFallBacksRules(),
        Rallying: RallyingRules(),
        RollingRally: RollingRallyRules(),
    }
)
"""The rules of every step in which somebody is asked."""

_AUTOMATIC: Final[Mapping[type[Step], Callable[[State, Any], StateAndEvents | None]]] = (
    MappingProxyType(
        {
            Interrupting: without_interrupt,
            Modifying: without_modifier,
            Drawing: automatic_draw,
            Firing: fired_out,
            EndingRound: end_of_round,
        }
    )
)
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
    if isinstance(action, CorrectPoses):
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
