"""Where a march may not end: off the table, upon friends, in contact with enemies."""

from __future__ import annotations

import shapely

from tablecam.measure.answer import shapes_of
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.outlines import table_outline
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.ground import is_partly_in
from tablecam.rules.maurice.march_ways import Way, refused
from tablecam.rules.maurice.tables import THIN_BW
from tablecam.rules.maurice.touch import are_in_contact


def objection_to_end(after: Field, unit: UnitOnField) -> Way | None:
    """What forbids that a march ends where a unit now is; None when nothing does."""
    table = after.position.table
    off = shapely.difference(unit.outline, table_outline(table))
    if is_partly_in(unit.outline, off):
        return refused("M-6.32", f"{unit.id} leaves the table", shapes_of(off, "off-table"))
    for friend in after.friends_of(unit):
        if is_partly_in(unit.outline, friend.outline):
            because = f"{unit.id} ends upon {friend.id}"
            return refused("M-6.8", because, shapes_of(friend.outline, "barrier"))
    for enemy in _next_to(after, unit):
        if are_in_contact(after, unit, enemy):
            because = f"{unit.id} ends in contact with {enemy.id}: a march may not"
            return refused("M-6.31", because, shapes_of(enemy.outline, "contact"))
    return None


def _next_to(field: Field, unit: UnitOnField) -> tuple[UnitOnField, ...]:
    """The enemies that may touch a unit, perhaps across a thin obstacle."""
    enemies = field.enemies_of(unit)
    most_mm = THIN_BW * field.bw_mm + 3 * TOUCH_MM
    is_close = shapely.dwithin(unit.outline, [enemy.outline for enemy in enemies], most_mm)
    return tuple(enemy for enemy, close in zip(enemies, is_close, strict=True) if close)
