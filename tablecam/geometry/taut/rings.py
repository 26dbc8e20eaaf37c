"""What a string keeps out of: rings of some distance about shapes, and all beyond bounds."""

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
"""How far inside of the rings polygons lie that stand for them where a rough test is enough."""

_OPEN = 1e-3
"""The cosine of what is still no angle towards an edge: well above rounding, it costs 20 nm."""


def is_inside(points_mm: Array, bounds: Bounds | None) -> Flags:
    """Whether points (..., 2) lie within bounds, or upon them."""
    if bounds is None:
        return np.ones(points_mm.shape[:-1], dtype=np.bool_)
    low, high = np.array(bounds[:2]) - EXACT_MM, np.array(bounds[2:]) + EXACT_MM
    return np.asarray(((points_mm >= low) & (points_mm <= high)).all(axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Rings:
    """What a string keeps its distance from: shapes, their corners (c, 2) and edges, and bounds.

    `leaving` (c, m, 2) are unit vectors along the edges that leave each corner, zeros after them.
    What meets `inner`, polygons wholly inside of the rings, meets the rings for certain: it is
    asked in a third of the time.
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
        """The rings of `keep_mm` about polygons."""
        corners = corners_of(shapes)
        _, first = np.unique(np.round(corners, 6), axis=0, return_index=True)
        together = shapely.MultiPolygon(list(shapely.get_parts(shapes)))
        inner = shapely.Polygon()
        if keep_mm > _INNER_MM:
            inner = shapely.buffer(together, keep_mm - _INNER_MM, quad_segs=1)
        for each in (together, inner):
            shapely.prepare(each)
        corners, edges = corners[first], Edges.of(shapes)
        leaving = edges_leaving(corners, edges)
        return cls(together, inner, corners, leaving, edges, keep_mm, bounds)

    def is_open_at(self, circles: Indices, angles_rad: Array) -> Flags:
        """Whether places on circles (n,) at angles (n,) keep clear of their own corners' edges.

        Nowhere else does a ring have that circle's arc: quick to ask, it spares most lines between
        circles the dearer question of all other shapes.
        """
        spokes = np.stack([np.cos(angles_rad), np.sin(angles_rad)], axis=-1)
        towards = np.einsum("nj,nmj->nm", spokes, self.leaving[circles])
        return np.asarray((towards <= _OPEN).all(axis=1))

    def is_free_at(self, points_mm: Array) -> Flags:
        """Whether points (n, 2) keep their distance; touching a ring is allowed."""
        return self._is_free(np.asarray(shapely.points(points_mm)))

    def is_free_along(self, begin_mm: Array, end_mm: Array) -> Flags:
        """Whether straight lines (n, 2) to (n, 2) keep their distance."""
        return self._is_free(np.asarray(shapely.linestrings(np.stack([begin_mm, end_mm], axis=1))))

    def _is_free(self, shapes: NDArray[Any]) -> Flags:
        free = np.asarray(~shapely.intersects(self.inner, shapes))
        free[free] = ~shapely.dwithin(shapes[free], self.shapes, self.keep_mm - EXACT_MM)
        return free

    def is_inside(self, points_mm: Array) -> Flags:
        """Whether points (n, 2) lie within the bounds."""
        return is_inside(points_mm, self.bounds)
