"""Charge moves that end in contact, as arrays: wheels, distances ahead and the bases met."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.fans import TurnedLanes, critical_arcs_mm
from tablecam.geometry.moves.lanes import (
    Corner,
    advanced,
    lane,
    lane_corners_mm,
    pivot_mm,
    turned_deg,
    wheel_parts,
    wheeled,
)
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.rules.maurice.charge.reach import Array, Bools, InReach
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.uncertainty.contact import TOUCH_MM

STEP_MM = 1.0
"""The step between wheels tried, beside those at which a corner enters or leaves the lane."""
_BESIDE_DEG = 1e-6
"""The offset at which either side of such a wheel is tried; 3 millionths of a mm at 160 mm."""

_CONTACT_MM = 0.5
"""A shorter charge counts as touching already."""


@dataclass(frozen=True, slots=True)
class Move:
    """A wheel by an arc about a corner (none where it is 0), then a distance straight ahead."""

    corner: Corner
    arc_mm: float
    straight_mm: float

    @property
    def cost_mm(self) -> float:
        """The whole length of the move."""
        return self.arc_mm + self.straight_mm

    @property
    def is_contact(self) -> bool:
        """Whether it is so short that the two touch already."""
        return self.cost_mm < _CONTACT_MM

    def words(self, bw_mm: float) -> str:
        """Describes the move: `wheels left 0.52 BW, then goes 3.10 BW ahead`."""
        if self.is_contact:
            return "already touches it"
        wheel = f"wheels {self.corner} {self.arc_mm / bw_mm:.2f} BW, then " if self.arc_mm else ""
        return f"{wheel}goes {self.straight_mm / bw_mm:.2f} BW ahead"

    def front_after_wheel(self, unit: UnitOnField) -> Axes:
        """Returns the unit's front after the wheel."""
        return wheeled(unit.axes, self.corner, self.arc_mm)

    def front_at_end(self, unit: UnitOnField) -> Axes:
        """Returns the unit's front where it stops."""
        return advanced(self.front_after_wheel(unit), self.straight_mm)

    def wheel_area(self, unit: UnitOnField) -> shapely.Geometry:
        """Returns the area that the unit passes over in the wheel, its start included."""
        return shapely.union_all(self.wheel_parts(unit), grid_size=GRID_MM)

    def wheel_parts(self, unit: UnitOnField) -> NDArray[np.object_]:
        """Returns the overlapping parts of that area."""
        angle_deg = turned_deg(unit.axes, self.corner, self.arc_mm)
        return wheel_parts(unit.bases, pivot_mm(unit.axes, self.corner), angle_deg)

    def lane_area(self, unit: UnitOnField) -> shapely.Polygon:
        """Returns the area that the front passes over on the way ahead."""
        return lane(self.front_after_wheel(unit), self.straight_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Moves (k,) about one corner, each as far as the first enemy in its lane.

    `straight_mm` is infinite where no enemy is ahead; `friend_mm` is the distance to the first
    friend, `beside_mm` to the first enemy outside the lane that a flank would touch. `meets` (k, n)
    marks the enemy bases that are met first, all at one instant, in the order of `bases`, whose
    units are `owners`.
    """

    corner: Corner
    arcs_mm: Array
    straight_mm: Array
    friend_mm: Array
    beside_mm: Array
    meets: Bools
    owners: tuple[str, ...]
    bases: tuple[shapely.Polygon, ...]

    def is_meeting(self, unit_id: str) -> Bools:
        """Returns which of the moves meet a unit."""
        of_unit = np.array([owner == unit_id for owner in self.owners], dtype=bool)
        return np.asarray(self.meets[:, of_unit].any(axis=1))

    def move(self, row: int) -> Move:
        """Returns the move in a row."""
        return Move(self.corner, float(self.arcs_mm[row]), float(self.straight_mm[row]))

    def lanes_mm(self, unit: UnitOnField, rows: NDArray[np.intp]) -> Array:
        """Returns the lanes of some of the moves, by their corners (k, 4, 2)."""
        return lane_corners_mm(unit.axes, self.corner, self.arcs_mm[rows], self.straight_mm[rows])


ArcsOf = Callable[[InReach, float], Array]
"""Returns the arcs of the wheels to try about a corner, up to the longest."""


def moves_about(
    there: Sequence[InReach], longest_mm: Sequence[float], arcs_of: Sequence[ArcsOf]
) -> list[Moves]:
    """Returns the moves of units after wheels about a corner, up to the longest of each.

    The first move does not wheel; the wheels are those of `arcs_of`.
    """
    arcs_mm = [
        arcs(about_corner, most_mm)
        for arcs, about_corner, most_mm in zip(arcs_of, there, longest_mm, strict=True)
    ]
    turned = TurnedLanes.of([about_corner.fan for about_corner in there], arcs_mm, TOUCH_MM)
    begins_mm = turned.begins_mm(SLIVER_MM)
    beside_mm = turned.begins_mm(-TOUCH_MM, unless=begins_mm)
    return list(map(_moves, there, arcs_mm, begins_mm, beside_mm))


def _moves(there: InReach, arcs_mm: Array, begins_mm: Array, beside_mm: Array) -> Moves:
    """Builds the moves after wheels (k,) from where bases, first of enemies, begin (k, n).

    `begins_mm` are distances in the lane, `beside_mm` those beside it.
    """
    count = len(there.bases)
    contact_mm = there.contact_mm(arcs_mm, begins_mm[:, :count])
    straight_mm = contact_mm.min(axis=1, initial=np.inf)
    meets = np.isfinite(straight_mm[:, None]) & (contact_mm <= straight_mm[:, None] + SLIVER_MM)
    beside_mm = np.where(there.touched, np.inf, beside_mm[:, :count])
    # Other bases of a unit that is met may lie beside the lane.
    if np.isfinite(beside_mm).any():
        is_same = there.whose[:, None] == there.whose
        beside_mm = np.where(meets @ is_same, np.inf, beside_mm)
    return Moves(
        there.corner,
        arcs_mm,
        straight_mm,
        begins_mm[:, count:].min(axis=1, initial=np.inf),
        beside_mm.min(axis=1, initial=np.inf),
        meets,
        there.owners,
        there.bases,
    )


def arcs_of(moves: Sequence[Move], there: InReach, longest_mm: float) -> Array:
    """Returns the arcs of the given moves about a corner, up to the longest, after 0."""
    arcs_mm = {move.arc_mm for move in moves if move.corner == there.corner}
    return np.array([0.0, *sorted(arc_mm for arc_mm in arcs_mm if 0.0 < arc_mm <= longest_mm)])


def arcs_between(
    ends_mm: Mapping[Corner, tuple[float, float]], there: InReach, longest_mm: float
) -> Array:
    """Returns the arcs of all wheels to try about a corner between two arcs."""
    low_mm, high_mm = ends_mm[there.corner]
    arcs_mm = all_arcs(there, longest_mm)
    return np.asarray(arcs_mm[(arcs_mm >= low_mm) & (arcs_mm <= high_mm)])


def all_arcs(there: InReach, longest_mm: float) -> Array:
    """Returns the arcs of all wheels to try about a corner, rising from 0 to the longest.

    They are every millimetre and either side of each wheel at which a base reaches into the lane by
    a sliver.
    """
    if longest_mm <= 0.0:
        return np.zeros(1)
    arcs_mm = np.linspace(0.0, longest_mm, math.ceil(longest_mm / STEP_MM) + 1)
    critical_mm = critical_arcs_mm(there.fan, longest_mm, (SLIVER_MM,))
    beside_mm = abs(math.radians(_BESIDE_DEG) / there.fan.rad_per_mm)
    # Exactly at a crossing rounding decides, so both sides are tried too.
    beside = np.add.outer([-beside_mm, 0.0, beside_mm], critical_mm).ravel()
    return np.unique(np.concatenate([arcs_mm, beside[(beside >= 0.0) & (beside <= longest_mm)]]))
