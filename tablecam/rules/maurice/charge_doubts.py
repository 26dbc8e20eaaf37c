"""How likely a unit can charge an enemy where the camera's error could change it (M-8.3)."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import CERTAIN, Answer, AnswerWord, Shape
from tablecam.measure.outlines import axes, footprint, unit_footprint
from tablecam.rules.maurice.chances import SIGMAS
from tablecam.rules.maurice.charge_limits import attempts_of
from tablecam.rules.maurice.charge_moves import allowance_mm
from tablecam.rules.maurice.charge_slack import Limits
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.tables import CHARGE_WHEEL_BW
from tablecam.table.model import BasePose, Unit

DRAWS = 200
"""How often all near are drawn anew: a probability of 0.5 is known to 0.035, of 0.95 to 0.015."""

_FRONT_ENDS = 1.6
"""Of a base's own error: the most that a front's end has, where two bases abreast make it."""
_SEED = 1740


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
    return _with_units(field, [field.units[place] for place in np.flatnonzero(near)])


def _has_error(field: Field) -> bool:
    poses = (base for unit in field.position.units for base in unit.bases)
    return any(base.sigma_mm or base.sigma_deg for base in poses)


def _with_units(field: Field, units: Iterable[UnitOnField]) -> Field:
    there = tuple(units)
    by_id = MappingProxyType({unit.id: unit for unit in there})
    return replace(field, units=there, by_id=by_id)


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
    held: dict[str, int] = {}
    for drawn in _drawn(field):
        for name in _targets(drawn, drawn.by_id[unit.id]):
            held[name] = held.get(name, 0) + 1
    # As in `samples`: so many draws tell no probability below 1 in so many.
    return {name: (count + 0.5) / (DRAWS + 1.0) for name, count in held.items()}


def _targets(field: Field, unit: UnitOnField) -> set[str]:
    return {name for tried in attempts_of([(field, unit)])[0] for name in tried.targets}


def _drawn(field: Field) -> Iterator[Field]:
    """The field as it may be in truth, drawn from what is known of it; always the same draws."""
    errors = [_errors(unit.id, len(unit.bases)) for unit in field.units]
    for draw in range(DRAWS):
        yield _with_units(
            field,
            [_moved(unit, each[draw]) for unit, each in zip(field.units, errors, strict=True)],
        )


@cache
def _errors(unit_id: str, bases: int) -> NDArray[np.float64]:
    """Of each base in each draw, in sigmas (draws, bases, 3), whoever else is there."""
    rng = np.random.default_rng([_SEED, zlib.crc32(unit_id.encode())])
    return rng.standard_normal((DRAWS, bases, 3))


def _moved(unit: UnitOnField, errors: NDArray[np.float64]) -> UnitOnField:
    if not any(base.sigma_mm or base.sigma_deg for base in unit.unit.bases):
        return unit
    pairs = zip(unit.unit.bases, errors.tolist(), strict=True)
    there: Unit = replace(unit.unit, bases=tuple(_base(base, error) for base, error in pairs))
    return replace(
        unit,
        unit=there,
        axes=axes(there),
        outline=unit_footprint(there),
        bases=tuple(footprint(base) for base in there.bases),
    )


def _base(base: BasePose, error: list[float]) -> BasePose:
    return replace(
        base,
        x_mm=base.x_mm + error[0] * base.sigma_mm,
        y_mm=base.y_mm + error[1] * base.sigma_mm,
        heading_deg=base.heading_deg + error[2] * base.sigma_deg,
    )


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
    )
