"""Finds ways of columns and artillery: snaking corridors 1 BW wide (M-6.9, M-6.11, M-6.18).

Artillery may face anywhere, so its way is the shortest corridor between two places. A column's
leading base goes where it faces, and the others follow in its track (M-6.10). So after a short move
the rear bases still lie on the old track; after a long one the whole column lies on the last part
of its head's way, which passed through the place where the tail is now.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely.ops import substring

from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape
from tablecam.geometry.taut_path import Corridor, corridor
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.movement.ways import POSE_SIGMAS, MoveEnds, Way, illegal_way, judged_way
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.table.formation import column_order
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import BasePose, Point
from tablecam.table.motion import HAND_MM

COLUMN_RULE, NEAR_RULE, ARTILLERY_RULE = "M-6.9", "M-6.11", "M-6.19"
_ASIDE = 0.5
"""How far off the track a base may follow, as a share of its width (reading of M-6.10)."""


def snaking_way(ends: MoveEnds) -> Way:
    """Returns the shortest legal way of a column or artillery unit to its new place."""
    illegal: list[Way] = []
    for limit_bw, avoided, rule in _allowances(ends):
        for way in _ways(ends.field, ends.unit, ends.goal, avoided):
            illegal.append(_judged(ends, way, limit_bw, rule))
            if illegal[-1].is_legal.answer != "no":
                return illegal[-1]
    # If all are illegal, the shortest has the most telling reason.
    nowhere = illegal_way("M-6.9", f"{ends.unit.id} has no path to where it is")
    return min(illegal, key=lambda way: way.cost_bw, default=nowhere)


def _allowances(ends: MoveEnds) -> Iterator[tuple[float, list[shapely.Geometry], str]]:
    """Yields allowances, the areas to avoid for each, and the rule; the farthest first."""
    field, unit, goal, allowed_bw = ends.field, ends.unit, ends.goal, ends.allowed_bw
    ends_near = near_enemy(ends.after, goal).is_near
    if unit.unit.arm == "artillery":
        # The full allowance only outside difficult ground, and if it does not end near (M-6.19).
        if not ends_near and not goal.is_in_difficult and not unit.is_in_difficult:
            yield allowed_bw, [field.ground.difficult], ARTILLERY_RULE
        yield min(tables.ARTILLERY_SLOW_BW, allowed_bw), [], ARTILLERY_RULE
        return
    # Being near at any moment, even at the start, limits the whole move (M-6.11).
    if not ends_near and not near_enemy(field, unit).is_near:
        # The corridor is as wide as the column, so its edge must stay out of the buffers too.
        far_mm = tables.NEAR_BW * field.bw_mm
        outlines = [enemy.outline for enemy in field.enemies_of(unit)]
        wide = list(shapely.buffer(outlines, far_mm, quad_segs=64))
        # Try round difficult ground first: the way through is shorter but disrupts (M-6.3).
        yield allowed_bw, [field.ground.difficult, *wide], COLUMN_RULE
        yield allowed_bw, wide, COLUMN_RULE
    limit_bw = min(tables.COLUMN_NEAR_BW, allowed_bw)
    yield limit_bw, [field.ground.difficult], NEAR_RULE
    yield limit_bw, [], NEAR_RULE


def _ways(
    field: Field, unit: UnitOnField, goal: UnitOnField, avoided: Sequence[shapely.Geometry]
) -> tuple[Corridor, ...]:
    """Returns the corridors of a gun's centre or of the front middle of a column's leading base."""
    if unit.unit.arm == "artillery":
        return _corridors(field, unit, avoided, goal.unit.bases[0].place_mm)
    track, last = _track(unit), _track(goal)
    onward = _way_along_track(unit, goal, track, last)
    if onward is not None:
        is_avoided = any(is_partly_in(onward.strip, shape) for shape in avoided)
        return () if is_avoided else (onward,)
    # The head must not cross the rest of its own column, except where the column now lies.
    head = leading_base(unit)
    behind = shapely.union_all(
        [outline for base, outline in zip(unit.unit.bases, unit.bases, strict=True) if base != head]
    )
    gone = shapely.buffer(goal.outline, head.width_mm / 2)
    own = shapely.difference(behind, gone, grid_size=GRID_MM)
    return tuple(
        replace(
            way,
            # The corridor begins at the head's centre, the measured way at its front.
            length_mm=way.length_mm + last.length - head.depth_mm / 2,
            points_mm=(*way.points_mm, *_points(last)),
            strip=shapely.union_all([way.strip, goal.outline]),
        )
        for way in _corridors(field, unit, [*avoided, own], _points(last)[0])
    )


def _track(unit: UnitOnField) -> shapely.LineString:
    """Returns a column's centre line, from the rear of its last base to the front of its first."""
    bases = [unit.unit.bases[place] for place in reversed(column_order(unit.unit.bases))]
    rear = _ahead(bases[0], -bases[0].depth_mm / 2)
    return shapely.LineString([rear, *(_ahead(base, base.depth_mm / 2) for base in bases)])


def _way_along_track(
    unit: UnitOnField, goal: UnitOnField, track: shapely.LineString, last: shapely.LineString
) -> Corridor | None:
    """Returns the way of a column whose rear is still on its old track, else None.

    Its head then went along the rest of the line on which the column lies.
    """
    tail = goal.unit.bases[column_order(goal.unit.bases)[-1]]
    front = shapely.Point(track.coords[-1])
    aside_mm = last.distance(front)
    if aside_mm > _ASIDE * tail.width_mm or not _is_on_track(unit, track, tail):
        return None
    line = substring(last, last.project(front), last.length)
    strip = shapely.buffer(line, tail.width_mm / 2 - tables.SLIVER_MM, cap_style="flat")
    return Corridor(line.length + aside_mm, _points(line), strip)


def _is_on_track(unit: UnitOnField, track: shapely.LineString, tail: BasePose) -> bool:
    """Returns whether the last base lies on its column's old track, not behind it."""
    was = unit.unit.bases[column_order(unit.unit.bases)[-1]]
    middle = shapely.Point(tail.place_mm)
    nearest_base = min(unit.unit.bases, key=lambda base: math.dist(base.place_mm, tail.place_mm))
    back_mm = np.dot(np.subtract(was.place_mm, tail.place_mm), forward(was.heading_deg))
    return bool(
        track.distance(middle) <= _ASIDE * tail.width_mm
        and abs(difference_deg(tail.heading_deg, nearest_base.heading_deg)) < 90.0
        and back_mm <= HAND_MM + POSE_SIGMAS * math.hypot(was.sigma_mm, tail.sigma_mm)
    )


def _corridors(
    field: Field, unit: UnitOnField, avoided: Sequence[shapely.Geometry], end_mm: Point
) -> tuple[Corridor, ...]:
    """Returns the shortest corridors round all friends and through passable friends.

    They begin at the middle of the leading base. The one through friends is listed last, and only
    if it is shorter, since passing through costs a disruption.
    """
    start = leading_base(unit)
    barred = [enemy.outline for enemy in field.enemies_of(unit)]
    barred += [field.ground.barred, *avoided]
    friends = field.friends_of(unit)
    # Friends that would break if passed are never passed (M-6.8).
    closed = [friend.outline for friend in friends if friend.breaks_if_passed]
    table = field.position.table
    # A base shallower than wide may stop closer to an obstacle ahead than half its width.
    narrow_mm = min(field.bw_mm, start.width_mm, start.depth_mm)
    ways = [
        corridor(
            start.place_mm,
            end_mm,
            width_mm=narrow_mm,
            around=[shape for shape in (*barred, *friends_avoided) if not shapely.is_empty(shape)],
            sliver_mm=tables.SLIVER_MM,
            bounds=(0.0, 0.0, table.width_mm, table.depth_mm),
        )
        for friends_avoided in ([friend.outline for friend in friends], closed)
    ]
    past, through = ways
    if past is None or through is None:
        return () if through is None else (through,)
    return (past,) if past.length_mm < through.length_mm + EXACT_MM else (past, through)


def _judged(ends: MoveEnds, way: Corridor, limit_bw: float, rule: str) -> Way:
    field, unit, goal = ends.field, ends.unit, ends.goal
    start, end = leading_base(unit), leading_base(goal)
    # No way of the front middle is shorter than the straight line.
    straight_mm = math.dist(_measured_point(unit, start), _measured_point(goal, end))
    cost_mm = max(way.length_mm, straight_mm)
    return judged_way(
        field,
        unit,
        shapely.union_all([way.strip, unit.outline, goal.outline]),
        cost_mm=cost_mm,
        allowed_bw=limit_bw,
        sigma_mm=math.hypot(start.sigma_mm, end.sigma_mm),
        path=(Shape("line", way.points_mm, "path", f"{field.in_bw(cost_mm):.2f} BW"),),
        rule=rule,
    )


def leading_base(unit: UnitOnField) -> BasePose:
    """Returns the base at the middle of the unit's front: of a column, the leading one."""
    middle = unit.axes.edge.centroid
    distances = [float(middle.distance(base)) for base in unit.bases]
    centres = [math.dist(base.place_mm, (middle.x, middle.y)) for base in unit.unit.bases]
    # Rounded so that tiny errors do not choose between equally near bases.
    order = sorted(range(len(distances)), key=lambda i: (round(distances[i], 3), centres[i]))
    return unit.unit.bases[order[0]]


def _measured_point(unit: UnitOnField, leader: BasePose) -> Point:
    """Returns the measuring point: a column's front middle (M-6.9), a gun's centre (M-6.18)."""
    if unit.unit.arm == "artillery":
        return leader.place_mm
    return unit.axes.middle_mm


def _ahead(base: BasePose, by_mm: float) -> Point:
    x, y = forward(base.heading_deg)
    return base.x_mm + x * by_mm, base.y_mm + y * by_mm


def _points(line: shapely.Geometry) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in shapely.get_coordinates(line))
