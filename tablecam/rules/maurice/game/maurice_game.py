"""Maurice Lite as the engine's core plays it: `tablecam.rules.game.Game`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import Asked, Closed, Event, Json, Offer, Suggestion
from tablecam.rules.maurice.field.field import GAME as NAME
from tablecam.rules.maurice.game.cards.draw_steps import check_unnamed, settled_draw
from tablecam.rules.maurice.game.cards.overruled_cards import settled_overrule
from tablecam.rules.maurice.game.hands.moved import moved
from tablecam.rules.maurice.game.offers import offer
from tablecam.rules.maurice.game.procedure import round as rounds
from tablecam.rules.maurice.game.procedure import round as the_round
from tablecam.rules.maurice.game.procedure.drawing import due_shapes
from tablecam.rules.maurice.game.procedure.overrule import agreed_on
from tablecam.rules.maurice.game.setup.laying import laid
from tablecam.rules.maurice.game.setup.options import first_state
from tablecam.rules.maurice.game.state.actions import Action, Draw, Overrule
from tablecam.rules.maurice.game.state.hand import is_dealt
from tablecam.rules.maurice.game.state.seen import seen_by
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.state_json import (
    action_from_json,
    action_to_json,
    state_from_json,
    state_to_json,
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
    """The one thing to do: the last unit falls back, a commander without a card or a place stays.

    Of other steps' actions the usual ones are listed only, or hands carry them out: never there.
    """
    if not isinstance(state.step, ChoosingFallBacks | Displacing | MovingCommander):
        return None
    first, *others = the_round.legal(state)
    return None if others else first


_SETUP = (RollingTerrain, LayingTerrain, ChoosingEdge, ChoosingOrder, Deploying)
"""Ground is laid and armies are deployed with a measuring stick: nobody can shoot yet (M-2)."""


def closed(state: State) -> Closed | None:
    """What is to be declared before anybody measures; None where measuring is free."""
    step = _onward(state.step)
    if not state.declares_first or isinstance(step, (*_SETUP, Over)):
        return None
    names = _declared(state, step)
    if not names:
        return Closed(f"Measuring is closed until {_until(state, step)}")
    told = f"Measuring is closed, but for what has been declared: {', '.join(names)}"
    return Closed(told, names)


def _onward(step: Step) -> Step:
    """The step that cards only come before."""
    while isinstance(step, Drawing | Modifying | Removing | Displacing | Discarding):
        step = step.then
    return step


def _until(state: State, step: Step) -> str:
    match step:
        case Firing():
            return f"{side_name(step.side)} has declared its fire"
        case Charging():
            return f"{side_name(state.active)} has declared a charge"
        case Activating():
            return f"{side_name(state.active)} has activated a force"
        case Interrupting():
            return f"{side_name(state.passive)} has interrupted or not"
        case _:
            return f"{side_name(state.active)} has declared what it does"


def _declared(state: State, step: Step) -> tuple[str, ...]:
    """The units that have been declared to do or to suffer something that is going on."""
    match step:
        case RollingToHit(aims=aims):
            names = [name for aim in aims for name in (aim.unit, aim.target)]
        case RollingToDisrupt(target=target, firing=firing):
            names = [*(aim.unit for aim in firing.hits if aim.target == target), target]
        case Marching(force=units) | Rallying(force=units) | Interrupting(force=units):
            names = [*units, *_leader(state, units)]
        case Charging(charged=charged):
            names = [name for unit, met in charged.items() if met for name in (unit, *met)]
        case RollingCombat(engaged=units) | ChoosingFallBacks(attackers=units):
            names = [*units]
        case RollingRally(unit=unit):
            names = [unit]
        case _:
            names = []
    there = {unit.id for unit in state.position.units}
    there |= {leader.id for leader in state.position.commanders}
    return tuple(name for name in dict.fromkeys(names) if name in there)


def _leader(state: State, force: tuple[str, ...]) -> tuple[str, ...]:
    """The commander whose span to a force has been declared with it (M-4.11)."""
    led = (each.id for each in state.position.commanders if each.side == state.active)
    return tuple(led) if force else ()


class MauriceGame:
    """The whole game, by the numbered rules of its checklist; `COVERAGE.md` says what of it."""

    name: Final = NAME

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """The first round's first step, or the dealing before it where tablecam deals."""
        state, _ = rounds.onward((first_state(position, options), ()))
        return state

    def asked(self, state: State) -> Asked:
        """What is due now, and of whom; where tablecam deals, answers may show a hand."""
        asked = rounds.asked(state)
        is_concealed = asked.seat is not None and is_dealt(state)
        return replace(asked, is_concealed=is_concealed, closed=closed(state))

    def legal(self, state: State) -> tuple[Action, ...]:
        """Complete actions; of moves, of fire and of cards the usual ones."""
        return rounds.legal(state)

    def apply(self, state: State, action: Action) -> tuple[State, tuple[Event, ...]]:
        """The state that follows, and what happened."""
        return rounds.apply(state, action)

    def settle(self, state: State, action: Action, chance: Random) -> Action:
        """Dice thrown and cards drawn, where players have not said them."""
        if isinstance(action, Roll):
            return action.rolled(chance)
        if isinstance(action, Draw):
            return settled_draw(state, action, chance)
        if isinstance(action, Overrule):
            return settled_overrule(state, action, chance)
        return action

    def agreed_on(self, state: State, action: Action) -> str:
        """A correction of dealt cards, in words; of those that are drawn nobody names any."""
        if isinstance(action, Draw):
            check_unnamed(state, action)
        return agreed_on(state, action) if isinstance(action, Overrule) else ""

    def moved(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """What was done by hand, going by where the bases lie now."""
        return moved(state, position)

    def offered(self, state: State, action: Action) -> Offer:
        """An action in words and shapes."""
        return offer(state, action)

    def odd(self, state: State) -> str:
        """Who stands where nobody may."""
        return "; ".join(each.sentence for each in field_at(state).inside)

    def pictured(self, state: State) -> tuple[Shape, ...]:
        """Who may act or roll, who is fired at, where an army deploys."""
        return due_shapes(state)

    def laid(self, state: State, position: Position) -> Action | None:
        """Where bases lie by a hair elsewhere, taken over as a round begins."""
        return laid(state, position)

    def forced(self, state: State) -> Action | None:
        """What a step of moves by the game itself leaves as the only choice."""
        return forced(state)

    def position(self, state: State) -> Position:
        """The table as the game knows it."""
        return state.position

    def seen_by(self, state: State, seat: str | None) -> Json:
        """The state as a seat may see it: hands and the deck are concealed."""
        return seen_by(state, seat)

    def state_to_json(self, state: State) -> Json:
        """The whole state."""
        return state_to_json(state)

    def state_from_json(self, data: object) -> State:
        """The state that a document holds."""
        return state_from_json(data)

    def action_to_json(self, action: Action) -> Json:
        """The action as a document with its `type`."""
        return action_to_json(action)

    def action_from_json(self, data: object) -> Action:
        """The action that a document holds."""
        return action_from_json(data)


GAME: Final = MauriceGame()
