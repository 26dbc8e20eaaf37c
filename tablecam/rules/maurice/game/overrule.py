"""Overrules: corrections agreed on by the players, applied and recorded as such.

They set units' poses, disruption and smoke, remove units, correct morale, hands and commanders, and
resume the round at another step, at any time.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tablecam.geometry.moves.poses import laid
from tablecam.rules import descriptions as about
from tablecam.rules.game import Refused
from tablecam.rules.maurice.field.tables import BASES
from tablecam.rules.maurice.game.actions import Overrule
from tablecam.rules.maurice.game.cards import Discarding, Drawing, draws_due
from tablecam.rules.maurice.game.commander import EndingRound, first_step, is_deck_exhausted
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.setup import with_commanders_at
from tablecam.rules.maurice.game.state import Deck, Over, State, Step, refusing
from tablecam.rules.maurice.game.table import field_on
from tablecam.rules.miniatures.drawing import names_in
from tablecam.rules.overrules import check_overrule, overrule_changes, overrule_event
from tablecam.table.model import Unit
from tablecam.table.sides import side_name
from tablecam.wording import quoted

_STAGES = (
    about.SettingChoice("first", "first", "Before the first reshuffle"),
    about.SettingChoice("second", "second", "With the Reshuffle card in it"),
    about.SettingChoice("last", "last", "The Reshuffle card is out: it is not shuffled again"),
)

_STEP_CHOICES = (
    about.SettingChoice("volleys", "Volleys"),
    about.SettingChoice("command", "The command"),
    about.SettingChoice("end", "End of round"),
)


_STEPS = {"volleys": "volley-choice", "command": "command-choice", "end": "ending-round"}
"""Steps at which a round may be resumed, by their types."""


def settings(state: State) -> tuple[about.Setting, ...]:
    """Returns what players may overrule; if tablecam deals, it counts the cards itself."""
    sides, units, dealt = state.sides, state.position.units, state.is_dealt
    # Cards still to be dealt count as part of a hand.
    due = {side.name: draws_due(state.step, side.name) for side in sides}
    hands = {side.name: side.hand + due[side.name] for side in sides}
    number, active = {"": state.round.number}, {"": state.active}
    choices = tuple(about.SettingChoice(side.name, side_name(side.name)) for side in sides)
    morale = {side.name: side.morale for side in sides}
    deck = {"": max(0, state.deck.left - sum(due.values()))}
    levels = {unit.id: int(unit.state.get("disruption", 0)) for unit in units}
    most = max((len(unit.bases) for unit in units), default=0)
    left = about.Setting("deck", "cards left in the deck", "game", "number", deck)
    smoke = {
        unit.id: bool(unit.state.get("smoke", False)) for unit in units if unit.arm == "artillery"
    }
    return (
        about.Setting("number", "round", "game", "number", number, least=1, is_restated=True),
        about.Setting(
            "active", "active side", "game", "choice", active, choices=choices, is_restated=True
        ),
        about.Setting("morale", "morale", "side", "number", morale, least=1),
        about.Setting("hands", "cards in hand", "side", "number", hands, is_rare=dealt),
        replace(left, falls_with="hands", is_rare=True) if dealt else left,
        about.Setting("stage", "deck", "game", "choice", {"": state.deck.stage}, choices=_STAGES),
        about.Setting("step", "continue with", "game", "choice", {}, choices=_STEP_CHOICES),
        about.Setting(
            "disruption", "disruption", "unit", "number", levels, most=most, marker="pips"
        ),
        about.Setting("smoke", "smoke", "unit", "switch", smoke, marker="cloud"),
    )


def overruled(state: State, action: Overrule) -> State:
    """Returns the state as players have set it.

    Raises:
        Refused: A name is unknown, a number or the table impossible, or the current step needs a
            unit that is removed, and no other step is named.
    """
    check_cards(state, action)
    _check(state, action)
    units = (unit for unit in state.position.units if unit.id not in action.off)
    position = replace(state.position, units=tuple(_unit_after(unit, action) for unit in units))
    position = with_commanders_at(position, action.commanders)
    with refusing():
        # This refuses a table on which nothing could be ruled.
        field_on(position)
    state = replace(state, position=position)
    for name, morale in action.morale.items():
        state = state.with_side(replace(state.side(name), morale=morale))
    moved: list[str] = []
    if isinstance(state.step, Marching):
        moved = [name for name in action.asked if name in state.step.waiting]
        state = state.to(state.step.after(state, *moved))
    state = state.with_events(overrule_event(action, settings(state), moved))
    return with_cards(state, action, _resumed(state, action))


def agreed_on(state: State, action: Overrule) -> str:
    """Describes an overrule that both sides have to agree on; returns "" if one side may do it.

    Cards that are drawn, or laid open with the discards, reveal what a hand may hold, and so does a
    named card.

    Raises:
        Refused: A name is unknown, or a number impossible.
    """
    check_aside(state, action)
    # Before the first deal no hand is concealed.
    is_any_dealt = any(side.cards for side in state.sides)
    is_of_cards = bool(action.hands) or action.deck is not None
    if not state.is_dealt or not (action.aside or (is_any_dealt and is_of_cards)):
        return ""
    _check(state, action)
    named = [f"laid aside: {', '.join(action.aside)}"] if action.aside else []
    return "; ".join([*overrule_changes(action, settings(state)), *named])


def _check(state: State, action: Overrule) -> None:
    check_overrule(action, settings(state), state.position)
    for unit in state.position.units:
        if unit.id in action.units and not action.units[unit.id]:
            raise Refused(f"expected the bases of {unit.id}, got none", key="units")
        level = action.disruption.get(unit.id, 0)
        # With more it would be broken (M-1.14).
        if level > BASES[unit.arm]:
            expected = f"expected 0 to {BASES[unit.arm]} disruption for {unit.id}"
            raise Refused(f"{expected}, got {level}", key="disruption")


def _unit_after(unit: Unit, action: Overrule) -> Unit:
    """Returns a unit with its overruled poses and markers; poses decide its formation."""
    if unit.id in action.units:
        unit = laid(unit, action.units[unit.id])
    given = {"disruption": action.disruption, "smoke": action.smoke}
    markers = {key: by_unit[unit.id] for key, by_unit in given.items() if unit.id in by_unit}
    return replace(unit, state={**unit.state, **markers})


def _resumed(state: State, action: Overrule) -> State:
    number = state.round.number if action.number is None else action.number
    if action.active is not None:
        # Passing the turn to the other side starts a new round.
        number += action.number is None and action.active != state.active
        state = first_step(state, number, action.active)
    state = state.with_round(number=number)
    if action.step is not None:
        return state.at(_STEPS[action.step])
    # A step that refers to a removed unit cannot go on.
    named = {*names_in(state.step)}
    missing = next((name for name in action.off if name in named), None)
    if missing is not None:
        steps = ", ".join(_STEPS)
        why = f"expected a step to continue with ({steps}), as the current step needs {missing}"
        raise Refused(why, key="step")
    # A finished game resumes at the end of its round.
    if isinstance(state.step, Over) and action.active is None:
        return state.to(EndingRound())
    return state


def check_cards(state: State, action: Overrule) -> None:
    """Checks the numbers of cards in an overrule.

    Raises:
        Refused: A number is impossible; names the key and the actual number.
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
        step = _with_draws(before, action, _split(state.step)[1])
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
    """Corrects the facts noted at the round's start, until a command is declared."""
    # Once a command is declared, these facts stay (M-4.6, M-4.18).
    if state.round.command is not None:
        return state
    if action.active is not None or state.active in action.hands:
        dealt = state.side(state.active).hand + draws_due(state.step, state.active)
        state = state.with_round(is_without_cards=action.hands.get(state.active, dealt) == 0)
    if action.deck is not None or action.stage is not None:
        state = state.with_round(is_deck_out=is_deck_exhausted(state.deck))
    return state


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
    step = _with_draws(state, action, _split(state.step)[1])
    return sum(draws_due(step, side.name) for side in state.sides)


def _check_dealt(state: State, action: Overrule) -> None:
    left = len(state.deck.cards)
    if action.hands and _all_draws_due(state, action) > left:
        raise Refused(f"expected hands that need at most {left} cards from the deck", key="hands")
    count, aside = _aside_count(state, action), action.aside or ()
    if not 0 <= count <= left:
        most = f"at most {(action.deck or 0) + count} cards left"
        least = f"at least {(action.deck or 0) + count - left} cards"
        expected = f"expected {most if count < 0 else least} in the deck"
        raise Refused(f"{expected}, got {action.deck}", key="deck")
    if not (len(aside) == len(set(aside)) == count and set(aside) <= set(state.deck.cards)):
        raise Refused(f"expected {count} cards from the deck", rule="M-3.10", key="aside")


def _with_draws(state: State, action: Overrule, then: Step) -> Step:
    """Returns the step `then`, preceded by all draws and discards that are due.

    Draws due to a side are part of the hand that an overrule states for it.
    """
    step, due = then, _split(state.step)[0]
    # Steps nest outwards: the last one built comes first in play.
    for drawing in reversed(due):
        if drawing.side not in action.hands:
            step = replace(drawing, then=step)
    for name, hand in reversed([*action.hands.items()]):
        more = hand - state.side(name).hand
        if more > 0:
            step = Drawing(name, more, step)
        elif more < 0:
            step = Discarding(name, -more, "told", step)
    return step


def _split(step: Step) -> tuple[list[Drawing], Step]:
    """Returns the draws that are due, and the step after them."""
    due = []
    while isinstance(step, Drawing):
        due.append(step)
        step = step.then
    return due, step
