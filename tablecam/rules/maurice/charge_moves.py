"""All charge moves of a unit that end in contact, as arrays: wheels, ways ahead, whom they meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.fans import (
    Fan,
    Turned,
    corners_of,
    critical_arcs_mm,
    fan_before,
    may_be_met,
)
from tablecam.measure.lanes import (
    Corner,
    advanced,
    front_width_mm,
    lane,
    lane_corners_mm,
    pivot_mm,
    turned_deg,
    wheel_parts,
    wheeled,
)
from tablecam.measure.outlines import GRID_MM, Axes
from tablecam.rules.maurice.charge_across import Screen, first_contact_mm, screens_of
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.front_contact import thin_pieces
from tablecam.rules.maurice.tables import ALLOWANCES_BW, CHARGE_WHEEL_BW, SLIVER_MM, THIN_BW

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

CORNERS: tuple[Corner, Corner] = ("left", "right")
"""About which corners a unit may wheel."""

STEP_MM = 1.0
"""How finely wheels are tried, besides those at which something enters or leaves the lane."""
_BESIDE_DEG = 1e-6
"""How far to either side of such a wheel is tried too; 3 millionths of a mm at 160 mm."""


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
        return shapely.union_all(self.wheel_parts(unit), grid_size=GRID_MM)

    def wheel_parts(self, unit: UnitOnField) -> NDArray[np.object_]:
        """The parts of that area; they overlap."""
        angle_deg = turned_deg(unit.axes, self.corner, self.arc_mm)
        return wheel_parts(unit.bases, pivot_mm(unit.axes, self.corner), angle_deg)

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

    def lanes_mm(self, unit: UnitOnField, rows: NDArray[np.intp]) -> Array:
        """What the front passes over on the ways ahead of some of the moves: corners (k, 4, 2)."""
        return lane_corners_mm(unit.axes, self.corner, self.arcs_mm[rows], self.straight_mm[rows])

    def bases_met(self, row: int) -> tuple[shapely.Polygon, ...]:
        """The bases that one of the moves meets."""
        return tuple(self.bases[place] for place in np.flatnonzero(self.meets[row]))


def allowance_mm(field: Field, unit: UnitOnField) -> float | None:
    """How far a unit may charge in all (M-8.5); None in a formation that has no allowance."""
    allowance_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    return None if allowance_bw is None else allowance_bw * field.bw_mm


def far_mm(field: Field, unit: UnitOnField) -> float:
    """How far from a unit anything may lie that its charges can meet, all exactly known."""
    return (allowance_mm(field, unit) or 0.0) + THIN_BW * field.bw_mm + TOUCH_MM


@dataclass(frozen=True, slots=True, eq=False)
class InReach:
    """The bases that all lanes of a unit about a corner can have to do with.

    `bases` are those of enemies, whose units are `owners`, in numbers `whose` (n,); those `touched`
    (n,) it touches where it stands. `fan` holds theirs and then those of friends. `screens` are the
    thin obstacles behind which some of them stand.
    """

    front: Axes
    corner: Corner
    owners: tuple[str, ...]
    bases: tuple[shapely.Polygon, ...]
    whose: NDArray[np.intp]
    touched: Bools
    fan: Fan
    screens: tuple[Screen, ...]

    def contact_mm(self, arcs_mm: Array, begins_mm: Array, slack_mm: float = 0.0) -> Array:
        """How far ahead contact is with bases of enemies (k, n) that begin so far ahead."""
        return first_contact_mm(self.front, self.corner, arcs_mm, begins_mm, self.screens, slack_mm)


ArcsOf = Callable[[InReach, float], Array]
"""The wheels to try about a corner, by their arcs, up to the longest."""


def in_reach(
    table: Field,
    around: Sequence[tuple[UnitOnField, Sequence[UnitOnField]]],
    more_mm: float | Sequence[float] = 0.0,
) -> list[tuple[InReach, InReach]]:
    """What there is in reach of units' charges about either corner, of other units each.

    What lies so much farther, or beside it, matters too: one length for all, or one of each unit.
    All fields are of one `table`.
    """
    pieces, thick_mm = thin_pieces(table), THIN_BW * table.bw_mm
    all_more_mm = np.broadcast_to(np.asarray(more_mm, dtype=np.float64), len(around))
    all_there = [
        each
        for (unit, others), most_mm in zip(around, all_more_mm.tolist(), strict=True)
        for each in _all_there(
            unit, others, partial(screens_of, pieces, thick_mm=thick_mm, most_mm=most_mm)
        )
    ]
    reach_mm = [allowance_mm(table, unit) or 0.0 for unit, _ in around]
    is_met = may_be_met(
        [each.fan for each in all_there],
        CHARGE_WHEEL_BW * table.bw_mm,
        np.repeat(reach_mm, len(CORNERS)) + thick_mm * bool(pieces),
        TOUCH_MM + np.repeat(all_more_mm, len(CORNERS)),
    )
    there = [_only(each, flags) for each, flags in zip(all_there, is_met, strict=True)]
    return list(zip(there[::2], there[1::2], strict=True))


def come_near(
    table: Field,
    units: Sequence[UnitOnField],
    others: Sequence[UnitOnField],
    slacks_mm: Sequence[float],
) -> set[str]:
    """Those of some units whose charges may hang on where others lie, each with a slack."""
    more_mm = [2 * slack_mm for slack_mm in slacks_mm]
    there = in_reach(table, [(unit, others) for unit in units], more_mm)
    outlines = np.array([other.outline for other in others], dtype=object)
    return {
        unit.id
        for unit, both, farther_mm in zip(units, there, more_mm, strict=True)
        if any(len(each.fan.quads_mm) for each in both)
        or shapely.dwithin(unit.outline, outlines, _swing_mm(table, unit) + farther_mm).any()
    }


def _swing_mm(table: Field, unit: UnitOnField) -> float:
    """How far at most any part of a unit goes in a wheel: its rear corners go the farthest."""
    corners_mm = shapely.get_coordinates(unit.outline)
    ends_mm = np.array([pivot_mm(unit.axes, corner) for corner in CORNERS])
    far_mm = np.hypot(*(corners_mm[:, None] - ends_mm).T).max()
    return float(far_mm) / front_width_mm(unit.axes) * CHARGE_WHEEL_BW * table.bw_mm + TOUCH_MM


def come_to(
    table: Field,
    there: Sequence[InReach],
    reach_mm: Sequence[float],
    more_mm: float | Sequence[float] = 0.0,
) -> list[set[str]]:
    """The enemies that lanes come to in what a wheel leaves of the allowance, and a few more.

    Or come so near to: one length for all, or one of each.
    """
    thick_mm = [max((screen.thick_mm for screen in each.screens), default=0.0) for each in there]
    met = may_be_met(
        [each.fan for each in there],
        CHARGE_WHEEL_BW * table.bw_mm,
        np.add(reach_mm, thick_mm),
        np.add(more_mm, EXACT_MM),
        is_shared=True,
    )
    return [
        {owner for owner, is_met in zip(each.owners, flags.tolist(), strict=False) if is_met}
        for each, flags in zip(there, met, strict=True)
    ]


def _all_there(
    unit: UnitOnField,
    others: Sequence[UnitOnField],
    screens_before: Callable[[Sequence[shapely.Polygon]], tuple[Screen, ...]],
) -> list[InReach]:
    """All bases of other units, those of enemies first, about either corner."""
    enemies = [other for other in others if other.side != unit.side]
    friends = [other for other in others if other.side == unit.side]
    bases = tuple(base for other in enemies for base in other.bases)
    corners_mm = corners_of([*bases, *(base for other in friends for base in other.bases)])
    owners = tuple(other.id for other in enemies for _ in other.bases)
    whose = np.repeat(np.arange(len(enemies)), [len(other.bases) for other in enemies])
    touched = shapely.dwithin(unit.outline, np.array(bases, dtype=object), TOUCH_MM)
    screens = screens_before(bases)
    return [
        InReach(
            unit.axes,
            corner,
            owners,
            bases,
            whose,
            touched,
            fan_before(unit.axes, corner, corners_mm),
            screens,
        )
        for corner in CORNERS
    ]


def _only(there: InReach, is_met: Bools) -> InReach:
    if is_met.all():
        return there
    of_enemies = is_met[: len(there.bases)]
    kept = np.flatnonzero(of_enemies).tolist()
    return replace(
        there,
        whose=there.whose[of_enemies],
        touched=there.touched[of_enemies],
        screens=tuple(each.take(of_enemies) for each in there.screens),
        owners=tuple(there.owners[place] for place in kept),
        bases=tuple(there.bases[place] for place in kept),
        fan=there.fan.take(is_met),
    )


def moves_about(
    there: Sequence[InReach], longest_mm: Sequence[float], arcs_of: ArcsOf | None = None
) -> list[Moves]:
    """The moves of units after wheels about a corner, up to the longest of each.

    The first does not wheel. Every millimetre, and beside the wheels at which a corner of a base
    enters or leaves the lane; or the wheels that `arcs_of` says.
    """
    fans, arcs_of = [each.fan for each in there], arcs_of or all_arcs
    arcs_mm = list(map(arcs_of, there, longest_mm))
    turned = Turned.of(fans, arcs_mm, TOUCH_MM)
    begins = turned.begins_mm(SLIVER_MM)
    near = turned.begins_mm(-TOUCH_MM, unless=begins)
    return [_moves(*each) for each in zip(there, arcs_mm, begins, near, strict=True)]


def _moves(there: InReach, arcs_mm: Array, begins: Array, near_mm: Array) -> Moves:
    ahead_mm, friends_mm = begins[:, : len(there.bases)], begins[:, len(there.bases) :]
    ahead_mm = there.contact_mm(arcs_mm, ahead_mm)
    straight_mm = ahead_mm.min(axis=1, initial=np.inf)
    meets = np.isfinite(ahead_mm) & (ahead_mm <= straight_mm[:, None] + SLIVER_MM)
    # Not of a unit that is met, perhaps with other bases.
    near_mm = near_mm[:, : len(there.bases)]
    if np.isfinite(near_mm).any():
        is_same = there.whose[:, None] == there.whose
        near_mm = np.where(np.asarray(meets @ is_same) | there.touched, np.inf, near_mm)
    return Moves(
        there.corner,
        arcs_mm,
        straight_mm,
        friends_mm.min(axis=1, initial=np.inf),
        near_mm.min(axis=1, initial=np.inf),
        meets,
        there.owners,
        there.bases,
    )


def all_arcs(there: InReach, longest_mm: float) -> Array:
    """All wheels to try about a corner, up to the longest."""
    return arcs_to_try(there.fan, longest_mm, (SLIVER_MM,))


def arcs_of(moves: Sequence[Move], there: InReach, longest_mm: float) -> Array:
    """The wheels of moves about a corner, by their arcs up to the longest, after none."""
    arcs_mm = {move.arc_mm for move in moves if move.corner == there.corner}
    return np.array([0.0, *sorted(arc_mm for arc_mm in arcs_mm if 0.0 < arc_mm <= longest_mm)])


def arcs_between(
    ends_mm: Mapping[Corner, tuple[float, float]], there: InReach, longest_mm: float
) -> Array:
    """All wheels to try about a corner that lie between two arcs."""
    low_mm, high_mm = ends_mm[there.corner]
    arcs_mm = all_arcs(there, longest_mm)
    return np.asarray(arcs_mm[(arcs_mm >= low_mm) & (arcs_mm <= high_mm)])


def arcs_to_try(fan: Fan, longest_mm: float, slivers_mm: Sequence[float]) -> Array:
    """The wheels to try, by their arcs, ascending from none.

    Those among them at which something reaches into the lane by as much as one of the slivers.
    """
    if longest_mm <= 0.0:
        return np.zeros(1)
    arcs_mm = np.linspace(0.0, longest_mm, math.ceil(longest_mm / STEP_MM) + 1)
    critical_mm = critical_arcs_mm(fan, longest_mm, slivers_mm)
    beside_mm = abs(math.radians(_BESIDE_DEG) / fan.rad_per_mm)
    beside = np.add.outer([-beside_mm, 0.0, beside_mm], critical_mm).ravel()
    return np.unique(np.concatenate([arcs_mm, beside[(beside >= 0.0) & (beside <= longest_mm)]]))
