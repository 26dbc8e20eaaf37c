"""Who can charge whom, and by which moves (M-8.2 to M-8.8)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import Corner
from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.charge.doubts import Asked, Together
from tablecam.rules.maurice.charge.ground import deep_in
from tablecam.rules.maurice.charge.limits import (
    LIMITS,
    Attempt,
    Tried,
    attempts_of,
)
from tablecam.rules.maurice.charge.moves import Move
from tablecam.rules.maurice.charge.reach import allowance_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import are_partly_in, is_partly_in
from tablecam.rules.maurice.field.tables import CHARGE_DISRUPTIONS
from tablecam.uncertainty.answer import Answer


@dataclass(frozen=True)
class ChargeLane:
    """A charge move that reaches a target: a wheel first or none, then straight ahead.

    `corner` is the front corner that stands still in the wheel, None without one. `arcs_mm` are the
    shortest and the longest wheel to that side that reach the target; the move told and drawn is
    the one between them, which a hand can miss by most. `also_meets` are enemies met at the same
    instant. `crosses_difficult` gives a disruption on the way (M-8.6).
    """

    target: str
    corner: Corner | None
    arc_mm: float
    straight_mm: float
    cost_bw: float
    arcs_mm: tuple[float, float]
    also_meets: tuple[str, ...]
    crosses_difficult: bool
    move: Move = field(compare=False, repr=False)
    unit: UnitOnField = field(compare=False, repr=False)
    asked: Asked | None = field(default=None, compare=False, repr=False)

    @property
    def probability(self) -> float:
        """That the unit can charge the target at all, by this lane or another."""
        answer = self.asked.answers.get(self.target) if self.asked else None
        return 1.0 if answer is None else answer.probability

    @cached_property
    def evidence(self) -> tuple[Shape, ...]:
        """The area of the wheel, the lane ahead and the front where it meets the enemy."""
        move, unit = self.move, self.unit
        end = move.front_at_end(unit)
        front = shapely.LineString([end.left_mm, end.right_mm])
        return (
            *(shapes_of(move.wheel_area(unit), "wheel", "wheel") if move.arc_mm > 0 else ()),
            *shapes_of(move.lane_area(unit), "lane", f"charges {self.target}"),
            *shapes_of(front, "front-edge"),
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """Whether a unit can charge, whom, and by which moves; `why_not` where it cannot.

    For each target there is the lane straight ahead or, where that does not reach it, one after a
    wheel to each side.
    """

    is_eligible: bool
    why_not: str | None
    targets: tuple[str, ...]
    lanes: tuple[ChargeLane, ...]
    asked: Asked | None = field(default=None, compare=False, repr=False)

    @property
    def moves(self) -> Mapping[str, tuple[Move, ...]]:
        """The move of each lane to each target."""
        return {
            target: tuple(lane.move for lane in self.lanes if lane.target == target)
            for target in self.targets
        }

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Of each enemy of which it hangs on the camera's error: whether it can be charged."""
        return tuple(self.asked.answers.values()) if self.asked else ()

    @property
    def doubts(self) -> tuple[Answer, ...]:
        """Whom it may or may not be able to charge: too close to call."""
        return tuple(answer for answer in self.answers if answer.answer == "too_close")


def charges(field: Field, only: Collection[str] | None = None) -> dict[str, Charge]:
    """The charges of all units, or of `only` those of some ids: whom each can charge, and how.

    That the enemy was in view when the round began (M-8.4) is judged by where all stand now.
    """
    asked_of = field.units if only is None else [each for each in field.units if each.id in only]
    why_never = {each.id: _why_never(field, each) for each in asked_of}
    able = [each for each in asked_of if why_never[each.id] is None]
    tries = attempts_of([(field, each) for each in able])
    found = {each.id: _as_all_stand(field, tried) for each, tried in zip(able, tries, strict=True)}
    together = Together(field, {name: each.moves for name, each in found.items()})
    return {
        name: Charge(False, why, (), ())
        if why is not None
        else _with_doubts(found[name], Asked(together, field.by_id[name]))
        for name, why in why_never.items()
    }


def charge_of(field: Field, unit: UnitOnField) -> Charge:
    """Whether a unit can charge, whom, and how (M-8.3)."""
    return charges(field, only=(unit.id,))[unit.id]


def _with_doubts(found: Charge, asked: Asked) -> Charge:
    lanes = tuple(replace(lane, asked=asked) for lane in found.lanes)
    return replace(found, lanes=lanes, asked=asked)


def _as_all_stand(field: Field, tries: Sequence[Tried]) -> Charge:
    """A unit's charge as if all were known to stand just where they were seen."""
    targets = {name for each in tries for name in each.targets}
    # In the field's order, as their bases are.
    names = dict.fromkeys(name for each in tries for name in each.attempt.moves.owners)
    lanes = tuple(
        lane for name in names if name in targets for lane in _lanes_to(field.by_id[name], tries)
    )
    if lanes:
        return Charge(True, None, tuple(dict.fromkeys(lane.target for lane in lanes)), lanes)
    # What stopped the moves that came farthest.
    why_not, _ = LIMITS[max((each.passed for each in tries), default=0)]
    return Charge(False, why_not, (), ())


def are_enough(chargers: int, activated: int) -> bool:
    """Whether so many units that charge are enough of those activated to charge (M-8.2).

    >>> are_enough(3, 6), are_enough(2, 6), are_enough(2, 3), are_enough(1, 3)
    (True, False, True, False)
    """
    return 2 * chargers >= activated


def _why_never(field: Field, unit: UnitOnField) -> str | None:
    """What forbids a unit any charge, wherever the enemy is (M-8.4)."""
    if unit.unit.arm == "artillery":
        return "M-8.4 artillery never charges"
    if unit.formation == "column":
        return "M-8.4 a unit in column may not charge"
    if unit.disruption > CHARGE_DISRUPTIONS:
        return f"M-8.4 a unit with {unit.disruption} disruptions may not charge"
    if allowance_mm(field, unit) is None:
        return f"M-8.4 {unit.unit.arm} that lies {unit.formation} may not charge"
    return None


def _lanes_to(enemy: UnitOnField, tries: Sequence[Tried]) -> Iterator[ChargeLane]:
    """The lane straight ahead to an enemy, else one after a wheel to each side."""
    for tried in tries:
        moves = tried.attempt.moves
        rows = tried.rows[moves.is_meeting(enemy.id)[tried.rows]]
        if not len(rows):
            continue
        arcs_mm = moves.arcs_mm[rows]
        ends_mm = (float(arcs_mm[0]), float(arcs_mm[-1])) if arcs_mm[0] > 0.0 else (0.0, 0.0)
        best = int(rows[np.argmin(np.abs(arcs_mm - sum(ends_mm) / 2))])
        yield _lane(tried.attempt, best, enemy, ends_mm)
        if not ends_mm[0]:
            return


def _lane(
    attempt: Attempt, row: int, enemy: UnitOnField, ends_mm: tuple[float, float]
) -> ChargeLane:
    move, unit = attempt.moves.move(row), attempt.unit
    also = (name for name in dict.fromkeys(attempt.moves.owners) if name != enemy.id)
    return ChargeLane(
        enemy.id,
        move.corner if move.arc_mm > 0 else None,
        move.arc_mm,
        move.straight_mm,
        attempt.field.in_bw(move.cost_mm),
        ends_mm,
        tuple(name for name in also if attempt.moves.is_meeting(name)[row]),
        _crosses(move, unit, attempt.field.ground.difficult),
        move,
        unit,
    )


def _crosses(move: Move, unit: UnitOnField, area: shapely.Geometry) -> bool:
    """Whether a move goes over any part of an area."""
    lane, deep = move.lane_area(unit), deep_in(area)
    # No corner of a unit goes twice as far as the end of its front in a wheel of at most 1 BW.
    is_near = shapely.dwithin(deep, unit.outline, 2 * move.arc_mm)
    if not is_near and not shapely.intersects(deep, lane):
        return False
    if is_partly_in(lane, area):
        return True
    parts = move.wheel_parts(unit)
    if are_partly_in(parts, area).any():
        return True
    # Parts that are slivers by themselves may make more than one together.
    return is_partly_in(shapely.union_all([*parts, lane], grid_size=GRID_MM), area)
