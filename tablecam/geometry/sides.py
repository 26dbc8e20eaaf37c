"""Decides whether a unit lies in another's front, flank or rear (M-1.8, M-1.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import GRID_MM, Axes, axes
from tablecam.geometry.rectangles import Array, Rectangles, rectangles
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Unit

Side = Literal["front", "flank", "rear"]

SIDES: tuple[Side, ...] = ("front", "flank", "rear")

_FAR_MM = 2e4
"""Longer than any table, yet short enough to keep areas precise."""

_SAME_MM2 = 1e-3
"""Areas that differ by less count as equal; ties go to the side named first in `SIDES`."""


def side_of(a: Unit | BasePose, b: Unit | BasePose) -> Side:
    """Returns the side of `a` on which most of `b`'s area lies.

    Front is ahead of the front line; flank behind it and outside the flank lines; rear behind it
    and between them.
    """
    return SIDES[int(sides_of([a], [b])[0, 0])]


def sides_of(a: Sequence[Unit | BasePose], b: Sequence[Unit | BasePose]) -> NDArray[np.intp]:
    """Returns `side_of` for each of `a` with each of `b`, as indices of `SIDES` (n, m)."""
    return sides_from([axes(observer) for observer in a], b)


def sides_from(a: Sequence[Axes], b: Sequence[Unit | BasePose]) -> NDArray[np.intp]:
    """Returns `sides_of` for observers given by their axes."""
    bases = rectangles(b)
    base_areas = _areas_by_side(a, bases)
    # Sums the bases of each unit by a product with the ownership matrix.
    areas = base_areas @ (bases.owners[:, None] == np.arange(len(b)))
    # A tiny bonus in the order of `SIDES` breaks ties.
    order = np.array([2, 1, 0])[:, None, None]
    return np.asarray(np.argmax(areas + _SAME_MM2 * order, axis=0))


def _areas_by_side(a: Sequence[Axes], bases: Rectangles) -> Array:
    """Returns the area of n bases in the front, flanks and rear of k units, (3, k, n) in mm²."""
    corners_mm = bases.corners_mm()
    whole: Array = 4.0 * bases.halves_mm.prod(axis=1)
    # Most bases lie wholly on one side: only the others need an intersection.
    areas = np.asarray(_is_wholly_in(Fronts.of_all(a), corners_mm) * whole)
    is_cut = areas.sum(axis=0) == 0
    for row in np.flatnonzero(is_cut.any(axis=1)).tolist():
        cut = np.flatnonzero(is_cut[row])
        # Base by base: touching or overlapping bases form no valid multipolygon.
        outlines = np.asarray(shapely.polygons(corners_mm[cut]))
        ahead, rear = (
            shapely.area(shapely.intersection(region, outlines, grid_size=GRID_MM))
            for region in _front_and_rear(a[row])
        )
        areas[:, row, cut] = ahead, whole[cut] - ahead - rear, rear
    return areas


def _is_wholly_in(fronts: Fronts, corners_mm: Array) -> NDArray[np.bool_]:
    """Returns which bases (n, 4, 2) lie wholly in the front, one flank or the rear, (3, k, n).

    A base whose edge lies on a dividing line may lie wholly in two of them.
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


def _along(directions: Array, points_mm: Array, starts_mm: Array) -> Array:
    """Returns how far points (n, 4, 2) lie along directions from starts (k, 2), (k, n, 4)."""
    from_origin = np.tensordot(directions, points_mm, axes=(1, 2))
    return np.asarray(from_origin - (directions * starts_mm).sum(axis=1)[:, None, None])


def _front_and_rear(axes: Axes) -> tuple[shapely.Polygon, shapely.Polygon]:
    """Returns the area ahead of the front line, and the area behind it between the flank lines."""
    left, right = np.array(axes.left_mm), np.array(axes.right_mm)
    along, normal, back = _far_vectors(axes)
    ahead = [left - along, right + along, right + along + normal, left - along + normal]
    return shapely.Polygon(ahead), shapely.Polygon([left, left + back, right + back, right])


def _flanks(axes: Axes) -> tuple[shapely.Polygon, shapely.Polygon]:
    """Returns the left and the right flank: behind the front line, outside the flank lines."""
    left, right = np.array(axes.left_mm), np.array(axes.right_mm)
    along, normal, back = _far_vectors(axes)
    return (
        shapely.Polygon([left, left - along, left - along - normal, left + back]),
        shapely.Polygon([right, right + along, right + along - normal, right + back]),
    )


def _far_vectors(axes: Axes) -> tuple[Array, Array, Array]:
    """Returns vectors longer than the table: along the front line, ahead of it, rearward."""
    edge = np.subtract(axes.right_mm, axes.left_mm)
    along = edge / np.hypot(*edge) * _FAR_MM
    back = np.array(forward(axes.heading_deg)) * -_FAR_MM
    return along, np.array([-along[1], along[0]]), back


def _polygons(geometry: shapely.Geometry) -> shapely.MultiPolygon:
    parts: Any = shapely.get_parts(geometry)
    return shapely.MultiPolygon([part for part in parts if isinstance(part, shapely.Polygon)])
