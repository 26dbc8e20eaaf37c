"""Sheets on moving and commanding: allowance, reach, forces and strings (M-6, M-1.15, M-4.11)."""

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
    RETROGRADE_SHARE,
)
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.activation import least_cards, span
from tablecam.rules.maurice.place.forces import RULE as FORCE_RULE
from tablecam.rules.maurice.place.forces import link, why_apart
from tablecam.rules.maurice.rulings.ruled import Rulings
from tablecam.rules.maurice.sheets.lines import listed, names_of, plain, question, told
from tablecam.rules.sheets import Line, Section
from tablecam.table.model import Commander
from tablecam.table.sides import side_name

_TOLD_BW = 2 * FORCE_BW
"""Friends beyond this are not told one by one, unless they are of the force."""


def movement_section(found: Rulings, unit: UnitOnField) -> Section:
    """How far a unit may march, on what ground it stands, and what it may come to pass over."""
    area = reach(found.field, unit)
    edge = shapely.boundary(table_outline(found.field.position.table))
    lines = [_allowance(found, unit), *_formation(unit), *_beside(found, unit)]
    lines += _ground(found, unit)
    if shapely.dwithin(area, edge, EXACT_MM) and not unit.has_smoke:
        lines.append(plain("The edge of the table ends its reach", "M-6.32", read="M-6.32"))
    return Section("movement", "Movement", tuple(lines), shapes_of(area, "reach", "reach"))


def _allowance(found: Rulings, unit: UnitOnField) -> Line:
    allowed_bw = found.units[unit.id].allowance_bw
    may = f"{unit.id} may move {allowed_bw:g} BW"
    if unit.has_smoke:
        said = f"{unit.id} is marked with smoke: it may not move, but a march may take it off"
        return plain(said, "M-4.23", read="M-4.23")
    if unit.unit.arm == "artillery":
        slow = f"{ARTILLERY_SLOW_BW:g} in all over difficult ground, or to end near the enemy"
        return plain(f"{may} any way and facing; {slow}", "M-6.19", read="M-6.18")
    if unit.formation == "column":
        if found.units[unit.id].near.is_near:
            return plain(f"{may}: a column that is near the enemy", "M-6.11", read="M-6.11")
        slow = f"{COLUMN_NEAR_BW:g} in all if it is ever near the enemy on its way"
        return plain(f"{may} as a column; {slow}", "M-6.11", read="M-6.11")
    back = f"{allowed_bw * RETROGRADE_SHARE:g} backward"
    return plain(f"{may} forward or {back}, wheels included", "M-6.2", read="M-6.17")


def _formation(unit: UnitOnField) -> Iterator[Line]:
    if unit.formation == "broken-up":
        yield plain(f"How {unit.id} is formed is unclear; it is taken to be in line", "M-1.7")
    if unit.formation == "column":
        said = "If it deploys before it moves, it keeps the allowance of a column"
        yield plain(said, "M-6.2", read="M-6.2")
        said = "It may snake; at the end its bases lie behind each other along its way"
        yield plain(said, "M-6.9", read="M-6.10")


def _beside(found: Rulings, unit: UnitOnField) -> Iterator[Line]:
    """Friends flush with a flank, into whom wheels swing a rear corner."""
    flush = [each.id for each in found.field.friends_of(unit) if unit.has_beside_it(each)]
    if flush:
        said = f"It wheels free of {' and '.join(flush)}, flush beside it"
        yield plain(said, "M-6.14", read="M-6.14")


def _ground(found: Rulings, unit: UnitOnField) -> Iterator[Line]:
    """On what a unit stands, and what leaving it costs."""
    pieces = [
        piece.terrain
        for piece in found.field.ground.pieces
        if (piece.kind.is_difficult or piece.kind.is_water)
        and any(is_partly_in(base, piece.outline) for base in unit.bases)
    ]
    names = ", ".join(f"{piece.id} ({piece.kind.replace('_', ' ')})" for piece in pieces)
    if unit.is_in_difficult:
        yield plain(f"{unit.id} stands in bad terrain: {names}", "M-5.3", read="M-5.1")
        if unit.unit.arm == "artillery":
            if unit.disruption:
                yield plain("Difficult ground costs it no disruption", "M-6.5", read="M-6.4")
            return
        cost = "may not move out of it" if unit.disruption >= len(unit.bases) else ""
        said = f"With {unit.disruption} disruptions it {cost}" if cost else ""
        yield plain(said or "Moving out of it costs 1 disruption", "M-6.3", read="M-5.2")
    if unit.is_in_water:
        yield plain(f"{unit.id} stands in water: {names}", "M-5.6", read="M-5.1")


def force_section(found: Rulings, unit: UnitOnField) -> Section:
    """The force that a unit is of, and which friends are linked with it."""
    force = _force(found, unit)
    others = [each for each in force if each != unit.id]
    said = f"{unit.id} forms one force with {', '.join(others)}"
    head = plain(said if others else f"{unit.id} is a force of its own", FORCE_RULE)
    limit_mm = _TOLD_BW * found.field.bw_mm
    friends = [
        friend
        for friend in found.field.friends_of(unit)
        if friend.id in force or found.apart.mm(unit.id, friend.id) <= limit_mm
    ]
    friends.sort(key=lambda friend: found.apart.mm(unit.id, friend.id))
    alike = [friend for friend in friends if why_apart(unit, friend) is None]
    lines = [link_line(found, unit, friend) for friend in alike]
    lines += _unlike(unit, [friend for friend in friends if friend not in alike])
    drawn = [
        shape
        for line in lines
        if line.answer is not None and line.answer.answer == "yes"
        for shape in line.answer.evidence
    ]
    links = tuple(Shape(shape.kind, shape.points_mm, "link") for shape in drawn)
    return Section("force", "Force", (head, *lines), links)


def _unlike(unit: UnitOnField, friends: Sequence[UnitOnField]) -> Iterator[Line]:
    """The friends beside a unit that never are of a force with it as they stand, and why."""
    why: dict[str | None, list[str]] = {}
    for friend in friends:
        why.setdefault(why_apart(unit, friend), []).append(friend.id)
    for reason, names in why.items():
        yield plain(f"It is not linked with {names_of(names)}: {reason}", FORCE_RULE)


def pair_force_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Whether two units are linked in a force."""
    if a.side != b.side:
        return Section("force", "Force", (plain(f"{a.id} and {b.id} are enemies", FORCE_RULE),))
    return Section("force", "Force", (link_line(found, a, b),))


def link_line(found: Rulings, a: UnitOnField, b: UnitOnField) -> Line:
    """Whether two friends are linked, by themselves or through others."""
    answer = link(found.field, a, b)
    head = {
        "yes": f"{a.id} and {b.id} are linked",
        "no": f"{a.id} and {b.id} are not linked",
        "too_close": f"Whether {a.id} and {b.id} are linked is too close to call",
    }[answer.answer]
    read = None
    because = answer.because.removeprefix("no force: ")
    because = because.replace(f"{a.id} and {b.id} lie", "they lie")
    if answer.answer != "yes" and b.id in _force(found, a):
        because += "; they are of one force through others"
        read = "M-1.15"
    asked = question(f"Are {a.id} and {b.id} linked in a force?", "force", a.id, b.id)
    return told(answer, asked, text=f"{head}: {because}", read=read)


def span_section(found: Rulings, unit: UnitOnField) -> Section:
    """How far each commander of its side is from a unit's force, as the string runs."""
    leaders = [each for each in found.field.position.commanders if each.side == unit.side]
    lines: list[Line] = []
    drawn: list[Shape] = []
    for leader in leaders:
        line, path = _span_line(found, leader, unit)
        lines.append(line)
        drawn += path
    nobody = plain(f"no commander of the {side_name(unit.side)} side is on the table", "M-4.11")
    return Section("span", "Span from the CinC", tuple(lines) or (nobody,), tuple(drawn))


def _span_line(
    found: Rulings, leader: Commander, unit: UnitOnField
) -> tuple[Line, tuple[Shape, ...]]:
    force = _force(found, unit)
    string = next(
        (each for each in found.strings if (each.commander, each.force) == (leader.id, force)),
        None,
    )
    length = span(found.field, leader, force) if string is None else string.span
    text = f"What span activates the force of {unit.id} from {leader.id}?"
    asked = question(text, "span", leader.id, unit.id)
    if length is None:
        because = f"no string from {leader.id} reaches it that keeps 1 BW from every enemy"
        answer = listed("M-4.12", because, margin_mm=0.0, chance=0.0)
        return told(answer, asked, read="M-4.12"), ()
    _, answer = least_cards(found.field, length)
    nearest = (
        "" if length.unit == unit.id else f"; {length.unit} is the nearest of {unit.id}'s force"
    )
    return told(answer, asked, text=answer.because + nearest, read="M-4.12"), (length.path,)


def _force(found: Rulings, unit: UnitOnField) -> tuple[str, ...]:
    return next(force for force in found.forces[unit.side] if unit.id in force)
