"""The ways of columns and artillery: a snaking corridor one BW wide (M-6.9, M-6.11, M-6.18).

Columns go where their front edge points and may turn as often as they wish, artillery does not care
where it faces: for both the shortest corridor between two places is a way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import shapely

from tablecam.measure.answer import EXACT_MM, Shape
from tablecam.measure.corridor import Corridor, corridor
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.march_ways import Way, breaks, judged_way, refused, suffers
from tablecam.rules.maurice.near import near_enemy
from tablecam.rules.maurice.tables import (
    ARTILLERY_SLOW_BW,
    COLUMN_NEAR_BW,
    NEAR_BW,
    SLIVER_MM,
)
from tablecam.table.model import BasePose, Point

COLUMN_RULE, NEAR_RULE, ARTILLERY_RULE = "M-6.9", "M-6.11", "M-6.19"


def free_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    """The shortest legal corridor to where a column or an artillery unit now is."""
    start, end = leader(unit), leader(there)
    found: list[Way] = []
    for limit_bw, avoided, rule in _choices(field, unit, after, there, allowed_bw):
        for way in _corridors(field, unit, avoided, start, end):
            found.append(_judged(field, unit, there, way, start, end, limit_bw, rule))
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


def _corridors(
    field: Field,
    unit: UnitOnField,
    avoided: Sequence[shapely.Geometry],
    start: BasePose,
    end: BasePose,
) -> tuple[Corridor, ...]:
    """The shortest corridor past friends too, and the one through those it may pass.

    To pass through a friend costs somebody a disruption: it comes first only where it shortens.
    """
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
            _centre(end),
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
    if past.length_mm < through.length_mm + EXACT_MM:
        return (past,)
    is_near = past.length_mm < through.length_mm + field.bw_mm
    return (past, through) if is_near else (through, past)


def _judged(
    field: Field,
    unit: UnitOnField,
    there: UnitOnField,
    way: Corridor,
    start: BasePose,
    end: BasePose,
    limit_bw: float,
    rule: str,
) -> Way:
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
