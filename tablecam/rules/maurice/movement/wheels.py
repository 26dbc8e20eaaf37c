"""The ways of lines and massed units: wheels and straight moves of one sense (M-6.12 to M-6.17)."""

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
    simply_reached,
    squared,
    swept,
)
from tablecam.geometry.outlines import Axes
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import retrograde_bw
from tablecam.rules.maurice.movement.ways import Way, comes_near, judged_way
from tablecam.table.headings import right
from tablecam.table.model import Point
from tablecam.table.motion import SLIP_MM
from tablecam.uncertainty.answer import Answer

RULE, BACKWARD_RULE, NEAR_RULE = "M-6.17", "M-6.13", "M-6.11"

_FAR_SIGMAS = 3.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: MovePath
    allowed_bw: float
    near_bw: float
    is_backward: bool

    @property
    def rule(self) -> str:
        """What says how far it may go."""
        return BACKWARD_RULE if self.is_backward else RULE


@dataclass(frozen=True, slots=True)
class _Limits:
    """How far a unit may go, and how far near the enemy; whether it may not go backward."""

    allowed_bw: float
    near_bw: float
    is_forward: bool


def wheeled_way(
    field: Field,
    unit: UnitOnField,
    there: UnitOnField,
    allowed_bw: float,
    *,
    near_bw: float = math.inf,
    is_forward: bool = False,
) -> Way:
    """The cheapest legal way by wheels and straight moves, or else the one that is least illegal.

    None leads backward where it has to be `is_forward`.

    First ways that lead exactly there; where none is legal, ways that lead there within what hands
    and measuring are out by: no front slips aside by itself, and wheels that did so would cost
    more. A way that comes near the enemy may be no longer than `near_bw`.
    """
    limits = _Limits(allowed_bw, near_bw, is_forward=is_forward)
    sigma_mm = _sigma_mm(unit, there)
    slack_mm = SLIP_MM + _FAR_SIGMAS * sigma_mm
    exactly = _ways(field, unit, [there.axes], limits, sigma_mm)
    legal = _first_legal(exactly) or _first_legal(
        _ways(field, unit, _within(unit, there.axes, slack_mm), limits, sigma_mm)
    )
    return legal or min(exactly, key=lambda way: way.cost_mm / max(way.allowed_bw, 1e-9))


def _ways(
    field: Field,
    unit: UnitOnField,
    ends: list[Axes],
    limits: _Limits,
    sigma_mm: float,
) -> list[Way]:
    """The ways to some fronts, the cheapest first; none beyond the first legal one is judged."""
    found: list[Way] = []
    candidates = _candidates(unit, ends, limits)
    for candidate in sorted(candidates, key=lambda each: each.path.cost_mm):
        found.append(_way(field, unit, candidate, sigma_mm))
        if found[-1].answer.answer != "no":
            break
    return found


def _first_legal(ways: list[Way]) -> Way | None:
    return next((way for way in ways if way.answer.answer != "no"), None)


def _candidates(unit: UnitOnField, ends: list[Axes], limits: _Limits) -> Iterator[_Candidate]:
    depth_mm = ranks_mm(unit)
    about = faced_about(unit.axes, depth_mm)
    for end in ends:
        for path in paths_between(unit.axes, end):
            yield _Candidate(path, limits.allowed_bw, limits.near_bw, is_backward=False)
        if limits.is_forward:
            continue
        for path in paths_between(about, faced_about(end, depth_mm)):
            back_bw = (retrograde_bw(limits.allowed_bw), retrograde_bw(limits.near_bw))
            yield _Candidate(path, *back_bw, is_backward=True)


def ranks_mm(unit: UnitOnField) -> float:
    """How deep a line or a massed unit is: its rear edge leads on a way backward (M-6.15)."""
    return unit.unit.bases[0].depth_mm * (2 if unit.formation == "massed" else 1)


def _within(unit: UnitOnField, end: Axes, slack_mm: float) -> list[Axes]:
    """Fronts that a unit may have meant to reach: those about the end, and where it was, if near.

    No wheel and no straight move leads a hair aside: who lies so has not moved.
    """
    start, depth_mm = unit.axes, ranks_mm(unit)
    corners = zip((start.left_mm, start.right_mm), (end.left_mm, end.right_mm), strict=True)
    is_there = all(math.dist(*corner) <= slack_mm for corner in corners)
    faced = faced_about(start, depth_mm), faced_about(end, depth_mm)
    return [
        *([start] if is_there else []),
        *simply_reached(start, end, within_mm=slack_mm),
        *(faced_about(each, depth_mm) for each in simply_reached(*faced, within_mm=slack_mm)),
        *_about(end, slack_mm),
    ]


def _about(end: Axes, slack_mm: float) -> list[Axes]:
    """Fronts a little aside of one and a little turned: by as much at its corners."""
    half_mm = math.dist(end.left_mm, end.right_mm) / 2
    turn_deg = math.degrees(slack_mm / half_mm)
    across = np.array(right(end.heading_deg)) * slack_mm
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


def _way(field: Field, unit: UnitOnField, candidate: _Candidate, sigma_mm: float) -> Way:
    path, allowed_bw = candidate.path, candidate.allowed_bw
    drawn = _drawn(unit, path)
    margin_mm = allowed_bw * field.bw_mm - path.cost_mm
    if margin_mm < -_FAR_SIGMAS * sigma_mm - SLIP_MM:
        # Too far by itself: what it passes over decides nothing more.
        back = " backward" if candidate.is_backward else ""
        because = (
            f"{unit.id} would need {field.in_bw(path.cost_mm):.2f} BW{back}, "
            f"and may move {allowed_bw:g}"
        )
        answer = Answer("no", margin_mm, sigma_mm, 0.0, candidate.rule, because, drawn)
        return Way(answer, path.cost_mm, allowed_bw, drawn)
    area = swept(path, unit.bases)
    is_held = candidate.near_bw < allowed_bw and comes_near(field, unit, area)
    return judged_way(
        field,
        unit,
        area,
        cost_mm=path.cost_mm,
        allowed_bw=candidate.near_bw if is_held else allowed_bw,
        sigma_mm=sigma_mm,
        path=drawn,
        rule=NEAR_RULE if is_held else candidate.rule,
    )


def _drawn(unit: UnitOnField, path: MovePath) -> tuple[Shape, ...]:
    """The front edge at first and after each step."""
    places = path.places([unit.axes.left_mm, unit.axes.right_mm])
    return tuple(Shape("line", place, "path") for place in places)


def _sigma_mm(unit: UnitOnField, there: UnitOnField) -> float:
    """How sure the length of a move is: as where its bases were, and are."""
    return math.hypot(
        max(base.sigma_mm for base in unit.unit.bases),
        max(base.sigma_mm for base in there.unit.bases),
    )


def _point(place: object) -> Point:
    x, y = np.asarray(place, dtype=np.float64).tolist()
    return x, y
