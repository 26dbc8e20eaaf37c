"""Finds taut paths: shortest lines to a goal that keep a distance from obstacles.

A path may touch the rings of obstacles: their outlines grown by that distance, with chords for
arcs. Most lengths are right to 0.1 mm, all but a few to 0.5 mm. Points are complex numbers.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.table.model import Point

Bounds = tuple[float, float, float, float]
Array = NDArray[Any]
Hop = tuple[int, int, float]
_Owners = list[tuple[int, int]]
EVERYWHERE: Bounds = (-1e6, -1e6, 1e6, 1e6)
_CHORDS = 24
"""Chords of a quarter circle; at a radius of 40 mm they lie 0.02 mm off the arc."""
_HAIR_MM = 1e-5  # Lengths that differ by less count as equal.
_TINY_MM = 1e-200  # Stands for a length of 0 in divisions.

_RIM = np.dtype([("start", complex), ("step", complex), ("goal", int)])
"""A straight piece of a goal's outline: where it starts, the vector to its end, and its goal."""


@dataclass(frozen=True, slots=True)
class TautPath:
    """A taut path: its length, points for drawing, and the derivatives of its length.

    `goal` is the index of the goal that it reaches, and `corners_mm` are the obstacles' corners
    about which it bends. A small shift of a corner, the start or the end changes the length by its
    scalar product with the pull there: the sum of the unit vectors that lead to it along the path.
    """

    length_mm: float
    goal: int
    points_mm: tuple[Point, ...]
    corners_mm: tuple[Point, ...]
    corner_pulls: tuple[Point, ...]
    start_pull: Point
    end_pull: Point


def taut_paths(
    start: Point,
    groups: Sequence[Sequence[shapely.Geometry]],
    *,
    around: Sequence[shapely.Geometry],
    keep_mm: float,
    start_radius_mm: float = 0.0,
    bounds: Bounds = EVERYWHERE,
) -> tuple[TautPath | None, ...]:
    """Finds the shortest path from a disc to the nearest reachable goal of each group.

    It starts at the edge of the disc of `start_radius_mm` about `start`, stays at least `keep_mm`
    from the polygons `around`, and within `bounds` (min x, min y, max x, max y). Goals are polygons
    and no obstacles; parts of them inside a ring cannot be reached. A path leaves a disc wholly
    inside rings by the shortest exit. `goal` is an index within the group; None means that no goal
    of the group can be reached.
    """
    goals = np.array([goal for group in groups for goal in group], dtype=object)
    owners = [(index, place) for index, group in enumerate(groups) for place in range(len(group))]
    obstacles, middle = np.array(around, dtype=object), shapely.Point(start)
    tree = shapely.STRtree(obstacles)
    paths: list[TautPath | None] = [None] * len(groups)

    def add_paths(exits: Array, rims: Array, rings: Array, known: set[int]) -> set[int]:
        """Keeps paths that meet only known obstacles; adds the obstacles that other paths meet."""
        starts, met = np.append(complex(*start), exits), set(known)
        web = _Web(starts, start_radius_mm, rims, rings[sorted(known)], bounds)
        for group, path in web.paths(owners, tree):
            line = (shapely.LineString if path.length_mm else shapely.MultiPoint)(path.points_mm)
            meets = tree.query(line, "dwithin", keep_mm - _HAIR_MM).tolist()
            if known.issuperset(meets):
                paths[group] = path
            else:  # A detour round an obstacle may have to go round its neighbours, too.
                hull = shapely.convex_hull(shapely.GeometryCollection([line, *obstacles[meets]]))
                met.update(tree.query(hull, "dwithin", keep_mm).tolist())
        return met

    # Straight lines to the nearest points come first, because most goals are in view.
    nearest = _complex(shapely.shortest_line(middle, goals))[1::2]
    met = add_paths(nearest[:0], _rims(nearest, np.arange(len(goals))), obstacles, set())
    if None not in paths:
        return tuple(paths)
    rings = shapely.buffer(obstacles, keep_mm, quad_segs=_CHORDS)
    room = shapely.difference(shapely.box(*bounds), shapely.union_all(rings))
    disc = shapely.boundary(shapely.buffer(middle, start_radius_mm, quad_segs=40 * _CHORDS))
    # Paths start in the middle of the disc, or where its edge enters rings, or where it exits them.
    exits = _complex(shapely.boundary(shapely.line_merge(shapely.intersection(disc, room))))
    if not shapely.intersects(room, middle):
        exits = np.append(exits, _exits(complex(*start), room, tree, keep_mm))
    goal, reached = np.nonzero(shapely.covers(goals[:, None], shapely.points(_xy(exits))))
    rims = _outlines(shapely.intersection(shapely.boundary(goals), room))
    rims = np.append(rims, _rims(exits[reached], goal))
    known: set[int] | None = None
    while known != met:
        # Obstacles that no path meets change nothing.
        is_open = np.array([paths[group] is None for group, _ in owners])
        known, met = met, add_paths(exits, rims[is_open[rims["goal"]]], rings, met)
    return tuple(paths)


def _exits(middle: complex, room: shapely.Geometry, tree: shapely.STRtree, keep_mm: float) -> Array:
    """Returns the point of a room nearest to a point outside, or several if equally near."""
    places = _feet(np.array([[middle]]), _outlines(np.array([shapely.boundary(room)])))[0]
    apart_mm = abs(places - middle)
    places = places[apart_mm <= apart_mm.min(initial=np.inf) + _HAIR_MM]
    # Those on the chords of an arc are moved to the arc, where it is not inside another ring.
    spokes = middle - _touched(tree, places)
    on_arcs = middle + spokes * (keep_mm / np.maximum(abs(spokes), _TINY_MM) - 1.0)
    return np.where(abs(on_arcs - _touched(tree, on_arcs)) >= keep_mm - _HAIR_MM, on_arcs, places)


def _touched(tree: shapely.STRtree, points: Array) -> Array:
    """Returns the points of the nearest obstacles that are nearest to points."""
    places = shapely.points(_xy(points))
    nearest = tree.geometries[tree.nearest(places)] if len(points) else places
    return _complex(shapely.shortest_line(nearest, places))[::2]


def _complex(geometry: Any) -> Array:
    return np.asarray(shapely.get_coordinates(geometry).view(complex)[:, 0])


def _xy(points: Array) -> Array:
    return np.stack([points.real, points.imag], axis=-1)


def _pairs(points: Array) -> tuple[Point, ...]:
    return tuple((point.real, point.imag) for point in points.tolist())


def _rims(starts: Array, goals: Array, steps: Array | float = _TINY_MM) -> Array:
    return np.rec.fromarrays([starts, steps + 0.0 * starts, goals], dtype=_RIM)


def _outlines(lines: Array) -> Array:
    """Returns the straight pieces of lines; the index of a line is its goal."""
    parts, line = shapely.get_parts(lines, return_index=True)
    points, part = _complex(parts), shapely.get_coordinates(parts, return_index=True)[1]
    is_piece = (part[1:] == part[:-1]) & (points[1:] != points[:-1])
    return _rims(points[:-1][is_piece], line[part[1:][is_piece]], np.diff(points)[is_piece])


def _feet(points: Array, rims: Array) -> Array:
    """Returns the points (p, r) of rims that are nearest to points (p, 1)."""
    shares = ((points - rims["start"]) / rims["step"]).real
    return np.asarray(rims["start"] + np.clip(shares, 0.0, 1.0) * rims["step"])


class _Web:
    """The free lines between starts (a disc's middle, its exits), corners of rings, and rims."""

    def __init__(self, starts: Array, disc_mm: float, rims: Array, rings: Array, bounds: Bounds):
        area, table = shapely.union_all(rings), shapely.box(*bounds)
        # Points, and the directions of outlines to and from them; starts are on no outline.
        corners = [np.stack([starts, 0.0 * starts, 0.0 * starts])]
        # Normalized outlines are clockwise; reversed, they turn left at convex corners.
        for ring in shapely.get_rings(shapely.get_parts(shapely.normalize(area))):
            points = _complex(ring)[:0:-1]
            ahead = np.roll(points, -1) - points
            behind = np.roll(ahead, 1)
            is_bend = ((ahead / behind).imag > 0.0) & shapely.intersects_xy(table, _xy(points))
            corners.append(np.stack([points, behind / abs(behind), ahead / abs(ahead)])[:, is_bend])
        points, behind, ahead = np.concatenate(corners, axis=1)[:, :, None]

        def touches(places: Array) -> Array:
            """Returns whether lines from points (n, 1) to places (1 or n, m) enter no ring."""
            x, y = places.real - points.real, places.imag - points.imag
            sides = [way.real * y - way.imag * x for way in (behind, ahead)]
            return np.asarray(sides[0] * sides[1] <= _HAIR_MM)

        tangent, feet = touches(points.T), _feet(points, rims)
        between = np.stack(np.nonzero(np.triu(tangent & tangent.T, 1)))
        via, rim = np.nonzero(touches(feet))
        nodes = np.append(between, [via, len(points) + np.arange(len(via))], axis=1)
        self.starts, self.disc_mm = len(starts), disc_mm
        self.points = np.append(points, feet[via, rim])
        self.goals = [-1] * len(points) + rims["goal"][rim].tolist()
        begin, end = self.points[nodes]
        lengths_mm, is_first = abs(end - begin), nodes[0] == 0
        # Lines from the middle of the disc begin at its edge.
        skipped_mm = np.where(is_first, np.minimum(disc_mm, lengths_mm), 0.0)
        begin += (end - begin) * skipped_mm / np.maximum(lengths_mm, _TINY_MM)
        lines = shapely.linestrings(_xy(np.stack([begin, end], axis=1)))
        inner = shapely.buffer(area, -_HAIR_MM, quad_segs=1)
        shapely.prepare(inner)
        free = ~shapely.intersects(inner, lines) | (is_first & (nodes[1] < len(starts)))
        costs = (lengths_mm - skipped_mm)[free].tolist()
        self.hops = [*zip(*nodes[:, free].tolist(), costs, strict=True)]

    def paths(self, owners: _Owners, tree: shapely.STRtree) -> Iterator[tuple[int, TautPath]]:
        """Yields the groups of goals that can be reached, with the path to the nearest goal."""
        missing = {owners[goal][0] for goal in self.goals if goal >= 0}
        for length_mm, route in nearest_first(self.hops, 0):
            if (goal := self.goals[route[-1]]) >= 0 and owners[goal][0] in missing:
                group, place = owners[goal]
                missing.remove(group)
                yield group, self._path(np.array(route), length_mm, place, tree)
            if not missing:
                return

    def _path(self, route: Array, length_mm: float, goal: int, tree: shapely.STRtree) -> TautPath:
        points = self.points[route]
        first = points[1] - points[0]
        points[0] += first * min(1.0, self.disc_mm / max(abs(first), _TINY_MM))
        moves = np.append(True, abs(np.diff(points)) > EXACT_MM)
        points, is_bend = points[moves], route[moves][1:-1] >= self.starts
        if len(points) == 1:
            return TautPath(0.0, goal, _pairs(points) * 2, (), (), (0.0, 0.0), (0.0, 0.0))
        directions = np.diff(points) / abs(np.diff(points))
        # The chords of an arc bend about the same corner.
        corners, chord = np.unique(_touched(tree, points[1:-1][is_bend]), return_inverse=True)
        pulls = (chord == np.arange(len(corners))[:, None]) @ (directions[:-1] - directions[1:])[
            is_bend
        ]
        ends = _pairs(np.array([-directions[0], directions[-1]]))
        return TautPath(length_mm, goal, _pairs(points), _pairs(corners), _pairs(pulls), *ends)


def nearest_first(hops: Iterable[Hop], start: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yields the least cost from a start to each node of a graph, and the route; cheapest first.

    Hops are undirected edges (node, node, cost). This is Dijkstra's algorithm.

    >>> list(nearest_first([(0, 1, 2.0), (1, 2, 1.0), (2, 0, 9.0)], 0))
    [(0.0, (0,)), (2.0, (0, 1)), (3.0, (0, 1, 2))]
    """
    neighbours = defaultdict[int, list[tuple[int, float]]](list)
    for a, b, cost in hops:
        neighbours[a].append((b, cost))
        neighbours[b].append((a, cost))
    queue: list[tuple[float, tuple[int, ...]]] = [(0.0, (start,))]
    settled = set[int]()
    while queue:
        cost, route = heapq.heappop(queue)
        if route[-1] not in settled:
            settled.add(route[-1])
            yield cost, route
            for neighbour, step in neighbours[route[-1]]:
                if neighbour not in settled:
                    heapq.heappush(queue, (cost + step, (*route, neighbour)))


_END_MM = 1e-4
"""Half the side of the square that represents the end point; below any measurement."""


@dataclass(frozen=True, slots=True)
class Corridor:
    """A corridor: the length and points of its middle line, and its clear strip with square ends.

    The strip is narrower than the corridor by a sliver on each side.
    """

    length_mm: float
    points_mm: tuple[Point, ...]
    strip: shapely.Geometry


def corridor(
    start: Point,
    end: Point,
    *,
    width_mm: float,
    around: Sequence[shapely.Geometry] = (),
    sliver_mm: float = 0.0,
    bounds: Bounds = EVERYWHERE,
) -> Corridor | None:
    """Finds the shortest corridor between two points that is clear of the shapes `around`.

    Shapes may intrude by up to `sliver_mm`. The middle line may bend anywhere; a bend about a
    corner is an arc with half the width as radius. The whole corridor stays within `bounds`.

    Returns:
        The corridor, or None if there is no room.
    """
    x, y = end
    # Goals are areas, so the end point becomes a tiny square.
    goal = shapely.box(x - _END_MM, y - _END_MM, x + _END_MM, y + _END_MM)
    keep_mm = width_mm / 2 - sliver_mm
    within = _shrunk(bounds, keep_mm)
    (path,) = taut_paths(start, [[goal]], around=around, keep_mm=keep_mm, bounds=within)
    if path is None:
        return None
    line = shapely.LineString(path.points_mm)
    # Flat caps: the strip ends square at its end points.
    strip = shapely.buffer(line, keep_mm, cap_style="flat", join_style="round", quad_segs=32)
    return Corridor(path.length_mm, path.points_mm, strip)


def _shrunk(bounds: Bounds, margin_mm: float) -> Bounds:
    low_x, low_y, high_x, high_y = bounds
    return low_x + margin_mm, low_y + margin_mm, high_x - margin_mm, high_y - margin_mm
