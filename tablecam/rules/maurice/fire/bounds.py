"""Whether a base could hit a unit, were all lengths by so much more, or less, in its favour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.zone_ranges import first_met, first_met_by_each
from tablecam.rules.maurice.field.chances import SIGMAS
from tablecam.rules.maurice.field.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG
from tablecam.rules.maurice.fire.shooter import Other, Shooter
from tablecam.rules.maurice.fire.zone import STEP_DEG, TIE_MM
from tablecam.table.model import BasePose

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MOST_TURN_DEG = 80.0
"""No error lets a base turn its zone farther; at 90 degrees it would lie along its front line."""

_AHEAD = np.array([0.0])
_TURNS = np.linspace(-_MOST_TURN_DEG, _MOST_TURN_DEG, 2 * round(_MOST_TURN_DEG / STEP_DEG) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One of the ways in which a base looks for targets (M-7.12): angles, and lengths of zone.

    `error_mm` is a bound on one standard deviation of any length on which its outcome hangs, and
    `swing_deg` that of the limits to which the base may turn its zone.
    """

    turns_deg: Array
    nearest_mm: float
    longest_mm: float
    error_mm: float
    swing_deg: float
    is_turned: bool

    def angles_deg(self, by_mm: float) -> Array:
        """The angles to try were all lengths by so much kinder, and its limits by their share."""
        if not self.is_turned:
            return self.turns_deg
        swing_deg = self.swing_deg * by_mm / self.error_mm if self.error_mm else 0.0
        most_deg = np.clip(TURN_DEG + swing_deg, 0.0, _MOST_TURN_DEG)
        return np.unique(np.clip(self.turns_deg, -most_deg, most_deg))


def stages(base: Shooter) -> list[Stage]:
    """In the order in which it must look: short ahead, short turned; guns then long."""
    ranges_mm = [(-np.inf, base.short_mm)]
    if base.is_gun:
        ranges_mm.append((base.short_mm, base.longest_mm))
    pose, found = base.pose, []
    others_mm = max((other.unit.spread_mm for other in base.others), default=0.0)
    for nearest_mm, longest_mm in ranges_mm:
        own_mm = _ahead_mm(pose, longest_mm + base.bw_mm)
        found += [
            Stage(_AHEAD, nearest_mm, longest_mm, own_mm + others_mm, 0.0, is_turned=False),
            Stage(
                _TURNS,
                nearest_mm,
                longest_mm,
                _turned_mm(base) + others_mm,
                pose.sigma_deg,
                is_turned=True,
            ),
        ]
    return found


def _ahead_mm(pose: BasePose, reach_mm: float) -> float:
    """A bound on what a base's own error moves a zone aside that it does not turn."""
    return pose.sigma_mm + float(np.radians(pose.sigma_deg)) * reach_mm


def _turned_mm(base: Shooter) -> float:
    """The same of a zone that it may turn: its own heading counts only for where that begins.

    At the middle of its front edge, and where the zone leaves the front line that cuts it.
    """
    pose = base.pose
    arm_mm = pose.depth_mm / 2 + float(np.hypot(pose.tag_right_mm, pose.tag_forward_mm))
    cut_mm = (base.strip.right_mm - base.strip.left_mm) / 2 / float(np.cos(np.radians(TURN_DEG)))
    return pose.tag_sigma_mm + float(np.radians(pose.sigma_deg)) * (arm_mm + cut_mm)


def slack_mm(base: Shooter, others: Sequence[Other], longest_mm: float) -> float:
    """More than what errors change of any length on which a base's fire hangs (`SIGMAS`)."""
    own = _ahead_mm(base.pose, longest_mm + base.bw_mm)
    return SIGMAS * (own + max((spread_mm(other.pose) for other in others), default=0.0))


def spread_mm(pose: BasePose) -> float:
    """A bound on the standard deviation of where any corner of a base lies, along any line."""
    arm_mm = np.hypot(pose.width_mm, pose.depth_mm) / 2
    arm_mm += np.hypot(pose.tag_right_mm, pose.tag_forward_mm)
    return pose.tag_sigma_mm + float(np.radians(pose.sigma_deg) * arm_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Aimed:
    """A base at a stage, and what it is then faced with, were all lengths by so much kinder.

    `seen` are the bases that are seen then, and `still_seen` those that are seen all the same when
    lengths are by so much less kind: kinder to one target is less kind to what lies before it.
    """

    base: Shooter
    stage: Stage
    seen: Sequence[Other]
    still_seen: Sequence[Other]

    @property
    def enemies(self) -> list[Other]:
        """Those seen who are enemies."""
        return [other for other in self.seen if other.is_enemy]


def hits_at(asked: Sequence[Aimed], by_mm: float) -> list[dict[str, Flags]]:
    """At which angles (a,) each base could hit each unit, were all lengths by so much kinder."""
    found: list[dict[str, Flags]] = [{} for _ in asked]
    armed = [at for at, each in enumerate(asked) if each.enemies]
    aimed = [asked[at] for at in armed]
    turns_deg = [each.stage.angles_deg(by_mm) for each in aimed]
    begins_mm = first_met_by_each(
        [each.base.strip.narrowed(-by_mm) for each in aimed],
        turns_deg,
        [[other.outline for other in each.enemies] for each in aimed],
        SLIVER_MM,
    )
    # What lies before an enemy counts only at angles at which one is met.
    are_met = [
        np.asarray((theirs_mm <= each.stage.longest_mm + 2 * by_mm + EXACT_MM).any(axis=1))
        for each, theirs_mm in zip(aimed, begins_mm, strict=True)
    ]
    before_mm = first_met_by_each(
        [each.base.strip.narrowed(by_mm) for each in aimed],
        [turns[is_met] for turns, is_met in zip(turns_deg, are_met, strict=True)],
        [[*(other.outline for other in each.still_seen), *each.base.obstructing] for each in aimed],
        SLIVER_MM,
    )
    for at, each, is_met, theirs_mm, first_mm in zip(
        armed, aimed, are_met, begins_mm, before_mm, strict=True
    ):
        hits = _hits(each, theirs_mm[is_met] - by_mm, first_mm + by_mm, by_mm)
        for unit_id, at_met in hits.items():
            found[at][unit_id] = np.zeros(len(is_met), dtype=np.bool_)
            found[at][unit_id][is_met] = at_met
    return found


def _hits(aimed: Aimed, begins_mm: Array, before_mm: Array, by_mm: float) -> dict[str, Flags]:
    """The same of one base: where enemies begin (a, n), and what may lie before them (a, m)."""
    stage, seen = aimed.stage, len(aimed.still_seen)
    past_mm = PAST_OBSTRUCTION_BW * aimed.base.bw_mm
    ends_mm = before_mm[:, seen:].min(axis=1, initial=np.inf) + past_mm
    ends_mm = np.minimum(stage.longest_mm + by_mm, ends_mm)
    first_mm = before_mm[:, :seen] + TIE_MM
    nearest_mm = stage.nearest_mm - by_mm + EXACT_MM - 2 * max(by_mm, 0.0)
    found, enemies = {}, aimed.enemies
    for unit_id in dict.fromkeys(other.unit.id for other in enemies):
        theirs_mm = _least(begins_mm, [other.unit.id == unit_id for other in enemies])
        others_mm = _least(first_mm, [other.unit.id != unit_id for other in aimed.still_seen])
        is_first = theirs_mm <= np.minimum(ends_mm, others_mm) + EXACT_MM
        found[unit_id] = np.isfinite(theirs_mm) & is_first & (theirs_mm > nearest_mm)
    return found


def met_by(
    base: Shooter, others: Sequence[Other], turns_deg: Array, stage: Stage, by_mm: float
) -> tuple[tuple[Other, ...], tuple[shapely.Geometry, ...]]:
    """The bases that a zone a bit wider and longer than that of a stage meets at some angle.

    And what obstructs it there, near enough to end it before its length.
    """
    outlines = [*(other.outline for other in others), *base.obstructing]
    begins_mm = first_met(base.strip.narrowed(-by_mm), turns_deg, outlines)
    begins_mm[:, len(others) :] += PAST_OBSTRUCTION_BW * base.bw_mm
    met = np.asarray((begins_mm <= stage.longest_mm + by_mm).any(axis=0))
    bases = tuple(others[place] for place in np.flatnonzero(met[: len(others)]).tolist())
    ends = np.flatnonzero(met[len(others) :]).tolist()
    return bases, tuple(base.obstructing[place] for place in ends)


def _least(ranges_mm: Array, of: Sequence[bool]) -> Array:
    """The least of some columns (a, n): (a,)."""
    return np.asarray(ranges_mm[:, np.array(of, dtype=bool)].min(axis=1, initial=np.inf))
