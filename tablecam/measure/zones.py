"""Zones before a front: strips that can be turned, and cones; what lies in them, and how far.

A strip stands on a front edge and can be turned about a point of it. Its ranges are lengths along
its own axis; a cone's are lengths from its apex or from its edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.measure.outlines import GRID_MM, Axes
from tablecam.table.headings import forward, right
from tablecam.table.model import Point

Array = NDArray[np.float64]

Edges = tuple[Array, Array, NDArray[np.intp]]
"""Edges (k, 2) in a strip's frame: where each starts, its step, and which of them each shape's
first is (n,)."""

Pivot = Literal["middle", "left", "right"]
"""About which point of its front edge a strip is turned: rulebooks differ."""

_FAR_MM = 2e4
"""Farther than any table reaches."""

_FAN = 4
"""Corners of a cone's far end on each side: none is cut off by a chord, as they lie so far."""

_DRAWN_SEGMENTS = 64

_MOST_TURN_DEG = 89.0
"""A strip that is cut at its front line cannot be turned along it."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A strip as wide as `right_mm - left_mm`, without end, that stands on a front edge.

    It points along `heading_deg` and is turned about `pivot_mm`, from which its sides lie
    `left_mm` (mostly negative) and `right_mm` to the right. With `is_cut` only what lies more than
    `floor_mm` ahead of the unturned front line is of it: the heel that a turned strip puts behind
    that line falls on nobody.
    """

    pivot_mm: Point
    heading_deg: float
    left_mm: float
    right_mm: float
    is_cut: bool = True
    floor_mm: float = 0.0

    def narrowed(self, by_mm: float) -> Strip:
        """The strip less a margin on each side and, where it is cut, at the front line."""
        return replace(
            self,
            left_mm=self.left_mm + by_mm,
            right_mm=self.right_mm - by_mm,
            floor_mm=self.floor_mm + by_mm,
        )

    def outline(self, turned_deg: float, length_mm: float) -> shapely.Geometry:
        """The strip turned counter-clockwise, as far as a length along its axis."""
        beside, ahead = np.array(right(turned_deg + 90.0)), np.array(forward(turned_deg + 90.0))
        sides = (self.left_mm, self.right_mm)
        near = [side * beside for side in sides]
        far = [side * beside + length_mm * ahead for side in sides]
        turned: shapely.Geometry = shapely.Polygon(np.array([near[0], near[1], far[1], far[0]]))
        if self.is_cut:
            reach_mm = length_mm + max(map(abs, sides))
            turned = shapely.intersection(
                turned, shapely.box(-reach_mm, self.floor_mm, reach_mm, reach_mm)
            )
        return shapely.transform(turned, self._on_table)

    def axis(self, turned_deg: float, length_mm: float) -> shapely.LineString:
        """The axis of the strip turned counter-clockwise, from the pivot as far as a length."""
        step = np.multiply(forward(self.heading_deg + turned_deg), length_mm)
        return shapely.LineString(np.array([self.pivot_mm, self.pivot_mm + step]))

    def local_mm(self, points_mm: ArrayLike) -> Array:
        """Points (n, 2) of the table as seen from the pivot: to its right, and ahead of it."""
        return np.asarray((np.asarray(points_mm, dtype=np.float64) - self.pivot_mm) @ self._axes.T)

    def _on_table(self, local_mm: Array) -> Array:
        return np.asarray(local_mm @ self._axes + self.pivot_mm)

    @property
    def _axes(self) -> Array:
        return np.array([right(self.heading_deg), forward(self.heading_deg)])


def strip_before(
    front: Axes, width_mm: float, *, pivot: Pivot = "middle", is_cut: bool = True
) -> Strip:
    """The strip of a width that stands centred on a front edge and is turned about its pivot."""
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    half_mm = float(np.hypot(*(end - left))) / 2
    place, offset_mm = {
        "middle": ((left + end) / 2, 0.0),
        "left": (left, half_mm),
        "right": (end, -half_mm),
    }[pivot]
    return Strip(
        (float(place[0]), float(place[1])),
        front.heading_deg,
        offset_mm - width_mm / 2,
        offset_mm + width_mm / 2,
        is_cut,
    )


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
    met_mm = np.full((len(turns_rad), len(shapes)), np.inf)
    if not met_mm.size:
        return met_mm
    near = np.flatnonzero(_may_be_met(strip, turns_rad, shapes)).tolist()
    if near:
        met_mm[:, near] = _met(strip, turns_rad, [shapes[place] for place in near], sliver_mm)
    return met_mm


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


@dataclass(frozen=True, slots=True)
class Cone:
    """All that lies within so many degrees to the left and to the right of a heading, without end.

    Seen from any point of an edge between `left_mm` and `right_mm`; a point where the two are one.
    Openings go up to 180 degrees on each side: 180 and 180 is all around.
    """

    left_mm: Point
    right_mm: Point
    heading_deg: float
    left_deg: float
    right_deg: float

    def __post_init__(self) -> None:
        if not all(0.0 <= opening <= 180.0 for opening in (self.left_deg, self.right_deg)):
            raise ValueError(
                f"expected openings from 0 to 180 degrees, got {self.left_deg, self.right_deg}"
            )

    @property
    def edge(self) -> shapely.LineString:
        """What its ranges are taken from."""
        return shapely.LineString([self.left_mm, self.right_mm])

    def outline(self, radius_mm: float) -> shapely.Geometry:
        """As far as a radius from its edge, arcs as polygons; for drawing."""
        around = shapely.buffer(self.edge, radius_mm, quad_segs=_DRAWN_SEGMENTS)
        return shapely.intersection(around, self._wedge, grid_size=GRID_MM)

    def nearest_mm(self, shapes: Sequence[shapely.Geometry], sliver_mm: float = 0.0) -> Array:
        """How far from its edge the first part of each shape inside it lies: (n,).

        Infinite for a shape of which nothing, or nothing as deep as a sliver, lies in it.
        """
        inside = shapely.intersection(
            np.asarray(shapes, dtype=object), self._wedge, grid_size=GRID_MM
        )
        kept = shapely.buffer(inside, -sliver_mm / 2) if sliver_mm > 0 else inside
        lengths_mm = shapely.distance(inside, self.edge)
        return np.where(shapely.is_empty(kept), np.inf, lengths_mm)

    @property
    def _wedge(self) -> shapely.Geometry:
        if self.left_deg + self.right_deg >= 360.0:
            return shapely.box(-_FAR_MM, -_FAR_MM, _FAR_MM, _FAR_MM)
        turns = np.linspace(-self.right_deg, 0.0, _FAN), np.linspace(0.0, self.left_deg, _FAN)
        ends = self.right_mm, self.left_mm
        fan = [
            np.add(end, np.multiply(forward(self.heading_deg + turn), _FAR_MM))
            for end, side in zip(ends, turns, strict=True)
            for turn in side
        ]
        return shapely.Polygon(np.array([self.right_mm, *fan, self.left_mm]))


def cone_before(front: Axes, left_deg: float, right_deg: float | None = None) -> Cone:
    """The cone before a front edge, opened by as much to its right as to its left unless told."""
    opening_deg = left_deg if right_deg is None else right_deg
    return Cone(front.left_mm, front.right_mm, front.heading_deg, left_deg, opening_deg)


def cone_at(apex_mm: Point, heading_deg: float, whole_deg: float) -> Cone:
    """The cone of a whole opening about a heading, from a point: 22.5 for one of 16 around it."""
    return Cone(apex_mm, apex_mm, heading_deg, whole_deg / 2, whole_deg / 2)


def _may_be_met(
    strip: Strip, turns_rad: Array, shapes: Sequence[shapely.Geometry]
) -> NDArray[np.bool_]:
    """Which shapes (n,) do not lie wholly behind the strip or to one side, however it is turned.

    What lies right of it when it is turned most to the right is right of it at all angles, as far
    as a strip's sides have its pivot between them and its turns span no more than a right angle.
    """
    corners, owners = shapely.get_coordinates(np.asarray(shapes, dtype=object), return_index=True)
    local = strip.local_mm(corners)
    firsts = np.searchsorted(owners, np.arange(len(shapes)))
    may = np.ones(len(shapes), dtype=bool)
    if strip.is_cut:
        may &= np.maximum.reduceat(local[:, 1], firsts) >= strip.floor_mm
    most_right, most_left = turns_rad.min(), turns_rad.max()
    if strip.left_mm <= 0 <= strip.right_mm and most_left - most_right <= np.pi / 2:
        across = local @ np.array([np.cos(most_right), np.sin(most_right)])
        may &= np.minimum.reduceat(across, firsts) <= strip.right_mm
        across = local @ np.array([np.cos(most_left), np.sin(most_left)])
        may &= np.maximum.reduceat(across, firsts) >= strip.left_mm
    return may


def _met(
    strip: Strip, turns_rad: Array, shapes: Sequence[shapely.Geometry], sliver_mm: float
) -> Array:
    """As `first_met`, of shapes one by one: (a, n)."""
    edges = _edges(strip, shapes)
    starts_mm = _with_heel(strip, turns_rad, shapes, _starts(strip, turns_rad, edges))
    if sliver_mm > 0:
        inner = strip.narrowed(sliver_mm)
        inner_mm = _with_heel(inner, turns_rad, shapes, _starts(inner, turns_rad, edges))
        starts_mm = np.where(np.isfinite(inner_mm), starts_mm, np.inf)
    return starts_mm


def _starts(strip: Strip, turns_rad: Array, edges: Edges) -> Array:
    """Where along the strip the first of the edges of each shape in it begins: (a, n)."""
    starts, steps, firsts = edges
    cos, sin = np.cos(turns_rad)[:, None], np.sin(turns_rad)[:, None]
    # Across the turned strip and along it, for where each edge begins and how it goes on.
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
    ends = along + go_along * np.where(go_along > 0, first, last)
    nearest = np.where(first <= last, np.maximum(ends, 0.0), np.inf)
    found: Array = np.minimum.reduceat(nearest, firsts, axis=1)
    return found


def _edges(strip: Strip, shapes: Sequence[shapely.Geometry]) -> Edges:
    """All edges of the shapes in the strip's frame: where they start, their steps, each's first."""
    parts, owners = shapely.get_parts(np.asarray(shapes, dtype=object), return_index=True)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    local = strip.local_mm(corners)
    goes_on = of_ring[1:] == of_ring[:-1]
    of_edge = owners[of_part[of_ring[:-1][goes_on]]]
    firsts = np.searchsorted(of_edge, np.arange(len(shapes)))
    return local[:-1][goes_on], np.diff(local, axis=0)[goes_on], firsts


def _kept(start: Array, step: Array, part: tuple[Array, Array]) -> tuple[Array, Array]:
    """What is left of edges' parts, from a share to a share, where start + share x step >= 0."""
    first, last = part
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -start / step
    first = np.where(step > 0, np.maximum(first, crossing), first)
    last = np.where(step < 0, np.minimum(last, crossing), last)
    return first, np.where((step == 0) & (start < 0), -1.0, last)


def _with_heel(
    strip: Strip, turns_rad: Array, shapes: Sequence[shapely.Geometry], starts_mm: Array
) -> Array:
    """The same, with shapes that lie over a corner of the strip's own heel: they begin there."""
    heel = _heel(strip, turns_rad)
    reach_mm = float(np.hypot(heel[..., 0], heel[..., 1]).max())
    pivot = shapely.Point(strip.pivot_mm)
    near = shapely.distance(np.asarray(shapes, dtype=object), pivot) <= reach_mm
    if not near.any():
        return starts_mm
    cos, sin = np.cos(turns_rad)[:, None], np.sin(turns_rad)[:, None]
    along = cos * heel[..., 1] - sin * heel[..., 0]
    x_mm, y_mm = np.moveaxis(strip._on_table(heel), -1, 0)
    starts_mm = starts_mm.copy()
    for place in np.flatnonzero(near).tolist():
        over = shapely.contains_xy(shapes[place], x_mm, y_mm)
        begins = np.where(over, along, np.inf).min(axis=1)
        starts_mm[:, place] = np.minimum(starts_mm[:, place], np.maximum(begins, 0.0))
    return starts_mm


def _heel(strip: Strip, turns_rad: Array) -> Array:
    """The corners of the turned strip's near end, in its unturned frame: (a, 3, 2)."""
    cos, sin = np.cos(turns_rad), np.sin(turns_rad)
    floor_mm = strip.floor_mm if strip.is_cut else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where the front line cuts the near end itself.
        cut = np.clip(np.nan_to_num(floor_mm / sin), strip.left_mm, strip.right_mm)
    across = np.stack([np.full_like(cos, strip.left_mm), np.full_like(cos, strip.right_mm), cut], 1)
    along = np.zeros_like(across)
    if strip.is_cut:
        along = np.maximum(0.0, (floor_mm - across * sin[:, None]) / cos[:, None])
    beside = across * cos[:, None] - along * sin[:, None]
    return np.stack([beside, across * sin[:, None] + along * cos[:, None]], axis=-1)
