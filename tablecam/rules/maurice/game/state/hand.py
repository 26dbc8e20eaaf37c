"""Cards in hand: counted where players hold them, known one by one where tablecam deals.

A card that is played or discarded goes to the pile that both sides share (M-3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game.state.cards import Card
from tablecam.rules.maurice.game.state.state import State
from tablecam.table.sides import side_plural
from tablecam.wording import counted, quoted


def held_card(state: State, side: str, card_id: str | None) -> Card | None:
    """Returns the card that a side plays, or None where the players hold the cards.

    Raises:
        Refused: The side has no such card, or a card is named where players hold them, or none is
            named where tablecam deals.
    """
    if not state.is_dealt:
        if card_id is not None:
            why = f"expected no card name, as the players hold the cards, got {quoted(card_id)}"
            raise Refused(why, rule="M-3.10", key="card")
        if state.side(side).hand == 0:
            raise Refused(f"{side_plural(side)} have no cards", rule="M-3.10")
        return None
    if card_id is None:
        raise Refused("expected the id of the card to play", rule="M-3.10", key="card")
    card = state.options.card(card_id)
    if card is None or card_id not in state.side(side).cards:
        # The same refusal for an unknown card: it must not reveal what the deck holds.
        why = f"{side_plural(side)} do not hold {quoted(card_id)}"
        raise Refused(why, rule="M-3.9", key="card")
    return card


def with_cards_discarded(state: State, side: str, cards: Sequence[str | None]) -> State:
    """Returns the state with some of a side's cards moved to the discard pile.

    `cards` are their ids, None for each card that the players hold themselves.

    Raises:
        Refused: The side does not hold as many cards, or not these.
    """
    holder = state.side(side)
    if len(cards) > holder.hand:
        raise Refused(f"{side_plural(side)} hold only {counted(holder.hand, 'card')}", rule="M-3.9")
    left = list(holder.cards)
    for card in cards:
        # Refuses a card that the side does not hold.
        held_card(state, side, card)
        if card is not None:
            if card not in left:
                raise Refused(f"{card} is named twice", rule="M-3.9", key="cards")
            left.remove(card)
    known = tuple(card for card in cards if card is not None)
    deck = state.deck
    deck = replace(deck, discarded=deck.discarded + len(cards), discards=(*deck.discards, *known))
    hand = replace(holder, hand=holder.hand - len(cards), cards=tuple(left))
    return replace(state.with_side(hand), deck=deck)
