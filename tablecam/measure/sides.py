"""Front, flank and rear of a unit, and where another mostly lies (M-1.8, M-1.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import Shape, shapes_of
from tablecam.measure.outlines import Axes, axes, table_outline
from tablecam.measure.rectangles import Array, rectangles
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, TableSize, Unit

Side = Literal["front", "flank", "rear"]

SIDES: tuple[Side, ...] = ("front", "flank", "rear")

_FAR_MM = 2e4
"""Farther than any table reaches, and near enough to lose no digits in an area."""

_SAME_MM2 = 1e-3
"""Areas that differ by less lie equally; then the side named first in `SIDES` has it."""


def side_of(a: Unit | BasePose, b: Unit | BasePose) -> Side:
    """Where most of `b`'s area lies as seen by `a`.

    Ahead of its front line; behind it and outside the flank lines; or behind it and between them.
    """
    return SIDES[int(sides_of([a], [b])[0, 0])]


def sides_of(a: Sequence[Unit | BasePose], b: Sequence[Unit | BasePose]) -> NDArray[np.intp]:
    """As `side_of` for each of `a` with each of `b`: places in `SIDES`, (n, m)."""
    bases = rectangles(b)
    # Base by base: flush or overlapping, a unit's bases are no valid multipolygon to cut up.
    outlines = np.asarray(shapely.polygons(bases.corners_mm()))
    regions = np.array([_regions(axes(each)) for each in a], dtype=object).reshape(-1, 2, 1)
    ahead, rear = (
        shapely.area(shapely.intersection(regions[:, part], outlines)) for part in (0, 1)
    )
    flank = shapely.area(outlines) - ahead - rear
    by_base: Array = np.stack([ahead, flank, rear])
    areas = by_base @ (bases.owners[:, None] == np.arange(len(b)))
    order = np.array([2, 1, 0])[:, None, None]
    return np.asarray(np.argmax(areas + _SAME_MM2 * order, axis=0))


def side_shapes(what: Unit | BasePose, table: TableSize) -> tuple[Shape, ...]:
    """The front, the rear and the two flanks on the table, to draw."""
    ahead, rear = _regions(axes(what))
    play = table_outline(table)
    flanks = shapely.difference(play, shapely.union(ahead, rear))
    parts = ((ahead, "front"), (flanks, "flank"), (rear, "rear"))
    return tuple(
        shape
        for region, role in parts
        for shape in shapes_of(_polygons(shapely.intersection(region, play)), role)
    )


def _regions(of: Axes) -> tuple[shapely.Polygon, shapely.Polygon]:
    """All ahead of the front line, and all behind it between the flank lines."""
    left, end = np.array(of.left_mm), np.array(of.right_mm)
    along = (end - left) / np.hypot(*(end - left))
    normal = np.array([-along[1], along[0]])
    far_left, far_right = left - along * _FAR_MM, end + along * _FAR_MM
    ahead = [far_left, far_right, far_right + normal * _FAR_MM, far_left + normal * _FAR_MM]
    back = np.array(forward(of.heading_deg)) * _FAR_MM
    return shapely.Polygon(ahead), shapely.Polygon([left, left - back, end - back, end])


def _polygons(geometry: shapely.Geometry) -> shapely.MultiPolygon:
    parts: Any = shapely.get_parts(geometry)
    return shapely.MultiPolygon([part for part in parts if isinstance(part, shapely.Polygon)])
