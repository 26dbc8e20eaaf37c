"""What a fire zone meets at each angle that it may be turned to, and whom it may hit there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.zone_ranges import critical_turns_deg, first_met_by_each
from tablecam.rules.maurice.field.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG, ZONE_BW
from tablecam.rules.maurice.fire.shooter import Other, Shooter

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TIE_MM = 0.5
"""Units that are met within this of each other are met together (M-7.13)."""

STEP_DEG = 0.25
"""The coarsest step between angles tried; where something begins or ends they are solved for."""

_FINE = 40
"""Into how many steps the two coarse ones about a near miss are cut."""

_SAME_DEG = 1e-9

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


def met_ahead(shooters: Sequence[Shooter]) -> list[Met]:
    """What the zone of each meets straight ahead."""
    ahead = np.array([0.0])
    longest_mm = [shooter.longest_mm for shooter in shooters]
    return met_at(shooters, [s.others for s in shooters], [ahead] * len(shooters), longest_mm)


def met_turned(shooters: Sequence[Shooter], longest_mm: Sequence[float]) -> list[Met]:
    """What the zone of each, of a length, meets, turned up to 45 degrees to either side (M-7.12).

    The angles are solved for at which a corner crosses one of its sides, and one in each gap
    between them is tried, beside a step of a quarter degree; where a unit is all but hit the
    neighbourhood is searched more finely.
    """
    others = [s.within(length_mm) for s, length_mm in zip(shooters, longest_mm, strict=True)]
    turns_deg = list(map(_turns_deg, shooters, others))
    turns_deg = _where_enemies_are_met(shooters, others, turns_deg, longest_mm)
    met = met_at(shooters, others, turns_deg, longest_mm)
    finer_deg = [_with_near_misses(each) for each in met]
    again = [at for at, each in enumerate(met) if len(finer_deg[at]) > len(each.turns_deg)]
    finer = met_at(
        [shooters[at] for at in again],
        [others[at] for at in again],
        [finer_deg[at] for at in again],
        [longest_mm[at] for at in again],
    )
    for at, each in zip(again, finer, strict=True):
        met[at] = each
    return met


def _with_near_misses(met: Met) -> Array:
    """The angles of what was met and, where a unit is all but hit, some between them."""
    finer_deg = [
        near + np.linspace(-STEP_DEG, STEP_DEG, _FINE + 1) for near in met.near_misses_deg()
    ]
    if not finer_deg:
        return met.turns_deg
    return np.union1d(met.turns_deg, np.clip(np.concatenate(finer_deg), -TURN_DEG, TURN_DEG))


def _turns_deg(shooter: Shooter, others: Sequence[Other]) -> Array:
    shapes = [other.outline for other in others] + list(shooter.obstructing)
    steps = round(TURN_DEG / STEP_DEG)
    grid = np.linspace(-TURN_DEG, TURN_DEG, 2 * steps + 1)
    if not shapes:
        return grid
    critical = critical_turns_deg(shooter.strip, shapes, TURN_DEG, SLIVER_MM)
    # Flush bases share corners: between two angles that differ by rounding alone there is no gap.
    gaps = np.flatnonzero(np.diff(critical) > _SAME_DEG)
    between = (critical[gaps + 1] + critical[gaps]) / 2
    return np.union1d(grid, between)


def _where_enemies_are_met(
    shooters: Sequence[Shooter],
    others: Sequence[Sequence[Other]],
    turns_deg: Sequence[Array],
    longest_mm: Sequence[float],
) -> list[Array]:
    """The angles at which an enemy is in each zone, or all but: no others need a further look."""
    enemies = [[other.outline for other in each if other.is_enemy] for each in others]
    ranges_mm = first_met_by_each([s.strip for s in shooters], turns_deg, enemies)
    return [
        turns[(ranges <= length_mm + _NEAR_MISS_MM).any(axis=1)]
        for turns, ranges, length_mm in zip(turns_deg, ranges_mm, longest_mm, strict=True)
    ]


def met_at(
    shooters: Sequence[Shooter],
    others: Sequence[tuple[Other, ...]],
    turns_deg: Sequence[Array],
    longest_mm: Sequence[float],
) -> list[Met]:
    """What the zones, each of a length, meet of their others, turned to each of their angles."""
    strips = [shooter.strip for shooter in shooters]
    screens = _screens(shooters, longest_mm)
    shapes = [
        [*(other.outline for other in each), *hiding]
        for each, hiding in zip(others, screens, strict=True)
    ]
    found = []
    for at, ranges_mm in enumerate(first_met_by_each(strips, turns_deg, shapes, SLIVER_MM)):
        count = len(others[at])
        first_mm = ranges_mm[:, count:].min(axis=1, initial=np.inf)
        past_mm = first_mm + PAST_OBSTRUCTION_BW * shooters[at].bw_mm
        ends_mm = np.minimum(longest_mm[at], past_mm)
        found.append(Met(turns_deg[at], others[at], ranges_mm[:, :count], ends_mm))
    return found


def _screens(
    shooters: Sequence[Shooter], longest_mm: Sequence[float]
) -> list[list[shapely.Geometry]]:
    """The obstructing terrain that begins near enough to end the zones before their length."""
    pieces = [(at, piece) for at, each in enumerate(shooters) for piece in each.obstructing]
    found: list[list[shapely.Geometry]] = [[] for _ in shooters]
    if not pieces:
        return found
    pivots = shapely.points([shooter.strip.pivot_mm for shooter in shooters])
    bw_mm = shooters[0].bw_mm
    # What begins so far along the zone lies at most half its width aside.
    reach_mm = np.hypot(np.subtract(longest_mm, PAST_OBSTRUCTION_BW * bw_mm), ZONE_BW / 2 * bw_mm)
    of = [at for at, _ in pieces]
    outlines = [piece for _, piece in pieces]
    ends = shapely.distance(outlines, pivots[of]) <= reach_mm[of] + EXACT_MM
    for (at, piece), is_near in zip(pieces, ends.tolist(), strict=True):
        if is_near:
            found[at].append(piece)
    return found
