"""Wheels and straight moves of a front: where they bring it, and what it passes over.

A wheel turns a unit about one end of its front edge while the other end moves forward; its length
is the arc of that end. A straight move goes along the heading. Arcs are cut into chords that are
true to 0.05 mm.
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
"""The end of the front edge that stands still; the unit turns to that hand."""

ARC_ERROR_MM = 0.05
"""How far a chord may lie from its arc."""


def front_width_mm(front: Axes) -> float:
    """How wide a front edge is."""
    return math.dist(front.left_mm, front.right_mm)


def pivot_mm(front: Axes, corner: Corner) -> Point:
    """The place about which a front wheels."""
    return front.left_mm if corner == "left" else front.right_mm


def turned_deg(front: Axes, corner: Corner, arc_mm: float) -> float:
    """By how much a wheel forward of an arc turns a front, counter-clockwise."""
    angle_deg = math.degrees(arc_mm / front_width_mm(front))
    return angle_deg if corner == "left" else -angle_deg


def wheeled(front: Axes, corner: Corner, arc_mm: float) -> Axes:
    """A front after a wheel forward.

    >>> front = wheeled(Axes((0, 0), (100, 0), 90), "left", 50 * math.pi)
    >>> [round(value, 6) for value in (*front.right_mm, front.heading_deg)]
    [0.0, 100.0, 180.0]
    """
    angle_deg, about = turned_deg(front, corner, arc_mm), pivot_mm(front, corner)
    left, end = rotated([front.left_mm, front.right_mm], about, angle_deg).tolist()
    return Axes((left[0], left[1]), (end[0], end[1]), front.heading_deg + angle_deg)


def advanced(front: Axes, length_mm: float) -> Axes:
    """A front after a move straight ahead."""
    step = np.array(forward(front.heading_deg)) * length_mm
    left, end = np.add(front.left_mm, step).tolist(), np.add(front.right_mm, step).tolist()
    return Axes((left[0], left[1]), (end[0], end[1]), front.heading_deg)


def rotated(points_mm: ArrayLike, about_mm: Point, angle_deg: float) -> Array:
    """Points (n, 2) turned counter-clockwise about a place."""
    turn_rad = math.radians(angle_deg)
    cos, sin = math.cos(turn_rad), math.sin(turn_rad)
    offsets = np.asarray(points_mm, dtype=np.float64) - about_mm
    return np.asarray(offsets @ np.array([[cos, sin], [-sin, cos]]) + about_mm)


def _turns(turns_rad: Array) -> Array:
    """The matrices (k, 2, 2) by which rows are multiplied to turn them counter-clockwise."""
    cos, sin = np.cos(turns_rad), np.sin(turns_rad)
    return np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)


def lane(front: Axes, length_mm: float, *, behind_mm: float = 0.0) -> shapely.Polygon:
    """What a front edge passes over on its way straight ahead: all between the flank lines.

    From the front line, or a little behind it, to a length ahead of it.
    """
    ahead = np.array(forward(front.heading_deg))
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    back, far = ahead * behind_mm, ahead * length_mm
    return shapely.Polygon([left - back, end - back, end + far, left + far])


def lane_corners_mm(front: Axes, corner: Corner, arcs_mm: Array, lengths_mm: Array) -> Array:
    """The corners (k, 4, 2) of the lanes of some lengths (k,) after wheels of some arcs (k,)."""
    turns_rad = np.radians(turned_deg(front, corner, 1.0) * arcs_mm)
    pivot = np.array(pivot_mm(front, corner))
    turn = _turns(turns_rad)
    ends = (np.array([front.left_mm, front.right_mm]) - pivot) @ turn + pivot
    steps = (np.array(forward(front.heading_deg)) @ turn) * lengths_mm[:, None]
    left, right = ends[:, 0], ends[:, 1]
    return np.stack([left, right, right + steps, left + steps], axis=1)


def all_ahead(front: Axes, reach_mm: float) -> shapely.Polygon:
    """All ahead of the front line that is within a reach of the front edge."""
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    along = (end - left) / front_width_mm(front) * reach_mm
    ahead = np.array([-along[1], along[0]])
    return shapely.Polygon([left - along, end + along, end + along + ahead, left - along + ahead])


def swept_straight(
    shapes: Sequence[shapely.Polygon], heading_deg: float, length_mm: float
) -> shapely.Geometry:
    """What convex shapes pass over on a straight move, where they start and end included."""
    return shapely.union_all(straight_parts(shapes, heading_deg, length_mm), grid_size=GRID_MM)


def straight_parts(
    shapes: Sequence[shapely.Polygon], heading_deg: float, length_mm: float
) -> NDArray[np.object_]:
    """The parts of what convex shapes pass over on a straight move, shape by shape."""
    step = np.array(forward(heading_deg)) * length_mm
    corners = shapely.get_coordinates(list(shapes))
    return _parts(shapes, np.stack([corners, corners + step]))


def swept_by_wheel(
    shapes: Sequence[shapely.Polygon], about_mm: Point, angle_deg: float
) -> shapely.Geometry:
    """What convex shapes pass over when they turn about a place, their start and end included."""
    return shapely.union_all(wheel_parts(shapes, about_mm, angle_deg), grid_size=GRID_MM)


def wheel_parts(
    shapes: Sequence[shapely.Polygon],
    about_mm: Point,
    angle_deg: float,
    *,
    error_mm: float = ARC_ERROR_MM,
) -> NDArray[np.object_]:
    """The parts of what convex shapes pass over in a wheel, chord by chord: they overlap.

    No chord lies farther from its arc than an error.
    """
    corners = shapely.get_coordinates(list(shapes))
    farthest_mm = float(np.linalg.norm(corners - about_mm, axis=1).max(initial=0.0))
    turn_rad = math.radians(angle_deg)
    turns_rad = np.linspace(0.0, turn_rad, _chords(farthest_mm, turn_rad, error_mm) + 1)
    return _parts(shapes, (corners - about_mm) @ _turns(turns_rad) + about_mm)


def _parts(shapes: Sequence[shapely.Polygon], places: Array) -> NDArray[np.object_]:
    """The hulls of every shape at each two places, of all corners (p, m, 2), that follow."""
    owners = np.repeat(np.arange(len(shapes)), shapely.get_num_coordinates(list(shapes)))
    # Shape by shape, the corners at one place and then those at the next.
    order = np.argsort(np.tile(owners, 2), kind="stable")
    pairs = np.concatenate([places[:-1], places[1:]], axis=1)[:, order]
    hops = np.arange(len(pairs))[:, None] * len(shapes)
    part_of = (hops + np.tile(owners, 2)[order]).ravel()
    lines = shapely.linestrings(pairs.reshape(-1, 2), indices=part_of)
    return np.asarray(shapely.convex_hull(lines), dtype=np.object_)


def _chords(radius_mm: float, angle_rad: float, error_mm: float) -> int:
    """Into how many chords to cut an arc: one falls short of it by r (1 - cos(t / 2))."""
    if radius_mm <= error_mm:
        return 1
    most_rad = 2.0 * math.acos(1.0 - error_mm / radius_mm)
    return max(1, math.ceil(abs(angle_rad) / most_rad))
