"""All charge moves of a unit that end in contact, as arrays: wheels, ways ahead, whom they meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.lanes import (
    Corner,
    advanced,
    front_width_mm,
    lane,
    pivot_mm,
    swept_by_wheel,
    turned_deg,
    wheeled,
)
from tablecam.measure.outlines import Axes
from tablecam.measure.zones import Strip, critical_turns_deg, first_met, strip_before
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.ground import is_partly_in
from tablecam.rules.maurice.tables import ALLOWANCES_BW, CHARGE_WHEEL_BW, SLIVER_MM

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

_STEP_MM = 0.5
"""How finely wheels are tried, besides those at which something enters or leaves the lane."""
_BESIDE_DEG = 1e-6
"""How far to either side of such a wheel is tried too; 3 millionths of a mm at 160 mm."""
_HALVINGS = 12
"""To find the longest free wheel to a hundredth of a millimetre."""


@dataclass(frozen=True, slots=True)
class Move:
    """A wheel of an arc about a corner (none where it is 0), and then a way straight ahead."""

    corner: Corner
    arc_mm: float
    straight_mm: float

    @property
    def cost_mm(self) -> float:
        """The whole length of the move."""
        return self.arc_mm + self.straight_mm

    def front_after_wheel(self, unit: UnitOnField) -> Axes:
        """The unit's front when it has wheeled."""
        return wheeled(unit.axes, self.corner, self.arc_mm)

    def front_at_end(self, unit: UnitOnField) -> Axes:
        """The unit's front where it stops."""
        return advanced(self.front_after_wheel(unit), self.straight_mm)

    def wheel_area(self, unit: UnitOnField) -> shapely.Geometry:
        """What it passes over in the wheel, its start included."""
        angle_deg = turned_deg(unit.axes, self.corner, self.arc_mm)
        return swept_by_wheel(unit.bases, pivot_mm(unit.axes, self.corner), angle_deg)

    def lane_area(self, unit: UnitOnField) -> shapely.Polygon:
        """What its front passes over on the way ahead."""
        return lane(self.front_after_wheel(unit), self.straight_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Moves (k,) about one corner, each as far as the first enemy in its lane.

    `straight_mm` is infinite where no enemy is ahead; `friend_mm` is how far ahead the first friend
    is, `beside_mm` the first enemy that is not in the lane but would be touched by a flank. `meets`
    (k, n) are the bases of enemies that are met first, all at one instant, in the order of `bases`,
    whose units are `owners`.
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
        """Which of the moves meet a unit."""
        of_unit = np.array([owner == unit_id for owner in self.owners], dtype=bool)
        return np.asarray(self.meets[:, of_unit].any(axis=1))

    def move(self, row: int) -> Move:
        """One of the moves."""
        return Move(self.corner, float(self.arcs_mm[row]), float(self.straight_mm[row]))

    def bases_met(self, row: int) -> tuple[shapely.Polygon, ...]:
        """The bases that one of the moves meets."""
        return tuple(self.bases[place] for place in np.flatnonzero(self.meets[row]))


def allowance_mm(field: Field, unit: UnitOnField) -> float | None:
    """How far a unit may charge in all (M-8.5); None in a formation that has no allowance."""
    allowance_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    return None if allowance_bw is None else allowance_bw * field.bw_mm


def moves_about(
    field: Field, unit: UnitOnField, corner: Corner, longest_arc_mm: float, reach_mm: float
) -> Moves:
    """The moves of a unit after wheels about a corner, up to an arc; the first does not wheel.

    Every 0.5 mm, and beside the wheels at which a corner of a base enters or leaves the lane.
    """
    front = shapely.LineString([unit.axes.left_mm, unit.axes.right_mm])
    near = [
        other
        for other in field.units
        if other is not unit and shapely.dwithin(other.outline, front, reach_mm + EXACT_MM)
    ]
    enemies = [(other, base) for other in near if other.side != unit.side for base in other.bases]
    friends = [base for other in near if other.side == unit.side for base in other.bases]
    shapes = [*(base for _, base in enemies), *friends]
    strip = strip_before(unit.axes, front_width_mm(unit.axes), pivot=corner, is_cut=False)
    arcs_mm = _arcs(unit.axes, corner, strip, shapes, longest_arc_mm)
    turns_deg = turned_deg(unit.axes, corner, 1.0) * arcs_mm
    begins_mm = first_met(strip, turns_deg, shapes, SLIVER_MM)
    ahead_mm, friends_mm = np.split(begins_mm, [len(enemies)], axis=1)
    straight_mm = ahead_mm.min(axis=1, initial=np.inf)
    meets = np.isfinite(ahead_mm) & (ahead_mm <= straight_mm[:, None] + SLIVER_MM)
    grown_mm = first_met(strip.narrowed(-TOUCH_MM), turns_deg, shapes)[:, : len(enemies)]
    is_new = np.array(
        [not shapely.dwithin(unit.outline, base, TOUCH_MM) for _, base in enemies], dtype=bool
    )
    beside_mm = np.where(np.isfinite(ahead_mm) | ~is_new, np.inf, grown_mm)
    owners = tuple(other.id for other, _ in enemies)
    return Moves(
        corner,
        arcs_mm,
        straight_mm,
        friends_mm.min(axis=1, initial=np.inf),
        np.where(_of_units_met(meets, owners), np.inf, beside_mm).min(axis=1, initial=np.inf),
        meets,
        owners,
        tuple(base for _, base in enemies),
    )


def _arcs(
    front: Axes,
    corner: Corner,
    strip: Strip,
    shapes: Sequence[shapely.Geometry],
    longest_mm: float,
) -> Array:
    """The wheels to try, by their arcs, ascending from none."""
    arcs_mm = np.linspace(0.0, longest_mm, math.ceil(longest_mm / _STEP_MM) + 1)
    if not shapes:
        return arcs_mm
    most_deg = abs(turned_deg(front, corner, longest_mm))
    critical_deg = critical_turns_deg(strip, shapes, most_deg, SLIVER_MM)
    beside_deg = np.add.outer([-_BESIDE_DEG, 0.0, _BESIDE_DEG], critical_deg).ravel()
    arcs_mm = np.concatenate([arcs_mm, beside_deg / turned_deg(front, corner, 1.0)])
    return np.unique(arcs_mm[(arcs_mm >= 0.0) & (arcs_mm <= longest_mm)])


def _of_units_met(meets: Bools, owners: Sequence[str]) -> Bools:
    """Which bases (k, n) are of units that are met, perhaps with other bases."""
    is_same = np.array([[one == other for other in owners] for one in owners], dtype=bool)
    return np.asarray(meets @ is_same.reshape(len(owners), len(owners)))


def longest_free_arc_mm(
    field: Field, unit: UnitOnField, corner: Corner, forbidden: shapely.Geometry
) -> float:
    """How far a unit can wheel about a corner, at most 1 BW, before it passes over what it may not.

    That is any other unit, and `forbidden` ground; not where it already stands.
    """
    whole_mm = CHARGE_WHEEL_BW * field.bw_mm
    near = [other.outline for other in field.units if other is not unit]
    barrier = shapely.union_all([*near, forbidden])

    def is_free(arc_mm: float) -> bool:
        swept = Move(corner, arc_mm, 0.0).wheel_area(unit)
        if not shapely.intersects(swept, barrier):
            return True
        return not is_partly_in(shapely.difference(swept, unit.outline), barrier)

    if is_free(whole_mm):
        return whole_mm
    low_mm, high_mm = 0.0, whole_mm
    for _ in range(_HALVINGS):
        middle_mm = (low_mm + high_mm) / 2
        low_mm, high_mm = (middle_mm, high_mm) if is_free(middle_mm) else (low_mm, middle_mm)
    return low_mm
