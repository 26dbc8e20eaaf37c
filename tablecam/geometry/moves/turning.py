"""How far convex shapes can turn about a place before they come upon others, in closed form.

A corner that turns runs along a circle, so the turn at which it crosses an edge is an arc cosine.
What turns first meets what stands still where a corner of the one crosses an edge of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

_HAIR_MM = 1e-9

_FLUSH = 0.2
"""Shapes that lie in each other by less than this share of a sliver count as flush."""


@dataclass(frozen=True, slots=True, eq=False)
class HalfPlanes:
    """Convex shapes (r,), each as what lies behind h lines.

    `normals` (r, h, 2) point outward, `offsets_mm` (r, h) are how far along them the lines lie.
    """

    normals: Array
    offsets_mm: Array

    def grown(self, by_mm: ArrayLike) -> HalfPlanes:
        """The shapes with every side moved outward; below 0 inward, until nothing is left."""
        return HalfPlanes(self.normals, self.offsets_mm + np.asarray(by_mm)[..., None])

    def take(self, rows: Indices) -> HalfPlanes:
        """Some of the shapes, in that order."""
        return HalfPlanes(self.normals[rows], self.offsets_mm[rows])

    def beyond(self, others: HalfPlanes, sides: Indices) -> HalfPlanes:
        """What of the shapes lies beyond one side each of others."""
        rows = np.arange(len(sides))
        normals, offsets_mm = -others.normals[rows, sides], -others.offsets_mm[rows, sides]
        return HalfPlanes(
            np.concatenate([self.normals, normals[:, None]], axis=1),
            np.concatenate([self.offsets_mm, offsets_mm[:, None]], axis=1),
        )

    def edges(self) -> Edges:
        """Their edges, each as what the other lines leave of one."""
        along = np.stack([-self.normals[..., 1], self.normals[..., 0]], axis=-1)
        on_line = self.normals * self.offsets_mm[..., None]
        rate = along @ np.swapaxes(self.normals, 1, 2)
        room_mm = self.offsets_mm[:, None] - on_line @ np.swapaxes(self.normals, 1, 2)
        np.einsum("rii->ri", room_mm)[:] = 0.0
        np.einsum("rii->ri", rate)[:] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = room_mm / rate
        first = np.where(rate < 0, ends, -np.inf).max(axis=2)
        last = np.where(rate > 0, ends, np.inf).min(axis=2)
        is_left = (first <= last) & ~((rate == 0) & (room_mm < 0)).any(axis=2)
        first, last = np.where(is_left, first, np.nan), np.where(is_left, last, np.nan)
        return Edges(
            self.normals,
            on_line + along * first[..., None],
            on_line + along * last[..., None],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Edges (r, e) of shapes (r,): their unit normals, and where they start and end (r, e, 2).

    An edge of which nothing is left is nowhere: its ends are NaN.
    """

    normals: Array
    starts_mm: Array
    ends_mm: Array


def half_planes(corners_mm: Array) -> HalfPlanes:
    """Convex shapes as half planes, from their corners (r, k, 2) in order, either way round."""
    steps = np.roll(corners_mm, -1, axis=1) - corners_mm
    outward = np.stack([steps[..., 1], -steps[..., 0]], axis=-1)
    outward /= np.hypot(outward[..., 0], outward[..., 1])[..., None]
    is_clockwise = _cross(steps[:, 0], steps[:, 1]) < 0
    outward[is_clockwise] *= -1
    return HalfPlanes(outward, (outward * corners_mm).sum(axis=-1))


def free_turns_rad(
    pivots_mm: Array,
    senses: Array,
    turning: HalfPlanes,
    standing: HalfPlanes,
    sliver_mm: float = 0.0,
) -> Array:
    """By what turn (r,) each shape comes to lie in the one that stands still at its place.

    By so much that a disc as wide as a sliver lies in both; infinite where no turn does it. It
    turns about `pivots_mm` (r, 2), counter-clockwise where `senses` (r,) is 1, else -1. Of what it
    lies in at the start only the rest counts. What nothing but a corner reaches as it swings past
    has to be a fifth of a sliver deeper in its way.
    """
    inner = turning.grown(-sliver_mm / 2)
    # Of one that it lies in by less than a sliver only the rest counts, too.
    hair_mm = _FLUSH * sliver_mm / 2
    is_met = _overlap(turning.grown(-hair_mm), standing.grown(-hair_mm))
    plain, met = np.flatnonzero(~is_met), np.flatnonzero(is_met)
    found = np.full(len(senses), np.inf)
    found[plain] = _first_turns(
        pivots_mm[plain],
        senses[plain],
        inner.take(plain).edges(),
        standing.take(plain).grown(-sliver_mm / 2).edges(),
    )
    # The rest of it, in as many convex parts as there are sides to lie beyond.
    sides = turning.offsets_mm.shape[1]
    rows, side = np.repeat(met, sides), np.tile(np.arange(sides), len(met))
    rest = standing.take(rows).beyond(turning.take(rows), side).grown(-sliver_mm / 2)
    turns_rad = _first_turns(pivots_mm[rows], senses[rows], inner.take(rows).edges(), rest.edges())
    found[met] = turns_rad.reshape(-1, sides).min(axis=1)
    return found


def first_turn_rad(pivot_mm: ArrayLike, sense: float, turning: HalfPlanes, rings: Array) -> float:
    """By what turn convex shapes, all apart from them, first cross edges (e, 2, 2) of any shapes.

    Infinite where no turn does it.
    """
    steps = rings[:, 1] - rings[:, 0]
    normals = np.stack([steps[:, 1], -steps[:, 0]], axis=1) / np.hypot(*steps.T)[:, None]
    standing = Edges(normals[None], rings[None, :, 0], rings[None, :, 1])
    edges = turning.edges()
    own = Edges(
        *(each.reshape(1, -1, 2) for each in (edges.normals, edges.starts_mm, edges.ends_mm))
    )
    place, senses = np.asarray(pivot_mm, dtype=np.float64)[None], np.array([sense])
    return float(_first_turns(place, senses, own, standing)[0])


def _first_turns(pivots_mm: Array, senses: Array, turning: Edges, standing: Edges) -> Array:
    """By what turn (r,) edges that are apart from others first cross them."""
    forth = _crossings_rad(pivots_mm, senses, turning.starts_mm, standing)
    back = _crossings_rad(pivots_mm, -senses, standing.starts_mm, turning)
    return np.minimum(forth, back)


def _crossings_rad(pivots_mm: Array, senses: Array, points_mm: Array, edges: Edges) -> Array:
    """By what turn (r,) the first of points (r, p, 2) comes upon an edge; no turn is over 2 pi."""
    from_pivot = points_mm - pivots_mm[:, None]
    radii_mm = np.hypot(from_pivot[..., 0], from_pivot[..., 1])[:, :, None]
    bearings_rad = np.arctan2(from_pivot[..., 1], from_pivot[..., 0])[:, :, None]
    starts, steps = edges.starts_mm - pivots_mm[:, None], edges.ends_mm - edges.starts_mm
    normals_rad = np.arctan2(edges.normals[..., 1], edges.normals[..., 0])[:, None]
    away_mm = (starts * edges.normals).sum(axis=-1)[:, None]
    # How far along an edge from its start, and how far back from its end, a crossing lies.
    along = np.stack([-edges.normals[..., 1], edges.normals[..., 0]], axis=-1)
    along *= np.sign((steps * along).sum(axis=-1))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        half_rad = np.arccos(away_mm / radii_mm)
        chord_mm = np.sqrt(radii_mm**2 - away_mm**2)
    first_mm = (starts * along).sum(axis=-1)[:, None]
    last_mm = first_mm + np.abs((steps * along).sum(axis=-1))[:, None]
    handed = np.sign(_cross(edges.normals, along))[:, None]
    found = np.full(len(senses), np.inf)
    for side in (1.0, -1.0):
        at_mm = side * handed * chord_mm
        is_on = (at_mm >= first_mm - _HAIR_MM) & (at_mm <= last_mm + _HAIR_MM)
        turns_rad = senses[:, None, None] * (normals_rad + side * half_rad - bearings_rad)
        turns_rad = np.where(is_on, turns_rad % (2 * np.pi), np.inf)
        found = np.minimum(found, turns_rad.min(axis=(1, 2), initial=np.inf))
    return found


def _overlap(these: HalfPlanes, others: HalfPlanes) -> Flags:
    """Which shapes overlap or touch: no side of either has all of the other beyond it."""
    return _is_before(these, others) & _is_before(others, these)


def _is_before(sides: HalfPlanes, shapes: HalfPlanes) -> Flags:
    """Whether something of each shape lies behind every side of the other; not where it is none."""
    edges = shapes.edges()
    lowest = sides.normals @ np.swapaxes(edges.starts_mm, 1, 2) - sides.offsets_mm[..., None]
    gaps_mm = np.where(np.isnan(lowest), np.inf, lowest).min(axis=2)
    return np.asarray((gaps_mm <= _HAIR_MM).all(axis=1))


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
