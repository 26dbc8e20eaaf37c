"""The volley phase and the command choice of the active side (M-4.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import shapely

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.tables import SHORT_BW
from tablecam.rules.maurice.game.actions import Action, Declare, Volleys
from tablecam.rules.maurice.game.activation import DRAWS, Activating, Interrupting, may_charge
from tablecam.rules.maurice.game.cards import Drawing, Removing, held_card, with_cards_discarded
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.fire import after_fire
from tablecam.rules.maurice.game.state import Command, State, StateAndEvents, Step
from tablecam.rules.maurice.game.table import field_at
from tablecam.table.sides import side_plural
from tablecam.wording import quoted


class VolleyChoice(Step):
    """The active side's choice to invoke the volley phase or not (M-4.3)."""

    def asked(self, state: State) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision("Volley phase: fire?", state.active)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists no volleys, and volleys where a unit that can fire has an enemy in range."""
        field = field_at(state)
        # A choice by range would measure for the players (`DECLARING.md`).
        may_fire = (
            any(unit.may_fire for unit in field.units)
            if state.declares_first
            else bool(units_in_range(field))
        )
        return (Volleys(False), Volleys(True)) if may_fire else (Volleys(False),)

    def follow(self, state: State, action: Action) -> StateAndEvents:
        """Lets the passive side interrupt the volleys, or moves on to the command choice."""
        if not isinstance(action, Volleys):
            raise Refused(f"expected volleys or no volleys, got {action.type}", rule="M-4.3")
        if not action.invoke:
            return after_fire(state, "volley"), ()
        state = replace(state, round=replace(state.round, has_volleys=True))
        text = f"{side_plural(state.active)} start the volley phase"
        event = Event("volleys", text, "M-4.3", {"side": state.active})
        return state.to(Interrupting("volleys")), (event,)

    def is_forced(self, state: State) -> bool:
        """Whether nobody is near enough to fire."""
        return is_nobody_near(field_at(state))


class CommandChoice(Step):
    """The active side's choice of one command (M-4.4)."""

    def asked(self, state: State) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision(f"{side_plural(state.active)}: choose a command", state.active)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists every feasible command; where tablecam deals, each event by its card."""
        commands: list[Action] = [Declare("pass")]
        if state.round.is_without_cards:
            return tuple(commands)
        if state.is_dealt:
            cards = state.cards_of(state.active)
            commands += [Declare("event", card.id) for card in cards if card.is_event]
        elif state.side(state.active).hand:
            commands.append(Declare("event"))
        actions = [command for command in get_args(Command) if command not in ("pass", "event")]
        commands += [
            Declare(command) for command in actions if why_impossible(state, command) is None
        ]
        return tuple(commands)

    def follow(self, state: State, action: Action) -> StateAndEvents:
        """Declares the command, then draws its cards; a force is named after that (M-4.10)."""
        if not isinstance(action, Declare):
            raise Refused(f"expected a command, got {action.type}", rule="M-4.4")
        _check_declared(state, action)
        command = action.command
        state = replace(state, round=replace(state.round, command=command))
        facts = {"command": command, "card": action.card, "side": state.active}
        text = f"{side_plural(state.active)} declare: {command}"
        events = (Event("command", text, "M-4.4", facts),)
        if command == "event":
            return _event(state, action), events
        # The draw comes first, the force is named after it (M-4.10).
        then = after_declaring(state).step
        return state.to(Drawing(state.active, DRAWS[command], then)), events


def is_nobody_near(field: Field) -> bool:
    """Whether all enemies are beyond short range by more than cameras and hands can be wrong."""
    return not units_in_range(field, SHORT_BW + 0.25)


def units_in_range(field: Field, range_bw: float = SHORT_BW) -> list[str]:
    """Returns the infantry and artillery within short range of an enemy (M-7.6, M-7.9)."""
    # Distance alone is quick; who can hit whom is worked out when a unit fires.
    far_mm = range_bw * field.bw_mm
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
        # True without any artillery, too.
        if all(gun.id in state.round.fired for gun in guns):
            return "all their artillery has already fired in this round"
    if command == "rally" and not any(unit.disruption for unit in units):
        return "none of their units is disrupted"
    if command == "charge" and not any(may_charge(state, unit.id) for unit in units):
        return "none of their units can charge"
    return None


def _check_declared(state: State, action: Declare) -> None:
    """Refuses a command that the hand or the army does not allow."""
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


def _event(state: State, action: Declare) -> State:
    """Plays an event for its text: no draws, modifiers or interrupts (M-4.7)."""
    state = with_cards_discarded(state, state.active, (action.card,))
    then = after_declaring(state).step
    card = None if action.card is None else state.options.card(action.card)
    # A card that only the players know may be removable, so they are asked.
    if card is not None and not card.is_removable:
        return state.to(then)
    return state.to(Removing(state.active, (state.passive,), then, action.card))


def after_declaring(state: State) -> State:
    """Continues after a command: only an action needs a force (M-4.4, M-4.10)."""
    is_action = state.round.command not in ("pass", "event")
    return state.to(Activating() if is_action else MovingCommander())
