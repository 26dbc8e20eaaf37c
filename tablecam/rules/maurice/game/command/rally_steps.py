"""Rallying: the units of a force try one by one to shed disruption (M-9)."""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.combat.rally import rally, rally_attempt
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.requests import Dice
from tablecam.rules.maurice.field.requests import Rally as Request
from tablecam.rules.maurice.game.state.actions import Action, Done, Rally
from tablecam.rules.maurice.game.state.sequence import after_action
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.step_rules import RollRules
from tablecam.rules.maurice.game.state.steps import Rallying, RollingRally
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.sides import side_plural
from tablecam.wording import counted


class RallyingRules:
    """Rules of `Rallying`: each unit of the force may try once, in any order (M-9.1)."""

    def asked(self, state: State, step: Rallying) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision(
            f"{side_plural(state.active)}: which unit rallies next?", state.active
        )

    def legal(self, state: State, step: Rallying) -> tuple[Action, ...]:
        """Lists every disrupted unit of the force that has not tried, and stopping."""
        return (*(Rally(name) for name in _left(field_at(state), step)), Done())

    def apply(self, state: State, step: Rallying, action: Action) -> StateAndEvents:
        """Moves on to a unit's dice, or ends the action."""
        if isinstance(action, Done):
            return after_action(state), ()
        if not isinstance(action, Rally):
            raise Refused(f"expected a unit to rally or done, got {action.type}", rule="M-9.1")
        left = _left(field_at(state), step)
        if action.unit not in left:
            expected = f"expected one of {', '.join(left)}" if left else "expected done"
            raise Refused(f"{expected}, got {action.unit}", rule="M-9.1", key="unit")
        # Marked before the dice: a unit tries once, whatever comes up (M-9.1).
        tried = replace(step, tried=(*step.tried, action.unit))
        return state.to(RollingRally(action.unit, tried)), ()


class RollingRallyRules(RollRules):
    """Rules of `RollingRally`: a die for each disruption; each success sheds one (M-9.2)."""

    def asked(self, state: State, step: RollingRally) -> PendingDecision:
        """Asks the active side to roll."""
        return PendingDecision(f"{side_plural(state.active)} roll {self.roll(state, step)}")

    def roll(self, state: State, step: RollingRally) -> Roll:
        """Returns a roll of a die for each disruption."""
        return Roll(f"{step.unit} to rally", field_at(state).by_id[step.unit].disruption)

    def apply(self, state: State, step: RollingRally, action: Action) -> StateAndEvents:
        """Sheds disruption; the next unit may try, if any is left."""
        field = field_at(state)
        dice = values_of(action, self.roll(state, step), rule="M-9.2")
        rallied = rally(field, _request(state, step, dice))
        unit = field.by_id[step.unit].unit
        level = field.by_id[step.unit].disruption - rallied.shed
        state = state.with_marker(unit, disruption=level)
        rolled, needed = " ".join(map(str, dice)), rallied.rallying.needed
        shed = counted(rallied.shed, "disruption") if rallied.shed else "no disruption"
        text = f"{unit.id} rallies: {rolled}, needs {needed}+: sheds {shed}"
        facts = {"unit": unit.id, "disruption": -rallied.shed, "level": level}
        events = (Event("rallies", text, "M-9.2", facts),)
        if _left(field_at(state), step.rallying):
            return state.to(step.rallying), events
        return after_action(state), events


def rally_needs(state: State, step: RollingRally) -> int:
    """Returns the number that each die of a rally must show (M-9.2, M-9.3)."""
    return rally_attempt(field_at(state), _request(state, step)).needed


def _request(state: State, step: RollingRally, dice: Dice | None = None) -> Request:
    return Request(step.unit, state.round.amounts("flag").get(step.unit, 0), dice)


def _left(field: Field, step: Rallying) -> tuple[str, ...]:
    return tuple(name for name in step.waiting if field.by_id[name].disruption)
