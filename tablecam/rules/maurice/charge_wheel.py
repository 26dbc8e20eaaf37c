"""How far a unit has room to wheel before it charges (M-8.5)."""

from __future__ import annotations

import math

import numpy as np
import shapely

from tablecam.measure.lanes import Corner, pivot_mm, swept_by_wheel, turned_deg, wheel_parts
from tablecam.measure.outlines import GRID_MM
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.ground import is_partly_in
from tablecam.rules.maurice.tables import CHARGE_WHEEL_BW, SLIVER_MM

_HALVINGS = 12
"""To find the longest free wheel to a hundredth of a millimetre."""


def longest_free_arc_mm(
    field: Field,
    unit: UnitOnField,
    corner: Corner,
    forbidden: shapely.Geometry,
    slack_mm: float = 0.0,
) -> float:
    """How far a unit can wheel about a corner, at most 1 BW, before it passes over what it may not.

    That is any other unit, and `forbidden` ground; not where it already stands. With a slack it
    may go so much farther into other units, with one below 0 it has to keep so far off them.
    """
    whole_mm = CHARGE_WHEEL_BW * field.bw_mm
    barrier = _barrier(field, unit, corner, forbidden, slack_mm)
    if shapely.is_empty(barrier) or _is_free(unit, corner, whole_mm, barrier):
        return whole_mm
    low_mm, high_mm = 0.0, whole_mm
    for _ in range(_HALVINGS):
        middle_mm = (low_mm + high_mm) / 2
        if _is_free(unit, corner, middle_mm, barrier):
            low_mm = middle_mm
        else:
            high_mm = middle_mm
    return low_mm


def wheel_area(unit: UnitOnField, corner: Corner, arc_mm: float) -> shapely.Geometry:
    """What a unit passes over in a wheel, its start included."""
    angle_deg = turned_deg(unit.axes, corner, arc_mm)
    return swept_by_wheel(unit.bases, pivot_mm(unit.axes, corner), angle_deg)


def _barrier(
    field: Field, unit: UnitOnField, corner: Corner, forbidden: shapely.Geometry, slack_mm: float
) -> shapely.Geometry:
    """All that a unit may not pass over and that is near enough for it, less where it stands."""
    offsets_mm = shapely.get_coordinates(unit.outline) - pivot_mm(unit.axes, corner)
    turn_rad = math.radians(abs(turned_deg(unit.axes, corner, CHARGE_WHEEL_BW * field.bw_mm)))
    farthest_mm = float(np.hypot(*offsets_mm.T).max()) * turn_rad
    others = [other.outline for other in field.units if other is not unit]
    if slack_mm:
        others = list(shapely.buffer(others, -slack_mm, join_style="mitre"))
    shapes = np.array([*others, forbidden], dtype=object)
    near = shapes[shapely.dwithin(shapes, unit.outline, farthest_mm)]
    return shapely.difference(shapely.union_all(near), unit.outline)


def _is_free(unit: UnitOnField, corner: Corner, arc_mm: float, barrier: shapely.Geometry) -> bool:
    angle_deg = turned_deg(unit.axes, corner, arc_mm)
    parts = wheel_parts(unit.bases, pivot_mm(unit.axes, corner), angle_deg)
    parts = parts[shapely.intersects(parts, barrier)]
    if not len(parts):
        return True
    common = shapely.intersection(parts, barrier, grid_size=GRID_MM)
    if not np.all(shapely.is_empty(shapely.buffer(common, -SLIVER_MM / 2))):
        return False
    # Parts that are slivers by themselves may make more than one together.
    return not is_partly_in(shapely.union_all(parts, grid_size=GRID_MM), barrier)
