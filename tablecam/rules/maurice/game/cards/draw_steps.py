"""Drawing cards: first deck, second deck with the Reshuffle card, last deck (M-4.20 to M-4.22).

Where tablecam deals, every remaining card is equally likely, as in a shuffled deck. Where players
hold the cards, the deck is only counted.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.game.state.actions import Action, Draw
from tablecam.rules.maurice.game.state.cards import RESHUFFLE
from tablecam.rules.maurice.game.state.state import Deck, State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import Drawing
from tablecam.table.sides import side_plural
from tablecam.wording import counted


class DrawingRules:
    """Rules of `Drawing`: `count` cards, with reshuffles in between (M-4.20, M-4.21)."""

    def asked(self, state: State, step: Drawing) -> PendingDecision:
        """Asks chance where tablecam deals, else the side: it sees the Reshuffle card."""
        question = f"{side_plural(step.side)} draw {counted(step.count, 'card')}"
        if state.is_dealt:
            return PendingDecision(question)
        return PendingDecision(f"{question}: is one of them the Reshuffle card?", step.side)

    def legal(self, state: State, step: Drawing) -> tuple[Action, ...]:
        """Lists the draw; where players hold the cards, with the Reshuffle card at each place."""
        count = min(step.count, state.deck.left)
        plain = Draw(step.side, count)
        if state.is_dealt or state.deck.stage != "second":
            return (plain,)
        # In the second deck the Reshuffle card may be at any place of the draw (M-4.21).
        with_reshuffle = tuple(replace(plain, reshuffle_at=place + 1) for place in range(count))
        # If all that is left is drawn, the Reshuffle card is among it.
        return with_reshuffle if state.deck.left == count else (plain, *with_reshuffle)

    def apply(self, state: State, step: Drawing, action: Action) -> StateAndEvents:
        """Moves cards to the hand; cards due after a reshuffle are drawn in a further step."""
        count = min(step.count, state.deck.left)
        if not isinstance(action, Draw) or (action.side, action.count) != (step.side, count):
            why = f"expected {side_plural(step.side)} to draw {counted(count, 'card')}"
            raise Refused(why, rule="M-4.9")
        if state.is_dealt:
            return _dealt(state, step, action)
        _check_stated(state, action)
        if action.reshuffle_at is None:
            return _moved_to_hand(state, step, count)
        # The cards behind it are drawn from the new deck, in a further step.
        return _reshuffled(*_moved_to_hand(state, step, action.reshuffle_at - 1), step.side)


def automatic_draw(state: State, step: Drawing) -> StateAndEvents | None:
    """Continues where nobody needs to say anything; returns None where somebody does.

    The first deck is reshuffled once its last card is drawn (M-4.20); from an empty last deck
    nobody draws (M-4.22).
    """
    deck = state.deck
    # First, as the deck is reshuffled even if its last card was the last one due.
    if deck.left == 0 and deck.stage == "first":
        return _second_deck(state)
    if step.count == 0:
        return state.to(step.then), ()
    if deck.left == 0:
        text = "the deck is empty: no one draws"
        return state.to(step.then), (Event("draw", text, "M-4.22", {"side": step.side}),)
    # Chance is asked where tablecam deals, the players where the Reshuffle card may come up.
    if state.is_dealt or deck.stage == "second":
        return None
    return _moved_to_hand(state, step, min(step.count, deck.left))


def check_unnamed(state: State, action: Draw) -> None:
    """Checks that players do not name cards that tablecam draws.

    Raises:
        Refused: They do.
    """
    if state.is_dealt and action.cards is not None:
        raise Refused("expected no card names, as tablecam deals", rule="M-3.10", key="cards")


def settled_draw(state: State, action: Draw, chance: Random) -> Draw:
    """Fills in the cards that come up, at random.

    The draw ends at the Reshuffle card, since the rest is drawn from the new deck.
    """
    deck = state.deck
    # A wrong number of cards is left for `apply` to refuse.
    if action.cards is not None or not state.is_dealt or not 0 <= action.count <= deck.left:
        return action
    pool = [*deck.cards, *([RESHUFFLE] if deck.stage == "second" else [])]
    cards = chance.sample(pool, action.count)
    if RESHUFFLE in cards:
        # Whatever would come after it is drawn from the reshuffled deck.
        del cards[cards.index(RESHUFFLE) + 1 :]
    return replace(action, cards=tuple(cards))


def _moved_to_hand(state: State, step: Drawing, count: int) -> StateAndEvents:
    """Moves a number of cards from deck to hand."""
    holder = state.side(step.side)
    deck = replace(state.deck, left=state.deck.left - count)
    state = replace(state.with_side(replace(holder, hand=holder.hand + count)), deck=deck)
    state = state.to(replace(step, count=step.count - count))
    text = f"{side_plural(step.side)} draw {counted(count, 'card')}"
    event = Event("draw", text, "M-4.9", {"side": step.side, "count": count})
    return state, (event,) if count else ()


def _dealt(state: State, step: Drawing, action: Draw) -> StateAndEvents:
    """Moves drawn cards to a hand, and a Reshuffle card out of the game."""
    cards = action.cards
    if cards is None:
        raise Refused("expected the cards that came up", rule="M-3.10", key="cards")
    has_reshuffle = RESHUFFLE in cards
    # `settled_draw` ends a draw at the Reshuffle card.
    own = cards[:-1] if has_reshuffle else cards
    _check_dealt(state, action, own)
    state, events = _moved_to_hand(state, step, len(own))
    left = tuple(card for card in state.deck.cards if card not in own)
    holder = state.side(step.side)
    state = state.with_side(replace(holder, cards=(*holder.cards, *own)))
    state = replace(state, deck=replace(state.deck, cards=left))
    drawn = (_drawn_cards_event(state, step.side, own),) if own else ()
    if has_reshuffle:
        return _reshuffled(state, (*events, *drawn), step.side)
    return state, (*events, *drawn)


def _check_dealt(state: State, action: Draw, own: tuple[str, ...]) -> None:
    """Refuses drawn cards that are not in the deck or not as many as due."""
    cards = action.cards or ()
    has_reshuffle = len(own) < len(cards)
    # A draw ends at the Reshuffle card, however many are due.
    is_whole = len(cards) == action.count or has_reshuffle
    is_there = set(own) <= set(state.deck.cards) and len(set(own)) == len(own)
    if has_reshuffle and (state.deck.stage != "second" or cards[-1] != RESHUFFLE):
        raise Refused("the Reshuffle card cannot come up now", rule="M-4.21", key="cards")
    if not (is_whole and is_there and len(cards) <= action.count):
        raise Refused(f"expected {action.count} cards from the deck", rule="M-3.10", key="cards")


def _check_stated(state: State, action: Draw) -> None:
    """Refuses statements about a draw that cannot be true."""
    deck, at = state.deck, action.reshuffle_at
    if action.cards is not None:
        why = "expected no card names, as the players hold the cards"
        raise Refused(why, rule="M-3.10", key="cards")
    if at is not None and (deck.stage != "second" or not 1 <= at <= action.count):
        why = "the Reshuffle card cannot come up at that position"
        raise Refused(why, rule="M-4.21", key="reshuffle_at")
    if at is None and deck.stage == "second" and action.count == deck.left:
        why = "expected the position of the Reshuffle card, as the whole deck is drawn"
        raise Refused(why, rule="M-4.21", key="reshuffle_at")


def _second_deck(state: State) -> StateAndEvents:
    """Makes the discards and the Reshuffle card the second deck (M-4.20)."""
    deck = state.deck
    # One more, for the Reshuffle card.
    new = Deck(left=deck.discarded + 1, discarded=0, stage="second", cards=deck.discards)
    text = "the first deck is used up: shuffle the discards and the Reshuffle card into a new deck"
    return replace(state, deck=new), (Event("reshuffle", text, "M-4.20", {"left": new.left}),)


def _reshuffled(state: State, events: tuple[Event, ...], side: str) -> StateAndEvents:
    """Removes the Reshuffle card and makes deck and discards the last deck (M-4.21)."""
    deck = state.deck
    new = Deck(
        # Without the Reshuffle card itself.
        left=deck.left - 1 + deck.discarded,
        discarded=0,
        stage="last",
        cards=(*deck.cards, *deck.discards),
    )
    shuffle = "shuffle the discards and the rest of the deck into the last deck"
    text = f"{side_plural(side)} draw the Reshuffle card: {shuffle}"
    event = Event("reshuffle", text, "M-4.21", {"left": new.left})
    return replace(state, deck=new), (*events, event)


def _drawn_cards_event(state: State, side: str, cards: tuple[str, ...]) -> Event:
    titles = [card.title for card in map(state.options.card, cards) if card is not None]
    text = f"{side_plural(side)} draw {', '.join(titles)}"
    return Event("drawn", text, "M-3.1", {"cards": list(cards), "side": side}, only_for=side)
