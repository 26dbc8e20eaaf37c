"""The ways of lines and massed units: wheels and straight moves of one sense (M-6.12 to M-6.17)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tablecam.measure.answer import Answer, Shape
from tablecam.measure.outlines import Axes
from tablecam.measure.paths import MovePath, faced_about, paths_between, swept
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.march_ways import Way, judged_way
from tablecam.rules.maurice.tables import RETROGRADE_SHARE
from tablecam.table.headings import right
from tablecam.table.model import Point

RULE = "M-6.17"

HAND_MM = 1.0
"""How far aside a unit may end of where its wheels and straight moves lead: hands are hands (G-8).

A front cannot slip aside by itself, and to undo a slip of 1 mm by wheels would cost more than that.
"""

_FAR_SIGMAS = 3.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: MovePath
    allowed_bw: float
    is_backward: bool


def wheeled_way(field: Field, unit: UnitOnField, there: UnitOnField, allowed_bw: float) -> Way:
    """The cheapest legal way by wheels and straight moves, or else the one that is least illegal.

    First ways that lead exactly there; where none is legal, ways that lead there within what hands
    and measuring are out by.
    """
    sigma_mm = _sigma_mm(unit, there)
    slack_mm = HAND_MM + _FAR_SIGMAS * sigma_mm
    exactly = _ways(field, unit, [there.axes], allowed_bw, sigma_mm)
    legal = _first_legal(exactly) or _first_legal(
        _ways(field, unit, _about(there.axes, slack_mm), allowed_bw, sigma_mm)
    )
    return legal or min(exactly, key=lambda way: way.cost_mm / max(way.allowed_bw, 1e-9))


def _ways(
    field: Field, unit: UnitOnField, ends: list[Axes], allowed_bw: float, sigma_mm: float
) -> list[Way]:
    """The ways to some fronts, the cheapest first; none beyond the first legal one is judged."""
    found: list[Way] = []
    candidates = _candidates(unit, ends, allowed_bw)
    for candidate in sorted(candidates, key=lambda each: each.path.cost_mm):
        found.append(_way(field, unit, candidate, sigma_mm))
        if found[-1].answer.answer != "no":
            break
    return found


def _first_legal(ways: list[Way]) -> Way | None:
    return next((way for way in ways if way.answer.answer != "no"), None)


def _candidates(unit: UnitOnField, ends: list[Axes], allowed_bw: float) -> Iterator[_Candidate]:
    depth_mm = unit.unit.bases[0].depth_mm * (2 if unit.formation == "massed" else 1)
    about = faced_about(unit.axes, depth_mm)
    for end in ends:
        for path in paths_between(unit.axes, end):
            yield _Candidate(path, allowed_bw, is_backward=False)
        for path in paths_between(about, faced_about(end, depth_mm)):
            yield _Candidate(path, allowed_bw * RETROGRADE_SHARE, is_backward=True)


def _about(end: Axes, slack_mm: float) -> list[Axes]:
    """Fronts a little aside of one and a little turned: by as much at its corners."""
    half_mm = math.dist(end.left_mm, end.right_mm) / 2
    turn_deg = math.degrees(slack_mm / half_mm)
    across = np.array(right(end.heading_deg)) * slack_mm
    return [
        replace(
            end,
            left_mm=_point(end.left_mm + aside * across),
            right_mm=_point(end.right_mm + aside * across),
            heading_deg=end.heading_deg + turn * turn_deg,
        )
        for aside, turn in product((-1.0, 0.0, 1.0), repeat=2)
        if aside or turn
    ]


def _way(field: Field, unit: UnitOnField, candidate: _Candidate, sigma_mm: float) -> Way:
    path, allowed_bw = candidate.path, candidate.allowed_bw
    drawn = _drawn(unit, path)
    margin_mm = allowed_bw * field.bw_mm - path.cost_mm
    if margin_mm < -_FAR_SIGMAS * sigma_mm - HAND_MM:
        # Too far by itself: what it passes over decides nothing more.
        back = " backward" if candidate.is_backward else ""
        because = (
            f"{unit.id} would need {field.in_bw(path.cost_mm):.2f} BW{back}, "
            f"and may move {allowed_bw:g}"
        )
        rule = "M-6.13" if candidate.is_backward else RULE
        answer = Answer("no", margin_mm, sigma_mm, 0.0, rule, because, drawn)
        return Way(answer, path.cost_mm, allowed_bw, drawn)
    return judged_way(
        field,
        unit,
        swept(path, unit.bases),
        cost_mm=path.cost_mm,
        allowed_bw=allowed_bw,
        sigma_mm=sigma_mm,
        path=drawn,
        rule="M-6.13" if candidate.is_backward else RULE,
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
