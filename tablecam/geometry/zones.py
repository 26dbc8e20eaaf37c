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

from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.table.headings import forward, right
from tablecam.table.model import Point

Array = NDArray[np.float64]

Pivot = Literal["middle", "left", "right"]
"""About which point of its front edge a strip is turned: rulebooks differ."""

_FAR_MM = 2e4
"""Farther than any table reaches."""

_FAN = 4
"""Corners of a cone's far end on each side: none is cut off by a chord, as they lie so far."""

_DRAWN_SEGMENTS = 64


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
        return shapely.transform(turned, self.on_table)

    def axis(self, turned_deg: float, length_mm: float) -> shapely.LineString:
        """The axis of the strip turned counter-clockwise, from the pivot as far as a length."""
        step = np.multiply(forward(self.heading_deg + turned_deg), length_mm)
        return shapely.LineString(np.array([self.pivot_mm, self.pivot_mm + step]))

    def local_mm(self, points_mm: ArrayLike) -> Array:
        """Points (n, 2) of the table as seen from the pivot: to its right, and ahead of it."""
        return np.asarray((np.asarray(points_mm, dtype=np.float64) - self.pivot_mm) @ self.axes.T)

    def on_table(self, local_mm: Array) -> Array:
        """Points (n, 2) given to the right and ahead of the pivot, on the table."""
        return np.asarray(local_mm @ self.axes + self.pivot_mm)

    @property
    def axes(self) -> Array:
        """Its unit vectors on the table, unturned: to its right, and ahead."""
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
