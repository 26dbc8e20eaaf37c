"""Front, flank and rear of a unit, and where another mostly lies (M-1.8, M-1.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import GRID_MM, Axes, axes, table_outline
from tablecam.geometry.rectangles import Array, Rectangles, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
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
    return sides_from([axes(each) for each in a], b)


def sides_from(a: Sequence[Axes], b: Sequence[Unit | BasePose]) -> NDArray[np.intp]:
    """The same, seen from axes that are known already."""
    bases = rectangles(b)
    by_base = _shares(a, bases)
    areas = by_base @ (bases.owners[:, None] == np.arange(len(b)))
    order = np.array([2, 1, 0])[:, None, None]
    return np.asarray(np.argmax(areas + _SAME_MM2 * order, axis=0))


def side_shapes(what: Unit | BasePose, table: TableSize) -> tuple[Shape, ...]:
    """The front, the rear and the two flanks on the table, to draw."""
    play = table_outline(table)
    found = axes(what)
    ahead, rear = _regions(found)
    parts = ((ahead, "front"), *((flank, "flank") for flank in _flanks(found)), (rear, "rear"))
    return tuple(
        shape
        for region, role in parts
        for shape in shapes_of(
            _polygons(shapely.intersection(region, play, grid_size=GRID_MM)), role
        )
    )


def _shares(a: Sequence[Axes], bases: Rectangles) -> Array:
    """How much of each base (n) lies ahead, at the flanks and in the rear of each: (3, k, n), mm².

    Most bases lie wholly in one of them.
    """
    corners_mm = bases.corners_mm()
    whole: Array = 4.0 * bases.halves_mm.prod(axis=1)
    shares = np.asarray(_whole_in(Fronts.of_all(a), corners_mm) * whole)
    is_cut = shares.sum(axis=0) == 0
    for row in np.flatnonzero(is_cut.any(axis=1)).tolist():
        cut = np.flatnonzero(is_cut[row])
        # Base by base: flush or overlapping, a unit's bases are no valid multipolygon to cut up.
        outlines = np.asarray(shapely.polygons(corners_mm[cut]))
        ahead, rear = (
            shapely.area(shapely.intersection(region, outlines, grid_size=GRID_MM))
            for region in _regions(a[row])
        )
        shares[:, row, cut] = ahead, whole[cut] - ahead - rear, rear
    return shares


def _whole_in(fronts: Fronts, corners_mm: Array) -> NDArray[np.bool_]:
    """Which bases (n, 4, 2) lie wholly ahead of k fronts, at one flank, or in the rear: (3, k, n).

    A base upon the line between two of them, of no area in one, may lie wholly in both.
    """
    across = np.stack([fronts.heading[:, 1], -fronts.heading[:, 0]], axis=1)
    ahead_mm = _along(fronts.normal, corners_mm, fronts.left_mm)
    left_mm = -_along(across, corners_mm, fronts.left_mm)
    right_mm = _along(across, corners_mm, fronts.right_mm)
    is_behind = (ahead_mm <= 0).all(axis=2)
    is_beside = (left_mm >= 0).all(axis=2) | (right_mm >= 0).all(axis=2)
    is_between = ((left_mm <= 0) & (right_mm <= 0)).all(axis=2)
    is_ahead = (ahead_mm >= 0).all(axis=2)
    return np.stack([is_ahead, is_behind & is_beside, is_behind & is_between])


def _along(ways: Array, points_mm: Array, starts_mm: Array) -> Array:
    """How far points (n, 4, 2) lie along unit vectors (k, 2) from places (k, 2): (k, n, 4)."""
    from_origin = np.tensordot(ways, points_mm, axes=(1, 2))
    return np.asarray(from_origin - (ways * starts_mm).sum(axis=1)[:, None, None])


def _regions(of: Axes) -> tuple[shapely.Polygon, shapely.Polygon]:
    """All ahead of the front line, and all behind it between the flank lines."""
    left, end = np.array(of.left_mm), np.array(of.right_mm)
    along, normal, back = _far(of)
    ahead = [left - along, end + along, end + along + normal, left - along + normal]
    return shapely.Polygon(ahead), shapely.Polygon([left, left + back, end + back, end])


def _flanks(of: Axes) -> tuple[shapely.Polygon, shapely.Polygon]:
    """All behind the front line to the left of the left flank line, and the same on the right."""
    left, end = np.array(of.left_mm), np.array(of.right_mm)
    along, normal, back = _far(of)
    return (
        shapely.Polygon([left, left - along, left - along - normal, left + back]),
        shapely.Polygon([end, end + along, end + along - normal, end + back]),
    )


def _far(of: Axes) -> tuple[Array, Array, Array]:
    """Vectors that reach beyond the table: along the front line, ahead of it, along the flanks."""
    edge = np.subtract(of.right_mm, of.left_mm)
    along = edge / np.hypot(*edge) * _FAR_MM
    back = np.array(forward(of.heading_deg)) * -_FAR_MM
    return along, np.array([-along[1], along[0]]), back


def _polygons(geometry: shapely.Geometry) -> shapely.MultiPolygon:
    parts: Any = shapely.get_parts(geometry)
    return shapely.MultiPolygon([part for part in parts if isinstance(part, shapely.Polygon)])
