"""Decides who is near the enemy: within 4 BW, not across impassable ground (M-1.9)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely

from tablecam.geometry.rectangles import EXACT_MM, Array
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.distance_matrix import DistanceMatrix, distance_matrix
from tablecam.rules.maurice.field.field import FAR_SIGMAS, Field, UnitOnField
from tablecam.rules.maurice.field.tables import NEAR_BW
from tablecam.uncertainty.answer import Answer, certain, measured
from tablecam.uncertainty.clear_line import is_barred, shortest_clear_line
from tablecam.uncertainty.lengths import Length, distance
from tablecam.uncertainty.margins import SIGMAS, TURNING_PRECISION, turning_shift_mm
from tablecam.uncertainty.samples import draw_gaps_mm
from tablecam.uncertainty.within import within

RULE = "M-1.9"


@dataclass(frozen=True, slots=True)
class NearEnemy:
    """Whether a unit is near the enemy, and the enemy that decides it.

    `nearest` is the nearest enemy that impassable ground does not bar, or simply the nearest if it
    bars all within reach; `distance_bw` is the distance to it. `is_near` is the answer as measured,
    without regard to errors; `turns_on_impassable` means that impassable ground bars
    the shortest line.
    """

    answer: Answer
    nearest: str | None
    distance_bw: float | None
    is_near: bool
    turns_on_impassable: bool = False


def near_enemy(field: Field, unit: UnitOnField) -> NearEnemy:
    """Returns whether a unit is near the enemy (M-1.9)."""
    enemies = field.enemies_of(unit)
    if not enemies:
        because = f"{unit.id} is not near the enemy: there is none on the table"
        evidence = shapes_of(shapely.centroid(unit.outline), "nobody")
        nobody = certain("no", RULE, because, evidence, margin_mm=-NEAR_BW * field.bw_mm)
        return NearEnemy(nobody, None, None, is_near=False)
    apart = distance_matrix(field)
    far_mm = {enemy.id: apart.mm(unit.id, enemy.id) for enemy in enemies}
    nearest = min(enemies, key=lambda enemy: far_mm[enemy.id])
    length = _length(unit, nearest, apart)
    # Only the shortest line is barred; a longer one beside it may be clear (M-1.9).
    if _may_be_barred(field, length):
        near = _past_barriers(field, unit, enemies, far_mm)
    else:
        near = _near(field, unit, nearest, length, _drawn_mm(field, unit, enemies, far_mm, length))
    return _unless_an_edge_decides(field, unit, near, far_mm)


def _near(
    field: Field,
    unit: UnitOnField,
    enemy: UnitOnField,
    length: Length,
    drawn_mm: Array | None = None,
) -> NearEnemy:
    table = field.position.table
    answer = within(length, NEAR_BW, table, a=unit.id, b=enemy.id, rule=RULE, drawn_mm=drawn_mm)
    is_near = answer.margin_mm >= -EXACT_MM
    return NearEnemy(answer, enemy.id, field.in_bw(length.value_mm), is_near)


def _length(unit: UnitOnField, enemy: UnitOnField, apart: DistanceMatrix) -> Length:
    """Returns the distance between two units, with value and sigma from `apart`."""
    ends = [shapely.multipolygons(list(owner.bases)) for owner in (unit, enemy)]
    (x_a, y_a), (x_b, y_b) = shapely.get_coordinates(shapely.shortest_line(*ends)).tolist()
    measured = apart.mm(unit.id, enemy.id), apart.sigma_mm(unit.id, enemy.id)
    return Length(*measured, (x_a, y_a), (x_b, y_b))


def _drawn_mm(
    field: Field,
    unit: UnitOnField,
    enemies: Sequence[UnitOnField],
    far_mm: Mapping[str, float],
    length: Length,
) -> Array | None:
    """Returns draws (DRAWS,) of the distance to the nearest enemy, whichever that truly is.

    None if errors cannot bring it to the limit.
    """
    doubt_mm = FAR_SIGMAS * length.sigma_mm
    if abs(NEAR_BW * field.bw_mm - length.value_mm) >= doubt_mm:
        return None
    nearby = [enemy for enemy in enemies if far_mm[enemy.id] <= length.value_mm + doubt_mm]
    drawn_mm = [draw_gaps_mm(unit.unit, enemy.unit) for enemy in nearby]
    return np.asarray(np.min(drawn_mm, axis=0))


def _may_be_barred(field: Field, length: Length) -> bool:
    impassable = field.ground.impassable
    if length.value_mm > NEAR_BW * field.bw_mm + FAR_SIGMAS * length.sigma_mm:
        # Too far off with or without it.
        return False
    return not shapely.is_empty(impassable) and is_barred(length, impassable)


def _past_barriers(
    field: Field, unit: UnitOnField, enemies: Sequence[UnitOnField], far_mm: Mapping[str, float]
) -> NearEnemy:
    """Answers `near_enemy` if impassable ground bars the shortest line to the nearest enemy."""
    limit_mm = NEAR_BW * field.bw_mm
    best = _clearest(unit, enemies, far_mm, field.ground.impassable)
    if best is None or best[1].value_mm > limit_mm + FAR_SIGMAS * best[1].sigma_mm:
        nearest = min(enemies, key=lambda enemy: far_mm[enemy.id])
        length = None if best is None else best[1]
        return _barred(field, unit, nearest, length)
    enemy, clear = best
    near = _near(field, unit, enemy, clear)
    passing = "by the shortest straight line past impassable ground"
    answer = replace(near.answer, because=f"{near.answer.because}, {passing}")
    distance_bw = field.in_bw(far_mm[enemy.id])
    return replace(near, answer=answer, distance_bw=distance_bw, turns_on_impassable=True)


def _clearest(
    unit: UnitOnField,
    enemies: Iterable[UnitOnField],
    far_mm: Mapping[str, float],
    impassable: shapely.Geometry,
) -> tuple[UnitOnField, Length] | None:
    """Returns the enemy with the shortest line past impassable ground, and that line."""
    best: tuple[UnitOnField, Length] | None = None
    # By plain distance, as no clear line is shorter than that.
    for enemy in sorted(enemies, key=lambda enemy: far_mm[enemy.id]):
        if best is not None and far_mm[enemy.id] >= best[1].value_mm:
            break
        clear = shortest_clear_line(unit.unit, enemy.unit, impassable)
        if clear is not None and (best is None or clear.value_mm < best[1].value_mm):
            best = enemy, clear
    return best


def _unless_an_edge_decides(
    field: Field, unit: UnitOnField, near: NearEnemy, far_mm: Mapping[str, float]
) -> NearEnemy:
    """Returns `near`, less certain if errors could open or bar a line past impassable ground."""
    impassable, limit_mm = field.ground.impassable, NEAR_BW * field.bw_mm
    tolerance_mm = field.position.table.tolerance_mm
    if shapely.is_empty(impassable):
        return near
    widest_mm = max(field.by_id[name].sigma_bound_mm for name in far_mm)
    bound_mm = max(SIGMAS * (unit.sigma_bound_mm + widest_mm), tolerance_mm)
    if not bound_mm or not shapely.dwithin(impassable, unit.outline, limit_mm + bound_mm):
        return near
    # No error brings any other within reach.
    nearby = [field.by_id[name] for name, mm in far_mm.items() if mm <= limit_mm + bound_mm]

    def is_near_after(by_mm: float) -> bool:
        # Errors of the poses are tried as changes of the ground and of the limit.
        ground = shapely.buffer(impassable, -by_mm, join_style="mitre") if by_mm else impassable
        best = _clearest(unit, nearby, far_mm, ground)
        return best is not None and best[1].value_mm <= limit_mm + by_mm

    margin_mm = turning_shift_mm(is_near_after, bound_mm)
    in_the_open_mm = limit_mm - min(far_mm.values())
    if margin_mm is None or abs(margin_mm - in_the_open_mm) <= TURNING_PRECISION * bound_mm:
        # No error changes it, or only the plain distance matters.
        return near
    sigma_mm = math.hypot(unit.sigma_bound_mm, max(enemy.sigma_bound_mm for enemy in nearby))
    because = f"{near.answer.because}; {abs(margin_mm):.1f} mm at its edge decide it"
    answer = measured(
        margin_mm, sigma_mm, RULE, because, near.answer.evidence, tolerance_mm=tolerance_mm
    )
    return replace(near, answer=answer)


def _barred(
    field: Field, unit: UnitOnField, nearest: UnitOnField, clear: Length | None
) -> NearEnemy:
    """Answers that no clear line of 4 BW or less passes the impassable ground."""
    plain, limit_mm = distance(unit.unit, nearest.unit), NEAR_BW * field.bw_mm
    distance_bw = field.in_bw(plain.value_mm)
    # Without any clear line there is no length to compare; the margin is then the whole limit.
    margin_mm = -limit_mm if clear is None else limit_mm - clear.value_mm
    sigma_mm = plain.sigma_mm if clear is None else clear.sigma_mm
    because = (
        f"{unit.id} and {nearest.id} are {distance_bw:.2f} BW apart, but "
        f"impassable ground blocks every straight line of {NEAR_BW:g} BW or less between them"
    )
    evidence = (plain.evidence("barred"), *shapes_of(field.ground.impassable, "impassable"))
    tolerance_mm = field.position.table.tolerance_mm
    answer = measured(margin_mm, sigma_mm, RULE, because, evidence, tolerance_mm=tolerance_mm)
    return NearEnemy(answer, nearest.id, distance_bw, is_near=False, turns_on_impassable=True)
