"""Fire zones: what a zone meets at each angle it may be turned to, and what it may hit there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tablecam.geometry.rectangles import EXACT_MM, Array
from tablecam.geometry.zone_ranges import critical_turns_deg, first_hit_by_strip
from tablecam.rules.maurice.field.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.uncertainty.margins import Flags

TIE_MM = 0.5
"""A zone meets units together when their ranges differ by no more than this (M-7.13)."""

STEP_DEG = 0.25
"""The coarsest step between angles tried; angles at which the outcome changes are solved for."""

_FINE = 40
"""The number of fine steps that replace the two coarse steps around a near miss."""

_SAME_DEG = 1e-9

_NEAR_MISS_MM = 12.0
"""The most that a range can change in one step: at 24 BW of 40 mm a corner moves 4.2 mm aside, and
a slant of 60 degrees makes 7.3 mm of that. A target missed by less than this is searched finely."""


@dataclass(frozen=True, slots=True, eq=False)
class ZoneContents:
    """The bases that a zone meets at each of several angles, in rising order.

    `ranges_mm` (a, n) are where each of n other bases begins in the zone, infinite where it is
    outside; `ends_mm` (a,) where the zone ends, at long range or 1 BW past obstructing terrain
    (M-7.17).
    """

    turns_deg: Array
    others: tuple[OtherBase, ...]
    ranges_mm: Array
    ends_mm: Array

    @property
    def can_hit(self) -> Flags:
        """The bases (a, n) that are enemies and are not blocked."""
        return self._margins_mm >= -EXACT_MM

    def near_misses_deg(self) -> Array:
        """Returns the best angle for each unit that is narrowly missed at every angle."""
        margins_mm = self._margins_mm
        angles_deg = []
        for unit_id in {other.unit.id for other in self.others if other.is_enemy}:
            of_unit = np.array([other.unit.id == unit_id for other in self.others])
            best_mm = margins_mm[:, of_unit].max(axis=1, initial=-np.inf)
            if -_NEAR_MISS_MM < best_mm.max(initial=-np.inf) < -EXACT_MM:
                angles_deg.append(self.turns_deg[np.argmax(best_mm)])
        return np.array(angles_deg)

    def stopped_by(self, longest_mm: float) -> Literal["friend", "obstruction"] | None:
        """Returns what blocks the enemies in range at the smallest angle; None without an enemy."""
        first_enemy = self.ranges_mm[:, self._are_enemies].min(axis=1, initial=np.inf)
        first_friend = self.ranges_mm[:, ~self._are_enemies].min(axis=1, initial=np.inf)
        in_reach = np.flatnonzero(first_enemy <= longest_mm + EXACT_MM)
        if not len(in_reach):
            return None
        straightest = in_reach[np.argmin(np.abs(self.turns_deg[in_reach]))]
        is_friend = first_friend[straightest] < first_enemy[straightest]
        return "friend" if is_friend else "obstruction"

    @property
    def _are_enemies(self) -> Flags:
        return np.array([other.is_enemy for other in self.others], dtype=bool)

    @property
    def _margins_mm(self) -> Array:
        """The margin (a, n) by which each enemy base is nearer than what would block it."""
        first_mm = self.ranges_mm.min(axis=1, initial=np.inf) + TIE_MM
        limits_mm = np.minimum(first_mm, self.ends_mm)[:, None]
        known = np.isfinite(self.ranges_mm) & self._are_enemies
        return np.where(known, limits_mm - np.where(known, self.ranges_mm, 0.0), -np.inf)


def met_ahead(shooters: Sequence[Shooter], longest_mm: Sequence[float]) -> list[ZoneContents]:
    """Returns what each shooter's zone meets straight ahead."""
    ahead = [np.array([0.0])] * len(shooters)
    return zone_contents_at(shooters, [s.others for s in shooters], ahead, longest_mm)


def zone_contents_turned(
    shooters: Sequence[Shooter], longest_mm: Sequence[float]
) -> list[ZoneContents]:
    """Returns what each shooter's zone meets when turned up to 45 degrees either way (M-7.12).

    The angles at which a corner crosses a side of the zone are solved for, and one angle in each
    gap between them is tried, beside a step of a quarter degree. Where a unit is narrowly missed,
    the neighbourhood is searched more finely.
    """
    others = [shooter.others for shooter in shooters]
    turns_deg = list(map(_turns_deg, shooters, others))
    turns_deg = where_enemies_are_met(shooters, others, turns_deg, longest_mm)
    met = zone_contents_at(shooters, others, turns_deg, longest_mm)
    finer_deg = [_with_near_misses(zone) for zone in met]
    again = [at for at, zone in enumerate(met) if len(finer_deg[at]) > len(zone.turns_deg)]
    finer = zone_contents_at(
        [shooters[at] for at in again],
        [others[at] for at in again],
        [finer_deg[at] for at in again],
        [longest_mm[at] for at in again],
    )
    for at, zone in zip(again, finer, strict=True):
        met[at] = zone
    return met


def _with_near_misses(met: ZoneContents) -> Array:
    """Returns the angles of a zone with finer ones added around near misses."""
    finer_deg = [
        near + np.linspace(-STEP_DEG, STEP_DEG, _FINE + 1) for near in met.near_misses_deg()
    ]
    if not finer_deg:
        return met.turns_deg
    return np.union1d(met.turns_deg, np.clip(np.concatenate(finer_deg), -TURN_DEG, TURN_DEG))


def _turns_deg(shooter: Shooter, others: Sequence[OtherBase]) -> Array:
    """Returns the angles to try: a regular grid and the middle of each gap between crossings."""
    shapes = [other.outline for other in others] + list(shooter.obstructing)
    steps = round(TURN_DEG / STEP_DEG)
    grid = np.linspace(-TURN_DEG, TURN_DEG, 2 * steps + 1)
    if not shapes:
        return grid
    critical = critical_turns_deg(shooter.strip, shapes, TURN_DEG, SLIVER_MM)
    # Aligned bases share corners, so angles that differ by rounding alone enclose no gap.
    gaps = np.flatnonzero(np.diff(critical) > _SAME_DEG)
    between = (critical[gaps + 1] + critical[gaps]) / 2
    return np.union1d(grid, between)


def where_enemies_are_met(
    shooters: Sequence[Shooter],
    others: Sequence[Sequence[OtherBase]],
    turns_deg: Sequence[Array],
    longest_mm: Sequence[float],
) -> list[Array]:
    """Drops the angles at which no enemy is in the zone or close to it."""
    enemies = [[other.outline for other in nearby if other.is_enemy] for nearby in others]
    ranges_mm = first_hit_by_strip([s.strip for s in shooters], turns_deg, enemies)
    return [
        turns[(ranges <= length_mm + _NEAR_MISS_MM).any(axis=1)]
        for turns, ranges, length_mm in zip(turns_deg, ranges_mm, longest_mm, strict=True)
    ]


def zone_contents_at(
    shooters: Sequence[Shooter],
    others: Sequence[tuple[OtherBase, ...]],
    turns_deg: Sequence[Array],
    longest_mm: Sequence[float],
) -> list[ZoneContents]:
    """Returns what zones of given lengths meet among their `others` at given angles."""
    strips = [shooter.strip for shooter in shooters]
    shapes = [
        [*(other.outline for other in nearby), *shooter.obstructing]
        for shooter, nearby in zip(shooters, others, strict=True)
    ]
    zones = []
    for at, ranges_mm in enumerate(first_hit_by_strip(strips, turns_deg, shapes, SLIVER_MM)):
        count = len(others[at])
        first_mm = ranges_mm[:, count:].min(axis=1, initial=np.inf)
        past_mm = first_mm + PAST_OBSTRUCTION_BW * shooters[at].bw_mm
        ends_mm = np.minimum(longest_mm[at], past_mm)
        zones.append(ZoneContents(turns_deg[at], others[at], ranges_mm[:, :count], ends_mm))
    return zones
