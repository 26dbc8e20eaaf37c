"""Forbidden ground: where a unit may not charge (M-8.4, M-6.32)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM, table_outline
from tablecam.rules.maurice.charge.reach import allowance_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM

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

    def is_entered(self, lanes_mm: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Returns which lanes, by their corners (k, 4, 2), lead into it."""
        left, right, _, far = np.moveaxis(lanes_mm, 1, 0)
        wide, long = right - left, far - left
        lengths_mm = np.hypot(*long.T)
        is_entered: NDArray[np.bool_] = lengths_mm > SLIVER_MM
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
    return Forbidden(area, deep_in(area))


@lru_cache(maxsize=64)
def deep_in(area: shapely.Geometry) -> shapely.Geometry:
    """Returns an area shrunk by half a sliver on all sides."""
    deep = shapely.buffer(area, -SLIVER_MM / 2)
    shapely.prepare(deep)
    return deep


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
