"""What lies in a strip that is turned to many angles, and how far along it that begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.measure.zones import Strip

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_PLAIN_TURN_RAD = np.pi / 4 + 1e-9
_SAME_RAD = 1e-9

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


def first_met(
    strip: Strip, turned_deg: ArrayLike, shapes: Sequence[shapely.Geometry], sliver_mm: float = 0.0
) -> Array:
    """How far along a strip turned by each angle (a,) each of the shapes (n,) begins: (a, n).

    Infinite where a shape is not in it: where nothing of it reaches in as deep as `sliver_mm`
    from the sides, and from the front line that cuts the strip. Shapes are polygons, of any form.

    Raises:
        ValueError: A strip that is cut is turned by 89 degrees or more.
    """
    turns_rad = np.radians(np.atleast_1d(np.asarray(turned_deg, dtype=np.float64)))
    if strip.is_cut and np.any(np.abs(turns_rad) >= np.radians(_MOST_TURN_DEG)):
        raise ValueError(f"expected angles below {_MOST_TURN_DEG:g} degrees")
    if not len(shapes) or not len(turns_rad):
        return np.full((len(turns_rad), len(shapes)), np.inf)
    edges = _edges(strip, shapes)
    may = _may_be_met(strip, turns_rad, edges)
    asked = np.flatnonzero(may.any(axis=0))
    starts_mm = _starts(strip, turns_rad, edges, may)
    starts_mm = _with_heel(strip, turns_rad, shapes, asked, starts_mm)
    is_in = np.isfinite(starts_mm)
    if sliver_mm > 0 and is_in.any():
        inner = strip.narrowed(sliver_mm)
        inner_mm = _starts(inner, turns_rad, edges, is_in)
        inner_mm = _with_heel(inner, turns_rad, shapes, asked, inner_mm)
        starts_mm[np.isinf(inner_mm)] = np.inf
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


def _starts(strip: Strip, turns_rad: Array, edges: Edges, may: NDArray[np.bool_]) -> Array:
    """Where along the strip the first of the edges of each shape in it begins: (a, n).

    Only where it `may` be met (a, n).
    """
    turn_of, shape_of = np.nonzero(may)
    met_mm = np.full(may.shape, np.inf)
    if not len(turn_of):
        return met_mm
    # One row for every edge of such a shape at such an angle: few of all of them.
    counts = edges.counts[shape_of]
    begin = np.cumsum(counts) - counts
    pair = np.repeat(np.arange(len(turn_of)), counts)
    edge = np.arange(len(pair)) - begin[pair] + edges.firsts[shape_of][pair]
    nearest_mm = _first_of(strip, turns_rad[turn_of][pair], edges.starts[edge], edges.steps[edge])
    met_mm[turn_of, shape_of] = np.minimum.reduceat(nearest_mm, begin)
    return met_mm


def _may_be_met(strip: Strip, turns_rad: Array, edges: Edges) -> NDArray[np.bool_]:
    """At which angles (a, n) a shape need be looked at: mostly few of all.

    A shape is beside the strip where all of its corners are beyond the same side, so between the
    first and the last angle at which one crosses a side it may be in it. That holds for shapes
    ahead of the front line that are no nearer than the strip is wide, at angles up to 45 degrees.
    """
    x_mm, y_mm = edges.starts.T
    far_mm = np.hypot(x_mm, y_mm)
    width_mm = 2 * max(abs(strip.left_mm), abs(strip.right_mm))
    is_plain = (np.minimum.reduceat(far_mm, edges.firsts) > width_mm) & (
        np.minimum.reduceat(y_mm, edges.firsts) >= 0
    )
    is_plain &= bool(np.abs(turns_rad).max() <= _PLAIN_TURN_RAD)
    bearings_rad, far_mm = np.arctan2(-x_mm, y_mm), np.maximum(far_mm, width_mm)
    first = np.minimum.reduceat(bearings_rad + np.arcsin(strip.left_mm / far_mm), edges.firsts)
    last = np.maximum.reduceat(bearings_rad + np.arcsin(strip.right_mm / far_mm), edges.firsts)
    turns = turns_rad[:, None]
    may = ~is_plain | ((turns >= first - _SAME_RAD) & (turns <= last + _SAME_RAD))
    if strip.is_cut:
        may &= np.maximum.reduceat(y_mm, edges.firsts) >= strip.floor_mm
    return np.asarray(may)


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


def _edges(strip: Strip, shapes: Sequence[shapely.Geometry]) -> Edges:
    parts, owners = shapely.get_parts(np.asarray(shapes, dtype=object), return_index=True)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    local = strip.local_mm(corners)
    goes_on = of_ring[1:] == of_ring[:-1]
    of_edge = owners[of_part[of_ring[:-1][goes_on]]]
    firsts = np.searchsorted(of_edge, np.arange(len(shapes)))
    counts = np.bincount(of_edge, minlength=len(shapes))
    return Edges(local[:-1][goes_on], np.diff(local, axis=0)[goes_on], firsts, counts)


def _kept(start: Array, step: Array, part: tuple[Array, Array]) -> tuple[Array, Array]:
    """What is left of edges' parts, from a share to a share, where start + share x step >= 0."""
    first, last = part
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = -start / step
    first = np.where(step > 0, np.maximum(first, crossing), first)
    last = np.where(step < 0, np.minimum(last, crossing), last)
    return first, np.where((step == 0) & (start < 0), -1.0, last)


def _with_heel(
    strip: Strip,
    turns_rad: Array,
    shapes: Sequence[shapely.Geometry],
    asked: Indices,
    starts_mm: Array,
) -> Array:
    """The same with shapes that lie over a corner of the strip's near end: they begin there."""
    if not len(asked):
        return starts_mm
    pivot = shapely.Point(strip.pivot_mm)
    near = shapely.dwithin([shapes[place] for place in asked], pivot, _heel_mm(strip, turns_rad))
    if not near.any():
        return starts_mm
    heel = _heel(strip, turns_rad)
    cos, sin = np.cos(turns_rad)[:, None], np.sin(turns_rad)[:, None]
    along = np.maximum(cos * heel[..., 1] - sin * heel[..., 0], 0.0)
    x_mm, y_mm = np.moveaxis(strip.on_table(heel), -1, 0)
    begins_mm = np.full_like(starts_mm, np.inf)
    for place in asked[near].tolist():
        over = shapely.contains_xy(shapes[place], x_mm, y_mm)
        begins_mm[:, place] = np.where(over, along, np.inf).min(axis=1)
    return np.minimum(starts_mm, begins_mm)


def _heel_mm(strip: Strip, turns_rad: Array) -> float:
    """How far the corners of the near end lie from the pivot at most."""
    side_mm = max(abs(strip.left_mm), abs(strip.right_mm)) + abs(strip.floor_mm)
    return float(side_mm / np.cos(np.abs(turns_rad).max())) if strip.is_cut else side_mm


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
