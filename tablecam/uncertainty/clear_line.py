"""The shortest straight line between two things that does not pass through barriers.

Of two things with a barrier between them the nearest points may be barred while others are not.
Such a shortest line either is as short as any near it, or it runs past a corner of a barrier; so
all lines of both kinds are tried, those past a corner turned about it until they are shortest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely

from tablecam.geometry.outlines import footprint
from tablecam.geometry.rectangles import Array, Rectangles, rectangles
from tablecam.table.model import BasePose, Unit
from tablecam.uncertainty.lengths import Length, distance

_SKIN_MM = 1e-4
"""A line may run along a barrier's edge: only what lies deeper than this is inside."""
_SAME_RAD = 1e-12
_HALVINGS = 80
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def shortest_clear_line(
    a: Unit | BasePose, b: Unit | BasePose, barriers: shapely.Geometry
) -> Length | None:
    """The shortest line between `a` and `b` that goes through no inside of `barriers`.

    None where every line does. Its standard deviation is that of the plain distance.

    Raises:
        ValueError: One of them is a unit without a base on the table.
    """
    plain = distance(a, b)
    inside = shapely.buffer(barriers, -_SKIN_MM, join_style="mitre")
    shapely.prepare(inside)
    line = shapely.LineString([plain.from_mm, plain.to_mm])
    if not shapely.intersects(inside, line):
        return plain
    of_a, of_b = rectangles([a]), rectangles([b])
    ends = np.concatenate([_plain_ends(a, b), _ends_past_corners(of_a, of_b, barriers, inside)])
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    clear = ~shapely.intersects(inside, shapely.linestrings(ends))
    if not clear.any():
        return None
    best = int(np.argmin(np.where(clear, lengths, np.inf)))
    (x_a, y_a), (x_b, y_b) = ends[best].tolist()
    return Length(float(lengths[best]), plain.sigma_mm, (x_a, y_a), (x_b, y_b))


def is_barred(length: Length, barriers: shapely.Geometry) -> bool:
    """Whether the line between a length's two points passes through the inside of barriers."""
    line = shapely.LineString([length.from_mm, length.to_mm])
    return bool(shapely.intersects(shapely.buffer(barriers, -_SKIN_MM, join_style="mitre"), line))


def _plain_ends(a: Unit | BasePose, b: Unit | BasePose) -> Array:
    """From each corner of either to the nearest point of each base of the other: (n, 2, 2)."""
    bases_a, bases_b = _footprints(a), _footprints(b)
    there = shapely.shortest_line(_corner_points(bases_a)[:, None], bases_b[None, :])
    back = shapely.shortest_line(bases_a[:, None], _corner_points(bases_b)[None, :])
    lines = np.concatenate([np.ravel(there), np.ravel(back)])
    return np.asarray(shapely.get_coordinates(lines)).reshape(-1, 2, 2)


def _ends_past_corners(
    a: Rectangles, b: Rectangles, barriers: shapely.Geometry, inside: shapely.Geometry
) -> Array:
    """The shortest lines past each corner of the barriers, one a stretch of angles: (n, 2, 2)."""
    corners = np.unique(shapely.get_coordinates(barriers), axis=0)
    crossings = _crossings(a, b, barriers)
    found = [_turned_about(corner, a, b, corners, crossings, inside) for corner in corners]
    return np.concatenate([np.zeros((0, 2, 2)), *found])


def _turned_about(
    corner: Array,
    a: Rectangles,
    b: Rectangles,
    corners: Array,
    crossings: Array,
    inside: shapely.Geometry,
) -> Array:
    """The shortest lines past one corner.

    Between the angles at which the line meets another corner or crossing, its length is convex
    and whether it is clear does not change.
    """
    marks = np.concatenate([a.corners_mm().reshape(-1, 2), corners, crossings])
    other_marks = np.concatenate([b.corners_mm().reshape(-1, 2), corners, crossings])
    angles = np.concatenate([_angles(marks - corner), _angles(corner - other_marks)])
    starts = np.unique(np.round(angles % (2 * np.pi), 13))
    ends = np.append(starts[1:], starts[0] + 2 * np.pi)
    middles = (starts + ends) / 2

    def lines(at_rad: Array) -> Array:
        return _lines_at(at_rad, corner, a, b)

    tried = lines(middles)
    whole = np.flatnonzero(np.isfinite(tried).all(axis=(1, 2)))
    usable = whole[~shapely.intersects(inside, shapely.linestrings(tried[whole]))]
    if not len(usable):
        return np.zeros((0, 2, 2))
    at_rad = _shortest_angles(starts[usable] + _SAME_RAD, ends[usable] - _SAME_RAD, lines)
    best = lines(at_rad)
    return np.asarray(best[np.isfinite(best).all(axis=(1, 2))])


def _shortest_angles(low: Array, high: Array, lines: Any) -> Array:
    """By golden sections, where the lines of each stretch of angles are shortest."""

    def lengths(at_rad: Array) -> Array:
        ends = lines(at_rad)
        return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))

    for _ in range(_HALVINGS):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        left_is_shorter = lengths(first) <= lengths(second)
        low, high = np.where(left_is_shorter, low, first), np.where(left_is_shorter, second, high)
    return np.asarray((low + high) / 2)


def _lines_at(at_rad: Array, corner: Array, a: Rectangles, b: Rectangles) -> Array:
    """From `a` to `b` through a corner, `a` lying at each angle (n,): (n, 2, 2), or infinite."""
    along = np.stack([np.cos(at_rad), np.sin(at_rad)], axis=1)
    to_a, to_b = _reach(corner, along, a), _reach(corner, -along, b)
    with np.errstate(invalid="ignore"):
        return np.stack([corner + along * to_a[:, None], corner - along * to_b[:, None]], axis=1)


def _reach(origin: Array, along: Array, these: Rectangles) -> Array:
    """How far rays (n, 2) from a point go until the first of some rectangles; infinite past all."""
    offsets = np.einsum("pij,pj->pi", these.axes, origin - these.centres_mm)
    slopes = np.einsum("pij,nj->npi", these.axes, along)
    slopes = np.where(slopes == 0.0, 1e-300, slopes)
    with np.errstate(over="ignore"):
        one = (-these.halves_mm - offsets) / slopes
        other = (these.halves_mm - offsets) / slopes
    enter = np.minimum(one, other).max(axis=2)
    leave = np.maximum(one, other).min(axis=2)
    hit = (leave >= np.maximum(enter, 0.0)) & np.isfinite(enter)
    return np.asarray(np.where(hit, np.maximum(enter, 0.0), np.inf).min(axis=1))


def _crossings(a: Rectangles, b: Rectangles, barriers: shapely.Geometry) -> Array:
    """Where outlines cross the barriers' (n, 2): a line's end may become barred there."""
    outlines = np.asarray(shapely.polygons(np.concatenate([a.corners_mm(), b.corners_mm()])))
    edges = shapely.boundary(barriers)
    return np.asarray(
        shapely.get_coordinates(shapely.intersection(shapely.boundary(outlines), edges))
    )


def _angles(directions: Array) -> Array:
    apart = np.linalg.norm(directions, axis=1) > 0
    return np.asarray(np.arctan2(directions[apart, 1], directions[apart, 0]))


def _footprints(what: Unit | BasePose) -> np.ndarray[Any, np.dtype[np.object_]]:
    bases = (what,) if isinstance(what, BasePose) else what.bases
    return np.array([footprint(base) for base in bases], dtype=object)


def _corner_points(bases: np.ndarray[Any, np.dtype[np.object_]]) -> Any:
    return shapely.points(np.unique(shapely.get_coordinates(bases), axis=0))
