"""Judges ways by their length and the area swept (M-6); finds ways by wheels (M-6.12 to M-6.17)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import shapely

from tablecam.geometry.moves import paths
from tablecam.geometry.moves.lanes import front_width_mm
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import NEAR_BW, retrograde_bw
from tablecam.table.motion import SLIP_MM
from tablecam.uncertainty.answer import Answer, certain, measured
from tablecam.uncertainty.clear_line import is_barred
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.lengths import Length

POSE_SIGMAS = 3.0
"""No measuring error of a pose is larger than this many standard deviations."""
_NOWHERE: Final = shapely.Polygon()


@dataclass(frozen=True, slots=True)
class Way:
    """A path that a unit may have taken, whether it is legal, and its cost.

    `allowance_bw` is the allowance along it, infinite if irrelevant. The unit gains `disruptions`
    (M-6.3, M-6.7), one of them if the path `is_rough`; `passed` are the ids of the friends that it
    passes through, which may be disrupted too. `area` is the ground swept, `is_after_about_face`
    whether the unit about-faced first. `steps` are its wheels and straight moves, if any.
    """

    is_legal: Answer
    cost_bw: float = 0.0
    allowance_bw: float = math.inf
    path: tuple[Shape, ...] = ()
    disruptions: int = 0
    passed: tuple[str, ...] = ()
    is_rough: bool = False
    area: shapely.Geometry = _NOWHERE
    is_after_about_face: bool = False
    steps: tuple[paths.Wheel | paths.Straight, ...] = ()


@dataclass(frozen=True, slots=True)
class MoveEnds:
    """A unit's start on a field, its end on the field `after`, and its allowance."""

    field: Field
    unit: UnitOnField
    after: Field
    goal: UnitOnField
    allowed_bw: float


def mover_decides(answer: Answer) -> str:
    """Says that an answer too close to call is the mover's choice (G-8); empty if exactly right."""
    by_mm = abs(answer.margin_mm)
    return "" if by_mm < 0.05 else f"{by_mm:.1f} mm is too close to call, so the mover decides"


def illegal_way(rule: str, because: str, evidence: tuple[Shape, ...] = ()) -> Way:
    """Builds an illegal way with the rule that forbids it."""
    return Way(certain("no", rule, because, evidence))


def judged_way(
    field: Field,
    unit: UnitOnField,
    area: shapely.Geometry,
    *,
    cost_mm: float,
    allowed_bw: float,
    sigma_mm: float,
    path: tuple[Shape, ...],
    rule: str,
    is_rough: bool | None = None,
) -> Way:
    """Judges a way by its length and by the obstacles in the area that it sweeps.

    The mover has the benefit of the doubt: a way that is too close to call is not refused.
    `is_rough` overrides whether the way crosses difficult ground; by default the area decides.
    """
    if is_rough is None:
        # A unit that has not really moved neither enters nor leaves ground (M-5.2).
        has_moved = cost_mm > SLIP_MM + POSE_SIGMAS * sigma_mm
        is_rough = has_moved and is_partly_in(area, field.ground.difficult)
    # Guns are slowed instead (M-6.5).
    is_rough = is_rough and unit.unit.arm != "artillery"
    margin_mm = allowed_bw * field.bw_mm - cost_mm
    because = f"{unit.id} moved {field.in_bw(cost_mm):.2f} BW of {allowed_bw:g}"
    passed = friends_in(field, unit, area)
    disruptions = int(is_rough) + (len(passed) if unit.is_disrupted_by_passing else 0)
    is_legal = measured(margin_mm, sigma_mm, rule, because, path, tolerance_mm=field.tolerance_mm)
    names = tuple(friend.id for friend in passed)
    cost_bw = field.in_bw(cost_mm)
    way = Way(is_legal, cost_bw, allowed_bw, path, disruptions, names, is_rough, area)
    # An obstacle counts however short the way is.
    barred = _barred(field, unit, area, passed, disruptions)
    if barred is None:
        return way
    return replace(way, is_legal=replace(barred, evidence=(*barred.evidence, *path)))


def friends_in(field: Field, unit: UnitOnField, area: shapely.Geometry) -> tuple[UnitOnField, ...]:
    """Returns the friends that a unit passes through (M-6.7).

    A rear corner that swings into a friend beside it in a wheel does not count.
    """
    return tuple(
        friend
        for friend in field.friends_of(unit)
        if is_partly_in(_obstructing_part(unit, friend), area)
    )


def _obstructing_part(unit: UnitOnField, friend: UnitOnField) -> shapely.Geometry:
    """Returns a friend's outline, less the strip into which a wheel beside it may swing."""
    if not unit.touches_flank_of_line(friend):
        return friend.outline
    corners_mm = shapely.get_coordinates(unit.outline)
    width_mm = front_width_mm(unit.axes)
    depth_mm = -float(unit.axes.ahead_mm(corners_mm).min())
    # The rear corner swings out by the diagonal minus the width.
    swing_mm = math.hypot(width_mm, depth_mm) - width_mm + TOUCH_MM
    swept = shapely.buffer(unit.outline, swing_mm, join_style="mitre")
    return shapely.difference(friend.outline, swept, grid_size=GRID_MM)


def comes_near(field: Field, unit: UnitOnField, area: shapely.Geometry) -> bool:
    """Returns whether a way that sweeps an area comes near the enemy (M-1.9).

    If impassable ground bars the shortest line to an enemy, the mover has the benefit of the doubt:
    the ground may have barred all other lines from the unit's actual path too.
    """
    outlines = np.array([enemy.outline for enemy in field.enemies_of(unit)])
    near = outlines[shapely.dwithin(outlines, area, NEAR_BW * field.bw_mm + EXACT_MM)]
    lines = shapely.get_coordinates(shapely.shortest_line(near, area)).reshape(-1, 4)
    lengths = (Length(math.hypot(c - a, d - b), 0.0, (a, b), (c, d)) for a, b, c, d in lines)
    return any(not is_barred(length, field.ground.impassable) for length in lengths)


def _barred(
    field: Field,
    unit: UnitOnField,
    area: shapely.Geometry,
    passed: tuple[UnitOnField, ...],
    disruptions: int,
) -> Answer | None:
    """Returns what forbids a way: enemies, impassable ground, or a unit that would break."""
    for enemy in field.enemies_of(unit):
        if is_partly_in(enemy.outline, area):
            because = f"{unit.id} would pass through {enemy.id}"
            return certain("no", "M-6.6", because, shapes_of(enemy.outline, "barrier"))
    if is_partly_in(area, field.ground.barred):
        barrier = shapes_of(field.ground.barred, "barrier")
        because = f"{unit.id} would cross {field.ground.barring_words(area)}"
        return certain("no", "M-5.1", because, barrier)
    if disruptions and unit.breaks_with(disruptions):
        because = f"{unit.id} has {unit.disruption} disruptions and the move would break it"
        return certain("no", "M-6.8" if passed else "M-6.4", because)
    for friend in passed:
        if friend.breaks_if_passed:
            because = f"{unit.id} would break {friend.id} by passing through it"
            return certain("no", "M-6.8", because, shapes_of(friend.outline, "barrier"))
    return None


RULE, BACKWARD_RULE, NEAR_RULE = "M-6.17", "M-6.13", "M-6.11"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A path with its allowances, in general and near the enemy, and the rule of its length."""

    path: paths.MovePath
    allowed_bw: float
    near_bw: float
    rule: str


def wheeled_way(ends: MoveEnds, *, near_bw: float = math.inf, is_forward: bool = False) -> Way:
    """Returns the cheapest legal way by wheels and straight moves, else the least illegal one.

    It tries ways that end exactly at the new front first. If none is legal, it tries ways to fronts
    within placing and measuring errors of it: a base nudged aside would otherwise need costly
    wheels. A way near the enemy may be at most `near_bw` long; `is_forward` excludes
    backward ways.
    """
    sigma_mm = _sigma_mm(ends.unit, ends.goal)

    def ways_to(fronts: list[Axes]) -> list[Way]:
        """Judges ways from the cheapest up to the first legal one."""
        judged: list[Way] = []
        candidates = _candidates(ends, fronts, near_bw, is_forward=is_forward)
        for candidate in sorted(candidates, key=lambda option: option.path.cost_mm):
            judged.append(_judged_way(ends.field, ends.unit, candidate, sigma_mm))
            if judged[-1].is_legal.answer != "no":
                break
        return judged

    exactly, within_mm = ways_to([ends.goal.axes]), SLIP_MM + POSE_SIGMAS * sigma_mm
    aimed_at = partial(paths.fronts_within, ends.unit.axes, ends.goal.axes, within_mm=within_mm)
    legal = _first_legal(exactly) or _first_legal(ways_to(aimed_at(depth_of_ranks_mm(ends.unit))))
    # The least illegal one exceeds its allowance by the smallest factor.
    return legal or min(exactly, key=lambda way: way.cost_bw / max(way.allowance_bw, 1e-9))


def _first_legal(ways: list[Way]) -> Way | None:
    return next((way for way in ways if way.is_legal.answer != "no"), None)


def _candidates(
    ends: MoveEnds, fronts: list[Axes], near_bw: float, *, is_forward: bool
) -> Iterator[_Candidate]:
    """Yields the ways to some fronts, forward and, unless it must go forward, backward."""
    depth_mm, start = depth_of_ranks_mm(ends.unit), ends.unit.axes
    back_bw = retrograde_bw(ends.allowed_bw), retrograde_bw(near_bw)
    for front in fronts:
        for path in paths.paths_between(start, front):
            yield _Candidate(path, ends.allowed_bw, near_bw, RULE)
        if not is_forward:
            # Backward moves are forward moves of the unit faced about (M-6.13, M-6.15).
            about = paths.faced_about(start, depth_mm), paths.faced_about(front, depth_mm)
            for path in paths.paths_between(*about):
                yield _Candidate(path, *back_bw, BACKWARD_RULE)


def depth_of_ranks_mm(unit: UnitOnField) -> float:
    """Returns the depth of a line or massed unit, whose rear edge leads backward (M-6.15)."""
    return unit.unit.bases[0].depth_mm * (2 if unit.formation == "massed" else 1)


def _judged_way(field: Field, unit: UnitOnField, candidate: _Candidate, sigma_mm: float) -> Way:
    path, allowed_bw = candidate.path, candidate.allowed_bw
    # The front edge at the start and after each step.
    places = path.places([unit.axes.left_mm, unit.axes.right_mm])
    path_shapes = tuple(Shape("line", place, "path") for place in places)
    margin_mm = allowed_bw * field.bw_mm - path.cost_mm
    if margin_mm < -POSE_SIGMAS * sigma_mm - SLIP_MM:
        # It is too long in any case: skip the slow check of the swept area.
        back = " backward" if candidate.rule == BACKWARD_RULE else ""
        because = (
            f"{unit.id} would need {field.in_bw(path.cost_mm):.2f} BW{back} "
            f"but may move only {allowed_bw:g}"
        )
        answer = certain(
            "no", candidate.rule, because, path_shapes, margin_mm=margin_mm, sigma_mm=sigma_mm
        )
        return Way(answer, field.in_bw(path.cost_mm), allowed_bw, path_shapes, steps=path.steps)
    area = paths.swept(path, unit.bases)
    # Asked only if the limit near the enemy is lower, as the check is slow.
    is_near = candidate.near_bw < allowed_bw and comes_near(field, unit, area)
    way = judged_way(
        field,
        unit,
        area,
        cost_mm=path.cost_mm,
        allowed_bw=candidate.near_bw if is_near else allowed_bw,
        sigma_mm=sigma_mm,
        path=path_shapes,
        rule=NEAR_RULE if is_near else candidate.rule,
    )
    return replace(way, steps=path.steps)


def _sigma_mm(*ends: UnitOnField) -> float:
    return math.hypot(*(max(base.sigma_mm for base in unit.unit.bases) for unit in ends))
