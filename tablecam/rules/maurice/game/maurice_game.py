"""Maurice Lite as the engine's core plays it: `tablecam.rules.game.Game`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import Asked, Event, Json, Offer, Suggestion
from tablecam.rules.maurice.field.field import GAME as NAME
from tablecam.rules.maurice.game.cards.draw_steps import check_unnamed, settled_draw
from tablecam.rules.maurice.game.cards.overruled_cards import settled_overrule
from tablecam.rules.maurice.game.closed import closed
from tablecam.rules.maurice.game.forced import forced
from tablecam.rules.maurice.game.hands.moved import moved
from tablecam.rules.maurice.game.offers import offer
from tablecam.rules.maurice.game.procedure import round as rounds
from tablecam.rules.maurice.game.procedure.due_drawing import due_shapes
from tablecam.rules.maurice.game.procedure.overrule import agreed_on
from tablecam.rules.maurice.game.setup.laying import laid
from tablecam.rules.maurice.game.setup.options import first_state
from tablecam.rules.maurice.game.state.action_json import action_from_json, action_to_json
from tablecam.rules.maurice.game.state.actions import Action, Draw, Overrule
from tablecam.rules.maurice.game.state.hand import is_dealt
from tablecam.rules.maurice.game.state.seen import seen_by
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.state_json import state_from_json, state_to_json
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.model import Position


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
