"""Drawing cards: from the first deck, the second with the Reshuffle card in it, and the last.

Where tablecam deals, drawing is chance's: any of the cards that are left is as likely as any other,
as in a shuffled deck. Where players hold the cards, the deck is only counted.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.game.state.actions import Action, Draw
from tablecam.rules.maurice.game.state.cards import RESHUFFLE
from tablecam.rules.maurice.game.state.hand import is_dealt
from tablecam.rules.maurice.game.state.state import Deck, State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import Drawing
from tablecam.table.sides import side_name


class DrawingRules:
    """`Drawing`: as many cards as are due, with the deck reshuffled in between (M-4.20, M-4.21)."""

    def asked(self, state: State, step: Drawing) -> Asked:
        """Chance where tablecam deals, else who draws: only he sees the Reshuffle card."""
        question = f"{side_name(step.side)} draws {_cards(step.count)}"
        if is_dealt(state):
            return Asked(question)
        return Asked(f"{question}: is one of them the Reshuffle card?", step.side)

    def legal(self, state: State, step: Drawing) -> tuple[Action, ...]:
        """The draw that is due; where players tell it, with the Reshuffle card at each place."""
        count = min(step.count, state.deck.left)
        plain = Draw(step.side, count)
        if is_dealt(state) or state.deck.stage != "second":
            return (plain,)
        found = tuple(replace(plain, reshuffle_at=place + 1) for place in range(count))
        return found if state.deck.left == count else (plain, *found)

    def apply(self, state: State, step: Drawing, action: Action) -> Followed:
        """The cards go to the hand; what is due after a reshuffle is drawn next."""
        count = min(step.count, state.deck.left)
        if not isinstance(action, Draw) or (action.side, action.count) != (step.side, count):
            raise Refused(f"expected {side_name(step.side)} to draw {_cards(count)}", rule="M-4.9")
        if is_dealt(state):
            return _dealt(state, step, action)
        _check_told(state, action)
        if action.reshuffle_at is None:
            return _counted(state, step, count)
        return _reshuffled(*_counted(state, step, action.reshuffle_at - 1), step.side)


def drawn_by_itself(state: State, step: Drawing) -> Followed | None:
    """What follows where nobody needs to say anything; None where somebody does.

    The first deck is reshuffled once its last card is drawn (M-4.20); of an empty last deck nobody
    draws (M-4.22).
    """
    deck = state.deck
    if deck.left == 0 and deck.stage == "first":
        return _second_deck(state)
    if step.count == 0:
        return state.to(step.then), ()
    if deck.left == 0:
        text = "the deck is empty: nobody draws"
        return state.to(step.then), (Event("draw", text, "M-4.22", {"side": step.side}),)
    if is_dealt(state) or deck.stage == "second":
        return None
    return _counted(state, step, min(step.count, deck.left))


def check_unnamed(state: State, action: Draw) -> None:
    """See to it that players do not name the cards that tablecam draws.

    Raises:
        Refused: They do.
    """
    if is_dealt(state) and action.cards is not None:
        why = "tablecam deals: expected no cards by name"
        raise Refused(why, rule="M-3.10", key="cards")


def settled_draw(state: State, action: Draw, chance: Random) -> Draw:
    """The draw with the cards that come up: up to the Reshuffle card, as the rest is redrawn."""
    deck = state.deck
    if action.cards is not None or not is_dealt(state) or not 0 <= action.count <= deck.left:
        return action
    pool = [*deck.cards, *([RESHUFFLE] if deck.stage == "second" else [])]
    cards = chance.sample(pool, action.count)
    if RESHUFFLE in cards:
        del cards[cards.index(RESHUFFLE) + 1 :]
    return replace(action, cards=tuple(cards))


def _counted(state: State, step: Drawing, count: int) -> Followed:
    """Some cards of the deck go to a hand, known to the players alone."""
    holder = state.side(step.side)
    deck = replace(state.deck, left=state.deck.left - count)
    state = replace(state.with_side(replace(holder, hand=holder.hand + count)), deck=deck)
    state = state.to(replace(step, count=step.count - count))
    return state, (_told(step.side, count),) if count else ()


def _dealt(state: State, step: Drawing, action: Draw) -> Followed:
    """Cards that came up go to a hand, and a Reshuffle card out of the game."""
    cards = action.cards
    if cards is None:
        raise Refused("expected the cards that came up", rule="M-3.10", key="cards")
    has_reshuffle = RESHUFFLE in cards
    own = cards[:-1] if has_reshuffle else cards
    _check_dealt(state, action, own)
    state, events = _counted(state, step, len(own))
    left = tuple(card for card in state.deck.cards if card not in own)
    holder = state.side(step.side)
    state = state.with_side(replace(holder, cards=(*holder.cards, *own)))
    state = replace(state, deck=replace(state.deck, cards=left))
    seen = (_seen(state, step.side, own),) if own else ()
    if has_reshuffle:
        return _reshuffled(state, (*events, *seen), step.side)
    return state, (*events, *seen)


def _check_dealt(state: State, action: Draw, own: tuple[str, ...]) -> None:
    cards = action.cards or ()
    has_reshuffle = len(own) < len(cards)
    is_whole = len(cards) == action.count or has_reshuffle
    is_there = set(own) <= set(state.deck.cards) and len(set(own)) == len(own)
    if has_reshuffle and (state.deck.stage != "second" or cards[-1] != RESHUFFLE):
        raise Refused("the Reshuffle card cannot come up now", rule="M-4.21", key="cards")
    if not (is_whole and is_there and len(cards) <= action.count):
        raise Refused(f"expected {action.count} cards of the deck", rule="M-3.10", key="cards")


def _check_told(state: State, action: Draw) -> None:
    """Refuse what players tell of a draw that cannot be."""
    deck, at = state.deck, action.reshuffle_at
    if action.cards is not None:
        raise Refused("the players hold the cards", rule="M-3.10", key="cards")
    if at is not None and (deck.stage != "second" or not 1 <= at <= action.count):
        raise Refused("the Reshuffle card cannot come up there", rule="M-4.21", key="reshuffle_at")
    if at is None and deck.stage == "second" and action.count == deck.left:
        why = "expected which card was the Reshuffle card: it is among the last"
        raise Refused(why, rule="M-4.21", key="reshuffle_at")


def _second_deck(state: State) -> Followed:
    """The Reshuffle card goes in with the discards, which are the new deck (M-4.20)."""
    deck = state.deck
    new = Deck(left=deck.discarded + 1, discarded=0, stage="second", cards=deck.discards)
    text = "the first deck is drawn: shuffle the discards and the Reshuffle card into a new one"
    return replace(state, deck=new), (Event("reshuffle", text, "M-4.20", {"left": new.left}),)


def _reshuffled(state: State, events: tuple[Event, ...], side: str) -> Followed:
    """The Reshuffle card leaves the game; discards and what is left are the last deck (M-4.21)."""
    deck = state.deck
    new = Deck(
        left=deck.left - 1 + deck.discarded,
        discarded=0,
        stage="last",
        cards=(*deck.cards, *deck.discards),
    )
    shuffle = "shuffle the discards and the deck into the last deck"
    text = f"{side_name(side)} draws the Reshuffle card: {shuffle}"
    event = Event("reshuffle", text, "M-4.21", {"left": new.left})
    return replace(state, deck=new), (*events, event)


def _told(side: str, count: int) -> Event:
    facts = {"side": side, "count": count}
    return Event("draw", f"{side_name(side)} draws {_cards(count)}", "M-4.9", facts)


def _seen(state: State, side: str, cards: tuple[str, ...]) -> Event:
    titles = [card.title for card in map(state.options.card, cards) if card is not None]
    text = f"{side_name(side)} has drawn {', '.join(titles)}"
    return Event("drawn", text, "M-3.1", {"cards": list(cards), "side": side}, only_for=side)


def _cards(count: int) -> str:
    return f"{count} card{'' if count == 1 else 's'}"
