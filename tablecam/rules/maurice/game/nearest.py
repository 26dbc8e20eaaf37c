"""The legal moves nearest to a unit's seen place: charges (G-8), and marches (M-6.17)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain

import numpy as np
import shapely

from tablecam.geometry.moves import lanes, poses
from tablecam.geometry.moves.fans import TurnedLanes, corners_of, fan_before
from tablecam.geometry.moves.paths import faced_about
from tablecam.geometry.moves.poses import Bases
from tablecam.geometry.outlines import Axes
from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.charge.charge import (
    ChargeLane,
    charge_of,
    crosses_difficult,
    lane_after_wheel,
)
from tablecam.rules.maurice.charge.moves import Move, allowance_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, retrograde_bw
from tablecam.rules.maurice.movement.formation_changes import formation_changes
from tablecam.rules.maurice.movement.judge import is_faced_about, is_turned_back, placed
from tablecam.rules.maurice.movement.snaking import leading_base
from tablecam.rules.maurice.movement.ways import POSE_SIGMAS, depth_of_ranks_mm
from tablecam.rules.miniatures.nearest import IsLegal, Start, after_wheel, nearest_after_wheels
from tablecam.table.formation import front_rank
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Point
from tablecam.table.motion import HAND_MM
from tablecam.uncertainty.answer import Answer


@dataclass(frozen=True, eq=False)
class ChargeEnd(ChargeLane):
    """A legal charge with the end poses of its unit's bases.

    `doubt` is the answer whether the unit can charge the target, if that is too close to call.
    """

    bases: Bases = ()
    doubt: Answer | None = None

    @property
    def front(self) -> Axes:
        """The front edge at the end."""
        return self.move.front_at_end(self.unit)

    @cached_property
    def area(self) -> shapely.Geometry:
        """The ground that the unit crosses."""
        return self.move.area(self.unit)

    @cached_property
    def evidence(self) -> tuple[Shape, ...]:
        """The crossed area, and the front edge when it meets the enemy."""
        lane = shapes_of(self.area, "lane", f"charges {self.target}")
        return (*lane, *shapes_of(self.front.edge, "front-edge"))


def charge_ends(field: Field, unit: UnitOnField) -> Iterator[ChargeEnd]:
    """Yields a charge move for each target and each corner to wheel about first (M-8.3)."""
    return (_end(field, ahead) for ahead in charge_of(field, unit).lanes)


# Cached: a move is judged as it is made by hand, when tried, and when taken.
@lru_cache(maxsize=64)
def nearest_charge(field: Field, unit: UnitOnField, target: str, seen: Axes) -> ChargeEnd | None:
    """Returns the legal charge move that ends nearest to a seen front, or None without any.

    The front may lie beyond placement tolerance; `end_error_mm` measures that. If it is too close
    to call whether a unit can charge the target, the unit has the benefit of the doubt.
    """
    ends = [end for end in charge_ends(field, unit) if end.target == target]
    # Rulings list one wheel per corner; players may wheel any arc up to 1 BW.
    ends += _fitted(field, unit, target, seen)
    if not ends:
        ends += _in_doubt(field, unit, target, seen)
    return min(ends, key=lambda end: end_error_mm(end, seen), default=None)


def end_error_mm(end: ChargeEnd, seen: Axes) -> float:
    """Returns the largest distance, ahead or sideways, of a front's ends from a charge's end."""
    x, y = forward(end.front.heading_deg)
    apart = np.array([seen.left_mm, seen.right_mm]) - [end.front.left_mm, end.front.right_mm]
    return float(np.abs(apart @ np.array([[x, y], [y, -x]]).T).max())


def charge_tolerance_mm(bases: Iterable[BasePose]) -> float:
    """Returns the placement and measurement tolerance for a unit that has charged."""
    return HAND_MM + POSE_SIGMAS * max(base.sigma_mm for base in bases)


def _fitted(field: Field, unit: UnitOnField, target: str, seen: Axes) -> Iterator[ChargeEnd]:
    """Yields charges after the wheel about each corner that ends nearest to a seen front."""
    for corner, arc_mm in _wheels_to(field, unit, seen):
        ahead = lane_after_wheel(field, unit, target, corner, arc_mm)
        if ahead is not None:
            yield _end(field, ahead)


def _in_doubt(field: Field, unit: UnitOnField, target: str, seen: Axes) -> Iterator[ChargeEnd]:
    """Yields moves to an enemy that may be out of reach only because of measurement error."""
    answer = charge_of(field, unit).answers.get(target)
    if answer is None or answer.answer != "too_close":
        return
    # Twice the allowance certainly contains such a target.
    far_mm = 2 * (allowance_mm(field, unit) or 0.0)
    for corner, arc_mm in _wheels_to(field, unit, seen):
        front = lanes.wheeled(unit.axes, corner, arc_mm)
        straight_mm = lanes.room_ahead_mm(front, [field.by_id[target].outline], far_mm)
        if math.isfinite(straight_mm):
            move = Move(corner, arc_mm, straight_mm)
            ahead = ChargeLane(target, move, (), crosses_difficult=False, unit=unit)
            yield replace(_end(field, ahead), doubt=answer)


def _wheels_to(
    field: Field, unit: UnitOnField, seen: Axes
) -> tuple[tuple[lanes.Corner, float], ...]:
    """Returns, per corner, the wheel that ends nearest to a front; no wheel only once."""
    longest_mm = CHARGE_WHEEL_BW * field.bw_mm
    arcs_mm = {
        corner: lanes.arc_towards_mm(unit.axes, corner, seen, longest_mm)
        for corner in lanes.CORNERS
    }
    # An arc of 0 is the same move about either corner; keep it once.
    wheels = [
        (corner if arc_mm else lanes.CORNERS[0], arc_mm) for corner, arc_mm in arcs_mm.items()
    ]
    return tuple(dict.fromkeys(wheels))


def _until_contact_mm(
    rank: poses.Bases, front: Axes, met_bases: Sequence[shapely.Polygon], straight_mm: float
) -> float:
    """Returns how far ahead the first base of a front rank touches the bases that the front meets.

    A front edge fitted to skewed bases sticks out slightly beyond their corners. A larger
    difference means contact across a thin obstacle (M-8.14), where the move ends in front of it.
    """
    corners_mm = rectangles(rank).corners_mm()
    edge = fan_before(front, "left", corners_mm)
    x_mm, y_mm = edge.quads_mm[:, :2].reshape(-1, 2).T
    # How far the bases' corners deviate from the fitted front edge.
    past_mm = float(np.abs(y_mm - edge.slope * x_mm).max())
    ends = (ends[:2].tolist() for ends in corners_mm)
    fans = [
        fan_before(Axes((*left,), (*right,), front.heading_deg), "left", corners_of(met_bases))
        for left, right in ends
    ]
    begins = TurnedLanes.of(fans, [np.zeros(1)] * len(fans), 0.0).begins_mm(0.0)
    exact_mm = min(float(begin_mm.min()) for begin_mm in begins)
    return exact_mm if abs(exact_mm - straight_mm) <= past_mm + EXACT_MM else straight_mm


def _end(field: Field, ahead: ChargeLane) -> ChargeEnd:
    """Returns the end of a charge, at which its bases touch the enemy."""
    unit, move = ahead.unit, ahead.move
    front, about_mm = move.front_after_wheel(unit), lanes.pivot_mm(unit.axes, move.corner)
    angle_deg = lanes.turned_deg(unit.axes, move.corner, move.arc_mm)
    turned = poses.wheeled(unit.unit.bases, about_mm, angle_deg)
    met = (field.by_id[name].bases for name in (ahead.target, *ahead.also_meets))
    rank = tuple(turned[place] for place in front_rank(unit.unit))
    straight_mm = _until_contact_mm(rank, front, [*chain(*met)], move.straight_mm)
    move = replace(move, straight_mm=straight_mm)
    is_rough = crosses_difficult(field, unit, move)
    ends = poses.ahead(turned, front.heading_deg, straight_mm)
    return ChargeEnd(ahead.target, move, ahead.also_meets, is_rough, unit, bases=ends)


def nearest_march(
    field: Field,
    unit: UnitOnField,
    there: UnitOnField,
    allowed_bw: float,
    is_legal: IsLegal,
    *,
    path_mm: Sequence[Point] = (),
) -> Bases | None:
    """Returns the legal poses nearest to a unit's place, or None if there are none.

    Columns and guns go as far as they may along `path_mm`, or the straight line if it is empty.
    """
    if unit.formation in ("column", "artillery") and there.formation == unit.formation:
        # Columns and guns bend their path freely, so only the distance along it is searched.
        ends = [base.place_mm for base in (leading_base(unit), leading_base(there))]
        path = shapely.LineString(path_mm or ends)
        return poses.farthest(partial(_at_distance, there, path), is_legal, 0.0, path.length)
    return nearest_after_wheels(_starts(field, unit, there, allowed_bw, is_legal), is_legal)


def nearest_wheel(unit: UnitOnField, turn_deg: float, is_legal: IsLegal) -> Bases | None:
    """Returns the bases after a wheel about a front corner, shortened until it is legal.

    A positive `turn_deg` is to the left. None if no part of the wheel is legal.
    """
    arc_mm = math.radians(turn_deg) * lanes.front_width_mm(unit.axes)

    def after(share: float) -> Bases:
        return after_wheel(unit.axes, unit.unit.bases, share * arc_mm)[1]

    return after(1.0) if is_legal(after(1.0)) else poses.farthest(after, is_legal, 0.0, 1.0)


def _starts(
    field: Field, unit: UnitOnField, there: UnitOnField, allowed_bw: float, is_legal: IsLegal
) -> Iterator[Start]:
    """Yields the starts from which a unit may wheel and go straight, forward or backward."""
    if there.formation != unit.formation:
        # Only a column may move on after a change of formation.
        can_move = unit.formation == "column"
        start_poses = [bases for name, bases in formation_changes(unit) if name == there.formation]
    else:
        yield from _both_ways(field, unit, there, allowed_bw)
        # Only cavalry may move on after an about-face.
        can_move = unit.unit.arm == "cavalry"
        if not (is_turned_back(unit, there) if can_move else is_faced_about(unit, there)):
            return
        start_poses = [poses.faced(unit.unit.bases, 180.0)]
    for bases in start_poses:
        if is_legal(bases):
            start = placed(field, unit, bases).by_id[unit.id]
            if can_move:
                yield from _both_ways(field, start, there, allowed_bw)
            else:
                yield Start(bases, start.axes, there.axes, 0.0)


def _both_ways(
    field: Field, unit: UnitOnField, there: UnitOnField, allowed_bw: float
) -> Iterator[Start]:
    """Yields the starts of a move forward, and of one backward, led by the rear edge (M-6.15)."""
    yield Start(unit.unit.bases, unit.axes, there.axes, allowed_bw * field.bw_mm)
    rear, goal = (faced_about(end.axes, depth_of_ranks_mm(end)) for end in (unit, there))
    yield Start(unit.unit.bases, rear, goal, retrograde_bw(allowed_bw) * field.bw_mm)


def _at_distance(there: UnitOnField, path: shapely.LineString, far_mm: float) -> Bases:
    """Returns a column or gun in its seen shape, at a distance along its path."""
    end, place = path.interpolate(1.0, normalized=True), path.interpolate(far_mm)
    by_x, by_y = place.x - end.x, place.y - end.y
    return tuple(
        replace(base, x_mm=base.x_mm + by_x, y_mm=base.y_mm + by_y) for base in there.unit.bases
    )
