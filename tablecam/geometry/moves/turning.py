"""Computes in closed form how far convex shapes can turn about a point before they hit others.

A turning corner moves on a circle, so the turn at which it crosses an edge is an arc cosine. Two
shapes first meet where a corner of one crosses an edge of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablecam.table.model import Point

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

_HAIR_MM = 1e-9

_FLUSH = 0.2
"""Shapes that overlap by less than this share of a sliver count as merely touching."""


@dataclass(frozen=True, slots=True, eq=False)
class HalfPlanes:
    """Convex shapes (r,), each the intersection of h half planes.

    `normals` (r, h, 2) point outward, `offsets_mm` (r, h) are the lines' distances along them.
    """

    normals: Array
    offsets_mm: Array

    def grown(self, by_mm: ArrayLike) -> HalfPlanes:
        """Returns the shapes with every side moved outward, or inward for a negative distance."""
        return HalfPlanes(self.normals, self.offsets_mm + np.asarray(by_mm)[..., None])

    def take(self, rows: Indices) -> HalfPlanes:
        """Returns some of the shapes, in that order."""
        return HalfPlanes(self.normals[rows], self.offsets_mm[rows])

    def beyond(self, others: HalfPlanes, sides: Indices) -> HalfPlanes:
        """Returns the part of each shape that lies beyond one side of another shape."""
        rows = np.arange(len(sides))
        normals, offsets_mm = -others.normals[rows, sides], -others.offsets_mm[rows, sides]
        return HalfPlanes(
            np.concatenate([self.normals, normals[:, None]], axis=1),
            np.concatenate([self.offsets_mm, offsets_mm[:, None]], axis=1),
        )

    def edges(self) -> Edges:
        """Returns the edges of the shapes: each line, clipped by the other half planes."""
        along = np.stack([-self.normals[..., 1], self.normals[..., 0]], axis=-1)
        on_line = self.normals * self.offsets_mm[..., None]
        # Each line is clipped by all other half planes (Cyrus-Beck).
        rate = along @ np.swapaxes(self.normals, 1, 2)
        room_mm = self.offsets_mm[:, None] - on_line @ np.swapaxes(self.normals, 1, 2)
        np.einsum("rii->ri", room_mm)[:] = 0.0
        np.einsum("rii->ri", rate)[:] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = room_mm / rate
        first = np.where(rate < 0, ends, -np.inf).max(axis=2)
        last = np.where(rate > 0, ends, np.inf).min(axis=2)
        exists = (first <= last) & ~((rate == 0) & (room_mm < 0)).any(axis=2)
        first, last = np.where(exists, first, np.nan), np.where(exists, last, np.nan)
        return Edges(
            self.normals,
            on_line + along * first[..., None],
            on_line + along * last[..., None],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Edges (r, e) of shapes (r,): their unit normals, starts and ends (r, e, 2).

    The ends of an edge that is clipped away are NaN.
    """

    normals: Array
    starts_mm: Array
    ends_mm: Array


def half_planes(corners_mm: Array) -> HalfPlanes:
    """Converts convex shapes to half planes, from corners (r, k, 2) in either sense."""
    steps = np.roll(corners_mm, -1, axis=1) - corners_mm
    outward = np.stack([steps[..., 1], -steps[..., 0]], axis=-1)
    outward /= np.hypot(outward[..., 0], outward[..., 1])[..., None]
    is_clockwise = _cross(steps[:, 0], steps[:, 1]) < 0
    # For corners in clockwise order the normals point inward.
    outward[is_clockwise] *= -1
    return HalfPlanes(outward, (outward * corners_mm).sum(axis=-1))


def free_turn_rad(
    pivot_mm: Point, sense: float, own_mm: Array, met_mm: Array, edges_mm: Array, sliver_mm: float
) -> float:
    """Returns how far convex shapes can turn before they enter others or cross edges (e, 2, 2).

    The shapes and the others are given by their corners (n, 4, 2) and (m, 4, 2); see
    `free_turns_rad` and `first_turn_rad`.
    """
    turn_rad = math.inf
    if len(edges_mm):
        turn_rad = first_turn_rad(
            pivot_mm, sense, half_planes(own_mm).grown(-sliver_mm / 2), edges_mm
        )
    if not len(met_mm):
        return turn_rad
    count = len(own_mm) * len(met_mm)
    met_rad = free_turns_rad(
        np.tile(pivot_mm, (count, 1)),
        np.full(count, sense),
        half_planes(np.repeat(own_mm, len(met_mm), axis=0)),
        half_planes(np.tile(met_mm, (len(own_mm), 1, 1))),
        sliver_mm,
    )
    return min(turn_rad, float(met_rad.min()))


def free_turns_rad(
    pivots_mm: Array,
    senses: Array,
    turning: HalfPlanes,
    standing: HalfPlanes,
    sliver_mm: float = 0.0,
) -> Array:
    """Returns the turn (r,) at which each turning shape enters its standing shape; inf for never.

    It enters if both contain a disc of diameter `sliver_mm`. It turns about `pivots_mm` (r, 2),
    counter-clockwise where `senses` (r,) is 1, clockwise where -1. If the two overlap at the start,
    only the part of the standing shape outside the turning one counts. A corner that swings past
    has to enter a fifth of a sliver deeper.
    """
    inner = turning.grown(-sliver_mm / 2)
    # Shapes in contact are treated as overlapping, so that rounding blocks no turn.
    hair_mm = _FLUSH * sliver_mm / 2
    is_overlapping = _overlap(turning.grown(-hair_mm), standing.grown(-hair_mm))
    apart, overlapping = np.flatnonzero(~is_overlapping), np.flatnonzero(is_overlapping)
    free_rad = np.full(len(senses), np.inf)
    free_rad[apart] = _first_turns(
        pivots_mm[apart],
        senses[apart],
        inner.take(apart).edges(),
        standing.take(apart).grown(-sliver_mm / 2).edges(),
    )
    # The part outside, as one convex piece beyond each side of the turning shape.
    sides = turning.offsets_mm.shape[1]
    rows, side = np.repeat(overlapping, sides), np.tile(np.arange(sides), len(overlapping))
    rest = standing.take(rows).beyond(turning.take(rows), side).grown(-sliver_mm / 2)
    turns_rad = _first_turns(pivots_mm[rows], senses[rows], inner.take(rows).edges(), rest.edges())
    free_rad[overlapping] = turns_rad.reshape(-1, sides).min(axis=1)
    return free_rad


def first_turn_rad(pivot_mm: ArrayLike, sense: float, turning: HalfPlanes, rings: Array) -> float:
    """Returns the turn at which convex shapes first cross any of the edges (e, 2, 2).

    Infinite if they never do. Shapes and edges must not overlap at the start.
    """
    steps = rings[:, 1] - rings[:, 0]
    normals = np.stack([steps[:, 1], -steps[:, 0]], axis=1) / np.hypot(*steps.T)[:, None]
    standing = Edges(normals[None], rings[None, :, 0], rings[None, :, 1])
    edges = turning.edges()
    own = Edges(
        *(array.reshape(1, -1, 2) for array in (edges.normals, edges.starts_mm, edges.ends_mm))
    )
    pivots_mm, senses = np.asarray(pivot_mm, dtype=np.float64)[None], np.array([sense])
    return float(_first_turns(pivots_mm, senses, own, standing)[0])


def _first_turns(pivots_mm: Array, senses: Array, turning: Edges, standing: Edges) -> Array:
    """Returns the turn (r,) at which turning edges first cross standing ones."""
    of_turning = _crossings_rad(pivots_mm, senses, turning.starts_mm, standing)
    # Seen from the turning shape, the standing corners turn the other way.
    of_standing = _crossings_rad(pivots_mm, -senses, standing.starts_mm, turning)
    return np.minimum(of_turning, of_standing)


def _crossings_rad(pivots_mm: Array, senses: Array, points_mm: Array, edges: Edges) -> Array:
    """Returns the turn (r,) at which the first of points (r, p, 2) hits an edge, at most 2 pi."""
    from_pivot = points_mm - pivots_mm[:, None]
    radii_mm = np.hypot(from_pivot[..., 0], from_pivot[..., 1])[:, :, None]
    bearings_rad = np.arctan2(from_pivot[..., 1], from_pivot[..., 0])[:, :, None]
    starts, steps = edges.starts_mm - pivots_mm[:, None], edges.ends_mm - edges.starts_mm
    normals_rad = np.arctan2(edges.normals[..., 1], edges.normals[..., 0])[:, None]
    away_mm = (starts * edges.normals).sum(axis=-1)[:, None]
    # A circle meets an edge's line `half_rad` to either side of the normal; keep those on the edge.
    along = np.stack([-edges.normals[..., 1], edges.normals[..., 0]], axis=-1)
    along *= np.sign((steps * along).sum(axis=-1))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        half_rad = np.arccos(away_mm / radii_mm)
        chord_mm = np.sqrt(radii_mm**2 - away_mm**2)
    first_mm = (starts * along).sum(axis=-1)[:, None]
    last_mm = first_mm + np.abs((steps * along).sum(axis=-1))[:, None]
    handedness = np.sign(_cross(edges.normals, along))[:, None]
    first_turn_rad = np.full(len(senses), np.inf)
    for side in (1.0, -1.0):
        at_mm = side * handedness * chord_mm
        is_on = (at_mm >= first_mm - _HAIR_MM) & (at_mm <= last_mm + _HAIR_MM)
        turns_rad = senses[:, None, None] * (normals_rad + side * half_rad - bearings_rad)
        # A crossing behind the corner is reached after the rest of a full turn.
        turns_rad = np.where(is_on, turns_rad % (2 * np.pi), np.inf)
        first_turn_rad = np.minimum(first_turn_rad, turns_rad.min(axis=(1, 2), initial=np.inf))
    return first_turn_rad


def _overlap(a: HalfPlanes, b: HalfPlanes) -> Flags:
    """Whether shapes overlap or touch: no side of either separates them."""
    return _no_side_separates(a, b) & _no_side_separates(b, a)


def _no_side_separates(sides: HalfPlanes, shapes: HalfPlanes) -> Flags:
    """Whether each shape has a corner behind every side of the other; false for an empty shape."""
    edges = shapes.edges()
    corner_mm = sides.normals @ np.swapaxes(edges.starts_mm, 1, 2) - sides.offsets_mm[..., None]
    gaps_mm = np.where(np.isnan(corner_mm), np.inf, corner_mm).min(axis=2)
    return np.asarray((gaps_mm <= _HAIR_MM).all(axis=1))


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
