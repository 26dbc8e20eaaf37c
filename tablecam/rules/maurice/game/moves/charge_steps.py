"""The charge: half of a force or more charge, the others may move up (M-8.2, M-8.9).

That an enemy was in view when the round began (M-8.4) is judged by where both stand as the unit
charges: neither has moved since, and units hide nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.outlines import axes
from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.charge.charge import Charge as Chances
from tablecam.rules.maurice.charge.charge import are_enough
from tablecam.rules.maurice.combat.combat import meeting
from tablecam.rules.maurice.game.moves.charge_ends import (
    ChargeEnd,
    charge_ends,
    charge_made,
    off_mm,
    slack_mm,
)
from tablecam.rules.maurice.game.moves.lost import end_tried, lost_charge
from tablecam.rules.maurice.game.moves.march_steps import check_bases, judged, moved_to, part_in
from tablecam.rules.maurice.game.moves.marches import marches
from tablecam.rules.maurice.game.state.actions import Action, Charge, Done, March
from tablecam.rules.maurice.game.state.declaring import has_anyone_to_charge, tried_charges
from tablecam.rules.maurice.game.state.displaced import after_passing
from tablecam.rules.maurice.game.state.losses import disrupted
from tablecam.rules.maurice.game.state.sequence import after_moves_of_charge
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import Charging
from tablecam.rules.maurice.game.state.table import charges_at, field_at
from tablecam.rules.maurice.movement.change import placed
from tablecam.rules.maurice.movement.movement import MoveJudgement
from tablecam.rules.maurice.movement.wheels import BACKWARD_RULE
from tablecam.table.sides import side_name
from tablecam.uncertainty.contact import TOUCH_MM


class ChargingRules:
    """`Charging`: each unit of the force charges, moves up or stays."""

    def asked(self, state: State, step: Charging) -> Asked:
        """The active side."""
        left, short = _left(step), _short_of_half(step)
        names, who = ", ".join(left), side_name(state.active)
        if 0 < len(left) <= short and _must_all_charge(state, left):
            return Asked(f"{who} charges: {names} must charge", state.active)
        more = f"{short} more must charge" if short else "or say done"
        return Asked(f"{who} charges: {names} may charge or move up; {more}", state.active)

    def legal(self, state: State, step: Charging) -> tuple[Action, ...]:
        """A charge at each enemy that can be met, the usual ways to move up, and to be done.

        Where players declare first it is a charge at each enemy, and hands alone move units up:
        what is listed of that would measure for them.
        """
        field, able = field_at(state), able_to_charge(state, _left(step))
        listed: list[Action] = []
        if state.declares_first:
            listed += (charge for name in able for charge in tried_charges(state, name))
            return (*listed, *(() if _short_of_half(step) and able else (Done(),)))
        for name in able:
            ends = {end.target: end for end in reversed([*charge_ends(field, field.by_id[name])])}
            listed += (Charge(name, end.target, end.bases) for end in reversed(ends.values()))
        for name in _left(step):
            if _may_stay_behind(step, able, name):
                listed += marches(field, field.by_id[name], is_moving_up=True)
        if not _short_of_half(step) or not able:
            listed.append(Done())
        return tuple(listed)

    def apply(self, state: State, step: Charging, action: Action) -> Followed:
        """A unit charged or moved up; when all have, on to the combat."""
        if isinstance(action, Charge):
            return _charged(state, step, action)
        if isinstance(action, March):
            return _moved_up(state, step, action)
        if isinstance(action, Done):
            return _done(state, step)
        raise Refused(f"expected a charge, a move up, or done, got {action.type}", rule="M-8.2")


def able_to_charge(state: State, names: Iterable[str]) -> tuple[str, ...]:
    """Those of some units that can charge now (M-8.3), in their order.

    Where players declare first, those that may try to.
    """
    names = tuple(names)
    if state.declares_first:
        return tuple(name for name in names if has_anyone_to_charge(state, name))
    found = charges_at(state, names)
    return tuple(name for name in names if _why_not(state, name, found[name]) is None)


def may_move_up(state: State, step: Charging, name: str) -> bool:
    """Whether enough of a force can charge without a unit, so that it may move up (M-8.2)."""
    return _may_stay_behind(step, able_to_charge(state, _left(step)), name)


def end_made(state: State, action: Charge) -> ChargeEnd:
    """The legal charge move that a unit has made.

    Raises:
        Refused: It has made none: it cannot charge, not that enemy, or lies elsewhere.
    """
    field = field_at(state)
    unit = field.by_id[action.unit]
    enemy = field.by_id.get(action.target)
    if enemy is None or enemy.side == unit.side:
        why = f"expected an enemy to charge, got {action.target}"
        raise Refused(why, rule="M-8.3", key="target")
    seen = axes(replace(unit.unit, bases=action.bases))
    end = None if _is_held(state, unit.id) else charge_made(field, unit, action.target, seen)
    if end is None:
        why_not = _why_not(state, unit.id, charges_at(state, [unit.id])[unit.id])
        rule, _, why = (why_not or f"M-8.3 no charge leads to {action.target}").partition(" ")
        raise Refused(f"{unit.id} cannot charge: {why}", rule=rule, key="target")
    far_mm = off_mm(end, seen)
    if far_mm > slack_mm(action.bases):
        where = f"{far_mm:.1f} mm off where its charge of {action.target} leads"
        raise Refused(f"{unit.id} lies {where}", rule="M-8.5", key="bases")
    return end


def _why_not(state: State, name: str, found: Chances) -> str | None:
    """What forbids a unit any charge; in a round of Rough Going it leaves no difficult ground."""
    if _is_held(state, name):
        return "M-5.2 difficult ground, in which it stands, is impassable in this round"
    return None if found.is_eligible else found.why_not


def _is_held(state: State, name: str) -> bool:
    return state.round.is_rough_going and field_at(state).by_id[name].is_in_difficult


def _charged(state: State, step: Charging, action: Charge) -> Followed:
    _check_may_act(step, action.unit)
    if state.declares_first:
        tried = end_tried(state, action)
        if tried is None:
            return _lost(state, step, action)
        action = action if action.bases else replace(action, bases=tried.bases)
    check_bases(state, action)
    end = end_made(state, action)
    seen = axes(replace(end.unit.unit, bases=action.bases))
    events = [_told(state, end, off_mm(end, seen))]
    # It lies where its charge leads: a gap that counts as contact is one no more.
    bases = tuple(
        replace(base, x_mm=at.x_mm, y_mm=at.y_mm, heading_deg=at.heading_deg)
        for base, at in zip(action.bases, end.bases, strict=True)
    )
    state = state.with_unit(replace(end.unit.unit, bases=bases))
    if end.crosses_difficult:
        why = "charges through difficult ground"
        drawn = part_in(end.area, field_at(state).ground.difficult)
        state, told = disrupted(state, action.unit, 1, why, "M-8.6", drawn)
        events += told
    charged = {**step.charged, action.unit: (end.target, *end.also_meets)}
    state, told = _onward(state, replace(step, charged=charged), end.area)
    return state, (*events, *told)


def _lost(state: State, step: Charging, action: Charge) -> Followed:
    """A charge that leads to nobody counts as one that was made, and the unit stays (M-8.2)."""
    step = replace(step, charged={**step.charged, action.unit: ()})
    state, told = _onward(state, step, shapely.Polygon())
    return state, (lost_charge(state, action), *told)


def _moved_up(state: State, step: Charging, action: March) -> Followed:
    _check_may_act(step, action.unit)
    check_bases(state, action)
    if not may_move_up(state, step, action.unit):
        short = _short_of_half(step)
        why = f"{action.unit} can charge, and {short} more of the force must"
        raise Refused(why, rule="M-8.2", key="unit")
    found = judged(state, action)
    if (why_not := _not_a_move_up(state, action, found)) is not None:
        raise Refused(why_not, rule="M-8.9", key="bases")
    if found.is_legal.answer == "no":
        raise Refused(found.because, rule=found.is_legal.rule, key="bases")
    state, events = moved_to(state, action, found)
    step = replace(step, moved=(*step.moved, action.unit))
    state, told = _onward(state, step, found.area)
    return state, (*events, *told)


def _not_a_move_up(state: State, action: March, found: MoveJudgement) -> str | None:
    """What a unit that does not charge has done that only a march may (M-8.9).

    Where a way forward leads there as well, that is the way that it went (M-6.17).
    """
    if _changes_formation(state, action):
        return f"{action.unit} was activated to charge and may not change its formation"
    if found.is_legal.answer != "no":
        return None
    march = judged(state, action, is_moving_up=False)
    if march.is_legal.answer != "no" and march.is_after_about_face:
        return f"{action.unit} was activated to charge and may not about-face"
    if march.is_legal.answer != "no" and march.is_legal.rule == BACKWARD_RULE:
        return f"{action.unit} was activated to charge and may not go back"
    return None


def _changes_formation(state: State, action: March) -> bool:
    field = field_at(state)
    unit = field.by_id[action.unit]
    try:
        there = placed(field, unit, action.bases).by_id[unit.id]
    except BadInput:
        return False  # It lies where nothing may: that is told as for any march.
    return there.formation != unit.formation


def _done(state: State, step: Charging) -> Followed:
    able = able_to_charge(state, _left(step)) if _short_of_half(step) else ()
    if able:
        have = f"{len(step.charged)} of {len(step.force)} have charged"
        why = f"{have}, half of the force must: {' and '.join(able)} still can"
        raise Refused(why, rule="M-8.2")
    return _to_combat(state), ()


def _onward(state: State, step: Charging, area: shapely.Geometry) -> Followed:
    """The rest of the force, or the combat; first a commander who was passed over."""
    then = step if _left(step) else _to_combat(state).step
    return after_passing(state, state.active, area, then)


def _to_combat(state: State) -> State:
    met = meeting(field_at(state), state.active)
    return after_moves_of_charge(state, tuple(met.engaged))


def _left(step: Charging) -> tuple[str, ...]:
    gone = {*step.charged, *step.moved}
    return tuple(name for name in step.force if name not in gone)


def _short_of_half(step: Charging) -> int:
    """How many more must charge (M-8.2)."""
    activated = len(step.force)
    enough = next(count for count in range(activated + 1) if are_enough(count, activated))
    return max(enough - len(step.charged), 0)


def _must_all_charge(state: State, left: Sequence[str]) -> bool:
    """Whether units of which half of the force cannot spare one can all charge; if it may be told.

    Who cannot any more, as others went before, may move up.
    """
    return not state.declares_first and len(able_to_charge(state, left)) == len(left)


def _may_stay_behind(step: Charging, able: Sequence[str], name: str) -> bool:
    """Whether enough can charge without a unit; what cannot may always move up."""
    return name not in able or len(able) - 1 >= _short_of_half(step)


def _check_may_act(step: Charging, name: str) -> None:
    if name not in step.force:
        raise Refused(f"{name} is not of the activated force", rule="M-8.2", key="unit")
    if name not in _left(step):
        done = "charged" if name in step.charged else "moved up"
        raise Refused(f"{name} has {done} in this round", rule="M-8.5", key="unit")


def _told(state: State, end: ChargeEnd, gap_mm: float) -> Event:
    """A charge, and that a hand's gap counts as contact where there is one."""
    bw_mm = state.position.table.base_width_mm
    wheel = f"wheels {end.corner} {end.arc_mm / bw_mm:.2f} BW, then " if end.corner else ""
    met = " and ".join((end.target, *end.also_meets))
    text = f"{end.unit.id} charges {met}: {wheel}goes {end.straight_mm / bw_mm:.2f} BW ahead"
    if gap_mm > TOUCH_MM:
        text += f"; it lies {gap_mm:.1f} mm off, which counts as contact (G-8)"
    if end.doubt is not None:
        text += "; whether it can is too close to call, and the mover's"
    facts = {
        "unit": end.unit.id,
        "targets": [end.target, *end.also_meets],
        "cost_bw": round(end.cost_mm / bw_mm, 3),
        "wheel": end.corner,
        "off_mm": round(gap_mm, 2),
    }
    return Event("charge", text, "M-8.5", facts, end.evidence)
