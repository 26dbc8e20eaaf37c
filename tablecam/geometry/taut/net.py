"""Builds the visibility graph of taut paths: lines tangent to rings, and arcs of the rings.

Arcs are exact. Each line has two end nodes of its own, its feet; feet on the same circle are
connected by the arcs between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.taut.rings import Flags, Rings
from tablecam.geometry.taut.tangents import (
    Array,
    Edges,
    Indices,
    angles_of,
    at_angle,
    bitangents,
    crossings_on_circles,
    crossings_on_edges,
    tangents,
)

_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Feet:
    """The n end points of lines, which are the nodes of the graph.

    `points_mm` (n, 2); `circles` and `angles_rad`, the circle that a foot is on; `goals`, the goal
    that it reaches; -1 for none. `costs_mm` is the cost of starting there, infinite if impossible.
    """

    points_mm: Array
    circles: Indices
    angles_rad: Array
    goals: Indices
    costs_mm: Array

    @classmethod
    def at(cls, points_mm: Array) -> Feet:
        """Returns feet at points (n, 2), on no circle and no goal."""
        none = np.full(len(points_mm), _NONE, dtype=np.intp)
        infinite = np.full(len(points_mm), np.inf)
        return cls(points_mm, none, np.zeros(len(points_mm)), none, infinite)

    @classmethod
    def on(cls, rings: Rings, circles: Indices, angles_rad: Array) -> Feet:
        """Returns feet on circles about corners, at angles (n,)."""
        points = at_angle(rings.corners_mm[circles], angles_rad, rings.keep_mm)
        none = np.full(len(points), _NONE, dtype=np.intp)
        return cls(points, circles, angles_rad, none, np.full(len(points), np.inf))

    def take(self, which: NDArray[Any]) -> Feet:
        """Returns some of the feet."""
        return Feet(*(getattr(self, field.name)[which] for field in fields(self)))

    @staticmethod
    def join(many: Sequence[Feet]) -> Feet:
        """Concatenates feet."""
        joined = [[getattr(feet, field.name) for feet in many] for field in fields(Feet)]
        return Feet(*(np.concatenate(columns) for columns in joined))


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """The possible starts of a taut path: points (s, 2) and the costs of getting there (s,).

    The first is the middle of a disc; lines from it begin at the disc's edge.
    """

    points_mm: Array
    costs_mm: Array
    disc_mm: float

    def feet(self, which: Indices, towards_mm: Array) -> Feet:
        """Returns the feet (n,) of lines from starts (n,) towards points (n, 2)."""
        begin = self.points_mm[which]
        offsets = towards_mm - begin
        lengths = np.linalg.norm(offsets, axis=1)
        skipped_mm = np.where(which == 0, np.minimum(self.disc_mm, lengths), 0.0)
        begin = begin + offsets * (skipped_mm / np.maximum(lengths, 1e-12))[:, None]
        return replace(Feet.at(begin), costs_mm=self.costs_mm[which])

    def edge_towards(self, point_mm: Array) -> Array:
        """Returns the point of the disc's edge that is nearest to a point."""
        return np.asarray(self.feet(np.zeros(1, dtype=np.intp), point_mm[None]).points_mm[0])


@dataclass(frozen=True, slots=True, eq=False)
class VisibilityGraph:
    """A graph of n lines between feet, and a arcs between feet on the same circle.

    Line i goes from foot 2 i to foot 2 i + 1; the feet where arcs are cut follow. `arcs` (a, 2) are
    indices of feet, `sweeps_rad` (a,) their counter-clockwise angles, `arcs_mm` (a,) their lengths.
    """

    feet: Feet
    lines_mm: Array
    arcs: Indices
    sweeps_rad: Array
    arcs_mm: Array


_Lines = tuple[Feet, Feet]


def visibility_graph(
    starts: Starts, goals: Sequence[shapely.Geometry], rings: Rings
) -> VisibilityGraph:
    """Builds the graph that contains every taut path from any start to any goal."""
    edges, owners = _edges_of(goals)
    ends = _ends(edges, owners, rings)
    groups = [
        _at_goals(starts, goals),
        _straight(starts, ends),
        _to_edges(starts, edges, owners),
        _tangents_from_starts(starts, rings),
        _bitangents(rings),
        _tangents_to_ends(ends, rings),
        _perpendiculars(edges, owners, rings),
    ]
    begin, end = Feet.join([a for a, _ in groups]), Feet.join([b for _, b in groups])
    # A commander may start outside the bounds, if that is where he stands.
    within = np.isfinite(begin.costs_mm) | rings.is_inside(begin.points_mm)
    valid = np.flatnonzero(within & rings.is_inside(end.points_mm))
    begin, end = begin.take(valid), end.take(valid)
    # The expensive test comes last, for lines that passed all others.
    free = rings.is_free_along(begin.points_mm, end.points_mm)
    return _with_arcs(begin.take(free), end.take(free), rings)


def _edges_of(goals: Sequence[shapely.Geometry]) -> tuple[Edges, Indices]:
    """Returns the edges of goals, and the goal of each edge."""
    by_goal = [Edges.of(np.array([goal])) for goal in goals]
    owners = np.repeat(np.arange(len(by_goal)), [len(edges.starts_mm) for edges in by_goal])
    starts = np.concatenate([edges.starts_mm for edges in by_goal])
    return Edges(starts, np.concatenate([edges.ends_mm for edges in by_goal])), owners


def _ends(edges: Edges, owners: Indices, rings: Rings) -> Feet:
    """Returns the corners of the goals, and the points where their edges enter rings."""
    entries, which = crossings_on_edges(edges, rings.corners_mm, rings.edges, rings.keep_mm)
    points = np.concatenate([edges.starts_mm, entries])
    goals = np.concatenate([owners, owners[which]])
    free = rings.is_free_at(points)
    return replace(Feet.at(points[free]), goals=goals[free])


def _at_goals(starts: Starts, goals: Sequence[shapely.Geometry]) -> _Lines:
    """Returns lines of length 0 at starts that lie on goals."""
    points = np.asarray(shapely.points(starts.points_mm))
    which, goal = np.nonzero(shapely.covers(np.array(goals)[None, :], points[:, None]))
    start_points = starts.points_mm[which]
    return starts.feet(which, start_points), replace(Feet.at(start_points), goals=goal)


def _straight(starts: Starts, ends: Feet) -> _Lines:
    which, end = _all_pairs(len(starts.points_mm), len(ends.goals))
    return starts.feet(which, ends.points_mm[end]), ends.take(end)


def _to_edges(starts: Starts, edges: Edges, owners: Indices) -> _Lines:
    """Returns the perpendiculars from starts to the goals' edges."""
    which, edge = _all_pairs(len(starts.points_mm), len(owners))
    feet, between = _projected(starts.points_mm[which], edges, edge)
    which, edge, feet = which[between], edge[between], feet[between]
    return starts.feet(which, feet), replace(Feet.at(feet), goals=owners[edge])


def _tangents_from_starts(starts: Starts, rings: Rings) -> _Lines:
    which, circles, angles = tangents(starts.points_mm, rings.corners_mm, rings.keep_mm)
    is_open = rings.is_open_at(circles, angles)
    which, touching = which[is_open], Feet.on(rings, circles[is_open], angles[is_open])
    return starts.feet(which, touching.points_mm), touching


def _tangents_to_ends(ends: Feet, rings: Rings) -> _Lines:
    which, circles, angles = tangents(ends.points_mm, rings.corners_mm, rings.keep_mm)
    is_open = rings.is_open_at(circles, angles)
    return Feet.on(rings, circles[is_open], angles[is_open]), ends.take(which[is_open])


def _bitangents(rings: Rings) -> _Lines:
    first, second, at_first, at_second = bitangents(rings.corners_mm, rings.keep_mm)
    both = np.flatnonzero(rings.is_open_at(first, at_first) & rings.is_open_at(second, at_second))
    return Feet.on(rings, first[both], at_first[both]), Feet.on(
        rings, second[both], at_second[both]
    )


def _perpendiculars(edges: Edges, owners: Indices, rings: Rings) -> _Lines:
    """Returns tangents of circles that meet goals' edges at right angles."""
    circles, edge = _all_pairs(len(rings.corners_mm), len(owners))
    circles, edge = np.tile(circles, 2), np.tile(edge, 2)
    # They touch where the radius is parallel to the edge.
    along = angles_of(edges.along[edge])
    # Each circle has two such tangents, on opposite sides.
    along[len(along) // 2 :] += np.pi
    is_open = rings.is_open_at(circles, along)
    circles, edge, along = circles[is_open], edge[is_open], along[is_open]
    touching = Feet.on(rings, circles, along)
    feet, between = _projected(touching.points_mm, edges, edge)
    ends = replace(Feet.at(feet[between]), goals=owners[edge[between]])
    return touching.take(between), ends


def _projected(points_mm: Array, edges: Edges, which: Indices) -> tuple[Array, Flags]:
    """Projects points (n, 2) on edges (n,): the feet (n, 2), and whether they lie on the edges."""
    start, along = edges.starts_mm[which], edges.along[which]
    along_mm = np.einsum("nj,nj->n", points_mm - start, along)
    length = np.linalg.norm(edges.ends_mm[which] - start, axis=1)
    return start + along_mm[:, None] * along, (along_mm > 0.0) & (along_mm < length)


def _all_pairs(n: int, m: int) -> tuple[Indices, Indices]:
    first, second = np.indices((n, m)).reshape(2, -1)
    return first, second


def _with_arcs(begin: Feet, end: Feet, rings: Rings) -> VisibilityGraph:
    """Returns the graph of the lines and of the free arcs between feet on the same circle."""
    order = np.arange(2 * len(begin.goals)).reshape(2, -1).T.ravel()
    feet = Feet.join([begin, end]).take(order)
    lengths = np.linalg.norm(end.points_mm - begin.points_mm, axis=1)
    circles, angles = crossings_on_circles(rings.corners_mm, rings.edges, rings.keep_mm)
    edge_circles, edge_angles = _crossings_of_bounds(rings)
    cuts = Feet.on(
        rings, np.concatenate([circles, edge_circles]), np.concatenate([angles, edge_angles])
    )
    feet = Feet.join([feet, cuts])
    arcs, sweeps = _arcs(feet)
    # Between two crossings with other rings an arc is free or blocked throughout: test its middle.
    middles = feet.angles_rad[arcs[:, 0]] + sweeps / 2
    points = at_angle(rings.corners_mm[feet.circles[arcs[:, 0]]], middles, rings.keep_mm)
    free = rings.is_free_at(points) & rings.is_inside(points)
    return VisibilityGraph(feet, lengths, arcs[free], sweeps[free], sweeps[free] * rings.keep_mm)


def _arcs(feet: Feet) -> tuple[Indices, Array]:
    """Returns the arcs (a, 2) from each foot to the next counter-clockwise, and their sweeps."""
    on_circle = np.flatnonzero(feet.circles != _NONE)
    angles_rad = feet.angles_rad[on_circle] % (2 * np.pi)
    order = np.lexsort((angles_rad, feet.circles[on_circle]))
    on_circle, angles_rad = on_circle[order], angles_rad[order]
    circles = feet.circles[on_circle]
    is_last = np.append(circles[1:] != circles[:-1], True)[: len(on_circle)]
    first = np.searchsorted(circles, circles)
    following = np.where(is_last, first, np.arange(1, len(on_circle) + 1))
    # The last foot of a circle continues to its first, across the angle 0.
    sweeps = np.where(is_last, 2 * np.pi, 0.0) + angles_rad[following] - angles_rad
    return np.stack([on_circle, on_circle[following]], axis=1), sweeps


def _crossings_of_bounds(rings: Rings) -> tuple[Indices, Array]:
    """Returns where circles cross the lines of the bounds: circles (t,) and angles (t,)."""
    if rings.bounds is None or rings.keep_mm <= 0:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    circles, angles = [], []
    for side, limit in enumerate(rings.bounds):
        cosine = (limit - rings.corners_mm[:, side % 2]) / rings.keep_mm
        crossing = np.flatnonzero(np.abs(cosine) <= 1.0)
        normal_rad = (side % 2) * np.pi / 2
        turn = np.arccos(cosine[crossing])
        circles += [crossing, crossing]
        angles += [normal_rad - turn, normal_rad + turn]
    return np.concatenate(circles), np.concatenate(angles)
