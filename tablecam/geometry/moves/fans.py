"""Fans: lanes ahead of fronts after wheels about a corner, and the rectangles that they hit.

Vectorised over fronts of any width. A lane is as wide as its front and has no end; `zone_ranges.py`
does the same for strips and shapes of any kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.geometry.moves.lanes import Corner, pivot_mm, turned_deg
from tablecam.geometry.outlines import Axes
from tablecam.table.headings import forward, right, signed_rad

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Fan:
    """The lanes ahead of one front after wheels about a corner, and the rectangles around.

    `sides_mm` are the offsets of a lane's sides to the right of the pivot, `rad_per_mm` the turn of
    the lane, counter-clockwise, per millimetre of arc. `quads_mm` (n, 4, 2) are the corners of the
    rectangles to the right and ahead of the pivot, before any wheel. `slope` is the rise of the
    front edge per millimetre to the right: in a line that is slightly askew, the edge from end to
    end is not square to the heading.
    """

    sides_mm: tuple[float, float]
    rad_per_mm: float
    quads_mm: Array
    slope: float = 0.0

    @property
    def askew_mm(self) -> float:
        """How far one end of the front lies ahead of the other."""
        return abs(self.slope) * (self.sides_mm[1] - self.sides_mm[0])


def fan_before(front: Axes, corner: Corner, corners_mm: Array) -> Fan:
    """Returns the fan of a front about a corner, with rectangles given by corners (n, 4, 2)."""
    axes = np.array([right(front.heading_deg), forward(front.heading_deg)])
    width_mm, rise_mm = (axes @ np.subtract(front.right_mm, front.left_mm)).tolist()
    return Fan(
        (0.0, width_mm) if corner == "left" else (-width_mm, 0.0),
        float(np.radians(turned_deg(front, corner, 1.0))),
        (corners_mm - pivot_mm(front, corner)) @ axes.T,
        rise_mm / width_mm,
    )


def corners_of(rectangles: Sequence[shapely.Polygon]) -> Array:
    """Returns the corners (n, 4, 2) of rectangles."""
    return np.asarray(shapely.get_coordinates(list(rectangles)).reshape(-1, 5, 2)[:, :4])


_STEP_MM = 1.0
"""The step between wheels tried, beside those at which a corner enters or leaves the lane."""
_BESIDE_DEG = 1e-6
"""The offset at which either side of such a wheel is tried; 3 millionths of a mm at 160 mm."""


def all_arcs_mm(fan: Fan, longest_mm: float, deep_mm: float) -> Array:
    """Returns the arcs of all wheels to try about a corner, rising from 0 to the longest.

    They are every millimetre and either side of each wheel at which a rectangle reaches into the
    lane by a depth.
    """
    if longest_mm <= 0.0:
        return np.zeros(1)
    arcs_mm = np.linspace(0.0, longest_mm, math.ceil(longest_mm / _STEP_MM) + 1)
    beside_mm = abs(math.radians(_BESIDE_DEG) / fan.rad_per_mm)
    # Exactly at a crossing rounding decides, so both sides are tried too.
    critical_mm = critical_arcs_mm(fan, longest_mm, deep_mm)
    beside = np.add.outer([-beside_mm, 0.0, beside_mm], critical_mm).ravel()
    return np.unique(np.concatenate([arcs_mm, beside[(beside >= 0.0) & (beside <= longest_mm)]]))


def critical_arcs_mm(fan: Fan, longest_mm: float, deep_mm: float) -> Array:
    """Returns the wheels up to `longest_mm` at which a corner reaches a depth from a lane's side.

    Between two neighbouring wheels the same edges cross the lane.
    """
    x_mm, y_mm = fan.quads_mm.reshape(-1, 2).T
    left_mm, right_mm = fan.sides_mm
    sides_mm = np.array([left_mm + deep_mm, right_mm - deep_mm])
    far_mm = np.hypot(x_mm, y_mm)
    with np.errstate(divide="ignore", invalid="ignore"):
        aside_rad = np.arcsin(sides_mm[:, None] / far_mm)
    turns_rad = signed_rad(np.arctan2(-x_mm, y_mm) + aside_rad)
    arcs_mm = (turns_rad / fan.rad_per_mm).ravel()
    return np.asarray(arcs_mm[np.abs(arcs_mm) <= longest_mm])


@dataclass(frozen=True, slots=True, eq=False)
class TurnedLanes:
    """The r pairs of a wheel and a rectangle near its lane, over several fans.

    `places` (r,) is the index of a pair among all pairs, ordered by fan, wheel and rectangle.
    `across_mm` and `along_mm` (4, r) are the rectangle's corners in the frame of the turned lane,
    from the front edge; `sides_mm` (2, r) the lane's sides, `of_fan` (r,) the index of the fan.
    `shapes` has the number of wheels and rectangles of each fan.
    """

    across_mm: Array
    along_mm: Array
    sides_mm: Array
    of_fan: Indices
    places: Indices
    shapes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, fans: Sequence[Fan], arcs_mm: Sequence[Array], near_mm: ArrayLike) -> TurnedLanes:
        """Pairs all wheels of each fan with its rectangles that come within `near_mm` of the lane.

        `near_mm` is one value for all fans or one per fan.
        """
        angles = np.array([len(arcs) for arcs in arcs_mm], dtype=np.intp)
        counts = np.array([len(fan.quads_mm) for fan in fans], dtype=np.intp)
        sizes = angles * counts
        of_fan = np.repeat(np.arange(len(fans)), sizes)
        place = np.arange(len(of_fan)) - (np.cumsum(sizes) - sizes)[of_fan]
        turn_of = (np.cumsum(angles) - angles)[of_fan] + place // counts[of_fan]
        quad_of = (np.cumsum(counts) - counts)[of_fan] + place % counts[of_fan]
        turns_rad = _joined(fan.rad_per_mm * arcs for fan, arcs in zip(fans, arcs_mm, strict=True))
        cos, sin = np.cos(turns_rad)[turn_of], np.sin(turns_rad)[turn_of]
        sides_mm = np.array([fan.sides_mm for fan in fans]).reshape(-1, 2).T[:, of_fan]
        fan_of_quad, quads_mm = _all_quads(fans)
        x_mm, y_mm = quads_mm.transpose(2, 1, 0)
        # Circumscribed circles rule out most rectangles before any corner is turned.
        middle_x, middle_y = x_mm.mean(axis=0)[quad_of], y_mm.mean(axis=0)[quad_of]
        radius_mm = np.hypot(x_mm - x_mm.mean(axis=0), y_mm - y_mm.mean(axis=0)).max(axis=0)
        near_mm = near_mm + np.array([fan.askew_mm for fan in fans])
        radius_mm = (radius_mm + near_mm[fan_of_quad])[quad_of]
        across_mm = cos * middle_x + sin * middle_y
        near = np.flatnonzero(
            (across_mm >= sides_mm[0] - radius_mm)
            & (across_mm <= sides_mm[1] + radius_mm)
            & (cos * middle_y - sin * middle_x >= -radius_mm)
        )
        cos, sin, x_mm, y_mm = cos[near], sin[near], x_mm[:, quad_of[near]], y_mm[:, quad_of[near]]
        slope = np.array([fan.slope for fan in fans])[of_fan[near]]
        across_mm = cos * x_mm + sin * y_mm
        return cls(
            across_mm,
            cos * y_mm - sin * x_mm - slope * across_mm,
            sides_mm[:, near],
            of_fan[near],
            near,
            tuple(zip(angles.tolist(), counts.tolist(), strict=True)),
        )

    def begins_mm(
        self, depth_mm: ArrayLike, *, unless: Sequence[Array] | None = None
    ) -> list[Array]:
        """Returns how far along each lane (a,) each rectangle (n,) begins: (a, n) per fan.

        Infinite for a rectangle that enters the lane by less than `depth_mm` from its sides; a
        depth below 0 is a distance beside the lane. Depths are one value for all fans or one per
        fan. Pairs with a finite `unless` are skipped and infinite.
        """
        deep_mm = np.broadcast_to(np.asarray(depth_mm, dtype=np.float64), len(self.shapes))
        ends = np.cumsum([0, *(angles * quads for angles, quads in self.shapes)], dtype=np.intp)
        begins = np.full(ends[-1], np.inf)
        is_asked = np.ones(len(self.places), dtype=bool)
        if unless is not None:
            is_asked = np.isinf(_joined(of_fan.ravel() for of_fan in unless)[self.places])
        begins[self.places] = self._begins_mm(deep_mm[self.of_fan], is_asked)
        parts = [begins[first:last] for first, last in pairwise(ends.tolist())]
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def _begins_mm(self, deep_mm: Array, is_asked: Flags) -> Array:
        (low_mm, high_mm), ahead_mm = self.sides_mm, self.along_mm.max(axis=0)
        rows = np.flatnonzero(
            (self.across_mm.max(axis=0) >= low_mm + deep_mm)
            & (self.across_mm.min(axis=0) <= high_mm - deep_mm)
            & (ahead_mm >= 0.0)
            & is_asked
        )
        begins = np.full(len(self.of_fan), np.inf)
        begins[rows] = np.maximum(self._between(rows, np.minimum(deep_mm[rows], 0.0))[0], 0.0)
        # A rectangle that extends behind the front may lie beside the lane with the part ahead.
        behind = rows[self.along_mm[:, rows].min(axis=0) < 0.0]
        begins[behind[self._between(behind, deep_mm[behind])[1] < 0.0]] = np.inf
        return begins

    def _between(self, rows: Indices, inward_mm: Array) -> tuple[Array, Array]:
        """Returns where the part of each rectangle between the sides begins and ends.

        The sides are moved inward. Infinite and minus infinite if there is no such part.
        """
        across_mm, along_mm = self.across_mm[:, rows], self.along_mm[:, rows]
        low_mm, high_mm = self.sides_mm[:, rows] + np.stack([inward_mm, -inward_mm])
        step_across, step_along = (
            np.roll(corners, -1, axis=0) - corners for corners in (across_mm, along_mm)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            to_low = (low_mm - across_mm) / step_across
            to_high = (high_mm - across_mm) / step_across
        # An edge parallel to the lane is in it as a whole or not at all.
        is_parallel = step_across == 0.0
        is_in = (across_mm >= low_mm) & (across_mm <= high_mm)
        first = np.maximum(np.where(is_parallel, 0.0, np.minimum(to_low, to_high)), 0.0)
        last = np.minimum(np.where(is_parallel, 1.0, np.maximum(to_low, to_high)), 1.0)
        is_between = (first <= last) & (is_in | ~is_parallel)
        ends = along_mm + step_along * first, along_mm + step_along * last
        begin = np.where(is_between, np.minimum(*ends), np.inf).min(axis=0)
        return begin, np.where(is_between, np.maximum(*ends), -np.inf).max(axis=0)


def _all_quads(fans: Sequence[Fan]) -> tuple[Indices, Array]:
    """Returns the rectangles of all fans, preceded by the index of each one's fan."""
    counts = [len(fan.quads_mm) for fan in fans]
    fan_of = np.repeat(np.arange(len(fans)), counts)
    return fan_of, np.concatenate([np.zeros((0, 4, 2)), *(fan.quads_mm for fan in fans)])


def _joined(arrays: Iterable[Array]) -> Array:
    return np.concatenate([np.zeros(0), *arrays])
