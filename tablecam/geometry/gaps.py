"""Signed gaps between pairs of rectangles, and their derivatives by both poses.

Shapely measures distances, but neither their derivatives nor the depth of an overlap; standard
deviations and contact need both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.rectangles import Array, Rectangles

_TOUCHING_MM = 1e-9
"""The gap below which the direction between the nearest points is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class CornerGaps:
    """Signed gaps from the corners of p pairs of rectangles to the other rectangle, 8 per pair.

    `gaps_mm` (p, 8) is infinite for a corner that does not count; the minimum is the pair's gap.
    `by_a` and `by_b` (p, 8, 3) are its derivatives by each rectangle's centre (x, y) and heading
    (radians).
    """

    gaps_mm: Array
    by_a: Array
    by_b: Array


def separations(a: Rectangles, b: Rectangles) -> tuple[Array, NDArray[np.intp], Array]:
    """Returns the largest separation of p pairs along the normal of an edge (separating axes).

    Returns:
        The separation (p,) in mm, negative for an overlap; the index of the normal (p,): b's right,
        b's ahead, a's right, a's ahead; and that normal (p, 2), pointing from a to b.
    """
    normals = np.concatenate([b.axes, a.axes], axis=1)
    between = np.einsum("pij,pj->pi", normals, b.centres_mm - a.centres_mm)
    radii = _projected_radii(a, normals) + _projected_radii(b, normals)
    apart = np.abs(between) - radii
    # Separating axes: convex shapes are apart along the normal of some edge, or along none.
    which = np.argmax(apart, axis=1)
    rows = np.arange(len(which))
    sign = np.where(between[rows, which] >= 0, 1.0, -1.0)
    return apart[rows, which], which, normals[rows, which] * sign[:, None]


def corner_gaps(a: Rectangles, b: Rectangles) -> CornerGaps:
    """Returns the gaps between corners and rectangles of p pairs, row by row of `a` and `b`."""
    corners_a, corners_b = a.corners_mm(), b.corners_mm()
    on_b, _ = _nearest_on(b, corners_a)
    on_a, at_corner = _nearest_on(a, corners_b)
    from_mm = np.concatenate([corners_a, on_a], axis=1)
    to_mm = np.concatenate([on_b, corners_b], axis=1)
    gaps_mm = np.linalg.norm(to_mm - from_mm, axis=-1)
    # Avoids a division by 0; pairs that touch are replaced below.
    safe = np.maximum(gaps_mm, _TOUCHING_MM)
    normals = (to_mm - from_mm) / safe[..., None]
    # A gap from corner to corner counts once: a's corner has it already.
    gaps_mm[:, 4:][at_corner] = np.inf
    rows, *overlaps = _overlapping_gaps(a, b, corners_a, corners_b)
    for values, overlapping in zip((gaps_mm, normals, from_mm, to_mm), overlaps, strict=True):
        values[rows] = overlapping
    return CornerGaps(
        gaps_mm,
        by_a=-_by_pose(normals, from_mm - a.centres_mm[:, None]),
        by_b=_by_pose(normals, to_mm - b.centres_mm[:, None]),
    )


def _projected_radii(rects: Rectangles, normals: Array) -> Array:
    """Returns how far rectangles extend from their centres along normals (p, k, 2), (p, k)."""
    components = np.abs(np.einsum("pij,pkj->pki", rects.axes, normals))
    return np.asarray(np.einsum("pki,pi->pk", components, rects.halves_mm))


def _nearest_on(rects: Rectangles, points: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Returns the points of rectangles nearest to points (p, k, 2), and which are corners."""
    offsets = points - rects.centres_mm[:, None]
    local = np.einsum("pij,pkj->pki", rects.axes, offsets)
    halves = rects.halves_mm[:, None]
    nearest = np.clip(local, -halves, halves)
    at_corner = (np.abs(nearest) >= halves - _TOUCHING_MM).all(axis=-1)
    return rects.centres_mm[:, None] + nearest @ rects.axes, at_corner


def _overlapping_gaps(
    a: Rectangles, b: Rectangles, corners_a: Array, corners_b: Array
) -> tuple[NDArray[np.intp], Array, Array, Array, Array]:
    """Returns the gaps of pairs that overlap or touch: corners to the face of least overlap.

    Returns:
        Indices of the pairs (q,); gaps (q, 8); normals, points on a and on b, each (q, 8, 2).
    """
    apart, which, normals = separations(a, b)
    rows = np.flatnonzero(apart <= _TOUCHING_MM)
    which, normals = which[rows], normals[rows][:, None]
    by_b = (which < 2)[:, None, None]  # The face is b's, and the corners are a's.
    face = np.where(which < 2, b.halves_mm[rows, which % 2], a.halves_mm[rows, which % 2])
    ahead_a = (normals * (corners_a[rows] - a.centres_mm[rows, None])).sum(-1)
    ahead_b = (normals * (corners_b[rows] - b.centres_mm[rows, None])).sum(-1)
    between = (normals[:, 0] * (b.centres_mm[rows] - a.centres_mm[rows])).sum(-1)[:, None]
    gaps = between - face[:, None] + np.where(by_b[..., 0], -ahead_a, ahead_b)
    steps = normals * gaps[..., None]
    from_mm = np.where(by_b, corners_a[rows], corners_b[rows] - steps)
    to_mm = np.where(by_b, corners_a[rows] + steps, corners_b[rows])
    return (
        rows,
        np.concatenate([gaps, np.full_like(gaps, np.inf)], axis=1),
        np.tile(np.broadcast_to(normals, from_mm.shape), (1, 2, 1)),
        np.tile(from_mm, (1, 2, 1)),
        np.tile(to_mm, (1, 2, 1)),
    )


def _by_pose(normals: Array, arms: Array) -> Array:
    """Returns the derivatives of points on arms (p, k, 2) along normals, by x, y and heading."""
    by_heading = normals[..., 1] * arms[..., 0] - normals[..., 0] * arms[..., 1]
    return np.concatenate([normals, by_heading[..., None]], axis=-1)
