"""Movement section of a unit's sheet: allowance, ground, reach (M-6)."""

from __future__ import annotations

from collections.abc import Iterator

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ARTILLERY_SLOW_BW, COLUMN_NEAR_BW, retrograde_bw
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.sheets.lines import Part, plain_line
from tablecam.rules.reports import Finding
from tablecam.wording import joined


def movement_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields a unit's allowance, the ground it stands on, and its reach."""
    area = reach(rulings.field, unit)
    edge = shapely.boundary(table_outline(rulings.field.position.table))
    yield _allowance(rulings, unit)
    yield from _formation(unit)
    yield from _beside(rulings, unit)
    yield from _ground(rulings, unit)
    if shapely.dwithin(area, edge, EXACT_MM) and not unit.has_smoke:
        yield plain_line("The table's edge limits its reach", "M-6.32", read="M-6.32")
    yield from shapes_of(area, "reach", "reach")


def _allowance(rulings: Rulings, unit: UnitOnField) -> Finding:
    """Returns the line of a unit's allowance and its conditions."""
    allowed_bw = rulings.units[unit.id].allowance_bw
    may = f"{unit.id} may move {allowed_bw:g} BW"
    if unit.has_smoke:
        text = f"{unit.id} has smoke: it may not move, but a march can clear it"
        return plain_line(text, "M-4.23", read="M-4.23")
    if unit.unit.arm == "artillery":
        slow = f"{ARTILLERY_SLOW_BW:g} in all over difficult ground, or to end near the enemy"
        return plain_line(
            f"{may} in any direction and face any way; {slow}", "M-6.19", read="M-6.18"
        )
    if unit.formation == "column":
        if rulings.units[unit.id].near.is_near:
            return plain_line(f"{may}: a column that is near the enemy", "M-6.11", read="M-6.11")
        slow = f"{COLUMN_NEAR_BW:g} in all if it is near the enemy at any point of its move"
        return plain_line(f"{may} as a column; {slow}", "M-6.11", read="M-6.11")
    back = f"{retrograde_bw(allowed_bw):g} backward"
    return plain_line(f"{may} forward or {back}, wheels included", "M-6.2", read="M-6.17")


def _formation(unit: UnitOnField) -> Iterator[Finding]:
    """Yields what a unit's formation means for its moves."""
    if unit.formation == "broken-up":
        yield plain_line(f"{unit.id}'s formation is unclear; it is treated as a line", "M-1.7")
    if unit.formation == "column":
        text = "If it deploys before it moves, it keeps the allowance of a column"
        yield plain_line(text, "M-6.2", read="M-6.2")
        text = "It may follow a winding path; its bases end one behind the other along it"
        yield plain_line(text, "M-6.9", read="M-6.10")


def _beside(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields friends in edge contact with a flank; a wheel's rear corner may swing into them."""
    neighbours = [
        friend.id for friend in rulings.field.friends_of(unit) if unit.touches_flank_of_line(friend)
    ]
    if neighbours:
        text = f"It may wheel past {joined(neighbours)}, in edge contact beside it"
        yield plain_line(text, "M-6.14", read="M-6.14")


def _ground(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields the ground that a unit stands on, and the cost of leaving it."""
    pieces = [
        piece.terrain
        for piece in rulings.field.ground.pieces
        if (piece.kind.is_difficult or piece.kind.is_water)
        and any(is_partly_in(base, piece.outline) for base in unit.bases)
    ]
    names = ", ".join(f"{piece.id} ({piece.kind.replace('_', ' ')})" for piece in pieces)
    if unit.is_in_difficult:
        yield plain_line(f"{unit.id} stands in bad terrain: {names}", "M-5.3", read="M-5.1")
        if unit.unit.arm == "artillery":
            if unit.disruption:
                yield plain_line("Difficult ground costs it no disruption", "M-6.5", read="M-6.4")
            return
        cost = "may not move out of it" if unit.disruption >= len(unit.bases) else ""
        text = f"With {unit.disruption} disruptions it {cost}" if cost else ""
        yield plain_line(text or "Moving out of it costs 1 disruption", "M-6.3", read="M-5.2")
    if unit.is_in_water:
        yield plain_line(f"{unit.id} stands in water: {names}", "M-5.6", read="M-5.1")
