"""Cards in hand and in the deck (M-3): drawing, discarding, and playing them for their effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from random import Random
from typing import Final, Literal

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.tables import HAND_LIMIT
from tablecam.rules.maurice.game.actions import Action, Decline, Discard, Draw, Modify, Remove
from tablecam.rules.maurice.game.state import (
    RESHUFFLE,
    Card,
    Deck,
    DeckStage,
    Modifier,
    State,
    Step,
    Symbol,
)
from tablecam.rules.maurice.game.table import field_at
from tablecam.table.sides import side_plural
from tablecam.wording import counted, joined, quoted


def held_card(state: State, side: str, card_id: str | None) -> Card | None:
    """Returns the card that a side plays, or None if the players hold the cards.

    Raises:
        Refused: The side has no such card, a card is named although players hold them, or none is
            named although tablecam deals.
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
        Refused: The side does not hold that many cards, or not these.
    """
    holder = state.side(side)
    if len(cards) > holder.hand:
        raise Refused(f"{side_plural(side)} hold only {counted(holder.hand, 'card')}", rule="M-3.9")
    left = list(holder.cards)
    for card in cards:
        # This refuses a card that the side does not hold.
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


class Drawing(Step):
    """A draw of `count` more cards by a side (M-4.9); `then` follows."""

    side: str
    count: int
    then: Step

    def asked(self, state: State) -> PendingDecision:
        """Asks chance if tablecam deals, else the side, which sees the Reshuffle card."""
        question = f"{side_plural(self.side)} draw {counted(self.count, 'card')}"
        if state.is_dealt:
            seats = "Hands are hidden here: choose a side, or both, where it says “Shared”."
            return PendingDecision(question, shared_hint="" if self.lists_all(state) else seats)
        return PendingDecision(f"{question}: is one of them the Reshuffle card?", self.side)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the draw; if players hold the cards, with the Reshuffle card at each place."""
        count = min(self.count, state.deck.left)
        plain = Draw(self.side, count)
        if state.is_dealt or state.deck.stage != "second":
            return (plain,)
        # In the second deck the Reshuffle card may be at any place of the draw (M-4.21).
        with_reshuffle = tuple(replace(plain, reshuffle_at=place + 1) for place in range(count))
        # If all remaining cards are drawn, the Reshuffle card is among them.
        return with_reshuffle if state.deck.left == count else (plain, *with_reshuffle)

    def decided(self, state: State, action: Action) -> State:
        """Moves cards to the hand; cards due after a reshuffle are drawn in a further step."""
        count = min(self.count, state.deck.left)
        if not isinstance(action, Draw) or (action.side, action.count) != (self.side, count):
            why = f"expected {side_plural(self.side)} to draw {counted(count, 'card')}"
            raise Refused(why, rule="M-4.9")
        if state.is_dealt:
            return _dealt(state, self, action)
        _check_stated(state, action)
        if action.reshuffle_at is None:
            return _moved_to_hand(state, self, count)
        # The cards behind it are drawn from the new deck, in a further step.
        return _last_deck(_moved_to_hand(state, self, action.reshuffle_at - 1), self.side)

    def goes_on(self, state: State) -> State | None:
        """Continues if nobody needs to say anything; returns None if somebody does.

        The first deck is reshuffled once its last card is drawn (M-4.20); from an empty last deck
        nobody draws (M-4.22).
        """
        deck = state.deck
        # Checked first: the deck is reshuffled even if its last card was the last one due.
        if deck.left == 0 and deck.stage == "first":
            shuffle = "shuffle the discards and the Reshuffle card into a new deck"
            return _shuffled(state, "second", f"the first deck is used up: {shuffle}", "M-4.20")
        if self.count == 0:
            return state.to(self.then)
        if deck.left == 0:
            text = "the deck is empty: no one draws"
            return state.to(self.then).tells("draw", text, "M-4.22", side=self.side)
        # If tablecam deals, chance is asked; players are asked if the Reshuffle card may come up.
        if state.is_dealt or deck.stage == "second":
            return None
        return _moved_to_hand(state, self, min(self.count, deck.left))

    def lists_all(self, state: State) -> bool:
        """Whether tablecam has dealt before, so that players know how it draws."""
        return any(side.cards for side in state.sides)


def settled_draw(state: State, action: Draw, chance: Random) -> Draw:
    """Fills in the cards that come up, at random.

    The draw ends at the Reshuffle card, since the rest is drawn from the new deck.
    """
    deck = state.deck
    # A wrong number of cards is left for `follow` to refuse.
    if action.cards is not None or not state.is_dealt or not 0 <= action.count <= deck.left:
        return action
    pool = [*deck.cards, *([RESHUFFLE] if deck.stage == "second" else [])]
    cards = chance.sample(pool, action.count)
    if RESHUFFLE in cards:
        # The rest is drawn from the reshuffled deck.
        del cards[cards.index(RESHUFFLE) + 1 :]
    return replace(action, cards=tuple(cards))


def _moved_to_hand(state: State, step: Drawing, count: int) -> State:
    holder = state.side(step.side)
    deck = replace(state.deck, left=state.deck.left - count)
    state = replace(state.with_side(replace(holder, hand=holder.hand + count)), deck=deck)
    state = state.to(replace(step, count=step.count - count))
    text = f"{side_plural(step.side)} draw {counted(count, 'card')}"
    return state.tells("draw", text, "M-4.9", side=step.side, count=count) if count else state


def _dealt(state: State, step: Drawing, action: Draw) -> State:
    """Moves drawn cards to a hand, and removes a Reshuffle card from the game."""
    cards = action.cards
    if cards is None:
        raise Refused("expected the cards that came up", rule="M-3.10", key="cards")
    has_reshuffle = RESHUFFLE in cards
    # `settled_draw` ends a draw at the Reshuffle card.
    own = cards[:-1] if has_reshuffle else cards
    _check_dealt(state, action, own)
    state = _moved_to_hand(state, step, len(own))
    left = tuple(card for card in state.deck.cards if card not in own)
    holder = state.side(step.side)
    state = state.with_side(replace(holder, cards=(*holder.cards, *own)))
    state = replace(state, deck=replace(state.deck, cards=left))
    if own:
        titles = [card.title for card in map(state.options.card, own) if card is not None]
        text = f"drawn: {', '.join(titles)}"
        facts = {"cards": list(own), "side": step.side}
        state = state.with_events(Event("drawn", text, "M-3.1", facts, only_for=step.side))
    return _last_deck(state, step.side) if has_reshuffle else state


def _last_deck(state: State, side: str) -> State:
    """Makes the last deck, without the Reshuffle card that a side has drawn (M-4.21)."""
    shuffle = "shuffle the discards and the rest of the deck into the last deck"
    text = f"{side_plural(side)} draw the Reshuffle card: {shuffle}"
    return _shuffled(state, "last", text, "M-4.21")


def _shuffled(state: State, stage: DeckStage, text: str, rule: str) -> State:
    """Shuffles the discards into the deck; the second one has the Reshuffle card as well."""
    deck = state.deck
    left = deck.left + deck.discarded + (1 if stage == "second" else -1)
    new = Deck(left, 0, stage, (*deck.cards, *deck.discards))
    return replace(state, deck=new).tells("reshuffle", text, rule, left=left)


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
    deck, at = state.deck, action.reshuffle_at
    if action.cards is not None:
        why = "expected no card names, as the players hold the cards"
        raise Refused(why, rule="M-3.10", key="cards")
    why = ""
    if at is not None and (deck.stage != "second" or not 1 <= at <= action.count):
        why = "the Reshuffle card cannot come up at that position"
    elif at is None and deck.stage == "second" and action.count == deck.left:
        why = "expected the position of the Reshuffle card, as the whole deck is drawn"
    if why:
        raise Refused(why, rule="M-4.21", key="reshuffle_at")


class Discarding(Step):
    """A discard of `count` cards, and its reason.

    The commander was moved (M-6.27) or displaced (M-6.30), the hand is over the limit (M-3.2), or
    players overruled the size of a dealt hand (`told`).
    """

    side: str
    count: int
    why: Literal["moved", "displaced", "hand-limit", "told"]
    then: Step

    def asked(self, state: State) -> PendingDecision:
        """Asks the owner of the cards."""
        discards = f"{side_plural(self.side)} discard {counted(self.count, 'card')}"
        return PendingDecision(f"{discards}: {_REASONS[self.why]}", self.side)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists discards of the due number; dealt cards of least span first."""
        if not state.is_dealt:
            return (Discard(self.side, self.count),)
        held = sorted(state.cards_of(self.side), key=lambda card: (card.span_bw, card.id))
        combos = combinations([card.id for card in held], self.count)
        return tuple(Discard(self.side, self.count, combo) for combo in islice(combos, _LISTED))

    def lists_all(self, state: State) -> bool:
        """Whether tablecam holds the cards; otherwise players have to lay theirs down."""
        return state.is_dealt

    def decided(self, state: State, action: Action) -> State:
        """Moves the cards to the pile and continues."""
        if not isinstance(action, Discard) or action.side != self.side:
            raise Refused(f"expected {side_plural(self.side)} to discard", rule=_RULES[self.why])
        cards = action.cards if state.is_dealt else (None,) * action.count
        if action.count != self.count or len(cards) != self.count:
            why = f"expected {self.count} cards, got {action.count}"
            raise Refused(why, rule=_RULES[self.why], key="count")
        state = with_cards_discarded(state, self.side, cards).to(self.then)
        text = f"{side_plural(self.side)} discard {counted(self.count, 'card')}"
        return state.tells("discard", text, _RULES[self.why], side=self.side, count=self.count)


_RULES = {"moved": "M-6.27", "displaced": "M-6.30", "hand-limit": "M-3.2", "told": "M-3.10"}

_REASONS = {
    "moved": "the commander has moved",
    "displaced": "commander displaced",
    "hand-limit": f"over the hand limit of {HAND_LIMIT}",
    "told": "players corrected the hand",
}

_LISTED = 12
"""The largest number of listed discards; combinations can run to thousands."""

SYMBOL_WORDS: Mapping[Symbol, str] = {
    "swords": "crossed swords",
    "bugle": "a bugle",
    "cannon": "a cannon",
    "flag": "a blue flag",
    "musket": "a musket",
}

NO_SUCH_CARD: Final = (
    "You hold no such card. You are asked all the same, so that nobody learns what you hold"
)

MOST_ADDED = 6
"""The largest modifier taken from players, either way; more is a typing error (M-3.10)."""


class Modifying(Step):
    """Modifying cards: `side` may play one of a symbol, then each of `left` may (M-4.16)."""

    kinds, expects, answer_rule = (Modify, Decline), "a modifying card or no card", "M-4.16"
    symbol: Symbol
    side: str
    left: tuple[str, ...]
    then: Step

    def asked(self, state: State) -> PendingDecision:
        """Asks the side whose turn it is."""
        card = f"a card with {SYMBOL_WORDS[self.symbol]}"
        return PendingDecision(f"{side_plural(self.side)}: play {card}?", self.side)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the cards that may be played now, and none.

        Dealt cards are listed for the units whose dice or moves they could change; they may also be
        played for others, to no effect. Players who hold the cards state their effect; the listed
        pips for or against a unit are examples.
        """
        units, concerned = field_at(state).by_id, self.then.concerned(state)
        if state.is_dealt:
            played = [
                Modify(self.side, self.symbol, amounts, card.id)
                for card in {card.title: card for card in state.cards_of(self.side)}.values()
                for amounts in _card_amounts(state, self, card)
                if not amounts.keys().isdisjoint(concerned)
            ]
        else:
            plain = ({name: 1 if units[name].side == self.side else -1} for name in concerned)
            # The first adds nothing: not every card's effect is a number.
            played = [Modify(self.side, self.symbol, amounts) for amounts in ({}, *plain)]
        return (Decline(self.side), *played)

    def why_missing(self, state: State) -> str:
        """Says why a side without a card is asked (M-3.1)."""
        return NO_SUCH_CARD if state.is_dealt and len(self.legal(state)) == 1 else ""

    def decided(self, state: State, action: Modify | Decline) -> State:
        """Applies the card for the rest of the round; then the other side may play (M-4.16)."""
        if isinstance(action, Decline):
            _check_side(action.side, self.side)
            return _next_side(state, self)
        _check_modify(state, self, action)
        state = with_cards_discarded(state, action.side, (action.card,))
        modifier = Modifier(action.side, action.symbol, action.amounts, action.card)
        state = state.with_round(modifiers=(*state.round.modifiers, modifier))
        amounts = dict(action.amounts)
        card = None if action.card is None else state.options.card(action.card)
        title = f"a card with {SYMBOL_WORDS[action.symbol]}" if card is None else card.title
        added = f": {amounts_words(amounts)}" if amounts else ""
        text = f"{side_plural(action.side)} play {title}{added}"
        facts = {"side": action.side, "units": list(amounts), "amounts": amounts}
        return _next_side(state, self).tells("modifier", text, "M-3.5", **facts)

    def goes_on(self, state: State) -> State | None:
        """Continues if a side cannot modify; returns None if it is asked."""
        if state.side(self.side).hand and not _has_modified(state, self):
            return None
        return _next_side(state, self)


class Removing(Step):
    """The chance to remove a played event from the game: `side` first, then `left` (M-4.25).

    `card` is in the discards; its id is known if tablecam deals.
    """

    question = "{who}: remove the event for good?"
    kinds, expects, answer_rule = (Decline, Remove), "to remove the event or not", "M-4.25"
    side: str
    left: tuple[str, ...]
    then: Step
    card: str | None = None

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists leaving the event in the discards and removing it."""
        return (Decline(self.side), Remove(self.side))

    def decided(self, state: State, action: Decline | Remove) -> State:
        """Removes the card from the discards, or asks the other side."""
        _check_side(action.side, self.side)
        if isinstance(action, Decline):
            return _next_side(state, self)
        discards = tuple(card for card in state.deck.discards if card != self.card)
        deck = replace(state.deck, discarded=state.deck.discarded - 1, discards=discards)
        text = f"{side_plural(self.side)} remove the event from the game"
        state = replace(state, deck=deck, step=self.then)
        return state.tells("removed", text, "M-4.25", side=self.side)


def amounts_words(amounts: Mapping[str, int]) -> str:
    """Returns what a modifying card adds, the units of each amount together."""
    units_of = {by: [unit for unit in amounts if amounts[unit] == by] for by in amounts.values()}
    return "; ".join(f"{by:+d} for {joined(units)}" for by, units in units_of.items())


def _has_modified(state: State, step: Modifying) -> bool:
    played = state.round.modifiers
    return any((card.side, card.symbol) == (step.side, step.symbol) for card in played)


def _card_amounts(state: State, step: Modifying, card: Card) -> tuple[dict[str, int], ...]:
    """Lists the amounts that a dealt card may add, by unit: to any one unit, or to all."""
    if card.modifies is None or card.modifies.symbol != step.symbol:
        return ()
    adds = card.modifies.adds
    side = step.side if card.modifies.to == "own" else state.other(step.side)
    all_units = {unit.id: adds for unit in field_at(state).of_side(side)}
    is_for_one = card.modifies.is_for_one
    return tuple({unit: adds} for unit in all_units) if is_for_one else (all_units,)


def _check_modify(state: State, step: Modifying, action: Modify) -> None:
    _check_side(action.side, step.side)
    if action.symbol != step.symbol:
        expected, got = SYMBOL_WORDS[step.symbol], SYMBOL_WORDS[action.symbol]
        raise Refused(f"expected a card with {expected}, got {got}", rule="M-3.5", key="symbol")
    if _has_modified(state, step):
        why = f"{side_plural(step.side)} have already played a card with this symbol"
        raise Refused(why, rule="M-3.6", key="symbol")
    # A dealt card has an effect of its own; players state their cards' effects.
    card = held_card(state, action.side, action.card)
    if card is not None and dict(action.amounts) not in _card_amounts(state, step, card):
        raise Refused(f"expected the modifiers of {card.title}", rule="M-3.9", key="amounts")
    for name, amount in action.amounts.items():
        if name not in field_at(state).by_id:
            raise Refused(f"there is no unit {name} on the table", rule="M-3.9", key="amounts")
        if abs(amount) > MOST_ADDED:
            most = f"expected -{MOST_ADDED} to +{MOST_ADDED}, got {amount:+d}"
            raise Refused(most, rule="M-3.10", key=f"amounts.{name}")


def _check_side(side: str, expected: str) -> None:
    if side != expected:
        why = f"expected {side_plural(expected)} to decide, got {side_plural(side)}"
        raise Refused(why, rule="M-4.16", key="side")


def _next_side(state: State, step: Modifying | Removing) -> State:
    if not step.left:
        return state.to(step.then)
    return state.to(replace(step, side=step.left[0], left=step.left[1:]))


def draws_due(step: Step, side: str) -> int:
    """Returns how many cards a side must draw before anything else."""
    count = 0
    while isinstance(step, Drawing | Discarding):
        if isinstance(step, Drawing) and step.side == side:
            count += step.count
        step = step.then
    return count
