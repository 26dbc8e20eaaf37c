"""View of a charge target (M-8.4)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.sight import HAIR_MM, free_line
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import VIEW_WOODS_BW

_FROM_POINTS = 33
_STEP_MM = 5.0
"""The spacing of lines tried through woods.

Only the test for less than 1 BW of woods depends on them; all other answers are exact."""


def is_in_view(field: Field, unit: UnitOnField, target: UnitOnField) -> bool:
    """Returns whether a straight line from a unit's front edge to a target is free (M-8.4).

    It may cross no crest, and less than 1 BW of woods. Units do not hide each other.
    """
    front = unit.axes.edge
    crests, woods = field.ground.crests, field.ground.woods
    between = shapely.convex_hull(shapely.GeometryCollection([front, target.outline]))
    is_in_woods = shapely.intersects(between, woods)
    if not is_in_woods and not shapely.intersects(between, crests):
        return True
    if not is_in_woods:
        return free_line(front, target.outline, crests) is not None
    # Where a line avoids all woods, the inexact search through them is unnecessary.
    if free_line(front, target.outline, _together(crests, woods)):
        return True
    return _sees_through(front, target.outline, crests, woods, VIEW_WOODS_BW * field.bw_mm)


@lru_cache(maxsize=16)
def _together(crests: shapely.Geometry, woods: shapely.Geometry) -> shapely.Geometry:
    """Merges all that hides; cached, as it is the same for all units on a table."""
    return shapely.union(crests, woods, grid_size=GRID_MM)


def _sees_through(
    front: shapely.LineString,
    target: shapely.Geometry,
    crests: shapely.Geometry,
    woods: shapely.Geometry,
    less_than_mm: float,
) -> bool:
    """Returns whether one of many lines crosses no crest and less than a length of woods."""
    starts = _along(front, shapely.length(front) / (_FROM_POINTS - 1))
    ends = _along(shapely.boundary(target), _STEP_MM)
    pairs = np.stack(
        [np.repeat(starts, len(ends), axis=0), np.tile(ends, (len(starts), 1))], axis=1
    )
    lines = np.asarray(shapely.linestrings(pairs), dtype=object)
    # A line along a crest's edge does not cross it.
    solid = shapely.buffer(crests, -HAIR_MM, join_style="mitre")
    shapely.prepare(solid)
    lines = lines[~shapely.intersects(solid, lines)]
    return bool((shapely.length(shapely.intersection(lines, woods)) < less_than_mm).any())


def _along(line: shapely.Geometry, step_mm: float) -> NDArray[np.float64]:
    """Returns points along a line, its corners included, at most a step apart."""
    return np.asarray(shapely.get_coordinates(shapely.segmentize(line, step_mm)))
