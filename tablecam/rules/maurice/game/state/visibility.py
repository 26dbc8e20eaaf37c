"""The state as one seat may see it: other hands and the deck are concealed (M-3.1)."""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Json
from tablecam.rules.maurice.field.tables import KINDS, Kind
from tablecam.rules.maurice.game.state.hand import cards_of
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.state_json import state_to_json
from tablecam.rules.maurice.game.state.steps import LayingTerrain


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
    if isinstance(state.step, LayingTerrain):
        plain["kinds"] = [
            {"kind": name, "does": _effect_words(kind)} for name, kind in KINDS.items()
        ]
    if seat is not None and seat in {side.name for side in state.sides}:
        plain["hand"] = [to_plain(card) for card in cards_of(state, seat)]
    return plain


_EFFECT_WORDS = {
    "is_impassable": "impassable",
    "is_difficult": "difficult",
    "is_cover": "cover",
    "obstructs": "obstructs fire",
    "is_water": "water",
    "bridges": "makes water passable and removes difficult ground",
}


def _effect_words(kind: Kind) -> str:
    """Describes a kind of terrain for players who agree on it before play (M-2.2)."""
    return ", ".join(text for key, text in _EFFECT_WORDS.items() if getattr(kind, key))
