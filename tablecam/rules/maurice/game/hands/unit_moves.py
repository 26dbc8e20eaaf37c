"""Suggests the march or fall back of a unit moved in its turn, and whether it is legal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Refused, Suggestion
from tablecam.rules.maurice.combat.fall_back import fall_back
from tablecam.rules.maurice.field.field import Field, UnitOnField, updated_field
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.game.moves.charge_ends import (
    charge_ends,
    charge_tolerance_mm,
    end_error_mm,
)
from tablecam.rules.maurice.game.moves.charge_steps import may_move_up
from tablecam.rules.maurice.game.moves.march_steps import judge_march
from tablecam.rules.maurice.game.moves.move_words import is_absurd, move_words
from tablecam.rules.maurice.game.moves.nearest import nearest_march, nearest_wheel
from tablecam.rules.maurice.game.procedure import round as the_round
from tablecam.rules.maurice.game.state.actions import Action, FallBack, March
from tablecam.rules.maurice.game.state.consequences import commander_under
from tablecam.rules.maurice.game.state.poses import Bases, ahead, laid
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.steps import Charging
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.rules.maurice.movement.change import placed
from tablecam.rules.maurice.movement.judge import MoveJudgement, allowance_bw
from tablecam.rules.maurice.movement.wheels import NEAR_RULE
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.table.formation import read_formation
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Position, Unit
from tablecam.uncertainty.answer import Answer
from tablecam.wording import counted, joined

_ON_THE_SPOT_BW, _TURNED_DEG = 0.25, 2.0
"""A unit whose centre moved less but whose heading changed more was turned in place."""


def with_bases(unit: Unit, seen: Sequence[BasePose]) -> Unit:
    """Returns a unit with seen base poses, matched by tag, or by order without tags."""
    by_tag = {base.tag: base for base in seen}
    # Tags tell the bases apart; without them the seen order is the only clue.
    is_tagged = None not in by_tag and by_tag.keys() == {base.tag for base in unit.bases}
    in_order = [by_tag[base.tag] for base in unit.bases] if is_tagged else seen
    bases = tuple(
        replace(seen_base, width_mm=base.width_mm, depth_mm=base.depth_mm, tag=base.tag)
        for base, seen_base in zip(unit.bases, in_order, strict=True)
    )
    return replace(unit, bases=bases)


def on_empty_field(field: Field, seen: Unit) -> UnitOnField | None:
    """Returns a unit at its seen pose without the others, or None if it is off the table."""
    # Ruled on an otherwise empty field, so that overlaps with other units are no error.
    there = laid(seen, seen.bases)
    try:
        return updated_field(field, replace(field.position, units=(there,))).by_id[seen.id]
    except BadInput:
        return None


def lies_upon(field: Field, seen: Unit) -> tuple[str, ...]:
    """Returns the units whose recorded outlines a seen unit overlaps."""
    there = on_empty_field(field, seen)
    if there is None:
        return ()
    others = (other for other in field.units if other.id != seen.id)
    return tuple(other.id for other in others if is_partly_in(other.outline, there.outline))


def refusal(state: State, action: Action) -> Refused | None:
    """Returns why an action is not legal now, or None if it is."""
    try:
        the_round.apply(state, action)
    except Refused as refused:
        return refused
    return None


def reason(refused: Refused) -> str:
    """Returns a refusal's message without its rule id."""
    return refused.message.removeprefix(f"{refused.rule} ")


def proposed_position(state: State, seen: Unit, bases: Bases | None) -> Position | None:
    """Returns the position with a unit at proposed poses, or None without any."""
    return None if bases is None else state.with_unit(replace(seen, bases=bases)).position


def no_answer(
    rule: str, because: str, far_mm: float = 0.0, drawn: tuple[Shape, ...] = ()
) -> Answer:
    """Returns the answer "no" with the missing distance and the reason."""
    return Answer("no", -far_mm, 0.0, 0.0, rule, because, drawn)


def put_back(
    state: State,
    name: str,
    rule: str,
    text: str,
    far_mm: float = 0.0,
    drawn: tuple[Shape, ...] = (),
) -> Suggestion:
    """Suggests to put a unit or commander back where the game has it."""
    return Suggestion(name, text, None, no_answer(rule, text, far_mm, drawn), state.position)


def suggested(
    state: State, name: str, text: str, action: Action, rule: str, nearest: Position | None = None
) -> Suggestion:
    """Suggests an action that is legal unless it is refused now."""
    why_not = refusal(state, action)
    if why_not is None:
        return Suggestion(name, text, action, Answer("yes", 0.0, 0.0, 1.0, rule, text))
    answer = no_answer(why_not.rule or rule, reason(why_not))
    return Suggestion(name, text, action, answer, nearest)


def suggest_march(state: State, seen: Unit) -> Suggestion:
    """Suggests a march or a move up; if it is illegal, with the nearest legal place."""
    field, action = field_at(state), March(seen.id, seen.bases)
    unit, there = field.by_id[seen.id], on_empty_field(field, seen)
    if there is None:
        text = f"{seen.id} is off the table: put it back"
        return Suggestion(seen.id, text, action, no_answer("M-6.32", text), state.position)
    if there.formation == "broken-up":
        # Without a formation there is no move to judge.
        return _no_formation(state, unit, there)
    judgement = judge_march(state, action)
    verb = "move up" if isinstance(state.step, Charging) else "march"
    text = f"{seen.id} {move_words(field, unit, there, judgement)}: {verb}?"
    why_not = refusal(state, action)
    if why_not is None:
        cost = f"{judgement.cost_bw:.2f} of {judgement.allowance_bw:g} BW"
        because = joined([cost, *_consequences(state, seen, judgement)])
        return Suggestion(seen.id, text, action, replace(judgement.is_legal, because=because))
    nearest = proposed_position(state, seen, _nearest(state, unit, there, judgement))
    answer = _illegal_march(judgement, why_not)
    # Whatever rule refused it, this one explains the mistake (M-6.12).
    if _turned_on_the_spot_deg(field, unit, there):
        because = "a unit may not turn on the spot: it wheels about a front corner"
        text, answer = f"{seen.id} was turned", replace(answer, rule="M-6.12", because=because)
    if answer.rule == "M-6.8" and (upon := lies_upon(field, seen)):
        answer = replace(answer, because=f"{seen.id} overlaps {joined(upon)}")
    return Suggestion(seen.id, text, action, answer, nearest)


def suggest_fall_back(state: State, seen: Unit) -> Suggestion:
    """Suggests a unit's fall back, and checks that it lies where that leads."""
    field, action = field_at(state), FallBack(seen.id)
    # Without results: whoever fell back before lies at its new place already.
    unit, result = field.by_id[seen.id], fall_back(field, seen.id, {})[seen.id]
    if result.is_broken:
        why = result.because[-1]
        text = f"{seen.id} breaks as it falls back: take it off the table?"
        return Suggestion(seen.id, text, action, Answer("yes", 0.0, 0.0, 1.0, why.rule, why.clause))
    back = ahead(unit.unit.bases, unit.axes.heading_deg + 180.0, result.fall_back_mm)
    error_mm = max(
        math.dist((at.x_mm, at.y_mm), (base.x_mm, base.y_mm))
        for at, base in zip(back, seen.bases, strict=True)
    )
    because = f"{seen.id} falls back {field.in_bw(result.fall_back_mm):.4g} BW straight back"
    margin_mm = charge_tolerance_mm(seen.bases) - error_mm
    if margin_mm >= 0.0:
        answer = Answer("yes", margin_mm, 0.0, 1.0, "M-8.24", because)
        return Suggestion(seen.id, f"{seen.id} fell back: confirm?", action, answer)
    text = f"{seen.id} is {error_mm:.0f} mm from where its fall back ends"
    nearest = proposed_position(state, seen, back)
    return Suggestion(seen.id, text, action, no_answer("M-8.24", because, -margin_mm), nearest)


def _no_formation(state: State, unit: UnitOnField, there: UnitOnField) -> Suggestion:
    """Suggests the nearest legal place for bases that form no known formation."""
    why = read_formation(there.unit).because
    text = f"{unit.id} is in no formation ({why}): close up its bases"
    # As if it were formed as before: the place nearest to that.
    as_it_was = replace(there, formation=unit.formation)
    nearest = proposed_position(state, there.unit, _nearest(state, unit, as_it_was))
    return Suggestion(unit.id, text, None, no_answer("M-1.7", text), nearest or state.position)


def _nearest(
    state: State, unit: UnitOnField, there: UnitOnField, judgement: MoveJudgement | None = None
) -> Bases | None:
    """Returns the nearest legal place for a unit's march, or its move in a charge."""
    field, extra_bw = field_at(state), state.round.amounts("bugle").get(unit.id, 0)
    step = state.step
    turn_deg = _turned_on_the_spot_deg(field, unit, there)

    def is_legal(bases: Bases) -> bool:
        action = March(unit.id, bases)
        if isinstance(step, Charging):
            return refusal(state, action) is None
        return judge_march(state, action).is_legal.answer != "no"

    if isinstance(step, Charging) and not may_move_up(state, step, unit.id):
        # It must charge; where players declare first, it may reach nobody.
        ends = [*charge_ends(field, unit)]
        return min(ends, key=lambda end: end_error_mm(end, there.axes)).bases if ends else None
    if turn_deg and (wheel := nearest_wheel(unit, turn_deg, is_legal)) is not None:
        return wheel
    allowed_bw = allowance_bw(field, unit, extra_bw=extra_bw)
    path_mm = judgement.path[0].points_mm if judgement is not None and judgement.path else ()
    return nearest_march(field, unit, there, allowed_bw, is_legal, path_mm=path_mm)


def _turned_on_the_spot_deg(field: Field, unit: UnitOnField, there: UnitOnField) -> float:
    """Returns a line's or massed unit's turn about its own centre, or 0 if there is none."""
    if unit.formation not in ("line", "massed") or there.formation != unit.formation:
        return 0.0
    apart_mm = shapely.distance(shapely.centroid(unit.outline), shapely.centroid(there.outline))
    is_on_the_spot = apart_mm < _ON_THE_SPOT_BW * field.bw_mm
    # More than a quarter turn is an about-face or a mistake, not a wheel done wrong.
    turn_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    return turn_deg if is_on_the_spot and _TURNED_DEG < abs(turn_deg) <= 90.0 else 0.0


def _illegal_march(judgement: MoveJudgement, why_not: Refused) -> Answer:
    """Returns the answer why a march is illegal, with the missing distance where there is one."""
    because, missing_mm = reason(why_not), -judgement.is_legal.margin_mm
    if is_absurd(judgement):
        near = " (the limit near the enemy)" if judgement.is_legal.rule == NEAR_RULE else ""
        because = f"no path of at most {judgement.allowance_bw:g} BW{near} leads there"
    elif why_not.rule == judgement.is_legal.rule and missing_mm > 0.0:
        because += f": {missing_mm:.0f} mm too far"
    rule = why_not.rule or judgement.is_legal.rule
    return replace(judgement.is_legal, answer="no", probability=0.0, rule=rule, because=because)


def _consequences(state: State, seen: Unit, judgement: MoveJudgement) -> Iterator[str]:
    """Yields the other consequences of a legal march, each in a few words."""
    field = field_at(state)
    unit = field.by_id[seen.id]
    if judgement.is_legal.answer == "too_close":
        missing_mm = abs(judgement.is_legal.margin_mm)
        yield f"{missing_mm:.1f} mm is too close to call, so the mover decides"
    if judgement.is_rough:
        yield "1 disruption for difficult ground (M-6.3)"
    own = judgement.disruptions - judgement.is_rough
    if own:
        yield f"{counted(own, 'disruption')} for passing through {joined(judgement.passed)} (M-6.7)"
    for name in judgement.passed:
        if field.by_id[name].is_disrupted_by_passing:
            yield f"1 disruption for {name}, which is passed through (M-6.7)"
    leader = commander_under(state, state.other(seen.side), judgement.area)
    if leader is not None:
        yield f"{leader.id} is displaced (M-6.29)"
    after = placed(field, unit, seen.bases)
    near = near_enemy(after, after.by_id[seen.id])
    if near.is_near:
        yield f"it ends near {near.nearest} (M-1.9)"
