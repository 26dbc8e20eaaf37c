"""Where a march may not end: off the table, upon friends, in contact with enemies."""

from __future__ import annotations

from dataclasses import replace

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.movement.ways import Way, refused
from tablecam.rules.maurice.place.touch import touching_of
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
