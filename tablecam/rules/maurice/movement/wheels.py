"""Finds ways of lines and massed units: wheels and straight moves (M-6.12 to M-6.17)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tablecam.geometry.moves.paths import (
    MovePath,
    faced_about,
    paths_between,
    simple_end_fronts,
    squared,
    swept,
)
from tablecam.geometry.outlines import Axes
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import retrograde_bw
from tablecam.rules.maurice.movement.ways import (
    POSE_SIGMAS,
    MoveEnds,
    Way,
    comes_near,
    judged_way,
)
from tablecam.table.headings import right
from tablecam.table.model import Point
from tablecam.table.motion import SLIP_MM
from tablecam.uncertainty.answer import certain

RULE, BACKWARD_RULE, NEAR_RULE = "M-6.17", "M-6.13", "M-6.11"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A path with its allowances, in general and near the enemy."""

    path: MovePath
    allowed_bw: float
    near_bw: float
    is_backward: bool

    @property
    def rule(self) -> str:
        """The rule that limits its length."""
        return BACKWARD_RULE if self.is_backward else RULE


def wheeled_way(ends: MoveEnds, *, near_bw: float = math.inf, is_forward: bool = False) -> Way:
    """Returns the cheapest legal way by wheels and straight moves, else the least illegal one.

    It tries ways that end exactly at the new front first. If none is legal, it tries ways to fronts
    within placing and measuring errors of it: a base nudged aside by hand would otherwise need
    costly wheels. A way near the enemy may be at most `near_bw` long; `is_forward` excludes
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

    exactly, tolerance_mm = ways_to([ends.goal.axes]), SLIP_MM + POSE_SIGMAS * sigma_mm
    legal = _first_legal(exactly) or _first_legal(
        ways_to(_fronts_within(ends.unit, ends.goal.axes, tolerance_mm))
    )
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
        for path in paths_between(start, front):
            yield _Candidate(path, ends.allowed_bw, near_bw, is_backward=False)
        if not is_forward:
            # Backward moves are forward moves of the unit faced about (M-6.13, M-6.15).
            about = faced_about(start, depth_mm), faced_about(front, depth_mm)
            for path in paths_between(*about):
                yield _Candidate(path, *back_bw, is_backward=True)


def depth_of_ranks_mm(unit: UnitOnField) -> float:
    """Returns the depth of a line or massed unit, whose rear edge leads backward (M-6.15)."""
    return unit.unit.bases[0].depth_mm * (2 if unit.formation == "massed" else 1)


def _fronts_within(unit: UnitOnField, end: Axes, tolerance_mm: float) -> list[Axes]:
    """Returns fronts that the player may have aimed for, within the tolerance of the actual one.

    The start is one of them if near, as no legal move shifts a unit slightly sideways.
    """
    start, depth_mm = unit.axes, depth_of_ranks_mm(unit)
    corners = zip((start.left_mm, start.right_mm), (end.left_mm, end.right_mm), strict=True)
    is_there = all(math.dist(*corner) <= tolerance_mm for corner in corners)
    faced = faced_about(start, depth_mm), faced_about(end, depth_mm)
    return [
        *([start] if is_there else []),
        *simple_end_fronts(start, end, within_mm=tolerance_mm),
        *(
            faced_about(front, depth_mm)
            for front in simple_end_fronts(*faced, within_mm=tolerance_mm)
        ),
        *_shifted_fronts(end, tolerance_mm),
    ]


def _shifted_fronts(end: Axes, tolerance_mm: float) -> list[Axes]:
    """Returns fronts shifted sideways and turned so that corners move by the tolerance."""
    half_mm = math.dist(end.left_mm, end.right_mm) / 2
    turn_deg = math.degrees(tolerance_mm / half_mm)
    across = np.array(right(end.heading_deg)) * tolerance_mm
    return [
        squared(
            replace(
                end,
                left_mm=_point(end.left_mm + aside * across),
                right_mm=_point(end.right_mm + aside * across),
                heading_deg=end.heading_deg + turn * turn_deg,
            ),
            2 * half_mm,
        )
        for aside, turn in product((-1.0, 0.0, 1.0), repeat=2)
        if aside or turn
    ]


def _judged_way(field: Field, unit: UnitOnField, candidate: _Candidate, sigma_mm: float) -> Way:
    path, allowed_bw = candidate.path, candidate.allowed_bw
    # The front edge at the start and after each step.
    places = path.places([unit.axes.left_mm, unit.axes.right_mm])
    path_shapes = tuple(Shape("line", place, "path") for place in places)
    margin_mm = allowed_bw * field.bw_mm - path.cost_mm
    if margin_mm < -POSE_SIGMAS * sigma_mm - SLIP_MM:
        # Too long in any case, so the slow check of the swept area is skipped.
        back = " backward" if candidate.is_backward else ""
        because = (
            f"{unit.id} would need {field.in_bw(path.cost_mm):.2f} BW{back} "
            f"but may move only {allowed_bw:g}"
        )
        answer = certain(
            "no", candidate.rule, because, path_shapes, margin_mm=margin_mm, sigma_mm=sigma_mm
        )
        return Way(answer, field.in_bw(path.cost_mm), allowed_bw, path_shapes, steps=path.steps)
    area = swept(path, unit.bases)
    # Asked only if the limit near the enemy is lower, as the answer takes long.
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
    """Returns the sigma of a move's length, from the errors of both poses."""
    return math.hypot(*(max(base.sigma_mm for base in unit.unit.bases) for unit in ends))


def _point(place: object) -> Point:
    x, y = np.asarray(place, dtype=np.float64).tolist()
    return x, y
