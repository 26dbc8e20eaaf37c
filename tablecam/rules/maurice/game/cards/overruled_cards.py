"""Overrules of cards: hand sizes, cards left in the deck, and the deck's stage.

Where players hold the cards they are only counted. Where tablecam deals, no card is lost: a hand
grows by drawing and shrinks by discarding, and surplus cards of the deck go to the discards. Chance
picks which.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game.state.actions import Overrule
from tablecam.rules.maurice.game.state.sequence import is_deck_exhausted
from tablecam.rules.maurice.game.state.state import Deck, State
from tablecam.rules.maurice.game.state.steps import Discarding, Drawing, Step
from tablecam.wording import quoted


def check_cards(state: State, action: Overrule) -> None:
    """Checks the numbers of cards in an overrule.

    Raises:
        Refused: A number is impossible; with the key and what there is.
    """
    if state.is_dealt:
        _check_dealt(state, action)
        return
    if action.aside is not None:
        why = "expected no card names, as the players hold the cards"
        raise Refused(why, rule="M-3.10", key="aside")
    deck = _counted(state, action)
    # The second deck holds at least the Reshuffle card.
    least = _reshuffle_cards(deck)
    if deck.left < least:
        raise Refused(f"expected at least {least} cards in the deck, got {deck.left}", key="deck")


def with_cards(before: State, action: Overrule, state: State) -> State:
    """Returns the resumed `state` with the cards of an overrule.

    `before` is the state before the overrule: draws of dealt cards that were due then are still
    due.
    """
    if before.is_dealt:
        # Draws that were due come before the step at which play resumes.
        step = _with_draws(before, action, _without_draws(state.step))
        state = replace(state, deck=_laid_aside(before, action), step=step)
    else:
        for name, hand in action.hands.items():
            state = state.with_side(replace(state.side(name), hand=hand))
        state = replace(state, deck=_counted(before, action))
    return _begun_with(state, action)


def settled_overrule(state: State, action: Overrule, chance: Random) -> Overrule:
    """Fills in the cards that leave a dealt deck.

    A card that players name leaves the deck if it is in it. If not, another card leaves instead: a
    refusal would reveal that a hand holds it.
    """
    named = action.aside or ()
    if not state.is_dealt or (action.deck is None and not named):
        return action
    count = _aside_count(state, action)
    # An impossible number is left for the check to refuse.
    if not len(named) <= count <= len(state.deck.cards):
        return action
    present = [card for card in named if card in state.deck.cards]
    others = [card for card in state.deck.cards if card not in present]
    return replace(action, aside=(*present, *chance.sample(others, count - len(present))))


def check_aside(state: State, action: Overrule) -> None:
    """Checks the card names of an overrule, wherever in the dealt deck they are now.

    Raises:
        Refused: A name is no card of the deck, or is given twice.
    """
    named = action.aside or ()
    for place, card in enumerate(named):
        if state.is_dealt and state.options.card(card) is None:
            raise Refused(f"there is no card {quoted(card)}", rule="M-3.10", key="aside")
        if card in named[:place]:
            raise Refused(f"{quoted(card)} is named twice", rule="M-3.10", key="aside")


def _begun_with(state: State, action: Overrule) -> State:
    """Corrects what the round began with, as long as no command has been declared."""
    # Once a command is declared, the round keeps what it began with (M-4.6, M-4.18).
    if state.round.command is not None:
        return state
    begun = state.round
    if action.active is not None or state.active in action.hands:
        dealt = state.side(state.active).hand + _draws_due(state.step, state.active)
        holds = action.hands.get(state.active, dealt)
        begun = replace(begun, is_without_cards=holds == 0)
    if action.deck is not None or action.stage is not None:
        begun = replace(begun, is_deck_out=is_deck_exhausted(state.deck))
    return replace(state, round=begun)


def _counted(state: State, action: Overrule) -> Deck:
    """Returns the players' own deck as the overrule states it."""
    left = state.deck.left if action.deck is None else action.deck
    return replace(state.deck, left=left, stage=action.stage or state.deck.stage)


def _laid_aside(state: State, action: Overrule) -> Deck:
    """Returns the dealt deck after cards leave it; the stage decides on the Reshuffle card."""
    aside = action.aside or ()
    remaining = tuple(card for card in state.deck.cards if card not in aside)
    deck = replace(state.deck, stage=action.stage or state.deck.stage, cards=remaining)
    return replace(
        deck,
        left=len(remaining) + _reshuffle_cards(deck),
        discarded=deck.discarded + len(aside),
        discards=(*deck.discards, *aside),
    )


def _reshuffle_cards(deck: Deck) -> int:
    return 1 if deck.stage == "second" else 0


def _aside_count(state: State, action: Overrule) -> int:
    """Returns how many cards must leave the deck so that `deck` are left after all due draws."""
    stage = _reshuffle_cards(replace(state.deck, stage=action.stage or state.deck.stage))
    left = len(state.deck.cards) if action.deck is None else action.deck - stage
    # Draws that are still due come out of the deck before players count it.
    drawn = 0 if action.deck is None else _all_draws_due(state, action)
    return len(state.deck.cards) - drawn - left


def _all_draws_due(state: State, action: Overrule) -> int:
    step = _with_draws(state, action, _without_draws(state.step))
    return sum(_draws_due(step, side.name) for side in state.sides)


def _check_dealt(state: State, action: Overrule) -> None:
    """Refuses numbers of dealt cards that the deck cannot provide."""
    there = len(state.deck.cards)
    if action.hands and _all_draws_due(state, action) > there:
        raise Refused(f"expected hands that need at most {there} cards from the deck", key="hands")
    count, aside = _aside_count(state, action), action.aside or ()
    if count < 0:
        most = f"expected at most {(action.deck or 0) + count} cards left in the deck"
        raise Refused(f"{most}, got {action.deck}", key="deck")
    if count > there:
        least = f"expected at least {(action.deck or 0) + count - there} cards in the deck"
        raise Refused(f"{least}, got {action.deck}", key="deck")
    if not (len(aside) == len(set(aside)) == count and set(aside) <= set(state.deck.cards)):
        raise Refused(f"expected {count} cards from the deck", rule="M-3.10", key="aside")


def _with_draws(state: State, action: Overrule, then: Step) -> Step:
    """Returns the step `then` after all cards that are to be drawn or discarded first.

    Draws that were due to a side are part of the hand that an overrule states for it.
    """
    step = _draws_of(state.step, then, but_for=frozenset(action.hands))
    # Steps nest outwards: the last one built comes first in play.
    for name, hand in reversed([*action.hands.items()]):
        more = hand - state.side(name).hand
        if more > 0:
            step = Drawing(name, more, step)
        elif more < 0:
            step = Discarding(name, -more, "told", step)
    return step


def _draws_of(step: Step, then: Step, *, but_for: frozenset[str]) -> Step:
    if not isinstance(step, Drawing):
        return then
    then = _draws_of(step.then, then, but_for=but_for)
    return then if step.side in but_for else replace(step, then=then)


def _without_draws(step: Step) -> Step:
    while isinstance(step, Drawing):
        step = step.then
    return step


def _draws_due(step: Step, side: str) -> int:
    """Returns how many cards a side is to draw before anything else."""
    count = 0
    while isinstance(step, Drawing | Discarding):
        if isinstance(step, Drawing) and step.side == side:
            count += step.count
        step = step.then
    return count
