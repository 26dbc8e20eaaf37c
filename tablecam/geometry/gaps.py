"""Signed gaps between pairs of rectangles or ellipses, and their derivatives with both poses.

Shapely measures distances, but neither their derivatives nor the depth of an overlap; standard
deviations and contact need both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.rectangles import Array, Rectangles

_TURN_RAD = math.tau / 64
_TURNS_RAD = np.arange(64) * _TURN_RAD
_GOLDEN_STEPS = 50
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

_TOUCHING_MM = 1e-9
"""The gap below which the direction between the nearest points is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class CornerGaps:
    """Signed gaps from the corners of p pairs of rectangles to the other rectangle, 8 per pair.

    `gaps_mm` (p, 8) is infinite for a corner that does not count; the minimum is the pair's gap.
    `by_a` and `by_b` (p, 8, 3) are its derivatives with respect to each rectangle's centre (x, y)
    and heading (radians).
    """

    gaps_mm: Array
    by_a: Array
    by_b: Array


def separations(a: Rectangles, b: Rectangles) -> tuple[Array, NDArray[np.intp], Array]:
    """Returns the largest separation of p pairs along the normal of an edge (separating axes).

    Returns:
        The separation (p,) in mm, negative for an overlap; the index of the normal (p,): b's right,
        b's ahead, a's right, a's ahead; and that normal (p, 2), pointing from a to b. A pair with
        an ellipse is separated in any direction, not only along normals.
    """
    normals = np.concatenate([b.axes, a.axes], axis=1)
    between = np.einsum("pij,pj->pi", normals, b.centres_mm - a.centres_mm)
    radii = _projected_radii(a, normals) + _projected_radii(b, normals)
    apart = np.abs(between) - radii
    # Separating axes: convex shapes are apart along the normal of some edge, or along none.
    which = np.argmax(apart, axis=1)
    rows = np.arange(len(which))
    sign = np.where(between[rows, which] >= 0, 1.0, -1.0)
    separation, normal = apart[rows, which], normals[rows, which] * sign[:, None]
    ovals = np.flatnonzero(a.is_oval | b.is_oval)
    if len(ovals):
        separation[ovals], normal[ovals] = _oval_separations(a.take(ovals), b.take(ovals))
    return separation, which, normal


def _oval_separations(a: Rectangles, b: Rectangles) -> tuple[Array, Array]:
    """Returns the separation (p,) of pairs of convex shapes, and its direction (p, 2) from a to b.

    The signed gap of two convex shapes is their largest separation in any direction: the distance
    between their supporting lines. It has one maximum while they are apart.
    """
    between = b.centres_mm - a.centres_mm

    def separation(at_rad: Array) -> Array:
        normals = np.stack([np.cos(at_rad), np.sin(at_rad)], axis=-1)
        radii = _projected_radii(a, normals) + _projected_radii(b, normals)
        return np.asarray(np.einsum("pki,pi->pk", normals, between) - radii)

    # Starting between the centres, circles are exact at once.
    start = np.arctan2(between[:, 1], between[:, 0])[:, None] + _TURNS_RAD
    best = start[np.arange(len(start)), np.argmax(separation(start), axis=1)][:, None]
    low, high = best - _TURN_RAD, best + _TURN_RAD
    for _ in range(_GOLDEN_STEPS):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        falls = separation(first) >= separation(second)
        low, high = np.where(falls, low, first), np.where(falls, second, high)
    middle = np.concatenate([best, (low + high) / 2], axis=1)
    values = separation(middle)
    rows, which = np.arange(len(values)), np.argmax(values, axis=1)
    at_rad = middle[rows, which]
    return values[rows, which], np.stack([np.cos(at_rad), np.sin(at_rad)], axis=-1)


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
    # Counts a gap from corner to corner only once, from a's corner.
    gaps_mm[:, 4:][at_corner] = np.inf
    rows, *overlaps = _overlapping_gaps(a, b, corners_a, corners_b)
    for values, overlapping in zip((gaps_mm, normals, from_mm, to_mm), overlaps, strict=True):
        values[rows] = overlapping
    ovals = np.flatnonzero(a.is_oval | b.is_oval)
    if len(ovals):
        oval_gaps = _oval_gaps(a.take(ovals), b.take(ovals))
        for values, of_ovals in zip((gaps_mm, normals, from_mm, to_mm), oval_gaps, strict=True):
            values[ovals] = of_ovals
    return CornerGaps(
        gaps_mm,
        by_a=-_by_pose(normals, from_mm - a.centres_mm[:, None]),
        by_b=_by_pose(normals, to_mm - b.centres_mm[:, None]),
    )


def _projected_radii(rects: Rectangles, normals: Array) -> Array:
    """Returns how far shapes extend from their centres along normals (p, k, 2), (p, k)."""
    components = np.abs(np.einsum("pij,pkj->pki", rects.axes, normals)) * rects.halves_mm[:, None]
    radii = components.sum(axis=-1)
    if rects.is_oval.any():
        oval = np.linalg.norm(components, axis=-1)
        radii = np.where(rects.is_oval[:, None], oval, radii)
    return np.asarray(radii)


def _oval_gaps(a: Rectangles, b: Rectangles) -> tuple[Array, Array, Array, Array]:
    """Returns the one gap of pairs with an ellipse, as if from the first of 8 corners.

    Returns:
        Gaps (p, 8), infinite but for the first; normals, points on a and on b, each (p, 8, 2).
    """
    apart, normals = _oval_separations(a, b)
    gaps = np.full((len(apart), 8), np.inf)
    gaps[:, 0] = apart
    # An ellipse touches its supporting line at one point, the nearest to the other shape.
    steps = normals * apart[:, None]
    on_a, on_b = a.centres_mm + _touched(a, normals), b.centres_mm + _touched(b, -normals)
    is_from_a = a.is_oval[:, None]
    from_mm, to_mm = (
        np.where(is_from_a, on_a, on_b - steps),
        np.where(is_from_a, on_a + steps, on_b),
    )
    return gaps, _repeated(normals), _repeated(from_mm), _repeated(to_mm)


def _repeated(points: Array) -> Array:
    return np.repeat(points[:, None], 8, axis=1)


def _touched(ovals: Rectangles, normals: Array) -> Array:
    """Returns the points of ellipses farthest along normals (p, 2), from their centres (p, 2)."""
    across = np.einsum("pij,pj->pi", ovals.axes, normals) * ovals.halves_mm
    # A shape of size 0 touches with its centre.
    reach = np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), _TOUCHING_MM)
    return np.asarray(np.einsum("pi,pij->pj", across * ovals.halves_mm / reach, ovals.axes))


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
    """Returns the derivatives by x, y and heading, along normals, of points on arms (p, k, 2)."""
    by_heading = normals[..., 1] * arms[..., 0] - normals[..., 0] * arms[..., 1]
    return np.concatenate([normals, by_heading[..., None]], axis=-1)
