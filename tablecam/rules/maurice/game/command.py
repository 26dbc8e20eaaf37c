"""The volley phase and the command choice of the active side (M-4.2)."""

from __future__ import annotations

from functools import partial
from typing import get_args

import shapely

from tablecam.rules.game import Refused
from tablecam.rules.maurice.charge.charge import why_never_charges
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.tables import SHORT_BW
from tablecam.rules.maurice.fire.targets import why_never_fires
from tablecam.rules.maurice.game.actions import Action, Declare, Volleys
from tablecam.rules.maurice.game.activation import DRAWS, Activating, Interrupting, may_charge
from tablecam.rules.maurice.game.cards import Drawing, Removing, held_card, with_cards_discarded
from tablecam.rules.maurice.game.charge import charge_bans
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.state import Command, State, Step, permitted
from tablecam.rules.maurice.game.table import field_at
from tablecam.rules.steps import whys
from tablecam.table.sides import side_plural
from tablecam.wording import quoted


class VolleyChoice(Step):
    """The active side's choice to invoke the volley phase or not (M-4.3)."""

    question, is_complete = "Volley phase: fire?", True
    kinds, expects, answer_rule = (Volleys,), "volleys or no volleys", "M-4.3"

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists no volleys, and volleys if a unit that can fire has an enemy in range."""
        return (Volleys(False), Volleys(True)) if may_fire(state) else (Volleys(False),)

    def why_missing(self, state: State) -> str:
        """Says why nobody fires."""
        return "" if may_fire(state) else f"nobody is within {SHORT_BW:g} BW of an enemy"

    def decided(self, state: State, action: Volleys) -> State:
        """Lets the passive side interrupt the volleys, or moves on to the command choice."""
        if not action.invoke:
            return state.to(CommandChoice())
        text = f"{side_plural(state.active)} start the volley phase"
        state = state.with_round(has_volleys=True).to(Interrupting("volleys"))
        return state.tells("volleys", text, "M-4.3", side=state.active)


class CommandChoice(Step):
    """The active side's choice of one command (M-4.4)."""

    question = "{who}: choose a command"
    kinds, expects, answer_rule = (Declare,), "a command", "M-4.4"

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists every feasible command; if tablecam deals, each event by its card."""
        held = state.cards_of(state.active)
        cards = [card.id for card in held if card.is_event] if state.is_dealt else [None]
        passing, _, *commands = map(Declare, get_args(Command))
        events = (Declare("event", card) for card in cards)
        return permitted((passing, *events, *commands), partial(_check_declared, state))

    def why_missing(self, state: State) -> str:
        """Says why commands are not feasible."""
        if state.round.is_without_cards:
            return "Only to pass is left: the round began without cards"
        commands: tuple[Command, ...] = ("charge", "rally", "bombard")
        why_not = {command: why_impossible(state, command) for command in commands}
        return ". ".join(f"No {command}: {why}" for command, why in why_not.items() if why)

    def lists_all(self, state: State) -> bool:
        """Whether a side without cards can only pass; players name their own events."""
        return state.round.is_without_cards

    def decided(self, state: State, action: Declare) -> State:
        """Declares the command, then draws its cards; a force is named after that (M-4.10)."""
        _check_declared(state, action)
        command, card, side = action.command, action.card, state.active
        text = f"{side_plural(side)} declare: {command}"
        state = state.with_round(command=command)
        state = state.tells("command", text, "M-4.4", command=command, card=card, side=side)
        # Only an action needs a force (M-4.4).
        then = MovingCommander() if command in ("pass", "event") else Activating()
        if command == "event":
            return _event(state, action, then)
        # The draw comes first, the force is named after it (M-4.10).
        return state.to(Drawing(side, DRAWS[command], then))


def may_fire(state: State) -> list[str]:
    """Returns the units within range for volleys; if players declare first, all that ever fire.

    A choice by range would reveal distances (`DECLARING.md`).
    """
    field = field_at(state)
    if state.declares_first:
        return [unit.id for unit in field.units if why_never_fires(unit) is None]
    return units_in_range(field)


def units_in_range(field: Field) -> list[str]:
    """Returns the infantry and artillery within short range of an enemy (M-7.6, M-7.9)."""
    # Distance alone is quick; who can hit whom is worked out when a unit fires.
    far_mm = SHORT_BW * field.bw_mm
    return [
        unit.id
        for unit in field.units
        if unit.unit.arm != "cavalry"
        and any(
            shapely.dwithin(unit.outline, enemy.outline, far_mm) for enemy in field.enemies_of(unit)
        )
    ]


def why_impossible(state: State, command: Command) -> str | None:
    """Returns why an army cannot do an action at any span, or None if it can (M-4.8)."""
    units = field_at(state).of_side(state.active)
    if not units:
        return "they have no units on the table"
    if command == "bombard":
        guns = [unit for unit in units if unit.unit.arm == "artillery"]
        if not guns:
            return "they have no artillery"
        if all(gun.id in state.round.fired for gun in guns):
            return "all their artillery has already fired in this round"
    if command == "rally" and not any(unit.disruption for unit in units):
        return "none of their units is disrupted"
    if command == "charge" and not any(may_charge(state, unit.id) for unit in units):
        # Units that may never charge explain nothing unless there are no others.
        fit = [unit.id for unit in units if why_never_charges(unit) is None]
        return whys(charge_bans(state, fit or [unit.id for unit in units]))
    return None


def _check_declared(state: State, action: Declare) -> None:
    if state.round.is_without_cards and action.command != "pass":
        why = f"{side_plural(state.active)} began the round without cards and must pass"
        raise Refused(why, rule="M-4.18", key="command")
    if action.command != "event" and action.card is not None:
        why = f"expected no card for the {action.command} action, got {quoted(action.card)}"
        raise Refused(why, rule="M-4.7", key="card")
    if action.command == "event":
        card = held_card(state, state.active, action.card)
        if card is not None and not card.is_event:
            raise Refused(f"{card.title} is not an event", rule="M-3.8", key="card")
        return
    why_not = None if action.command == "pass" else why_impossible(state, action.command)
    if why_not is not None:
        why = f"{side_plural(state.active)} cannot {action.command}: {why_not}"
        raise Refused(why, rule="M-4.8", key="command")


def _event(state: State, action: Declare, then: Step) -> State:
    """Plays an event for its text: no draws, modifiers or interrupts (M-4.7)."""
    state = with_cards_discarded(state, state.active, (action.card,))
    card = None if action.card is None else state.options.card(action.card)
    # A card known only to the players may be removable, so they are asked.
    if card is not None and not card.is_removable:
        return state.to(then)
    return state.to(Removing(state.active, (state.passive,), then, action.card))
