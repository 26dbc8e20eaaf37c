"""Tells whose fire no error can change: all lengths that decide it are clear of their limits.

Every length is lengthened and shortened by 3.5 standard deviations, or by the players' tolerance:
cheap, and it misses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import shapely

from tablecam.geometry.sight import may_block
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import are_partly_in
from tablecam.rules.maurice.field.tables import TURN_DEG
from tablecam.rules.maurice.fire.option import RANGES, FireOption, Range, ahead_of_front_mm
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.rules.maurice.fire.targets import BaseFire
from tablecam.rules.maurice.fire.zone import STEP_DEG, where_enemies_are_met, zone_contents_at
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import SIGMAS

_MOST_TURN_DEG = 80.0
"""The farthest that any error lets a zone turn; at 90 degrees it would lie along the front line."""


def may_stand_otherwise(field: Field, bases: Sequence[tuple[UnitOnField, int]]) -> list[bool]:
    """Returns which bases errors may bring into water or woods, or out of them (M-7.6)."""
    outlines = np.array([unit.bases[place] for unit, place in bases], dtype=object)
    shifts_mm: Any = np.array([largest_mm(field, unit.sigma_bound_mm) for unit, _ in bases])
    may = np.zeros(len(bases), dtype=bool)
    for area in (field.ground.water, field.ground.woods):
        near = np.flatnonzero(shapely.dwithin(shapely.boundary(area), outlines, shifts_mm))
        larger, smaller = (
            are_partly_in(
                shapely.buffer(outlines[near], sign * shifts_mm[near], join_style="mitre"), area
            )
            for sign in (1, -1)
        )
        may[near] |= larger != smaller
    return may.tolist()


def may_change(field: Field, fires: Sequence[BaseFire]) -> set[Shooter]:
    """Returns the shooters whose targets, their cover or enfilade errors may change."""
    shooters = [fire.shooter for fire in fires if fire.shooter is not None]
    possible, is_open = _possible_targets(field, shooters)
    is_open |= {base for base in shooters if _may_enfilade(field, base, possible[base])}
    ground = field.ground
    walls = [piece.outline for piece in ground.pieces if piece.kind.is_linear]
    edges = np.array([base.edge for base in shooters], dtype=object)
    within_mm = [2 * TOUCH_MM + largest_mm(field, base.unit.sigma_bound_mm) for base in shooters]
    near, _ = shapely.STRtree(walls).query(edges, "dwithin", within_mm)
    is_open |= {shooters[at] for at in near.tolist()}
    in_sight = [
        (base, other)
        for base in shooters
        for other in (*base.others, *base.hidden)
        if other.is_enemy
    ]
    clear = {
        (fire.shooter, option.target)
        for fire in fires
        for option in fire.options
        if _is_past_cover(field, option)
    }
    shot_at = [
        (base, other)
        for base in shooters
        for other in possible[base]
        if (base, other.unit.id) not in clear
    ]
    for area, sights in ((ground.crests, in_sight), (ground.cover, shot_at)):
        shifts_mm = np.array([largest_mm(field, _apart(*sight)) for sight in sights])
        lines = [(base.edge, other.outline) for base, other in sights]
        blocked = may_block(lines, area, shifts_mm).tolist()
        is_open |= {base for (base, _), may in zip(sights, blocked, strict=True) if may}
    return is_open


def _is_past_cover(field: Field, option: FireOption) -> bool:
    """Returns whether a shot passes all cover at more than an error's distance."""
    if option.past is None:
        return False
    within_mm = largest_mm(field, _apart(option.shooter, option.met))
    return not shapely.dwithin(option.past, option.shooter.cover, within_mm)


def largest_mm(field: Field, sigma_mm: float) -> float:
    """Returns the largest shift of a length to consider."""
    return max(SIGMAS * sigma_mm, field.position.table.tolerance_mm)


def ahead_sigma_mm(unit: UnitOnField, place: int, other_mm: float, range_mm: float) -> float:
    """Bounds the standard deviation of where a base's zone, straight ahead, passes another."""
    pose = unit.unit.bases[place]
    # A zone swings with its base.
    return pose.sigma_mm + math.radians(pose.sigma_deg) * (range_mm + pose.width_mm) + other_mm


def _apart(base: Shooter, other: OtherBase) -> float:
    """Bounds the standard deviation of where a line between two bases passes, or a zone."""
    range_mm = shapely.distance(base.outline, other.outline)
    return ahead_sigma_mm(base.unit, base.place, other.unit.sigma_bound_mm, range_mm)


def _may_enfilade(field: Field, base: Shooter, possible: Sequence[OtherBase]) -> bool:
    """Returns whether errors may change from whose front line a base is behind (M-7.22)."""
    behind: dict[str, bool] = {}
    for other in possible:
        margin_mm, target = -ahead_of_front_mm(base, other), other.unit.unit.bases[other.place]
        # The longest lever arm: from the target's front edge to the shooter's farthest corner.
        far_mm = float(shapely.hausdorff_distance(base.outline, other.outline))
        swing_mm = target.sigma_mm + math.radians(target.sigma_deg) * (far_mm + target.depth_mm)
        if abs(margin_mm) <= largest_mm(field, base.unit.sigma_bound_mm + swing_mm):
            return True
        if behind.setdefault(other.unit.id, margin_mm > 0.0) != (margin_mm > 0.0):
            return True
    return False


def _possible_targets(
    field: Field, shooters: Sequence[Shooter]
) -> tuple[dict[Shooter, list[OtherBase]], set[Shooter]]:
    """Returns the enemies that each base may hit, and the bases whose targets may change.

    Those are the bases that do not end at one stage of M-7.12, with the same units, for certain.
    """
    possible: dict[Shooter, list[OtherBase]] = {base: [] for base in shooters}
    is_open, left = set(shooters), list(shooters)
    for fire_range, is_turned in product(RANGES, (False, True)):
        asked = [base for base in left if fire_range == "short" or base.is_gun]
        for base, may, must in _stage(field, asked, fire_range, is_turned):
            is_first = not possible[base]
            possible[base] += may
            if must:
                left.remove(base)
                ever = {other.unit.id for other in possible[base]}
                if ever == must and (is_first or len(must) == 1):
                    is_open.remove(base)
    return possible, is_open - {base for base in left if not possible[base]}


def _stage(
    field: Field, shooters: Sequence[Shooter], fire_range: Range, is_turned: bool
) -> Iterator[tuple[Shooter, list[OtherBase], set[str]]]:
    """Yields each base with the enemies it may hit at a stage, and the units it must hit."""
    if not shooters:
        return
    length_mm = shooters[0].short_mm if fire_range == "short" else shooters[0].longest_mm
    others_mm = max(unit.sigma_bound_mm for unit in field.units)
    # The largest errors of all: of lengths, and of the angles to which a zone may be turned.
    shift_mm = max(
        largest_mm(field, ahead_sigma_mm(base.unit, base.place, others_mm, length_mm))
        for base in shooters
    )
    swing_deg = max(SIGMAS * base.unit.unit.bases[base.place].sigma_deg for base in shooters)
    most_deg = min(TURN_DEG + swing_deg, _MOST_TURN_DEG) if is_turned else 0.0
    if is_turned:
        # And as far as a zone's end moves aside in half a step of angles.
        shift_mm += math.radians(STEP_DEG) / 2 * length_mm
    turns_deg = np.linspace(-most_deg, most_deg, 2 * math.ceil(most_deg / STEP_DEG) + 1)
    wide = [replace(base, strip=base.strip.narrowed(-shift_mm)) for base in shooters]
    narrow = [replace(base, strip=base.strip.narrowed(shift_mm)) for base in shooters]
    others = [base.others for base in shooters]
    lengths_mm = [length_mm + shift_mm] * len(shooters)
    turns = where_enemies_are_met(wide, others, [turns_deg] * len(shooters), lengths_mm)
    met = (zone_contents_at(zones, others, turns, lengths_mm) for zones in (wide, narrow))
    for base, near, far in zip(shooters, *met, strict=True):
        is_sure = np.abs(near.turns_deg) <= TURN_DEG - swing_deg
        may, must = [], set()
        for unit_id in {other.unit.id for other in near.others if other.is_enemy}:
            of_unit = np.array([other.unit.id == unit_id for other in near.others])
            # What favours a unit disfavours all that may be met before it.
            begins_mm = near.ranges_mm - shift_mm, far.ranges_mm + shift_mm
            ends_mm = np.minimum(far.ends_mm, length_mm) + shift_mm
            best = replace(near, ranges_mm=np.where(of_unit, *begins_mm), ends_mm=ends_mm)
            ends_mm = np.minimum(near.ends_mm, length_mm) - shift_mm
            worst = replace(near, ranges_mm=np.where(of_unit, *begins_mm[::-1]), ends_mm=ends_mm)
            hit = (best.can_hit & of_unit).any(axis=0)
            may += [near.others[at] for at in np.flatnonzero(hit).tolist()]
            if (worst.can_hit & of_unit)[is_sure].any():
                must.add(unit_id)
        yield base, may, must
