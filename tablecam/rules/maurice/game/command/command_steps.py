"""The volley phase and the command choice: what the active side does in its round (M-4.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import shapely

from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.tables import SHORT_BW
from tablecam.rules.maurice.game.command.able import may_charge
from tablecam.rules.maurice.game.state.actions import Action, Declare, Volleys
from tablecam.rules.maurice.game.state.declaring import may_try_to_fire
from tablecam.rules.maurice.game.state.hand import cards_of, held_card, is_dealt, without_cards
from tablecam.rules.maurice.game.state.sequence import DRAWS, after_declaring, after_fire
from tablecam.rules.maurice.game.state.state import Command, State
from tablecam.rules.maurice.game.state.step_rules import Followed
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
    """`VolleyChoice`: the active side invokes the volley phase or does without it (M-4.3)."""

    def asked(self, state: State, step: VolleyChoice) -> Asked:
        """The active side."""
        return Asked(f"Does {side_name(state.active)} invoke the volley phase?", state.active)

    def legal(self, state: State, step: VolleyChoice) -> tuple[Action, ...]:
        """No volleys; and volleys where anybody who ever fires has an enemy within their range."""
        field = field_at(state)
        may_fire = (
            any(may_try_to_fire(unit) for unit in field.units)
            if state.declares_first
            else _is_any_within_range(field)
        )
        return (Volleys(False), Volleys(True)) if may_fire else (Volleys(False),)

    def apply(self, state: State, step: VolleyChoice, action: Action) -> Followed:
        """The passive side may interrupt the volleys; without them the command choice is due."""
        if not isinstance(action, Volleys):
            raise Refused(f"expected volleys or none, got {action.type}", rule="M-4.3")
        if not action.invoke:
            return after_fire(state, "volley"), ()
        state = replace(state, round=replace(state.round, has_volleys=True))
        facts = {"side": state.active}
        text = f"{side_name(state.active)} invokes the volley phase"
        event = Event("volleys", text, "M-4.3", facts)
        return state.to(Interrupting("volleys")), (event,)


class CommandChoiceRules:
    """`CommandChoice`: a pass, an event, or one action that the army can do at all (M-4.4)."""

    def asked(self, state: State, step: CommandChoice) -> Asked:
        """The active side."""
        return Asked(f"What does {side_name(state.active)} do in this round?", state.active)

    def legal(self, state: State, step: CommandChoice) -> tuple[Action, ...]:
        """Every command that is possible; where tablecam deals, each event by its card."""
        found: list[Action] = [Declare("pass")]
        if state.round.is_without_cards:
            return tuple(found)
        if is_dealt(state):
            cards = cards_of(state, state.active)
            found += [Declare("event", card.id) for card in cards if card.is_event]
        elif state.side(state.active).hand:
            found.append(Declare("event"))
        actions = [each for each in get_args(Command) if each not in ("pass", "event")]
        found += [Declare(each) for each in actions if why_impossible(state, each) is None]
        return tuple(found)

    def apply(self, state: State, step: CommandChoice, action: Action) -> Followed:
        """The command is declared, then its cards are drawn, then a force is named (M-4.10)."""
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
        then = after_declaring(state).step
        return state.to(Drawing(state.active, DRAWS[command], then)), events


def _is_any_within_range(field: Field) -> bool:
    """Whether infantry or artillery lies within short range of an enemy (M-7.6, M-7.9)."""
    far_mm = SHORT_BW * field.bw_mm
    return any(
        unit.unit.arm != "cavalry"
        and any(shapely.dwithin(unit.outline, each.outline, far_mm) for each in enemies)
        for unit in field.units
        for enemies in [field.enemies_of(unit)]
    )


def why_impossible(state: State, command: Command) -> str | None:
    """Why an army has no way of doing an action, whatever the spans; None if it has one (M-4.8)."""
    units = field_at(state).of_side(state.active)
    if not units:
        return "none of its units is on the table"
    if command == "bombard":
        guns = [unit for unit in units if unit.unit.arm == "artillery"]
        if all(gun.id in state.round.fired for gun in guns):
            return "it has no artillery that has not fired in this round"
    if command == "rally" and not any(unit.disruption for unit in units):
        return "none of its units is disrupted"
    if command == "charge" and not any(may_charge(state, unit.id) for unit in units):
        return "none of its units can charge"
    return None


def _check_declared(state: State, action: Declare) -> None:
    if state.round.is_without_cards and action.command != "pass":
        why = f"{side_name(state.active)} began its round without cards: it must pass"
        raise Refused(why, rule="M-4.18", key="command")
    if action.command != "event" and action.card is not None:
        why = f"expected no card for a {action.command}, got {quoted(action.card)}"
        raise Refused(why, rule="M-4.7", key="card")
    if action.command == "event":
        card = held_card(state, state.active, action.card)
        if card is not None and not card.is_event:
            raise Refused(f"{card.title} is no event", rule="M-3.8", key="card")
        return
    why_not = None if action.command == "pass" else why_impossible(state, action.command)
    if why_not is not None:
        why = f"{side_name(state.active)} cannot {action.command}: {why_not}"
        raise Refused(why, rule="M-4.8", key="command")


def _event(state: State, action: Declare) -> State:
    """An event is played for its text: nobody draws, nobody modifies or interrupts it (M-4.7)."""
    state = without_cards(state, state.active, (action.card,))
    then = after_declaring(state).step
    card = None if action.card is None else state.options.card(action.card)
    if card is not None and not card.is_removable:
        return state.to(then)
    return state.to(Removing(state.active, (state.passive,), then, action.card))
