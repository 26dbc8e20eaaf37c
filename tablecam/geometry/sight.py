"""Sight: is there a straight line from an edge to a shape that goes through none of the others?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

Array = NDArray[np.float64]

HAIR_MM = 1e-3
"""A line that goes no deeper into a shape than this runs along it, not through it."""

_PARALLEL = 1e-12
_SAME_MM = 1e-9

_NOTHING = shapely.Polygon()


def free_line(
    edge: shapely.LineString, target: shapely.Geometry, blockers: shapely.Geometry
) -> shapely.LineString | None:
    """A straight segment from a point of an edge to one of a shape that passes through no blocker.

    None where all of them pass through the inside of one; along its outline is not through it.
    Exact: of all free segments there is one that turns on two corners (of the blockers, the shape,
    or the edge), so only those through two corners are tried.
    """
    if shapely.is_empty(target):
        return None
    straight = shapely.shortest_line(edge, target)
    if not shapely.intersects(less_a_hair(blockers), straight):
        return straight
    field_of_view = shapely.convex_hull(shapely.union(edge, shapely.convex_hull(target)))
    # Their corners half as deep: a segment that turns on them does not touch what is solid.
    solid, turned_on = _eroded(blockers, HAIR_MM), _eroded(blockers, HAIR_MM / 2)
    shapely.prepare(solid)
    corners = _corners(turned_on, edge, target, field_of_view)
    segments = _segments(corners, shapely.get_coordinates(edge), _sides(target))
    free = np.flatnonzero(~shapely.intersects(solid, segments))
    if not len(free):
        return None
    lengths_mm = shapely.length(segments[free])
    found: shapely.LineString = segments[free[np.argmin(lengths_mm)]]
    return found


@lru_cache(maxsize=64)
def less_a_hair(blockers: shapely.Geometry) -> shapely.Geometry:
    """What of blockers lies deeper in them than a hair."""
    # Kept, as what stands on a table is looked past again and again; never prepared, as threads
    # may share it.
    return _eroded(blockers, HAIR_MM)


def _eroded(blockers: shapely.Geometry, by_mm: float) -> shapely.Geometry:
    return shapely.buffer(blockers, -by_mm, join_style="mitre")


def is_hidden(
    edge: shapely.LineString, target: shapely.Geometry, blockers: shapely.Geometry
) -> bool:
    """Whether every straight segment from an edge to a shape passes through a blocker."""
    return free_line(edge, target, blockers) is None


def is_between(
    sights: Sequence[tuple[shapely.LineString, shapely.Polygon]],
    blockers: shapely.Geometry,
    within_mm: float = 0.0,
) -> NDArray[np.bool_]:
    """Whether any straight segment from each edge to its shape, quadrangles all, meets a blocker.

    Or comes within so much of one. Where none does no blocker need be looked at more closely.
    """
    if not sights or shapely.is_empty(blockers):
        return np.zeros(len(sights), dtype=bool)
    shapely.prepare(blockers)
    return np.asarray(shapely.dwithin(blockers, _views(sights), within_mm))


def what_is_between(
    sights: Sequence[tuple[shapely.LineString, shapely.Polygon]], blockers: shapely.Geometry
) -> list[shapely.Geometry]:
    """The same with what is met: those parts of the blockers, as one shape, or an empty one."""
    parts = np.asarray(shapely.get_parts(blockers), dtype=object)
    met: list[list[int]] = [[] for _ in sights]
    if sights and len(parts):
        which, part = shapely.STRtree(parts).query(_views(sights), "intersects").tolist()
        for sight, at in zip(which, part, strict=True):
            met[sight].append(at)
    found: list[Any] = [
        _NOTHING if not each else shapely.multipolygons(parts[each]) for each in met
    ]
    return found


def met_mm(origin: Array, ways: Array, shape: shapely.Geometry) -> Array:
    """How far one can go from a place, by unit vectors (n, 2), to a shape: infinite past it."""
    if shapely.intersects_xy(shape, *origin):
        return np.zeros(len(ways))
    sides = _sides(shape)
    along_mm = _meets(np.broadcast_to(origin, ways.shape), ways, sides[:, 0], sides[:, 1])
    return np.asarray(np.where(along_mm >= 0.0, along_mm, np.inf).min(axis=1, initial=np.inf))


def _views(sights: Sequence[tuple[shapely.LineString, shapely.Polygon]]) -> NDArray[np.object_]:
    """All that lies between each edge and its shape."""
    ends = shapely.get_coordinates([part for sight in sights for part in sight])
    views = shapely.convex_hull(shapely.linestrings(ends.reshape(len(sights), -1, 2)))
    return np.asarray(views, dtype=object)


def _corners(
    blockers: shapely.Geometry,
    edge: shapely.LineString,
    target: shapely.Geometry,
    field_of_view: shapely.Geometry,
) -> Array:
    """The points on which an outermost free segment can turn: (k, 2)."""
    of_blockers = shapely.get_coordinates(blockers)
    near = shapely.dwithin(shapely.points(of_blockers), field_of_view, HAIR_MM)
    ends = shapely.get_coordinates([edge, target])
    return np.unique(np.concatenate([of_blockers[near], ends]), axis=0)


def _sides(shape: shapely.Geometry) -> Array:
    """The straight sides of a shape's outline, (m, 2, 2)."""
    rings = shapely.get_rings(shapely.get_parts(shape))
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    goes_on = of_ring[1:] == of_ring[:-1]
    return np.stack([corners[:-1][goes_on], corners[1:][goes_on]], axis=1)


def _segments(corners: Array, edge: Array, sides: Array) -> NDArray[np.object_]:
    """The segments from an edge to the first side that they meet, on lines through two corners."""
    first, second = np.triu_indices(len(corners), k=1)
    through, step = corners[first], corners[second] - corners[first]
    step = step / np.hypot(step[:, 0], step[:, 1])[:, None]
    on_edge = _meets(through, step, edge[:1], edge[-1:])[:, 0]
    meets = np.isfinite(on_edge)
    through, step, on_edge = through[meets], step[meets], on_edge[meets]
    start = through + on_edge[:, None] * step
    # Both ways along the line, from where it leaves the edge.
    reach = _meets(start, step, sides[:, 0], sides[:, 1])
    ends = []
    for sense in (1.0, -1.0):
        way = np.where(reach * sense >= -_SAME_MM, np.abs(reach), np.inf).min(
            axis=1, initial=np.inf
        )
        hits = np.isfinite(way)
        ends.append(
            np.stack([start, start + (sense * np.where(hits, way, 0.0))[:, None] * step], 1)[hits]
        )
    return np.asarray(shapely.linestrings(np.concatenate(ends)), dtype=object)


def _meets(through: Array, step: Array, starts: Array, ends: Array) -> Array:
    """How far along lines (n,) they meet segments (m,), nan where they do not: (n, m)."""
    side = ends - starts
    across = step[:, None, 0] * side[None, :, 1] - step[:, None, 1] * side[None, :, 0]
    apart = starts[None] - through[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (apart[..., 0] * side[None, :, 1] - apart[..., 1] * side[None, :, 0]) / across
        share = (apart[..., 0] * step[:, None, 1] - apart[..., 1] * step[:, None, 0]) / across
    length = np.hypot(side[:, 0], side[:, 1])[None]
    slack = _SAME_MM / np.maximum(length, _SAME_MM)
    hit = (np.abs(across) > _PARALLEL * length) & (share >= -slack) & (share <= 1.0 + slack)
    return np.where(hit, along, np.nan)
