"""The combat after the charges: one roll for all, results, and falling back (M-8.19 to M-8.27)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import shapely
from shapely import affinity

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.combat.aftermath import Aftermath, position_after
from tablecam.rules.maurice.combat.combat import (
    Meeting,
    bound_to_fall_back,
    meeting,
    outcomes,
    scores_of,
)
from tablecam.rules.maurice.combat.fall_back import fall_back, moved_back_mm, rearmost_first
from tablecam.rules.maurice.combat.score import Value
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.results import Result
from tablecam.rules.maurice.game.state.actions import Action, FallBack
from tablecam.rules.maurice.game.state.displaced import after_passing
from tablecam.rules.maurice.game.state.losses import without_broken
from tablecam.rules.maurice.game.state.sequence import after_action
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import ChoosingFallBacks, Over, RollingCombat, Step
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.rules.maurice.resolve.notes import combat_doubts
from tablecam.uncertainty.answer import Answer


class RollingCombatRules:
    """`RollingCombat`: a die for every engaged unit of both sides, all at once (M-8.19)."""

    def asked(self, state: State, step: RollingCombat) -> Asked:
        """Chance, at both sides' hands."""
        return Asked(f"Roll a die each for {', '.join(step.engaged)}")

    def legal(self, state: State, step: RollingCombat) -> tuple[Action, ...]:
        """The roll that is due."""
        return (_due(step),)

    def apply(self, state: State, step: RollingCombat, action: Action) -> Followed:
        """Passive units first, then active ones; who breaks leaves in that order (M-8.20)."""
        if not isinstance(action, Roll):
            raise Refused(f"expected dice, got {action.type}", rule="M-8.19")
        dice = dict(zip(step.engaged, values_of(action, _due(step), rule="M-8.19"), strict=True))
        field = field_at(state)
        met = meeting(field, state.active)
        scores = scores_of(field, met, state.round.amounts("swords"))
        found = outcomes(field, met, scores, dice)
        events = [_doubt_event(answer) for answer in combat_doubts(field, met)]
        events += (_score_event(met, name, scores[name], dice[name]) for name in step.engaged)
        events += (_result_event(name, result) for name, result in found.items())
        state, lost = _with_results(state, field, found)
        if not isinstance(state.step, Over):
            bound = rearmost_first(field, bound_to_fall_back(met, found))
            state = state.to(_still_falling(state, bound))
        return state, (*events, *lost)


class ChoosingFallBacksRules:
    """`ChoosingFallBacks`: attackers still in contact go back in the order their player likes."""

    def asked(self, state: State, step: ChoosingFallBacks) -> Asked:
        """The charging side."""
        names = ", ".join(step.attackers)
        if len(step.attackers) == 1:
            return Asked(f"{names} is still in contact and falls back", state.active)
        return Asked(f"Which unit falls back next: {names}?", state.active)

    def legal(self, state: State, step: ChoosingFallBacks) -> tuple[Action, ...]:
        """Each attacker that has still to fall back, the rearmost first."""
        return tuple(FallBack(name) for name in step.attackers)

    def apply(self, state: State, step: ChoosingFallBacks, action: Action) -> Followed:
        """A unit falls back, with what that does to it and to friends behind it (M-8.24 ff.)."""
        if not isinstance(action, FallBack):
            raise Refused(f"expected who falls back, got {action.type}", rule="M-8.24")
        if action.unit not in step.attackers:
            names = ", ".join(step.attackers)
            raise Refused(f"expected one of {names}, got {action.unit}", rule="M-8.23", key="unit")
        field = field_at(state)
        found = fall_back(field, action.unit, {})
        area = _passed_over(field, action.unit, found[action.unit])
        way = {action.unit: shapes_of(area, "lane")}
        events = tuple(_result_event(name, each, way.get(name, ())) for name, each in found.items())
        state, lost = _with_results(state, field, found)
        if isinstance(state.step, Over):
            return state, (*events, *lost)
        left = tuple(name for name in step.attackers if name != action.unit)
        then = _still_falling(state, left)
        state, told = after_passing(state, state.active, area, then)
        return state, (*events, *lost, *told)


def _due(step: RollingCombat) -> Roll:
    return Roll(f"combat: {', '.join(step.engaged)}", len(step.engaged))


def _still_falling(state: State, bound: Iterable[str]) -> Step:
    """Those of some attackers that stand fall back; where none does, the action is over."""
    left = tuple(name for name in bound if state.position.unit(name) is not None)
    return ChoosingFallBacks(left) if left else after_action(state).step


def _with_results(state: State, field: Field, found: Mapping[str, Result]) -> Followed:
    """The state with disruptions given and units moved back, and without those that broke."""
    changed = Aftermath(
        gained={name: each.disruption for name, each in found.items() if each.disruption},
        back_mm={name: each.back_mm for name, each in found.items()},
    )
    state = replace(state, position=position_after(field, changed))
    return without_broken(state, [name for name, each in found.items() if each.is_broken])


def _passed_over(field: Field, name: str, found: Result) -> shapely.Geometry:
    """What a unit passed over on its way straight back; nothing if it broke."""
    outline = field.by_id[name].outline
    if found.is_broken:
        return shapely.Polygon()
    by_mm = moved_back_mm(field.by_id[name], found.back_mm)
    there = affinity.translate(outline, *by_mm)
    return shapely.convex_hull(shapely.GeometryCollection([outline, there]))


def _doubt_event(answer: Answer) -> Event:
    text = f"{answer.because}; it counts as it was seen"
    return Event("doubt", text, answer.rule, evidence=answer.evidence)


def _score_event(met: Meeting, name: str, value: Value, die: int) -> Event:
    """A unit's score, with the drawing of why it is engaged with whom."""
    score = value.value + die
    modifiers = "".join(f", {key} {amount:+}" for key, amount in value.modifiers.items())
    against = " and ".join(value.engaged_with)
    text = f"{name} against {against}: {value.basic}{modifiers}, and a die of {die}: {score}"
    facts = {
        "unit": name,
        "basic": value.basic,
        "modifiers": dict(value.modifiers),
        "value": value.value,
        "die": die,
        "score": score,
        "engaged_with": list(value.engaged_with),
        "because": list(value.because),
    }
    drawn = tuple(
        shape for enemy in value.engaged_with for shape in met.engagements.evidence(name, enemy)
    )
    return Event("score", text, "M-8.19", facts, drawn)


def _result_event(name: str, found: Result, drawn: tuple[Shape, ...] = ()) -> Event:
    """What became of a unit, in the words of the rule that did it."""
    rule, _, first = found.because[0].partition(" ")
    text = "; ".join([first, *(line.partition(" ")[2] for line in found.because[1:])])
    facts = {
        "unit": name,
        "disruption": found.disruption,
        "broken": found.is_broken,
        "falls_back": found.falls_back,
        "back_mm": found.back_mm,
        "because": list(found.because),
    }
    kind = "falls-back" if found.falls_back else "result"
    return Event(kind, f"{name}: {text}", rule, facts, drawn)
