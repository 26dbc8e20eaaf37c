"""Combat after the charges, falling back, and rallying (M-8.19 to M-9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import starmap

import shapely

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, Event, PendingDecision, Refused
from tablecam.rules.maurice.combat.combat import (
    CombatValue,
    Meeting,
    meeting,
    must_fall_back,
    results_before_fall_back,
    scores_of,
)
from tablecam.rules.maurice.combat.results import (
    CombatResult,
    fall_back,
    position_after,
    rally,
    rally_attempt,
    rearmost_first,
    swept_back,
)
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.requests import Dice
from tablecam.rules.maurice.field.requests import Rally as Request
from tablecam.rules.maurice.game.actions import Action, Done, FallBack, Rally
from tablecam.rules.maurice.game.cards import Modifying
from tablecam.rules.maurice.game.commander import after_action, with_displacement
from tablecam.rules.maurice.game.state import Over, State, Step
from tablecam.rules.maurice.game.table import compared, field_at, without_broken
from tablecam.rules.maurice.resolve import combat_close_calls
from tablecam.table.sides import side_plural
from tablecam.wording import counted, joined


class RollingCombat(Step):
    """The combat roll: a die for every engaged unit of both sides, in order (M-8.19)."""

    dice_rule, dice = "M-8.19", "combat: {engaged}"
    about = "engaged"
    engaged: tuple[str, ...]

    def asked(self, state: State) -> PendingDecision:
        """Asks both sides to roll, and states the value added to each die (M-8.16)."""
        field = field_at(state)
        values = scores_of(field, meeting(field, state.active), state.round.amounts("swords"))
        added = "; ".join(_value_words(name, value) for name, value in values.items())
        question = f"Roll one die each for {', '.join(self.engaged)}"
        return PendingDecision(question, hint=f"Added to the die (M-8.16): {added}")

    def decided(self, state: State, values: Dice) -> State:
        """Resolves passive units, then active ones; broken ones leave in that order (M-8.20)."""
        dice = dict(zip(self.engaged, values, strict=True))
        field = field_at(state)
        combat = meeting(field, state.active)
        scores = scores_of(field, combat, state.round.amounts("swords"))
        results = results_before_fall_back(scores, dice)
        # Close calls are logged first, as they qualify all that follows.
        for close in combat_close_calls(field, combat):
            text = f"{close.because}; the measured value counts"
            state = state.tells("doubt", text, close.rule, *close.evidence)
        rolled = (_score_event(combat, name, scores[name], dice[name]) for name in self.engaged)
        state = state.with_events(*rolled, *starmap(_result_event, results.items()))
        state = _with_results(state, field, results)
        # A unit that broke may have cost an army its last morale (M-2.5).
        if not isinstance(state.step, Over):
            # The proposed order; the side may choose another (M-8.24).
            bound = rearmost_first(field, must_fall_back(combat, results))
            state = state.to(_next_fall_backs(state, bound))
        return state

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns a die for each engaged unit."""
        return compared(self.engaged)


class ChoosingFallBacks(Step):
    """The charging side chooses the attacker that falls back next (M-8.23, M-8.24)."""

    about, is_complete = "attackers", True
    kinds, expects, answer_rule = (FallBack,), "a unit to fall back", "M-8.24"
    question = "Which unit falls back next: {attackers}?"
    attackers: tuple[str, ...]

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists each attacker that still has to fall back, the rearmost first."""
        return tuple(FallBack(name) for name in self.attackers)

    def decided(self, state: State, action: FallBack) -> State:
        """Moves a unit back, with the effects on it and on friends behind it (M-8.24 ff.)."""
        if action.unit not in self.attackers:
            names = ", ".join(self.attackers)
            raise Refused(f"expected one of {names}, got {action.unit}", rule="M-8.23", key="unit")
        field = field_at(state)
        # No results are passed: the position already shows what happened to others.
        results = fall_back(field, action.unit, {})
        unit, result = field.by_id[action.unit], results[action.unit]
        area = shapely.Polygon() if result.is_broken else swept_back(unit, result.fall_back_mm)
        drawn = {action.unit: shapes_of(area, "lane")}
        events = [_result_event(name, of, drawn.get(name, ())) for name, of in results.items()]
        state = _with_results(state.with_events(*events), field, results)
        if isinstance(state.step, Over):
            return state
        left = tuple(name for name in self.attackers if name != action.unit)
        return with_displacement(state, state.active, area, _next_fall_backs(state, left))


def _next_fall_backs(state: State, bound: Iterable[str]) -> Step:
    """Returns the fall backs of attackers that survive, or the step after the action."""
    left = tuple(name for name in bound if state.position.unit(name) is not None)
    return ChoosingFallBacks(left) if left else after_action(state).step


def _with_results(state: State, field: Field, results: Mapping[str, CombatResult]) -> State:
    """Applies disruption and fall back moves, and removes units that broke."""
    position = position_after(
        field,
        gained={name: result.disruption for name, result in results.items() if result.disruption},
        back_mm={name: result.fall_back_mm for name, result in results.items()},
    )
    state = replace(state, position=position)
    return without_broken(state, [name for name, result in results.items() if result.is_broken])


def _value_words(name: str, value: CombatValue) -> str:
    parts = (f", {key.replace('_', ' ')} {by:+}" for key, by in value.modifiers.items())
    total = f" = {value.value}" * bool(value.modifiers)
    return f"{name} against {joined(value.engaged_with)}: {value.basic}{''.join(parts)}{total}"


def _score_event(met: Meeting, name: str, value: CombatValue, die: int) -> Event:
    text = f"{_value_words(name, value)}, die {die}: {value.value + die}"
    facts = {"unit": name, **value.to_json(die)}
    drawn = tuple(
        shape for enemy in value.engaged_with for shape in met.engagements.evidence(name, enemy)
    )
    return Event("score", text, "M-8.19", facts, drawn)


def _result_event(name: str, result: CombatResult, drawn: tuple[Shape, ...] = ()) -> Event:
    text = "; ".join(reason.clause for reason in result.because)
    moved = {"falls_back": result.falls_back, "back_mm": result.fall_back_mm}
    facts = {"unit": name, **result.to_json(), **moved}
    kind = "falls-back" if result.falls_back else "result"
    return Event(kind, f"{name}: {text}", result.because[0].rule, facts, drawn)


class Rallying(Step):
    """A rally: the units of a force try one by one; `tried` have done so (M-9.1)."""

    question = "{who}: which unit rallies next?"
    about, acted = "force", ("tried",)
    kinds, expects, answer_rule = (Rally, Done), "a unit to rally or done", "M-9.1"
    force: tuple[str, ...]
    tried: tuple[str, ...] = ()

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists every disrupted unit of the force that has not tried, and stopping."""
        return (*(Rally(name) for name in _left(field_at(state), self)), Done())

    def decided(self, state: State, action: Rally | Done) -> State:
        """Moves on to a unit's dice, or ends the action."""
        if isinstance(action, Done):
            return after_action(state)
        left = _left(field_at(state), self)
        if action.unit not in left:
            expected = f"expected one of {', '.join(left)}" if left else "expected done"
            raise Refused(f"{expected}, got {action.unit}", rule="M-9.1", key="unit")
        # Marked before the dice: a unit tries once, whatever the result (M-9.1).
        tried = replace(self, tried=(*self.tried, action.unit))
        return state.to(RollingRally(action.unit, tried))


class RollingRally(Step):
    """The rally dice of one unit (M-9.2)."""

    dice_rule = "M-9.2"
    about = "unit"
    unit: str
    rallying: Rallying

    def asked(self, state: State) -> PendingDecision:
        """Asks the active side to roll."""
        return PendingDecision(f"{side_plural(state.active)} roll {self.roll(state)}")

    def roll(self, state: State) -> Roll:
        """Returns a roll of a die for each disruption."""
        return Roll(f"{self.unit} to rally", field_at(state).by_id[self.unit].disruption)

    def decided(self, state: State, dice: Dice) -> State:
        """Sheds disruption; the next unit may try, if any is left."""
        field = field_at(state)
        attempt, shed_levels = rally(field, _request(state, self, dice))
        unit = field.by_id[self.unit].unit
        level = field.by_id[self.unit].disruption - shed_levels
        state = state.with_marker(unit, disruption=level)
        shed = counted(shed_levels, "disruption") if shed_levels else "no disruption"
        rolled = " ".join(map(str, dice))
        text = f"{unit.id} rallies: {rolled}, needs {attempt.needed}+: sheds {shed}"
        facts = {"unit": unit.id, "disruption": -shed_levels, "level": level}
        state = state.tells("rallies", text, "M-9.2", **facts)
        left = _left(field_at(state), self.rallying)
        return state.to(self.rallying) if left else after_action(state)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns all dice, and the number that each needs."""
        needs = rally_attempt(field_at(state), _request(state, self)).needed
        return (DiceGroup(self.unit, needs, tuple(range(self.roll(state).count))),)


def _request(state: State, step: RollingRally, dice: Dice | None = None) -> Request:
    return Request(step.unit, state.round.amounts("flag").get(step.unit, 0), dice)


def _left(field: Field, step: Rallying) -> tuple[str, ...]:
    return tuple(name for name in step.waiting if field.by_id[name].disruption)


def to_combat(state: State) -> State:
    """Continues after the charge moves: cards, then the combat dice (M-4.16, M-8.19).

    If no unit is engaged, the action is over.
    """
    engaged = tuple(meeting(field_at(state), state.active).engaged)
    if not engaged:
        return after_action(state)
    then = RollingCombat(engaged)
    return state.to(Modifying("swords", state.active, (state.passive,), then=then))
