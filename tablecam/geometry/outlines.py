"""Footprints, front edges, front lines and flank lines as shapely geometry in table millimetres.

Defined by G-1, G-3 and G-7 of the rule sheet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.geometry.rectangles import rectangles
from tablecam.table.formation import front_rank
from tablecam.table.headings import forward, mean_deg, right
from tablecam.table.model import BasePose, Point, TableSize, Unit

Array = NDArray[np.float64]

SEAM_MM = 1.0
"""Bases of one unit closer than this count as edge to edge; measured gaps are noise (G-7)."""

GRID_MM = 1e-6
"""The grid for overlays: it merges edges that differ only by rounding."""

_FAR_MM = 1e5
"""The half length of infinite lines, longer than any table."""

FIT_LIMIT_DEG = 15.0
"""The largest angle between a fitted front line and the unit's bases; beyond it, the unit is out of
formation."""


@dataclass(frozen=True, slots=True)
class Axes:
    """A unit's front edge from left to right, and its heading.

    The front line is the infinite line through the front edge; the flank lines run through its
    ends along the heading (G-3).
    """

    left_mm: Point
    right_mm: Point
    heading_deg: float

    @property
    def edge(self) -> shapely.LineString:
        """The front edge."""
        return shapely.LineString([self.left_mm, self.right_mm])

    @property
    def middle_mm(self) -> Point:
        """The middle of the front edge."""
        (left_x, left_y), (right_x, right_y) = self.left_mm, self.right_mm
        return (left_x + right_x) / 2, (left_y + right_y) / 2

    def ahead_mm(self, points_mm: ArrayLike) -> Array:
        """Returns how far points (n, 2) lie ahead of the front line, negative behind it (G-4)."""
        left, along = np.array(self.left_mm), self._along
        normal = np.array([-along[1], along[0]])
        return np.asarray((np.asarray(points_mm, dtype=np.float64) - left) @ normal)

    def outside_mm(self, points_mm: ArrayLike) -> Array:
        """Returns how far points (n, 2) lie outside the flank lines, negative between them."""
        across = np.array(right(self.heading_deg))
        points_across = np.asarray(points_mm, dtype=np.float64) @ across
        left, end = np.array(self.left_mm) @ across, np.array(self.right_mm) @ across
        return np.asarray(np.maximum(left - points_across, points_across - end))

    @property
    def _along(self) -> Array:
        edge = np.subtract(self.right_mm, self.left_mm)
        return np.asarray(edge / np.hypot(*edge))


def corners(base: BasePose) -> tuple[Point, Point, Point, Point]:
    """Returns a base's corners: front left, front right, rear right, rear left."""
    (to_x, to_y), (right_x, right_y) = forward(base.heading_deg), right(base.heading_deg)
    ahead_x, ahead_y = to_x * base.depth_mm / 2, to_y * base.depth_mm / 2
    beside_x, beside_y = right_x * base.width_mm / 2, right_y * base.width_mm / 2
    x, y = base.x_mm, base.y_mm
    return (
        (x + ahead_x - beside_x, y + ahead_y - beside_y),
        (x + ahead_x + beside_x, y + ahead_y + beside_y),
        (x - ahead_x + beside_x, y - ahead_y + beside_y),
        (x - ahead_x - beside_x, y - ahead_y - beside_y),
    )


def rim(base: BasePose) -> Array:
    """Returns a base's outline (k, 2): its corners, or the chords of its ellipse."""
    if base.shape == "rectangle":
        return np.array(corners(base))
    return np.asarray(shapely.get_coordinates(rectangles([base]).outlines())[:-1])


def footprint(base: BasePose) -> shapely.Polygon:
    """Returns the rectangle of a base (G-1), or its ellipse."""
    return shapely.Polygon(rim(base))


def bases_footprint(unit: Unit) -> shapely.MultiPolygon:
    """Returns the separate rectangles of a unit's bases, for measuring distances."""
    return shapely.MultiPolygon([footprint(base) for base in unit.bases])


def unit_footprint(unit: Unit) -> shapely.Polygon:
    """Returns the union of a unit's bases with closed seams (G-1, G-7).

    A multipolygon if the unit is broken up. Mitred joins restore corners exactly, so a single base
    keeps its rectangle.
    """
    return unit_footprints([[footprint(base) for base in unit.bases]])[0]


def unit_footprints(bases: Sequence[Sequence[shapely.Polygon]]) -> list[shapely.Polygon]:
    """Returns `unit_footprint` of many units at once, from the rectangles of their bases."""
    counts = [len(rects) for rects in bases]
    # Rows are padded with None, which a union ignores.
    by_unit = np.full((len(bases), max(counts, default=0)), None, dtype=object)
    for row, rects in enumerate(bases):
        by_unit[row, : counts[row]] = rects
    grown = shapely.buffer(by_unit, SEAM_MM / 2, join_style="mitre")
    # On a grid: a plain union may silently drop a base whose edge coincides with another's but for
    # rounding, as GEOS 3.14 does with four of 33 x 76 mm in two ranks at a heading of 0.75 degrees.
    union = shapely.union_all(grown, axis=1, grid_size=GRID_MM)
    # Growing and shrinking by half a seam closes gaps and keeps the outer edges.
    closed = np.asarray(shapely.buffer(union, -SEAM_MM / 2, join_style="mitre"), dtype=object)
    return [*closed.tolist()]


def axes(what: Unit | BasePose) -> Axes:
    """Returns the axes of a unit, fitted to its front rank, or of one base.

    The front line of two or more bases is fitted through the middles of their front edges and ends
    at their outermost front corners; a column's is that of its leading base (G-3).
    """
    if isinstance(what, BasePose):
        left, end, *_ = corners(what)
        return Axes(left, end, what.heading_deg)
    rank = [what.bases[index] for index in front_rank(what)]
    if len(rank) == 1:
        return axes(rank[0])
    # The heading is the mean over all bases, because each one's heading is measured separately.
    heading_deg = mean_deg(base.heading_deg for base in what.bases)
    fronts = [corners(base)[:2] for base in rank]
    middles = [((x + to_x) / 2, (y + to_y) / 2) for (x, y), (to_x, to_y) in fronts]
    (x, y), (along_x, along_y) = _fitted_line(middles, heading_deg)
    ends_mm = [
        (end_x - x) * along_x + (end_y - y) * along_y for front in fronts for end_x, end_y in front
    ]
    left_mm, right_mm = (
        (x + along_x * end_mm, y + along_y * end_mm) for end_mm in (min(ends_mm), max(ends_mm))
    )
    return Axes(left_mm, right_mm, heading_deg)


def front_edge(what: Unit | BasePose) -> shapely.LineString:
    """Returns the front edge, from left to right (G-3)."""
    return axes(what).edge


def front_line(what: Unit | BasePose, table: TableSize) -> shapely.LineString:
    """Returns the line through the front edge, from left to right, clipped to the table.

    Empty if it misses the table.
    """
    front = axes(what)
    along = np.subtract(front.right_mm, front.left_mm)
    along = along / np.hypot(*along) * _FAR_MM
    return _on_table([np.subtract(front.left_mm, along), np.add(front.right_mm, along)], table)


def flank_lines(
    what: Unit | BasePose, table: TableSize
) -> tuple[shapely.LineString, shapely.LineString]:
    """Returns the left and the right flank line, from rear to front, clipped to the table."""
    front = axes(what)
    ahead = np.array(forward(front.heading_deg)) * _FAR_MM
    left, end = (
        _on_table([np.subtract(through, ahead), np.add(through, ahead)], table)
        for through in (front.left_mm, front.right_mm)
    )
    return left, end


def common_area(a: shapely.Geometry, b: shapely.Geometry) -> shapely.Geometry:
    """Returns the common area of two areas, without shared edges and points."""
    # An intersection may mix areas, lines and points, which overlays on a grid do not accept.
    return shapely.buffer(shapely.intersection(a, b, grid_size=GRID_MM), 0.0)


def table_outline(table: TableSize) -> shapely.Polygon:
    """Returns the play area."""
    return shapely.box(0, 0, table.width_mm, table.depth_mm)


def _fitted_line(points: Sequence[Point], heading_deg: float) -> tuple[Point, Point]:
    """Fits a line to points by total least squares: a point on it, and its direction rightward.

    If no line near the perpendicular of the heading fits, as for a broken-up unit, returns that
    perpendicular through the foremost point.
    """
    (right_x, right_y), (ahead_x, ahead_y) = right(heading_deg), forward(heading_deg)
    x, y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
    local = [
        ((at_x - x) * right_x + (at_y - y) * right_y, (at_x - x) * ahead_x + (at_y - y) * ahead_y)
        for at_x, at_y in points
    ]
    covariance = math.fsum(across * ahead for across, ahead in local)
    variances = math.fsum(across * across - ahead * ahead for across, ahead in local)
    # The principal axis of the points, relative to the perpendicular of the heading.
    askew_rad = math.atan2(2 * covariance, variances) / 2
    if abs(askew_rad) > math.radians(FIT_LIMIT_DEG):
        # Not in formation: use the perpendicular through the foremost base instead.
        foremost = max(range(len(points)), key=lambda index: local[index][1])
        return points[foremost], (right_x, right_y)
    cos, sin = math.cos(askew_rad), math.sin(askew_rad)
    return (x, y), (cos * right_x + sin * ahead_x, cos * right_y + sin * ahead_y)


def _on_table(ends: Sequence[Array], table: TableSize) -> shapely.LineString:
    line = shapely.intersection(shapely.LineString(ends), table_outline(table))
    return line if isinstance(line, shapely.LineString) else shapely.LineString()
