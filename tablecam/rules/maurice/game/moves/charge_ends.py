"""Where charge moves end, and which of them a unit has made, going by where it lies now (G-8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.fans import Turned, corners_of, fan_before
from tablecam.geometry.moves.lanes import (
    Corner,
    advanced,
    lane,
    lane_corners_mm,
    pivot_mm,
    swept_by_wheel,
    turned_deg,
    wheeled,
)
from tablecam.geometry.outlines import Axes
from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.charge.charge import charge_of
from tablecam.rules.maurice.charge.reach import allowance_mm
from tablecam.rules.maurice.charge.sight import is_in_view
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW
from tablecam.rules.maurice.game.state import poses
from tablecam.rules.maurice.movement.change import placed
from tablecam.table.formation import front_rank
from tablecam.table.headings import forward
from tablecam.table.model import BasePose
from tablecam.table.motion import HAND_MM
from tablecam.uncertainty.answer import Answer

_SIGMAS = 3.0
_STEP_MM = 0.25
"""How finely wheels are tried when one is sought that leads to where a unit lies."""
_CORNERS: tuple[Corner, Corner] = ("left", "right")


@dataclass(frozen=True, slots=True, eq=False)
class ChargeEnd:
    """A legal charge move: a wheel first or none, straight ahead, and where that brings a unit.

    `also_meets` are enemies met at the same instant; `area` is all that it passes over. `doubt` is
    whether the unit can charge the target at all, where that is too close to call.
    """

    unit: UnitOnField
    target: str
    corner: Corner | None
    arc_mm: float
    straight_mm: float
    also_meets: tuple[str, ...]
    bases: poses.Bases
    front: Axes
    area: shapely.Geometry
    crosses_difficult: bool
    doubt: Answer | None = None

    @property
    def cost_mm(self) -> float:
        """The wheel and the way ahead."""
        return self.arc_mm + self.straight_mm

    @property
    def evidence(self) -> tuple[Shape, ...]:
        """What it passed over, and the front where it meets the enemy."""
        front = shapely.LineString([self.front.left_mm, self.front.right_mm])
        return (
            *shapes_of(self.area, "lane", f"charges {self.target}"),
            *shapes_of(front, "front-edge"),
        )


def charge_ends(field: Field, unit: UnitOnField) -> Iterator[ChargeEnd]:
    """A charge move for each target and each side to which it has to wheel first (M-8.3)."""
    for found in charge_of(field, unit).lanes:
        yield _end(
            field,
            unit,
            found.target,
            found.corner,
            found.arc_mm,
            found.straight_mm,
            found.also_meets,
        )


def charge_made(field: Field, unit: UnitOnField, target: str, seen: Axes) -> ChargeEnd | None:
    """The legal charge move that leads nearest to where a unit's front is seen; None without any.

    It may lie farther off than hands explain: `off_mm` tells by how much. Where it is too close to
    call whether the unit can charge the target, it has the benefit of the doubt.
    """
    ends = [end for end in charge_ends(field, unit) if end.target == target]
    ends += _fitted(field, unit, target, seen)
    if not ends:
        ends += _in_doubt(field, unit, target, seen)
    return min(ends, key=lambda end: off_mm(end, seen), default=None)


def off_mm(end: ChargeEnd, seen: Axes) -> float:
    """How far off a charge's end a front lies, ahead or aside, where it is farthest off."""
    x, y = forward(end.front.heading_deg)
    apart = np.array([seen.left_mm, seen.right_mm]) - [end.front.left_mm, end.front.right_mm]
    return float(np.abs(apart @ np.array([[x, y], [y, -x]]).T).max())


def slack_mm(bases: Iterable[BasePose]) -> float:
    """How far off hands and measuring may leave a unit that has charged."""
    return HAND_MM + _SIGMAS * max(base.sigma_mm for base in bases)


def _fitted(field: Field, unit: UnitOnField, target: str, seen: Axes) -> Iterator[ChargeEnd]:
    """The charges after those wheels, one about each corner, that lead nearest to a front."""
    for corner, arc_mm in _wheels_to(field, unit, seen):
        end = _after_wheel(field, unit, target, corner, arc_mm)
        if end is not None:
            yield end


def _in_doubt(field: Field, unit: UnitOnField, target: str, seen: Axes) -> Iterator[ChargeEnd]:
    """The moves to an enemy of which only the camera's error says that it cannot be charged."""
    asked = charge_of(field, unit).asked
    answer = None if asked is None else asked.answers.get(target)
    if answer is None or answer.answer != "too_close":
        return
    far_mm = 2 * (allowance_mm(field, unit) or 0.0)
    for corner, arc_mm in _wheels_to(field, unit, seen):
        front = wheeled(unit.axes, corner, arc_mm)
        straight_mm = _straight_to_mm(front, field.by_id[target], far_mm)
        if straight_mm is not None:
            end = _end(field, unit, target, corner, arc_mm, straight_mm, ())
            yield replace(end, doubt=answer)


def _wheels_to(field: Field, unit: UnitOnField, seen: Axes) -> tuple[tuple[Corner, float], ...]:
    """The wheel about each corner after which the way ahead leads nearest to a front."""
    arcs_mm = {corner: _arc_to(field, unit, corner, seen) for corner in _CORNERS}
    # Who does not wheel does so about neither corner.
    wheels = [(corner if arc_mm else _CORNERS[0], arc_mm) for corner, arc_mm in arcs_mm.items()]
    return tuple(dict.fromkeys(wheels))


def _straight_to_mm(front: Axes, enemy: UnitOnField, reach_mm: float) -> float | None:
    """How far ahead of a front an enemy is; None where it is not in its lane."""
    there = shapely.get_coordinates(shapely.intersection(lane(front, reach_mm), enemy.outline))
    if not len(there):
        return None
    return float(((there - front.left_mm) @ np.array(forward(front.heading_deg))).min())


def _arc_to(field: Field, unit: UnitOnField, corner: Corner, seen: Axes) -> float:
    """The wheel after which the way straight ahead leads nearest to a front."""
    arcs_mm = np.arange(0.0, CHARGE_WHEEL_BW * field.bw_mm + _STEP_MM / 2, _STEP_MM)
    fronts = lane_corners_mm(unit.axes, corner, arcs_mm, np.ones(len(arcs_mm)))
    onward = fronts[:, 3] - fronts[:, 0]
    apart = np.array([seen.left_mm, seen.right_mm]) - fronts[:, :2]
    far_mm = (apart * onward[:, None]).sum(axis=-1).mean(axis=-1)
    left_over = apart - far_mm[:, None, None] * onward[:, None]
    return float(arcs_mm[np.linalg.norm(left_over, axis=-1).max(axis=-1).argmin()])


def _after_wheel(
    field: Field, unit: UnitOnField, target: str, corner: Corner, arc_mm: float
) -> ChargeEnd | None:
    """The charge of a target straight ahead after a wheel; None where that is not legal.

    It is the charge straight ahead of the unit as it stands after the wheel.
    """
    angle_deg = turned_deg(unit.axes, corner, arc_mm)
    if not _is_free_to_wheel(field, unit, corner, angle_deg):
        return None
    try:
        turned = poses.wheeled(unit.unit.bases, pivot_mm(unit.axes, corner), angle_deg)
        after = placed(field, unit, turned)
    except BadInput:
        return None
    ahead = (
        each
        for each in charge_of(after, after.by_id[unit.id]).lanes
        if each.target == target and each.corner is None
    )
    found = next(ahead, None)
    reach_mm = (allowance_mm(field, unit) or 0.0) + EXACT_MM
    if found is None or arc_mm + found.straight_mm > reach_mm:
        return None
    if not is_in_view(field, unit, field.by_id[target]):
        return None
    return _end(field, unit, target, corner, arc_mm, found.straight_mm, found.also_meets)


def _is_free_to_wheel(field: Field, unit: UnitOnField, corner: Corner, angle_deg: float) -> bool:
    """Whether a unit meets nobody in a wheel and comes over nothing that is barred (M-8.5)."""
    swept = swept_by_wheel(unit.bases, pivot_mm(unit.axes, corner), angle_deg)
    others = [each for each in field.units if each is not unit and not unit.has_beside_it(each)]
    barring = [field.ground.barred, *(other.outline for other in others)]
    if unit.unit.arm == "cavalry":
        barring.append(field.ground.woods)
    met = [shape for shape in barring if shapely.intersects(shape, swept)]
    return not met or not is_partly_in(
        swept, shapely.difference(shapely.union_all(met), unit.outline)
    )


def _until_contact_mm(
    rank: poses.Bases, front: Axes, met: Sequence[shapely.Polygon], straight_mm: float
) -> float:
    """How far ahead the first base of a front rank touches whom its front edge meets after a way.

    An edge that lies askew runs past the corners of its bases by a hair. Who is farther off than
    that is met across a thin obstacle (M-8.14), and the way ends before it.
    """
    corners_mm = rectangles(rank).corners_mm()
    edge = fan_before(front, "left", corners_mm)
    x_mm, y_mm = edge.quads_mm[:, :2].reshape(-1, 2).T
    past_mm = float(np.abs(y_mm - edge.slope * x_mm).max())
    ends = (ends[:2].tolist() for ends in corners_mm)
    fans = [
        fan_before(Axes((*left,), (*right,), front.heading_deg), "left", corners_of(met))
        for left, right in ends
    ]
    begins = Turned.of(fans, [np.zeros(1)] * len(fans), 0.0).begins_mm(0.0)
    exact_mm = min(float(each.min()) for each in begins)
    return exact_mm if abs(exact_mm - straight_mm) <= past_mm + EXACT_MM else straight_mm


def _end(
    field: Field,
    unit: UnitOnField,
    target: str,
    corner: Corner | None,
    arc_mm: float,
    straight_mm: float,
    also_meets: tuple[str, ...],
) -> ChargeEnd:
    """A charge move carried out."""
    about: Corner = corner or "left"
    front = wheeled(unit.axes, about, arc_mm)
    angle_deg = turned_deg(unit.axes, about, arc_mm)
    turned = poses.wheeled(unit.unit.bases, pivot_mm(unit.axes, about), angle_deg)
    met = [base for name in (target, *also_meets) for base in field.by_id[name].bases]
    rank = tuple(turned[place] for place in front_rank(unit.unit))
    straight_mm = _until_contact_mm(rank, front, met, straight_mm)
    swept = swept_by_wheel(unit.bases, pivot_mm(unit.axes, about), angle_deg)
    area = shapely.union(swept, lane(front, straight_mm))
    return ChargeEnd(
        unit,
        target,
        corner if arc_mm > 0.0 else None,
        arc_mm,
        straight_mm,
        also_meets,
        poses.ahead(turned, front.heading_deg, straight_mm),
        advanced(front, straight_mm),
        area,
        is_partly_in(area, field.ground.difficult),
    )
