"""The ways of columns and artillery: a snaking corridor one BW wide (M-6.9, M-6.11, M-6.18).

Artillery does not care where it faces: the shortest corridor between two places is a way. A column
goes where its leading base faces, and the others follow in its track (M-6.10). So the bases at its
rear lie on the track that it stood on, or the whole of it lies on the last stretch of its head's
way, which came to where its tail is now and went on from there.
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
from tablecam.geometry.taut.corridor import Corridor, corridor
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import (
    ARTILLERY_SLOW_BW,
    COLUMN_NEAR_BW,
    NEAR_BW,
    SLIVER_MM,
)
from tablecam.rules.maurice.movement.ways import Way, breaks, judged_way, refused, suffers
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.table.formation import column_order
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import BasePose, Point
from tablecam.table.motion import HAND_MM

COLUMN_RULE, NEAR_RULE, ARTILLERY_RULE = "M-6.9", "M-6.11", "M-6.19"
_ASIDE = 0.5
"""How far beside its track a base may follow, as a share of its width (reading of M-6.10)."""
_SIGMAS = 3.0


def free_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    """The shortest legal corridor to where a column or an artillery unit now is."""
    found: list[Way] = []
    for limit_bw, avoided, rule in _choices(field, unit, after, there, allowed_bw):
        for way in _ways(field, unit, there, avoided):
            found.append(_judged(field, unit, there, way, limit_bw, rule))
            if found[-1].answer.answer != "no":
                return found[-1]
    if found:
        return min(found, key=lambda way: way.cost_mm)
    return refused("M-6.9", f"{unit.id} finds no way to where it is")


def _choices(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Iterator[tuple[float, list[shapely.Geometry], str]]:
    """How far a unit may go if it keeps out of what, and the rule that says so, farthest first."""
    ends_near = near_enemy(after, there).is_near
    if unit.unit.arm == "artillery":
        if not ends_near and not there.is_in_difficult and not unit.is_in_difficult:
            yield allowed_bw, [field.ground.difficult], ARTILLERY_RULE
        yield min(ARTILLERY_SLOW_BW, allowed_bw), [], ARTILLERY_RULE
        return
    if not ends_near and not near_enemy(field, unit).is_near:
        # Anything nearer to an enemy than this would be near him: half the corridor is the column.
        far_mm = NEAR_BW * field.bw_mm
        outlines = [enemy.outline for enemy in field.enemies_of(unit)]
        wide = list(shapely.buffer(outlines, far_mm, quad_segs=64))
        yield allowed_bw, [field.ground.difficult, *wide], COLUMN_RULE
        yield allowed_bw, wide, COLUMN_RULE
    limit_bw = min(COLUMN_NEAR_BW, allowed_bw)
    yield limit_bw, [field.ground.difficult], NEAR_RULE
    yield limit_bw, [], NEAR_RULE


def _ways(
    field: Field, unit: UnitOnField, there: UnitOnField, avoided: Sequence[shapely.Geometry]
) -> tuple[Corridor, ...]:
    """The corridors of the middle of a gun, or of the front middle of a column's leading base."""
    if unit.unit.arm == "artillery":
        return _corridors(field, unit, avoided, _centre(there.unit.bases[0]))
    track, last = _track(unit), _track(there)
    onward = _onward(unit, there, track, last)
    if onward is not None:
        is_avoided = any(is_partly_in(onward.strip, shape) for shape in avoided)
        return () if is_avoided else (onward,)
    # Where it goes now it has left its old place; it comes there through none of the rest of it.
    head = leader(unit)
    behind = shapely.union_all(
        [outline for base, outline in zip(unit.unit.bases, unit.bases, strict=True) if base != head]
    )
    gone = shapely.buffer(there.outline, head.width_mm / 2)
    own = shapely.difference(behind, gone, grid_size=GRID_MM)
    return tuple(
        replace(
            way,
            length_mm=way.length_mm + last.length - head.depth_mm / 2,
            points_mm=(*way.points_mm, *_points(last)),
            strip=shapely.union_all([way.strip, there.outline]),
        )
        for way in _corridors(field, unit, [*avoided, own], _points(last)[0])
    )


def _track(unit: UnitOnField) -> shapely.LineString:
    """The middle line of a column, from the rear of its last base to the front of its first."""
    bases = [unit.unit.bases[place] for place in reversed(column_order(unit.unit.bases))]
    rear = _ahead(bases[0], -bases[0].depth_mm / 2)
    return shapely.LineString([rear, *(_ahead(base, base.depth_mm / 2) for base in bases)])


def _onward(
    unit: UnitOnField,
    there: UnitOnField,
    track: shapely.LineString,
    last: shapely.LineString,
) -> Corridor | None:
    """The way of a column whose rear is still on the track that it stood on; None where it is not.

    Its head then went along the rest of the line on which it lies, and no other way.
    """
    tail = there.unit.bases[column_order(there.unit.bases)[-1]]
    front = shapely.Point(track.coords[-1])
    aside_mm = last.distance(front)
    if aside_mm > _ASIDE * tail.width_mm or not _is_on_track(unit, track, tail):
        return None
    line = substring(last, last.project(front), last.length)
    strip = shapely.buffer(line, tail.width_mm / 2 - SLIVER_MM, cap_style="flat")
    return Corridor(line.length + aside_mm, _points(line), strip)


def _is_on_track(unit: UnitOnField, track: shapely.LineString, tail: BasePose) -> bool:
    """Whether the last base lies on the track on which its column stood, not behind it."""
    was = unit.unit.bases[column_order(unit.unit.bases)[-1]]
    middle = shapely.Point(tail.x_mm, tail.y_mm)
    on = min(unit.unit.bases, key=lambda base: math.dist(_centre(base), _centre(tail)))
    back_mm = np.dot(np.subtract(_centre(was), _centre(tail)), forward(was.heading_deg))
    return bool(
        track.distance(middle) <= _ASIDE * tail.width_mm
        and abs(difference_deg(tail.heading_deg, on.heading_deg)) < 90.0
        and back_mm <= HAND_MM + _SIGMAS * math.hypot(was.sigma_mm, tail.sigma_mm)
    )


def _corridors(
    field: Field, unit: UnitOnField, avoided: Sequence[shapely.Geometry], end_mm: Point
) -> tuple[Corridor, ...]:
    """The shortest corridor past friends too, and the one through those it may pass.

    It begins at the middle of the leading base. To pass through a friend costs somebody a
    disruption, so nobody does it who may go round.
    """
    start = leader(unit)
    barred = [enemy.outline for enemy in field.enemies_of(unit)]
    barred += [field.ground.barred, *avoided]
    friends = field.friends_of(unit)
    closed = [friend.outline for friend in friends if suffers(friend) and breaks(friend, 1)]
    table = field.position.table
    # A base less deep than it is wide may end nearer to what is ahead of it than half its width.
    narrow_mm = min(field.bw_mm, start.width_mm, start.depth_mm)
    ways = [
        corridor(
            _centre(start),
            end_mm,
            width_mm=narrow_mm,
            around=[shape for shape in (*barred, *kept_off) if not shapely.is_empty(shape)],
            sliver_mm=SLIVER_MM,
            bounds=(0.0, 0.0, table.width_mm, table.depth_mm),
        )
        for kept_off in ([friend.outline for friend in friends], closed)
    ]
    past, through = ways
    if past is None or through is None:
        return () if through is None else (through,)
    return (past,) if past.length_mm < through.length_mm + EXACT_MM else (past, through)


def _judged(
    field: Field,
    unit: UnitOnField,
    there: UnitOnField,
    way: Corridor,
    limit_bw: float,
    rule: str,
) -> Way:
    start, end = leader(unit), leader(there)
    begin_mm, end_mm = _counted(unit, start), _counted(there, end)
    # The way of a column's front middle is no shorter than the straight one.
    cost_mm = max(way.length_mm, math.dist(begin_mm, end_mm))
    area = shapely.union_all([way.strip, unit.outline, there.outline])
    label = f"{field.in_bw(cost_mm):.2f} BW"
    sigma_mm = math.hypot(start.sigma_mm, end.sigma_mm)
    return judged_way(
        field,
        unit,
        area,
        cost_mm=cost_mm,
        allowed_bw=limit_bw,
        sigma_mm=sigma_mm,
        path=(Shape("line", way.points_mm, "path", label),),
        rule=rule,
    )


def leader(unit: UnitOnField) -> BasePose:
    """The base whose front edge the unit's is: a column's leading one."""
    middle = shapely.LineString([unit.axes.left_mm, unit.axes.right_mm]).centroid
    distances = [float(middle.distance(base)) for base in unit.bases]
    centres = [math.dist(_centre(base), (middle.x, middle.y)) for base in unit.unit.bases]
    order = sorted(range(len(distances)), key=lambda i: (round(distances[i], 3), centres[i]))
    return unit.unit.bases[order[0]]


def _counted(unit: UnitOnField, leader: BasePose) -> Point:
    """Whose way counts: a column's front middle (M-6.9), an artillery base's centre (M-6.18)."""
    if unit.unit.arm == "artillery":
        return _centre(leader)
    (left_x, left_y), (right_x, right_y) = unit.axes.left_mm, unit.axes.right_mm
    return (left_x + right_x) / 2, (left_y + right_y) / 2


def _centre(base: BasePose) -> Point:
    return base.x_mm, base.y_mm


def _ahead(base: BasePose, by_mm: float) -> Point:
    x, y = forward(base.heading_deg)
    return base.x_mm + x * by_mm, base.y_mm + y * by_mm


def _points(line: shapely.Geometry) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in shapely.get_coordinates(line))
