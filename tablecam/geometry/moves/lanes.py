"""Wheels and straight moves of a front: where it ends up, and the area it sweeps.

A wheel turns a unit about one end of its front edge while the other end moves forward; its length
is the arc of that end. A straight move goes along the heading. Arcs are divided into chords that
are accurate to 0.05 mm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.table.headings import forward
from tablecam.table.model import Point

Array = NDArray[np.float64]

Corner = Literal["left", "right"]
"""The end of the front edge that stands still, which is the side that the unit turns to."""

CORNERS: tuple[Corner, Corner] = ("left", "right")

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
