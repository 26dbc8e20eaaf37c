"""Shapes as turned strips see them: their edges, and at which angles one may be in a strip."""

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
"""Up to here what lies ahead, farther off than a strip is wide, never comes into its rear."""
_SAME_RAD = 1e-9
_HAIR_MM = 1e-6
_FAR_RAD, _APART_RAD = 7.0, 20.0
"""Farther than any angle, and what keeps the angles of two strips apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The edges of n shapes in a strip's frame, shape by shape.

    `starts` and `steps` (k, 2) are where each begins and how it goes on, `firsts` and `counts` (n,)
    which of them is each shape's first, and how many it has; `are_whole` whether it is one piece,
    `are_rectangles` whether it is one with four right angles.
    """

    starts: Array
    steps: Array
    firsts: NDArray[np.intp]
    counts: NDArray[np.intp]
    are_whole: Flags
    are_rectangles: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """All n `shapes` that are asked for in some strips, each shape as its strip sees it.

    `pivots_mm` (s, 2) and `axes` (s, 2, 2) are the strips', `frames` (n,) is which of them sees
    each shape; the shapes of each strip follow each other.
    """

    pivots_mm: Array
    axes: Array
    frames: Indices
    shapes: Any
    edges: Edges

    def on_table(self, local_mm: Array, shape_of: Indices) -> Array:
        """Points (k, c, 2), each k in the frame of the strip of one of the shapes, on the table."""
        frames = self.frames[shape_of]
        return np.asarray(local_mm @ self.axes[frames] + self.pivots_mm[frames][:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is looked at: in each of r rows one of the shapes, at one angle of its strip.

    `turns_rad` and `shape_of` (r,) tell which; `places` (r,) are where the rows are among all:
    those of the first strip, angle by angle, each with all of its shapes; those of the second; ...
    """

    turns_rad: Array
    shape_of: Indices
    places: Indices
    seen: Seen


def seen_from(strips: Sequence[Strip], shapes: Sequence[Sequence[shapely.Geometry]]) -> Seen:
    """Each strip's shapes as it sees them."""
    frames = np.repeat(np.arange(len(strips)), [len(each) for each in shapes])
    outlines = np.array([shape for each in shapes for shape in each], dtype=object)
    pivots_mm, axes = np.array([s.pivot_mm for s in strips]), np.array([s.axes for s in strips])
    edges = _edges(pivots_mm[frames], axes[frames], outlines)
    return Seen(pivots_mm, axes, frames, outlines, edges)


def rows_of(seen: Seen, turned_rad: Sequence[Array], within: tuple[Array, Array]) -> Rows:
    """Every strip at each of its angles with each of its shapes that may be met there.

    `within` are the first and the last angle (n,), (n,) at which each shape may be.
    """
    turns_rad = np.concatenate(list(turned_rad))
    angles = np.array([len(turns) for turns in turned_rad], dtype=np.intp)
    strip_of = np.repeat(np.arange(len(angles)), angles)
    # All strips' angles in one rising order, each strip's more than a whole turn past the last's.
    keys = turns_rad + _APART_RAD * strip_of
    order = np.argsort(keys, kind="stable")
    first, last = (np.clip(each, -_FAR_RAD, _FAR_RAD) for each in within)
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
    return Rows(turns_rad[turn_of], shape_of, places, seen)


def turns_within(strip: Strip, edges: Edges, most_rad: float) -> tuple[Array, Array]:
    """The first and the last angle at which each shape may be in a strip: (n,), (n,).

    A shape is beside the strip where all of its corners are beyond the same side, so between the
    first and the last angle at which one crosses a side it may be in it. That holds for shapes
    ahead of the front line that are no nearer than the strip is wide, at angles up to 60 degrees.
    """
    x_mm, y_mm = edges.starts.T
    far_mm = np.hypot(x_mm, y_mm)
    width_mm = 2 * max(abs(strip.left_mm), abs(strip.right_mm))
    is_plain = (np.minimum.reduceat(far_mm, edges.firsts) > width_mm) & (
        np.minimum.reduceat(y_mm, edges.firsts) >= 0
    )
    is_plain &= most_rad <= _PLAIN_TURN_RAD
    bearings_rad, far_mm = np.arctan2(-x_mm, y_mm), np.maximum(far_mm, width_mm)
    first = np.minimum.reduceat(bearings_rad + np.arcsin(strip.left_mm / far_mm), edges.firsts)
    last = np.maximum.reduceat(bearings_rad + np.arcsin(strip.right_mm / far_mm), edges.firsts)
    # Whatever is in a strip that has no end has an edge in it.
    first_of_edges, last_of_edges = turns_to_edges(strip, edges)
    first_at_all = np.minimum.reduceat(first_of_edges, edges.firsts)
    last_at_all = np.maximum.reduceat(last_of_edges, edges.firsts)
    return (
        np.where(is_plain, first - _SAME_RAD, first_at_all),
        np.where(is_plain, last + _SAME_RAD, last_at_all),
    )


def turns_to_edges(strip: Strip, edges: Edges) -> tuple[Array, Array]:
    """The first and the last angle at which each of k edges can be in the strip at all: (k,), (k,).

    No point is in it that is seen from the pivot farther from its axis than its sides are there.
    """
    count = len(edges.starts)
    if not strip.is_cut:
        return np.full(count, -np.inf), np.full(count, np.inf)
    ahead_mm = edges.starts[:, 1] - strip.floor_mm
    low, high = kept(ahead_mm, edges.steps[:, 1], (np.zeros(count), np.ones(count)))
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
    """How near edges (k, 2) come to the pivot: (k,)."""
    lengths = np.maximum((steps**2).sum(axis=1), _HAIR_MM**2)
    part = np.clip(-(starts * steps).sum(axis=1) / lengths, 0.0, 1.0)
    return np.asarray(np.hypot(*(starts + part[:, None] * steps).T))


def is_clear(strip: Strip, edges: Edges, most_rad: float, sliver_mm: float) -> Flags:
    """Which shapes (n,) hang together and lie ahead of wherever the near end comes.

    At angles up to 60 degrees, and no nearer than the strip is wide: as `turns_within` has it.
    """
    half_mm = max(abs(strip.left_mm), abs(strip.right_mm))
    if most_rad > _PLAIN_TURN_RAD:
        return np.zeros(len(edges.firsts), dtype=bool)
    near_mm = half_mm * np.sin(most_rad) + max(strip.floor_mm + sliver_mm, 0.0)
    far_mm = np.minimum.reduceat(np.hypot(*edges.starts.T), edges.firsts)
    ahead_mm = np.minimum.reduceat(edges.starts[:, 1], edges.firsts)
    return np.asarray(edges.are_whole & (ahead_mm > near_mm) & (far_mm > 2 * half_mm))


def kept(start: Array, step: Array, part: tuple[Array, Array]) -> tuple[Array, Array]:
    """What is left of edges' parts, from a share to a share, where start + share x step >= 0."""
    first, last = part
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = -start / step
    first = np.where(step > 0, np.maximum(first, crossing), first)
    last = np.where(step < 0, np.minimum(last, crossing), last)
    return first, np.where((step == 0) & (start < 0), -1.0, last)


def _edges(pivots_mm: Array, axes: Array, shapes: Any) -> Edges:
    """The edges of shapes (n,), each as seen from its pivot (n, 2) along its axes (n, 2, 2)."""
    corners, of_ring, owner_of, are_whole = _rings(shapes)
    apart_mm = corners - pivots_mm[owner_of]
    local = (apart_mm[:, None] * axes[owner_of]).sum(axis=-1)
    goes_on = of_ring[1:] == of_ring[:-1]
    of_edge = owner_of[:-1][goes_on]
    firsts = np.searchsorted(of_edge, np.arange(len(shapes)))
    counts = np.bincount(of_edge, minlength=len(shapes))
    starts, steps = local[:-1][goes_on], np.diff(local, axis=0)[goes_on]
    are_rectangles = are_whole & _are_rectangles(steps, firsts, counts)
    return Edges(starts, steps, firsts, counts, are_whole, are_rectangles)


def _rings(shapes: Any) -> tuple[Array, Indices, Indices, Flags]:
    """The corners of all rings of shapes (n,), of which ring and shape each is; which are whole."""
    is_plain = (shapely.get_type_id(shapes) == shapely.GeometryType.POLYGON) & (
        shapely.get_num_interior_rings(shapes) == 0
    )
    if is_plain.all():
        # Mostly they are all rectangles: then each shape is its one ring, and none is copied.
        corners, of_shape = shapely.get_coordinates(shapes, return_index=True)
        return corners, of_shape, of_shape, is_plain
    parts, owners = shapely.get_parts(shapes, return_index=True)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    are_whole = np.bincount(owners, minlength=len(shapes)) == 1
    return corners, of_ring, owners[of_part[of_ring]], are_whole


def _are_rectangles(steps: Array, firsts: Indices, counts: Indices) -> Flags:
    """Which shapes (n,) have four edges, opposite ones alike and the first two at right angles."""
    found = counts == 4
    begin = firsts[found]
    one, other, back = steps[begin], steps[begin + 1], steps[begin + 2]
    sizes = np.hypot(*one.T), np.hypot(*other.T)
    is_square = np.abs((one * other).sum(axis=1)) <= _SAME_RAD * sizes[0] * sizes[1]
    found[found] = is_square & (np.abs(one + back).max(axis=1, initial=0.0) <= _SAME_RAD * sizes[0])
    return np.asarray(found)
