"""What lies in a strip that is turned to many angles, and how far along it that begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.measure.zones import Strip

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

_PLAIN_TURN_RAD = np.pi / 4 + 1e-9
_SAME_RAD = 1e-9
_HAIR_MM = 1e-6

_MOST_TURN_DEG = 89.0
"""A strip that is cut at its front line cannot be turned along it."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The edges of n shapes in a strip's frame, shape by shape.

    `starts` and `steps` (k, 2) are where each begins and how it goes on, `firsts` and `counts` (n,)
    which of them is each shape's first, and how many it has.
    """

    starts: Array
    steps: Array
    firsts: NDArray[np.intp]
    counts: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is asked of many strips: each of r rows is one of the shapes at one angle of its strip.

    `turns_rad` and `shape_of` (r,) tell which; `edges` are those of all n `shapes`, each in the
    frame of its strip, the one at its place of `frames` (n,) in `strips`.
    """

    turns_rad: Array
    shape_of: Indices
    edges: Edges
    shapes: Any
    frames: Indices
    strips: Sequence[Strip]


def first_met(
    strip: Strip, turned_deg: ArrayLike, shapes: Sequence[shapely.Geometry], sliver_mm: float = 0.0
) -> Array:
    """How far along a strip turned by each angle (a,) each of the shapes (n,) begins: (a, n).

    Infinite where a shape is not in it: where nothing of it reaches in as deep as `sliver_mm`
    from the sides, and from the front line that cuts the strip. Shapes are polygons, of any form.

    Raises:
        ValueError: A strip that is cut is turned by 89 degrees or more.
    """
    turns_deg = np.atleast_1d(np.asarray(turned_deg, dtype=np.float64))
    return first_met_by_each([strip], [turns_deg], [shapes], sliver_mm)[0]


def first_met_by_each(
    strips: Sequence[Strip],
    turned_deg: Sequence[Array],
    shapes: Sequence[Sequence[shapely.Geometry]],
    sliver_mm: float = 0.0,
) -> list[Array]:
    """As `first_met` for many strips of one width at once, each with its own angles and shapes.

    Raises:
        ValueError: The strips differ by more than where they lie, or one is turned too far.
    """
    if not strips:
        return []
    if len({(s.left_mm, s.right_mm, s.is_cut, s.floor_mm) for s in strips}) > 1:
        raise ValueError("expected strips that differ only by where they lie")
    if not any(len(each) for each in shapes):
        return [np.full((len(turns), 0), np.inf) for turns in turned_deg]
    plain = replace(strips[0], pivot_mm=(0.0, 0.0), heading_deg=90.0)
    rows = _rows(strips, turned_deg, shapes)
    if plain.is_cut and np.any(np.abs(rows.turns_rad) >= np.radians(_MOST_TURN_DEG)):
        raise ValueError(f"expected angles below {_MOST_TURN_DEG:g} degrees")
    starts_mm = _starts(plain, rows, _may_be_met(plain, rows))
    starts_mm = _with_heel(plain, rows, starts_mm)
    is_in = np.isfinite(starts_mm)
    if sliver_mm > 0 and is_in.any():
        inner = plain.narrowed(sliver_mm)
        inner_mm = _with_heel(inner, rows, _starts(inner, rows, is_in))
        starts_mm[np.isinf(inner_mm)] = np.inf
    sizes = [len(turns) * len(each) for turns, each in zip(turned_deg, shapes, strict=True)]
    return [
        part.reshape(len(turns), len(each))
        for part, turns, each in zip(
            np.split(starts_mm, np.cumsum(sizes)[:-1]), turned_deg, shapes, strict=True
        )
    ]


def first_met_in_frames(
    strip: Strip, turns_rad: Array, corners_mm: Array, sliver_mm: float = 0.0
) -> Array:
    """As `first_met` for d draws of poses, each with its own angle (d,) and shapes: (d, n).

    `corners_mm` (d, n, c, 2) are the shapes' corners as seen from the strip's pivot in each draw. A
    shape that lies over the strip's near end is taken to begin at the first of its edges in it.
    """
    corners_mm = np.asarray(corners_mm)
    steps = np.roll(corners_mm, -1, axis=2) - corners_mm
    turns = np.broadcast_to(turns_rad[:, None, None], corners_mm.shape[:3]).reshape(-1)

    def begins_mm(within: Strip) -> Array:
        nearest_mm = _first_of(within, turns, corners_mm.reshape(-1, 2), steps.reshape(-1, 2))
        return np.asarray(nearest_mm.reshape(corners_mm.shape[:3]).min(axis=2))

    starts_mm = begins_mm(strip)
    if sliver_mm > 0:
        starts_mm[np.isinf(begins_mm(strip.narrowed(sliver_mm)))] = np.inf
    return starts_mm


def critical_turns_deg(
    strip: Strip, shapes: Sequence[shapely.Geometry], most_deg: float, sliver_mm: float = 0.0
) -> Array:
    """The angles, up to so many degrees to either side, at which a corner crosses a side.

    Between two of them that follow each other the same edges of the shapes lie across the strip.
    """
    inner = strip.narrowed(sliver_mm)
    corners = strip.local_mm(shapely.get_coordinates(np.asarray(shapes, dtype=object)))
    far_mm = np.hypot(corners[:, 0], corners[:, 1])[:, None]
    sides = np.array([inner.left_mm, inner.right_mm])
    bearings_rad = np.arctan2(-corners[:, 0], corners[:, 1])[:, None]
    ratios = np.divide(sides, far_mm, out=np.full((len(corners), 2), 2.0), where=far_mm > 0)
    crosses = np.abs(ratios) <= 1.0
    turns = np.degrees((bearings_rad + np.arcsin(np.where(crosses, ratios, 0.0)))[crosses])
    turns = (turns + 180.0) % 360.0 - 180.0
    return np.unique(turns[np.abs(turns) <= most_deg])


def _rows(
    strips: Sequence[Strip], turned_deg: Sequence[Array], shapes: Sequence[Sequence[Any]]
) -> Rows:
    """Every strip at each of its angles with each of its shapes."""
    angles = np.array([len(turns) for turns in turned_deg], dtype=np.intp)
    counts = np.array([len(each) for each in shapes], dtype=np.intp)
    sizes = angles * counts
    strip_of = np.repeat(np.arange(len(strips)), sizes)
    place = np.arange(len(strip_of)) - (np.cumsum(sizes) - sizes)[strip_of]
    turn_of = (np.cumsum(angles) - angles)[strip_of] + place // counts[strip_of]
    shape_of = (np.cumsum(counts) - counts)[strip_of] + place % counts[strip_of]
    outlines = np.array([shape for each in shapes for shape in each], dtype=object)
    frames = np.repeat(np.arange(len(strips)), counts)
    turns_rad = np.radians(np.concatenate([np.zeros(0), *turned_deg]))
    return Rows(
        turns_rad[turn_of], shape_of, _edges(strips, frames, outlines), outlines, frames, strips
    )


def _starts(strip: Strip, rows: Rows, may: Flags) -> Array:
    """Where along the strip the first of the edges of the shape in it begins, for each row: (r,).

    Only where it `may` be met (r,).
    """
    met_mm = np.full(len(may), np.inf)
    asked = np.flatnonzero(may)
    if not len(asked):
        return met_mm
    # One line for every edge of such a shape at such an angle: few of all of them.
    edges, shape_of = rows.edges, rows.shape_of[asked]
    counts = edges.counts[shape_of]
    begin = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(asked)), counts)
    edge = np.arange(len(row)) - begin[row] + edges.firsts[shape_of][row]
    turns_rad = rows.turns_rad[asked][row]
    nearest_mm = _first_of(strip, turns_rad, edges.starts[edge], edges.steps[edge])
    met_mm[asked] = np.minimum.reduceat(nearest_mm, begin)
    return met_mm


def _may_be_met(strip: Strip, rows: Rows) -> Flags:
    """In which rows (r,) a shape need be looked at: mostly few of all.

    A shape is beside the strip where all of its corners are beyond the same side, so between the
    first and the last angle at which one crosses a side it may be in it. That holds for shapes
    ahead of the front line that are no nearer than the strip is wide, at angles up to 45 degrees.
    """
    edges = rows.edges
    if not len(edges.firsts):
        return np.zeros(0, dtype=bool)
    x_mm, y_mm = edges.starts.T
    far_mm = np.hypot(x_mm, y_mm)
    width_mm = 2 * max(abs(strip.left_mm), abs(strip.right_mm))
    is_plain = (np.minimum.reduceat(far_mm, edges.firsts) > width_mm) & (
        np.minimum.reduceat(y_mm, edges.firsts) >= 0
    )
    is_plain &= bool(np.abs(rows.turns_rad).max(initial=0.0) <= _PLAIN_TURN_RAD)
    bearings_rad, far_mm = np.arctan2(-x_mm, y_mm), np.maximum(far_mm, width_mm)
    first = np.minimum.reduceat(bearings_rad + np.arcsin(strip.left_mm / far_mm), edges.firsts)
    last = np.maximum.reduceat(bearings_rad + np.arcsin(strip.right_mm / far_mm), edges.firsts)
    first = np.where(is_plain, first - _SAME_RAD, -np.inf)
    last = np.where(is_plain, last + _SAME_RAD, np.inf)
    if strip.is_cut:
        is_behind = np.maximum.reduceat(y_mm, edges.firsts) < strip.floor_mm
        first = np.where(is_behind, np.inf, first)
    of = rows.shape_of
    return np.asarray((rows.turns_rad >= first[of]) & (rows.turns_rad <= last[of]))


def _first_of(strip: Strip, turns_rad: Array, starts: Array, steps: Array) -> Array:
    """How far along the strip, each time turned by an angle (k,), edges (k, 2) begin in it: (k,).

    Infinite for an edge that is not in it.
    """
    cos, sin = np.cos(turns_rad), np.sin(turns_rad)
    across, along = cos * starts[:, 0] + sin * starts[:, 1], cos * starts[:, 1] - sin * starts[:, 0]
    go_across, go_along = (
        cos * steps[:, 0] + sin * steps[:, 1],
        cos * steps[:, 1] - sin * steps[:, 0],
    )
    part = np.zeros_like(across), np.ones_like(across)
    part = _kept(across - strip.left_mm, go_across, part)
    part = _kept(strip.right_mm - across, -go_across, part)
    part = _kept(along, go_along, part)
    if strip.is_cut:
        part = _kept(starts[:, 1] - strip.floor_mm, steps[:, 1], part)
    first, last = part
    nearest_mm = along + go_along * np.where(go_along > 0, first, last)
    return np.where(first <= last, np.maximum(nearest_mm, 0.0), np.inf)


def _edges(strips: Sequence[Strip], frames: Indices, shapes: Any) -> Edges:
    parts, owners = shapely.get_parts(shapes, return_index=True)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    owner_of = owners[of_part[of_ring]]
    local = _in_frames(strips, frames[owner_of], corners)
    goes_on = of_ring[1:] == of_ring[:-1]
    of_edge = owner_of[:-1][goes_on]
    firsts = np.searchsorted(of_edge, np.arange(len(shapes)))
    counts = np.bincount(of_edge, minlength=len(shapes))
    return Edges(local[:-1][goes_on], np.diff(local, axis=0)[goes_on], firsts, counts)


def _in_frames(strips: Sequence[Strip], frames: Indices, points_mm: Array) -> Array:
    """Points (k, 2), each as seen from the pivot of its own strip."""
    pivots = np.array([strip.pivot_mm for strip in strips])[frames]
    axes = np.array([strip.axes for strip in strips])[frames]
    return np.asarray(((points_mm - pivots)[:, None] * axes).sum(axis=-1))


def _kept(start: Array, step: Array, part: tuple[Array, Array]) -> tuple[Array, Array]:
    """What is left of edges' parts, from a share to a share, where start + share x step >= 0."""
    first, last = part
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = -start / step
    first = np.where(step > 0, np.maximum(first, crossing), first)
    last = np.where(step < 0, np.minimum(last, crossing), last)
    return first, np.where((step == 0) & (start < 0), -1.0, last)


def _with_heel(strip: Strip, rows: Rows, starts_mm: Array) -> Array:
    """The same with shapes that lie over a corner of the strip's near end: they begin there."""
    near = np.flatnonzero(_is_at_heel(_heel_box(strip, rows.turns_rad), rows.edges))
    if not len(near):
        return starts_mm
    starts_mm = starts_mm.copy()
    for shape in near.tolist():
        at = np.flatnonzero(rows.shape_of == shape)
        turns_rad = rows.turns_rad[at]
        heel = _heel(strip, turns_rad)
        cos, sin = np.cos(turns_rad)[:, None], np.sin(turns_rad)[:, None]
        along = np.maximum(cos * heel[..., 1] - sin * heel[..., 0], 0.0)
        x_mm, y_mm = np.moveaxis(rows.strips[rows.frames[shape]].on_table(heel), -1, 0)
        over = shapely.contains_xy(rows.shapes[shape], x_mm, y_mm)
        begins_mm = np.where(over, along, np.inf).min(axis=1)
        starts_mm[at] = np.minimum(starts_mm[at], begins_mm)
    return starts_mm


def _is_at_heel(box: Array, edges: Edges) -> Flags:
    """Which shapes (n,) may reach to where the near end comes, by their boxes."""
    if not len(edges.firsts):
        return np.zeros(0, dtype=bool)
    low = np.minimum.reduceat(edges.starts, edges.firsts)
    high = np.maximum.reduceat(edges.starts, edges.firsts)
    return np.asarray(((low <= box[1]) & (high >= box[0])).all(axis=1))


def _heel_box(strip: Strip, turns_rad: Array) -> Array:
    """A box about all places of the near end's corners: its lowest and its highest x, y (2, 2)."""
    turns = np.array([turns_rad.min(initial=0.0), turns_rad.max(initial=0.0)])
    most_rad = float(np.abs(turns).max())
    sides = np.array([min(strip.left_mm, 0.0), max(strip.right_mm, 0.0)])
    if strip.is_cut or most_rad > np.pi / 2:
        far_mm = np.abs(sides).max() + abs(strip.floor_mm)
        far_mm = far_mm / np.cos(most_rad) if strip.is_cut else far_mm
        return np.full((2, 2), [[-far_mm], [far_mm]])
    # Up to a right angle it only comes nearer across, and goes on along.
    along = np.multiply.outer(sides, np.sin(turns))
    low, high = (sides[0], along.min()), (sides[1], along.max())
    return np.array([np.subtract(low, _HAIR_MM), np.add(high, _HAIR_MM)])


def _heel(strip: Strip, turns_rad: Array) -> Array:
    """The corners of the turned strip's near end, in its unturned frame: (a, 3, 2)."""
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
