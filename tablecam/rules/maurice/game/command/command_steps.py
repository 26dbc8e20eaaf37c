"""The volley phase and the command choice of the active side (M-4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import shapely

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.tables import SHORT_BW
from tablecam.rules.maurice.game.state.actions import Action, Declare, Volleys
from tablecam.rules.maurice.game.state.declaring import has_declarable_charge
from tablecam.rules.maurice.game.state.hand import held_card, with_cards_discarded
from tablecam.rules.maurice.game.state.sequence import DRAWS, after_declaring, after_fire
from tablecam.rules.maurice.game.state.state import Command, State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import (
    CommandChoice,
    Drawing,
    Interrupting,
    Removing,
    VolleyChoice,
)
from tablecam.rules.maurice.game.state.table import charges_at, field_at
from tablecam.table.sides import side_plural
from tablecam.wording import quoted


class VolleyChoiceRules:
    """Rules of `VolleyChoice`: the active side invokes volleys or skips them (M-4.3)."""

    def asked(self, state: State, step: VolleyChoice) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision("Volley phase: fire?", state.active)

    def legal(self, state: State, step: VolleyChoice) -> tuple[Action, ...]:
        """Lists no volleys, and volleys where a unit that can fire has an enemy in range."""
        field = field_at(state)
        # A choice by range would measure for the players (`DECLARING.md`).
        may_fire = (
            any(unit.may_fire for unit in field.units)
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
        text = f"{side_plural(state.active)} start the volley phase"
        event = Event("volleys", text, "M-4.3", {"side": state.active})
        return state.to(Interrupting("volleys")), (event,)


class CommandChoiceRules:
    """Rules of `CommandChoice`: a pass, an event, or a feasible action (M-4.4)."""

    def asked(self, state: State, step: CommandChoice) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision(f"{side_plural(state.active)}: choose a command", state.active)

    def legal(self, state: State, step: CommandChoice) -> tuple[Action, ...]:
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

    def apply(self, state: State, step: CommandChoice, action: Action) -> StateAndEvents:
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


@dataclass(frozen=True, slots=True)
class EligibleUnits:
    """The units that may be in an activated force, and those that must be half of it."""

    may: frozenset[str]
    half: frozenset[str]
    rule: str
    what: str

    def refusal(self, force: Sequence[str]) -> str | None:
        """Returns why a force cannot be activated for the action, or None if it can."""
        is_half = 2 * sum(name in self.half for name in force) >= len(force)
        if is_half and all(name in self.may for name in force):
            return None
        return f"expected a force with {self.what}, got {', '.join(force)}"


def eligible_units(state: State, *, in_doubt: Iterable[str] = ()) -> EligibleUnits:
    """Returns the active side's units that the declared action is for.

    A charge that is too close to call is the charger's choice. That is only worked out for the
    units in `in_doubt`, as it takes long.
    """
    units = field_at(state).of_side(state.active)
    all_units = frozenset(unit.id for unit in units)
    if state.round.command == "bombard":
        guns = frozenset(unit.id for unit in units if unit.unit.arm == "artillery")
        ready = guns - state.round.fired
        return EligibleUnits(ready, guns, "M-7.3", "only artillery that has not fired")
    if state.round.command == "charge":
        # No charge is declared for artillery (M-8.1).
        fit = frozenset(unit.id for unit in units if unit.unit.arm != "artillery")
        if state.declares_first:
            tries = frozenset(name for name in fit if has_declarable_charge(state, name))
            expected = "at least half of its units allowed to try a charge"
            return EligibleUnits(fit, tries, "M-8.2", expected)
        can = {name for name, charge in charges_at(state, fit).items() if charge.is_eligible}
        # Close calls take long to work out, so only the named units are asked.
        can |= {name for name in in_doubt if name in fit - can and may_charge(state, name)}
        expected = "at least half of its units able to charge"
        return EligibleUnits(fit, frozenset(can), "M-8.2", expected)
    return EligibleUnits(all_units, all_units, "M-4.15", "units")


def may_charge(state: State, unit: str) -> bool:
    """Whether a unit can charge, too close to call included (M-8.3).

    Where players declare first: whether it may try to.
    """
    if state.declares_first:
        return has_declarable_charge(state, unit)
    charge = charges_at(state, [unit])[unit]
    return charge.is_eligible or bool(charge.close_calls)
