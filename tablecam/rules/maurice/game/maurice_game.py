"""Maurice Lite as a `tablecam.rules.game.Game`: setup, rounds, suggestions and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import DeclareFirst, Event, Json, Offer, PendingDecision, Suggestion
from tablecam.rules.maurice.field.field import GAME as NAME
from tablecam.rules.maurice.game.cards.draw_steps import check_unnamed, settled_draw
from tablecam.rules.maurice.game.cards.overruled_cards import settled_overrule
from tablecam.rules.maurice.game.hands.detect_moves import detect_moves
from tablecam.rules.maurice.game.offers import offer
from tablecam.rules.maurice.game.procedure import round as rounds
from tablecam.rules.maurice.game.procedure.drawing import step_shapes
from tablecam.rules.maurice.game.procedure.overrule import agreed_on
from tablecam.rules.maurice.game.setup.laying import pose_corrections
from tablecam.rules.maurice.game.setup.options import first_state
from tablecam.rules.maurice.game.state.actions import Action, Draw, Overrule
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.state_json import (
    action_from_json,
    action_to_json,
    state_from_json,
    state_to_json,
    visible_json,
)
from tablecam.rules.maurice.game.state.steps import (
    Activating,
    Charging,
    ChoosingEdge,
    ChoosingFallBacks,
    ChoosingOrder,
    Deploying,
    Discarding,
    Displacing,
    Drawing,
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
    RollingRally,
    RollingTerrain,
    RollingToDisrupt,
    RollingToHit,
    Step,
)
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.model import Position
from tablecam.table.sides import side_name


def forced(state: State) -> Action | None:
    """Returns the one action left to choose, or None where players have a choice.

    Only three steps can be forced: the last unit falls back, a commander has no card to move for,
    or a displaced one no free place. For all other steps `legal` lists the usual actions only, or
    the move is made by hand.
    """
    if not isinstance(state.step, ChoosingFallBacks | Displacing | MovingCommander):
        return None
    first, *others = rounds.legal(state)
    return None if others else first


_SETUP = (RollingTerrain, LayingTerrain, ChoosingEdge, ChoosingOrder, Deploying)
"""Setup steps, in which measuring is free: nobody can shoot or charge yet (M-2)."""


def closed(state: State) -> DeclareFirst | None:
    """Returns what must be declared before anybody measures, or None where measuring is free."""
    # What has been declared stays so while cards are played.
    step = _after_cards(state.step)
    if not state.declares_first or isinstance(step, (*_SETUP, Over)):
        return None
    names = _declared(state, step)
    if not names:
        return DeclareFirst(f"Measuring is closed until {_opening_event(state, step)}")
    text = f"Only declared units may be measured: {', '.join(names)}"
    return DeclareFirst(text, names)


def _after_cards(step: Step) -> Step:
    """Returns the step that follows all card and displacement steps before it."""
    while isinstance(step, Drawing | Modifying | Removing | Displacing | Discarding):
        step = step.then
    return step


def _opening_event(state: State, step: Step) -> str:
    """Describes the declaration that opens measuring again."""
    match step:
        case Firing():
            return f"{side_name(step.side)} has declared its fire"
        case Charging():
            return f"{side_name(state.active)} has declared a charge"
        case Activating():
            return f"{side_name(state.active)} has activated a force"
        case Interrupting():
            return f"{side_name(state.passive)} has decided whether to interrupt"
        case _:
            return f"{side_name(state.active)} has declared its action"


def _declared(state: State, step: Step) -> tuple[str, ...]:
    """Returns the units and commanders whose declared action is under way."""
    match step:
        case RollingToHit(aims=aims):
            names = [name for aim in aims for name in (aim.unit, aim.target)]
        case RollingToDisrupt(target=target, firing=firing):
            names = [*(aim.unit for aim in firing.hits if aim.target == target), target]
        case Marching(force=units) | Rallying(force=units) | Interrupting(force=units):
            names = [*units]
            # The commander's span to the force was declared with it (M-4.11).
            if units and (leader := state.commander(state.active)) is not None:
                names.append(leader.id)
        case Charging(charged=charged):
            names = [name for unit, met in charged.items() if met for name in (unit, *met)]
        case RollingCombat(engaged=units) | ChoosingFallBacks(attackers=units):
            names = [*units]
        case RollingRally(unit=unit):
            names = [unit]
        case _:
            names = []
    # Units that broke meanwhile cannot be measured.
    on_table = {unit.id for unit in state.position.units}
    on_table |= {leader.id for leader in state.position.commanders}
    return tuple(name for name in dict.fromkeys(names) if name in on_table)


class MauriceGame:
    """The whole game by the numbered rules of its checklist; see `COVERAGE.md` for gaps."""

    name: Final = NAME

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first step of round 1, or the deal before it where tablecam deals."""
        # Steps in which nobody is asked are passed at once.
        state, _ = rounds.onward((first_state(position, options), ()))
        return state

    def asked(self, state: State) -> PendingDecision:
        """Returns who decides what now; concealed where tablecam deals, to protect hands."""
        asked = rounds.asked(state)
        is_concealed = asked.seat is not None and state.is_dealt
        return replace(asked, is_concealed=is_concealed, closed=closed(state))

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists complete actions; of moves, fire and cards only the usual ones."""
        return rounds.legal(state)

    def apply(self, state: State, action: Action) -> tuple[State, tuple[Event, ...]]:
        """Returns the state and events that follow from an action."""
        return rounds.apply(state, action)

    def settle(self, state: State, action: Action, chance: Random) -> Action:
        """Rolls dice and draws cards that players did not state."""
        if isinstance(action, Roll):
            return action.rolled(chance)
        if isinstance(action, Draw):
            return settled_draw(state, action, chance)
        if isinstance(action, Overrule):
            return settled_overrule(state, action, chance)
        return action

    def agreed_on(self, state: State, action: Action) -> str:
        """Describes a correction of dealt cards that both sides must agree on, else returns "".

        Raises:
            Refused: A draw names its cards where tablecam deals.
        """
        if isinstance(action, Draw):
            check_unnamed(state, action)
        return agreed_on(state, action) if isinstance(action, Overrule) else ""

    def detect_moves(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """Suggests the actions that players carried out by hand, from where bases lie now."""
        return detect_moves(state, position)

    def offered(self, state: State, action: Action) -> Offer:
        """Returns an action as text and shapes."""
        return offer(state, action)

    def irregularities(self, state: State) -> str:
        """Names units that stand where no unit may."""
        return "; ".join(oddity.sentence for oddity in field_at(state).on_impassable)

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the current step: who may act or roll, targets, deployment zones."""
        return step_shapes(state)

    def adopt_positions(self, state: State, position: Position) -> Action | None:
        """Adopts small differences between seen and recorded poses as a round begins."""
        return pose_corrections(state, position)

    def forced(self, state: State) -> Action | None:
        """Returns the only choice in a step that the game can carry out itself."""
        return forced(state)

    def position(self, state: State) -> Position:
        """Returns the game's own position."""
        return state.position

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state as a seat may see it, other hands and the deck concealed."""
        return visible_json(state, seat)

    def state_to_json(self, state: State) -> Json:
        """Returns the whole state as JSON."""
        return state_to_json(state)

    def state_from_json(self, data: object) -> State:
        """Returns the state in a JSON document."""
        return state_from_json(data)

    def action_to_json(self, action: Action) -> Json:
        """Returns an action as JSON with its `type`."""
        return action_to_json(action)

    def action_from_json(self, data: object) -> Action:
        """Returns the action in a JSON document."""
        return action_from_json(data)


GAME: Final = MauriceGame()
