"""Steps in which cards are played for their effect: interrupts, modifiers, event removal.

Where players hold the cards, they state the effect; where tablecam deals, the card does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.charge.charge import are_enough_chargers
from tablecam.rules.maurice.game.command.fire_steps import able_to_fire
from tablecam.rules.maurice.game.moves.charge_steps import able_to_charge
from tablecam.rules.maurice.game.state.actions import Action, Decline, Interrupt, Modify, Remove
from tablecam.rules.maurice.game.state.cards import MOMENTS, Card, Effect
from tablecam.rules.maurice.game.state.hand import held_card, with_cards_discarded
from tablecam.rules.maurice.game.state.sequence import after_action, after_interrupt
from tablecam.rules.maurice.game.state.state import Modifier, State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import (
    Firing,
    Interrupting,
    Marching,
    Modifying,
    Rallying,
    Removing,
    RollingCombat,
    Symbol,
)
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.sides import side_plural

SYMBOL_WORDS: Mapping[Symbol, str] = {
    "swords": "crossed swords",
    "bugle": "a bugle",
    "cannon": "a cannon",
    "flag": "a blue flag",
    "musket": "a musket",
}
MOST_ADDED = 6
"""The largest modifier taken from players, either way; more is a typing error (M-3.10)."""

_EFFECT_WORDS: Mapping[Effect, str] = {
    "first-fire": "First Fire: they shoot first",
    "rough-going": "Rough Going: difficult ground is impassable in this round",
    "foil": "they foil the activation",
    "other": "follow the card's text",
}


class InterruptingRules:
    """Rules of `Interrupting`: the passive side, at most once a round (M-4.17)."""

    def asked(self, state: State, step: Interrupting) -> PendingDecision:
        """Asks the passive side."""
        what = "the volley phase" if step.moment == "volleys" else "the activation"
        return PendingDecision(f"{side_plural(state.passive)}: interrupt {what}?", state.passive)

    def legal(self, state: State, step: Interrupting) -> tuple[Action, ...]:
        """Lists the interrupts that may be played now, and none."""
        effects = [effect for effect in MOMENTS if _may_be_now(state, step, effect)]
        if not state.is_dealt:
            # Players who hold the cards may have any that fits the moment.
            return (Decline(state.passive), *(Interrupt(effect) for effect in effects))
        played = (
            Interrupt(card.interrupts, card.id)
            for card in state.cards_of(state.passive)
            if card.interrupts in effects and card.interrupts is not None
        )
        return (Decline(state.passive), *played)

    def apply(self, state: State, step: Interrupting, action: Action) -> StateAndEvents:
        """Continues what was interrupted, unless that has become impossible (M-4.19)."""
        if isinstance(action, Decline):
            _check_side(action.side, state.passive)
            return after_interrupt(state, step), ()
        if not isinstance(action, Interrupt):
            raise Refused(f"expected an interrupt or no card, got {action.type}", rule="M-4.17")
        _check_interrupt(state, step, action)
        side = state.passive
        state = with_cards_discarded(state, side, (action.card,))
        now = replace(
            state.round,
            is_interrupted=True,
            passive_fires_first=action.effect == "first-fire",
            is_rough_going=action.effect == "rough-going",
        )
        state = replace(state, round=now)
        facts = {"side": side, "effect": action.effect, "card": action.card}
        text = f"{side_plural(side)} interrupt: {_EFFECT_WORDS[action.effect]}"
        events = (Event("interrupt", text, "M-4.17", facts),)
        if step.moment == "activation" and _is_foiled(state, step, action.effect):
            foil_text = "the activation fails: all cards played for it are discarded"
            foiled = Event("foiled", foil_text, "M-4.19", {"force": list(step.force)})
            return after_action(state), (*events, foiled)
        return after_interrupt(state, step), events


_PIP: Final[Mapping[bool, int]] = {True: +1, False: -1}
"""The usual modifier: for an own unit, or against an enemy's."""


def _concerned(state: State, step: Modifying) -> tuple[str, ...]:
    """Returns the units whose dice or moves the card could change."""
    match step.then:
        case RollingCombat(engaged=units) | Marching(force=units) | Rallying(force=units):
            return units
        case Firing(kind="bombard", may=units):
            return units or ()
        case Firing():
            # A volley card is played before either side fires (M-4.16).
            sides = (state.active, state.passive)
            able = (able_to_fire(state, Firing("volley", side)) for side in sides)
            return tuple(unit.id for of_side in able for unit in of_side)
        case _:
            return ()


class ModifyingRules:
    """Rules of `Modifying`: one card of a symbol, or none, from each side in turn (M-4.16)."""

    def asked(self, state: State, step: Modifying) -> PendingDecision:
        """Asks the side whose turn it is."""
        card = f"a card with {SYMBOL_WORDS[step.symbol]}"
        return PendingDecision(f"{side_plural(step.side)}: play {card}?", step.side)

    def legal(self, state: State, step: Modifying) -> tuple[Action, ...]:
        """Lists the cards that may be played now, and none.

        Dealt cards are listed for the units whose dice or moves they could change, or for all if
        there are none. Players who hold the cards state their effect; the listed pips for or
        against a unit are examples.
        """
        if state.is_dealt:
            played = [
                Modify(step.side, step.symbol, amounts, card.id)
                for card in state.cards_of(step.side)
                for amounts in _effective(_card_amounts(state, step, card), _concerned(state, step))
            ]
        else:
            units = field_at(state).by_id
            concerned = _concerned(state, step)
            plain = ({name: _PIP[units[name].side == step.side]} for name in concerned)
            # The first adds nothing, as not every card's effect is a number.
            played = [Modify(step.side, step.symbol, amounts) for amounts in ({}, *plain)]
        return (Decline(step.side), *played)

    def apply(self, state: State, step: Modifying, action: Action) -> StateAndEvents:
        """Applies the card for the rest of the round; then the other side may play (M-4.16)."""
        if isinstance(action, Decline):
            _check_side(action.side, step.side)
            return _next_side(state, step), ()
        if not isinstance(action, Modify):
            raise Refused(f"expected a modifying card or no card, got {action.type}", rule="M-4.16")
        _check_modify(state, step, action)
        state = with_cards_discarded(state, action.side, (action.card,))
        modifier = Modifier(action.side, action.symbol, action.amounts, action.card)
        modifiers = (*state.round.modifiers, modifier)
        state = replace(state, round=replace(state.round, modifiers=modifiers))
        amounts = dict(action.amounts)
        facts = {"side": action.side, "units": list(amounts), "amounts": amounts}
        event = Event("modifier", _modifier_words(state, action), "M-3.5", facts)
        return _next_side(state, step), (event,)


class RemovingRules:
    """Rules of `Removing`: either side may remove a removable event from the game (M-4.25)."""

    def asked(self, state: State, step: Removing) -> PendingDecision:
        """Asks the side whose turn it is."""
        return PendingDecision(f"{side_plural(step.side)}: remove the event for good?", step.side)

    def legal(self, state: State, step: Removing) -> tuple[Action, ...]:
        """Lists leaving the event in the discards and removing it."""
        return (Decline(step.side), Remove(step.side))

    def apply(self, state: State, step: Removing, action: Action) -> StateAndEvents:
        """Removes the card from the discards, or asks the other side."""
        if not isinstance(action, Decline | Remove):
            raise Refused(f"expected to remove the event or not, got {action.type}", rule="M-4.25")
        _check_side(action.side, step.side)
        if isinstance(action, Remove):
            discards = tuple(card for card in state.deck.discards if card != step.card)
            deck = replace(state.deck, discarded=state.deck.discarded - 1, discards=discards)
            text = f"{side_plural(step.side)} remove the event from the game"
            event = Event("removed", text, "M-4.25", {"side": step.side})
            return replace(state, deck=deck, step=step.then), (event,)
        return _next_side(state, step), ()


def without_interrupt(state: State, step: Interrupting) -> StateAndEvents | None:
    """Continues where the passive side cannot interrupt; returns None where it is asked."""
    # Asked with any card, whichever it is: a side that is skipped would show its hand.
    if state.side(state.passive).hand and not state.round.is_interrupted:
        return None
    return after_interrupt(state, step), ()


def without_modifier(state: State, step: Modifying) -> StateAndEvents | None:
    """Continues where a side cannot modify; returns None where it is asked."""
    if state.side(step.side).hand and not _has_modified(state, step):
        return None
    return _next_side(state, step), ()


def _may_be_now(state: State, step: Interrupting, effect: Effect) -> bool:
    """Whether an interrupt of an effect may be played at this moment."""
    if step.moment not in MOMENTS[effect]:
        return False
    return effect != "rough-going" or state.round.command in ("march", "charge")


def _check_interrupt(state: State, step: Interrupting, action: Interrupt) -> None:
    """Refuses a second interrupt, one at the wrong moment, or with the wrong card."""
    if state.round.is_interrupted:
        raise Refused("only one interrupt is allowed in a round", rule="M-4.17")
    if not _may_be_now(state, step, action.effect):
        raise Refused(f"{action.effect} cannot be played now", rule="M-4.17", key="effect")
    card = held_card(state, state.passive, action.card)
    if card is not None and card.interrupts != action.effect:
        does = f"expected the effect of {card.title} ({card.interrupts or 'no interrupt'})"
        raise Refused(f"{does}, got {action.effect}", rule="M-3.7", key="effect")


def _is_foiled(state: State, step: Interrupting, effect: Effect) -> bool:
    """Whether an interrupt leaves the activated force unable to do what it was activated for.

    Under Rough Going a force that starts in difficult ground cannot move; guns may still clear
    their smoke. Of a charging force half must still be able to charge (M-8.2).
    """
    if effect != "rough-going":
        return effect == "foil"
    units = [field_at(state).by_id[name] for name in step.force]
    # One unit stands for all: a force is in difficult ground as a whole or not at all (M-1.15).
    if state.round.command == "charge":
        able = able_to_charge(state, step.force)
        return units[0].is_in_difficult or not are_enough_chargers(len(able), len(units))
    return units[0].is_in_difficult and not any(unit.has_smoke for unit in units)


def _has_modified(state: State, step: Modifying) -> bool:
    played = {(modifier.side, modifier.symbol) for modifier in state.round.modifiers}
    return (step.side, step.symbol) in played


def _card_amounts(state: State, step: Modifying, card: Card) -> tuple[dict[str, int], ...]:
    """Lists what a dealt card may add to whom: to any one unit, or to all."""
    if card.modifies is None or card.modifies.symbol != step.symbol:
        return ()
    adds = card.modifies.adds
    side = step.side if card.modifies.to == "own" else state.other(step.side)
    units = [unit.id for unit in field_at(state).of_side(side)]
    if card.modifies.is_for_one:
        return tuple({unit: adds} for unit in units)
    return (dict.fromkeys(units, adds),)


def _effective(
    options: Sequence[dict[str, int]], concerned: Sequence[str]
) -> Sequence[dict[str, int]]:
    """Returns those modifiers that change something, or all where none does."""
    return [amounts for amounts in options if not amounts.keys().isdisjoint(concerned)] or options


def _check_modify(state: State, step: Modifying, action: Modify) -> None:
    """Refuses a modifier of the wrong side, symbol, card, unit or amount."""
    _check_side(action.side, step.side)
    if action.symbol != step.symbol:
        expected = f"expected a card with {SYMBOL_WORDS[step.symbol]}"
        got = f"got {SYMBOL_WORDS[action.symbol]}"
        raise Refused(f"{expected}, {got}", rule="M-3.5", key="symbol")
    if _has_modified(state, step):
        why = f"{side_plural(step.side)} have already played a card with this symbol"
        raise Refused(why, rule="M-3.6", key="symbol")
    # A dealt card has an effect of its own; players state that of theirs.
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
    """Asks the next side the same, or moves on."""
    if not step.left:
        return state.to(step.then)
    return state.to(replace(step, side=step.left[0], left=step.left[1:]))


def _modifier_words(state: State, action: Modify) -> str:
    title = f"{side_plural(action.side)} play a card with {SYMBOL_WORDS[action.symbol]}"
    if action.card is not None and (card := state.options.card(action.card)) is not None:
        title = f"{side_plural(action.side)} play {card.title}"
    added = ", ".join(f"{amount:+d} for {unit}" for unit, amount in action.amounts.items())
    return f"{title}: {added}" if added else title
