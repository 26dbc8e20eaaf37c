"""Suggests the actions that players took by hand, comparing seen poses with the game's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import Bases, laid
from tablecam.geometry.rectangles import rectangles
from tablecam.rules.game import Ban, Refused, Suggestion
from tablecam.rules.maurice.combat.results import fall_back, moved_back
from tablecam.rules.maurice.field.field import Field, UnitOnField, field_of
from tablecam.rules.maurice.game import actions as act
from tablecam.rules.maurice.game.activation import Interrupting
from tablecam.rules.maurice.game.cards import Drawing, Modifying
from tablecam.rules.maurice.game.charge import Charging, charge_notes, may_move_up
from tablecam.rules.maurice.game.combat import ChoosingFallBacks
from tablecam.rules.maurice.game.commander import Displacing, PlacingCommander, commander_under
from tablecam.rules.maurice.game.march import (
    Marching,
    doubt_words,
    is_absurd,
    is_within_error,
    judge_march,
    path_words,
)
from tablecam.rules.maurice.game.nearest import (
    ChargeEnd,
    charge_ends,
    charge_tolerance_mm,
    end_error_mm,
    nearest_charge,
    nearest_march,
    nearest_wheel,
)
from tablecam.rules.maurice.game.setup import Deploying, yet_to_deploy
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.table import field_at
from tablecam.rules.maurice.movement.judge import allowance_bw, placed
from tablecam.rules.maurice.movement.ways import NEAR_RULE, Way
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.rules.miniatures.by_hand import (
    ASKED_FIRST,
    commanders_seen,
    lies_as_seen,
    lies_upon,
    whole_units,
)
from tablecam.table.formation import read_formation
from tablecam.table.headings import difference_deg
from tablecam.table.model import Commander, Position, Unit
from tablecam.table.motion import has_its_place
from tablecam.table.sides import side_plural
from tablecam.uncertainty.answer import CLEAR_SIGMAS, Answer, certain
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.wording import counted, joined

_BEFORE_MM = 20.0
"""A unit that stops this close to an enemy or closer is assumed to charge it."""
_ON_THE_SPOT_BW, _ON_THE_SPOT_DEG = 0.25, 2.0
"""A unit whose centre moved less but whose heading changed more was turned in place."""


def suggest_deployment(state: State, step: Deploying, position: Position) -> tuple[Suggestion, ...]:
    """Suggests one action for everything that a side has moved as it deploys (M-2.3).

    It includes units of the other side that were moved aside, if that side has yet to deploy.
    """
    side, seen_units = step.side, whole_units(state.position, position)
    moved_units = {
        unit.id: seen_units[unit.id].bases
        for unit in state.position.units
        if unit.id in seen_units
        and unit.side in yet_to_deploy(step)
        and not lies_as_seen(unit, seen_units[unit.id].bases)
    }
    moved_commanders = {
        leader.id: seen.place_mm
        for leader, seen in commanders_seen(state.position, position)
        if seen is not None and leader.side == side and not has_its_place(seen, leader)
    }
    if not (moved_units or moved_commanders):
        return ()
    action = act.Deploy(side, moved_units, moved_commanders)
    # Listed under one name, although the action moves all of them.
    first = next(iter((*moved_units, *moved_commanders)))
    own = sum(unit.side == side and unit.id in moved_units for unit in state.position.units)
    text = f"{side_plural(side)} have placed {counted(own, 'unit')}: deployment finished?"
    return (_suggested(state, first, text, action, "M-2.3"),)


def suggest_move(state: State, unit: Unit, seen: Unit) -> Suggestion | None:
    """Suggests the action of a moved unit, if it may act now."""
    step = state.step
    if unit.id not in step.waiting:
        return None
    if isinstance(step, Marching):
        return suggest_march(state, seen)
    if isinstance(step, Charging):
        return suggest_charge(state, seen)
    return suggest_fall_back(state, seen) if isinstance(step, ChoosingFallBacks) else None


def why_still(state: State, unit: Unit) -> Ban:
    """Returns the rule by which a unit may not be moved now."""
    step = state.step
    if unit.side != state.active:
        return Ban("M-1.5", f"{side_plural(state.active)} are active in this round")
    if isinstance(step, Marching | Charging):
        if unit.id in step.force:
            return Ban("M-6.31", "it has already moved in this round")
        return Ban("M-6.1", "it is not in the activated force")
    rule = "M-4.16" if isinstance(step, Interrupting | Modifying | Drawing) else "M-4.2"
    return Ban(rule, ASKED_FIRST)


def suggest_place(state: State, seen: Commander) -> Suggestion | None:
    """Suggests a commander's move; None out of turn."""
    step = state.step
    if not isinstance(step, PlacingCommander) or seen.side != step.owner(state):
        return None
    action = act.PlaceCommander(seen.side, seen.x_mm, seen.y_mm)
    leader = next(leader for leader in state.position.commanders if leader.id == seen.id)
    far_bw = math.dist(leader.place_mm, seen.place_mm) / state.position.table.bw_mm
    text = f"{seen.id} was moved {far_bw:.1f} BW: move him there?"
    rule = "M-6.29" if isinstance(step, Displacing) else "M-6.27"
    return _suggested(state, seen.id, text, action, rule, state.position)


def suggest_march(state: State, seen: Unit) -> Suggestion:
    """Suggests a march or a move up; if it is illegal, with the nearest legal place."""
    field, action = field_at(state), act.March(seen.id, seen.bases)
    unit, there = field.by_id[seen.id], _on_empty_field(field, seen)
    if there is None:
        text = f"{seen.id} is off the table: put it back"
        return Suggestion(seen.id, text, action, certain("no", "M-6.32", text), state.position)
    if there.formation == "broken-up":
        # Without a formation there is no move to judge.
        return _no_formation(state, unit, there)
    judgement = judge_march(state, action)
    verb = "move up" if isinstance(state.step, Charging) else "march"
    text = f"{seen.id} {path_words(field, unit, there, judgement)}: {verb}?"
    why_not = _refusal(state, action)
    if why_not is None:
        cost = f"{judgement.cost_bw:.2f} of {judgement.allowance_bw:g} BW"
        because = joined([cost, *_consequences(state, seen, judgement)])
        answer = judgement.is_legal
        if is_within_error(answer):
            answer = certain("yes", answer.rule, because, answer.evidence)
        return Suggestion(seen.id, text, action, replace(answer, because=because))
    nearest = _proposed_position(state, seen, _nearest(state, unit, there, judgement))
    answer = _illegal_march(judgement, why_not)
    # Whichever rule refused it, this one explains the mistake (M-6.12).
    if _turned_on_the_spot_deg(field, unit, there):
        because = "a unit may not turn on the spot: it wheels about a front corner"
        text, answer = f"{seen.id} was turned", replace(answer, rule="M-6.12", because=because)
    if answer.rule == "M-6.8" and (upon := lies_upon(state.position, seen)):
        answer = replace(answer, because=f"{seen.id} overlaps {joined(upon)}")
    return Suggestion(seen.id, text, action, answer, nearest)


def suggest_fall_back(state: State, seen: Unit) -> Suggestion:
    """Suggests a unit's fall back, and checks that it lies at the right place."""
    field, action = field_at(state), act.FallBack(seen.id)
    # No results are passed: units that fell back before are already at their new places.
    unit, result = field.by_id[seen.id], fall_back(field, seen.id, {})[seen.id]
    if result.is_broken:
        why = result.because[-1]
        text = f"{seen.id} breaks as it falls back: take it off the table?"
        return Suggestion(seen.id, text, action, certain("yes", why.rule, why.clause))
    back = moved_back(unit, result.fall_back_mm).unit.bases
    pairs = zip(back, seen.bases, strict=True)
    error_mm = max(math.dist(at.place_mm, base.place_mm) for at, base in pairs)
    because = f"{seen.id} falls back {field.in_bw(result.fall_back_mm):.4g} BW straight back"
    margin_mm = charge_tolerance_mm(seen.bases) - error_mm
    if margin_mm >= 0.0:
        answer = certain("yes", "M-8.24", because, margin_mm=margin_mm)
        return Suggestion(seen.id, f"{seen.id} fell back: confirm?", action, answer)
    text = f"{seen.id} is {error_mm:.0f} mm from where its fall back ends"
    answer = certain("no", "M-8.24", because, margin_mm=margin_mm)
    return Suggestion(seen.id, text, action, answer, _proposed_position(state, seen, back))


def _no_formation(state: State, unit: UnitOnField, there: UnitOnField) -> Suggestion:
    """Suggests the nearest legal place for bases that form no known formation."""
    why = read_formation(there.unit).because
    text = f"{unit.id} is in no formation ({why}): close up its bases"
    # Find the place nearest to its old formation.
    as_it_was = replace(there, formation=unit.formation)
    nearest = _proposed_position(state, there.unit, _nearest(state, unit, as_it_was))
    return Suggestion(unit.id, text, None, certain("no", "M-1.7", text), nearest or state.position)


def _nearest(
    state: State, unit: UnitOnField, there: UnitOnField, judgement: Way | None = None
) -> Bases | None:
    """Returns the nearest place where a unit's march is legal whatever the camera's errors.

    If it must charge, that is the end of its nearest charge.
    """
    field, step, tolerance_mm = field_at(state), state.step, state.position.table.tolerance_mm
    extra_bw = state.round.amounts("bugle").get(unit.id, 0)
    turn_deg = _turned_on_the_spot_deg(field, unit, there)
    enemies = shapely.union_all([enemy.outline for enemy in field.enemies_of(unit)])
    # Beyond this gap there is no doubt about contact.
    gap_mm = TOUCH_MM + tolerance_mm + CLEAR_SIGMAS * max(base.sigma_mm for base in unit.unit.bases)

    def is_legal(bases: Bases) -> bool:
        action = act.March(unit.id, bases)
        if isinstance(step, Charging) and _refusal(state, action) is not None:
            return False
        is_apart = not shapely.dwithin(enemies, rectangles(bases).outlines(), gap_mm).any()
        return is_apart and judge_march(state, action).is_legal.is_clear(tolerance_mm)

    if isinstance(step, Charging) and not may_move_up(state, step, unit.id):
        # It must charge; if players declare first, it may reach nobody.
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
    return turn_deg if is_on_the_spot and _ON_THE_SPOT_DEG < abs(turn_deg) <= 90.0 else 0.0


def _illegal_march(judgement: Way, why_not: Refused) -> Answer:
    because, missing_mm = why_not.why, -judgement.is_legal.margin_mm
    if is_absurd(judgement):
        near = " (the limit near the enemy)" if judgement.is_legal.rule == NEAR_RULE else ""
        because = f"no path of at most {judgement.allowance_bw:g} BW{near} leads there"
    elif why_not.rule == judgement.is_legal.rule and missing_mm > 0.0:
        because += f": {missing_mm:.0f} mm too far"
    rule = why_not.rule or judgement.is_legal.rule
    return replace(judgement.is_legal, answer="no", probability=0.0, rule=rule, because=because)


def _consequences(state: State, seen: Unit, judgement: Way) -> Iterator[str]:
    """Yields the other consequences of a legal march, each in a few words."""
    field = field_at(state)
    unit = field.by_id[seen.id]
    if doubt := doubt_words(judgement.is_legal):
        yield doubt
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
        yield f"{leader.name} is displaced (M-6.29)"
    after = placed(field, unit, seen.bases)
    near = near_enemy(after, after.by_id[seen.id])
    if near.is_near:
        yield f"it ends near {near.nearest} (M-1.9)"


def suggest_charge(state: State, seen: Unit) -> Suggestion:
    """Suggests a charge for a unit in front of an enemy, or a move up if that is legal."""
    field = field_at(state)
    there = _on_empty_field(field, seen)
    enemies = () if there is None else _enemies_in_front(field, there)
    if there is None or not enemies:
        return suggest_march(state, seen)
    moves = [nearest_charge(field, field.by_id[seen.id], enemy, there.axes) for enemy in enemies]
    ends = (end for end in moves if end is not None)
    # Choose the enemy whose charge ends nearest to the unit.
    end = min(ends, key=lambda end: end_error_mm(end, there.axes), default=None)
    error_mm = 0.0 if end is None else end_error_mm(end, there.axes)
    if _refusal(state, act.March(seen.id, seen.bases)) is None:
        made = suggest_march(state, seen)
        return made if end is None or error_mm > _BEFORE_MM else _move_up_or_charge(made, end)
    action = act.Charge(seen.id, enemies[0] if end is None else end.target, seen.bases)
    why_not = _refusal(state, action)
    if end is None or why_not is not None:
        return _illegal_charge(state, seen, action, end, error_mm, why_not)
    text = f"{seen.id} {end.move.words(field.bw_mm)} into {end.target}: charge?"
    parts = [f"{field.in_bw(end.move.cost_mm):.2f} BW", *charge_notes(end, error_mm)]
    if end.also_meets:
        parts.append(f"it also meets {joined(end.also_meets)} (M-8.8)")
    if end.crosses_difficult:
        parts.append("1 disruption for difficult ground (M-8.6)")
    margin_mm = charge_tolerance_mm(seen.bases) - error_mm
    sure = certain("yes", "M-8.5", joined(parts), end.evidence, margin_mm=margin_mm)
    doubt = end.doubt and replace(end.doubt, because=joined(parts), evidence=end.evidence)
    return Suggestion(seen.id, text, action, doubt or sure)


def _move_up_or_charge(made: Suggestion, end: ChargeEnd) -> Suggestion:
    """Asks whether a move up that stops just short of an enemy was meant to be a charge."""
    charge = act.Charge(made.unit, end.target, end.bases)
    text = f"{made.unit} stops just short of {end.target}: move up or charge?"
    choices = ("Move up", made.action), (f"Charge {end.target}: put it in contact", charge)
    return replace(made, text=text, action=None, choices=choices)


def _enemies_in_front(field: Field, there: UnitOnField) -> tuple[str, ...]:
    """Returns the enemies right in front of a unit, the nearest first."""
    outline, enemies = there.outline, field.enemies_of(there)
    near = ((shapely.distance(outline, enemy.outline), enemy.id) for enemy in enemies)
    return tuple(name for gap_mm, name in sorted(near) if gap_mm <= _BEFORE_MM)


def _illegal_charge(
    state: State,
    seen: Unit,
    action: act.Charge,
    end: ChargeEnd | None,
    error_mm: float,
    why_not: Refused | None,
) -> Suggestion:
    rule, because = "M-8.3", f"no charge of {seen.id} reaches {action.target}"
    if why_not is not None:
        rule, because = why_not.rule or rule, why_not.why
    answer = certain("no", rule, because, () if end is None else end.evidence, margin_mm=-error_mm)
    near = "push it into contact" if error_mm <= _BEFORE_MM else "its charge leads elsewhere"
    text = f"{seen.id} stands in front of {action.target}: {near if rule == 'M-8.5' else 'charge?'}"
    nearest = state.position if end is None else _proposed_position(state, seen, end.bases)
    return Suggestion(seen.id, text, action, answer, nearest)


def _on_empty_field(field: Field, seen: Unit) -> UnitOnField | None:
    """Returns a unit at its seen pose without the others, or None if it is off the table."""
    # On an otherwise empty field overlaps with other units are no error.
    there = laid(seen, seen.bases)
    try:
        return field_of(replace(field.position, units=(there,))).by_id[seen.id]
    except BadInput:
        return None


def _refusal(state: State, action: act.Action) -> Refused | None:
    try:
        state.step.answered(state, action)
    except Refused as refused:
        return refused
    return None


def _proposed_position(state: State, seen: Unit, bases: Bases | None) -> Position | None:
    return None if bases is None else state.with_unit(replace(seen, bases=bases)).position


def _suggested(
    state: State,
    name: str,
    text: str,
    action: act.Action,
    rule: str,
    nearest: Position | None = None,
) -> Suggestion:
    """Suggests an action that is legal unless it is refused now."""
    why_not = _refusal(state, action)
    if why_not is None:
        return Suggestion(name, text, action, certain("yes", rule, text))
    answer = certain("no", why_not.rule or rule, why_not.why)
    return Suggestion(name, text, action, answer, nearest)
