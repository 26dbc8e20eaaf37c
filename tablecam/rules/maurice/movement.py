"""How far units may move, and whether a move from one pose to another was legal (M-6).

An overhead camera sees where a move began and where it ended. It is legal when some way between the
two is (M-6.17); the cheapest one is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tablecam.errors import BadInput
from tablecam.measure.answer import Answer, Shape
from tablecam.rules.maurice.field import Field, UnitOnField, field_of
from tablecam.rules.maurice.march_ends import objection_to_end
from tablecam.rules.maurice.march_free import free_way
from tablecam.rules.maurice.march_ways import Way, refused
from tablecam.rules.maurice.march_wheels import wheeled_way
from tablecam.rules.maurice.near import near_enemy
from tablecam.rules.maurice.tables import ALLOWANCES_BW, ARTILLERY_SLOW_BW, COLUMN_NEAR_BW
from tablecam.table.formation import read_formation
from tablecam.table.model import BasePose


@dataclass(frozen=True, slots=True)
class MoveJudgement:
    """Whether a march from pose to pose was legal, what it cost, and the way that was taken for it.

    `disruptions` is what it costs the unit (M-6.3, M-6.7), `passed` are the friends it passed
    through, each of which may be disrupted too.
    """

    is_legal: Answer
    cost_bw: float
    allowance_bw: float
    path: tuple[Shape, ...]
    because: str
    disruptions: int = 0
    passed: tuple[str, ...] = ()


def allowance_bw(field: Field, unit: UnitOnField) -> float:
    """How far a unit may move at most from where it stands, in base widths (M-6.2).

    A column that is near the enemy has 4 (M-6.11), artillery that stands in difficult ground 2
    (M-6.19), artillery with smoke none (M-4.23). Where it goes may allow it less.
    """
    if unit.has_smoke:
        return 0.0
    row_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    if row_bw is None:
        row_bw = ALLOWANCES_BW[unit.unit.arm, "line"]
    if unit.unit.arm == "artillery":
        return ARTILLERY_SLOW_BW if unit.is_in_difficult else row_bw
    if unit.formation == "column" and near_enemy(field, unit).is_near:
        return COLUMN_NEAR_BW
    return row_bw


def judge_move(field: Field, unit: UnitOnField, new_bases: Sequence[BasePose]) -> MoveJudgement:
    """Whether a unit may march from where it stands to where its bases are now (M-6.17).

    Lines and massed units wheel and go straight, forward or backward; columns and artillery snake.
    Nobody else has moved in between.
    """
    allowed_bw = allowance_bw(field, unit)
    try:
        after = _moved(field, unit, tuple(new_bases))
    except BadInput as error:
        return _judged(field, unit, refused("M-6.8", str(error)), allowed_bw)
    there = after.by_id[unit.id]
    objection = objection_to_end(after, there)
    if unit.has_smoke:
        objection = refused("M-4.23", f"{unit.id} is marked with smoke")
    elif unit.formation != there.formation:
        objection = _change(unit, there)
    if objection is not None:
        return _judged(field, unit, objection, allowed_bw)
    if there.formation in ("column", "artillery"):
        way = free_way(field, unit, after, there, allowed_bw)
    else:
        way = wheeled_way(field, unit, there, allowed_bw)
    return _judged(field, unit, way, allowed_bw)


def _moved(field: Field, unit: UnitOnField, bases: tuple[BasePose, ...]) -> Field:
    """The field with a unit elsewhere, in the formation in which its bases lie there."""
    moved = replace(unit.unit, bases=bases, formation=None)
    formation = read_formation(moved).name
    units = tuple(
        replace(moved, formation=formation) if each.id == unit.id else each
        for each in field.position.units
    )
    return field_of(replace(field.position, units=units), "the move")


def _change(unit: UnitOnField, there: UnitOnField) -> Way:
    because = f"{unit.id} changed from {unit.formation} to {there.formation}"
    return refused("M-6.21", f"{because}: changes of formation are judged by themselves")


def _judged(field: Field, unit: UnitOnField, way: Way, allowed_bw: float) -> MoveJudgement:
    return MoveJudgement(
        way.answer,
        field.in_bw(way.cost_mm),
        min(allowed_bw, way.allowed_bw),
        way.path,
        way.answer.because,
        way.disruptions,
        way.passed,
    )
