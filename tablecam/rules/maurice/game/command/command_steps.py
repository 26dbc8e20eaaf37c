"""The volley phase and the command choice of the active side (M-4.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import shapely

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.tables import SHORT_BW
from tablecam.rules.maurice.game.command.eligibility import may_charge
from tablecam.rules.maurice.game.state.actions import Action, Declare, Volleys
from tablecam.rules.maurice.game.state.declaring import may_try_to_fire
from tablecam.rules.maurice.game.state.hand import (
    cards_of,
    held_card,
    with_cards_discarded,
)
from tablecam.rules.maurice.game.state.sequence import DRAWS, after_declaring, after_fire
from tablecam.rules.maurice.game.state.state import Command, State
from tablecam.rules.maurice.game.state.step_rules import StateAndEvents
from tablecam.rules.maurice.game.state.steps import (
    CommandChoice,
    Drawing,
    Interrupting,
    Removing,
    VolleyChoice,
)
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.sides import side_name
from tablecam.wording import quoted


class VolleyChoiceRules:
    """Rules of `VolleyChoice`: the active side invokes volleys or skips them (M-4.3)."""

    def asked(self, state: State, step: VolleyChoice) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision(
            f"Does {side_name(state.active)} invoke the volley phase?", state.active
        )

    def legal(self, state: State, step: VolleyChoice) -> tuple[Action, ...]:
        """Lists no volleys, and volleys where a unit that can fire has an enemy in range."""
        field = field_at(state)
        # A choice by range would measure for the players (`DECLARING.md`).
        may_fire = (
            any(may_try_to_fire(unit) for unit in field.units)
            if state.declares_first
            else bool(units_in_range(field))
        )
        return (Volleys(False), Volleys(True)) if may_fire else (Volleys(False),)

    def apply(self, state: State, step: VolleyChoice, action: Action) -> StateAndEvents:
        """Lets the passive side interrupt the volleys, or moves on to the command choice."""
        if not isinstance(action, Volleys):
            raise Refused(f"expected volleys or no volleys, got {action.type}", rule="M-4.3")
        if not action.invoke:
            return after_fire(state, "volley"), ()
        state = replace(state, round=replace(state.round, has_volleys=True))
        facts = {"side": state.active}
        text = f"{side_name(state.active)} invokes the volley phase"
        event = Event("volleys", text, "M-4.3", facts)
        return state.to(Interrupting("volleys")), (event,)


class CommandChoiceRules:
    """Rules of `CommandChoice`: a pass, an event, or a feasible action (M-4.4)."""

    def asked(self, state: State, step: CommandChoice) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision(
            f"What does {side_name(state.active)} do in this round?", state.active
        )

    def legal(self, state: State, step: CommandChoice) -> tuple[Action, ...]:
        """Lists every feasible command; where tablecam deals, each event by its card."""
        commands: list[Action] = [Declare("pass")]
        if state.round.is_without_cards:
            return tuple(commands)
        if state.is_dealt:
            cards = cards_of(state, state.active)
            commands += [Declare("event", card.id) for card in cards if card.is_event]
        elif state.side(state.active).hand:
            commands.append(Declare("event"))
        actions = [command for command in get_args(Command) if command not in ("pass", "event")]
        commands += [
            Declare(command) for command in actions if why_impossible(state, command) is None
        ]
        return tuple(commands)

    def apply(self, state: State, step: CommandChoice, action: Action) -> StateAndEvents:
        """Declares the command, then draws its cards; a force is named after that (M-4.10)."""
        if not isinstance(action, Declare):
            raise Refused(f"expected a command, got {action.type}", rule="M-4.4")
        _check_declared(state, action)
        command = action.command
        state = replace(state, round=replace(state.round, command=command))
        facts = {"command": command, "card": action.card, "side": state.active}
        text = f"{side_name(state.active)} declares: {command}"
        events = (Event("command", text, "M-4.4", facts),)
        if command == "event":
            return _event(state, action), events
        # The draw comes first, the force is named after it (M-4.10).
        then = after_declaring(state).step
        return state.to(Drawing(state.active, DRAWS[command], then)), events


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
        return "it has no units on the table"
    if command == "bombard":
        guns = [unit for unit in units if unit.unit.arm == "artillery"]
        # True without any artillery, too.
        if all(gun.id in state.round.fired for gun in guns):
            return "all its artillery has already fired in this round"
    if command == "rally" and not any(unit.disruption for unit in units):
        return "none of its units is disrupted"
    if command == "charge" and not any(may_charge(state, unit.id) for unit in units):
        return "none of its units can charge"
    return None


def _check_declared(state: State, action: Declare) -> None:
    """Refuses a command that the hand or the army does not allow."""
    if state.round.is_without_cards and action.command != "pass":
        why = f"{side_name(state.active)} began its round without cards and must pass"
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
        why = f"{side_name(state.active)} cannot {action.command}: {why_not}"
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
