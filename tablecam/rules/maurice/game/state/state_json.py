"""JSON of actions and of states, in full and as one seat may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import TypeAdapter

from tablecam.documents import document_from
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import from_plain, one_of, renamed, to_plain
from tablecam.rules.game import Json
from tablecam.rules.lay import Lay
from tablecam.rules.maurice.field.field import GAME
from tablecam.rules.maurice.game.state.actions import Action, PlayerAction
from tablecam.rules.maurice.game.state.state import State
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json, position_to_json

_ACTION_ADAPTER: Final = one_of(Roll, Lay, PlayerAction)


def action_to_json(action: Action) -> Json:
    """Returns an action as JSON, its type first; omitted values are left out."""
    plain: Json = to_plain(action)
    return {"type": plain["type"]} | plain


def action_from_json(data: object) -> Action:
    """Returns the action in a JSON document.

    Raises:
        BadInput: With the key, what was expected and what came.
    """
    action: Action = from_plain(_ACTION_ADAPTER, renamed(data, "for", "for_"), "action")
    return action


FORMAT = "tablecam.maurice-lite.state"
VERSION = 1

_ADAPTER: Final = TypeAdapter(State)
_SOURCE = "state"


def state_to_json(state: State) -> Json:
    """Returns a state as JSON; the round's first position is omitted if nothing has moved."""
    # Positions have their own serialiser; they are most of a state and of the time it takes.
    bare = Position(state.position.game, state.position.table)
    plain: Json = to_plain(replace(state, position=bare, round=replace(state.round, began=bare)))
    plain["position"] = position_to_json(state.position)
    if state.round.began == state.position:
        del plain["round"]["began"]
    else:
        plain["round"]["began"] = position_to_json(state.round.began)
    return {"format": FORMAT, "version": VERSION} | plain


def state_from_json(data: object) -> State:
    """Returns the state in a JSON document.

    Raises:
        BadInput: With the key, what was expected and what came.
    """
    document = document_from(data, _SOURCE)
    document.require(FORMAT, VERSION)
    plain = {key: value for key, value in document.data.items() if key not in ("format", "version")}
    plain["position"] = _position(plain, "position")
    if isinstance(round_json := plain.get("round"), dict):
        # It is left out while nothing has moved in the round.
        began = _position(round_json, "began") if "began" in round_json else plain["position"]
        plain["round"] = round_json | {"began": began}
    state: State = from_plain(_ADAPTER, plain, _SOURCE)
    return state


def _position(data: Mapping[str, Any], key: str) -> Json:
    """Reads a position by its own parser and returns it in the form the adapter expects."""
    position = position_from_json(data.get(key), f"{_SOURCE}: {key}", games=(GAME,))
    plain: Json = to_plain(position)
    return plain


def visible_json(state: State, seat: str | None) -> Json:
    """Returns the state as JSON without what is concealed from a seat (None: a spectator).

    Where tablecam deals, `hand` holds the seat's own cards in full; `discards` is the face-up pile.
    """
    # The counts stay, as the size of a hand is public (M-3.1).
    sides = tuple(replace(side, cards=()) for side in state.sides)
    options = replace(state.options, cards=())
    deck = replace(state.deck, cards=(), discards=())
    public = replace(state, sides=(sides[0], sides[1]), options=options, deck=deck)
    plain = state_to_json(public)
    # The pile lies face up (M-3.1).
    pile = (state.options.card(card_id) for card_id in state.deck.discards)
    plain["discards"] = [to_plain(card) for card in pile if card is not None]
    if seat is not None and seat in {side.name for side in state.sides}:
        plain["hand"] = [to_plain(card) for card in state.cards_of(seat)]
    return plain
