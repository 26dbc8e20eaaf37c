"""Charges: each unit of a force charges, moves up or stays (M-8.1 to M-8.9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from itertools import count

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import laid_at
from tablecam.rules.game import Ban, Event, PendingDecision, Refused
from tablecam.rules.maurice.charge.charge import Charge as Chances
from tablecam.rules.maurice.charge.charge import are_enough_chargers, charges, why_never_charges
from tablecam.rules.maurice.charge.limits import NOT_AT_CAVALRY, may_charge
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.game.actions import Action, Charge, Done, March
from tablecam.rules.maurice.game.combat import to_combat
from tablecam.rules.maurice.game.commander import with_displacement
from tablecam.rules.maurice.game.march import judge_march, shapes_inside, with_march
from tablecam.rules.maurice.game.marches import usual_marches
from tablecam.rules.maurice.game.nearest import (
    ChargeEnd,
    charge_ends,
    charge_tolerance_mm,
    end_error_mm,
    nearest_charge,
)
from tablecam.rules.maurice.game.state import State, Step
from tablecam.rules.maurice.game.table import (
    check_bases,
    check_enemy,
    declarable_charges,
    distance_words,
    field_at,
    with_disruption,
)
from tablecam.rules.maurice.movement.judge import placed
from tablecam.rules.maurice.movement.ways import BACKWARD_RULE, Way
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.steps import why_none
from tablecam.table.sides import side_plural
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.wording import joined


class Charging(Step):
    """A charge: the units of a force charge or move up, one by one (M-8.2, M-8.9).

    `charged` maps each charger to the targets it met, none if its charge was lost.
    """

    about, acted = "force", ("charged", "moved")
    opens = "the {side} charge is declared"
    kinds, expects, answer_rule = (Charge, March, Done), "a charge, a move up or done", "M-8.2"
    force: tuple[str, ...]
    charged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moved: tuple[str, ...] = ()

    def asked(self, state: State) -> PendingDecision:
        """Asks the active side."""
        waiting, short = self.waiting, _short_of_half(self)
        names, side = ", ".join(waiting), side_plural(state.active)
        # The count comes first, as finding who can charge is slow. A unit that can no longer charge
        # because others went before it may move up.
        is_bound = 0 < len(waiting) <= short and not state.declares_first
        if is_bound and len(able_to_charge(state, waiting)) == len(waiting):
            return PendingDecision(f"{side} charge: {names} must charge", state.active)
        more = f"{short} more must charge" if short else "or end the charge"
        question = f"{side} charge: {names} may charge or move up; {more}"
        return PendingDecision(question, state.active)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists a charge at each enemy that can be met, the usual moves up, and ending the step.

        If players declare first: a charge at each enemy, and no moves up, as their list would
        reveal distances.
        """
        field, able = field_at(state), able_to_charge(state, self.waiting)
        listed: list[Action] = []
        if state.declares_first:
            listed += (charge for name in able for charge in declarable_charges(state, name))
            return (*listed, *(() if _short_of_half(self) and able else (Done(),)))
        for name in able:
            # Reversing twice keeps the first end of each target.
            ends = {end.target: end for end in reversed([*charge_ends(field, field.by_id[name])])}
            listed += (Charge(name, end.target, end.bases) for end in reversed(ends.values()))
        for name in self.waiting:
            if _may_stay_behind(self, able, name):
                listed += usual_marches(field, field.by_id[name], is_moving_up=True)
        # Short of half, it ends only if nobody else can charge.
        if not _short_of_half(self) or not able:
            listed.append(Done())
        return tuple(listed)

    def why_missing(self, state: State) -> str:
        """Says why some units of the force cannot charge."""
        return why_none("charge", charge_bans(state, self.waiting))

    def decided(self, state: State, action: Charge | March | Done) -> State:
        """Charges or moves up a unit; when all have acted, moves on to combat."""
        if isinstance(action, Charge):
            return _charged(state, self, action)
        if isinstance(action, March):
            return _moved_up(state, self, action)
        able = able_to_charge(state, self.waiting) if _short_of_half(self) else ()
        if able:
            have = f"{len(self.charged)} of {len(self.force)} have charged"
            why = f"{have} but half of the force must: {joined(able)} can still charge"
            raise Refused(why, rule="M-8.2")
        return to_combat(state)

    def declared(self, state: State) -> Iterable[str]:
        """Returns the units that have charged, and the enemies that they met."""
        return [name for unit, met in self.charged.items() if met for name in (unit, *met)]


def able_to_charge(state: State, names: Iterable[str]) -> tuple[str, ...]:
    """Returns the units that can charge now (M-8.3), in the given order.

    If players declare first: those that may try to.
    """
    return tuple(name for name, ban in charge_bans(state, names).items() if ban is None)


def charge_bans(state: State, names: Iterable[str]) -> Mapping[str, Ban | None]:
    """Returns why units cannot charge, None for those that can.

    If players declare first: why they may not try to, as lanes would reveal distances.
    """
    field, names = field_at(state), tuple(names)
    if state.declares_first:
        reasons = {
            name: why_never_charges(field.by_id[name])
            or (None if declarable_charges(state, name) else NOT_AT_CAVALRY)
            for name in names
        }
    else:
        charge_by_unit = charges(field, names)
        reasons = {name: _charge_refusal(state, name, charge_by_unit[name]) for name in names}
    return {name: None if why is None else _ban(why) for name, why in reasons.items()}


def _ban(why: Reason) -> Ban:
    is_far = why.code == "out_of_reach"
    return Ban(why.rule, "no enemy is in reach" if is_far else why.clause)


def may_move_up(state: State, step: Charging, name: str) -> bool:
    """Whether enough of a force can charge without a unit, so that it may move up (M-8.2)."""
    return _may_stay_behind(step, able_to_charge(state, step.waiting), name)


def made_charge(state: State, action: Charge) -> ChargeEnd:
    """Returns the legal charge move that a unit has made.

    Raises:
        Refused: The unit cannot charge, cannot charge that enemy, or lies elsewhere.
    """
    field = field_at(state)
    unit = field.by_id[action.unit]
    enemy = field.by_id.get(action.target)
    if enemy is None or enemy.side == unit.side:
        why = f"expected an enemy to charge, got {action.target}"
        raise Refused(why, rule="M-8.3", key="target")
    front = axes_of(unit.unit, action.bases)
    end = nearest_charge(field, unit, action.target, front)
    if end is None or _is_bogged_down(state, unit.id):
        refusal = _charge_refusal(state, unit.id, charges(field, [unit.id])[unit.id])
        barred = refusal or Reason("M-8.3", "no_move_at", (action.target,))
        raise Refused(f"{unit.id} cannot charge: {barred.clause}", rule=barred.rule, key="target")
    error_mm = end_error_mm(end, front)
    if error_mm > charge_tolerance_mm(action.bases):
        off = f"{error_mm:.1f} mm from where its charge at {action.target} ends"
        raise Refused(f"{unit.id} is {off}", rule="M-8.5", key="bases")
    return end


def _charge_refusal(state: State, name: str, charge: Chances) -> Reason | None:
    """Returns the reason why a unit cannot charge; Rough Going holds it in difficult ground."""
    if _is_bogged_down(state, name):
        return Reason("M-5.2", "bogged_down")
    return None if charge.is_eligible else charge.why_not


def _is_bogged_down(state: State, name: str) -> bool:
    return state.round.is_rough_going and field_at(state).by_id[name].is_in_difficult


def _charged(state: State, step: Charging, action: Charge) -> State:
    """Makes a unit's charge: snaps it to the legal end and applies its effects."""
    _check_may_act(step, action.unit)
    if state.declares_first:
        ideal = _declared_end(state, action)
        if ideal is None:
            return _lost_charge(state, step, action)
        # Players may name the enemy alone; the unit then ends where the charge leads.
        action = action if action.bases else replace(action, bases=ideal.bases)
    check_bases(state, action)
    end = made_charge(state, action)
    error_mm = end_error_mm(end, axes_of(end.unit.unit, action.bases))
    state = state.with_events(_charge_event(state, end, error_mm))
    # Snap to the ideal end, so that a gap within tolerance becomes true contact.
    bases = laid_at(action.bases, end.bases)
    state = state.with_unit(replace(end.unit.unit, bases=bases))
    if end.crosses_difficult:
        why = "charges through difficult ground"
        drawn = shapes_inside(end.area, field_at(state).ground.difficult)
        state = with_disruption(state, action.unit, 1, why, "M-8.6", drawn)
    charged = {**step.charged, action.unit: (end.target, *end.also_meets)}
    return _next(state, replace(step, charged=charged), end.area)


def _declared_end(state: State, action: Charge) -> ChargeEnd | None:
    """Returns the charge that reaches the named enemy; None if none does and it is lost.

    Raises:
        Refused: By visible facts, the unit cannot charge this enemy (M-8.4).
    """
    field = field_at(state)
    unit = field.by_id[action.unit]
    check_enemy(state, unit, action.target, "M-8.3", "target")
    if why_never_charges(unit) is not None:
        raise Refused(f"{unit.id} may not declare a charge", rule="M-8.4", key="unit")
    if not may_charge(unit, field.by_id[action.target]):
        raise Refused("infantry may not charge cavalry", rule="M-8.4", key="target")
    if _is_bogged_down(state, unit.id):
        return None
    ahead = (end for end in charge_ends(field, unit) if end.target == action.target)
    # A charge that is too close to call is the charger's choice.
    return next(ahead, None) or nearest_charge(field, unit, action.target, unit.axes)


def _lost_charge(state: State, step: Charging, action: Charge) -> State:
    """Counts a charge that reaches nobody as made; the unit stays (M-8.2)."""
    away = distance_words(state, action.unit, action.target)
    text = f"{action.unit} has no charge that reaches {action.target}, which is {away}"
    text = f"{text}: it stays where it is"
    state = state.tells("charge-lost", text, "M-8.3", unit=action.unit, target=action.target)
    step = replace(step, charged={**step.charged, action.unit: ()})
    return _next(state, step, shapely.Polygon())


def _moved_up(state: State, step: Charging, action: March) -> State:
    _check_may_act(step, action.unit)
    check_bases(state, action)
    if not may_move_up(state, step, action.unit):
        short = _short_of_half(step)
        why = f"{action.unit} can charge, and {short} more units of the force must"
        raise Refused(why, rule="M-8.2", key="unit")
    judgement = judge_march(state, action)
    if (why_not := _not_a_move_up(state, action, judgement)) is not None:
        raise Refused(why_not, rule="M-8.9", key="bases")
    step = replace(step, moved=(*step.moved, action.unit))
    return _next(with_march(state, action, judgement), step, judgement.area)


def _not_a_move_up(state: State, action: March, judgement: Way) -> str | None:
    """Returns the part of a move up that only a march may contain, or None (M-8.9).

    If a forward move leads to the same place, it is assumed (M-6.17).
    """
    # A change of formation is refused even where the move itself is legal.
    if _changes_formation(state, action):
        return f"{action.unit} was activated to charge and may not change its formation"
    if judgement.is_legal.answer != "no":
        return None
    # Judged again as a march, to name the part that only a march may contain.
    march = judge_march(state, action, is_moving_up=False)
    if march.is_legal.answer != "no" and march.is_after_about_face:
        return f"{action.unit} was activated to charge and may not about-face"
    if march.is_legal.answer != "no" and march.is_legal.rule == BACKWARD_RULE:
        return f"{action.unit} was activated to charge and may not move backward"
    return None


def _changes_formation(state: State, action: March) -> bool:
    unit = field_at(state).by_id[action.unit]
    # An illegal place is refused as for any march.
    with suppress(BadInput):
        there = placed(field_at(state), unit, action.bases).by_id[unit.id]
        return there.formation != unit.formation
    return False


def _next(state: State, step: Charging, area: shapely.Geometry) -> State:
    """Returns the rest of the force or the combat, after any displaced commander."""
    then = step if step.waiting else to_combat(state).step
    return with_displacement(state, state.active, area, then)


def _short_of_half(step: Charging) -> int:
    """Returns how many more units must charge (M-8.2)."""
    enough = partial(are_enough_chargers, activated=len(step.force))
    return next(more for more in count() if enough(len(step.charged) + more))


def _may_stay_behind(step: Charging, able: Sequence[str], name: str) -> bool:
    """Whether enough other units can charge; a unit that cannot charge may always move up."""
    return name not in able or len(able) - 1 >= _short_of_half(step)


def _check_may_act(step: Charging, name: str) -> None:
    if name not in step.force:
        raise Refused(f"{name} is not in the activated force", rule="M-8.2", key="unit")
    if name not in step.waiting:
        done = "charged" if name in step.charged else "moved up"
        raise Refused(f"{name} has already {done} in this round", rule="M-8.5", key="unit")


def charge_notes(end: ChargeEnd, gap_mm: float) -> Iterator[str]:
    """Yields why a charge counts despite a remaining gap, or a doubt."""
    if gap_mm > TOUCH_MM:
        yield f"its gap of {gap_mm:.1f} mm counts as contact (G-8)"
    if end.doubt is not None:
        yield "whether it can is too close to call, so the mover decides"


def _charge_event(state: State, end: ChargeEnd, gap_mm: float) -> Event:
    field, move = field_at(state), end.move
    targets = joined((end.target, *end.also_meets))
    way = move.words(field.bw_mm)
    text = "; ".join((f"{end.unit.id} charges {targets}: {way}", *charge_notes(end, gap_mm)))
    facts = {
        "unit": end.unit.id,
        "targets": [end.target, *end.also_meets],
        "cost_bw": round(field.in_bw(move.cost_mm), 3),
        "wheel": move.pivot,
        "off_mm": round(gap_mm, 2),
    }
    return Event("charge", text, "M-8.5", facts, end.evidence)
