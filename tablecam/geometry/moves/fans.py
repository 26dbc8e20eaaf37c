"""Fans: the lanes before fronts after wheels about a corner, and which rectangles they come upon.

Many at once, of any widths. A lane is as wide as its front and has no end; `zone_ranges.py` answers
the same for strips and shapes of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from tablecam.geometry.moves.lanes import Corner, pivot_mm, turned_deg
from tablecam.geometry.outlines import Axes
from tablecam.table.headings import forward, right

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

_RIBS = 8
"""Into how many sectors a fan is cut to sort out who is far."""


@dataclass(frozen=True, slots=True, eq=False)
class Fan:
    """The lanes before one front after wheels about a corner, and rectangles.

    `sides_mm` are how far to the right of the pivot a lane's sides lie, `rad_per_mm` what a wheel
    turns it by, counter-clockwise, for a millimetre of arc. `quads_mm` (n, 4, 2) are the corners of
    the rectangles as seen from the pivot before any wheel: to its right, and ahead. `slope` is how
    much farther ahead the front edge lies for each millimetre to the right: bases of a line that
    lies a hair askew face where they face, and its edge runs from end to end.
    """

    sides_mm: tuple[float, float]
    rad_per_mm: float
    quads_mm: Array
    slope: float = 0.0

    @property
    def askew_mm(self) -> float:
        """How far ahead of one end of the front the other lies."""
        return abs(self.slope) * (self.sides_mm[1] - self.sides_mm[0])

    def take(self, rows: Indices | Flags) -> Fan:
        """The same with some of the rectangles."""
        return replace(self, quads_mm=self.quads_mm[rows])


def fan_before(front: Axes, corner: Corner, corners_mm: Array) -> Fan:
    """The fan of a front about a corner, with rectangles by their corners (n, 4, 2)."""
    axes = np.array([right(front.heading_deg), forward(front.heading_deg)])
    wide_mm, rise_mm = (axes @ np.subtract(front.right_mm, front.left_mm)).tolist()
    return Fan(
        (0.0, wide_mm) if corner == "left" else (-wide_mm, 0.0),
        float(np.radians(turned_deg(front, corner, 1.0))),
        (corners_mm - pivot_mm(front, corner)) @ axes.T,
        rise_mm / wide_mm,
    )


def corners_of(rectangles: Sequence[shapely.Polygon]) -> Array:
    """The corners (n, 4, 2) of rectangles."""
    return np.asarray(shapely.get_coordinates(list(rectangles)).reshape(-1, 5, 2)[:, :4])


def may_be_met(
    fans: Sequence[Fan],
    longest_mm: ArrayLike,
    reach_mm: ArrayLike,
    margin_mm: ArrayLike,
    *,
    is_shared: bool = False,
) -> list[Flags]:
    """Which rectangles (n,) of each fan its lanes can come upon, or as near as a margin.

    After wheels up to the longest; as far ahead as the reach, or where it `is_shared` as what a
    wheel leaves of it. Seldom a few more. The three are one for all fans, or one of each.
    """
    if not fans:
        return []
    of_fan, quads_mm = _all_quads(fans)
    limits_mm = np.broadcast_arrays(longest_mm, reach_mm, margin_mm, np.zeros(len(fans)))[:3]
    ribs_mm = limits_mm[0][:, None] * np.linspace(0.0, 1.0, _RIBS + 1)
    turns_rad = ribs_mm * np.array([[fan.rad_per_mm] for fan in fans])
    x_mm, y_mm = quads_mm.transpose(2, 1, 0)[..., None]
    cos, sin = np.cos(turns_rad)[of_fan], np.sin(turns_rad)[of_fan]
    across_mm, along_mm = cos * x_mm + sin * y_mm, cos * y_mm - sin * x_mm
    # Between two ribs a corner runs along an arc, which bulges over what it is at both.
    sector_rad = np.abs(turns_rad[:, 1])[of_fan]
    far_mm = np.hypot(quads_mm[..., 0], quads_mm[..., 1]).max(axis=1)
    more_mm = far_mm * (1 - np.cos(sector_rad / 2)) + limits_mm[2][of_fan]
    more_mm += np.array([fan.askew_mm for fan in fans])[of_fan]
    sides_mm = np.array([fan.sides_mm for fan in fans])[of_fan]
    # How far it has come with the wheel, where that counts.
    spent_mm = (ribs_mm * is_shared)[of_fan]
    is_met = (
        (_sectors(across_mm.max(axis=0), np.maximum) >= (sides_mm[:, 0] - more_mm)[:, None])
        & (_sectors(across_mm.min(axis=0), np.minimum) <= (sides_mm[:, 1] + more_mm)[:, None])
        & (_sectors(along_mm.max(axis=0), np.maximum) >= -more_mm[:, None])
        & (
            _sectors(along_mm.min(axis=0) + spent_mm, np.minimum)
            <= (limits_mm[1][of_fan] + more_mm)[:, None]
        )
    ).any(axis=1)
    return np.split(is_met, _ends(fans))


def critical_arcs_mm(fan: Fan, longest_mm: float, depths_mm: Sequence[float]) -> Array:
    """The wheels, up to the longest, at which a corner comes as deep into the lane as a depth.

    From either side. Between two of them that follow each other the same edges lie across it.
    """
    x_mm, y_mm = fan.quads_mm.reshape(-1, 2).T
    left_mm, right_mm = fan.sides_mm
    sides_mm = np.array([[left_mm + deep, right_mm - deep] for deep in depths_mm]).ravel()
    far_mm = np.hypot(x_mm, y_mm)
    with np.errstate(divide="ignore", invalid="ignore"):
        aside_rad = np.arcsin(sides_mm[:, None] / far_mm)
    turns_rad = (np.arctan2(-x_mm, y_mm) + aside_rad + np.pi) % (2 * np.pi) - np.pi
    arcs_mm = (turns_rad / fan.rad_per_mm).ravel()
    return np.asarray(arcs_mm[np.abs(arcs_mm) <= longest_mm])


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """Fans and their wheels: each of r rows is one of the rectangles after one of the wheels.

    Only those that come near enough to the lane; `places` (r,) tells which they are of all.
    `across_mm` and `along_mm` (4, r) are its corners as the turned lane sees them, along it from
    the front edge; `sides_mm` (2, r) the lane's sides, `of_fan` (r,) which fan it is. `shapes` are
    how many wheels and rectangles each fan has.
    """

    across_mm: Array
    along_mm: Array
    sides_mm: Array
    of_fan: Indices
    places: Indices
    shapes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, fans: Sequence[Fan], arcs_mm: Sequence[Array], near_mm: ArrayLike) -> Turned:
        """All wheels of each fan with all of its rectangles that come so near.

        How near is one for all fans, or one of each.
        """
        angles = np.array([len(each) for each in arcs_mm], dtype=np.intp)
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
        # Most are far aside, as the circles about them tell.
        middle_x, middle_y = x_mm.mean(axis=0)[quad_of], y_mm.mean(axis=0)[quad_of]
        round_mm = np.hypot(x_mm - x_mm.mean(axis=0), y_mm - y_mm.mean(axis=0)).max(axis=0)
        near_mm = near_mm + np.array([fan.askew_mm for fan in fans])
        round_mm = (round_mm + near_mm[fan_of_quad])[quad_of]
        across_mm = cos * middle_x + sin * middle_y
        near = np.flatnonzero(
            (across_mm >= sides_mm[0] - round_mm)
            & (across_mm <= sides_mm[1] + round_mm)
            & (cos * middle_y - sin * middle_x >= -round_mm)
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
        """How far along the lane after each wheel (a,) each rectangle (n,) begins: (a, n) a fan.

        Infinite where it does not reach so deep into the lane from the sides; with a depth below 0,
        where it does not come so near to it. The depths are one for all fans, or one of each. Not
        asked, so infinite, where `unless` is finite.
        """
        deep_mm = np.broadcast_to(np.asarray(depth_mm, dtype=np.float64), len(self.shapes))
        ends = np.cumsum([0, *(angles * quads for angles, quads in self.shapes)], dtype=np.intp)
        begins = np.full(ends[-1], np.inf)
        is_asked = np.ones(len(self.places), dtype=bool)
        if unless is not None:
            is_asked = np.isinf(_joined(each.ravel() for each in unless)[self.places])
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
        found = np.full(len(self.of_fan), np.inf)
        found[rows] = np.maximum(self._between(rows, np.minimum(deep_mm[rows], 0.0))[0], 0.0)
        # Of one that reaches behind the front, what is ahead may lie beside the lane.
        behind = rows[self.along_mm[:, rows].min(axis=0) < 0.0]
        found[behind[self._between(behind, deep_mm[behind])[1] < 0.0]] = np.inf
        return found

    def _between(self, rows: Indices, inward_mm: Array) -> tuple[Array, Array]:
        """Where along what of rectangles lies between the sides, moved inward, begins and ends.

        The end of what does not lie there at all is below 0.
        """
        across_mm, along_mm = self.across_mm[:, rows], self.along_mm[:, rows]
        low_mm, high_mm = self.sides_mm[:, rows] + np.stack([inward_mm, -inward_mm])
        step, onward = (np.roll(each, -1, axis=0) - each for each in (across_mm, along_mm))
        with np.errstate(divide="ignore", invalid="ignore"):
            to_low, to_high = (low_mm - across_mm) / step, (high_mm - across_mm) / step
        is_level = step == 0.0
        is_in = (across_mm >= low_mm) & (across_mm <= high_mm)
        first = np.maximum(np.where(is_level, 0.0, np.minimum(to_low, to_high)), 0.0)
        last = np.minimum(np.where(is_level, 1.0, np.maximum(to_low, to_high)), 1.0)
        is_kept = (first <= last) & (is_in | ~is_level)
        ends = along_mm + onward * first, along_mm + onward * last
        begin = np.where(is_kept, np.minimum(*ends), np.inf).min(axis=0)
        return begin, np.where(is_kept, np.maximum(*ends), -np.inf).max(axis=0)


def _sectors(at_ribs: Array, which: np.ufunc) -> Array:
    """Of what holds at each rib (r, k + 1) the most or the least in each sector (r, k)."""
    return np.asarray(which(at_ribs[:, :-1], at_ribs[:, 1:]))


def _all_quads(fans: Sequence[Fan]) -> tuple[Indices, Array]:
    """The rectangles of all fans, and of which fan each is."""
    counts = [len(fan.quads_mm) for fan in fans]
    of_fan = np.repeat(np.arange(len(fans)), counts)
    return of_fan, np.concatenate([np.zeros((0, 4, 2)), *(fan.quads_mm for fan in fans)])


def _joined(arrays: Iterable[Array]) -> Array:
    return np.concatenate([np.zeros(0), *arrays])


def _ends(fans: Sequence[Fan]) -> Indices:
    return np.asarray(np.cumsum([len(fan.quads_mm) for fan in fans])[:-1], dtype=np.intp)
