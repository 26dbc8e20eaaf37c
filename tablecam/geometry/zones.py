"""Fire zones before a front: strips that can be turned, and cones.

A strip stands on a front edge and turns about a point of it. Ranges in a strip are measured along
its axis; in a cone, from its apex or its edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.table.headings import forward, right
from tablecam.table.model import Point

Array = NDArray[np.float64]

Pivot = Literal["middle", "left", "right"]
"""The point of the front edge about which a strip turns; rulebooks differ."""

_FAR_MM = 2e4
"""A length beyond any table."""

_FAN = 4
"""Corners on each side of a cone's far end, far enough that no chord cuts into the table."""

_DRAWN_SEGMENTS = 64


@dataclass(frozen=True)
class Strip:
    """A half-infinite strip, `right_mm - left_mm` wide, that stands on a front edge.

    It points along `heading_deg` and turns about `pivot_mm`; its sides lie `left_mm` (usually
    negative) and `right_mm` to the right of the pivot. With `is_cut`, only the part more than
    `floor_mm` ahead of the unturned front line counts, because the heel of a turned strip behind
    that line hits nothing.
    """

    pivot_mm: Point
    heading_deg: float
    left_mm: float
    right_mm: float
    is_cut: bool = True
    floor_mm: float = 0.0

    def narrowed(self, by_mm: float) -> Strip:
        """Returns the strip with a margin cut off each side and, if cut, off the front line."""
        return replace(
            self,
            left_mm=self.left_mm + by_mm,
            right_mm=self.right_mm - by_mm,
            floor_mm=self.floor_mm + by_mm,
        )

    def outline(self, turned_deg: float, length_mm: float) -> shapely.Geometry:
        """Returns the outline of the strip turned counter-clockwise, up to a length on its axis."""
        shape: shapely.Geometry = turned_strips([self], [turned_deg], [length_mm])[0]
        return shape

    def axis(self, turned_deg: float, length_mm: float) -> shapely.LineString:
        """Returns the axis of the strip turned counter-clockwise, from the pivot to a length."""
        step = np.multiply(forward(self.heading_deg + turned_deg), length_mm)
        return shapely.LineString(np.array([self.pivot_mm, self.pivot_mm + step]))

    def local_mm(self, points_mm: ArrayLike) -> Array:
        """Converts table points (n, 2) to the frame of the pivot: to its right, and ahead."""
        return np.asarray((np.asarray(points_mm, dtype=np.float64) - self.pivot_mm) @ self.axes.T)

    def on_table(self, local_mm: Array) -> Array:
        """Converts points (n, 2) to the right and ahead of the pivot to table points."""
        return np.asarray(local_mm @ self.axes + self.pivot_mm)

    @cached_property
    def axes(self) -> Array:
        """The unit vectors of the unturned strip: to its right, and ahead."""
        return np.array([right(self.heading_deg), forward(self.heading_deg)])


def turned_strips(
    strips: Sequence[Strip], turned_deg: ArrayLike, lengths_mm: ArrayLike, narrowed_mm: float = 0.0
) -> NDArray[np.object_]:
    """Returns `Strip.outline` for each of k strips with its angle and length, (k,).

    All are `narrowed` by the same margin.
    """
    turned_rad, length_mm = np.radians(turned_deg), np.asarray(lengths_mm, dtype=np.float64)
    sides_mm = np.array([(strip.left_mm, strip.right_mm, strip.floor_mm) for strip in strips])
    sides_mm = sides_mm.reshape(-1, 3) + narrowed_mm * np.array([1.0, -1.0, 1.0])
    left_mm, right_mm, floor_mm = sides_mm.T
    across = np.stack([left_mm, right_mm, right_mm, left_mm], axis=1)
    along = np.stack([0 * length_mm, 0 * length_mm, length_mm, length_mm], axis=1)
    cos, sin = np.cos(turned_rad)[:, None], np.sin(turned_rad)[:, None]
    corners = np.stack([across * cos - along * sin, across * sin + along * cos], axis=-1)
    floor_mm[~np.array([strip.is_cut for strip in strips], dtype=bool)] = -np.inf
    corners, is_kept = _ahead_of(corners, floor_mm)
    axes = np.array([strip.axes for strip in strips]).reshape(-1, 2, 2)
    on_table = np.einsum("kci,kij->kcj", corners, axes)
    on_table += np.array([strip.pivot_mm for strip in strips]).reshape(-1, 1, 2)
    shapes = np.full(len(strips), shapely.Polygon(), dtype=object)
    owners = np.repeat(np.arange(len(strips)), is_kept.sum(axis=1))
    is_area = is_kept.sum(axis=1) > 2
    if is_area.any():
        rings = shapely.linearrings(
            on_table[is_kept][is_area[owners]],
            indices=np.cumsum(is_area)[owners[is_area[owners]]] - 1,
        )
        shapes[is_area] = shapely.polygons(rings)
    return shapes


def _ahead_of(corners: Array, floor_mm: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Cuts convex polygons (k, n, 2) to their parts with y >= `floor_mm` (k,).

    Returns corners (k, 2 n, 2), and which of them are kept.
    """
    following = np.roll(corners, -1, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        above_mm = corners[..., 1] - floor_mm[:, None]
        next_mm = following[..., 1] - floor_mm[:, None]
        share = above_mm / (above_mm - next_mm)
        crossings = corners + share[..., None] * (following - corners)
    count = 2 * corners.shape[1]
    both = np.stack([corners, crossings], axis=2).reshape(-1, count, 2)
    is_kept = np.stack([above_mm >= 0.0, above_mm * next_mm < 0.0], axis=2)
    return both, is_kept.reshape(-1, count)


def strip_before(
    front: Axes, width_mm: float, *, pivot: Pivot = "middle", is_cut: bool = True
) -> Strip:
    """Returns the strip of a width, centred on a front edge, that turns about `pivot`."""
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    half_mm = float(np.hypot(*(end - left))) / 2
    pivot_mm, offset_mm = {
        "middle": ((left + end) / 2, 0.0),
        "left": (left, half_mm),
        "right": (end, -half_mm),
    }[pivot]
    return Strip(
        (float(pivot_mm[0]), float(pivot_mm[1])),
        front.heading_deg,
        offset_mm - width_mm / 2,
        offset_mm + width_mm / 2,
        is_cut,
    )


@dataclass(frozen=True, slots=True)
class Cone:
    """The area within `half_deg` to either side of a heading, seen from any point of an edge.

    The edge runs from `left_mm` to `right_mm`, which may be the same point. 180 degrees is the
    whole plane.
    """

    left_mm: Point
    right_mm: Point
    heading_deg: float
    half_deg: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.half_deg <= 180.0:
            raise ValueError(f"expected half an opening of 0 to 180 degrees, got {self.half_deg}")

    @property
    def edge(self) -> shapely.LineString:
        """The edge from which ranges are measured."""
        return shapely.LineString([self.left_mm, self.right_mm])

    def outline(self, radius_mm: float) -> shapely.Geometry:
        """Returns the cone up to a radius from its edge, with polygonal arcs, for drawing."""
        around = shapely.buffer(self.edge, radius_mm, quad_segs=_DRAWN_SEGMENTS)
        return shapely.intersection(around, self._wedge, grid_size=GRID_MM)

    def nearest_mm(self, shapes: Sequence[shapely.Geometry]) -> Array:
        """Returns the distance (n,) from the edge to the nearest part of each shape in the cone.

        Infinite for a shape outside the cone.
        """
        # On a grid, so that edges along the cone's sides leave no slivers.
        inside = shapely.intersection(
            np.asarray(shapes, dtype=object), self._wedge, grid_size=GRID_MM
        )
        lengths_mm = shapely.distance(inside, self.edge)
        return np.where(shapely.is_empty(inside), np.inf, lengths_mm)

    @property
    def _wedge(self) -> shapely.Geometry:
        if self.half_deg == 180.0:
            return shapely.box(-_FAR_MM, -_FAR_MM, _FAR_MM, _FAR_MM)
        # The right opening is seen from the right end of the edge, the left one from the left end.
        turns = np.linspace(-self.half_deg, 0.0, _FAN), np.linspace(0.0, self.half_deg, _FAN)
        ends = self.right_mm, self.left_mm
        fan = [
            np.add(end, np.multiply(forward(self.heading_deg + turn), _FAR_MM))
            for end, side in zip(ends, turns, strict=True)
            for turn in side
        ]
        return shapely.Polygon(np.array([self.right_mm, *fan, self.left_mm]))


def cone_before(front: Axes, half_deg: float) -> Cone:
    """Returns the cone before a front edge that opens `half_deg` to either side."""
    return Cone(front.left_mm, front.right_mm, front.heading_deg, half_deg)


def cone_at(apex_mm: Point, heading_deg: float, whole_deg: float) -> Cone:
    """Returns the cone from a point that opens `whole_deg` in all, centred on a heading."""
    return Cone(apex_mm, apex_mm, heading_deg, whole_deg / 2)
