"""A state as a seat may see it: a hand is its owner's alone, and nobody sees the deck (M-3.1)."""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Json
from tablecam.rules.maurice.game.hands import cards_of
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.state_json import state_to_json


def seen_by(state: State, seat: str | None) -> Json:
    """The state without what is concealed from a seat; None is a spectator's.

    `hand` holds the seat's own cards in full where tablecam deals, and `discards` the face-up pile.
    """
    sides = tuple(replace(side, cards=()) for side in state.sides)
    options = replace(state.options, cards=())
    deck = replace(state.deck, cards=(), discards=())
    public = replace(state, sides=(sides[0], sides[1]), options=options, deck=deck)
    plain = state_to_json(public)
    pile = (state.options.card(card_id) for card_id in state.deck.discards)
    plain["discards"] = [to_plain(card) for card in pile if card is not None]
    if seat is not None and seat in {side.name for side in state.sides}:
        plain["hand"] = [to_plain(card) for card in cards_of(state, seat)]
    return plain
