"""The obstacles of a taut path: shapes grown by a distance (rings), and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.taut.tangents import Array, Edges, Indices, corners_of, edges_leaving

Bounds = tuple[float, float, float, float]

Flags = NDArray[np.bool_]

_INNER_MM = 0.5
"""How far inside the rings the polygons of the quick test lie."""

_OPEN = 1e-3
"""The cosine below which a direction does not point along an edge; an error of 20 nm."""


def is_inside(points_mm: Array, bounds: Bounds | None) -> Flags:
    """Whether points (..., 2) lie within bounds or on them."""
    if bounds is None:
        return np.ones(points_mm.shape[:-1], dtype=np.bool_)
    low, high = np.array(bounds[:2]) - EXACT_MM, np.array(bounds[2:]) + EXACT_MM
    return np.asarray(((points_mm >= low) & (points_mm <= high)).all(axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Rings:
    """Shapes to which a path keeps a distance, with their corners (c, 2) and edges, and bounds.

    `leaving` (c, m, 2) are unit vectors along the edges at each corner, padded with zeros. `inner`
    are polygons wholly inside the rings: the quick test, in a third of the time.
    """

    shapes: shapely.Geometry
    inner: shapely.Geometry
    corners_mm: Array
    leaving: Array
    edges: Edges
    keep_mm: float
    bounds: Bounds | None

    @classmethod
    def about(cls, shapes: NDArray[Any], keep_mm: float, bounds: Bounds | None) -> Rings:
        """Returns the rings of `keep_mm` about polygons."""
        corners = corners_of(shapes)
        # Shapes may share corners; each needs only one circle.
        _, first = np.unique(np.round(corners, 6), axis=0, return_index=True)
        union = shapely.MultiPolygon(list(shapely.get_parts(shapes)))
        inner = shapely.Polygon()
        if keep_mm > _INNER_MM:
            inner = shapely.buffer(union, keep_mm - _INNER_MM, quad_segs=1)
        for geometry in (union, inner):
            shapely.prepare(geometry)
        corners, edges = corners[first], Edges.of(shapes)
        leaving = edges_leaving(corners, edges)
        return cls(union, inner, corners, leaving, edges, keep_mm, bounds)

    def is_open_at(self, circles: Indices, angles_rad: Array) -> Flags:
        """Whether angles (n,) on circles (n,) point away from the edges of their own corner."""
        # A ring has an arc of the circle only there: a cheap test that spares most tangents the
        # expensive one against all shapes.
        spokes = np.stack([np.cos(angles_rad), np.sin(angles_rad)], axis=-1)
        towards = np.einsum("nj,nmj->nm", spokes, self.leaving[circles])
        return np.asarray((towards <= _OPEN).all(axis=1))

    def is_free_at(self, points_mm: Array) -> Flags:
        """Whether points (n, 2) keep the distance; touching a ring is allowed."""
        return self._is_free(np.asarray(shapely.points(points_mm)))

    def is_free_along(self, begin_mm: Array, end_mm: Array) -> Flags:
        """Whether straight lines from (n, 2) to (n, 2) keep the distance."""
        return self._is_free(np.asarray(shapely.linestrings(np.stack([begin_mm, end_mm], axis=1))))

    def _is_free(self, shapes: NDArray[Any]) -> Flags:
        # The quick test first: whatever meets the inner polygons is not free.
        free = np.asarray(~shapely.intersects(self.inner, shapes))
        free[free] = ~shapely.dwithin(shapes[free], self.shapes, self.keep_mm - EXACT_MM)
        return free

    def is_inside(self, points_mm: Array) -> Flags:
        """Whether points (n, 2) lie within the bounds."""
        return is_inside(points_mm, self.bounds)
