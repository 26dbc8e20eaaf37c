"""Finds taut paths: shortest lines to a goal that keep a distance from obstacles.

Like a string pulled taut around them, a path may touch the rings (the obstacles' outlines grown by
the distance), so it consists of straight pieces and of exact arcs about the obstacles' corners.
Only obstacles that the path meets take part, because others do not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.taut.net import Starts, VisibilityGraph, visibility_graph
from tablecam.geometry.taut.rings import Bounds, Rings, is_inside
from tablecam.geometry.taut.shortest import Route, cheapest_routes
from tablecam.geometry.taut.tangents import (
    Array,
    Edges,
    Indices,
    angles_of,
    at_angle,
    crossings_on_circles,
    crossings_on_edges,
)
from tablecam.table.model import Point

_ALIKE_MM = 1e-3
"""Exits from a ring that differ by less count as equally near, so that rounding decides nothing."""


def starts_at(middle: Point, disc_mm: float, rings: Rings) -> Starts:
    """Returns the possible starts of a taut path from a disc.

    They are its middle, for straight lines; the points where rings cut its edge, for paths along a
    ring; and, if its middle lies in a ring, the nearest points outside all rings.
    """
    centre = np.array(middle)
    points = [centre[None], *_ring_crossings(centre, disc_mm, rings)]
    costs = [np.zeros(len(group)) for group in points]
    if not rings.is_free_at(centre[None])[0]:
        exits = _nearest_exits(centre, rings)
        points.append(exits)
        costs.append(np.maximum(np.linalg.norm(exits - centre, axis=1) - disc_mm, 0.0))
    return Starts(np.concatenate(points), np.concatenate(costs), disc_mm)


def _ring_crossings(centre: Array, disc_mm: float, rings: Rings) -> list[Array]:
    """Returns the points (t, 2) where rings cut the edge of a disc."""
    if disc_mm <= 0 or not len(rings.corners_mm):
        return []
    away = rings.corners_mm - centre
    apart = np.maximum(np.linalg.norm(away, axis=1), 1e-12)
    # The law of cosines, in the triangle of middle, corner and crossing.
    cosines = [(apart**2 + disc_mm**2 - rings.keep_mm**2) / (2 * apart * disc_mm)]
    facing = [angles_of(away)]
    normals = rings.edges.normals
    across = np.einsum("ej,ej->e", centre - rings.edges.starts_mm, normals)
    for side in (-rings.keep_mm, rings.keep_mm):
        cosines.append((side - across) / disc_mm)
        facing.append(angles_of(normals))
    cosine, towards = np.concatenate(cosines), np.concatenate(facing)
    crosses = np.abs(cosine) <= 1.0
    # A ring that is tangent to the disc has one point in common with it; rounding would give two.
    turn = np.where(disc_mm * (1.0 - cosine[crosses]) < EXACT_MM, 0.0, np.arccos(cosine[crosses]))
    angles = np.concatenate([towards[crosses] - turn, towards[crosses] + turn])
    return [_free(at_angle(centre, angles, disc_mm), rings)]


def _nearest_exits(centre: Array, rings: Rings) -> Array:
    """Returns the nearest points (w, 2) outside all rings: one, several equally near, or none."""
    edges, corners = rings.edges, rings.corners_mm
    across = np.einsum("ej,ej->e", centre - edges.starts_mm, edges.normals)
    beside = [
        centre + (side - across)[:, None] * edges.normals
        for side in (-rings.keep_mm, rings.keep_mm)
    ]
    # Candidates: parallels to edges, the nearest point of each circle, and crossings of rings.
    radial = at_angle(corners, angles_of(centre - corners), rings.keep_mm)
    circles, angles = crossings_on_circles(corners, edges, rings.keep_mm)
    between = at_angle(corners[circles], angles, rings.keep_mm)
    # Rings also cross along the parallels to edges, and at the table's edge.
    lines = [edges.beside(side) for side in (-rings.keep_mm, rings.keep_mm)]
    if rings.bounds is not None:
        lines.append(Edges.of(np.array([shapely.box(*rings.bounds)])))
    crossed = [crossings_on_edges(line, corners, edges, rings.keep_mm)[0] for line in lines]
    exits = _free(np.concatenate([*beside, radial, between, *crossed]), rings)
    away = np.linalg.norm(exits - centre, axis=1)
    return np.asarray(exits[away <= away.min(initial=np.inf) + _ALIKE_MM])


def _free(points: Array, rings: Rings) -> Array:
    return np.asarray(points[rings.is_free_at(points) & rings.is_inside(points)])


@dataclass(frozen=True, slots=True, eq=False)
class Obstacles:
    """All shapes to which a taut path keeps its distance, with a spatial index."""

    shapes: NDArray[np.object_]
    tree: shapely.STRtree

    @classmethod
    def of(cls, shapes: NDArray[np.object_]) -> Obstacles:
        """Indexes polygons."""
        return cls(shapes, shapely.STRtree(shapes))

    def within(self, things: Sequence[shapely.Geometry], distance_mm: float) -> set[int]:
        """Returns the indices of the shapes within a distance of any of `things`."""
        _, near = self.tree.query(things, predicate="dwithin", distance=distance_mm)
        return set(near.tolist())

    def in_the_way(self, line: shapely.LineString, met: set[int], keep_mm: float) -> set[int]:
        """Returns the shapes that may block a path round those that a line meets."""
        # Rings that overlap form one obstacle, so a detour round one may have to pass them all.
        cluster: set[int] = set()
        while not met <= cluster:
            cluster |= met
            met = self.within(list(self.shapes[sorted(met)]), 2 * keep_mm)
        if not cluster:
            return cluster
        around = shapely.GeometryCollection([line, *self.shapes[sorted(cluster)]])
        return self.within([shapely.convex_hull(around)], keep_mm)


_DRAWN_STEP_RAD = float(np.radians(4.0))
"""The angle of the chords that draw arcs; at a radius of 40 mm one is 0.03 mm off its arc."""

_ROUNDED_MM = 1e-5
"""Tolerance of simplifying outlines. They are rounded on a grid of a tenth of this, which leaves
false corners at seams, and edges too short to have a direction.
"""

_NO_SWEEP_RAD = 1e-9


@dataclass(frozen=True, slots=True)
class Bend:
    """An arc of a taut path about a corner, and the pull on it: the sum of two unit vectors.

    A small shift of the corner changes the path's length by its scalar product with `pull`.
    """

    corner_mm: Point
    pull: Point


@dataclass(frozen=True, slots=True)
class TautPath:
    """A taut path: its length, points for drawing, bends, and the derivatives of its length.

    `goal` is the index of the goal that it reaches. A small shift of the start or the end changes
    the length by its scalar product with `start_pull` or `end_pull`: unit vectors, or zero for a
    path of length 0.
    """

    length_mm: float
    goal: int
    points_mm: tuple[Point, ...]
    bends: tuple[Bend, ...]
    start_pull: Point
    end_pull: Point


def taut_path(
    start: Point,
    goals: Sequence[shapely.Geometry],
    *,
    around: Sequence[shapely.Geometry] = (),
    keep_mm: float = 0.0,
    start_radius_mm: float = 0.0,
    bounds: Bounds | None = None,
) -> TautPath | None:
    """Finds the shortest path from a disc to the nearest reachable point of any goal.

    It starts at the edge of the disc of `start_radius_mm` about `start`, stays at least `keep_mm`
    from the polygons `around`, and within `bounds` (min x, min y, max x, max y). Goals are polygons
    and no obstacles; parts of them inside a ring cannot be reached. A disc wholly inside rings is
    left by the shortest exit.

    Returns:
        The path, or None if every goal is closed off.
    """
    paths = taut_paths(
        start,
        [goals],
        around=around,
        keep_mm=keep_mm,
        start_radius_mm=start_radius_mm,
        bounds=bounds,
    )
    return paths[0]


def taut_paths(
    start: Point,
    groups: Sequence[Sequence[shapely.Geometry]],
    *,
    around: Sequence[shapely.Geometry] = (),
    keep_mm: float = 0.0,
    start_radius_mm: float = 0.0,
    bounds: Bounds | None = None,
) -> tuple[TautPath | None, ...]:
    """Finds the taut path to the nearest goal of each group, on one graph for all groups.

    As `taut_path`; `goal` is an index within the group.
    """
    if not groups:
        return ()
    obstacles = Obstacles.of(shapely.simplify(np.array(around, dtype=object), _ROUNDED_MM))
    disc = _Disc(start, start_radius_mm)
    simple = [list(shapely.simplify(np.array(group), _ROUNDED_MM)) for group in groups]
    paths = _straight_paths(disc, simple, obstacles, keep_mm, bounds)
    blocked = [index for index, path in enumerate(paths) if path is None]
    if blocked:
        goals = _Goals.of([simple[index] for index in blocked])
        detours = _detours(disc, goals, obstacles, keep_mm, bounds)
        for index, path in zip(blocked, detours, strict=True):
            paths[index] = path
    return tuple(paths)


@dataclass(frozen=True, slots=True)
class _Disc:
    """The disc at whose edge taut paths start."""

    middle: Point
    radius_mm: float

    @property
    def outline(self) -> shapely.Polygon:
        """The disc; empty for a radius of 0."""
        return shapely.Point(self.middle).buffer(self.radius_mm)


def _straight_paths(
    disc: _Disc,
    groups: Sequence[Sequence[shapely.Geometry]],
    obstacles: Obstacles,
    keep_mm: float,
    bounds: Bounds | None,
) -> list[TautPath | None]:
    """Returns the straight path to each group whose nearest point is in view, None for others."""
    middle, paths = np.array(disc.middle), list[TautPath | None]()
    for group in groups:
        lines = shapely.shortest_line(shapely.Point(disc.middle), np.array(group))
        nearest = int(np.argmin(shapely.length(lines)))
        end = shapely.get_coordinates(lines[nearest])[1]
        far_mm = float(np.linalg.norm(end - middle))
        path = None
        if far_mm > disc.radius_mm + EXACT_MM and is_inside(end, bounds):
            begin = middle + (end - middle) * (disc.radius_mm / far_mm)
            if not obstacles.within([shapely.LineString([begin, end])], keep_mm - EXACT_MM):
                pieces = [piece for piece in [_straight(begin, end)] if piece is not None]
                path = _path(far_mm - disc.radius_mm, nearest, pieces, begin)
        paths.append(path)
    return paths


def _detours(
    disc: _Disc, goals: _Goals, obstacles: Obstacles, keep_mm: float, bounds: Bounds | None
) -> tuple[TautPath | None, ...]:
    """Returns the paths round obstacles, on a graph of those obstacles that take part."""
    # Starts with obstacles near the ends, and adds those that a path then meets.
    taking_part = obstacles.within([*goals.shapes, disc.outline], keep_mm)
    while True:
        rings = Rings.about(obstacles.shapes[sorted(taking_part)], keep_mm, bounds)
        paths = _taut(disc, goals, rings)
        # The chords of a drawn path cut its arcs slightly short; obstacles that only they come too
        # near take part without effect.
        lines = [shapely.LineString(path.points_mm) for path in paths if path is not None]
        met = [obstacles.within([line], keep_mm - EXACT_MM) - taking_part for line in lines]
        if not any(met):
            return paths
        for line, new in zip(lines, met, strict=True):
            taking_part |= obstacles.in_the_way(line, new, keep_mm)


@dataclass(frozen=True, slots=True, eq=False)
class _Goals:
    """The g goals of all groups in one list, with the group of each and its index there."""

    shapes: list[shapely.Geometry]
    groups: Indices
    places: Indices
    count: int

    @classmethod
    def of(cls, groups: Sequence[Sequence[shapely.Geometry]]) -> _Goals:
        """Concatenates the goals of groups."""
        sizes = np.array([len(group) for group in groups], dtype=np.intp)
        places = [np.arange(size, dtype=np.intp) for size in sizes]
        shapes = [shape for group in groups for shape in group]
        numbers = np.repeat(np.arange(len(groups)), sizes)
        return cls(shapes, numbers, np.concatenate(places), len(groups))


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A straight piece or an arc of a path: its points, and its directions at both ends."""

    points_mm: tuple[Point, ...]
    start_direction: Array
    end_direction: Array
    corner_mm: Array | None = None


def _taut(disc: _Disc, goals: _Goals, rings: Rings) -> tuple[TautPath | None, ...]:
    """Returns the shortest taut path to each group of goals."""
    starts = starts_at(disc.middle, disc.radius_mm, rings)
    graph = visibility_graph(starts, goals.shapes, rings)
    groups = np.where(graph.feet.goals >= 0, goals.groups[graph.feet.goals], -1)
    ends = [np.flatnonzero(groups == group).tolist() for group in range(goals.count)]
    # Cached: paths to goals close together share most of their pieces.
    piece = cache(partial(_piece, graph, rings))
    return tuple(_path_along(graph, piece, starts, goals, route) for route in _routes(graph, ends))


def _path_along(
    graph: VisibilityGraph,
    piece: Callable[[int, int, float], _Piece | None],
    starts: Starts,
    goals: _Goals,
    route: Route | None,
) -> TautPath | None:
    """Returns the path that follows a route through the graph."""
    if route is None:
        return None
    length_mm, feet, hops = route
    first = graph.feet.points_mm[feet[0]]
    # The exit from a ring around the disc, before the graph begins.
    pieces = [_straight(starts.edge_towards(first), first)] if graph.feet.costs_mm[feet[0]] else []
    pieces += [piece(*stretch) for stretch in _stretches(graph, feet, hops)]
    goal = int(goals.places[graph.feet.goals[feet[-1]]])
    return _path(length_mm, goal, [piece for piece in pieces if piece is not None], first)


def _routes(graph: VisibilityGraph, ends: Sequence[Sequence[int]]) -> list[Route | None]:
    lines = [(2 * i, 2 * i + 1, mm) for i, mm in enumerate(graph.lines_mm.tolist())]
    arcs = [
        (a, b, mm) for (a, b), mm in zip(graph.arcs.tolist(), graph.arcs_mm.tolist(), strict=True)
    ]
    begin = np.flatnonzero(np.isfinite(graph.feet.costs_mm))
    costs = dict(zip(begin.tolist(), graph.feet.costs_mm[begin].tolist(), strict=True))
    return cheapest_routes(lines + arcs, costs, ends)


def _stretches(
    graph: VisibilityGraph, feet: Sequence[int], hops: Sequence[int]
) -> list[tuple[int, int, float]]:
    """Returns the lines and arcs of a route: first foot, last foot and turn of each."""
    # Arcs that other feet and rings divide are joined, so that a path is drawn the same whatever
    # else takes part.
    stretches: list[tuple[int, int, float]] = []
    for a, b, hop in zip(feet[:-1], feet[1:], hops, strict=True):
        sweep_rad = _sweep_rad(graph, a, hop)
        if sweep_rad and stretches and stretches[-1][2]:
            begin, _, so_far_rad = stretches.pop()
            stretches.append((begin, b, so_far_rad + sweep_rad))
        else:
            stretches.append((a, b, sweep_rad))
    return stretches


def _sweep_rad(graph: VisibilityGraph, start: int, hop: int) -> float:
    """Returns the turn of an edge of the graph that starts at a foot, 0 for a line."""
    arc = hop - len(graph.lines_mm)
    if arc < 0:
        return 0.0
    sweep_rad = float(graph.sweeps_rad[arc])
    return sweep_rad if graph.arcs[arc][0] == start else -sweep_rad


def _piece(graph: VisibilityGraph, rings: Rings, a: int, b: int, sweep_rad: float) -> _Piece | None:
    """Returns the piece between two feet of the graph, None if it has no length."""
    if not sweep_rad:
        return _straight(graph.feet.points_mm[a], graph.feet.points_mm[b])
    if abs(sweep_rad) < _NO_SWEEP_RAD:
        return None
    steps = 1 + int(np.ceil(abs(sweep_rad) / _DRAWN_STEP_RAD))
    angles = graph.feet.angles_rad[a] + np.linspace(0.0, sweep_rad, steps)
    corner = rings.corners_mm[graph.feet.circles[a]]
    along = np.stack([-np.sin(angles), np.cos(angles)], axis=1) * np.sign(sweep_rad)
    points = at_angle(corner, angles, rings.keep_mm)
    return _Piece(_points(points), along[0], along[-1], corner)


def _straight(begin: Array, end: Array) -> _Piece | None:
    length = float(np.linalg.norm(end - begin))
    if length < EXACT_MM:
        return None
    along = (end - begin) / length
    return _Piece((_point(begin), _point(end)), along, along)


def _path(length_mm: float, goal: int, pieces: Sequence[_Piece], first: Array) -> TautPath:
    if not pieces:
        point = _point(first)
        return TautPath(0.0, goal, (point, point), (), (0.0, 0.0), (0.0, 0.0))
    points = [point for piece in pieces for point in piece.points_mm[:-1]]
    points.append(pieces[-1].points_mm[-1])
    start_pull, end_pull = _point(-pieces[0].start_direction), _point(pieces[-1].end_direction)
    return TautPath(length_mm, goal, tuple(points), _bends(pieces), start_pull, end_pull)


def _bends(pieces: Sequence[_Piece]) -> tuple[Bend, ...]:
    """Returns the pull on each corner; arcs about the same corner are one bend."""
    pulls: dict[Point, Array] = {}
    for piece in pieces:
        if piece.corner_mm is not None:
            corner = _point(piece.corner_mm)
            pulls[corner] = (
                pulls.get(corner, np.zeros(2)) + piece.start_direction - piece.end_direction
            )
    return tuple(Bend(corner, _point(pull)) for corner, pull in pulls.items())


def _points(rows: Array) -> tuple[Point, ...]:
    return tuple((x, y) for x, y in rows.tolist())


def _point(row: Array) -> Point:
    return float(row[0]), float(row[1])
