"""The reach of a unit as an area, to be drawn: all that it may come to stand on or pass over.

Unlike paths and strings this is an approximation: wheels are sampled, and arcs are chords. Whether
a move is legal is never decided by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.lanes import (
    Corner,
    advanced,
    pivot_mm,
    rotated,
    straight_parts,
    turned_deg,
    wheel_parts,
    wheeled,
)
from tablecam.geometry.outlines import GRID_MM, Axes, common_area
from tablecam.geometry.taut.shortest import costs_from
from tablecam.geometry.taut.tangents import Array
from tablecam.table.headings import forward
from tablecam.table.model import Point

Parts = NDArray[np.object_]
"""Convex shapes that overlap, and together are an area."""

_WHEELS = 8
"""Into how many wheels the allowance is cut, to either hand."""
_HALVINGS = 7
"""How often the place where something bars the way is narrowed down: to 1/128 of a step."""
_ARC_ERROR_MM = 0.25
"""How far a chord may lie from its arc: on a page nobody sees less."""
_RING_SEGMENTS = 6
_AROUND_RAD = np.linspace(0.0, 2 * np.pi, 64, endpoint=False)
"""The lines of sight that draw an open circle."""
_HAIR_RAD = 1e-6
_JUST_MM = 1e-2
"""Nearer to a corner than this is at it."""
_AREA_MM2 = 1e-3
_CORNERS: tuple[Corner, Corner] = ("left", "right")


def wheeled_reach(
    front: Axes,
    shapes: Sequence[shapely.Polygon],
    limit_mm: float,
    *,
    barred: shapely.Geometry | None = None,
    sliver_mm: float = 0.5,
) -> shapely.Geometry:
    """What convex shapes behind a front may pass over by a wheel, a straight move and a wheel.

    They stop where they would reach into `barred` by more than a sliver.
    """
    walls = shapely.Polygon() if barred is None else shapely.buffer(barred, -sliver_mm)
    shapely.prepare(walls)
    parts: list[Parts] = [np.asarray(shapes, dtype=object)]
    lanes: list[Parts] = []
    for corner, share in product(_CORNERS, np.linspace(0.0, 1.0, _WHEELS + 1).tolist()):
        turned, moved, area = _wheel(front, shapes, corner, share * limit_mm, walls)
        if share == 1.0:  # It holds all shorter ones.
            parts.append(area)
        left_mm = (1.0 - share) * limit_mm
        onward, there, _ = _ahead(turned, moved, left_mm / 2, walls)
        parts += [_wheel(onward, there, end, left_mm / 2, walls)[2] for end in _CORNERS]
        lanes.append(_ahead(turned, moved, left_mm, walls)[2])
    together = np.concatenate([*parts, *lanes, _between(lanes, walls)])
    return shapely.union_all(together, grid_size=GRID_MM)


def _between(lanes: Sequence[Parts], walls: shapely.Geometry) -> Parts:
    """What lies between lanes after one wheel and after the next, where nothing bars it."""
    pairs = [shapely.GeometryCollection([*one, *other]) for one, other in pairwise(lanes)]
    # The last lane to the left and the first to the right are no neighbours.
    del pairs[_WHEELS]
    hulls = np.asarray(shapely.convex_hull(pairs), dtype=object)
    return np.asarray(hulls[~shapely.intersects(walls, hulls)], dtype=object)


_Moved = tuple[Axes, Sequence[shapely.Polygon], Parts]


def _wheel(
    front: Axes,
    shapes: Sequence[shapely.Polygon],
    corner: Corner,
    arc_mm: float,
    walls: shapely.Geometry,
) -> _Moved:
    about, whole_deg = pivot_mm(front, corner), turned_deg(front, corner, arc_mm)
    share, area = _as_far_as_free(
        lambda part: wheel_parts(shapes, about, part * whole_deg, error_mm=_ARC_ERROR_MM), walls
    )
    moved = shapely.transform(
        list(shapes), lambda corners: rotated(corners, about, share * whole_deg)
    )
    return wheeled(front, corner, share * arc_mm), moved.tolist(), area


def _ahead(
    front: Axes, shapes: Sequence[shapely.Polygon], length_mm: float, walls: shapely.Geometry
) -> _Moved:
    share, area = _as_far_as_free(
        lambda part: straight_parts(shapes, front.heading_deg, part * length_mm), walls
    )
    step = np.multiply(forward(front.heading_deg), share * length_mm)
    moved = shapely.transform(list(shapes), lambda corners: corners + step)
    return advanced(front, share * length_mm), moved.tolist(), area


def _as_far_as_free(
    sweep: Callable[[float], Parts], walls: shapely.Geometry
) -> tuple[float, Parts]:
    """The largest share of a step that meets no wall, and the parts of what it passes over."""
    parts = sweep(1.0)
    if not shapely.intersects(walls, parts).any():
        return 1.0, parts
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if shapely.intersects(walls, sweep(middle)).any():
            high = middle
        else:
            low = middle
    return low, sweep(low)


def snaking_reach(
    start: Point,
    limit_mm: float,
    *,
    width_mm: float,
    around: Sequence[shapely.Geometry] = (),
    inside: shapely.Geometry | None = None,
) -> shapely.Geometry:
    """What something of a width may pass over on a snaking way of some length, past shapes.

    All that is seen from the start, and from every corner that can be gone round, as far as is left
    to go from there. `inside` is where it stays.
    """
    keep_mm = width_mm / 2
    rings = _rings(start, limit_mm, around, keep_mm)
    edges = _edges(rings)
    seen = [
        _seen_from(place, left, edges, rings)
        for place, left in _corners_in_reach(start, limit_mm, rings)
    ]
    reached = shapely.union_all(shapely.buffer(seen, 0.0), grid_size=GRID_MM)
    covered = shapely.buffer(reached, keep_mm, quad_segs=16)
    return covered if inside is None else common_area(covered, inside)


def _rings(
    start: Point, limit_mm: float, around: Sequence[shapely.Geometry], keep_mm: float
) -> shapely.Geometry:
    """What the middle of the way keeps out of, as far as it can come near; a start in it is let."""
    place = shapely.Point(start)
    near = [shape for shape in around if shapely.dwithin(shape, place, limit_mm + keep_mm)]
    grown = [shapely.buffer(shape, keep_mm, quad_segs=_RING_SEGMENTS) for shape in near]
    together = shapely.union_all(grown, grid_size=GRID_MM)
    # A start that lies in a ring is let out of it.
    return shapely.difference(together, shapely.buffer(place, keep_mm), grid_size=GRID_MM)


def _corners_in_reach(
    start: Point, limit_mm: float, rings: shapely.Geometry
) -> Iterator[tuple[Array, float]]:
    """The start and the corners of rings that can be reached, and how far is left from there."""
    corners = shapely.get_coordinates(rings)
    places = np.concatenate([np.array([start]), np.unique(corners, axis=0)])
    first, second = np.triu_indices(len(places), k=1)
    lengths = np.linalg.norm(places[first] - places[second], axis=1)
    short = lengths <= limit_mm
    first, second, lengths = first[short], second[short], lengths[short]
    lines = shapely.linestrings(np.stack([places[first], places[second]], axis=1))
    # Lines along a ring, and between its neighbouring corners, are free.
    inner = shapely.buffer(rings, -_AREA_MM2)
    shapely.prepare(inner)
    free = np.flatnonzero(~shapely.intersects(inner, lines))
    hops = [(int(first[i]), int(second[i]), float(lengths[i])) for i in free]
    for index, cost in costs_from(hops, 0, at_most=limit_mm).items():
        yield places[index], limit_mm - cost


def _edges(rings: shapely.Geometry) -> Array:
    """The edges (e, 2, 2) of rings, each from corner to corner."""
    points, of_ring = shapely.get_coordinates(
        shapely.get_rings(shapely.get_parts(rings)), return_index=True
    )
    goes_on = of_ring[1:] == of_ring[:-1]
    return np.stack([points[:-1][goes_on], points[1:][goes_on]], axis=1)


def _seen_from(
    place: Array, reach_mm: float, edges: Array, rings: shapely.Geometry
) -> shapely.Polygon:
    """What is seen from a place as far as a reach, past rings: it may lie on one, not in one.

    As far as lines go to the corners in reach, a hair to either side of each, and all around.
    """
    near = edges[np.linalg.norm(edges[:, 0] - place, axis=1) <= reach_mm + _longest_mm(edges)]
    to_corners = near[:, 0] - place
    bearings = np.arctan2(to_corners[:, 1], to_corners[:, 0])
    bearings = np.concatenate([_AROUND_RAD, *(bearings + hair for hair in (-_HAIR_RAD, _HAIR_RAD))])
    bearings = np.sort(bearings % (2 * np.pi))
    ahead = np.stack([np.cos(bearings), np.sin(bearings)], axis=1)
    far_mm = _lengths_mm(ahead, near - place, reach_mm)
    # From a corner of a ring into it nothing is seen.
    just = place + ahead * np.minimum(_JUST_MM, far_mm)[:, None]
    far_mm[shapely.contains_xy(rings, just[:, 0], just[:, 1])] = 0.0
    return shapely.Polygon(place + ahead * far_mm[:, None])


def _lengths_mm(ahead: Array, edges: Array, reach_mm: float) -> Array:
    """How far lines from the origin go along unit vectors (r, 2) before they cross edges (e, 2, 2).

    Edges that begin or end at the origin bar none.
    """
    starts, steps = edges[:, 0], edges[:, 1] - edges[:, 0]
    turns = ahead[:, :1] * steps[:, 1] - ahead[:, 1:] * steps[:, 0]
    offs = starts[:, 0] * steps[:, 1] - starts[:, 1] * steps[:, 0]
    sides = starts[:, 0] * ahead[:, 1:] - starts[:, 1] * ahead[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        along_mm, share = offs / turns, sides / turns
    is_crossed = (along_mm > _JUST_MM) & (share >= 0.0) & (share <= 1.0)
    lengths_mm = np.where(is_crossed, along_mm, np.inf).min(axis=1, initial=np.inf)
    return np.asarray(np.minimum(lengths_mm, reach_mm))


def _longest_mm(edges: Array) -> float:
    return float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).max(initial=0.0))
