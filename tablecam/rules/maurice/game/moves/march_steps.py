"""The march: the units of a force move one by one, in any order, none into contact (M-6.31).

A unit lies now as it did when the round began, as each moves once: so the formation in which it
stands is the one that fixes its allowance (M-6.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import shapely

from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.game.moves.marches import marches
from tablecam.rules.maurice.game.state.actions import Action, Charge, ClearSmoke, Done, March
from tablecam.rules.maurice.game.state.displaced import after_passing
from tablecam.rules.maurice.game.state.losses import disrupted
from tablecam.rules.maurice.game.state.poses import Bases, ahead
from tablecam.rules.maurice.game.state.sequence import after_action
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import Charging, Marching, Step
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.rules.maurice.movement.change import placed
from tablecam.rules.maurice.movement.movement import MoveJudgement, judge_move
from tablecam.rules.maurice.movement.ways import suffers
from tablecam.table.motion import SLIP_MM
from tablecam.table.sides import side_name

_FEW_MM = 4 * SLIP_MM
"""To wheel back and forth to where a hand slipped aside costs a few times as much as it slipped."""
_SIDES = 12


class MarchingRules:
    """`Marching`: each unit of the force once, or smoke taken off guns instead."""

    def asked(self, state: State, step: Marching) -> Asked:
        """The active side."""
        left = ", ".join(_left(state, step))
        who = side_name(state.active)
        return Asked(f"{who} marches: {left} may move, or say done", state.active)

    def legal(self, state: State, step: Marching) -> tuple[Action, ...]:
        """The usual marches of each unit that has not moved, and to leave it at that."""
        field, extra_bw = field_at(state), state.round.amounts("bugle")
        listed: list[Action] = []
        for name in _left(state, step):
            listed += marches(field, field.by_id[name], extra_bw=extra_bw.get(name, 0))
        if _smoking(state, step) and not step.moved:
            listed.append(ClearSmoke())
        return (*listed, Done())

    def apply(self, state: State, step: Marching, action: Action) -> Followed:
        """A unit moved, with what that does to it, to friends and to commanders in its way."""
        if isinstance(action, March):
            return _marched(state, step, action)
        if isinstance(action, ClearSmoke):
            return _without_smoke(state, step)
        if isinstance(action, Done):
            return after_action(state), ()
        why = f"expected a unit's march, smoke cleared, or done, got {action.type}"
        raise Refused(why, rule="M-6.31")


def judged(state: State, action: March, *, is_moving_up: bool | None = None) -> MoveJudgement:
    """How a march is judged, cards included, whoever's turn it is.

    Whether it is a move up in a charge (M-8.9) is the state's to say, where nobody else does.

    On a table that is measured hands are hands (G-8): what is too far by no more than a hand's
    slip is too close to call, and so the mover's, however well the camera sees it.
    """
    field = field_at(state)
    extra_bw = state.round.amounts("bugle").get(action.unit, 0)
    if is_moving_up is None:
        is_moving_up = isinstance(state.step, Charging)
    judge = partial(
        judge_move,
        field,
        field.by_id[action.unit],
        extra_bw=extra_bw,
        is_moving_up=is_moving_up,
    )
    found = judge(action.bases)
    margin_mm = found.is_legal.margin_mm
    is_hardly_too_far = found.is_legal.answer == "no" and -_FEW_MM <= margin_mm < 0.0
    if not is_hardly_too_far or is_exact(field):
        return found
    is_a_slip = margin_mm >= -SLIP_MM or any(
        judge(bases).is_legal.answer != "no" for bases in _slipped(action.bases)
    )
    answer = replace(found.is_legal, answer="too_close" if is_a_slip else "no")
    return replace(found, is_legal=answer)


def _slipped(bases: Bases) -> Iterator[Bases]:
    """Where bases would lie had a hand not slipped to one of all sides."""
    for side in range(_SIDES):
        yield ahead(bases, 360.0 * side / _SIDES, SLIP_MM)


def check_bases(state: State, action: March | Charge) -> None:
    """Refuse a move of a unit that is not there, or of other bases than it has."""
    unit = state.position.unit(action.unit)
    if unit is None:
        raise Refused(f"expected a unit on the table, got {action.unit}", rule="M-6.1", key="unit")
    have, got = (
        [(b.tag, b.width_mm, b.depth_mm) for b in each] for each in (unit.bases, action.bases)
    )
    if have != got:
        why = f"expected the {len(have)} bases of {unit.id}, got others"
        raise Refused(why, rule="M-1.6", key="bases")


def moved_to(state: State, action: March, found: MoveJudgement) -> Followed:
    """The state with a unit where it marched to, and what that did to it and its friends."""
    field = field_at(state)
    unit = field.by_id[action.unit]
    there = placed(field, unit, action.bases).by_id[unit.id].unit
    events = [_told(action.unit, found)]
    state = state.with_unit(there)
    gained = found.disruptions - found.is_rough
    if found.is_rough:
        why, drawn = "passes through difficult ground", part_in(found.area, field.ground.difficult)
        state, told = disrupted(state, unit.id, 1, why, "M-6.3", drawn)
        events += told
    if gained:
        why = f"passes through {' and '.join(found.passed)}"
        friends = (shapes_of(field.by_id[name].outline, "friend") for name in found.passed)
        drawn = tuple(shape for each in friends for shape in each)
        state, told = disrupted(state, unit.id, gained, why, "M-6.7", drawn)
        events += told
    for name in found.passed:
        if suffers(field.by_id[name]):
            why, drawn = f"is passed through by {unit.id}", shapes_of(found.area, "lane")
            state, told = disrupted(state, name, 1, why, "M-6.7", drawn)
            events += told
    return state, tuple(events)


def part_in(area: shapely.Geometry, ground: shapely.Geometry) -> tuple[Shape, ...]:
    """The part of a way that lies in ground, as it is drawn."""
    return shapes_of(shapely.intersection(area, ground, grid_size=GRID_MM), "intrusion")


def _marched(state: State, step: Marching, action: March) -> Followed:
    if action.unit not in step.force:
        raise Refused(f"{action.unit} is not of the activated force", rule="M-6.1", key="unit")
    if action.unit in step.moved:
        raise Refused(f"{action.unit} has moved in this round", rule="M-6.31", key="unit")
    check_bases(state, action)
    found = judged(state, action)
    if found.is_legal.answer == "no":
        raise Refused(found.because, rule=found.is_legal.rule, key="bases")
    state, events = moved_to(state, action, found)
    then = _onward(state, replace(step, moved=(*step.moved, action.unit)))
    state, told = after_passing(state, state.active, found.area, then)
    return state, (*events, *told)


def _onward(state: State, step: Marching) -> Step:
    """The march while somebody can move, and what comes after it."""
    return step if _left(state, step) else after_action(state).step


def _left(state: State, step: Marching) -> tuple[str, ...]:
    return tuple(name for name in step.force if name not in step.moved)


def _smoking(state: State, step: Marching) -> tuple[str, ...]:
    by_id = field_at(state).by_id
    return tuple(name for name in step.force if by_id[name].has_smoke)


def _without_smoke(state: State, step: Marching) -> Followed:
    """The smoke of the whole force taken off; none of it moves in this round (M-4.23)."""
    smoking = _smoking(state, step)
    if not smoking:
        raise Refused("expected guns with smoke: none of the force has any", rule="M-4.23")
    if step.moved:
        names = " and ".join(step.moved)
        raise Refused(f"{names} moved: a march that clears smoke moves nobody", rule="M-4.23")
    for name in smoking:
        unit = field_at(state).by_id[name].unit
        kept = {key: value for key, value in unit.state.items() if key != "smoke"}
        state = state.with_unit(replace(unit, state={**kept, "smoke": False}))
    names = " and ".join(smoking)
    told = Event("smoke-cleared", f"{names}: the smoke is off", "M-4.23", {"units": list(smoking)})
    return after_action(state), (told,)


_CHANGES = ("M-6.22", "M-6.23", "M-6.24", "M-6.25")


def _deed(found: MoveJudgement) -> str:
    """What was done, and how much of the move it took."""
    took = f"{found.cost_bw:.2f} BW of {found.allowance_bw:g}"
    if found.is_after_about_face:
        return f"faces about and marches {took}" if found.cost_bw > 0 else "faces about"
    if found.is_legal.rule in _CHANGES:
        return f"changes its formation: {took}"
    return f"marches {took}"


def _told(name: str, found: MoveJudgement) -> Event:
    answer = found.is_legal
    text = f"{name} {_deed(found)}"
    if answer.answer == "too_close":
        text += f": {abs(answer.margin_mm):.1f} mm are too close to call, and the mover's"
    facts = {
        "unit": name,
        "cost_bw": round(found.cost_bw, 3),
        "allowance_bw": found.allowance_bw,
        "answer": answer.answer,
    }
    return Event("march", text, answer.rule, facts, found.path)
