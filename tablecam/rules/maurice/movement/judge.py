"""Judges how far units may move and whether a move from one pose to another was legal (M-6).

An overhead camera sees only where a move began and where it ended. The move is legal if some path
between the two is (M-6.17); the cheapest legal path is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.outlines import table_outline
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ALLOWANCES_BW, ARTILLERY_SLOW_BW, COLUMN_NEAR_BW
from tablecam.rules.maurice.movement.change import about_face, changed_way, moved_way, placed
from tablecam.rules.maurice.movement.ways import Way, illegal_way
from tablecam.rules.maurice.place.contacts import contacts_of_unit
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import Answer


def illegal_end(after: Field, unit: UnitOnField) -> Way | None:
    """Returns a refusal if a march may not end where the unit is now, else None.

    A contact that is too close to call is no reason to refuse.
    """
    table = after.position.table
    off = shapely.difference(unit.outline, table_outline(table))
    if is_partly_in(unit.outline, off):
        return illegal_way("M-6.32", f"{unit.id} leaves the table", shapes_of(off, "off-table"))
    for friend in after.friends_of(unit):
        if is_partly_in(unit.outline, friend.outline):
            because = f"{unit.id} ends on {friend.id}"
            return illegal_way("M-6.8", because, shapes_of(friend.outline, "barrier"))
    for enemy, contact in _contacts(after, unit):
        if contact.answer == "yes":
            because = f"{unit.id} ends in contact with {enemy.id}, which a march may not do"
            return illegal_way("M-6.31", because, shapes_of(enemy.outline, "contact"))
    return None


def with_contact_doubt(after: Field, unit: UnitOnField, way: Way) -> Way:
    """Marks a legal move as too close to call if it may end in contact with an enemy (M-6.31)."""
    # A certain contact has been refused already (`illegal_end`).
    close_calls = [pair for pair in _contacts(after, unit) if pair[1].answer != "yes"]
    if way.is_legal.answer == "no" or not close_calls:
        return way
    enemy, contact = max(close_calls, key=lambda pair: pair[1].probability)
    answer = Answer(
        "too_close",
        -contact.margin_mm,
        contact.sigma_mm,
        min(way.is_legal.probability, 1.0 - contact.probability),
        "M-6.31",
        f"whether {unit.id} ends in contact with {enemy.id} is too close to call; a march may not",
        (*way.is_legal.evidence, *contact.evidence),
    )
    return replace(way, is_legal=answer)


def _contacts(after: Field, unit: UnitOnField) -> list[tuple[UnitOnField, Answer]]:
    """Returns the enemies that a unit touches or may touch, with the answers."""
    pairs = (
        (enemy, touching.contact(unit.id, enemy.id))
        for touching in [contacts_of_unit(after, unit.id)]
        for enemy in after.enemies_of(unit)
    )
    return [(enemy, contact.answer) for enemy, contact in pairs if contact is not None]


def allowance_bw(field: Field, unit: UnitOnField, *, extra_bw: float = 0.0) -> float:
    """Returns a unit's movement allowance where it stands, in base widths (M-6.2).

    A column near the enemy has 4 (M-6.11), artillery in difficult ground 2 (M-6.19), a unit with
    smoke 0 (M-4.23). The ground on its path may reduce it further. `extra_bw` is what cards add to
    the allowance of its formation; they do not raise the other limits.
    """
    if unit.has_smoke:
        return 0.0
    formation_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    # A broken-up unit has no allowance of its own, and moves as a line.
    if formation_bw is None:
        formation_bw = ALLOWANCES_BW[unit.unit.arm, "line"]
    formation_bw = max(formation_bw + extra_bw, 0.0)
    if unit.unit.arm == "artillery":
        return min(ARTILLERY_SLOW_BW, formation_bw) if unit.is_in_difficult else formation_bw
    if unit.formation == "column" and near_enemy(field, unit).is_near:
        return min(COLUMN_NEAR_BW, formation_bw)
    return formation_bw


def judge_move(
    field: Field,
    unit: UnitOnField,
    new_bases: Sequence[BasePose],
    *,
    extra_bw: float = 0.0,
    is_moving_up: bool = False,
) -> Way:
    """Judges whether a unit may march from where it stands to its bases' new poses (M-6.17).

    Lines and massed units wheel and go straight, forward or backward; columns and artillery snake.
    A unit that `is_moving_up` in a charge may neither about-face nor go backward (M-8.9). All other
    units are assumed not to have moved. `extra_bw` is what cards add.
    """
    allowed_bw = allowance_bw(field, unit, extra_bw=extra_bw)
    try:
        after = placed(field, unit, tuple(new_bases))
    except BadInput as error:
        return replace(illegal_way("M-6.8", str(error)), allowance_bw=allowed_bw)
    goal = after.by_id[unit.id]
    if unit.has_smoke:
        way = illegal_way("M-4.23", f"{unit.id} has smoke")
    else:
        # The end first, as it is far slower to find a way.
        way = illegal_end(after, goal) or _best_way(
            field, unit, after, goal, allowed_bw, is_moving_up=is_moving_up
        )
        way = with_contact_doubt(after, goal, way)
    return replace(way, allowance_bw=min(allowed_bw, way.allowance_bw))


def _best_way(
    field: Field,
    unit: UnitOnField,
    after: Field,
    goal: UnitOnField,
    allowed_bw: float,
    *,
    is_moving_up: bool,
) -> Way:
    if unit.formation != goal.formation:
        return changed_way(field, unit, after, goal, allowed_bw)
    # Nobody about-faces in a charge (M-8.9).
    faced = None if is_moving_up else about_face(field, unit, after, goal, allowed_bw)
    if faced is not None:
        return faced
    return moved_way(field, unit, after, goal, allowed_bw, is_forward=is_moving_up)
