"""The net on which a taut string is sought: straight lines that touch rings, and the rings' arcs.

A visibility graph over true arcs. Each line has two ends of its own, its feet; feet on one circle
are joined by the arcs between them.
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
    """The ends of n lines.

    Where they are (n, 2), on which circle at what angle, of which goal (-1 where of none), and what
    it costs to start there (infinite where that is impossible).
    """

    points_mm: Array
    circles: Indices
    angles_rad: Array
    goals: Indices
    costs_mm: Array

    @classmethod
    def at(cls, points_mm: Array) -> Feet:
        """Feet that are nothing but points (n, 2)."""
        none = np.full(len(points_mm), _NONE, dtype=np.intp)
        infinite = np.full(len(points_mm), np.inf)
        return cls(points_mm, none, np.zeros(len(points_mm)), none, infinite)

    @classmethod
    def on(cls, rings: Rings, circles: Indices, angles_rad: Array) -> Feet:
        """Feet on circles about corners, at angles (n,)."""
        points = at_angle(rings.corners_mm[circles], angles_rad, rings.keep_mm)
        none = np.full(len(points), _NONE, dtype=np.intp)
        return cls(points, circles, angles_rad, none, np.full(len(points), np.inf))

    def take(self, which: NDArray[Any]) -> Feet:
        """Some of the feet."""
        return Feet(*(getattr(self, field.name)[which] for field in fields(self)))

    @staticmethod
    def join(many: Sequence[Feet]) -> Feet:
        """Feet one after the other."""
        joined = [[getattr(each, field.name) for each in many] for field in fields(Feet)]
        return Feet(*(np.concatenate(columns) for columns in joined))


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """Where a string may start: points (s, 2), and what it costs to be there (s,).

    The first is the middle of a disc; lines from it begin at the disc's edge.
    """

    points_mm: Array
    costs_mm: Array
    disc_mm: float

    def feet(self, which: Indices, towards_mm: Array) -> Feet:
        """The feet (n,) of lines from starts (n,) towards points (n, 2)."""
        begin = self.points_mm[which]
        along = towards_mm - begin
        lengths = np.linalg.norm(along, axis=1)
        cut = np.where(which == 0, np.minimum(self.disc_mm, lengths), 0.0)
        begin = begin + along * (cut / np.maximum(lengths, 1e-12))[:, None]
        return replace(Feet.at(begin), costs_mm=self.costs_mm[which])

    def edge_towards(self, point_mm: Array) -> Array:
        """The point of the disc's edge that faces a point."""
        return np.asarray(self.feet(np.zeros(1, dtype=np.intp), point_mm[None]).points_mm[0])


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """Lines between feet, n of them, and arcs, a of them, between feet on one circle.

    Foot 2 i is where line i starts, 2 i + 1 where it ends; more feet follow where arcs are cut.
    `arcs` (a, 2) are feet; `sweeps_rad` (a,) how far each turns, counter-clockwise, and `arcs_mm`
    (a,) how long it is.
    """

    feet: Feet
    lines_mm: Array
    arcs: Indices
    sweeps_rad: Array
    arcs_mm: Array


_Lines = tuple[Feet, Feet]


def string_net(starts: Starts, goals: Sequence[shapely.Geometry], rings: Rings) -> Net:
    """All that a taut string from any start to any goal may consist of."""
    edges, owners = _edges_of(goals)
    ends = _ends(edges, owners, rings)
    groups = [
        _upon(starts, goals),
        _straight(starts, ends),
        _to_edges(starts, edges, owners),
        _touching_from(starts, rings),
        _between_circles(rings),
        _touching_ends(ends, rings),
        _upright(edges, owners, rings),
    ]
    begin, end = Feet.join([a for a, _ in groups]), Feet.join([b for _, b in groups])
    # Where a commander stands he stands, whatever the table's edge says.
    within = np.isfinite(begin.costs_mm) | rings.is_inside(begin.points_mm)
    kept = np.flatnonzero(within & rings.is_inside(end.points_mm))
    begin, end = begin.take(kept), end.take(kept)
    free = rings.is_free_along(begin.points_mm, end.points_mm)
    return _with_arcs(begin.take(free), end.take(free), rings)


def _edges_of(goals: Sequence[shapely.Geometry]) -> tuple[Edges, Indices]:
    """The edges of goals, and which goal each is of."""
    each = [Edges.of(np.array([goal])) for goal in goals]
    owners = np.repeat(np.arange(len(each)), [len(edges.starts_mm) for edges in each])
    starts = np.concatenate([edges.starts_mm for edges in each])
    return Edges(starts, np.concatenate([edges.ends_mm for edges in each])), owners


def _ends(edges: Edges, owners: Indices, rings: Rings) -> Feet:
    """The goals' corners, and where their edges enter rings."""
    entries, which = crossings_on_edges(edges, rings.corners_mm, rings.edges, rings.keep_mm)
    points = np.concatenate([edges.starts_mm, entries])
    goals = np.concatenate([owners, owners[which]])
    free = rings.is_free_at(points)
    return replace(Feet.at(points[free]), goals=goals[free])


def _upon(starts: Starts, goals: Sequence[shapely.Geometry]) -> _Lines:
    """Lines of no length, from starts that lie upon goals."""
    points = np.asarray(shapely.points(starts.points_mm))
    which, goal = np.nonzero(shapely.covers(np.array(goals)[None, :], points[:, None]))
    there = starts.points_mm[which]
    return starts.feet(which, there), replace(Feet.at(there), goals=goal)


def _straight(starts: Starts, ends: Feet) -> _Lines:
    which, end = _each_with_each(len(starts.points_mm), len(ends.goals))
    return starts.feet(which, ends.points_mm[end]), ends.take(end)


def _to_edges(starts: Starts, edges: Edges, owners: Indices) -> _Lines:
    """From starts to the nearest points of the goals' edges, where those are no corners."""
    which, edge = _each_with_each(len(starts.points_mm), len(owners))
    feet, between = _projected(starts.points_mm[which], edges, edge)
    which, edge, feet = which[between], edge[between], feet[between]
    return starts.feet(which, feet), replace(Feet.at(feet), goals=owners[edge])


def _touching_from(starts: Starts, rings: Rings) -> _Lines:
    which, circles, angles = tangents(starts.points_mm, rings.corners_mm, rings.keep_mm)
    is_open = rings.is_open_at(circles, angles)
    which, touching = which[is_open], Feet.on(rings, circles[is_open], angles[is_open])
    return starts.feet(which, touching.points_mm), touching


def _touching_ends(ends: Feet, rings: Rings) -> _Lines:
    which, circles, angles = tangents(ends.points_mm, rings.corners_mm, rings.keep_mm)
    is_open = rings.is_open_at(circles, angles)
    return Feet.on(rings, circles[is_open], angles[is_open]), ends.take(which[is_open])


def _between_circles(rings: Rings) -> _Lines:
    first, second, at_first, at_second = bitangents(rings.corners_mm, rings.keep_mm)
    both = np.flatnonzero(rings.is_open_at(first, at_first) & rings.is_open_at(second, at_second))
    return Feet.on(rings, first[both], at_first[both]), Feet.on(
        rings, second[both], at_second[both]
    )


def _upright(edges: Edges, owners: Indices, rings: Rings) -> _Lines:
    """From circles to goals' edges at right angles: they touch where the radius runs along."""
    circles, edge = _each_with_each(len(rings.corners_mm), len(owners))
    circles, edge = np.tile(circles, 2), np.tile(edge, 2)
    along = angles_of(edges.along[edge])
    along[len(along) // 2 :] += np.pi
    is_open = rings.is_open_at(circles, along)
    circles, edge, along = circles[is_open], edge[is_open], along[is_open]
    touching = Feet.on(rings, circles, along)
    feet, between = _projected(touching.points_mm, edges, edge)
    ends = replace(Feet.at(feet[between]), goals=owners[edge[between]])
    return touching.take(between), ends


def _projected(points_mm: Array, edges: Edges, which: Indices) -> tuple[Array, Flags]:
    """The feet (n, 2) of points (n, 2) on edges (n,), and whether they lie between the ends."""
    start, along = edges.starts_mm[which], edges.along[which]
    reach = np.einsum("nj,nj->n", points_mm - start, along)
    length = np.linalg.norm(edges.ends_mm[which] - start, axis=1)
    return start + reach[:, None] * along, (reach > 0.0) & (reach < length)


def _each_with_each(n: int, m: int) -> tuple[Indices, Indices]:
    first, second = np.indices((n, m)).reshape(2, -1)
    return first, second


def _with_arcs(begin: Feet, end: Feet, rings: Rings) -> Net:
    """The lines, and the free arcs between all that touches a circle.

    Between two crossings with other rings an arc is free as a whole or not at all, so its middle
    tells.
    """
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
    middles = feet.angles_rad[arcs[:, 0]] + sweeps / 2
    on = at_angle(rings.corners_mm[feet.circles[arcs[:, 0]]], middles, rings.keep_mm)
    free = rings.is_free_at(on) & rings.is_inside(on)
    return Net(feet, lengths, arcs[free], sweeps[free], sweeps[free] * rings.keep_mm)


def _arcs(feet: Feet) -> tuple[Indices, Array]:
    """From each foot on a circle to the next one counter-clockwise: feet (a, 2), sweeps (a,)."""
    on = np.flatnonzero(feet.circles != _NONE)
    turned = feet.angles_rad[on] % (2 * np.pi)
    order = np.lexsort((turned, feet.circles[on]))
    on, turned = on[order], turned[order]
    circles = feet.circles[on]
    is_last = np.append(circles[1:] != circles[:-1], True)[: len(on)]
    first = np.searchsorted(circles, circles)
    following = np.where(is_last, first, np.arange(1, len(on) + 1))
    sweeps = np.where(is_last, 2 * np.pi, 0.0) + turned[following] - turned
    return np.stack([on, on[following]], axis=1), sweeps


def _crossings_of_bounds(rings: Rings) -> tuple[Indices, Array]:
    """Where circles cross the lines of the bounds: circles (t,) and angles (t,)."""
    if rings.bounds is None or rings.keep_mm <= 0:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    circles, angles = [], []
    for side, limit in enumerate(rings.bounds):
        cosine = (limit - rings.corners_mm[:, side % 2]) / rings.keep_mm
        found = np.flatnonzero(np.abs(cosine) <= 1.0)
        facing = (side % 2) * np.pi / 2
        circles += [found, found]
        angles += [facing - np.arccos(cosine[found]), facing + np.arccos(cosine[found])]
    return np.concatenate(circles), np.concatenate(angles)
