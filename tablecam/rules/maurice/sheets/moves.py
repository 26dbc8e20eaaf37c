"""Move and command sections of sheets: allowance, reach, forces, span (M-6, M-1.15, M-4.11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import (
    ARTILLERY_SLOW_BW,
    COLUMN_NEAR_BW,
    FORCE_BW,
    retrograde_bw,
)
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.command_string import command_string, least_cards
from tablecam.rules.maurice.place.forces import RULE as FORCE_RULE
from tablecam.rules.maurice.place.forces import link, linking_obstacle
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.sheets.lines import (
    answer_line,
    listed_answer,
    plain_line,
    question,
)
from tablecam.rules.reports import Finding, Section
from tablecam.table.model import Commander
from tablecam.table.sides import side_name
from tablecam.uncertainty.within import range_words
from tablecam.wording import joined

_LISTED_BW = 2 * FORCE_BW
"""Friends farther away are not listed, unless they are of the force."""


def movement_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns a unit's allowance, the ground it stands on, and its reach."""
    area = reach(rulings.field, unit)
    edge = shapely.boundary(table_outline(rulings.field.position.table))
    lines = [_allowance(rulings, unit), *_formation(unit), *_beside(rulings, unit)]
    lines += _ground(rulings, unit)
    if shapely.dwithin(area, edge, EXACT_MM) and not unit.has_smoke:
        lines.append(plain_line("The table's edge limits its reach", "M-6.32", read="M-6.32"))
    return Section("movement", "Movement", tuple(lines), shapes_of(area, "reach", "reach"))


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


def force_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns a unit's force, and which friends are linked with it."""
    force = _force_of(rulings, unit)
    others = [name for name in force if name != unit.id]
    text = f"{unit.id} forms one force with {', '.join(others)}"
    head = plain_line(text if others else f"{unit.id} is a force by itself", FORCE_RULE)
    limit_mm = _LISTED_BW * rulings.field.bw_mm
    friends = [
        friend
        for friend in rulings.field.friends_of(unit)
        if friend.id in force or rulings.distances.mm(unit.id, friend.id) <= limit_mm
    ]
    friends.sort(key=lambda friend: rulings.distances.mm(unit.id, friend.id))
    # Friends that can never be linked share a line per reason.
    alike = [friend for friend in friends if linking_obstacle(unit, friend) is None]
    lines = [link_line(rulings, unit, friend) for friend in alike]
    lines += _unlike(unit, [friend for friend in friends if friend not in alike])
    drawn = [
        shape
        for line in lines
        if line.answer is not None and line.answer.answer == "yes"
        for shape in line.answer.evidence
    ]
    links = tuple(Shape(shape.kind, shape.points_mm, "link") for shape in drawn)
    return Section("force", "Force", (head, *lines), links)


def _unlike(unit: UnitOnField, friends: Sequence[UnitOnField]) -> Iterator[Finding]:
    """Yields friends that cannot be of a unit's force as they stand, by reason."""
    names_by_reason: dict[str | None, list[str]] = {}
    for friend in friends:
        names_by_reason.setdefault(linking_obstacle(unit, friend), []).append(friend.id)
    for reason, names in names_by_reason.items():
        yield plain_line(f"It is not linked with {joined(names)}: {reason}", FORCE_RULE)


def pair_force_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns whether two units are linked in a force."""
    if a.side != b.side:
        return Section(
            "force", "Force", (plain_line(f"{a.id} and {b.id} are enemies", FORCE_RULE),)
        )
    return Section("force", "Force", (link_line(rulings, a, b),))


def link_line(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Finding:
    """Returns whether two friends are linked, directly or through others."""
    answer = link(rulings.field, a, b)
    head = {
        "yes": f"{a.id} and {b.id} are linked",
        "no": f"{a.id} and {b.id} are not linked",
        "too_close": f"Whether {a.id} and {b.id} are linked is too close to call",
    }[answer.answer]
    read = None
    apart = range_words("they", answer.answer, answer.margin_mm, FORCE_BW, rulings.field.bw_mm)
    because = linking_obstacle(a, b) or apart
    if answer.answer != "yes" and b.id in _force_of(rulings, a):
        because += "; other units link them in one force"
        read = "M-1.15"
    asked = question(f"Are {a.id} and {b.id} linked in a force?", "force", a.id, b.id)
    return answer_line(answer, asked, text=f"{head}: {because}", read=read)


def span_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns the path length from each commander of its side to a unit's force."""
    leaders = [leader for leader in rulings.field.position.commanders if leader.side == unit.side]
    lines: list[Finding] = []
    drawn: list[Shape] = []
    for leader in leaders:
        line, path = _span_line(rulings, leader, unit)
        lines.append(line)
        drawn += path
    no_line = plain_line(
        f"no commander of the {side_name(unit.side)} side is on the table", "M-4.11"
    )
    return Section("span", "Span from the CinC", tuple(lines) or (no_line,), tuple(drawn))


def _span_line(
    rulings: Rulings, leader: Commander, unit: UnitOnField
) -> tuple[Finding, tuple[Shape, ...]]:
    """Returns the line of the path from a commander to a unit's force, and its shape."""
    force = _force_of(rulings, unit)
    string = next(
        (
            string
            for string in rulings.paths
            if (string.commander, string.force) == (leader.id, force)
        ),
        None,
    )
    length = command_string(rulings.field, leader, force) if string is None else string.span
    text = f"What span activates {unit.id}'s force from {leader.id}?"
    asked = question(text, "span", leader.id, unit.id)
    if length is None:
        because = f"no path from {leader.id} reaches it without coming within 1 BW of an enemy"
        answer = listed_answer("M-4.12", because, margin_mm=0.0, chance=0.0)
        return answer_line(answer, asked, read="M-4.12"), ()
    _, answer = least_cards(rulings.field, length)
    nearest = (
        ""
        if length.unit == unit.id
        else f"; {length.unit} is the nearest unit of {unit.id}'s force"
    )
    return answer_line(answer, asked, text=answer.because + nearest, read="M-4.12"), (length.path,)


def _force_of(rulings: Rulings, unit: UnitOnField) -> tuple[str, ...]:
    return next(force for force in rulings.forces[unit.side] if unit.id in force)
