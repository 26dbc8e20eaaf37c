"""Finds where shapes begin along a strip that is turned to many angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import shapely
from numpy.typing import ArrayLike

from tablecam.geometry.zone_edges import (
    Array,
    Edges,
    Flags,
    Indices,
    LocalShapes,
    TurnedShapes,
    clipped,
    is_clear,
    rows_of,
    seen_from,
    turns_to_edges,
    turns_within,
)
from tablecam.geometry.zones import Strip

Turned = tuple[Array, Array]
"""Cosines and sines of angles."""
Begins = Callable[[Strip, TurnedShapes, Indices], Array]

_HAIR_MM = 1e-6

_MOST_TURN_DEG = 89.0
"""The largest turn of a cut strip: it cannot be turned along the line that cuts it."""


def first_hit(
    strip: Strip, turned_deg: ArrayLike, shapes: Sequence[shapely.Geometry], sliver_mm: float = 0.0
) -> Array:
    """Returns how far along the strip, turned by angles (a,), each shape (n,) begins: (a, n).

    Infinite for a shape that enters the strip by less than `sliver_mm` from its sides and from the
    front line that cuts it. Shapes are arbitrary polygons.

    Raises:
        ValueError: A cut strip is turned by 89 degrees or more.
    """
    turns_deg = np.atleast_1d(np.asarray(turned_deg, dtype=np.float64))
    return first_hit_by_strip([strip], [turns_deg], [shapes], sliver_mm)[0]


def first_hit_by_strip(
    strips: Sequence[Strip],
    turned_deg: Sequence[Array],
    shapes: Sequence[Sequence[shapely.Geometry]],
    sliver_mm: float = 0.0,
) -> list[Array]:
    """Returns `first_hit` for many strips of one width, each with its own angles and shapes.

    Raises:
        ValueError: The strips differ in more than their place, or one is turned too far.
    """
    if not strips:
        return []
    if len({(s.left_mm, s.right_mm, s.is_cut, s.floor_mm) for s in strips}) > 1:
        raise ValueError("expected strips that differ only in their place")
    if not any(len(of_strip) for of_strip in shapes):
        return [np.full((len(turns), 0), np.inf) for turns in turned_deg]
    # In their own frames all strips are the same, so one stands for all.
    plain = replace(strips[0], pivot_mm=(0.0, 0.0), heading_deg=90.0)
    turns_rad = [np.radians(turns) for turns in turned_deg]
    most_rad = max(float(np.abs(turns).max(initial=0.0)) for turns in turns_rad)
    if plain.is_cut and most_rad >= np.radians(_MOST_TURN_DEG):
        raise ValueError(f"expected angles below {_MOST_TURN_DEG:g} degrees")
    sizes = [len(turns) * len(of_strip) for turns, of_strip in zip(turned_deg, shapes, strict=True)]
    starts_mm = np.full(sum(sizes), np.inf)
    rows, begin_mm = _starts_in(plain, seen_from(strips, shapes), turns_rad, most_rad, sliver_mm)
    starts_mm[rows.places] = begin_mm
    return [
        part.reshape(len(turns), len(of_strip))
        for part, turns, of_strip in zip(
            np.split(starts_mm, np.cumsum(sizes)[:-1]), turned_deg, shapes, strict=True
        )
    ]


def critical_turns_deg(
    strip: Strip, shapes: Sequence[shapely.Geometry], most_deg: float, sliver_mm: float = 0.0
) -> Array:
    """Returns the angles within +-`most_deg` at which a corner of a shape crosses a side.

    Between two neighbouring angles the same edges of the shapes cross the strip.
    """
    inner = strip.narrowed(sliver_mm)
    corners = strip.local_mm(shapely.get_coordinates(np.asarray(shapes, dtype=object)))
    far_mm = np.hypot(corners[:, 0], corners[:, 1])[:, None]
    sides = np.array([inner.left_mm, inner.right_mm])
    bearings_rad = np.arctan2(-corners[:, 0], corners[:, 1])[:, None]
    ratios = np.divide(sides, far_mm, out=np.full((len(corners), 2), 2.0), where=far_mm > 0)
    crosses = np.abs(ratios) <= 1.0
    turns = np.degrees((bearings_rad + np.arcsin(np.where(crosses, ratios, 0.0)))[crosses])
    # Brings the angles to the interval [-180, 180).
    turns = (turns + 180.0) % 360.0 - 180.0
    return np.unique(turns[np.abs(turns) <= most_deg])


def _starts_in(
    strip: Strip, seen: LocalShapes, turns_rad: Sequence[Array], most_rad: float, sliver_mm: float
) -> tuple[TurnedShapes, Array]:
    """Returns the pairs of shape and angle that were examined, and where the shapes begin, (r,).

    Infinite where a shape enters by less than a sliver, as for all pairs not examined.
    """
    inner, edges = strip.narrowed(sliver_mm), seen.edges
    clear = is_clear(strip, edges, most_rad, sliver_mm)
    # For shapes clear of the near end, only the angle decides whether they are deep enough.
    spans = turns_within(inner, edges, most_rad), turns_within(strip, edges, most_rad)
    first, last = np.where(clear, *spans)
    rows = rows_of(seen, turns_rad, (first, last))
    starts_mm = _over_heel(strip, rows)
    is_plain = (clear & edges.are_rectangles)[rows.shape_of]
    _begin(starts_mm, is_plain, _rectangles_begin, strip, rows)
    _begin(starts_mm, ~is_plain, _edges_begin, strip, rows)
    asked = np.isfinite(starts_mm) & ~clear[rows.shape_of]
    if sliver_mm > 0 and asked.any():
        inner_mm = _over_heel(inner, rows, asked)
        _begin(inner_mm, asked & np.isinf(inner_mm), _edges_begin, inner, rows)
        starts_mm[asked & np.isinf(inner_mm)] = np.inf
    return rows, starts_mm


def _begin(starts_mm: Array, may: Flags, begins: Begins, strip: Strip, rows: TurnedShapes) -> None:
    """Lowers `starts_mm` in place to the results of `begins` for the rows `may`; 0 is final."""
    asked = np.flatnonzero(may & (starts_mm > 0.0))
    if len(asked):
        starts_mm[asked] = np.minimum(starts_mm[asked], begins(strip, rows, asked))


def _rectangles_begin(strip: Strip, rows: TurnedShapes, asked: Indices) -> Array:
    """Returns where rectangles clear of the near end begin, for rows (k,): (k,)."""
    edges, shape_of = rows.seen.edges, rows.shape_of[asked]
    begin = np.where(edges.are_rectangles, edges.firsts, 0)
    # Opposite corners are two edges apart.
    middles = (edges.starts[begin] + edges.starts[begin + 2]) / 2
    turned = np.cos(rows.turns_rad[asked]), np.sin(rows.turns_rad[asked])
    middle = _turned(turned, middles[shape_of])
    first, second = (_turned(turned, edges.steps[begin + k][shape_of]) for k in (0, 1))
    return _first_corner_or_side(strip, middle, first, second)


def _first_corner_or_side(strip: Strip, middle: Array, first: Array, second: Array) -> Array:
    """Returns where rectangles, given by middles and two edges (2, k), begin in a strip: (k,).

    That is the nearest corner or, if it lies beside the strip, the point where the strip's side
    crosses the edge from that corner.
    """
    first, second = _pointing_ahead(first), _pointing_ahead(second)
    across, along = middle - (first + second) / 2
    gap_mm = np.clip(across, strip.left_mm, strip.right_mm) - across
    # The two edges are at right angles and point ahead: one leads to the left, one to the right.
    edge_across, edge_along = np.where(gap_mm * first[0] > gap_mm * second[0], first, second)
    share = np.full(len(gap_mm), np.inf)
    np.divide(gap_mm, edge_across, out=share, where=edge_across != 0.0)
    share[gap_mm == 0.0] = 0.0
    is_in = (share >= 0.0) & (share <= 1.0)
    return np.where(is_in, along + np.where(is_in, share, 0.0) * edge_along, np.inf)


def _pointing_ahead(edge: Array) -> Array:
    """Reverses edges (2, k) that point back along the axis."""
    return np.where(edge[1] < 0.0, -edge, edge)


def _turned(turned: Turned, points: Array) -> Array:
    """Returns points (k, 2) in the frames of strips turned by angles, across and along: (2, k)."""
    (cos, sin), (x_mm, y_mm) = turned, points.T
    return np.stack([cos * x_mm + sin * y_mm, cos * y_mm - sin * x_mm])


def _edges_begin(strip: Strip, rows: TurnedShapes, asked: Indices) -> Array:
    """Returns where the first edge of each shape in the strip begins, for rows (k,): (k,)."""
    # One row for each edge of these shapes at these angles, thinned by the angles of the edges.
    edges, shape_of = rows.seen.edges, rows.shape_of[asked]
    counts = edges.counts[shape_of]
    begin = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(asked)), counts)
    edge = np.arange(len(row)) + (edges.firsts[shape_of] - begin)[row]
    turns_rad = rows.turns_rad[asked]
    first, last = turns_to_edges(strip, edges)
    may = np.flatnonzero((turns_rad[row] >= first[edge]) & (turns_rad[row] <= last[edge]))
    nearest_mm = np.full(len(row), np.inf)
    row, edge = row[may], edge[may]
    turned = np.cos(turns_rad)[row], np.sin(turns_rad)[row]
    nearest_mm[may] = _first_of(strip, turned, edges.starts[edge], edges.steps[edge])
    return np.asarray(np.minimum.reduceat(nearest_mm, begin))


def _first_of(strip: Strip, turned: Turned, starts: Array, steps: Array) -> Array:
    """Returns how far along the strip, turned by angles (k,), edges (k, 2) begin in it: (k,).

    Infinite for an edge outside the strip.
    """
    across, along = _turned(turned, starts)
    step_across, step_along = _turned(turned, steps)
    # Liang-Barsky: clip each edge to the half planes of the strip.
    part = np.zeros_like(across), np.ones_like(across)
    part = clipped(across - strip.left_mm, step_across, part)
    part = clipped(strip.right_mm - across, -step_across, part)
    part = clipped(along, step_along, part)
    if strip.is_cut:
        part = clipped(starts[:, 1] - strip.floor_mm, steps[:, 1], part)
    first, last = part
    # Clipping an edge almost parallel to a side that it never meets overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        nearest_mm = along + step_along * np.where(step_along > 0, first, last)
    return np.where(first <= last, np.maximum(nearest_mm, 0.0), np.inf)


def _over_heel(strip: Strip, rows: TurnedShapes, asked: Flags | None = None) -> Array:
    """Returns where shapes that cover a corner of the strip's near end begin, for each row: (r,).

    Infinite for other shapes, and for rows not `asked`, if given.
    """
    starts_mm = np.full(len(rows.turns_rad), np.inf)
    is_near = _is_at_heel(_heel_box(strip, rows.turns_rad), rows.seen.edges)
    may = is_near[rows.shape_of]
    at = np.flatnonzero(may if asked is None else may & asked)
    if not len(at):
        return starts_mm
    shape_of, turns_rad = rows.shape_of[at], rows.turns_rad[at]
    heel = _heel(strip, turns_rad)
    cos, sin = np.cos(turns_rad)[:, None], np.sin(turns_rad)[:, None]
    along = np.maximum(cos * heel[..., 1] - sin * heel[..., 0], 0.0)
    x_mm, y_mm = np.moveaxis(rows.seen.on_table(heel, shape_of), -1, 0)
    shapely.prepare(rows.seen.shapes[is_near])
    over = shapely.contains_xy(rows.seen.shapes[shape_of][:, None], x_mm, y_mm)
    starts_mm[at] = np.where(over, along, np.inf).min(axis=1)
    return starts_mm


def _is_at_heel(box: Array, edges: Edges) -> Flags:
    """Whether the bounding boxes of shapes (n,) overlap the box of the near end."""
    if not len(edges.firsts):
        return np.zeros(0, dtype=bool)
    low = np.minimum.reduceat(edges.starts, edges.firsts)
    high = np.maximum.reduceat(edges.starts, edges.firsts)
    return np.asarray(((low <= box[1]) & (high >= box[0])).all(axis=1))


def _heel_box(strip: Strip, turns_rad: Array) -> Array:
    """Returns the bounding box (2, 2) of the near end's corners over all turns."""
    turns = np.array([turns_rad.min(initial=0.0), turns_rad.max(initial=0.0)])
    most_rad = float(np.abs(turns).max())
    sides = np.array([min(strip.left_mm, 0.0), max(strip.right_mm, 0.0)])
    if strip.is_cut:
        # Never behind the front line, and no farther aside than where that line cuts a side.
        half_mm, floor_mm = float(np.abs(sides).max()), strip.floor_mm
        far_mm = (half_mm + abs(floor_mm)) / np.cos(most_rad) + _HAIR_MM
        high_mm = max(floor_mm, half_mm * float(np.sin(most_rad)))
        return np.array([(-far_mm, floor_mm - _HAIR_MM), (far_mm, high_mm + _HAIR_MM)])
    if most_rad > np.pi / 2:
        return np.full((2, 2), [[-np.abs(sides).max()], [np.abs(sides).max()]])
    # Up to a right angle, turning moves the corners inward across and farther along.
    along = np.multiply.outer(sides, np.sin(turns))
    low, high = (sides[0], along.min()), (sides[1], along.max())
    return np.array([np.subtract(low, _HAIR_MM), np.add(high, _HAIR_MM)])


def _heel(strip: Strip, turns_rad: Array) -> Array:
    """Returns the corners of the turned strip's near end in its unturned frame, (a, 3, 2)."""
    cos, sin = np.cos(turns_rad), np.sin(turns_rad)
    floor_mm = strip.floor_mm if strip.is_cut else 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Where the front line cuts the near end itself.
        cut = np.clip(np.nan_to_num(floor_mm / sin), strip.left_mm, strip.right_mm)
    across = np.stack([np.full_like(cos, strip.left_mm), np.full_like(cos, strip.right_mm), cut], 1)
    along = np.zeros_like(across)
    if strip.is_cut:
        along = np.maximum(0.0, (floor_mm - across * sin[:, None]) / cos[:, None])
    beside = across * cos[:, None] - along * sin[:, None]
    return np.stack([beside, across * sin[:, None] + along * cos[:, None]], axis=-1)
