"""Room to charge: ground that a unit may not enter, and how far it can wheel (M-8.4, M-8.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely

from tablecam.geometry.moves.fans import corners_of
from tablecam.geometry.moves.lanes import Corner, front_width_mm, pivot_mm
from tablecam.geometry.moves.turning import first_turn_rad, free_turns_rad, half_planes
from tablecam.geometry.outlines import GRID_MM, table_outline
from tablecam.geometry.rectangles import Array
from tablecam.rules.maurice.charge.moves import allowance_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.uncertainty.margins import Flags

_FAR_MM = 1e4
"""A length beyond any table."""


@dataclass(frozen=True, slots=True, eq=False)
class Forbidden:
    """Ground that a unit may not enter.

    `deep` is `area` shrunk by half a sliver: a shape shrunk in the same way enters the area by more
    than a sliver where it meets `deep` (G-5).
    """

    area: shapely.Geometry
    deep: shapely.Geometry

    @property
    def is_nowhere(self) -> bool:
        """Whether there is no such ground."""
        return bool(shapely.is_empty(self.area))

    def is_entered(self, lanes_mm: Array) -> Flags:
        """Returns which lanes, by their corners (k, 4, 2), lead into it."""
        left, right, _, far = np.moveaxis(lanes_mm, 1, 0)
        wide, long = right - left, far - left
        lengths_mm = np.hypot(*long.T)
        is_entered: Flags = lengths_mm > SLIVER_MM
        across = wide[is_entered] / np.hypot(*wide[is_entered].T)[:, None]
        ahead = long[is_entered] / lengths_mm[is_entered, None]
        inward = np.stack([across + ahead, ahead - across, -across - ahead, across - ahead], axis=1)
        inner = shapely.polygons(lanes_mm[is_entered] + inward * SLIVER_MM / 2)
        is_entered[is_entered] = shapely.intersects(self.deep, inner)
        return is_entered


def forbidden_ground(field: Field, unit: UnitOnField) -> Forbidden:
    """Returns the ground that a unit may not charge into, as far as it can come.

    Impassable ground, everything off the table, and for cavalry woods. A base that a hand has left
    slightly over the table's edge may stay so.
    """
    areas = [field.ground.barred]
    if unit.unit.arm == "cavalry":
        areas.append(field.ground.woods)
    # In a wheel the rear swings no farther than the front could go ahead.
    reach_mm = (allowance_mm(field, unit) or 0.0) + abs(field.over_edge_mm)
    if not _is_well_on_table(field, unit, reach_mm):
        areas.append(_off_table(field, unit))
    near = (area for area in areas if shapely.dwithin(area, unit.outline, reach_mm))
    return _together(tuple(near))


@lru_cache(maxsize=64)
def _together(areas: tuple[shapely.Geometry, ...]) -> Forbidden:
    """Merges areas; cached, as many units and all their draws share the same areas."""
    area = shapely.union_all(areas, grid_size=GRID_MM) if areas else shapely.Polygon()
    deep = shapely.buffer(area, -SLIVER_MM / 2)
    shapely.prepare(deep)
    return Forbidden(area, deep)


def _is_well_on_table(field: Field, unit: UnitOnField, by_mm: float) -> bool:
    """Returns whether a unit lies farther than `by_mm` from every edge of the table."""
    left, low, right, high = shapely.bounds(unit.outline).tolist()
    table = field.position.table
    return bool(
        min(left, low) > by_mm and right < table.width_mm - by_mm and high < table.depth_mm - by_mm
    )


def _off_table(field: Field, unit: UnitOnField) -> shapely.Polygon:
    """Returns everything off the table, beyond what the unit already overhangs."""
    play = table_outline(field.position.table)
    places = shapely.points(shapely.get_coordinates(unit.outline))
    over_mm = float(np.max(shapely.distance(play, places))) + field.over_edge_mm
    edge = shapely.buffer(play, over_mm, join_style="mitre")
    far = shapely.box(-_FAR_MM, -_FAR_MM, _FAR_MM, _FAR_MM)
    return shapely.Polygon(shapely.get_coordinates(far), [shapely.get_coordinates(edge)])


@dataclass(frozen=True, slots=True, eq=False)
class Wheel:
    """A wheel about a corner that may pass over none of `others` and no `forbidden` ground.

    Friends in line beside the unit do not block it, nor does ground where it already stands. It is
    no longer than `longest_mm`.
    """

    unit: UnitOnField
    corner: Corner
    others: Sequence[UnitOnField]
    longest_mm: float
    forbidden: Forbidden

    @property
    def sense(self) -> float:
        """1 for a counter-clockwise turn, -1 for a clockwise one."""
        return 1.0 if self.corner == "left" else -1.0


def longest_free_arc_mm(wheel: Wheel) -> float:
    """Returns how far a unit can wheel before something blocks it."""
    unit, own = wheel.unit, corners_of(wheel.unit.bases)
    turn_rad, far_mm = _free_of_ground_rad(wheel, own), _farthest_mm(wheel)
    met = [
        base
        for other in wheel.others
        if shapely.dwithin(other.outline, unit.outline, far_mm)
        and not unit.touches_flank_of_line(other)
        for base in other.bases
    ]
    if met:
        others, count = corners_of(met), len(own) * len(met)
        met_rad = free_turns_rad(
            np.tile(pivot_mm(unit.axes, wheel.corner), (count, 1)),
            np.full(count, wheel.sense),
            half_planes(np.repeat(own, len(met), axis=0)),
            half_planes(np.tile(others, (len(own), 1, 1))),
            SLIVER_MM,
        )
        turn_rad = min(turn_rad, float(met_rad.min()))
    return min(wheel.longest_mm, front_width_mm(unit.axes) * turn_rad)


def _farthest_mm(wheel: Wheel) -> float:
    """Returns how far any part of the unit moves in the longest wheel."""
    corners_mm = shapely.get_coordinates(wheel.unit.outline)
    offsets_mm = corners_mm - pivot_mm(wheel.unit.axes, wheel.corner)
    turn_rad = wheel.longest_mm / front_width_mm(wheel.unit.axes)
    return float(np.hypot(*offsets_mm.T).max()) * turn_rad


def _free_of_ground_rad(wheel: Wheel, parts: Array) -> float:
    """Returns the turn at which a wheel reaches forbidden ground; infinite if it never does."""
    ground, outline, far_mm = wheel.forbidden, wheel.unit.outline, _farthest_mm(wheel)
    if ground.is_nowhere or not shapely.dwithin(ground.area, outline, far_mm):
        return math.inf
    deep = ground.deep
    if shapely.intersects(ground.area, outline):
        # Ground under the unit's present place does not count.
        rest = shapely.difference(ground.area, outline, grid_size=GRID_MM)
        deep = shapely.buffer(rest, -SLIVER_MM / 2)
    edges = _edges_near(deep, outline, far_mm)
    if not len(edges):
        return math.inf
    inner = half_planes(parts).grown(-SLIVER_MM / 2)
    return first_turn_rad(pivot_mm(wheel.unit.axes, wheel.corner), wheel.sense, inner, edges)


def _edges_near(area: shapely.Geometry, outline: shapely.Geometry, far_mm: float) -> Array:
    """Returns the edges (e, 2, 2) of an area whose boxes come within a distance of a unit."""
    rings = shapely.get_rings(shapely.get_parts(area))
    points, of_ring = shapely.get_coordinates(rings, return_index=True)
    goes_on = of_ring[1:] == of_ring[:-1]
    edges = np.stack([points[:-1][goes_on], points[1:][goes_on]], axis=1)
    low, high = np.split(shapely.bounds(outline), 2)
    is_near = (edges.min(axis=1) <= high + far_mm) & (edges.max(axis=1) >= low - far_mm)
    return np.asarray(edges[is_near.all(axis=1)])
