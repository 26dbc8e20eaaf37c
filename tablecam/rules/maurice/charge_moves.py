"""All charge moves of a unit that end in contact, as arrays: wheels, ways ahead, whom they meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.lanes import (
    Corner,
    advanced,
    front_width_mm,
    lane,
    lane_corners_mm,
    turned_deg,
    wheeled,
)
from tablecam.measure.outlines import Axes
from tablecam.measure.zone_ranges import critical_turns_deg, first_met
from tablecam.measure.zones import Strip, strip_before
from tablecam.rules.maurice.charge_wheel import wheel_area
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.tables import ALLOWANCES_BW, CHARGE_WHEEL_BW, SLIVER_MM

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

CORNERS: tuple[Corner, Corner] = ("left", "right")
"""About which corners a unit may wheel."""

_STEP_MM = 1.0
"""How finely wheels are tried, besides those at which something enters or leaves the lane."""
_BESIDE_DEG = 1e-6
"""How far to either side of such a wheel is tried too; 3 millionths of a mm at 160 mm."""
_RIBS = 4
"""How many sectors the fan of all lanes is drawn with, generously; it only sorts out who is far."""


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
        return wheel_area(unit, self.corner, self.arc_mm)

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

    def lanes(self, unit: UnitOnField, rows: NDArray[np.intp]) -> NDArray[np.object_]:
        """What the front passes over on the ways ahead of some of the moves."""
        corners = lane_corners_mm(
            unit.axes, self.corner, self.arcs_mm[rows], self.straight_mm[rows]
        )
        return np.asarray(shapely.polygons(corners), dtype=object)

    def bases_met(self, row: int) -> tuple[shapely.Polygon, ...]:
        """The bases that one of the moves meets."""
        return tuple(self.bases[place] for place in np.flatnonzero(self.meets[row]))


def allowance_mm(field: Field, unit: UnitOnField) -> float | None:
    """How far a unit may charge in all (M-8.5); None in a formation that has no allowance."""
    allowance_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    return None if allowance_bw is None else allowance_bw * field.bw_mm


@dataclass(frozen=True, slots=True, eq=False)
class InReach:
    """The bases that all lanes about a corner can have to do with.

    `bases` are those of enemies, whose units are `owners`; `friends` those of friends.
    """

    corner: Corner
    owners: tuple[str, ...]
    bases: tuple[shapely.Polygon, ...]
    friends: tuple[shapely.Polygon, ...]


def in_reach(
    field: Field, unit: UnitOnField, corner: Corner, others: Sequence[UnitOnField]
) -> InReach:
    """What of other units there is in reach of a unit's charges about a corner."""
    reach_mm = allowance_mm(field, unit) or 0.0
    fan = fan_of_lanes(unit.axes, corner, CHARGE_WHEEL_BW * field.bw_mm, reach_mm)
    enemies = bases_in(fan, [other for other in others if other.side != unit.side])
    friends = bases_in(fan, [other for other in others if other.side == unit.side])
    owners, bases = tuple(each for each, _ in enemies), tuple(base for _, base in enemies)
    return InReach(corner, owners, bases, tuple(base for _, base in friends))


def come_to(field: Field, unit: UnitOnField, there: InReach) -> set[str]:
    """The enemies that lanes come to in what a wheel leaves of the allowance, and a few more."""
    reach_mm, wheel_mm = allowance_mm(field, unit) or 0.0, CHARGE_WHEEL_BW * field.bw_mm
    fan = fan_of_lanes(unit.axes, there.corner, wheel_mm, reach_mm, is_shared=True)
    met = shapely.intersects(fan, np.array(there.bases, dtype=object))
    return {there.owners[place] for place in np.flatnonzero(met)}


def moves_about(field: Field, unit: UnitOnField, there: InReach, longest_mm: float) -> Moves:
    """The moves of a unit after wheels about a corner, up to the longest.

    The first does not wheel. Every millimetre, and beside the wheels at which a corner of a base
    enters or leaves the lane.
    """
    corner, owners, bases = there.corner, there.owners, there.bases
    shapes = [*bases, *there.friends]
    strip = strip_before(unit.axes, front_width_mm(unit.axes), pivot=corner, is_cut=False)
    arcs_mm = arcs_to_try(unit.axes, corner, strip, shapes, longest_mm)
    turns_deg = turned_deg(unit.axes, corner, 1.0) * arcs_mm
    begins_mm = first_met(strip, turns_deg, shapes, SLIVER_MM)
    ahead_mm, friends_mm = np.split(begins_mm, [len(bases)], axis=1)
    straight_mm = ahead_mm.min(axis=1, initial=np.inf)
    meets = np.isfinite(ahead_mm) & (ahead_mm <= straight_mm[:, None] + SLIVER_MM)
    is_beside = np.isinf(ahead_mm) & ~_of_units_met(meets, owners)
    beside_mm = _beside_mm(unit, strip, turns_deg, bases, is_beside)
    return Moves(
        corner,
        arcs_mm,
        straight_mm,
        friends_mm.min(axis=1, initial=np.inf),
        beside_mm.min(axis=1, initial=np.inf),
        meets,
        owners,
        bases,
    )


def _beside_mm(
    unit: UnitOnField,
    strip: Strip,
    turns_deg: Array,
    bases: Sequence[shapely.Polygon],
    is_beside: Bools,
) -> Array:
    """How far ahead those of the bases (k, n) that are beside the lane would touch a flank."""
    beside_mm = np.full(is_beside.shape, np.inf)
    shapes = np.array(bases, dtype=object)
    asked = np.flatnonzero(is_beside.any(axis=0) & ~shapely.dwithin(unit.outline, shapes, TOUCH_MM))
    if len(asked):
        grown_mm = first_met(strip.narrowed(-TOUCH_MM), turns_deg, shapes[asked].tolist())
        beside_mm[:, asked] = np.where(is_beside[:, asked], grown_mm, np.inf)
    return beside_mm


def bases_in(
    area: shapely.Geometry, units: Sequence[UnitOnField]
) -> list[tuple[str, shapely.Polygon]]:
    """The bases of units that reach into an area, with their units' ids."""
    if not units:
        return []
    met = [
        units[place]
        for place in np.flatnonzero(shapely.intersects(area, _outlines(units))).tolist()
    ]
    named = [(other.id, base) for other in met for base in other.bases]
    is_in = shapely.intersects(area, np.array([base for _, base in named], dtype=object))
    return [each for each, is_met in zip(named, is_in.tolist(), strict=True) if is_met]


def _outlines(units: Sequence[UnitOnField]) -> NDArray[np.object_]:
    return np.array([unit.outline for unit in units], dtype=object)


def fan_of_lanes(
    front: Axes, corner: Corner, arc_mm: float, reach_mm: float, *, is_shared: bool = False
) -> shapely.Geometry:
    """An area that holds the lanes after all wheels up to an arc, and what touches them.

    The lanes are as long as the reach, or where it `is_shared` as what a wheel leaves of it.
    """
    arcs_mm = np.linspace(0.0, arc_mm, _RIBS + 1)
    lengths_mm = reach_mm - arcs_mm * is_shared
    ribs = lane_corners_mm(front, corner, arcs_mm, lengths_mm).reshape(-1, 2)
    farthest_mm = math.hypot(front_width_mm(front), reach_mm)
    between_rad = math.radians(abs(turned_deg(front, corner, arc_mm))) / _RIBS
    # The arcs from rib to rib bulge over their chords.
    bulge_mm = farthest_mm * (1.0 - math.cos(between_rad / 2))
    hull = shapely.convex_hull(shapely.LineString(ribs))
    fan = shapely.buffer(hull, bulge_mm + TOUCH_MM, quad_segs=16)
    shapely.prepare(fan)
    return fan


def arcs_to_try(
    front: Axes,
    corner: Corner,
    strip: Strip,
    shapes: Sequence[shapely.Geometry],
    longest_mm: float,
    slivers_mm: Sequence[float] = (SLIVER_MM,),
) -> Array:
    """The wheels to try, by their arcs, ascending from none.

    Those among them at which something reaches into the lane by as much as one of the slivers.
    """
    arcs_mm = np.linspace(0.0, longest_mm, math.ceil(longest_mm / _STEP_MM) + 1)
    if not shapes:
        return arcs_mm
    most_deg = abs(turned_deg(front, corner, longest_mm))
    critical_deg = np.concatenate(
        [critical_turns_deg(strip, shapes, most_deg, sliver_mm) for sliver_mm in slivers_mm]
    )
    beside_deg = np.add.outer([-_BESIDE_DEG, 0.0, _BESIDE_DEG], critical_deg).ravel()
    arcs_mm = np.concatenate([arcs_mm, beside_deg / turned_deg(front, corner, 1.0)])
    return np.unique(arcs_mm[(arcs_mm >= 0.0) & (arcs_mm <= longest_mm)])


def _of_units_met(meets: Bools, owners: Sequence[str]) -> Bools:
    """Which bases (k, n) are of units that are met, perhaps with other bases."""
    is_same = np.array([[one == other for other in owners] for one in owners], dtype=bool)
    return np.asarray(meets @ is_same.reshape(len(owners), len(owners)))
