"""Whether a base could hit a unit, were all lengths by so much more, or less, in its favour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.zone_ranges import first_met, first_met_by_each
from tablecam.rules.maurice.chances import SIGMAS
from tablecam.rules.maurice.fire_shooter import Other, Shooter
from tablecam.rules.maurice.fire_zone import STEP_DEG, TIE_MM
from tablecam.rules.maurice.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG
from tablecam.table.model import BasePose

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

AHEAD = np.array([0.0])
TURNS = np.linspace(-TURN_DEG, TURN_DEG, 2 * round(TURN_DEG / STEP_DEG) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One of the ways in which a base looks for targets (M-7.12): angles, and lengths of zone."""

    turns_deg: Array
    nearest_mm: float
    longest_mm: float

    def lengthened(self, by_mm: float) -> Stage:
        """The same with both limits moved outward."""
        return Stage(self.turns_deg, self.nearest_mm - by_mm, self.longest_mm + by_mm)


def stages(base: Shooter) -> list[Stage]:
    """In the order in which it must look: short ahead, short turned; guns then long."""
    found = [Stage(turns, -np.inf, base.short_mm) for turns in (AHEAD, TURNS)]
    if base.is_gun:
        found += [Stage(turns, base.short_mm, base.longest_mm) for turns in (AHEAD, TURNS)]
    return found


def slack_mm(base: Shooter, others: Sequence[Other], longest_mm: float) -> float:
    """More than what errors change of any length on which a base's fire hangs (`SIGMAS`)."""
    reach_mm = longest_mm + base.bw_mm
    own = base.pose.sigma_mm + float(np.radians(base.pose.sigma_deg)) * reach_mm
    return SIGMAS * (own + max((spread_mm(other.pose) for other in others), default=0.0))


def spread_mm(pose: BasePose) -> float:
    """A bound on the standard deviation of where any corner of a base lies, along any line."""
    arm_mm = np.hypot(pose.width_mm, pose.depth_mm) / 2
    return pose.sigma_mm + float(np.radians(pose.sigma_deg) * arm_mm)


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
    turns_deg = [each.stage.turns_deg for each in aimed]
    begins_mm = first_met_by_each(
        [each.base.strip.narrowed(-by_mm) for each in aimed],
        turns_deg,
        [[other.outline for other in each.enemies] for each in aimed],
        SLIVER_MM,
    )
    before_mm = first_met_by_each(
        [each.base.strip.narrowed(by_mm) for each in aimed],
        turns_deg,
        [[*(other.outline for other in each.still_seen), *each.base.obstructing] for each in aimed],
        SLIVER_MM,
    )
    for at, each, theirs_mm, first_mm in zip(armed, aimed, begins_mm, before_mm, strict=True):
        found[at] = _hits(each, theirs_mm - by_mm, first_mm + by_mm, by_mm)
    return found


def _hits(aimed: Aimed, begins_mm: Array, before_mm: Array, by_mm: float) -> dict[str, Flags]:
    """The same of one base: where enemies begin (a, n), and what may lie before them (a, m)."""
    stage, seen = aimed.stage.lengthened(by_mm), len(aimed.still_seen)
    ends_mm = before_mm[:, seen:].min(axis=1, initial=np.inf)
    ends_mm = np.minimum(stage.longest_mm, ends_mm + PAST_OBSTRUCTION_BW * aimed.base.bw_mm)
    first_mm = before_mm[:, :seen] + TIE_MM
    nearest_mm = stage.nearest_mm + EXACT_MM - 2 * max(by_mm, 0.0)
    found, enemies = {}, aimed.enemies
    for unit_id in dict.fromkeys(other.unit.id for other in enemies):
        theirs_mm = _least(begins_mm, [other.unit.id == unit_id for other in enemies])
        others_mm = _least(first_mm, [other.unit.id != unit_id for other in aimed.still_seen])
        is_first = theirs_mm <= np.minimum(ends_mm, others_mm) + EXACT_MM
        found[unit_id] = np.isfinite(theirs_mm) & is_first & (theirs_mm > nearest_mm)
    return found


def met_by(
    base: Shooter, others: Sequence[Other], turns_deg: Array, stage: Stage, by_mm: float
) -> tuple[Other, ...]:
    """The bases that a zone a bit wider and longer than that of a stage meets at some angle."""
    outlines = [other.outline for other in others]
    begins_mm = first_met(base.strip.narrowed(-by_mm), turns_deg, outlines)
    met = (begins_mm <= stage.longest_mm + by_mm).any(axis=0)
    return tuple(others[place] for place in np.flatnonzero(met).tolist())


def _least(ranges_mm: Array, of: Sequence[bool]) -> Array:
    """The least of some columns (a, n): (a,)."""
    return np.asarray(ranges_mm[:, np.array(of, dtype=bool)].min(axis=1, initial=np.inf))
