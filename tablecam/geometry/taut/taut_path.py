"""The shortest line from a place to something, that keeps a distance from given shapes.

As a string pulled taut about them. It may touch the rings (the shapes' outlines grown by the
distance), so it is made of straight pieces and of arcs about the shapes' corners; the arcs are
true ones. Only shapes that the string meets take part: one that leads past all others of its own
accord is as short without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.taut.net import Net, Starts, string_net
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
"""Ways out that differ by less are equally short: which one rounding favours decides nothing."""


def starts_at(middle: Point, disc_mm: float, rings: Rings) -> Starts:
    """The starts of a string from a disc.

    Its middle, for what is seen from there; where rings cut its edge, for what creeps out along
    them; and, when its middle lies in a ring, the nearest place out of all rings.
    """
    centre = np.array(middle)
    points = [centre[None], *_cuts(centre, disc_mm, rings)]
    costs = [np.zeros(len(each)) for each in points]
    if not rings.is_free_at(centre[None])[0]:
        way_out = _way_out(centre, rings)
        points.append(way_out)
        costs.append(np.maximum(np.linalg.norm(way_out - centre, axis=1) - disc_mm, 0.0))
    return Starts(np.concatenate(points), np.concatenate(costs), disc_mm)


def _cuts(centre: Array, disc_mm: float, rings: Rings) -> list[Array]:
    """Where rings cut the edge of a disc, (t, 2) each."""
    if disc_mm <= 0 or not len(rings.corners_mm):
        return []
    away = rings.corners_mm - centre
    apart = np.maximum(np.linalg.norm(away, axis=1), 1e-12)
    # The law of cosines, in the triangle of middle, corner and cut.
    cosines = [(apart**2 + disc_mm**2 - rings.keep_mm**2) / (2 * apart * disc_mm)]
    facing = [angles_of(away)]
    normals = rings.edges.normals
    across = np.einsum("ej,ej->e", centre - rings.edges.starts_mm, normals)
    for side in (-rings.keep_mm, rings.keep_mm):
        cosines.append((side - across) / disc_mm)
        facing.append(angles_of(normals))
    cosine, towards = np.concatenate(cosines), np.concatenate(facing)
    cut = np.abs(cosine) <= 1.0
    # A ring that only touches the disc cuts it in one place; rounding would make two of it.
    turn = np.where(disc_mm * (1.0 - cosine[cut]) < EXACT_MM, 0.0, np.arccos(cosine[cut]))
    angles = np.concatenate([towards[cut] - turn, towards[cut] + turn])
    return [_free(at_angle(centre, angles, disc_mm), rings)]


def _way_out(centre: Array, rings: Rings) -> Array:
    """The nearest points (w, 2) out of all rings: one, several that are equally near, or none."""
    edges, corners = rings.edges, rings.corners_mm
    across = np.einsum("ej,ej->e", centre - edges.starts_mm, edges.normals)
    beside = [
        centre + (side - across)[:, None] * edges.normals
        for side in (-rings.keep_mm, rings.keep_mm)
    ]
    radial = at_angle(corners, angles_of(centre - corners), rings.keep_mm)
    circles, angles = crossings_on_circles(corners, edges, rings.keep_mm)
    between = at_angle(corners[circles], angles, rings.keep_mm)
    # Rings cross beside edges as well, and at the table's edge.
    lines = [edges.beside(side) for side in (-rings.keep_mm, rings.keep_mm)]
    if rings.bounds is not None:
        lines.append(Edges.of(np.array([shapely.box(*rings.bounds)])))
    crossed = [crossings_on_edges(line, corners, edges, rings.keep_mm)[0] for line in lines]
    found = _free(np.concatenate([*beside, radial, between, *crossed]), rings)
    away = np.linalg.norm(found - centre, axis=1)
    return np.asarray(found[away <= away.min(initial=np.inf) + _ALIKE_MM])


def _free(points: Array, rings: Rings) -> Array:
    return np.asarray(points[rings.is_free_at(points) & rings.is_inside(points)])


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """All that a string keeps its distance from, whether it comes near to it or not."""

    shapes: NDArray[np.object_]
    tree: shapely.STRtree

    @classmethod
    def of(cls, shapes: NDArray[np.object_]) -> Crowd:
        """Some polygons."""
        return cls(shapes, shapely.STRtree(shapes))

    def within(self, things: Sequence[shapely.Geometry], distance_mm: float) -> set[int]:
        """The places of those that come within a distance of any of some things."""
        _, near = self.tree.query(things, predicate="dwithin", distance=distance_mm)
        return set(near.tolist())

    def in_the_way(self, line: shapely.LineString, met: set[int], keep_mm: float) -> set[int]:
        """What may bar the way round those that a line meets: all between it and their row.

        Rings that meet are one obstacle: who bars the way past one may bar it past the next too.
        """
        row: set[int] = set()
        while not met <= row:
            row |= met
            met = self.within(list(self.shapes[sorted(met)]), 2 * keep_mm)
        if not row:
            return row
        around = shapely.GeometryCollection([line, *self.shapes[sorted(row)]])
        return self.within([shapely.convex_hull(around)], keep_mm)


_DRAWN_STEP_RAD = float(np.radians(4.0))
"""Arcs are drawn as chords of this; at 40 mm one falls 0.03 mm short of its arc."""

_ROUNDED_MM = 1e-5
"""Outlines are rounded on a grid of a tenth of this, which bends edges at every seam: corners that
mean nothing, and edges so short that their direction is nothing but rounding.
"""

_NO_SWEEP_RAD = 1e-9


@dataclass(frozen=True, slots=True)
class Bend:
    """An arc of a string about a corner, and the pull on it: the sum of two unit vectors.

    Moving the corner by a little changes the string's length by the scalar product with `pull`.
    """

    corner_mm: Point
    pull: Point


@dataclass(frozen=True, slots=True)
class StringLine:
    """A taut string: its length, the points that draw it, where it bends, and how it pulls.

    `goal` is which of the goals it reaches. Moving its start or its end by a little changes the
    length by the scalar product with `start_pull` or `end_pull`: unit vectors, or zero where the
    string has no length.
    """

    length_mm: float
    goal: int
    points_mm: tuple[Point, ...]
    bends: tuple[Bend, ...]
    start_pull: Point
    end_pull: Point


def string_line(
    start: Point,
    goals: Sequence[shapely.Geometry],
    *,
    around: Sequence[shapely.Geometry] = (),
    keep_mm: float = 0.0,
    start_radius_mm: float = 0.0,
    bounds: Bounds | None = None,
) -> StringLine | None:
    """The shortest line from a disc to the nearest point of any goal that it can reach.

    It starts at the edge of the disc of `start_radius_mm` about `start`, keeps `keep_mm` or more
    from the polygons `around`, and within `bounds` (x and y from, x and y to). Goals are polygons
    and no obstacles; what of them lies in a ring cannot be reached. A disc that lies wholly in
    rings is left by the shortest way out.

    Returns:
        The line, or None when everything is closed off.
    """
    found = string_lines(
        start,
        [goals],
        around=around,
        keep_mm=keep_mm,
        start_radius_mm=start_radius_mm,
        bounds=bounds,
    )
    return found[0]


def string_lines(
    start: Point,
    groups: Sequence[Sequence[shapely.Geometry]],
    *,
    around: Sequence[shapely.Geometry] = (),
    keep_mm: float = 0.0,
    start_radius_mm: float = 0.0,
    bounds: Bounds | None = None,
) -> tuple[StringLine | None, ...]:
    """As `string_line` to the nearest goal of each of some groups, on one net for all of them.

    `goal` counts within the group.
    """
    if not groups:
        return ()
    crowd = Crowd.of(shapely.simplify(np.array(around, dtype=object), _ROUNDED_MM))
    disc = _Disc(start, start_radius_mm)
    simple = [list(shapely.simplify(np.array(group), _ROUNDED_MM)) for group in groups]
    found = _straight_to_each(disc, simple, crowd, keep_mm, bounds)
    left = [index for index, string in enumerate(found) if string is None]
    if left:
        goals = _Goals.of([simple[index] for index in left])
        for index, string in zip(left, _round(disc, goals, crowd, keep_mm, bounds), strict=True):
            found[index] = string
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Disc:
    """Where strings start: at the edge of a disc."""

    middle: Point
    radius_mm: float

    @property
    def outline(self) -> shapely.Polygon:
        """The disc, or its middle where it is of no size."""
        return shapely.Point(self.middle).buffer(self.radius_mm)


def _straight_to_each(
    disc: _Disc,
    groups: Sequence[Sequence[shapely.Geometry]],
    crowd: Crowd,
    keep_mm: float,
    bounds: Bounds | None,
) -> list[StringLine | None]:
    """The strings to those groups whose nearest place of all is in plain view; None to others."""
    middle, found = np.array(disc.middle), list[StringLine | None]()
    for group in groups:
        lines = shapely.shortest_line(shapely.Point(disc.middle), np.array(group))
        nearest = int(np.argmin(shapely.length(lines)))
        end = shapely.get_coordinates(lines[nearest])[1]
        far_mm = float(np.linalg.norm(end - middle))
        string = None
        if far_mm > disc.radius_mm + EXACT_MM and is_inside(end, bounds):
            begin = middle + (end - middle) * (disc.radius_mm / far_mm)
            if not crowd.within([shapely.LineString([begin, end])], keep_mm - EXACT_MM):
                pieces = [piece for piece in [_straight(begin, end)] if piece is not None]
                string = _string(far_mm - disc.radius_mm, nearest, pieces, begin)
        found.append(string)
    return found


def _round(
    disc: _Disc, goals: _Goals, crowd: Crowd, keep_mm: float, bounds: Bounds | None
) -> tuple[StringLine | None, ...]:
    """The strings that go round what bars the straight way, on a net of what may take part."""
    taking_part = crowd.within([*goals.shapes, disc.outline], keep_mm)
    while True:
        rings = Rings.about(crowd.shapes[sorted(taking_part)], keep_mm, bounds)
        found = _taut(disc, goals, rings)
        # Drawn by chords it cuts its own arcs short by a hair. What else comes that near to it
        # takes part for nothing, and does no harm.
        drawn = [shapely.LineString(string.points_mm) for string in found if string is not None]
        met = [crowd.within([line], keep_mm - EXACT_MM) - taking_part for line in drawn]
        if not any(met):
            return found
        for line, new in zip(drawn, met, strict=True):
            taking_part |= crowd.in_the_way(line, new, keep_mm)


@dataclass(frozen=True, slots=True, eq=False)
class _Goals:
    """The goals of all groups in one row (g): the group of each, and its place in the group."""

    shapes: list[shapely.Geometry]
    groups: Indices
    places: Indices
    count: int

    @classmethod
    def of(cls, groups: Sequence[Sequence[shapely.Geometry]]) -> _Goals:
        """The goals of some groups."""
        sizes = np.array([len(group) for group in groups], dtype=np.intp)
        places = [np.arange(size, dtype=np.intp) for size in sizes]
        shapes = [shape for group in groups for shape in group]
        numbers = np.repeat(np.arange(len(groups)), sizes)
        return cls(shapes, numbers, np.concatenate(places), len(groups))


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A straight piece or an arc of a string: its points, and its direction at its ends."""

    points_mm: tuple[Point, ...]
    sets_out: Array
    arrives: Array
    corner_mm: Array | None = None


def _taut(disc: _Disc, goals: _Goals, rings: Rings) -> tuple[StringLine | None, ...]:
    """The shortest strings to each group of goals."""
    starts = starts_at(disc.middle, disc.radius_mm, rings)
    net = string_net(starts, goals.shapes, rings)
    groups = np.where(net.feet.goals >= 0, goals.groups[net.feet.goals], -1)
    ends = [np.flatnonzero(groups == group).tolist() for group in range(goals.count)]
    # Strings to goals that lie close together share most of their way.
    piece = cache(partial(_piece, net, rings))
    return tuple(_along(net, piece, starts, goals, route) for route in _routes(net, ends))


def _along(
    net: Net,
    piece: Callable[[int, int, float], _Piece | None],
    starts: Starts,
    goals: _Goals,
    route: Route | None,
) -> StringLine | None:
    """The string that follows a route through the net."""
    if route is None:
        return None
    length_mm, feet, hops = route
    first = net.feet.points_mm[feet[0]]
    # Out of a ring in which the disc lies, before the net begins.
    pieces = [_straight(starts.edge_towards(first), first)] if net.feet.costs_mm[feet[0]] else []
    pieces += [piece(*stretch) for stretch in _stretches(net, feet, hops)]
    goal = int(goals.places[net.feet.goals[feet[-1]]])
    return _string(length_mm, goal, [piece for piece in pieces if piece is not None], first)


def _routes(net: Net, ends: Sequence[Sequence[int]]) -> list[Route | None]:
    lines = [(2 * i, 2 * i + 1, mm) for i, mm in enumerate(net.lines_mm.tolist())]
    arcs = [(a, b, mm) for (a, b), mm in zip(net.arcs.tolist(), net.arcs_mm.tolist(), strict=True)]
    begin = np.flatnonzero(np.isfinite(net.feet.costs_mm))
    costs = dict(zip(begin.tolist(), net.feet.costs_mm[begin].tolist(), strict=True))
    return cheapest_routes(lines + arcs, costs, ends)


def _stretches(net: Net, feet: Sequence[int], hops: Sequence[int]) -> list[tuple[int, int, float]]:
    """The straight lines and arcs of a route: from foot to foot, and how far each turns.

    What other lines' feet and other rings cut into several arcs is one: so a string is drawn alike
    whatever else takes part.
    """
    found: list[tuple[int, int, float]] = []
    for a, b, hop in zip(feet[:-1], feet[1:], hops, strict=True):
        sweep_rad = _sweep_rad(net, a, hop)
        if sweep_rad and found and found[-1][2]:
            begin, _, so_far_rad = found.pop()
            found.append((begin, b, so_far_rad + sweep_rad))
        else:
            found.append((a, b, sweep_rad))
    return found


def _sweep_rad(net: Net, start: int, hop: int) -> float:
    """How far a hop of a net turns when it starts at a foot; 0 where it is a line."""
    arc = hop - len(net.lines_mm)
    if arc < 0:
        return 0.0
    sweep_rad = float(net.sweeps_rad[arc])
    return sweep_rad if net.arcs[arc][0] == start else -sweep_rad


def _piece(net: Net, rings: Rings, a: int, b: int, sweep_rad: float) -> _Piece | None:
    """What leads from foot to foot of a net; None when it is of no length."""
    if not sweep_rad:
        return _straight(net.feet.points_mm[a], net.feet.points_mm[b])
    if abs(sweep_rad) < _NO_SWEEP_RAD:
        return None
    steps = 1 + int(np.ceil(abs(sweep_rad) / _DRAWN_STEP_RAD))
    angles = net.feet.angles_rad[a] + np.linspace(0.0, sweep_rad, steps)
    corner = rings.corners_mm[net.feet.circles[a]]
    along = np.stack([-np.sin(angles), np.cos(angles)], axis=1) * np.sign(sweep_rad)
    points = at_angle(corner, angles, rings.keep_mm)
    return _Piece(_points(points), along[0], along[-1], corner)


def _straight(begin: Array, end: Array) -> _Piece | None:
    length = float(np.linalg.norm(end - begin))
    if length < EXACT_MM:
        return None
    along = (end - begin) / length
    return _Piece((_point(begin), _point(end)), along, along)


def _string(length_mm: float, goal: int, pieces: Sequence[_Piece], first: Array) -> StringLine:
    if not pieces:
        there = _point(first)
        return StringLine(0.0, goal, (there, there), (), (0.0, 0.0), (0.0, 0.0))
    points = [point for piece in pieces for point in piece.points_mm[:-1]]
    points.append(pieces[-1].points_mm[-1])
    start_pull, end_pull = _point(-pieces[0].sets_out), _point(pieces[-1].arrives)
    return StringLine(length_mm, goal, tuple(points), _bends(pieces), start_pull, end_pull)


def _bends(pieces: Sequence[_Piece]) -> tuple[Bend, ...]:
    """What pulls at each corner; arcs about one corner with lines between them are one bend."""
    pulls: dict[Point, Array] = {}
    for piece in pieces:
        if piece.corner_mm is not None:
            corner = _point(piece.corner_mm)
            pulls[corner] = pulls.get(corner, np.zeros(2)) + piece.sets_out - piece.arrives
    return tuple(Bend(corner, _point(pull)) for corner, pull in pulls.items())


def _points(rows: Array) -> tuple[Point, ...]:
    return tuple((x, y) for x, y in rows.tolist())


def _point(row: Array) -> Point:
    return float(row[0]), float(row[1])
