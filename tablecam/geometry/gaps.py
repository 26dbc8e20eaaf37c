"""Signed gaps between many rectangles, and how each gap answers to where the two lie.

shapely measures a distance but cannot say how it changes when a base is moved or turned, nor how
deep two bases overlap; both are needed for a standard deviation and for contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.rectangles import Array, Rectangles

_TOUCHING_MM = 1e-9
"""Below this there is no telling in which direction the nearest points lie apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """The ways, eight at most, in which each of p pairs of rectangles may come nearest.

    A way is a corner of one against the other. `gaps_mm` (p, 8) is its signed gap, infinite where
    there is no such way; the least is the pair's. `by_a` and `by_b` (p, 8, 3) are its derivatives
    by each rectangle's centre (x, y) and heading (radians).
    """

    gaps_mm: Array
    by_a: Array
    by_b: Array


def separations(a: Rectangles, b: Rectangles) -> tuple[Array, NDArray[np.intp], Array]:
    """How far apart p pairs lie along whichever edge's normal parts them most.

    Returns:
        The separation (p,) in mm, negative by how deep they overlap; which normal it is (p,): b's
        right, b's ahead, a's right, a's ahead; and that normal (p, 2), pointing from a to b.
    """
    normals = np.concatenate([b.axes, a.axes], axis=1)
    between = np.einsum("pij,pj->pi", normals, b.centres_mm - a.centres_mm)
    reach = _reach(a, normals) + _reach(b, normals)
    apart = np.abs(between) - reach
    which = np.argmax(apart, axis=1)
    rows = np.arange(len(which))
    sign = np.where(between[rows, which] >= 0, 1.0, -1.0)
    return apart[rows, which], which, normals[rows, which] * sign[:, None]


def ways_apart(a: Rectangles, b: Rectangles) -> Ways:
    """The ways in which p pairs of rectangles, aligned, may come nearest."""
    corners_a, corners_b = a.corners_mm(), b.corners_mm()
    on_b, _ = _nearest_on(b, corners_a)
    on_a, at_corner = _nearest_on(a, corners_b)
    from_mm = np.concatenate([corners_a, on_a], axis=1)
    to_mm = np.concatenate([on_b, corners_b], axis=1)
    gaps_mm = np.linalg.norm(to_mm - from_mm, axis=-1)
    safe = np.maximum(gaps_mm, _TOUCHING_MM)
    normals = (to_mm - from_mm) / safe[..., None]
    # Corner to corner is one way, not two: a's corner has it already.
    gaps_mm[:, 4:][at_corner] = np.inf
    overlaps = _overlapping_ways(a, b, corners_a, corners_b)
    for ours, theirs in zip((gaps_mm, normals, from_mm, to_mm), overlaps[1:], strict=True):
        ours[overlaps[0]] = theirs
    return Ways(
        gaps_mm,
        by_a=-_by_pose(normals, from_mm - a.centres_mm[:, None]),
        by_b=_by_pose(normals, to_mm - b.centres_mm[:, None]),
    )


def _reach(these: Rectangles, normals: Array) -> Array:
    """How far rectangles reach from their centres along normals (p, k, 2): (p, k)."""
    shares = np.abs(np.einsum("pij,pkj->pki", these.axes, normals))
    return np.asarray(np.einsum("pki,pi->pk", shares, these.halves_mm))


def _nearest_on(these: Rectangles, points: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The points of rectangles nearest to points (p, k, 2), and whether each is a corner."""
    offsets = points - these.centres_mm[:, None]
    local = np.einsum("pij,pkj->pki", these.axes, offsets)
    halves = these.halves_mm[:, None]
    nearest = np.clip(local, -halves, halves)
    at_corner = (np.abs(nearest) >= halves - _TOUCHING_MM).all(axis=-1)
    return these.centres_mm[:, None] + nearest @ these.axes, at_corner


def _overlapping_ways(
    a: Rectangles, b: Rectangles, corners_a: Array, corners_b: Array
) -> tuple[NDArray[np.intp], Array, Array, Array, Array]:
    """The ways of the pairs that overlap or touch: corners against the face that parts them most.

    Returns:
        Which pairs (q,); gaps (q, 8); normals, points on a and points on b, each (q, 8, 2).
    """
    apart, which, normals = separations(a, b)
    rows = np.flatnonzero(apart <= _TOUCHING_MM)
    which, normals = which[rows], normals[rows][:, None]
    by_b = (which < 2)[:, None, None]  # the face is b's, and the corners are a's
    face = np.where(which < 2, b.halves_mm[rows, which % 2], a.halves_mm[rows, which % 2])
    ahead_a = (normals * (corners_a[rows] - a.centres_mm[rows, None])).sum(-1)
    ahead_b = (normals * (corners_b[rows] - b.centres_mm[rows, None])).sum(-1)
    between = (normals[:, 0] * (b.centres_mm[rows] - a.centres_mm[rows])).sum(-1)[:, None]
    gaps = between - face[:, None] + np.where(by_b[..., 0], -ahead_a, ahead_b)
    moved = normals * gaps[..., None]
    from_mm = np.where(by_b, corners_a[rows], corners_b[rows] - moved)
    to_mm = np.where(by_b, corners_a[rows] + moved, corners_b[rows])
    return (
        rows,
        np.concatenate([gaps, np.full_like(gaps, np.inf)], axis=1),
        np.tile(np.broadcast_to(normals, from_mm.shape), (1, 2, 1)),
        np.tile(from_mm, (1, 2, 1)),
        np.tile(to_mm, (1, 2, 1)),
    )


def _by_pose(normals: Array, arms: Array) -> Array:
    """How points on arms (p, k, 2) about a centre move along normals, by x, y and heading."""
    by_heading = normals[..., 1] * arms[..., 0] - normals[..., 0] * arms[..., 1]
    return np.concatenate([normals, by_heading[..., None]], axis=-1)
