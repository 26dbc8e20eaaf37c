"""What a fire zone meets at each angle that it may be turned to, and whom it may hit there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.zone_ranges import critical_turns_deg, first_met
from tablecam.rules.maurice.fire_shooter import Other, Shooter
from tablecam.rules.maurice.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TIE_MM = 0.5
"""Units that are met within this of each other are met together (M-7.13)."""

STEP_DEG = 0.25
"""The coarsest step between angles tried; where something begins or ends they are solved for."""

_FINE = 40
"""Into how many steps the two coarse ones about a near miss are cut."""

_NEAR_MISS_MM = 12.0
"""What a range can change in a step: at 24 BW of 40 mm a corner moves 4.2 mm aside, a slant of 60
degrees makes 7.3 mm of it. A target missed by less at all angles is looked for more finely."""


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """What a zone meets when it is turned to each of some angles, in rising order.

    `ranges_mm` (a, n) are where each of n other bases begins in it, infinite where it is not in
    it; `ends_mm` (a,) where the zone ends, at long range or 1 BW past obstructing terrain (M-7.17).
    """

    turns_deg: Array
    others: tuple[Other, ...]
    ranges_mm: Array
    obstructed_at_mm: Array
    ends_mm: Array

    @property
    def can_hit(self) -> Flags:
        """Which bases (a, n) are enemies that nothing before them keeps from being hit."""
        return self._margins_mm >= -EXACT_MM

    def shortened(self, longest_mm: float) -> Met:
        """The same with a zone no longer than this."""
        return replace(self, ends_mm=np.minimum(self.ends_mm, longest_mm))

    def near_misses_deg(self) -> Array:
        """The angles at which units that cannot be hit anywhere are missed by least."""
        margins_mm = self._margins_mm
        found = []
        for unit_id in {other.unit.id for other in self.others if other.is_enemy}:
            of_unit = np.array([other.unit.id == unit_id for other in self.others])
            best_mm = margins_mm[:, of_unit].max(axis=1, initial=-np.inf)
            if -_NEAR_MISS_MM < best_mm.max(initial=-np.inf) < -EXACT_MM:
                found.append(self.turns_deg[np.argmax(best_mm)])
        return np.array(found)

    def stopped_by(self, longest_mm: float) -> Literal["friend", "obstruction"] | None:
        """What keeps the enemies in reach from being hit, at the smallest angle; None: no enemy."""
        enemies = np.array([other.is_enemy for other in self.others], dtype=bool)
        first_enemy = self.ranges_mm[:, enemies].min(axis=1, initial=np.inf)
        first_friend = self.ranges_mm[:, ~enemies].min(axis=1, initial=np.inf)
        in_reach = np.flatnonzero(first_enemy <= longest_mm + EXACT_MM)
        if not len(in_reach):
            return None
        straightest = in_reach[np.argmin(np.abs(self.turns_deg[in_reach]))]
        is_friend = first_friend[straightest] < first_enemy[straightest]
        return "friend" if is_friend else "obstruction"

    @property
    def _margins_mm(self) -> Array:
        """By how much nearer (a, n) each enemy base is than what would keep it from being hit."""
        enemies = np.array([other.is_enemy for other in self.others], dtype=bool)
        first_mm = self.ranges_mm.min(axis=1, initial=np.inf) + TIE_MM
        limits_mm = np.minimum(first_mm, self.ends_mm)[:, None]
        known = np.isfinite(self.ranges_mm) & enemies
        return np.where(known, limits_mm - np.where(known, self.ranges_mm, 0.0), -np.inf)


def met_ahead(shooter: Shooter) -> Met:
    """What the zone meets straight ahead."""
    return met_at(shooter, shooter.others, np.array([0.0]), shooter.longest_mm)


def met_turned(shooter: Shooter, longest_mm: float) -> Met:
    """What the zone of a length meets, turned up to 45 degrees to either side (M-7.12).

    The angles are solved for at which a corner crosses one of its sides, and one in each gap
    between them is tried, beside a step of a quarter degree; where a unit is all but hit the
    neighbourhood is searched more finely.
    """
    others = shooter.within(longest_mm)
    turns_deg = _turns_deg(shooter, others)
    turns_deg = turns_deg[_meets_enemy(shooter, others, turns_deg, longest_mm)]
    met = met_at(shooter, others, turns_deg, longest_mm)
    finer_deg = [
        near + np.linspace(-STEP_DEG, STEP_DEG, _FINE + 1) for near in met.near_misses_deg()
    ]
    if not finer_deg:
        return met
    added = np.clip(np.concatenate(finer_deg), -TURN_DEG, TURN_DEG)
    return met_at(shooter, others, np.union1d(turns_deg, added), longest_mm)


def _turns_deg(shooter: Shooter, others: Sequence[Other]) -> Array:
    shapes = [other.outline for other in others] + list(shooter.obstructing)
    steps = round(TURN_DEG / STEP_DEG)
    grid = np.linspace(-TURN_DEG, TURN_DEG, 2 * steps + 1)
    if not shapes:
        return grid
    critical = critical_turns_deg(shooter.strip, shapes, TURN_DEG, SLIVER_MM)
    between = (critical[1:] + critical[:-1]) / 2
    return np.union1d(grid, between)


def _meets_enemy(
    shooter: Shooter, others: Sequence[Other], turns_deg: Array, longest_mm: float
) -> Flags:
    """At which angles (a,) an enemy is in the zone, or all but: the others need no further look."""
    enemies = [other.outline for other in others if other.is_enemy]
    ranges_mm = first_met(shooter.strip, turns_deg, enemies)
    return np.asarray((ranges_mm <= longest_mm + _NEAR_MISS_MM).any(axis=1))


def met_at(shooter: Shooter, others: tuple[Other, ...], turns_deg: Array, longest_mm: float) -> Met:
    """What the zone of a length meets of these others, turned to each of these angles."""
    strip = shooter.strip
    outlines: list[shapely.Geometry] = [other.outline for other in others]
    ranges_mm = first_met(strip, turns_deg, outlines, SLIVER_MM)
    obstructed = first_met(strip, turns_deg, shooter.obstructing, SLIVER_MM)
    first_mm = obstructed.min(axis=1, initial=np.inf)
    ends_mm = np.minimum(longest_mm, first_mm + PAST_OBSTRUCTION_BW * shooter.bw_mm)
    return Met(turns_deg, others, ranges_mm, first_mm, ends_mm)
