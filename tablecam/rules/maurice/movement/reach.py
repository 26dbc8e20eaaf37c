"""Computes the area that a unit may reach on a march, for drawing (M-6.2, M-6.9 to M-6.19)."""

from __future__ import annotations

import shapely

from tablecam.geometry.moves.paths import faced_about
from tablecam.geometry.moves.reach import snaking_reach, wheeling_reach
from tablecam.geometry.outlines import GRID_MM, SEAM_MM, table_outline
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import (
    ARTILLERY_SLOW_BW,
    COLUMN_NEAR_BW,
    NEAR_BW,
    SLIVER_MM,
    retrograde_bw,
)
from tablecam.rules.maurice.movement.judge import allowance_bw
from tablecam.rules.maurice.movement.snaking import leading_base
from tablecam.rules.maurice.movement.wheels import depth_of_ranks_mm
from tablecam.rules.maurice.place.near import near_enemy

_OFF_TABLE_MM = 1e3


def reach(field: Field, unit: UnitOnField) -> shapely.Geometry:
    """Returns all ground that a unit may cover during a march, its own place included.

    Enemies, impassable ground and the table's edge limit it; friends do not, as they often may be
    passed. It is an approximation for drawing: `judge_move` decides.
    """
    allowed_bw = allowance_bw(field, unit)
    if allowed_bw <= 0:
        return unit.outline
    if unit.unit.arm == "artillery" or unit.formation == "column":
        area = _snaking(field, unit, allowed_bw)
    else:
        area = _wheeling(field, unit, allowed_bw)
    return shapely.union_all([area, unit.outline], grid_size=GRID_MM)


def _wheeling(field: Field, unit: UnitOnField, allowed_bw: float) -> shapely.Geometry:
    """Returns the reach by wheels: the whole allowance forward, half of it backward (M-6.13)."""
    table = table_outline(field.position.table)
    surroundings = shapely.buffer(table, _OFF_TABLE_MM, join_style="mitre")
    # Whatever lies beyond the table's edge is barred, too (M-6.32).
    barred = shapely.union_all([*_barriers(field, unit), shapely.difference(surroundings, table)])
    limit_mm = allowed_bw * field.bw_mm
    shapes = _convex_shapes(unit)
    ahead = wheeling_reach(unit.axes, shapes, limit_mm, barred=barred, sliver_mm=SLIVER_MM)
    back = wheeling_reach(
        faced_about(unit.axes, depth_of_ranks_mm(unit)),
        shapes,
        retrograde_bw(allowed_bw) * field.bw_mm,
        barred=barred,
        sliver_mm=SLIVER_MM,
    )
    return shapely.union_all([ahead, back], grid_size=GRID_MM)


def _convex_shapes(unit: UnitOnField) -> tuple[shapely.Polygon, ...]:
    """Returns the convex hull of a unit if its outline is nearly convex, else its bases."""
    hull = shapely.convex_hull(unit.outline)
    if not isinstance(hull, shapely.Polygon):
        return unit.bases
    return (hull,) if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM else unit.bases


def _snaking(field: Field, unit: UnitOnField, allowed_bw: float) -> shapely.Geometry:
    """Returns the reach of a column or gun: the slow allowance anywhere, more where allowed."""
    is_artillery = unit.unit.arm == "artillery"
    slow_bw = ARTILLERY_SLOW_BW if is_artillery else COLUMN_NEAR_BW
    areas = [_corridors(field, unit, min(slow_bw, allowed_bw), [])]
    near_areas = shapely.buffer(
        [enemy.outline for enemy in field.enemies_of(unit)], NEAR_BW * field.bw_mm, quad_segs=16
    )
    if is_artillery and allowed_bw > slow_bw:
        far = _corridors(field, unit, allowed_bw, [field.ground.difficult])
        # It may pass near enemies, but not end there (M-6.19).
        areas.append(shapely.difference(far, shapely.union_all(near_areas), grid_size=GRID_MM))
    elif allowed_bw > slow_bw and not near_enemy(field, unit).is_near:
        areas.append(_corridors(field, unit, allowed_bw, list(near_areas)))
    return shapely.union_all(areas, grid_size=GRID_MM)


def _corridors(
    field: Field, unit: UnitOnField, limit_bw: float, avoided: list[shapely.Geometry]
) -> shapely.Geometry:
    base = leading_base(unit)
    return snaking_reach(
        base.place_mm,
        limit_bw * field.bw_mm,
        # A sliver on either side is no obstacle (G-5).
        width_mm=min(field.bw_mm, base.width_mm, base.depth_mm) - 2 * SLIVER_MM,
        around=[*_barriers(field, unit), *avoided],
        inside=table_outline(field.position.table),
    )


def _barriers(field: Field, unit: UnitOnField) -> list[shapely.Geometry]:
    enemies = [enemy.outline for enemy in field.enemies_of(unit)]
    return [*enemies, field.ground.barred]
