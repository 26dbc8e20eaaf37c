"""Computes the area that a unit can reach, for drawing.

An approximation, unlike paths: wheels are sampled, and arcs are chords. It never decides whether a
move is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.lanes import (
    CORNERS,
    Corner,
    advanced,
    pivot_mm,
    rotated,
    straight_parts,
    turned_deg,
    wheel_parts,
    wheeled,
)
from tablecam.geometry.outlines import GRID_MM, Axes, common_area
from tablecam.geometry.taut_path import nearest_first
from tablecam.table.headings import forward
from tablecam.table.model import Point

Array = NDArray[np.float64]
Parts = NDArray[np.object_]
"""Overlapping convex shapes whose union is an area."""

_WHEELS = 8
"""Number of sampled wheels to either side."""
_BISECTIONS = 7
"""Bisections that locate an obstacle, to 1/128 of a step."""
_ARC_ERROR_MM = 0.25
"""The largest distance of a chord from its arc; less is invisible on a page."""
_RING_SEGMENTS = 6
_AROUND_RAD = np.linspace(0.0, 2 * np.pi, 64, endpoint=False)
"""Bearings that approximate a full circle."""
_HAIR_RAD = 1e-6
_AT_CORNER_MM = 1e-2
"""A point nearer to a corner than this counts as the corner."""
_AREA_MM2 = 1e-3


def wheeling_reach(
    front: Axes,
    shapes: Sequence[shapely.Polygon],
    limit_mm: float,
    *,
    barred: shapely.Geometry | None = None,
    sliver_mm: float = 0.5,
) -> shapely.Geometry:
    """Returns the area that shapes behind a front can sweep by wheel, straight move, wheel.

    Shapes are convex; they stop before they enter `barred` by more than a sliver.
    """
    walls = shapely.Polygon() if barred is None else shapely.buffer(barred, -sliver_mm)
    # Prepared, because many sweeps are tested against the same walls.
    shapely.prepare(walls)
    parts: list[Parts] = [np.asarray(shapes, dtype=object)]
    lanes: list[Parts] = []
    for corner, share in product(CORNERS, np.linspace(0.0, 1.0, _WHEELS + 1).tolist()):
        turned, turned_shapes, area = _wheel(front, shapes, corner, share * limit_mm, walls)
        if share == 1.0:  # Contains the areas of all shorter wheels.
            parts.append(area)
        rest_mm = (1.0 - share) * limit_mm
        halfway, halfway_shapes, _ = _ahead(turned, turned_shapes, rest_mm / 2, walls)
        parts += [_wheel(halfway, halfway_shapes, end, rest_mm / 2, walls)[2] for end in CORNERS]
        lanes.append(_ahead(turned, turned_shapes, rest_mm, walls)[2])
    all_parts = np.concatenate([*parts, *lanes, _between(lanes, walls)])
    return shapely.union_all(all_parts, grid_size=GRID_MM)


def _between(lanes: Sequence[Parts], walls: shapely.Geometry) -> Parts:
    """Returns the unobstructed hulls of pairs of lanes after neighbouring wheels."""
    pairs = [shapely.GeometryCollection([*one, *other]) for one, other in pairwise(lanes)]
    # The last lane to the left and the first to the right are not neighbours.
    del pairs[_WHEELS]
    hulls = np.asarray(shapely.convex_hull(pairs), dtype=object)
    return np.asarray(hulls[~shapely.intersects(walls, hulls)], dtype=object)


_Moved = tuple[Axes, Sequence[shapely.Polygon], Parts]


def _wheel(
    front: Axes,
    shapes: Sequence[shapely.Polygon],
    corner: Corner,
    arc_mm: float,
    walls: shapely.Geometry,
) -> _Moved:
    about, whole_deg = pivot_mm(front, corner), turned_deg(front, corner, arc_mm)
    share, area = _free_share(
        lambda part: wheel_parts(shapes, about, part * whole_deg, error_mm=_ARC_ERROR_MM), walls
    )
    moved = shapely.transform(
        list(shapes), lambda corners: rotated(corners, about, share * whole_deg)
    )
    return wheeled(front, corner, share * arc_mm), moved.tolist(), area


def _ahead(
    front: Axes, shapes: Sequence[shapely.Polygon], length_mm: float, walls: shapely.Geometry
) -> _Moved:
    share, area = _free_share(
        lambda part: straight_parts(shapes, front.heading_deg, part * length_mm), walls
    )
    step = np.multiply(forward(front.heading_deg), share * length_mm)
    moved = shapely.transform(list(shapes), lambda corners: corners + step)
    return advanced(front, share * length_mm), moved.tolist(), area


def _free_share(sweep: Callable[[float], Parts], walls: shapely.Geometry) -> tuple[float, Parts]:
    """Finds the largest share of a step that hits no wall, and the area swept by it."""
    parts = sweep(1.0)
    if not shapely.intersects(walls, parts).any():
        return 1.0, parts
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        # Bisection works because a longer step sweeps everything that a shorter one does.
        middle = (low + high) / 2
        if shapely.intersects(walls, sweep(middle)).any():
            high = middle
        else:
            low = middle
    return low, sweep(low)


def snaking_reach(
    start: Point,
    limit_mm: float,
    *,
    width_mm: float,
    around: Sequence[shapely.Geometry] = (),
    inside: shapely.Geometry | None = None,
) -> shapely.Geometry:
    """Returns the area that something `width_mm` wide can sweep on a path up to a length.

    The path bends around the shapes `around` and stays within `inside`.
    """
    keep_mm = width_mm / 2
    rings = _rings(start, limit_mm, around, keep_mm)
    edges = _edges(rings)
    # The middle reaches what is visible from the start or any corner within the remaining length.
    visible = [
        _visible_area(point, remaining_mm, edges, rings)
        for point, remaining_mm in _corners_in_reach(start, limit_mm, rings)
    ]
    reached = shapely.union_all(shapely.buffer(visible, 0.0), grid_size=GRID_MM)
    covered = shapely.buffer(reached, keep_mm, quad_segs=16)
    return covered if inside is None else common_area(covered, inside)


def _rings(
    start: Point, limit_mm: float, around: Sequence[shapely.Geometry], keep_mm: float
) -> shapely.Geometry:
    """Returns the nearby shapes grown by `keep_mm`, which the middle of the path avoids."""
    point = shapely.Point(start)
    near = [shape for shape in around if shapely.dwithin(shape, point, limit_mm + keep_mm)]
    grown = [shapely.buffer(shape, keep_mm, quad_segs=_RING_SEGMENTS) for shape in near]
    rings = shapely.union_all(grown, grid_size=GRID_MM)
    # A start inside a ring may leave it.
    return shapely.difference(rings, shapely.buffer(point, keep_mm), grid_size=GRID_MM)


def _corners_in_reach(
    start: Point, limit_mm: float, rings: shapely.Geometry
) -> Iterator[tuple[Array, float]]:
    """Yields the start and the reachable corners of rings, with the length that remains there."""
    corners = shapely.get_coordinates(rings)
    points = np.concatenate([np.array([start]), np.unique(corners, axis=0)])
    first, second = np.triu_indices(len(points), k=1)
    lengths = np.linalg.norm(points[first] - points[second], axis=1)
    short = lengths <= limit_mm
    first, second, lengths = first[short], second[short], lengths[short]
    lines = shapely.linestrings(np.stack([points[first], points[second]], axis=1))
    # Eroded, so that lines along a ring, from corner to corner, are free.
    inner = shapely.buffer(rings, -_AREA_MM2)
    shapely.prepare(inner)
    free = np.flatnonzero(~shapely.intersects(inner, lines))
    hops = [(int(first[i]), int(second[i]), float(lengths[i])) for i in free]
    for cost_mm, route in nearest_first(hops, 0):
        if cost_mm > limit_mm:
            return
        yield points[route[-1]], limit_mm - cost_mm


def _edges(rings: shapely.Geometry) -> Array:
    """Returns the edges (e, 2, 2) of rings, each from corner to corner."""
    points, ring = shapely.get_coordinates(
        shapely.get_rings(shapely.get_parts(rings)), return_index=True
    )
    is_edge = ring[1:] == ring[:-1]
    return np.stack([points[:-1][is_edge], points[1:][is_edge]], axis=1)


def _visible_area(
    point: Array, reach_mm: float, edges: Array, rings: shapely.Geometry
) -> shapely.Polygon:
    """Returns the area visible from a point within a reach; it may lie on a ring, not inside.

    Rays go to each corner in reach, a hair to either side of it, and all around.
    """
    near = edges[np.linalg.norm(edges[:, 0] - point, axis=1) <= reach_mm + _longest_mm(edges)]
    to_corners = near[:, 0] - point
    bearings = np.arctan2(to_corners[:, 1], to_corners[:, 0])
    # Just beside a corner a ray passes it, so the visible outline jumps exactly there.
    bearings = np.concatenate([_AROUND_RAD, *(bearings + hair for hair in (-_HAIR_RAD, _HAIR_RAD))])
    bearings = np.sort(bearings % (2 * np.pi))
    rays = np.stack([np.cos(bearings), np.sin(bearings)], axis=1)
    lengths_mm = _ray_lengths_mm(rays, near - point, reach_mm)
    # A ray from a ring's corner into the ring sees nothing.
    probes = point + rays * np.minimum(_AT_CORNER_MM, lengths_mm)[:, None]
    lengths_mm[shapely.contains_xy(rings, probes[:, 0], probes[:, 1])] = 0.0
    return shapely.Polygon(point + rays * lengths_mm[:, None])


def _ray_lengths_mm(rays: Array, edges: Array, reach_mm: float) -> Array:
    """Returns how far rays (r, 2) from the origin run before they cross an edge (e, 2, 2).

    Edges that begin or end at the origin do not block.
    """
    starts, steps = edges[:, 0], edges[:, 1] - edges[:, 0]
    # Cramer's rule for ray * t = start + step * share.
    determinants = rays[:, :1] * steps[:, 1] - rays[:, 1:] * steps[:, 0]
    t_numerators = starts[:, 0] * steps[:, 1] - starts[:, 1] * steps[:, 0]
    share_numerators = starts[:, 0] * rays[:, 1:] - starts[:, 1] * rays[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        along_mm, share = t_numerators / determinants, share_numerators / determinants
    is_crossed = (along_mm > _AT_CORNER_MM) & (share >= 0.0) & (share <= 1.0)
    lengths_mm = np.where(is_crossed, along_mm, np.inf).min(axis=1, initial=np.inf)
    return np.asarray(np.minimum(lengths_mm, reach_mm))


def _longest_mm(edges: Array) -> float:
    return float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).max(initial=0.0))
