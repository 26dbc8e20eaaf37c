"""How likely a unit can charge an enemy where the camera's error could change it (M-8.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely

from tablecam.measure.answer import CERTAIN, Answer, AnswerWord, Shape
from tablecam.rules.maurice.chances import SIGMAS
from tablecam.rules.maurice.charge_draws import DRAWS, drawn_fields, with_units
from tablecam.rules.maurice.charge_ground import forbidden_ground
from tablecam.rules.maurice.charge_limits import attempts_of
from tablecam.rules.maurice.charge_moves import allowance_mm
from tablecam.rules.maurice.charge_slack import Limits
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.tables import CHARGE_WHEEL_BW
from tablecam.table.model import BasePose

_FRONT_ENDS = 1.6
"""Of a base's own error: the most that a front's end has, where two bases abreast make it."""
_TOGETHER = 50
"""So many draws are looked at together: a quarter of what all of them would fill."""


@dataclass(frozen=True)
class Asked:
    """Whom a unit can charge where that is not sure, worked out when somebody wants to know it.

    Draws cost a hundred times as much as the charges themselves, and most are never looked at.
    """

    field: Field
    unit: UnitOnField
    targets: tuple[str, ...]

    @cached_property
    def answers(self) -> Mapping[str, Answer]:
        """Of each enemy in question whether the unit can charge it."""
        return asked(self.field, self.unit, self.targets)


def asked(field: Field, unit: UnitOnField, targets: Iterable[str]) -> Mapping[str, Answer]:
    """Whether a unit can charge an enemy, for each of which that is not sure.

    `targets` are those that it can charge as all were seen. Nobody is in question where all is
    exact, or where the outcome is the same with every limit let out and drawn in by 3.5 sigma (or
    by the tolerance that the players agreed on).
    """
    if field.position.table.tolerance_mm <= 0.0 and not _has_error(field):
        return {}
    near = _near(field, unit)
    error_mm = max((_error_mm(field, unit, enemy) for enemy in near.enemies_of(unit)), default=0.0)
    slack_mm = max(SIGMAS * error_mm, field.position.table.tolerance_mm)
    if slack_mm <= 0.0:
        return {}
    limits = Limits.of(near, unit, slack_mm)
    always, ever = limits.targets(-slack_mm), limits.targets(slack_mm)
    listed = frozenset(targets)
    in_question = (ever | listed) - (always & listed)
    if not in_question:
        return {}
    chances = _chances(near, unit) if error_mm > 0.0 else {}
    return {
        enemy.id: _answer(near, unit, enemy, limits.margin_mm(enemy.id), chance)
        for enemy in near.enemies_of(unit)
        if enemy.id in in_question
        for chance in [chances.get(enemy.id, _LEAST) if chances else float(enemy.id in listed)]
    }


_LEAST = 0.5 / (DRAWS + 1.0)


def _near(field: Field, unit: UnitOnField) -> Field:
    """The field with only those units that a unit's charges can have to do with."""
    reach_mm = (allowance_mm(field, unit) or 0.0) + 2 * CHARGE_WHEEL_BW * field.bw_mm
    near = shapely.dwithin(unit.outline, [other.outline for other in field.units], reach_mm)
    return with_units(field, [field.units[place] for place in np.flatnonzero(near)])


def _has_error(field: Field) -> bool:
    poses = (base for unit in field.position.units for base in unit.bases)
    return any(base.sigma_mm or base.sigma_deg for base in poses)


def _error_mm(field: Field, unit: UnitOnField, enemy: UnitOnField) -> float:
    """One standard deviation, rather too much, of where an enemy is to a unit that charges."""
    bases = unit.unit.bases
    turn_rad = math.radians(math.hypot(*(base.sigma_deg for base in bases)) / len(bases))
    far_mm = (allowance_mm(field, unit) or 0.0) + CHARGE_WHEEL_BW * field.bw_mm
    front_mm = _FRONT_ENDS * max(base.sigma_mm for base in bases)
    return math.hypot(front_mm, turn_rad * far_mm, max(map(_corner_mm, enemy.unit.bases)))


def _corner_mm(base: BasePose) -> float:
    """One standard deviation of where a base's corner is."""
    half_mm = math.hypot(base.width_mm, base.depth_mm) / 2
    return math.hypot(base.sigma_mm, math.radians(base.sigma_deg) * half_mm)


def _chances(field: Field, unit: UnitOnField) -> dict[str, float]:
    """How likely each enemy can be charged that can be in some of the draws."""
    fields = drawn_fields(field, has_ground=_has_ground(field, unit))
    held: Counter[str] = Counter()
    for first in range(0, DRAWS, _TOGETHER):
        together = [(each, each.by_id[unit.id]) for each in fields[first : first + _TOGETHER]]
        for tries in attempts_of(together):
            held.update({name for tried in tries for name in tried.targets})
    # As in `samples`: so many draws tell no probability below 1 in so many.
    return {name: (count + 0.5) / (DRAWS + 1.0) for name, count in held.items()}


def _has_ground(field: Field, unit: UnitOnField) -> bool:
    """Whether any ground is near that could keep it from a charge."""
    near = shapely.convex_hull(shapely.union_all([other.outline for other in field.units]))
    ground = (field.ground.barred, field.ground.woods, field.ground.crests)
    is_near = shapely.intersects(near, ground).any()
    return bool(is_near) or not forbidden_ground(field, unit).is_nowhere


def _answer(
    field: Field, unit: UnitOnField, enemy: UnitOnField, margin: float, chance: float
) -> Answer:
    is_close = abs(margin) < field.position.table.tolerance_mm
    word: AnswerWord = "yes" if chance >= CERTAIN else "no"
    if is_close or 1.0 - CERTAIN < chance < CERTAIN:
        word = "too_close"
    said = "there are {:.1f} mm to spare" if margin >= 0 else "{:.1f} mm are missing"
    front = shapely.LineString([unit.axes.left_mm, unit.axes.right_mm])
    line = shapely.get_coordinates(shapely.shortest_line(front, enemy.outline)).tolist()
    return Answer(
        word,
        margin,
        _error_mm(field, unit, enemy),
        chance,
        "M-8.3",
        f"whether {unit.id} can charge {enemy.id}: as seen {said.format(abs(margin))}",
        (
            Shape("line", (unit.axes.left_mm, unit.axes.right_mm), "front-edge"),
            Shape("line", tuple((x, y) for x, y in line), "length", f"{unit.id} to {enemy.id}"),
        ),
        enemy.id,
    )
