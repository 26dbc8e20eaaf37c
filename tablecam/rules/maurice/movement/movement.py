"""How far units may move, and whether a move from one pose to another was legal (M-6).

An overhead camera sees where a move began and where it ended. It is legal when some way between the
two is (M-6.17); the cheapest one is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.outlines import table_outline
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ALLOWANCES_BW, ARTILLERY_SLOW_BW, COLUMN_NEAR_BW
from tablecam.rules.maurice.movement.change import about_face, changed_way, placed
from tablecam.rules.maurice.movement.free import free_way
from tablecam.rules.maurice.movement.ways import Way, refused
from tablecam.rules.maurice.movement.wheels import wheeled_way
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.rules.maurice.place.touch import touching_of
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import Answer


def objection_to_end(after: Field, unit: UnitOnField) -> Way | None:
    """What forbids that a march ends where a unit now is; None when nothing does.

    A contact that is too close to call does not.
    """
    table = after.position.table
    off = shapely.difference(unit.outline, table_outline(table))
    if is_partly_in(unit.outline, off):
        return refused("M-6.32", f"{unit.id} leaves the table", shapes_of(off, "off-table"))
    for friend in after.friends_of(unit):
        if is_partly_in(unit.outline, friend.outline):
            because = f"{unit.id} ends upon {friend.id}"
            return refused("M-6.8", because, shapes_of(friend.outline, "barrier"))
    for enemy, contact in _contacts(after, unit):
        if contact.answer == "yes":
            because = f"{unit.id} ends in contact with {enemy.id}: a march may not"
            return refused("M-6.31", because, shapes_of(enemy.outline, "contact"))
    return None


def in_doubt_of_end(after: Field, unit: UnitOnField, way: Way) -> Way:
    """A way as sure as where it ends: the mover has the benefit of the doubt, but is told of it."""
    doubts = [(enemy, found) for enemy, found in _contacts(after, unit) if found.answer != "yes"]
    if way.answer.answer == "no" or not doubts:
        return way
    enemy, contact = max(doubts, key=lambda each: each[1].probability)
    answer = Answer(
        "too_close",
        -contact.margin_mm,
        contact.sigma_mm,
        min(way.answer.probability, 1.0 - contact.probability),
        "M-6.31",
        f"whether {unit.id} ends in contact with {enemy.id} is too close to call: a march may not",
        (*way.answer.evidence, *contact.evidence),
    )
    return replace(way, answer=answer)


def _contacts(after: Field, unit: UnitOnField) -> list[tuple[UnitOnField, Answer]]:
    """The enemies that a unit touches or may touch."""
    pairs = (
        (enemy, found.contact(unit.id, enemy.id))
        for found in [touching_of(after, unit.id)]
        for enemy in after.enemies_of(unit)
    )
    return [(enemy, contact.answer) for enemy, contact in pairs if contact is not None]


_NOWHERE: Final = shapely.Polygon()


@dataclass(frozen=True, slots=True)
class MoveJudgement:
    """Whether a march from pose to pose was legal, what it cost, and the way that was taken for it.

    `disruptions` is what it costs the unit (M-6.3, M-6.7), one of them where the way `is_rough`;
    `passed` are the friends it passed through, each of which may be disrupted too. `area` is what
    it passed over, `is_after_about_face` whether it about-faced first.
    """

    is_legal: Answer
    cost_bw: float
    allowance_bw: float
    path: tuple[Shape, ...]
    because: str
    disruptions: int = 0
    passed: tuple[str, ...] = ()
    is_rough: bool = False
    area: shapely.Geometry = _NOWHERE
    is_after_about_face: bool = False


def allowance_bw(field: Field, unit: UnitOnField, *, extra_bw: float = 0.0) -> float:
    """How far a unit may move at most from where it stands, in base widths (M-6.2).

    A column that is near the enemy has 4 (M-6.11), artillery that stands in difficult ground 2
    (M-6.19), artillery with smoke none (M-4.23). Where it goes may allow it less. `extra_bw` is
    what cards add to the row of its formation; those limits stay what they are.
    """
    if unit.has_smoke:
        return 0.0
    row_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    if row_bw is None:
        row_bw = ALLOWANCES_BW[unit.unit.arm, "line"]
    row_bw = max(row_bw + extra_bw, 0.0)
    if unit.unit.arm == "artillery":
        return min(ARTILLERY_SLOW_BW, row_bw) if unit.is_in_difficult else row_bw
    if unit.formation == "column" and near_enemy(field, unit).is_near:
        return min(COLUMN_NEAR_BW, row_bw)
    return row_bw


def judge_move(
    field: Field,
    unit: UnitOnField,
    new_bases: Sequence[BasePose],
    *,
    extra_bw: float = 0.0,
    is_moving_up: bool = False,
) -> MoveJudgement:
    """Whether a unit may march from where it stands to where its bases are now (M-6.17).

    Lines and massed units wheel and go straight, forward or backward; columns and artillery snake.
    One that `is_moving_up` in a charge does so without an about-face, and never backward (M-8.9).
    Nobody else has moved in between. `extra_bw` is what cards add.
    """
    allowed_bw = allowance_bw(field, unit, extra_bw=extra_bw)
    try:
        after = placed(field, unit, tuple(new_bases))
    except BadInput as error:
        return _judged(field, refused("M-6.8", str(error)), allowed_bw)
    there = after.by_id[unit.id]
    if unit.has_smoke:
        way = refused("M-4.23", f"{unit.id} is marked with smoke")
    else:
        way = objection_to_end(after, there) or _way(
            field, unit, after, there, allowed_bw, is_moving_up=is_moving_up
        )
        way = in_doubt_of_end(after, there, way)
    return _judged(field, way, allowed_bw)


def _way(
    field: Field,
    unit: UnitOnField,
    after: Field,
    there: UnitOnField,
    allowed_bw: float,
    *,
    is_moving_up: bool,
) -> Way:
    if unit.formation != there.formation:
        return changed_way(field, unit, after, there, allowed_bw)
    faced = None if is_moving_up else about_face(field, unit, after, there, allowed_bw)
    if faced is not None:
        return faced
    if there.formation in ("column", "artillery"):
        return free_way(field, unit, after, there, allowed_bw)
    return wheeled_way(field, unit, there, allowed_bw, is_forward=is_moving_up)


def _judged(field: Field, way: Way, allowed_bw: float) -> MoveJudgement:
    return MoveJudgement(
        way.answer,
        field.in_bw(way.cost_mm),
        min(allowed_bw, way.allowed_bw),
        way.path,
        way.answer.because,
        way.disruptions,
        way.passed,
        way.is_rough,
        way.area,
        way.is_after_about_face,
    )
