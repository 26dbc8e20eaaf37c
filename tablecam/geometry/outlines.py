"""Footprints, front edges, front lines and flank lines, as shapely geometry in table millimetres.

The definitions are those of the rule sheet's G-1, G-3 and G-7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.table.formation import front_rank
from tablecam.table.headings import forward, mean_deg, right
from tablecam.table.model import BasePose, Point, TableSize, Unit

Array = NDArray[np.float64]

SEAM_MM = 1.0
"""Bases of one unit closer than this are flush, whatever the camera sees between them (G-7)."""

GRID_MM = 1e-6
"""Overlays are rounded to this, so that edges which coincide but for rounding are one."""

_FAR_MM = 1e5
"""Farther than any table reaches: where an infinite line is cut off."""

FIT_LIMIT_DEG = 15.0
"""A front line fitted more askew than this is no line: the unit is not in formation."""


@dataclass(frozen=True, slots=True)
class Axes:
    """A unit's own axes: its front edge from left to right, and its heading.

    The front line is the infinite line through the front edge; the flank lines run through its
    ends along the heading (G-3).
    """

    left_mm: Point
    right_mm: Point
    heading_deg: float

    def ahead_mm(self, points_mm: ArrayLike) -> Array:
        """How far points (n, 2) lie ahead of the front line, (n,); negative behind it (G-4)."""
        left, along = np.array(self.left_mm), self._along
        normal = np.array([-along[1], along[0]])
        return np.asarray((np.asarray(points_mm, dtype=np.float64) - left) @ normal)

    def outside_mm(self, points_mm: ArrayLike) -> Array:
        """How far points (n, 2) lie outside of the flank lines, (n,); negative between them."""
        across = np.array(right(self.heading_deg))
        places = np.asarray(points_mm, dtype=np.float64) @ across
        left, end = np.array(self.left_mm) @ across, np.array(self.right_mm) @ across
        return np.asarray(np.maximum(left - places, places - end))

    @property
    def _along(self) -> Array:
        edge = np.subtract(self.right_mm, self.left_mm)
        return np.asarray(edge / np.hypot(*edge))


def corners(base: BasePose) -> tuple[Point, Point, Point, Point]:
    """A base's corners: front left, front right, rear right, rear left."""
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


def footprint(base: BasePose) -> shapely.Polygon:
    """The rectangle on which a base stands (G-1)."""
    return shapely.Polygon(corners(base))


def bases_footprint(unit: Unit) -> shapely.MultiPolygon:
    """The rectangles of a unit's bases, each by itself: what distances are taken between."""
    return shapely.MultiPolygon([footprint(base) for base in unit.bases])


def unit_footprint(unit: Unit, *, seam_mm: float = SEAM_MM) -> shapely.Polygon:
    """The union of a unit's bases, its seams closed (G-1, G-7); a multipolygon when broken up.

    Mitred joins give the corners back exactly, so a base standing alone stays its rectangle.
    """
    return unit_footprints([[footprint(base) for base in unit.bases]], seam_mm=seam_mm)[0]


def unit_footprints(
    bases: Sequence[Sequence[shapely.Polygon]], *, seam_mm: float = SEAM_MM
) -> list[shapely.Polygon]:
    """The same of many units at once, from the rectangles of their bases."""
    counts = [len(each) for each in bases]
    # Missing places are filled with nothing, which a union leaves out.
    of_units = np.full((len(bases), max(counts, default=0)), None, dtype=object)
    for row, each in enumerate(bases):
        of_units[row, : counts[row]] = each
    grown = shapely.buffer(of_units, seam_mm / 2, join_style="mitre")
    # On a grid: of bases flush to within rounding a plain union may lose one without a word, as
    # GEOS 3.14 does with four of 33 x 76 mm in two ranks at a heading of 0.75 degrees.
    union = shapely.union_all(grown, axis=1, grid_size=GRID_MM)
    closed = np.asarray(shapely.buffer(union, -seam_mm / 2, join_style="mitre"), dtype=object)
    return [*closed.tolist()]


def axes(what: Unit | BasePose) -> Axes:
    """The axes of a unit, from its front rank, or of one base by itself.

    The front line of two bases or more is fitted through the middles of their front edges, and
    ends at their outermost front corners; a column's is its leading base's alone (G-3).
    """
    if isinstance(what, BasePose):
        left, end, *_ = corners(what)
        return Axes(left, end, what.heading_deg)
    rank = [what.bases[index] for index in front_rank(what)]
    if len(rank) == 1:
        return axes(rank[0])
    heading_deg = mean_deg(base.heading_deg for base in what.bases)
    fronts = [corners(base)[:2] for base in rank]
    middles = [((x + to_x) / 2, (y + to_y) / 2) for (x, y), (to_x, to_y) in fronts]
    (x, y), (along_x, along_y) = _fitted_line(middles, heading_deg)
    reach_mm = [
        (end_x - x) * along_x + (end_y - y) * along_y for front in fronts for end_x, end_y in front
    ]
    left_mm, right_mm = (
        (x + along_x * far_mm, y + along_y * far_mm) for far_mm in (min(reach_mm), max(reach_mm))
    )
    return Axes(left_mm, right_mm, heading_deg)


def front_edge(what: Unit | BasePose) -> shapely.LineString:
    """The front edge, from left to right (G-3)."""
    found = axes(what)
    return shapely.LineString([found.left_mm, found.right_mm])


def rear_edge(what: Unit | BasePose) -> shapely.LineString:
    """The rear edge, from right to left: the front edge of the unit facing about (G-3)."""
    bases = (what,) if isinstance(what, BasePose) else what.bases
    faced = tuple(replace(base, heading_deg=base.heading_deg + 180.0) for base in bases)
    return front_edge(faced[0] if isinstance(what, BasePose) else replace(what, bases=faced))


def front_line(what: Unit | BasePose, table: TableSize) -> shapely.LineString:
    """The line through the front edge, from left to right, as far as the table goes.

    Empty when it misses the table.
    """
    found = axes(what)
    along = np.subtract(found.right_mm, found.left_mm)
    along = along / np.hypot(*along) * _FAR_MM
    return _on_table([np.subtract(found.left_mm, along), np.add(found.right_mm, along)], table)


def flank_lines(
    what: Unit | BasePose, table: TableSize
) -> tuple[shapely.LineString, shapely.LineString]:
    """The left and the right flank line, from rear to front, as far as the table goes."""
    found = axes(what)
    ahead = np.array(forward(found.heading_deg)) * _FAR_MM
    left, end = (
        _on_table([np.subtract(through, ahead), np.add(through, ahead)], table)
        for through in (found.left_mm, found.right_mm)
    )
    return left, end


def common_area(a: shapely.Geometry, b: shapely.Geometry) -> shapely.Geometry:
    """The area that two areas share, without the edges and points in which they merely meet.

    An intersection may be a mix of all three, and no overlay on a grid takes a mix.
    """
    return shapely.buffer(shapely.intersection(a, b, grid_size=GRID_MM), 0.0)


def table_outline(table: TableSize) -> shapely.Polygon:
    """The play area."""
    return shapely.box(0, 0, table.width_mm, table.depth_mm)


def _fitted_line(points: Sequence[Point], heading_deg: float) -> tuple[Point, Point]:
    """A point on the line through some points and its direction, rightward of a heading.

    The least squares of the distances to the line. Points that no line at right angles to the
    heading fits, as those of a broken-up unit, get that line through the foremost of them.
    """
    (right_x, right_y), (ahead_x, ahead_y) = right(heading_deg), forward(heading_deg)
    x, y = (math.fsum(each) / len(points) for each in zip(*points, strict=True))
    places = [
        ((at_x - x) * right_x + (at_y - y) * right_y, (at_x - x) * ahead_x + (at_y - y) * ahead_y)
        for at_x, at_y in points
    ]
    both = math.fsum(across * ahead for across, ahead in places)
    spread = math.fsum(across * across - ahead * ahead for across, ahead in places)
    askew_rad = math.atan2(2 * both, spread) / 2
    if abs(askew_rad) > math.radians(FIT_LIMIT_DEG):
        foremost = max(range(len(points)), key=lambda index: places[index][1])
        return points[foremost], (right_x, right_y)
    cos, sin = math.cos(askew_rad), math.sin(askew_rad)
    return (x, y), (cos * right_x + sin * ahead_x, cos * right_y + sin * ahead_y)


def _on_table(ends: Sequence[Array], table: TableSize) -> shapely.LineString:
    line = shapely.intersection(shapely.LineString(ends), table_outline(table))
    return line if isinstance(line, shapely.LineString) else shapely.LineString()
