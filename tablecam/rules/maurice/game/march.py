"""Marches: the units of a force move one by one, in any order, none into contact (M-6.31).

Each unit moves once, so its pose before the move is its pose at the round's start, and its
formation then fixes its allowance (M-6.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import chain

import shapely

from tablecam.geometry.moves.poses import ahead, has_same_bases
from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.game.actions import Action, Charge, ClearSmoke, Done, March
from tablecam.rules.maurice.game.commander import after_action, with_displacement
from tablecam.rules.maurice.game.marches import usual_marches
from tablecam.rules.maurice.game.state import State, StateAndEvents, Step
from tablecam.rules.maurice.game.table import field_at, with_disruption, with_leader
from tablecam.rules.maurice.movement.change import placed
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.rules.maurice.movement.ways import Way, mover_decides
from tablecam.table.motion import SLIP_MM
from tablecam.table.sides import side_plural
from tablecam.wording import joined

_FEW_MM = 4 * SLIP_MM
"""The longest excess that a placement error can explain: wheeling there and back costs more."""
_SIDES = 12


class Marching(Step):
    """A march: the units of a force move one by one; `moved` have done so (M-6.31)."""

    force: tuple[str, ...]
    moved: tuple[str, ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The units that have yet to move."""
        return tuple(name for name in self.force if name not in self.moved)

    def asked(self, state: State) -> PendingDecision:
        """Asks the active side."""
        waiting = ", ".join(self.waiting)
        question = f"{side_plural(state.active)} march: {waiting} may still move"
        return PendingDecision(question, state.active)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the usual marches of each unit that has not moved, and stopping."""
        field, extra_bw = field_at(state), state.round.amounts("bugle")
        listed: list[Action] = []
        for name in self.waiting:
            listed += usual_marches(field, field.by_id[name], extra_bw=extra_bw.get(name, 0))
        if _smoking(state, self) and not self.moved:
            listed.append(ClearSmoke())
        return (*listed, Done())

    def follow(self, state: State, action: Action) -> StateAndEvents:
        """Moves a unit, with the effects on it, on friends and on commanders in its way."""
        if isinstance(action, March):
            return _marched(state, self, action)
        if isinstance(action, ClearSmoke):
            return _without_smoke(state, self)
        if isinstance(action, Done):
            return after_action(state), ()
        raise Refused(f"expected a march, smoke to clear or done, got {action.type}", rule="M-6.31")

    def declared(self, state: State) -> Iterable[str]:
        """Returns the force, and the commander whose span was declared with it (M-4.11)."""
        return with_leader(state, self.force)


def judge_march(state: State, action: March, *, is_moving_up: bool | None = None) -> Way:
    """Judges a march, card modifiers included, at any time in the game.

    `is_moving_up` (M-8.9) is taken from the state if None.

    On a measured table an excess within placement tolerance is too close to call and so the mover's
    choice (G-8), however small the camera's error.
    """
    field = field_at(state)
    extra_bw = state.round.amounts("bugle").get(action.unit, 0)
    if is_moving_up is None:
        is_moving_up = state.step.type == "charging"
    # Judging is repeated below for poses nudged to all sides.
    unit = field.by_id[action.unit]
    judge = partial(judge_move, field, unit, extra_bw=extra_bw, is_moving_up=is_moving_up)
    judgement = judge(action.bases)
    margin_mm = judgement.is_legal.margin_mm
    is_slightly_too_far = judgement.is_legal.answer == "no" and -_FEW_MM <= margin_mm < 0.0
    # Exact poses are meant as they are.
    if not is_slightly_too_far or field.is_exact:
        return judgement
    is_within_tolerance = margin_mm >= -SLIP_MM or any(
        judge(ahead(action.bases, 360.0 * side / _SIDES, SLIP_MM)).is_legal.answer != "no"
        for side in range(_SIDES)
    )
    answer = replace(judgement.is_legal, answer="too_close" if is_within_tolerance else "no")
    return replace(judgement, is_legal=answer)


def check_bases(state: State, action: March | Charge) -> None:
    """Checks that a move is for a unit on the table and has its bases.

    Raises:
        Refused: There is no such unit, or it has other bases.
    """
    unit = state.position.unit(action.unit)
    if unit is None:
        raise Refused(f"expected a unit on the table, got {action.unit}", rule="M-6.1", key="unit")
    if not has_same_bases(action.bases, unit.bases):
        why = f"expected the {len(unit.bases)} bases of {unit.id}, got different ones"
        raise Refused(why, rule="M-1.6", key="bases")


def with_march(state: State, action: March, judgement: Way) -> StateAndEvents:
    """Returns the state after a march, with its effects on the unit and on friends passed.

    Raises:
        Refused: The march is not legal.
    """
    if judgement.is_legal.answer == "no":
        raise Refused(judgement.is_legal.because, rule=judgement.is_legal.rule, key="bases")
    field = field_at(state)
    unit = field.by_id[action.unit]
    there = placed(field, unit, action.bases).by_id[unit.id].unit
    events = [_march_event(action.unit, judgement)]
    state = state.with_unit(there)
    # Difficult ground and friends are separate events with separate rules.
    gained = judgement.disruptions - judgement.is_rough
    if judgement.is_rough:
        why = "passes through difficult ground"
        drawn = shapes_inside(judgement.area, field.ground.difficult)
        state, more = with_disruption(state, unit.id, 1, why, "M-6.3", drawn)
        events += more
    if gained:
        why = f"passes through {joined(judgement.passed)}"
        friends = (shapes_of(field.by_id[name].outline, "friend") for name in judgement.passed)
        drawn = tuple(chain.from_iterable(friends))
        state, more = with_disruption(state, unit.id, gained, why, "M-6.7", drawn)
        events += more
    for name in judgement.passed:
        if field.by_id[name].is_disrupted_by_passing:
            why, drawn = f"is passed through by {unit.id}", shapes_of(judgement.area, "lane")
            state, more = with_disruption(state, name, 1, why, "M-6.7", drawn)
            events += more
    return state, tuple(events)


def shapes_inside(area: shapely.Geometry, ground: shapely.Geometry) -> tuple[Shape, ...]:
    """Draws the part of a swept area that lies in some ground."""
    return shapes_of(shapely.intersection(area, ground, grid_size=GRID_MM), "intrusion")


def _marched(state: State, step: Marching, action: March) -> StateAndEvents:
    """Makes a unit's march with all its effects, or refuses it."""
    if action.unit not in step.force:
        raise Refused(f"{action.unit} is not in the activated force", rule="M-6.1", key="unit")
    if action.unit in step.moved:
        raise Refused(f"{action.unit} has already moved in this round", rule="M-6.31", key="unit")
    check_bases(state, action)
    judgement = judge_march(state, action)
    state, events = with_march(state, action, judgement)
    # The enemy's commander makes room before the next unit moves (M-6.29).
    step = replace(step, moved=(*step.moved, action.unit))
    then = step if step.waiting else after_action(state).step
    state, displaced = with_displacement(state, state.active, judgement.area, then)
    return state, (*events, *displaced)


def _smoking(state: State, step: Marching) -> tuple[str, ...]:
    by_id = field_at(state).by_id
    return tuple(name for name in step.force if by_id[name].has_smoke)


def _without_smoke(state: State, step: Marching) -> StateAndEvents:
    """Clears the smoke of the whole force; none of it moves in this round (M-4.23)."""
    smoking = _smoking(state, step)
    if not smoking:
        raise Refused("no unit of the force has smoke to clear", rule="M-4.23")
    if step.moved:
        names = joined(step.moved)
        why = f"{names} moved already: a force that clears smoke may not move"
        raise Refused(why, rule="M-4.23")
    for name in smoking:
        unit = field_at(state).by_id[name].unit
        state = state.with_marker(unit, smoke=False)
    names = joined(smoking)
    event = Event("smoke-cleared", f"{names}: smoke cleared", "M-4.23", {"units": list(smoking)})
    return after_action(state), (event,)


_CHANGES = ("M-6.22", "M-6.23", "M-6.24", "M-6.25")


def _move_text(judgement: Way) -> str:
    """Describes a move and how much of the allowance it took."""
    cost = f"{judgement.cost_bw:.2f} BW of {judgement.allowance_bw:g}"
    if judgement.is_after_about_face:
        return f"faces about and marches {cost}" if judgement.cost_bw > 0 else "faces about"
    if judgement.is_legal.rule in _CHANGES:
        return f"changes its formation: {cost}"
    return f"marches {cost}"


def _march_event(name: str, judgement: Way) -> Event:
    """Returns the event of a march."""
    answer = judgement.is_legal
    text = f"{name} {_move_text(judgement)}"
    if answer.answer == "too_close":
        text += f": {mover_decides(answer)}"
    facts = {
        "unit": name,
        "cost_bw": round(judgement.cost_bw, 3),
        "allowance_bw": judgement.allowance_bw,
        "answer": answer.answer,
    }
    return Event("march", text, answer.rule, facts, judgement.path)
