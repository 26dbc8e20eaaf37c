"""Edges of shapes in the frames of strips, and the angles at which they may be in a strip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.zones import Strip

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

_PLAIN_TURN_RAD = np.pi / 3
"""Up to this turn, shapes ahead and farther off than the strip is wide stay clear of its rear."""
_SAME_RAD = 1e-9
_HAIR_MM = 1e-6
_FAR_RAD, _APART_RAD = 7.0, 20.0
"""A bound on any angle, and the offset that separates the angles of two strips when sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The k edges of n shapes in a strip's frame, shape by shape.

    `starts` and `steps` (k, 2) are start points and vectors to the ends, `firsts` and `counts` (n,)
    the index of each shape's first edge and its number of edges; `are_whole` marks shapes that are
    single polygons, `are_rectangles` rectangles among them.
    """

    starts: Array
    steps: Array
    firsts: NDArray[np.intp]
    counts: NDArray[np.intp]
    are_whole: Flags
    are_rectangles: Flags


@dataclass(frozen=True, slots=True, eq=False)
class LocalShapes:
    """The n shapes to look for in s strips, with their edges in the frame of their strip.

    `pivots_mm` (s, 2) and `axes` (s, 2, 2) are the frames of the strips, `frames` (n,) the index of
    each shape's strip, in ascending order.
    """

    pivots_mm: Array
    axes: Array
    frames: Indices
    shapes: Any
    edges: Edges

    def on_table(self, local_mm: Array, shape_of: Indices) -> Array:
        """Returns points (k, c, 2) of the frames of shapes (k,) in table millimetres."""
        frames = self.frames[shape_of]
        return np.asarray(local_mm @ self.axes[frames] + self.pivots_mm[frames][:, None])


@dataclass(frozen=True, slots=True, eq=False)
class TurnedShapes:
    """The r pairs of a shape and an angle of its strip that have to be examined.

    `turns_rad` and `shape_of` (r,) are the angle and the shape; `places` (r,) their index among all
    pairs, ordered by strip, then angle, then shape.
    """

    turns_rad: Array
    shape_of: Indices
    places: Indices
    seen: LocalShapes


def seen_from(strips: Sequence[Strip], shapes: Sequence[Sequence[shapely.Geometry]]) -> LocalShapes:
    """Returns the shapes of each strip in the frame of the strip."""
    frames = np.repeat(np.arange(len(strips)), [len(of_strip) for of_strip in shapes])
    outlines = np.array([shape for of_strip in shapes for shape in of_strip], dtype=object)
    pivots_mm, axes = np.array([s.pivot_mm for s in strips]), np.array([s.axes for s in strips])
    edges = _edges(pivots_mm[frames], axes[frames], outlines)
    return LocalShapes(pivots_mm, axes, frames, outlines, edges)


def rows_of(
    seen: LocalShapes, turned_rad: Sequence[Array], within: tuple[Array, Array]
) -> TurnedShapes:
    """Returns each strip's angles paired with the shapes that may lie in it at that angle.

    `within` are the first and the last angle (n,), (n,) at which each shape may lie in its strip.
    """
    turns_rad = np.concatenate(list(turned_rad))
    angles = np.array([len(turns) for turns in turned_rad], dtype=np.intp)
    strip_of = np.repeat(np.arange(len(angles)), angles)
    # One sorted array for all strips: each strip's angles are offset by more than a full turn.
    keys = turns_rad + _APART_RAD * strip_of
    order = np.argsort(keys, kind="stable")
    first, last = (np.clip(angle_rad, -_FAR_RAD, _FAR_RAD) for angle_rad in within)
    apart = _APART_RAD * seen.frames
    begin = np.searchsorted(keys[order], apart + first, side="left")
    counts = np.maximum(np.searchsorted(keys[order], apart + last, side="right") - begin, 0)
    shape_of = np.repeat(np.arange(len(begin)), counts)
    turn_of = np.arange(len(shape_of)) + (begin - (np.cumsum(counts) - counts))[shape_of]
    turn_of, strip = order[turn_of], seen.frames[shape_of]
    shapes = np.bincount(seen.frames, minlength=len(angles))
    local_turn = turn_of - (np.cumsum(angles) - angles)[strip]
    local_shape = shape_of - (np.cumsum(shapes) - shapes)[strip]
    sizes = angles * shapes
    places = (np.cumsum(sizes) - sizes)[strip] + local_turn * shapes[strip] + local_shape
    return TurnedShapes(turns_rad[turn_of], shape_of, places, seen)


def turns_within(strip: Strip, edges: Edges, most_rad: float) -> tuple[Array, Array]:
    """Returns the first and the last angle at which each shape may lie in a strip: (n,), (n,)."""
    # A shape lies beside the strip if all of its corners are beyond the same side, so it may lie in
    # it between the first and the last angle at which a corner crosses a side. That holds ahead of
    # the front line, no nearer than the strip's width, up to 60 degrees.
    x_mm, y_mm = edges.starts.T
    far_mm = np.hypot(x_mm, y_mm)
    width_mm = 2 * max(abs(strip.left_mm), abs(strip.right_mm))
    # Other shapes may enter the strip by its near end, so they get the weaker bounds.
    is_plain = (np.minimum.reduceat(far_mm, edges.firsts) > width_mm) & (
        np.minimum.reduceat(y_mm, edges.firsts) >= 0
    )
    is_plain &= most_rad <= _PLAIN_TURN_RAD
    bearings_rad, far_mm = np.arctan2(-x_mm, y_mm), np.maximum(far_mm, width_mm)
    first = np.minimum.reduceat(bearings_rad + np.arcsin(strip.left_mm / far_mm), edges.firsts)
    last = np.maximum.reduceat(bearings_rad + np.arcsin(strip.right_mm / far_mm), edges.firsts)
    # Any shape in an endless strip has an edge in it, so bounds on its edges always hold.
    first_of_edges, last_of_edges = turns_to_edges(strip, edges)
    first_at_all = np.minimum.reduceat(first_of_edges, edges.firsts)
    last_at_all = np.maximum.reduceat(last_of_edges, edges.firsts)
    return (
        np.where(is_plain, first - _SAME_RAD, first_at_all),
        np.where(is_plain, last + _SAME_RAD, last_at_all),
    )


def turns_to_edges(strip: Strip, edges: Edges) -> tuple[Array, Array]:
    """Returns bounds on the angles at which each of k edges may lie in the strip: (k,), (k,)."""
    count = len(edges.starts)
    if not strip.is_cut:
        return np.full(count, -np.inf), np.full(count, np.inf)
    # At a distance r from the pivot, the strip spans no more than arcsin(half width / r) to a side.
    ahead_mm = edges.starts[:, 1] - strip.floor_mm
    low, high = clipped(ahead_mm, edges.steps[:, 1], (np.zeros(count), np.ones(count)))
    is_ahead = low <= high
    parts = np.clip([low, high], 0.0, 1.0)
    ends = edges.starts + parts[..., None] * edges.steps
    bearings_rad = np.arctan2(-ends[..., 0], ends[..., 1])
    near_mm = _nearest_mm(ends[0], ends[1] - ends[0])
    half_mm = max(abs(strip.left_mm), abs(strip.right_mm))
    with np.errstate(divide="ignore", invalid="ignore"):
        aside_rad = np.where(near_mm > half_mm, np.arcsin(half_mm / near_mm), np.inf) + _SAME_RAD
    return (
        np.where(is_ahead, bearings_rad.min(axis=0) - aside_rad, np.inf),
        np.where(is_ahead, bearings_rad.max(axis=0) + aside_rad, -np.inf),
    )


def _nearest_mm(starts: Array, steps: Array) -> Array:
    """Returns the distance of edges (k, 2) from the pivot, (k,)."""
    lengths = np.maximum((steps**2).sum(axis=1), _HAIR_MM**2)
    # The foot of the perpendicular from the pivot, clamped to the edge.
    part = np.clip(-(starts * steps).sum(axis=1) / lengths, 0.0, 1.0)
    return np.asarray(np.hypot(*(starts + part[:, None] * steps).T))


def is_clear(strip: Strip, edges: Edges, most_rad: float, sliver_mm: float) -> Flags:
    """Whether shapes (n,) are single polygons that the strip's near end cannot reach.

    Only at angles up to 60 degrees and no nearer than the strip's width, as in `turns_within`.
    """
    half_mm = max(abs(strip.left_mm), abs(strip.right_mm))
    if most_rad > _PLAIN_TURN_RAD:
        return np.zeros(len(edges.firsts), dtype=bool)
    near_mm = half_mm * np.sin(most_rad) + max(strip.floor_mm + sliver_mm, 0.0)
    far_mm = np.minimum.reduceat(np.hypot(*edges.starts.T), edges.firsts)
    ahead_mm = np.minimum.reduceat(edges.starts[:, 1], edges.firsts)
    return np.asarray(edges.are_whole & (ahead_mm > near_mm) & (far_mm > 2 * half_mm))


def clipped(start: Array, step: Array, part: tuple[Array, Array]) -> tuple[Array, Array]:
    """Clips intervals of t, given by their ends, to where start + t * step >= 0."""
    first, last = part
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # A rising value cuts off the start of the interval, a falling one its end.
        crossing = -start / step
    first = np.where(step > 0, np.maximum(first, crossing), first)
    last = np.where(step < 0, np.minimum(last, crossing), last)
    return first, np.where((step == 0) & (start < 0), -1.0, last)


def _edges(pivots_mm: Array, axes: Array, shapes: Any) -> Edges:
    """Returns the edges of shapes (n,) in frames given by pivots (n, 2) and axes (n, 2, 2)."""
    corners, ring_of, owner_of, are_whole = _rings(shapes)
    offsets_mm = corners - pivots_mm[owner_of]
    local = (offsets_mm[:, None] * axes[owner_of]).sum(axis=-1)
    is_edge = ring_of[1:] == ring_of[:-1]
    edge_owner = owner_of[:-1][is_edge]
    firsts = np.searchsorted(edge_owner, np.arange(len(shapes)))
    counts = np.bincount(edge_owner, minlength=len(shapes))
    starts, steps = local[:-1][is_edge], np.diff(local, axis=0)[is_edge]
    are_rectangles = are_whole & _are_rectangles(steps, firsts, counts)
    return Edges(starts, steps, firsts, counts, are_whole, are_rectangles)


def _rings(shapes: Any) -> tuple[Array, Indices, Indices, Flags]:
    """Returns all corners of shapes (n,), the ring and the shape of each, and which are whole."""
    is_plain = (shapely.get_type_id(shapes) == shapely.GeometryType.POLYGON) & (
        shapely.get_num_interior_rings(shapes) == 0
    )
    if is_plain.all():
        # The usual case, all rectangles: each shape is its only ring, so nothing is copied.
        corners, of_shape = shapely.get_coordinates(shapes, return_index=True)
        return corners, of_shape, of_shape, is_plain
    parts, owners = shapely.get_parts(shapes, return_index=True)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    are_whole = np.bincount(owners, minlength=len(shapes)) == 1
    return corners, of_ring, owners[of_part[of_ring]], are_whole


def _are_rectangles(steps: Array, firsts: Indices, counts: Indices) -> Flags:
    """Whether shapes (n,) have four edges, the opposite ones equal and the first two square."""
    are_rectangles = counts == 4
    begin = firsts[are_rectangles]
    first, second, third = steps[begin], steps[begin + 1], steps[begin + 2]
    sizes = np.hypot(*first.T), np.hypot(*second.T)
    is_square = np.abs((first * second).sum(axis=1)) <= _SAME_RAD * sizes[0] * sizes[1]
    is_parallel = np.abs(first + third).max(axis=1, initial=0.0) <= _SAME_RAD * sizes[0]
    are_rectangles[are_rectangles] = is_square & is_parallel
    return np.asarray(are_rectangles)
