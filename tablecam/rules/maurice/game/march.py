"""Marches: the units of a force move one by one, in any order, none into contact (M-6.31).

Each unit moves once, so its pose before the move is its pose at the round's start, and its
formation then fixes its allowance (M-6.2). `path_words` describes a judged move, `march_words`
one that is merely offered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
import shapely

from tablecam.geometry.moves.paths import Straight
from tablecam.geometry.moves.poses import ahead
from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Event, Refused
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.game.actions import Action, ClearSmoke, Done, March
from tablecam.rules.maurice.game.commander import after_action, with_displacement
from tablecam.rules.maurice.game.marches import usual_marches, why_short
from tablecam.rules.maurice.game.state import State, Step
from tablecam.rules.maurice.game.table import check_bases, field_at, with_disruption
from tablecam.rules.maurice.movement.judge import (
    CONTACT_RULE,
    is_faced_about,
    judge_move,
    placed,
)
from tablecam.rules.maurice.movement.ways import BACKWARD_RULE, Way, mover_decides
from tablecam.rules.miniatures.ground import centre_mm
from tablecam.rules.miniatures.move_words import move_words, way_words
from tablecam.table.headings import difference_deg, right
from tablecam.table.model import base_widths
from tablecam.table.motion import SLIP_MM
from tablecam.uncertainty.answer import CERTAIN, Answer
from tablecam.wording import joined

_NOTHING_BW = 0.05
"""Smaller moves are placement error and not mentioned."""
_ASIDE_BW = 0.25
"""A change of formation that moves a unit's middle less aside than this is to both sides."""
_ABSURD = 2.0
"""Cost in allowances beyond which no player can have meant the path."""


def path_words(field: Field, unit: UnitOnField, there: UnitOnField, judgement: Way) -> str:
    """Describes a unit's cheapest path: `wheeled left 1.25 BW and moved ahead 2 BW`.

    Without a path, it describes the unit's new place relative to its old one.
    """
    words: list[str] = []
    if there.formation != unit.formation:
        words.append(f"changed from {unit.formation} to {there.formation}")
    elif judgement.is_after_about_face or (
        # It faces the other way, although no path leads there.
        judgement.is_legal.answer == "no"
        and unit.unit.arm != "artillery"
        and is_faced_about(unit, there)
    ):
        words.append("faced about")
    if judgement.steps and not is_absurd(judgement):
        words += _steps(field, judgement)
    elif judgement.path and not is_absurd(judgement):
        words.append(f"went {_bw_text(judgement.cost_bw)} BW")
    elif not words or is_absurd(judgement):
        by_mm = math.dist(there.axes.middle_mm, unit.axes.middle_mm)
        words.append(f"is {_bw_text(field.in_bw(by_mm))} BW from where it was")
    return joined(words) or "did not move"


def march_words(field: Field, unit: UnitOnField, there: UnitOnField) -> str:
    """Describes a unit's new place relative to its present one."""
    length_unit, bases = base_widths(field.position.table), there.unit.bases
    turned_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    if there.formation != unit.formation:
        # A change of formation turns the front by a quarter or not at all.
        facing = {90: ", facing left", -90: ", facing right"}.get(round(turned_deg))
        facing = _side_words(field, unit, there) if facing is None else facing
        # Some bases keep their places in a change of formation.
        old = [base.place_mm for base in unit.unit.bases]
        has_stayed = any(math.dist(base.place_mm, at) < SLIP_MM for base in bases for at in old)
        way = (unit.axes.heading_deg, unit.unit.bases, bases, length_unit)
        onward = "" if has_stayed else way_words(*way)
        return ", then ".join(part for part in (f"into {there.formation}{facing}", onward) if part)
    return move_words(unit.axes, there.axes, unit.unit.bases, bases, length_unit) or "stays"


_BY_SIDE = {
    ("massed", "line"): ("to the {}", "to both sides"),
    ("massed", "column"): ("{} file first", ""),
    ("line", "massed"): ("on its {} half", "on its middle"),
    ("column", "massed"): ("to the {}", ""),
}
"""What tells apart changes of formation that keep the facing (M-6.24): by the side, and without."""


def _side_words(field: Field, unit: UnitOnField, there: UnitOnField) -> str:
    x, y = right(unit.axes.heading_deg)
    before, after = (np.array(centre_mm(one.unit.bases)) for one in (unit, there))
    aside_bw = field.in_bw(float((after - before) @ (x, y)))
    one_side, no_side = _BY_SIDE.get((unit.formation, there.formation), ("", ""))
    words = one_side.format("left" if aside_bw < 0 else "right")
    words = words if abs(aside_bw) > _ASIDE_BW else no_side
    return words and f", {words}"


def is_within_error(answer: Answer) -> bool:
    """Whether only measuring or placing puts a march's length in doubt: it is allowed (M-6.17)."""
    return answer.answer == "too_close" and answer.rule != CONTACT_RULE


def doubt_words(answer: Answer) -> str:
    """Says why a march in doubt is allowed; empty without a doubt."""
    if answer.answer != "too_close":
        return ""
    if not is_within_error(answer):
        return mover_decides(answer)
    is_measured = 1.0 - CERTAIN < answer.probability < CERTAIN
    return f"within {'the camera' if is_measured else 'a hand'}'s error"


def is_absurd(judgement: Way) -> bool:
    """Whether the cheapest path is too long for a player to have meant it."""
    return judgement.cost_bw > _ABSURD * judgement.allowance_bw


def _bw_text(length_bw: float) -> str:
    """Formats a length in base widths to two decimals, without trailing zeros.

    >>> _bw_text(2.004), _bw_text(1.255)
    ('2', '1.25')
    """
    return f"{length_bw:.2f}".rstrip("0").removesuffix(".")


def _steps(field: Field, judgement: Way) -> Iterator[str]:
    """Describes the wheels and straight moves of a path; consecutive straight moves are joined."""
    back = "back" if judgement.is_legal.rule == BACKWARD_RULE else ""
    straight_mm = 0.0
    for step in judgement.steps:
        if isinstance(step, Straight):
            straight_mm += step.length_mm
        elif (arc_bw := field.in_bw(step.arc_mm)) <= _NOTHING_BW:
            # In such a short wheel the middle goes straight.
            straight_mm += step.arc_mm / 2
        else:
            yield from _straight(field.in_bw(straight_mm), back)
            straight_mm = 0.0
            hand = "left" if step.angle_deg > 0 else "right"
            yield f"wheeled {f'{back}, turning {hand}' if back else hand} {_bw_text(arc_bw)} BW"
    yield from _straight(field.in_bw(straight_mm), back)


def _straight(length_bw: float, back: str) -> Iterator[str]:
    if length_bw > _NOTHING_BW:
        yield f"moved {back or 'ahead'} {_bw_text(length_bw)} BW"


_FEW_MM = 4 * SLIP_MM
"""The longest excess that a placement error can explain: wheeling there and back costs more."""
_SIDES = 12


class Marching(Step):
    """A march: the units of a force move one by one; `moved` have done so (M-6.31)."""

    question = "{who} march: {names} may still move"
    about, acted = "force", ("moved",)
    kinds, answer_rule = (March, ClearSmoke, Done), "M-6.31"
    expects = "a march, smoke to clear or done"
    force: tuple[str, ...]
    moved: tuple[str, ...] = ()

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the usual marches of each unit that has not moved, and stopping."""
        field, extra_bw = field_at(state), state.round.amounts("bugle")
        listed: list[Action] = []
        for name in self.waiting:
            listed += usual_marches(field, field.by_id[name], extra_bw=extra_bw.get(name, 0))
        if _smoking(state, self) and not self.moved:
            listed.append(ClearSmoke())
        return (*listed, Done())

    def why_missing(self, state: State) -> str:
        """Says why units of the force have no march, or only a short one."""
        field, extra_bw = field_at(state), state.round.amounts("bugle").get
        units = (field.by_id[name] for name in self.waiting)
        reasons = (why_short(field, unit, extra_bw=extra_bw(unit.id, 0)) for unit in units)
        return ". ".join(filter(None, reasons))

    def after(self, state: State, *names: str) -> Step:
        """Returns the step that follows once some units have moved."""
        step = replace(self, moved=(*self.moved, *names))
        return step if step.waiting else after_action(state).step

    def decided(self, state: State, action: March | ClearSmoke | Done) -> State:
        """Moves a unit, with the effects on it, on friends and on commanders in its way."""
        if isinstance(action, March):
            return _marched(state, self, action)
        return after_action(state) if isinstance(action, Done) else _without_smoke(state, self)


def judge_march(state: State, action: March, *, is_moving_up: bool | None = None) -> Way:
    """Judges a march, card modifiers included, at any time in the game.

    `is_moving_up` (M-8.9) is taken from the state if None.

    On a measured table an excess within placement tolerance is too close to call, and so the
    mover's choice (G-8), however small the camera's error.
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
    # Exact poses are taken literally.
    if not is_slightly_too_far or field.is_exact:
        return judgement
    is_within_tolerance = margin_mm >= -SLIP_MM or any(
        judge(ahead(action.bases, 360.0 * side / _SIDES, SLIP_MM)).is_legal.answer != "no"
        for side in range(_SIDES)
    )
    answer = replace(judgement.is_legal, answer="too_close" if is_within_tolerance else "no")
    return replace(judgement, is_legal=answer)


def with_march(state: State, action: March, judgement: Way) -> State:
    """Returns the state after a march, with its effects on the unit and on friends passed.

    Raises:
        Refused: The march is not legal.
    """
    if judgement.is_legal.answer == "no":
        raise Refused(judgement.is_legal.because, rule=judgement.is_legal.rule, key="bases")
    field = field_at(state)
    unit = field.by_id[action.unit]
    there = placed(field, unit, action.bases).by_id[unit.id].unit
    state = state.with_unit(there).with_events(_march_event(action.unit, judgement))
    # Difficult ground and friends are separate events with separate rules.
    gained = judgement.disruptions - judgement.is_rough
    if judgement.is_rough:
        why = "passes through difficult ground"
        drawn = shapes_inside(judgement.area, field.ground.difficult)
        state = with_disruption(state, unit.id, 1, why, "M-6.3", drawn)
    if gained:
        why = f"passes through {joined(judgement.passed)}"
        friends = (shapes_of(field.by_id[name].outline, "friend") for name in judgement.passed)
        drawn = tuple(chain.from_iterable(friends))
        state = with_disruption(state, unit.id, gained, why, "M-6.7", drawn)
    for name in judgement.passed:
        if field.by_id[name].is_disrupted_by_passing:
            why, drawn = f"is passed through by {unit.id}", shapes_of(judgement.area, "lane")
            state = with_disruption(state, name, 1, why, "M-6.7", drawn)
    return state


def shapes_inside(area: shapely.Geometry, ground: shapely.Geometry) -> tuple[Shape, ...]:
    """Draws the part of a swept area that lies in some ground."""
    return shapes_of(shapely.intersection(area, ground, grid_size=GRID_MM), "intrusion")


def _marched(state: State, step: Marching, action: March) -> State:
    if action.unit not in step.force:
        raise Refused(f"{action.unit} is not in the activated force", rule="M-6.1", key="unit")
    if action.unit in step.moved:
        raise Refused(f"{action.unit} has already moved in this round", rule="M-6.31", key="unit")
    check_bases(state, action)
    judgement = judge_march(state, action)
    state = with_march(state, action, judgement)
    # The enemy's commander makes room before the next unit moves (M-6.29).
    then = step.after(state, action.unit)
    return with_displacement(state, state.active, judgement.area, then)


def _smoking(state: State, step: Marching) -> tuple[str, ...]:
    return tuple(name for name in step.force if field_at(state).by_id[name].has_smoke)


def _without_smoke(state: State, step: Marching) -> State:
    """Clears the smoke of the whole force; none of it moves in this round (M-4.23)."""
    smoking = _smoking(state, step)
    if not smoking:
        raise Refused("no unit of the force has smoke to clear", rule="M-4.23")
    if step.moved:
        why = f"{joined(step.moved)} moved already: a force that clears smoke may not move"
        raise Refused(why, rule="M-4.23")
    for name in smoking:
        state = state.with_marker(field_at(state).by_id[name].unit, smoke=False)
    text = f"{joined(smoking)}: smoke cleared"
    return after_action(state).tells("smoke-cleared", text, "M-4.23", units=list(smoking))


_CHANGES = ("M-6.22", "M-6.23", "M-6.24", "M-6.25")


def _march_event(name: str, judgement: Way) -> Event:
    answer = judgement.is_legal
    cost = f"{judgement.cost_bw:.2f} BW of {judgement.allowance_bw:g}"
    if judgement.is_after_about_face:
        text = f"{name} faces about" + (f" and marches {cost}" if judgement.cost_bw > 0 else "")
    elif answer.rule in _CHANGES:
        text = f"{name} changes its formation: {cost}"
    else:
        text = f"{name} marches {cost}"
    if doubt := doubt_words(answer):
        text += f": {doubt}"
    facts = {
        "unit": name,
        "cost_bw": round(judgement.cost_bw, 3),
        "allowance_bw": judgement.allowance_bw,
        "answer": answer.answer,
    }
    return Event("march", text, answer.rule, facts, judgement.path)
