"""Bounds on fire: what a base could hit if every length shifted in its favour or against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.geometry.zone_ranges import first_hit, first_hit_by_strip
from tablecam.rules.maurice.field.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG
from tablecam.rules.maurice.field.worlds import SIGMAS
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.rules.maurice.fire.zone import STEP_DEG, TIE_MM
from tablecam.table.model import BasePose

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MOST_TURN_DEG = 80.0
"""The farthest that any error lets a zone turn; at 90 degrees it would lie along the front line."""

_AHEAD = np.array([0.0])
_TURNS = np.linspace(-_MOST_TURN_DEG, _MOST_TURN_DEG, 2 * round(_MOST_TURN_DEG / STEP_DEG) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A step of a base's search for targets (M-7.12): angles and a range of lengths.

    `error_mm` bounds one standard deviation of any length that decides the outcome, `swing_deg`
    that of the limits to which the base may turn its zone.
    """

    turns_deg: Array
    nearest_mm: float
    longest_mm: float
    error_mm: float
    swing_deg: float
    is_turned: bool

    def angles_deg(self, shift_mm: float) -> Array:
        """Returns the angles to try if every length were `shift_mm` more favourable."""
        if not self.is_turned:
            return self.turns_deg
        swing_deg = self.swing_deg * shift_mm / self.error_mm if self.error_mm else 0.0
        most_deg = np.clip(TURN_DEG + swing_deg, 0.0, _MOST_TURN_DEG)
        return np.unique(np.clip(self.turns_deg, -most_deg, most_deg))


def stages(base: Shooter) -> list[Stage]:
    """Returns a base's stages in order: short ahead, short turned, then for guns both at long."""
    ranges_mm = [(-np.inf, base.short_mm)]
    if base.is_gun:
        ranges_mm.append((base.short_mm, base.longest_mm))
    pose, base_stages = base.pose, []
    others_mm = max((other.unit.sigma_bound_mm for other in base.others), default=0.0)
    for nearest_mm, longest_mm in ranges_mm:
        own_mm = _ahead_mm(pose, longest_mm + base.bw_mm)
        base_stages += [
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
    return base_stages


def _ahead_mm(pose: BasePose, reach_mm: float) -> float:
    """Bounds how far a base's own error moves a zone straight ahead sideways (one sigma)."""
    return pose.sigma_mm + float(np.radians(pose.sigma_deg)) * reach_mm


def _turned_mm(base: Shooter) -> float:
    """Bounds how far a base's own error moves a zone that may turn (one sigma).

    The base turns its zone to suit, so its heading counts only for the middle of its front edge and
    for where the zone leaves the front line that cuts it.
    """
    pose = base.pose
    arm_mm = pose.depth_mm / 2 + float(np.hypot(pose.tag_right_mm, pose.tag_forward_mm))
    cut_mm = (base.strip.right_mm - base.strip.left_mm) / 2 / float(np.cos(np.radians(TURN_DEG)))
    return pose.tag_sigma_mm + float(np.radians(pose.sigma_deg)) * (arm_mm + cut_mm)


def error_bound_mm(base: Shooter, others: Sequence[OtherBase], longest_mm: float) -> float:
    """Bounds what errors change of any length that decides a base's fire (`SIGMAS`)."""
    own_mm = _ahead_mm(base.pose, longest_mm + base.bw_mm)
    return SIGMAS * (own_mm + max((spread_mm(other.pose) for other in others), default=0.0))


def spread_mm(pose: BasePose) -> float:
    """Bounds the standard deviation of any corner of a base along any line."""
    return float(rectangles([pose]).sigma_bounds_mm[0])


@dataclass(frozen=True, slots=True, eq=False)
class ShiftedStage:
    """A base at a stage with the bases that it sees, if every length shifts.

    `seen` are the bases seen after a shift in favour of a target, `still_seen` those seen after the
    opposite shift: what favours one target disfavours what lies before it.
    """

    base: Shooter
    stage: Stage
    seen: Sequence[OtherBase]
    still_seen: Sequence[OtherBase]

    @property
    def enemies(self) -> list[OtherBase]:
        """The seen bases that are enemies."""
        return [other for other in self.seen if other.is_enemy]


def hits_at(shifted_stages: Sequence[ShiftedStage], shift_mm: float) -> list[dict[str, Flags]]:
    """Returns the angles (a,) at which each base hits each unit if lengths shift by `shift_mm`."""
    hits_of_base: list[dict[str, Flags]] = [{} for _ in shifted_stages]
    armed = [at for at, stage in enumerate(shifted_stages) if stage.enemies]
    aimed = [shifted_stages[at] for at in armed]
    turns_deg = [aim.stage.angles_deg(shift_mm) for aim in aimed]
    begins_mm = first_hit_by_strip(
        [aim.base.strip.narrowed(-shift_mm) for aim in aimed],
        turns_deg,
        [[other.outline for other in aim.enemies] for aim in aimed],
        SLIVER_MM,
    )
    # Blockers matter only at angles at which an enemy is met, so the others are skipped.
    are_met = [
        np.asarray((theirs_mm <= aim.stage.longest_mm + 2 * shift_mm + EXACT_MM).any(axis=1))
        for aim, theirs_mm in zip(aimed, begins_mm, strict=True)
    ]
    # Blockers take the opposite shift: a narrower zone meets fewer of them.
    before_mm = first_hit_by_strip(
        [aim.base.strip.narrowed(shift_mm) for aim in aimed],
        [turns[is_met] for turns, is_met in zip(turns_deg, are_met, strict=True)],
        [[*(other.outline for other in aim.still_seen), *aim.base.obstructing] for aim in aimed],
        SLIVER_MM,
    )
    for at, aim, is_met, theirs_mm, first_mm in zip(
        armed, aimed, are_met, begins_mm, before_mm, strict=True
    ):
        hits = _hits(aim, theirs_mm[is_met] - shift_mm, first_mm + shift_mm, shift_mm)
        for unit_id, at_met in hits.items():
            hits_of_base[at][unit_id] = np.zeros(len(is_met), dtype=np.bool_)
            hits_of_base[at][unit_id][is_met] = at_met
    return hits_of_base


def _hits(
    aimed: ShiftedStage, begins_mm: Array, before_mm: Array, shift_mm: float
) -> dict[str, Flags]:
    """Returns one base's hits, from ranges to enemies (a, n) and to possible blockers (a, m)."""
    stage, seen = aimed.stage, len(aimed.still_seen)
    past_mm = PAST_OBSTRUCTION_BW * aimed.base.bw_mm
    ends_mm = before_mm[:, seen:].min(axis=1, initial=np.inf) + past_mm
    ends_mm = np.minimum(stage.longest_mm + shift_mm, ends_mm)
    first_mm = before_mm[:, :seen] + TIE_MM
    nearest_mm = stage.nearest_mm - shift_mm + EXACT_MM - 2 * max(shift_mm, 0.0)
    hits, enemies = {}, aimed.enemies
    for unit_id in dict.fromkeys(other.unit.id for other in enemies):
        theirs_mm = _least(begins_mm, [other.unit.id == unit_id for other in enemies])
        others_mm = _least(first_mm, [other.unit.id != unit_id for other in aimed.still_seen])
        is_first = theirs_mm <= np.minimum(ends_mm, others_mm) + EXACT_MM
        hits[unit_id] = np.isfinite(theirs_mm) & is_first & (theirs_mm > nearest_mm)
    return hits


def met_by(
    base: Shooter, others: Sequence[OtherBase], turns_deg: Array, stage: Stage, shift_mm: float
) -> tuple[tuple[OtherBase, ...], tuple[shapely.Geometry, ...]]:
    """Returns the bases that a slightly wider and longer zone meets at some angle.

    And the obstructing terrain that it meets near enough to shorten it.
    """
    outlines = [*(other.outline for other in others), *base.obstructing]
    begins_mm = first_hit(base.strip.narrowed(-shift_mm), turns_deg, outlines)
    begins_mm[:, len(others) :] += PAST_OBSTRUCTION_BW * base.bw_mm
    met = np.asarray((begins_mm <= stage.longest_mm + shift_mm).any(axis=0))
    bases = tuple(others[place] for place in np.flatnonzero(met[: len(others)]).tolist())
    ends = np.flatnonzero(met[len(others) :]).tolist()
    return bases, tuple(base.obstructing[place] for place in ends)


def _least(ranges_mm: Array, is_selected: Sequence[bool]) -> Array:
    """Returns the minimum over the selected columns of (a, n): (a,)."""
    return np.asarray(ranges_mm[:, np.array(is_selected, dtype=bool)].min(axis=1, initial=np.inf))
