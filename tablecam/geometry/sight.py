"""Lines of sight: finds a straight line from an edge to a shape past blockers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

Array = NDArray[np.float64]

HAIR_MM = 1e-3
"""A line that enters a shape by no more than this runs along it, not through it."""

_PARALLEL = 1e-12
_SAME_MM = 1e-9

_NOTHING = shapely.Polygon()


def free_line(
    edge: shapely.LineString, target: shapely.Geometry, blockers: shapely.Geometry
) -> shapely.LineString | None:
    """Returns the shortest free segment from an edge to a shape, or None if all are blocked.

    A segment along a blocker's outline is free. Exact: if any segment is free, so is one through
    two corners (of the blockers, the shape or the edge), hence only those are tried.
    """
    if shapely.is_empty(target):
        return None
    # The usual case: the shortest line is free, and no corner has to be tried.
    straight = shapely.shortest_line(edge, target)
    if not shapely.intersects(eroded_by_hair(blockers), straight):
        return straight
    field_of_view = shapely.convex_hull(shapely.union(edge, shapely.convex_hull(target)))
    # Corners are eroded half as much, so that a segment through one does not touch the solid.
    solid, pivots = _eroded(blockers, HAIR_MM), _eroded(blockers, HAIR_MM / 2)
    shapely.prepare(solid)
    corners = _corners(pivots, edge, target, field_of_view)
    segments = _segments(corners, shapely.get_coordinates(edge), _sides(target))
    free = np.flatnonzero(~shapely.intersects(solid, segments))
    if not len(free):
        return None
    lengths_mm = shapely.length(segments[free])
    shortest: shapely.LineString = segments[free[np.argmin(lengths_mm)]]
    return shortest


@lru_cache(maxsize=64)
def eroded_by_hair(blockers: shapely.Geometry) -> shapely.Geometry:
    """Returns the interior of blockers, eroded by `HAIR_MM`."""
    # Cached, because the same blockers are tested again and again; not prepared, because threads
    # may share it.
    return _eroded(blockers, HAIR_MM)


def _eroded(blockers: shapely.Geometry, by_mm: float) -> shapely.Geometry:
    return shapely.buffer(blockers, -by_mm, join_style="mitre")


def is_hidden(
    edge: shapely.LineString, target: shapely.Geometry, blockers: shapely.Geometry
) -> bool:
    """Whether every straight segment from an edge to a shape passes through a blocker."""
    return free_line(edge, target, blockers) is None


def may_block(
    sights: Sequence[tuple[shapely.LineString, shapely.Polygon]],
    blockers: shapely.Geometry,
    within_mm: Array | Sequence[float] = (0.0,),
) -> NDArray[np.bool_]:
    """Whether the hull of each edge and its shape comes within a distance (n,) of a blocker, (n,).

    Shapes are quadrangles. A quick test: where it is false, no segment can be blocked.
    """
    if not sights or shapely.is_empty(blockers):
        return np.zeros(len(sights), dtype=bool)
    shapely.prepare(blockers)
    # Stubs of shapely know distances one at a time only.
    within: Any = within_mm
    return np.asarray(shapely.dwithin(blockers, _views(sights), within))


def blockers_between(
    sights: Sequence[tuple[shapely.LineString, shapely.Polygon]], blockers: shapely.Geometry
) -> list[shapely.Geometry]:
    """Returns the parts of the blockers between each edge and its shape; empty if none."""
    parts = np.asarray(shapely.get_parts(blockers), dtype=object)
    between: list[list[int]] = [[] for _ in sights]
    if sights and len(parts):
        sight_indices, part_indices = (
            shapely.STRtree(parts).query(_views(sights), "intersects").tolist()
        )
        for sight_index, part_index in zip(sight_indices, part_indices, strict=True):
            between[sight_index].append(part_index)
    shapes: list[Any] = [
        _NOTHING if not indices else shapely.multipolygons(parts[indices]) for indices in between
    ]
    return shapes


def ray_length_mm(origin: Array, ways: Array, shape: shapely.Geometry) -> Array:
    """Returns the distance from a point to a shape along directions (n, 2); infinite past it."""
    if shapely.intersects_xy(shape, *origin):
        return np.zeros(len(ways))
    sides = _sides(shape)
    along_mm = _intersections_mm(
        np.broadcast_to(origin, ways.shape), ways, sides[:, 0], sides[:, 1]
    )
    return np.asarray(np.where(along_mm >= 0.0, along_mm, np.inf).min(axis=1, initial=np.inf))


def _views(sights: Sequence[tuple[shapely.LineString, shapely.Polygon]]) -> NDArray[np.object_]:
    """Returns the convex hulls of each edge and its shape."""
    ends = shapely.get_coordinates([part for sight in sights for part in sight])
    views = shapely.convex_hull(shapely.linestrings(ends.reshape(len(sights), -1, 2)))
    return np.asarray(views, dtype=object)


def _corners(
    blockers: shapely.Geometry,
    edge: shapely.LineString,
    target: shapely.Geometry,
    field_of_view: shapely.Geometry,
) -> Array:
    """Returns the corners (k, 2) through which an extreme free segment can pass."""
    blocker_corners = shapely.get_coordinates(blockers)
    near = shapely.dwithin(shapely.points(blocker_corners), field_of_view, HAIR_MM)
    ends = shapely.get_coordinates([edge, target])
    return np.unique(np.concatenate([blocker_corners[near], ends]), axis=0)


def _sides(shape: shapely.Geometry) -> Array:
    """Returns the straight sides of a shape's outline, (m, 2, 2)."""
    rings = shapely.get_rings(shapely.get_parts(shape))
    corners, ring = shapely.get_coordinates(rings, return_index=True)
    is_side = ring[1:] == ring[:-1]
    return np.stack([corners[:-1][is_side], corners[1:][is_side]], axis=1)


def _segments(corners: Array, edge: Array, sides: Array) -> NDArray[np.object_]:
    """Returns segments from an edge to the first side they hit, on lines through two corners."""
    first, second = np.triu_indices(len(corners), k=1)
    through, step = corners[first], corners[second] - corners[first]
    step = step / np.hypot(step[:, 0], step[:, 1])[:, None]
    on_edge = _intersections_mm(through, step, edge[:1], edge[-1:])[:, 0]
    crosses = np.isfinite(on_edge)
    through, step, on_edge = through[crosses], step[crosses], on_edge[crosses]
    start = through + on_edge[:, None] * step
    # In both directions along the line, from where it leaves the edge.
    to_sides = _intersections_mm(start, step, sides[:, 0], sides[:, 1])
    ends = []
    for sense in (1.0, -1.0):
        length = np.where(to_sides * sense >= -_SAME_MM, np.abs(to_sides), np.inf).min(
            axis=1, initial=np.inf
        )
        hits = np.isfinite(length)
        ends.append(
            np.stack([start, start + (sense * np.where(hits, length, 0.0))[:, None] * step], 1)[
                hits
            ]
        )
    return np.asarray(shapely.linestrings(np.concatenate(ends)), dtype=object)


def _intersections_mm(through: Array, step: Array, starts: Array, ends: Array) -> Array:
    """Returns how far along lines (n,) they cross segments (m,), (n, m); nan if they do not."""
    side = ends - starts
    across = step[:, None, 0] * side[None, :, 1] - step[:, None, 1] * side[None, :, 0]
    apart = starts[None] - through[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (apart[..., 0] * side[None, :, 1] - apart[..., 1] * side[None, :, 0]) / across
        share = (apart[..., 0] * step[:, None, 1] - apart[..., 1] * step[:, None, 0]) / across
    length = np.hypot(side[:, 0], side[:, 1])[None]
    # A line through the very end of a side hits it, whatever the rounding.
    tolerance = _SAME_MM / np.maximum(length, _SAME_MM)
    hit = (np.abs(across) > _PARALLEL * length) & (share >= -tolerance) & (share <= 1.0 + tolerance)
    return np.where(hit, along, np.nan)
