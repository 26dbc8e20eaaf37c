"""Wheels and straight moves of a front: its end, the area it sweeps, and the obstacles there.

A wheel turns a unit about one end of its front edge while the other end moves forward; its length
is the arc of that end. A straight move goes along the heading. Arcs are divided into chords that
are accurate to 0.05 mm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.table.headings import forward
from tablecam.table.model import Point

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

Corner = Literal["left", "right"]
"""The end of the front edge that stands still, which is the side that the unit turns to."""

CORNERS: tuple[Corner, Corner] = ("left", "right")

_STEP_MM = 0.25
"""The step between arcs in the search for the wheel that leads to a front."""
_FAR_MM = 2e4
"""A length beyond any table."""
ARC_ERROR_MM = 0.05
"""The largest distance of a chord from its arc."""


def front_width_mm(front: Axes) -> float:
    """Returns the length of a front edge."""
    return math.dist(front.left_mm, front.right_mm)


def pivot_mm(front: Axes, corner: Corner) -> Point:
    """Returns the point about which a front wheels."""
    return front.left_mm if corner == "left" else front.right_mm


def turned_deg(front: Axes, corner: Corner, arc_mm: float) -> float:
    """Returns the turn of a front, counter-clockwise, in a wheel forward along an arc."""
    angle_deg = math.degrees(arc_mm / front_width_mm(front))
    return angle_deg if corner == "left" else -angle_deg


def wheeled(front: Axes, corner: Corner, arc_mm: float) -> Axes:
    """Returns a front after a wheel forward.

    >>> front = wheeled(Axes((0, 0), (100, 0), 90), "left", 50 * math.pi)
    >>> [round(value, 6) for value in (*front.right_mm, front.heading_deg)]
    [0.0, 100.0, 180.0]
    """
    angle_deg, about = turned_deg(front, corner, arc_mm), pivot_mm(front, corner)
    left, end = rotated([front.left_mm, front.right_mm], about, angle_deg).tolist()
    return Axes((left[0], left[1]), (end[0], end[1]), front.heading_deg + angle_deg)


def advanced(front: Axes, length_mm: float) -> Axes:
    """Returns a front after a move straight ahead."""
    step = np.array(forward(front.heading_deg)) * length_mm
    left, end = np.add(front.left_mm, step).tolist(), np.add(front.right_mm, step).tolist()
    return Axes((left[0], left[1]), (end[0], end[1]), front.heading_deg)


def rotated(points_mm: ArrayLike, about_mm: Point, angle_deg: float) -> Array:
    """Rotates points (n, 2) counter-clockwise about a point."""
    turn_rad = math.radians(angle_deg)
    cos, sin = math.cos(turn_rad), math.sin(turn_rad)
    offsets = np.asarray(points_mm, dtype=np.float64) - about_mm
    return np.asarray(offsets @ np.array([[cos, sin], [-sin, cos]]) + about_mm)


def _rotations(turns_rad: Array) -> Array:
    """Returns the matrices (k, 2, 2) that rotate row vectors counter-clockwise from the right."""
    cos, sin = np.cos(turns_rad), np.sin(turns_rad)
    return np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)


def lane(front: Axes, length_mm: float, *, behind_mm: float = 0.0) -> shapely.Polygon:
    """Returns the area that a front edge sweeps on a move straight ahead.

    It runs between the flank lines from `behind_mm` behind the front line to `length_mm` ahead.
    """
    ahead = np.array(forward(front.heading_deg))
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    back, far = ahead * behind_mm, ahead * length_mm
    return shapely.Polygon([left - back, end - back, end + far, left + far])


def room_ahead_mm(front: Axes, obstacles: Sequence[shapely.Geometry], reach_mm: float) -> float:
    """Returns how far ahead of a front the first obstacle within reach lies, else infinity."""
    met = shapely.intersection(lane(front, reach_mm), np.array(obstacles, dtype=object))
    from_left = shapely.get_coordinates(met) - front.left_mm
    return float((from_left @ np.array(forward(front.heading_deg))).min(initial=math.inf))


def lane_corners_mm(front: Axes, corner: Corner, arcs_mm: Array, lengths_mm: Array) -> Array:
    """Returns the corners (k, 4, 2) of lanes of lengths (k,) after wheels of arcs (k,)."""
    turns_rad = np.radians(turned_deg(front, corner, 1.0) * arcs_mm)
    pivot = np.array(pivot_mm(front, corner))
    turn = _rotations(turns_rad)
    ends = (np.array([front.left_mm, front.right_mm]) - pivot) @ turn + pivot
    steps = (np.array(forward(front.heading_deg)) @ turn) * lengths_mm[:, None]
    left, right = ends[:, 0], ends[:, 1]
    return np.stack([left, right, right + steps, left + steps], axis=1)


def arc_towards_mm(front: Axes, corner: Corner, goal: Axes, longest_mm: float) -> float:
    """Returns the arc after which a straight move ends nearest to another front, by grid search."""
    arcs_mm = np.minimum(np.arange(0.0, longest_mm + _STEP_MM / 2, _STEP_MM), longest_mm)
    fronts = lane_corners_mm(front, corner, arcs_mm, np.ones(len(arcs_mm)))
    # A unit length of lane gives the heading of each wheeled front.
    onward = fronts[:, 3] - fronts[:, 0]
    apart = np.array([goal.left_mm, goal.right_mm]) - fronts[:, :2]
    far_mm = (apart * onward[:, None]).sum(axis=-1).mean(axis=-1)
    # The straight move is free, so only the error across it counts.
    residual = apart - far_mm[:, None, None] * onward[:, None]
    return float(arcs_mm[np.linalg.norm(residual, axis=-1).max(axis=-1).argmin()])


def all_ahead(front: Axes, reach_mm: float) -> shapely.Polygon:
    """Returns the rectangle ahead of the front line that extends a reach beyond the front edge."""
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    along = (end - left) / front_width_mm(front) * reach_mm
    ahead = np.array([-along[1], along[0]])
    return shapely.Polygon([left - along, end + along, end + along + ahead, left - along + ahead])


def swept_straight(
    shapes: Sequence[shapely.Polygon], heading_deg: float, length_mm: float
) -> shapely.Geometry:
    """Returns the area that convex shapes sweep on a straight move, start and end included."""
    return shapely.union_all(straight_parts(shapes, heading_deg, length_mm), grid_size=GRID_MM)


def straight_parts(
    shapes: Sequence[shapely.Polygon], heading_deg: float, length_mm: float
) -> NDArray[np.object_]:
    """Returns the area that convex shapes sweep on a straight move, one part per shape."""
    step = np.array(forward(heading_deg)) * length_mm
    corners = shapely.get_coordinates(list(shapes))
    return _hulls(shapes, np.stack([corners, corners + step]))


@dataclass(frozen=True, slots=True, eq=False)
class OverlapsAhead:
    """The intervals (k,) of a straight move in which shapes overlap others by over a sliver.

    `clear_mm` (k,) is where they separate completely.
    """

    from_mm: Array
    to_mm: Array
    clear_mm: Array

    def entered_mm(self, way_mm: float) -> float | None:
        """Returns where they first overlap on a move of that length; None if they never do."""
        is_met = (self.from_mm < way_mm - EXACT_MM) & (self.to_mm > EXACT_MM)
        return float(self.from_mm[is_met].min()) if is_met.any() else None

    def freed_mm(self, way_mm: float) -> float:
        """Returns the move's length, or where they separate if they overlap at its end."""
        is_overlapping = (self.from_mm < way_mm - EXACT_MM) & (self.to_mm > way_mm + EXACT_MM)
        return float(self.clear_mm[is_overlapping].max(initial=way_mm))


def overlaps_ahead(
    corners_mm: Array, others_mm: Array, towards: Point, sliver_mm: float
) -> OverlapsAhead:
    """Returns where rectangles (n, 4, 2) moving along a unit vector overlap others (m, 4, 2).

    They overlap where the move lies in their Minkowski difference: the hull of all differences of
    their corners.
    """
    shifts_mm = others_mm[None, :, None] - corners_mm[:, None, :, None]
    shifts = np.asarray(shapely.linestrings(shifts_mm.reshape(-1, 16, 2)), dtype=object)
    areas = np.asarray(shapely.convex_hull(shifts), dtype=object)
    # Shapes that overlap already count only if they get a sliver deeper.
    here = shapely.Point(0.0, 0.0)
    now_mm = np.where(
        shapely.contains(areas, here), shapely.distance(shapely.boundary(areas), here), 0.0
    )
    deep = shapely.buffer(areas, -sliver_mm - now_mm, join_style="mitre")
    from_mm, to_mm = _interval(np.asarray(deep, dtype=object), np.array(towards))
    return OverlapsAhead(from_mm, to_mm, _interval(areas, np.array(towards))[1])


def _interval(areas: NDArray[np.object_], towards: Array) -> tuple[Array, Array]:
    """Returns the intervals (k,) of a move within convex areas; infinite where it misses them."""
    way = shapely.LineString(np.outer([-_FAR_MM, _FAR_MM], towards))
    ends, owners = shapely.get_coordinates(shapely.intersection(areas, way), return_index=True)
    from_mm, to_mm = np.full(len(areas), np.inf), np.full(len(areas), -np.inf)
    np.minimum.at(from_mm, owners, ends @ towards)
    np.maximum.at(to_mm, owners, ends @ towards)
    return from_mm, to_mm


@dataclass(frozen=True, slots=True, eq=False)
class Barred:
    """Ground that may not be entered by more than a sliver.

    `deep` is `area` shrunk by half a sliver: a shape shrunk in the same way enters the area by more
    than a sliver where it meets `deep`.
    """

    area: shapely.Geometry
    deep: shapely.Geometry
    sliver_mm: float

    @property
    def is_nowhere(self) -> bool:
        """Whether there is no such ground."""
        return bool(shapely.is_empty(self.area))

    def is_entered(self, lanes_mm: Array) -> Flags:
        """Returns which lanes, by their corners (k, 4, 2), lead into it."""
        left, right, _, far = np.moveaxis(lanes_mm, 1, 0)
        wide, long = right - left, far - left
        lengths_mm = np.hypot(*long.T)
        is_entered: Flags = lengths_mm > self.sliver_mm
        across = wide[is_entered] / np.hypot(*wide[is_entered].T)[:, None]
        ahead = long[is_entered] / lengths_mm[is_entered, None]
        inward = np.stack([across + ahead, ahead - across, -across - ahead, across - ahead], axis=1)
        inner = shapely.polygons(lanes_mm[is_entered] + inward * self.sliver_mm / 2)
        is_entered[is_entered] = shapely.intersects(self.deep, inner)
        return is_entered

    def edges_before(self, outline: shapely.Geometry, far_mm: float) -> Array:
        """Returns its edges (e, 2, 2) whose boxes come within a distance of a shape.

        Ground under the shape itself does not count.
        """
        if self.is_nowhere or not shapely.dwithin(self.area, outline, far_mm):
            return np.empty((0, 2, 2))
        deep = self.deep
        if shapely.intersects(self.area, outline):
            rest = shapely.difference(self.area, outline, grid_size=GRID_MM)
            deep = shapely.buffer(rest, -self.sliver_mm / 2)
        rings = shapely.get_rings(shapely.get_parts(deep))
        points, of_ring = shapely.get_coordinates(rings, return_index=True)
        goes_on = of_ring[1:] == of_ring[:-1]
        edges = np.stack([points[:-1][goes_on], points[1:][goes_on]], axis=1)
        low, high = np.split(shapely.bounds(outline), 2)
        is_near = (edges.min(axis=1) <= high + far_mm) & (edges.max(axis=1) >= low - far_mm)
        return np.asarray(edges[is_near.all(axis=1)])


@lru_cache(maxsize=64)
def barred_by(areas: tuple[shapely.Geometry, ...], sliver_mm: float) -> Barred:
    """Merges barred areas; cached, as many units and all their draws share the same areas."""
    area = shapely.union_all(areas, grid_size=GRID_MM) if areas else shapely.Polygon()
    deep = shapely.buffer(area, -sliver_mm / 2)
    shapely.prepare(deep)
    return Barred(area, deep, sliver_mm)


def swept_by_wheel(
    shapes: Sequence[shapely.Polygon], about_mm: Point, angle_deg: float
) -> shapely.Geometry:
    """Returns the area that convex shapes sweep in a turn about a point, both ends included."""
    return shapely.union_all(wheel_parts(shapes, about_mm, angle_deg), grid_size=GRID_MM)


def wheel_parts(
    shapes: Sequence[shapely.Polygon],
    about_mm: Point,
    angle_deg: float,
    *,
    error_mm: float = ARC_ERROR_MM,
) -> NDArray[np.object_]:
    """Returns the area that convex shapes sweep in a wheel, as overlapping parts, one per chord.

    No chord lies farther from its arc than `error_mm`.
    """
    corners = shapely.get_coordinates(list(shapes))
    # The farthest corner has the largest arc, so its chords are accurate enough for all.
    farthest_mm = float(np.linalg.norm(corners - about_mm, axis=1).max(initial=0.0))
    turn_rad = math.radians(angle_deg)
    turns_rad = np.linspace(0.0, turn_rad, _chords(farthest_mm, turn_rad, error_mm) + 1)
    return _hulls(shapes, (corners - about_mm) @ _rotations(turns_rad) + about_mm)


def _hulls(shapes: Sequence[shapely.Polygon], positions: Array) -> NDArray[np.object_]:
    """Returns the convex hull of each shape at each two successive positions (p, m, 2)."""
    owners = np.repeat(np.arange(len(shapes)), shapely.get_num_coordinates(list(shapes)))
    # Shape by shape, the corners at one position and then those at the next.
    order = np.argsort(np.tile(owners, 2), kind="stable")
    pairs = np.concatenate([positions[:-1], positions[1:]], axis=1)[:, order]
    hops = np.arange(len(pairs))[:, None] * len(shapes)
    part_of = (hops + np.tile(owners, 2)[order]).ravel()
    lines = shapely.linestrings(pairs.reshape(-1, 2), indices=part_of)
    return np.asarray(shapely.convex_hull(lines), dtype=np.object_)


def _chords(radius_mm: float, angle_rad: float, error_mm: float) -> int:
    """Returns the number of chords for an arc that keeps them within the error."""
    if radius_mm <= error_mm:
        return 1
    # The chord of an angle t lies r (1 - cos(t / 2)) inside its arc.
    most_rad = 2.0 * math.acos(1.0 - error_mm / radius_mm)
    return max(1, math.ceil(abs(angle_rad) / most_rad))
