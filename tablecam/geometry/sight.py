"""Lines of sight: finds a straight line from an edge to a shape past blockers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Shapes = NDArray[np.object_]

HAIR_MM = 1e-3
"""A line that enters a shape by no more than this counts as running along it."""

_FROM_POINTS, _STEP_MM, _SEEN_STEP_MM = 33, 5.0, 1.0
_PARALLEL = 1e-12
_SAME_MM = 1e-9

_NOTHING = shapely.Polygon()


def free_line(
    edge: shapely.LineString, target: shapely.Geometry, blockers: shapely.Geometry
) -> shapely.LineString | None:
    """Returns the shortest free segment from an edge to a shape, or None if all are blocked.

    A segment along a blocker's outline is free. Exact: if any segment is free, so is one through
    two corners (of the blockers, the shape or the edge), so only those are tried.
    """
    line: shapely.LineString | None = free_lines([edge], [target], [blockers])[0]
    return line


def free_lines(
    edges: Sequence[shapely.LineString] | Shapes,
    targets: Sequence[shapely.Geometry] | Shapes,
    blockers: Sequence[shapely.Geometry],
) -> Shapes:
    """Returns `free_line` for each of k edges with its shape and its blockers, (k,).

    Fast where many have the same blockers.
    """
    edge, target = (np.array(shapes, dtype=object) for shapes in (edges, targets))
    # The usual case: the shortest line is free, and no corner has to be tried.
    lines = np.asarray(shapely.shortest_line(edge, target), dtype=object)
    ids = np.array([id(blocker) for blocker in blockers])
    for blocker in {id(blocker): blocker for blocker in blockers}.values():
        at = np.flatnonzero(ids == id(blocker))
        closed = at[shapely.intersects(eroded_by_hair(blocker), lines[at])]
        lines[closed] = None
        sights, segments = _free_segments(edge[closed], target[closed], blocker)
        # The longest first, so that the shortest of each sight remains.
        order = np.argsort(-shapely.length(segments), kind="stable")
        lines[closed[sights[order]]] = segments[order]
    return lines


def _free_segments(
    edges: Shapes, targets: Shapes, blockers: shapely.Geometry
) -> tuple[Indices, Shapes]:
    """Returns the free segments through two corners from each edge to its shape, with indices."""
    fields = shapely.convex_hull(shapely.union(edges, shapely.convex_hull(targets)))
    # Corners are eroded half as much, so that a segment through one does not touch the solid.
    solid, pivots = _eroded(blockers, HAIR_MM), _eroded(blockers, HAIR_MM / 2)
    shapely.prepare(solid)
    sights, segments = _segments(_corners(pivots, edges, targets, fields), edges, targets)
    free = np.flatnonzero(~shapely.intersects(solid, segments))
    return sights[free], segments[free]


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


def is_seen_through(
    edge: shapely.LineString,
    target: shapely.Geometry,
    blockers: shapely.Geometry,
    veil: shapely.Geometry,
    less_than_mm: float,
) -> bool:
    """Whether one of many segments crosses no blocker and less than a given length of a veil.

    Only these segments are tried: from 33 points of the edge to points 5 mm apart on the shape's
    outline.
    """
    lines = _free_between(edge, _along(shapely.boundary(target), _STEP_MM), blockers)
    return bool((shapely.length(shapely.intersection(lines, veil)) < less_than_mm).any())


def seen_points(
    edge: shapely.LineString,
    target: shapely.Geometry,
    blockers: shapely.Geometry,
    *,
    within_mm: float,
) -> Shapes:
    """Returns points (n,) of a shape's outline that one of 33 points of an edge sees.

    Of points 1 mm apart, those within a distance of the edge.
    """
    ends = _along(shapely.boundary(target), _SEEN_STEP_MM)
    near = shapely.dwithin(edge, shapely.points(ends), within_mm)
    lines = _free_between(edge, ends[near], blockers)
    return np.asarray(shapely.get_point(lines, -1), dtype=object)


def _free_between(edge: shapely.LineString, ends: Array, blockers: shapely.Geometry) -> Shapes:
    """Returns the lines from 33 points of an edge to some ends (k, 2) that cross no blocker."""
    starts = _along(edge, shapely.length(edge) / (_FROM_POINTS - 1))
    pairs = [np.repeat(starts, len(ends), axis=0), np.tile(ends, (len(starts), 1))]
    lines = np.asarray(shapely.linestrings(np.stack(pairs, axis=1)), dtype=object)
    # A line along a blocker's outline does not cross it.
    solid = _eroded(blockers, HAIR_MM)
    shapely.prepare(solid)
    return np.asarray(lines[~shapely.intersects(solid, lines)], dtype=object)


def _along(line: shapely.Geometry, step_mm: float) -> Array:
    """Returns points along a line, its corners included, at most a step apart."""
    return np.asarray(shapely.get_coordinates(shapely.segmentize(line, step_mm)))


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
    # Shapely's stubs accept only a single distance.
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
    # `free_lines` is fast if all sights with the same parts between share one object.
    keys = [*map(tuple, between)]
    shape_of: dict[tuple[int, ...], Any] = {
        key: shapely.multipolygons(parts[[*key]]) if key else _NOTHING for key in {*keys}
    }
    return [shape_of[key] for key in keys]


def _views(sights: Sequence[tuple[shapely.LineString, shapely.Polygon]]) -> NDArray[np.object_]:
    """Returns the convex hulls of each edge and its shape."""
    ends = shapely.get_coordinates([part for sight in sights for part in sight])
    views = shapely.convex_hull(shapely.linestrings(ends.reshape(len(sights), -1, 2)))
    return np.asarray(views, dtype=object)


def _corners(blockers: shapely.Geometry, edges: Shapes, targets: Shapes, fields: Shapes) -> Array:
    """Returns the corners (k, c, 2) through which extreme free segments can pass, or nan."""
    blocker_corners = np.unique(shapely.get_coordinates(blockers), axis=0)
    shapely.prepare(fields)
    near = shapely.dwithin(fields[:, None], shapely.points(blocker_corners), HAIR_MM)
    near_any = near.any(axis=0)
    pivots = np.where(near[:, near_any, None], blocker_corners[near_any], np.nan)
    return np.concatenate([pivots, _padded(edges), _padded(targets)], axis=1)


def _padded(shapes: Shapes) -> Array:
    """Returns the coordinates (k, c, 2) of shapes, padded with nan."""
    return _by_owner(*shapely.get_coordinates(shapes, return_index=True), len(shapes))


def _by_owner(values: Array, owners: Indices, count: int) -> Array:
    """Returns values (n, ...) by owner, (count, m, ...), padded with nan.

    An owner's values must be consecutive.
    """
    places = np.arange(len(owners)) - np.searchsorted(owners, owners)
    padded = np.full((count, int(places.max(initial=-1)) + 1, *values.shape[1:]), np.nan)
    padded[owners, places] = values
    return padded


def _sides(shapes: Shapes) -> Array:
    """Returns the straight sides of the outlines of shapes (k, m, 2, 2), padded with nan."""
    parts, owners = shapely.get_parts(shapes, return_index=True)
    rings, part_of = shapely.get_rings(parts, return_index=True)
    corners, ring_of = shapely.get_coordinates(rings, return_index=True)
    is_side = ring_of[1:] == ring_of[:-1]
    sides = np.stack([corners[:-1][is_side], corners[1:][is_side]], axis=1)
    return _by_owner(sides, owners[part_of[ring_of[1:][is_side]]], len(shapes))


def _segments(corners: Array, edges: Shapes, targets: Shapes) -> tuple[Indices, Shapes]:
    """Returns segments from edges to the first sides they hit, on lines through two corners.

    Each with the index of its edge and shape.
    """
    first, second = np.triu_indices(corners.shape[1], k=1)
    through, step = corners[:, first], corners[:, second] - corners[:, first]
    left, end = (shapely.get_coordinates(shapely.get_point(edges, at)) for at in (0, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = step / np.hypot(step[..., 0], step[..., 1])[..., None]
    on_edge = _crossings_mm(through, step, left[:, None], end[:, None])
    sight, line = np.nonzero(np.isfinite(on_edge))
    step = step[sight, line]
    start = through[sight, line] + on_edge[sight, line][:, None] * step
    # In both directions along the line, from where it leaves the edge.
    sides = _sides(targets)[sight]
    to_sides = _crossings_mm(start[:, None], step[:, None], sides[:, :, 0], sides[:, :, 1])
    sights, segments = [], []
    for sense in (1.0, -1.0):
        is_hit = to_sides * sense >= -_SAME_MM
        hits = is_hit.any(axis=1)
        first_mm = np.where(is_hit, np.abs(to_sides), np.inf)[hits].min(axis=1, initial=np.inf)
        from_mm, way = start[hits], sense * step[hits]
        sights.append(sight[hits])
        segments.append(np.stack([from_mm, from_mm + first_mm[:, None] * way], axis=1))
    lines = np.asarray(shapely.linestrings(np.concatenate(segments)), dtype=object)
    return np.concatenate(sights), lines


def _crossings_mm(through: Array, step: Array, starts: Array, ends: Array) -> Array:
    """Returns how far along lines (..., 2) they cross segments (..., 2); nan if they do not."""
    side, apart = ends - starts, starts - through
    across = step[..., 0] * side[..., 1] - step[..., 1] * side[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (apart[..., 0] * side[..., 1] - apart[..., 1] * side[..., 0]) / across
        share = (apart[..., 0] * step[..., 1] - apart[..., 1] * step[..., 0]) / across
    length = np.hypot(side[..., 0], side[..., 1])
    # A line through the very end of a side hits it, whatever the rounding.
    tolerance = _SAME_MM / np.maximum(length, _SAME_MM)
    hit = (np.abs(across) > _PARALLEL * length) & (share >= -tolerance) & (share <= 1.0 + tolerance)
    return np.where(hit, along, np.nan)
