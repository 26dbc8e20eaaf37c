"""Whether a base could hit a unit, were all lengths by so much more, or less, in its favour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.zone_ranges import first_met
from tablecam.measure.zones import Strip
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


def can_hit(
    base: Shooter, theirs: Sequence[Other], before: Sequence[Other], stage: Stage, by_mm: float
) -> Flags:
    """At which angles (a,) of a stage a unit could be hit, were all lengths by so much kinder.

    `theirs` are its bases that are seen then, `before` all others that are.
    """
    wide, tight = base.strip.narrowed(-by_mm), base.strip.narrowed(by_mm)
    begins_mm = _first_mm(wide, stage.turns_deg, _outlines(theirs)) - by_mm
    stage = stage.lengthened(by_mm)
    ends_mm = _first_mm(tight, stage.turns_deg, base.obstructing) + by_mm
    ends_mm = np.minimum(stage.longest_mm, ends_mm + PAST_OBSTRUCTION_BW * base.bw_mm)
    first_mm = _first_mm(tight, stage.turns_deg, _outlines(before)) + by_mm + TIE_MM
    return np.asarray(
        np.isfinite(begins_mm)
        & (begins_mm <= np.minimum(ends_mm, first_mm) + EXACT_MM)
        & (begins_mm > stage.nearest_mm + EXACT_MM - 2 * max(by_mm, 0.0))
    )


def met_by(
    base: Shooter, others: Sequence[Other], turns_deg: Array, stage: Stage, by_mm: float
) -> tuple[Other, ...]:
    """The bases that a zone a bit wider and longer than that of a stage meets at some angle."""
    begins_mm = first_met(base.strip.narrowed(-by_mm), turns_deg, _outlines(others))
    met = (begins_mm <= stage.longest_mm + by_mm).any(axis=0)
    return tuple(others[place] for place in np.flatnonzero(met).tolist())


def _outlines(others: Sequence[Other]) -> list[shapely.Polygon]:
    return [other.outline for other in others]


def _first_mm(strip: Strip, turns_deg: Array, shapes: Sequence[shapely.Geometry]) -> Array:
    if not shapes:
        return np.full(len(turns_deg), np.inf)
    return np.asarray(first_met(strip, turns_deg, shapes, SLIVER_MM).min(axis=1))
