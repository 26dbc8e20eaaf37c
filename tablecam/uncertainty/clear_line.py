"""Finds straight lines between two units that do not pass through barriers.

A barrier may separate the nearest points of two units while other points see each other. The
shortest clear line is either a local minimum of the length or touches a corner of a barrier. All
lines of both kinds are tried; those at a corner are rotated about it to their minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely

from tablecam.geometry.outlines import footprint, rim
from tablecam.geometry.rectangles import Array, Rectangles, rectangles
from tablecam.geometry.shapes import shapes_of
from tablecam.geometry.sight import free_line
from tablecam.table.model import BasePose, Position, Unit
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.lengths import Length, distance

_SKIN_MM = 1e-4
"""Depth below which a barrier does not block: a line may run along its edge."""
_SAME_RAD = 1e-12
_GOLDEN_STEPS = 80
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def shortest_clear_line(
    a: Unit | BasePose, b: Unit | BasePose, barriers: shapely.Geometry
) -> Length | None:
    """Returns the shortest line between `a` and `b` outside the interior of `barriers`.

    None if there is no such line. Its standard deviation is that of the unobstructed distance.

    Raises:
        ValueError: `a` or `b` is a unit without a base on the table.
    """
    plain = distance(a, b)
    inside = shapely.buffer(barriers, -_SKIN_MM, join_style="mitre")
    shapely.prepare(inside)
    line = shapely.LineString([plain.from_mm, plain.to_mm])
    if not shapely.intersects(inside, line):
        return plain
    rects_a, rects_b = rectangles([a]), rectangles([b])
    ends = np.concatenate(
        [_unobstructed_lines(a, b), _lines_at_corners(rects_a, rects_b, barriers, inside)]
    )
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    clear = ~shapely.intersects(inside, shapely.linestrings(ends))
    if not clear.any():
        return None
    best = int(np.argmin(np.where(clear, lengths, np.inf)))
    (x_a, y_a), (x_b, y_b) = ends[best].tolist()
    return Length(float(lengths[best]), plain.sigma_mm, (x_a, y_a), (x_b, y_b))


BLOCKS_SIGHT = "blocks_sight"
"""The key by which a table file says that a piece of terrain blocks sight (`true`)."""

_UNSURE_SIGMAS = 1.645
"""Answers with a probability of 0.95 or more count as certain."""


def line_of_sight(position: Position, a: Unit, b: Unit) -> Answer | None:
    """Decides whether any part of `a` sees any part of `b`, on a table without a rulebook.

    Terrain blocks sight if the table file says so, but not for those who stand in it. The answer is
    too close to call if it changes as the terrain grows or shrinks by the uncertainty of the bases'
    places. None if nothing on the table blocks sight.

    Raises:
        ValueError: A unit has no base on the table.
    """
    pieces = [piece for piece in position.terrain if piece.extra.get(BLOCKS_SIGHT) is True]
    if not pieces:
        return None
    standing = shapely.points([base.place_mm for base in (*a.bases, *b.bases)])
    outlines = {piece.id: shapely.Polygon(piece.outline_mm) for piece in pieces}
    between = {
        name: outline
        for name, outline in outlines.items()
        if not shapely.intersects(outline, standing).any()
    }
    sigma_mm = distance(a, b).sigma_mm
    line = _sight(a, b, shapely.union_all([*between.values()]))
    # A unit hidden by more than the error stays hidden; one visible by more stays visible.
    by_mm = _UNSURE_SIGMAS * sigma_mm * (-1.0 if line is None else 1.0)
    changed = _sight(a, b, shapely.union_all([area.buffer(by_mm) for area in between.values()]))
    if (changed is None) != (line is None):
        why = f"whether {a.id} sees {b.id} is too close to call"
        return Answer("too_close", 0.0, sigma_mm, 0.5, "", why)
    if line is not None:
        evidence = shapes_of(line, "length")
        return Answer("yes", 0.0, sigma_mm, 1.0, "", f"{a.id} and {b.id} see each other", evidence)
    straight = shapely.shortest_line(*(shapely.union_all(_footprints(unit)) for unit in (a, b)))
    names = [name for name, area in between.items() if shapely.intersects(area, straight)]
    hidden_by = " and ".join(names or between)
    evidence = tuple(
        shape for name in names or between for shape in shapes_of(between[name], "blocker", name)
    )
    why = f"{hidden_by} hides {b.id} from {a.id}"
    return Answer("no", 0.0, sigma_mm, 0.0, "", why, evidence)


def _sight(a: Unit, b: Unit, blockers: shapely.Geometry) -> shapely.LineString | None:
    """Returns the shortest line from the width of a base of `a` to one of `b` past blockers."""
    lines = (
        free_line(_width_towards(base, other), footprint(other), blockers)
        for base in a.bases
        for other in b.bases
    )
    return min((line for line in lines if line is not None), key=shapely.length, default=None)


def _width_towards(base: BasePose, other: BasePose) -> shapely.LineString:
    """Returns a base's width as seen from another, through its centre, across the line of sight."""
    towards = np.subtract(other.place_mm, base.place_mm)
    length_mm = np.hypot(*towards)
    across = np.array([-towards[1], towards[0]]) / length_mm if length_mm else np.array([1.0, 0.0])
    middle = np.array(base.place_mm)
    reach = (rim(base) - middle) @ across
    return shapely.LineString([middle + reach.min() * across, middle + reach.max() * across])


def is_barred(length: Length, barriers: shapely.Geometry) -> bool:
    """Whether the line between a length's two points passes through the interior of barriers."""
    line = shapely.LineString([length.from_mm, length.to_mm])
    return bool(shapely.intersects(shapely.buffer(barriers, -_SKIN_MM, join_style="mitre"), line))


def _unobstructed_lines(a: Unit | BasePose, b: Unit | BasePose) -> Array:
    """Returns the lines from each corner of one unit to each base of the other, (n, 2, 2)."""
    bases_a, bases_b = _footprints(a), _footprints(b)
    from_a = shapely.shortest_line(_corner_points(bases_a)[:, None], bases_b[None, :])
    from_b = shapely.shortest_line(bases_a[:, None], _corner_points(bases_b)[None, :])
    lines = np.concatenate([np.ravel(from_a), np.ravel(from_b)])
    return np.asarray(shapely.get_coordinates(lines)).reshape(-1, 2, 2)


def _lines_at_corners(
    a: Rectangles, b: Rectangles, barriers: shapely.Geometry, inside: shapely.Geometry
) -> Array:
    """Returns the shortest lines through each corner of the barriers, (n, 2, 2)."""
    corners = np.unique(shapely.get_coordinates(barriers), axis=0)
    crossings = _crossings(a, b, barriers)
    lines = [_lines_at_corner(corner, a, b, corners, crossings, inside) for corner in corners]
    return np.concatenate([np.zeros((0, 2, 2)), *lines])


def _lines_at_corner(
    corner: Array,
    a: Rectangles,
    b: Rectangles,
    corners: Array,
    crossings: Array,
    inside: shapely.Geometry,
) -> Array:
    """Returns the shortest clear line through one corner, for each interval of angles."""
    # Between the angles at which the line meets another corner or crossing, its length is convex
    # in the angle and it is either clear or blocked throughout: one golden section per interval.
    ahead = np.concatenate([a.corners_mm().reshape(-1, 2), corners, crossings])
    behind = np.concatenate([b.corners_mm().reshape(-1, 2), corners, crossings])
    angles = np.concatenate([_angles(ahead - corner), _angles(corner - behind)])
    starts = np.unique(np.round(angles % (2 * np.pi), 13))
    ends = np.append(starts[1:], starts[0] + 2 * np.pi)
    middles = (starts + ends) / 2

    def lines(at_rad: Array) -> Array:
        return _lines_at(at_rad, corner, a, b)

    middle_lines = lines(middles)
    finite = np.flatnonzero(np.isfinite(middle_lines).all(axis=(1, 2)))
    clear = finite[~shapely.intersects(inside, shapely.linestrings(middle_lines[finite]))]
    if not len(clear):
        return np.zeros((0, 2, 2))
    at_rad = _shortest_angles(starts[clear] + _SAME_RAD, ends[clear] - _SAME_RAD, lines)
    best = lines(at_rad)
    return np.asarray(best[np.isfinite(best).all(axis=(1, 2))])


def _shortest_angles(low: Array, high: Array, lines: Any) -> Array:
    """Returns the angle of the shortest line in each interval, by golden-section search."""

    def lengths(at_rad: Array) -> Array:
        ends = lines(at_rad)
        return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))

    for _ in range(_GOLDEN_STEPS):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        left_is_shorter = lengths(first) <= lengths(second)
        low, high = np.where(left_is_shorter, low, first), np.where(left_is_shorter, second, high)
    return np.asarray((low + high) / 2)


def _lines_at(at_rad: Array, corner: Array, a: Rectangles, b: Rectangles) -> Array:
    """Returns the lines from `a` to `b` through a corner, `a` at each angle (n,): (n, 2, 2).

    Infinite where a line misses one of them.
    """
    direction = np.stack([np.cos(at_rad), np.sin(at_rad)], axis=1)
    to_a, to_b = _ray_lengths(corner, direction, a), _ray_lengths(corner, -direction, b)
    with np.errstate(invalid="ignore"):
        return np.stack(
            [corner + direction * to_a[:, None], corner - direction * to_b[:, None]], axis=1
        )


def _ray_lengths(origin: Array, directions: Array, rects: Rectangles) -> Array:
    """Returns how far rays (n, 2) from a point run to the first rectangle; infinite if none."""
    offsets = np.einsum("pij,pj->pi", rects.axes, origin - rects.centres_mm)
    slopes = np.einsum("pij,nj->npi", rects.axes, directions)
    # The slab method, with a tiny slope for 0 so that parallel rays need no special case.
    slopes = np.where(slopes == 0.0, 1e-300, slopes)
    with np.errstate(over="ignore"):
        near_face = (-rects.halves_mm - offsets) / slopes
        far_face = (rects.halves_mm - offsets) / slopes
    enter = np.minimum(near_face, far_face).max(axis=2)
    leave = np.maximum(near_face, far_face).min(axis=2)
    hit = (leave >= np.maximum(enter, 0.0)) & np.isfinite(enter)
    return np.asarray(np.where(hit, np.maximum(enter, 0.0), np.inf).min(axis=1))


def _crossings(a: Rectangles, b: Rectangles, barriers: shapely.Geometry) -> Array:
    """Returns where outlines of bases and barriers cross, (n, 2): lines may get blocked there."""
    outlines = np.asarray(shapely.polygons(np.concatenate([a.corners_mm(), b.corners_mm()])))
    edges = shapely.boundary(barriers)
    return np.asarray(
        shapely.get_coordinates(shapely.intersection(shapely.boundary(outlines), edges))
    )


def _angles(directions: Array) -> Array:
    nonzero = np.linalg.norm(directions, axis=1) > 0
    return np.asarray(np.arctan2(directions[nonzero, 1], directions[nonzero, 0]))


def _footprints(what: Unit | BasePose) -> np.ndarray[Any, np.dtype[np.object_]]:
    bases = (what,) if isinstance(what, BasePose) else what.bases
    return np.array([footprint(base) for base in bases], dtype=object)


def _corner_points(bases: np.ndarray[Any, np.dtype[np.object_]]) -> Any:
    return shapely.points(np.unique(shapely.get_coordinates(bases), axis=0))
