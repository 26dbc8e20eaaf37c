"""Computes tangents of equal circles, and the crossings of rings about polygons.

A ring is the outline of a polygon grown by a radius: lines parallel to its edges, joined by arcs
about its corners. Arcs are exact, never divided into chords.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_SAME_MM = 1e-5
"""Corners closer than this are the same: outlines are rounded on a finer grid."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The e edges of some polygons: their starts (e, 2) and ends (e, 2)."""

    starts_mm: Array
    ends_mm: Array

    @classmethod
    def of(cls, polygons: NDArray[Any]) -> Edges:
        """Returns the edges of polygons and multipolygons, holes included."""
        rings = shapely.get_rings(shapely.get_parts(polygons))
        points, ring = shapely.get_coordinates(rings, return_index=True)
        is_edge = ring[1:] == ring[:-1]
        starts, ends = points[:-1][is_edge], points[1:][is_edge]
        has_length = np.linalg.norm(ends - starts, axis=1) > 0.0
        return cls(starts[has_length], ends[has_length])

    @property
    def along(self) -> Array:
        """Unit vectors along the edges, (e, 2)."""
        edges = self.ends_mm - self.starts_mm
        return np.asarray(edges / np.linalg.norm(edges, axis=1)[:, None])

    @property
    def normals(self) -> Array:
        """Unit vectors to the left of the edges, (e, 2)."""
        along = self.along
        return np.stack([-along[:, 1], along[:, 0]], axis=1)

    def beside(self, left_mm: float) -> Edges:
        """Returns the edges shifted to their left."""
        shift = left_mm * self.normals
        return Edges(self.starts_mm + shift, self.ends_mm + shift)


def at_angle(centres_mm: Array, angles_rad: Array, radius_mm: float) -> Array:
    """Returns the points (..., 2) of circles at angles counter-clockwise from +x."""
    spokes = np.stack([np.cos(angles_rad), np.sin(angles_rad)], axis=-1)
    return np.asarray(centres_mm + radius_mm * spokes)


def angles_of(vectors: Array) -> Array:
    """Returns the angles (...,) of vectors (..., 2), in radians counter-clockwise from +x."""
    return np.asarray(np.arctan2(vectors[..., 1], vectors[..., 0]))


def tangents(
    points_mm: Array, centres_mm: Array, radius_mm: float
) -> tuple[Indices, Indices, Array]:
    """Returns the tangents from points (p, 2) to circles about centres (c, 2).

    Returns:
        For each of t lines its point (t,), its circle (t,) and the angle (t,) of contact. A point
        on a circle has two lines of length 0; a point inside it has none.
    """
    between = points_mm[:, None] - centres_mm[None, :]
    apart = np.linalg.norm(between, axis=-1)
    point, circle = np.nonzero(apart >= radius_mm * (1.0 - 1e-9))
    # The radius at the point of contact is perpendicular to the tangent.
    turn = np.arccos(np.minimum(radius_mm / np.maximum(apart[point, circle], 1e-12), 1.0))
    facing = angles_of(between[point, circle])
    angles = np.concatenate([facing - turn, facing + turn])
    return np.tile(point, 2), np.tile(circle, 2), angles


def bitangents(centres_mm: Array, radius_mm: float) -> tuple[Indices, Indices, Array, Array]:
    """Returns the common tangents of pairs of equal circles about centres (c, 2).

    Returns:
        For each of t lines its first and second circle (t,), and the angle of contact on each (t,).
    """
    first, second = np.triu_indices(len(centres_mm), k=1)
    between = centres_mm[second] - centres_mm[first]
    apart, facing = np.linalg.norm(between, axis=-1), angles_of(between)
    # Outer tangents are parallel to the line of centres; inner ones cross it if circles are apart.
    outer = [(facing + turn, facing + turn) for turn in (-np.pi / 2, np.pi / 2)]
    clear = apart >= 2.0 * radius_mm
    turn = np.arccos(np.minimum(2.0 * radius_mm / np.maximum(apart, 1e-12), 1.0))
    inner = [(facing + sign * turn, facing + sign * turn + np.pi) for sign in (-1.0, 1.0)]
    at_first = [angles for angles, _ in outer] + [angles[clear] for angles, _ in inner]
    at_second = [angles for _, angles in outer] + [angles[clear] for _, angles in inner]
    from_circle = [first, first, first[clear], first[clear]]
    to_circle = [second, second, second[clear], second[clear]]
    columns = (np.concatenate(parts) for parts in (from_circle, to_circle, at_first, at_second))
    return tuple(columns)  # type: ignore[return-value]  # mypy does not see that there are four


def crossings_on_circles(
    centres_mm: Array, edges: Edges, radius_mm: float
) -> tuple[Indices, Array]:
    """Returns where equal circles about centres (c, 2) cross each other and parallels to edges.

    Returns:
        For each of t crossings its circle (t,) and the angle (t,).
    """
    if radius_mm <= 0.0 or not len(centres_mm):
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    between = centres_mm[None, :] - centres_mm[:, None]
    apart = np.linalg.norm(between, axis=-1)
    circle, other = np.nonzero((apart > 0.0) & (apart <= 2.0 * radius_mm))
    turn = np.arccos(apart[circle, other] / (2.0 * radius_mm))
    facing = angles_of(between[circle, other])
    crossings = [(circle, facing - turn), (circle, facing + turn)]
    normals = edges.normals
    across = np.einsum("cej,ej->ce", centres_mm[:, None] - edges.starts_mm[None], normals)
    for side in (-1.0, 1.0):
        cosine = side - across / radius_mm
        circle, edge = np.nonzero(np.abs(cosine) <= 1.0)
        turn, facing = np.arccos(cosine[circle, edge]), angles_of(normals[edge])
        crossings += [(circle, facing - turn), (circle, facing + turn)]
    circles, angles = zip(*crossings, strict=True)
    return np.concatenate(circles), np.concatenate(angles)


def crossings_on_edges(
    edges: Edges, centres_mm: Array, rings: Edges, radius_mm: float
) -> tuple[Array, Indices]:
    """Returns where edges cross circles about centres (c, 2) and parallels to other edges.

    The parallels are infinite, so that some crossings lie on no ring.

    Returns:
        The crossings (t, 2), and the index of the edge of each (t,).
    """
    crossings = [_crossings_with_circles(edges, centres_mm, radius_mm)]
    along = edges.ends_mm - edges.starts_mm
    normals = rings.normals
    start = np.einsum("ej,rj->er", edges.starts_mm, normals)
    start -= np.einsum("rj,rj->r", rings.starts_mm, normals)
    rise = along @ normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        for side in (-radius_mm, radius_mm):
            # Divisions by 0 for parallel edges give values that the test below rejects.
            share = (side - start) / rise
            edge, ring = np.nonzero((share >= 0.0) & (share <= 1.0))
            points_on_edges = edges.starts_mm[edge] + share[edge, ring, None] * along[edge]
            crossings.append((points_on_edges, edge))
    points, which = zip(*crossings, strict=True)
    return np.concatenate(points), np.concatenate(which)


def _crossings_with_circles(
    edges: Edges, centres_mm: Array, radius_mm: float
) -> tuple[Array, Indices]:
    along = edges.along
    lengths = np.linalg.norm(edges.ends_mm - edges.starts_mm, axis=1)
    between = edges.starts_mm[:, None] - centres_mm[None]
    nearest = -np.einsum("ecj,ej->ec", between, along)
    square = radius_mm**2 - (np.sum(between**2, axis=-1) - nearest**2)
    half = np.sqrt(np.maximum(square, 0.0))
    points, which = [], []
    for at_mm in (nearest - half, nearest + half):
        edge, circle = np.nonzero((square >= 0.0) & (at_mm >= 0.0) & (at_mm <= lengths[:, None]))
        points.append(edges.starts_mm[edge] + at_mm[edge, circle, None] * along[edge])
        which.append(edge)
    return np.concatenate(points), np.concatenate(which)


def corners_of(polygons: NDArray[Any]) -> Array:
    """Returns the corners (n, 2) of polygons and their holes, without points on straight edges."""
    rings = shapely.get_rings(shapely.get_parts(polygons))
    corners = [_turning_points(shapely.get_coordinates(ring)[:-1]) for ring in rings]
    return np.concatenate(corners) if corners else np.zeros((0, 2))


def edges_leaving(corners_mm: Array, edges: Edges) -> Array:
    """Returns the unit vectors (c, m, 2) of the edges that leave corners (c, 2), zero-padded."""
    along = edges.along
    ends = np.concatenate([edges.starts_mm, edges.ends_mm])
    directions = np.concatenate([along, -along])
    apart = np.abs(corners_mm[:, None] - ends[None]).max(axis=-1, initial=0.0)
    corner, end = np.nonzero(apart <= _SAME_MM)
    nth = np.arange(len(corner)) - np.searchsorted(corner, corner)
    leaving = np.zeros((len(corners_mm), 1 + int(nth.max(initial=0)), 2))
    leaving[corner, nth] = directions[end]
    return leaving


def _turning_points(points: Array) -> Array:
    """Returns those of the points (n, 2) of a ring at which it changes direction."""
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    # The cross product over the lengths is the sine of the turn.
    return np.asarray(points[np.abs(turn) > 1e-6 * lengths])
