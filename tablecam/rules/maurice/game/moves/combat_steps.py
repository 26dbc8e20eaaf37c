"""Combat after the charges: one roll for all, results, and falling back (M-8.19 to M-8.27)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import shapely

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.combat.combat import (
    Meeting,
    meeting,
    must_fall_back,
    results_before_fall_back,
    scores_of,
)
from tablecam.rules.maurice.combat.fall_back import (
    Aftermath,
    fall_back,
    position_after,
    rearmost_first,
    swept_back,
)
from tablecam.rules.maurice.combat.score import CombatValue
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.results import CombatResult
from tablecam.rules.maurice.game.state.actions import Action, FallBack
from tablecam.rules.maurice.game.state.consequences import with_displacement, without_broken
from tablecam.rules.maurice.game.state.sequence import after_action
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.step_rules import RollRules
from tablecam.rules.maurice.game.state.steps import ChoosingFallBacks, Over, RollingCombat, Step
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.rules.maurice.resolve.resolve import combat_close_calls
from tablecam.wording import joined


class RollingCombatRules(RollRules):
    """Rules of `RollingCombat`: a die for every engaged unit, all at once (M-8.19)."""

    def asked(self, state: State, step: RollingCombat) -> PendingDecision:
        """Asks both sides to roll."""
        return PendingDecision(f"Roll one die each for {', '.join(step.engaged)}")

    def roll(self, state: State, step: RollingCombat) -> Roll:
        """Returns a roll of a die for each engaged unit."""
        return Roll(f"combat: {', '.join(step.engaged)}", len(step.engaged))

    def apply(self, state: State, step: RollingCombat, action: Action) -> StateAndEvents:
        """Resolves passive units, then active ones; broken ones leave in that order (M-8.20)."""
        values = values_of(action, self.roll(state, step), rule="M-8.19")
        dice = dict(zip(step.engaged, values, strict=True))
        field = field_at(state)
        combat = meeting(field, state.active)
        scores = scores_of(field, combat, state.round.amounts("swords"))
        results = results_before_fall_back(field, combat, scores, dice)
        # Close calls are logged first, as they qualify all that follows.
        events = [
            Event(
                "doubt",
                f"{close.because}; the measured value counts",
                close.rule,
                {},
                close.evidence,
            )
            for close in combat_close_calls(field, combat)
        ]
        events += (_score_event(combat, name, scores[name], dice[name]) for name in step.engaged)
        events += (_result_event(name, result) for name, result in results.items())
        state, lost = _with_results(state, field, results)
        # A unit that broke may have cost an army its last morale (M-2.5).
        if not isinstance(state.step, Over):
            # The proposed order; the side may choose another (M-8.24).
            bound = rearmost_first(field, must_fall_back(combat, results))
            state = state.to(_next_fall_backs(state, bound))
        return state, (*events, *lost)


class ChoosingFallBacksRules:
    """Rules of `ChoosingFallBacks`: attackers in contact fall back, in any order."""

    def asked(self, state: State, step: ChoosingFallBacks) -> PendingDecision:
        """Asks the charging side."""
        names = ", ".join(step.attackers)
        if len(step.attackers) == 1:
            return PendingDecision(f"{names} is still in contact and falls back", state.active)
        return PendingDecision(f"Which unit falls back next: {names}?", state.active)

    def legal(self, state: State, step: ChoosingFallBacks) -> tuple[Action, ...]:
        """Lists each attacker that still has to fall back, the rearmost first."""
        return tuple(FallBack(name) for name in step.attackers)

    def apply(self, state: State, step: ChoosingFallBacks, action: Action) -> StateAndEvents:
        """Moves a unit back, with the effects on it and on friends behind it (M-8.24 ff.)."""
        if not isinstance(action, FallBack):
            raise Refused(f"expected a unit to fall back, got {action.type}", rule="M-8.24")
        if action.unit not in step.attackers:
            names = ", ".join(step.attackers)
            raise Refused(f"expected one of {names}, got {action.unit}", rule="M-8.23", key="unit")
        field = field_at(state)
        # Without results: what happened to others is in the position already.
        results = fall_back(field, action.unit, {})
        unit, result = field.by_id[action.unit], results[action.unit]
        area = shapely.Polygon() if result.is_broken else swept_back(unit, result.fall_back_mm)
        lanes = {action.unit: shapes_of(area, "lane")}
        events = tuple(
            _result_event(name, result, lanes.get(name, ())) for name, result in results.items()
        )
        state, lost = _with_results(state, field, results)
        if isinstance(state.step, Over):
            return state, (*events, *lost)
        left = tuple(name for name in step.attackers if name != action.unit)
        then = _next_fall_backs(state, left)
        state, displaced = with_displacement(state, state.active, area, then)
        return state, (*events, *lost, *displaced)


def _next_fall_backs(state: State, bound: Iterable[str]) -> Step:
    """Returns the fall backs of attackers that survive, or the step after the action."""
    left = tuple(name for name in bound if state.position.unit(name) is not None)
    return ChoosingFallBacks(left) if left else after_action(state).step


def _with_results(
    state: State, field: Field, results: Mapping[str, CombatResult]
) -> StateAndEvents:
    """Applies disruption and fall back moves, and removes units that broke."""
    changed = Aftermath(
        gained={name: result.disruption for name, result in results.items() if result.disruption},
        back_mm={name: result.fall_back_mm for name, result in results.items()},
    )
    state = replace(state, position=position_after(field, changed))
    return without_broken(state, [name for name, result in results.items() if result.is_broken])


def _score_event(met: Meeting, name: str, value: CombatValue, die: int) -> Event:
    """Returns the event of a unit's score, with shapes that show why it is engaged."""
    score = value.value + die
    modifiers = "".join(f", {key} {amount:+}" for key, amount in value.modifiers.items())
    against = joined(value.engaged_with)
    text = f"{name} against {against}: {value.basic}{modifiers}, die {die}: {score}"
    facts = {"unit": name, **value.score_json(die), "because": list(value.because)}
    drawn = tuple(
        shape for enemy in value.engaged_with for shape in met.engagements.evidence(name, enemy)
    )
    return Event("score", text, "M-8.19", facts, drawn)


def _result_event(name: str, result: CombatResult, drawn: tuple[Shape, ...] = ()) -> Event:
    """Returns the event of a unit's result, in the words of the rules behind it."""
    text = "; ".join(reason.clause for reason in result.because)
    facts = {
        "unit": name,
        **result.to_json(),
        "falls_back": result.falls_back,
        "back_mm": result.fall_back_mm,
    }
    kind = "falls-back" if result.falls_back else "result"
    return Event(kind, f"{name}: {text}", result.because[0].rule, facts, drawn)
