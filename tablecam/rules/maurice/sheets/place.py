"""Sections of sheets on where a unit is and may go (M-1, M-4.11, M-6): range, contact, moves."""

from __future__ import annotations

from collections.abc import Iterator

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.movement.judge import reach
from tablecam.rules.maurice.place import ranges
from tablecam.rules.maurice.place.contacts import UnitPair
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.interpretations import (
    answer_line,
    contact_reading,
    headed,
    is_bent_column,
    is_chained,
    plain_line,
    question,
)
from tablecam.rules.reports import Finding, Part
from tablecam.table.model import Commander, base_widths
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import certain
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.illustration import ring
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import range_words, within
from tablecam.wording import joined

_LISTED_BW = 2 * tables.NEAR_BW
"""Enemies farther away (the charge of cavalry) are not listed one by one."""
_LISTED_FRIENDS_BW = 2 * tables.FORCE_BW
"""Friends farther away are not listed unless they are in the force."""
_DECLARED_MM = 3.0
"""Gap to the target of a declared charge that still counts as contact (G-8)."""


def near_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields whether a unit is near the enemy, with the ring of 4 BW."""
    near, text = rulings.units[unit.id].near, rulings.units[unit.id].near.answer.because
    # Without any enemy the answer says it all.
    if near.nearest is not None:
        yes, no = f"{unit.id} is near the enemy", f"{unit.id} is not near the enemy"
        text = f"{headed(near.answer, yes, no)}: {text}"
    read = "M-1.9" if near.turns_on_impassable else None
    asked = question(f"Is {unit.id} near the enemy?", "near", unit.id)
    yield answer_line(near.answer, asked, text=text, read=read)
    yield from ring(unit.unit, tables.NEAR_BW, base_widths(rulings.field.position.table))


def range_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields the distance between two units and, for enemies, whether it is near."""
    length = distance(a.unit, b.unit)
    off = f"{length.in_bw(rulings.field.bw_mm):.2f} BW"
    spread = f" ± {length.sigma_mm:.1f}" if length.sigma_mm else ""
    measured = f"{off} ({length.value_mm:.1f}{spread} mm)"
    yield plain_line(f"{a.id} and {b.id} are {measured} apart at their nearest points", "G-2")
    if a.side != b.side:
        table = rulings.field.position.table
        answer = within(length, tables.NEAR_BW, table, a=a.id, b=b.id, rule=ranges.NEAR_RULE)
        text = f"Are {a.id} and {b.id} within {tables.NEAR_BW:g} BW of each other?"
        yield answer_line(answer, question(text, "range", a.id, b.id))
    yield length.evidence(off)


def contacts_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields the units that a unit touches, friends included."""
    touching = [ids for ids in rulings.contacts.contacts if unit.id in ids]
    for a_id, b_id in touching:
        other = rulings.field.by_id[b_id if a_id == unit.id else a_id]
        yield from contact_section(rulings, unit, other)
    if not touching:
        yield plain_line(f"{unit.id} is not in contact", "M-1.10")


def contact_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields whether two units touch, with the interpretation that decides a small gap."""
    answer = rulings.contact(a.id, b.id)
    read = contact_reading(answer)
    # The margin of contact is the touch tolerance minus the gap.
    is_declared = TOUCH_MM - _DECLARED_MM <= answer.margin_mm < 0.0 and a.side != b.side
    if read is None and is_declared:
        read = "G-8"
    asked = question(f"Do {a.id} and {b.id} touch?", "contact", a.id, b.id)
    yield answer_line(answer, asked, read=read)


def flanks_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields the enemies within 8 BW that flank a unit or are to its flank or front."""
    bw_mm = rulings.field.bw_mm
    close = [pair for pair in rulings.pairs_of(unit.id) if pair.distance_mm <= _LISTED_BW * bw_mm]
    close.sort(key=lambda pair: (not _touches(rulings, pair), pair.distance_mm))
    if not close:
        yield plain_line(f"no enemy is within {_LISTED_BW:g} BW of {unit.id}", "M-1.12")
    others = []
    for pair in close:
        # An enemy has a line of its own if it is near, or not clearly to the front.
        if pair.distance_mm <= tables.NEAR_BW * bw_mm or pair.to_flank.answer != "no":
            yield _flank_line(rulings, pair)
        else:
            others.append(pair.b.id)
    if others:
        to_front = f"{joined(others)} {'are' if len(others) > 1 else 'is'} to its front"
        yield plain_line(f"{to_front}, {tables.NEAR_BW:g} BW or more away", "M-1.12")
    if unit.side == rulings.active and rulings.units[unit.id].flanked_by:
        text = f"{unit.id} attacks, so it is not vulnerable in combat though it is flanked"
        yield plain_line(text, "M-8.16", read="M-8.16")


def flank_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields the side of each of two enemies on which the other lies."""
    for pair in rulings.views(a.id, b.id):
        yield _flank_line(rulings, pair)


def _flank_line(rulings: Rulings, pair: UnitPair) -> Finding:
    answer, a, b, touch = pair.to_flank, pair.a, pair.b, ""
    if pair.is_to_flank:
        touches = _touches(rulings, pair)
        touch = f"; it touches {a.id}, so {a.id} is flanked" if touches else "; they do not touch"
    asked = question(f"Is {b.id} to the flank of {a.id}?", "flank", a.id, b.id)
    read = "G-3" if is_bent_column(a) else None
    return answer_line(answer, asked, text=f"{answer.because}{touch}", read=read)


def _touches(rulings: Rulings, pair: UnitPair) -> bool:
    return rulings.contact(*pair.ids).margin_mm >= -EXACT_MM


def force_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields a unit's force, and which friends are linked with it."""
    force, apart = _force_of(rulings, unit), rulings.distances
    others = [name for name in force if name != unit.id]
    text = f"{unit.id} forms one force with {', '.join(others)}"
    yield plain_line(text if others else f"{unit.id} is a force by itself", ranges.FORCE_RULE)
    limit_mm = _LISTED_FRIENDS_BW * rulings.field.bw_mm
    friends = [
        friend
        for friend in rulings.field.friends_of(unit)
        if friend.id in force or apart.mm(unit.id, friend.id) <= limit_mm
    ]
    # Friends that can never be linked share a line per obstacle.
    unlike: dict[str, list[str]] = {}
    for friend in sorted(friends, key=lambda friend: apart.mm(unit.id, friend.id)):
        obstacle = ranges.linking_obstacle(unit, friend)
        if obstacle is not None:
            unlike.setdefault(obstacle, []).append(friend.id)
            continue
        line = next(link_section(rulings, unit, friend))
        yield line
        if line.answer is not None and line.answer.answer == "yes":
            for shape in line.answer.evidence:
                yield Shape(shape.kind, shape.points_mm, "link")
    for obstacle, names in unlike.items():
        yield plain_line(f"It is not linked with {joined(names)}: {obstacle}", ranges.FORCE_RULE)


def link_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Finding]:
    """Yields whether two friends are linked, directly or through others."""
    answer = ranges.link(rulings.field, a, b)
    both = f"{a.id} and {b.id} are"
    head = headed(answer, f"{both} linked", f"{both} not linked")
    apart = range_words(
        "they",
        answer.answer,
        answer.margin_mm,
        tables.FORCE_BW,
        base_widths(rulings.field.position.table),
    )
    text, read = f"{head}: {ranges.linking_obstacle(a, b) or apart}", None
    if is_chained(rulings, a, b):
        text, read = f"{text}; other units link them in one force", "M-1.15"
    asked = question(f"Are {a.id} and {b.id} linked in a force?", "force", a.id, b.id)
    yield answer_line(answer, asked, text=text, read=read)


def span_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields the path length from each commander of its side to a unit's force."""
    leaders = [leader for leader in rulings.field.position.commanders if leader.side == unit.side]
    for leader in leaders:
        yield from _span(rulings, leader, unit)
    if not leaders:
        side = side_name(unit.side)
        yield plain_line(f"no commander of the {side} side is on the table", "M-4.11")


def _span(rulings: Rulings, leader: Commander, unit: UnitOnField) -> Iterator[Part]:
    length = ranges.command_string(rulings.field, leader, _force_of(rulings, unit))
    text = f"What span activates {unit.id}'s force from {leader.name}?"
    asked = question(text, "span", leader.id, unit.id)
    if length is None:
        because = f"no path from {leader.name} reaches it without coming within 1 BW of an enemy"
        answer = certain("no", "M-4.12", because)
        yield answer_line(answer, asked, read="M-4.12")
        return
    _, answer = ranges.least_cards(rulings.field, length)
    text = answer.because
    if length.unit != unit.id:
        text += f"; {length.unit} is the nearest unit of {unit.id}'s force"
    yield answer_line(answer, asked, text=text, read="M-4.12")
    yield length.path


def _force_of(rulings: Rulings, unit: UnitOnField) -> tuple[str, ...]:
    return next(force for force in rulings.forces[unit.side] if unit.id in force)


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
    allowed_bw = rulings.units[unit.id].allowance_bw
    may = f"{unit.id} may move {allowed_bw:g} BW"
    if unit.has_smoke:
        text = f"{unit.id} has smoke: it may not move, but a march can clear it"
        return plain_line(text, "M-4.23", read="M-4.23")
    if unit.unit.arm == "artillery":
        slow = (
            f"{tables.ARTILLERY_SLOW_BW:g} in all over difficult ground, or to end near the enemy"
        )
        return plain_line(
            f"{may} in any direction and face any way; {slow}", "M-6.19", read="M-6.18"
        )
    if unit.formation == "column":
        if rulings.units[unit.id].near.is_near:
            return plain_line(f"{may}: a column that is near the enemy", "M-6.11", read="M-6.11")
        slow = f"{tables.COLUMN_NEAR_BW:g} in all if it is near the enemy at any point of its move"
        return plain_line(f"{may} as a column; {slow}", "M-6.11", read="M-6.11")
    back = f"{tables.retrograde_bw(allowed_bw):g} backward"
    return plain_line(f"{may} forward or {back}, wheels included", "M-6.2", read="M-6.17")


def _formation(unit: UnitOnField) -> Iterator[Finding]:
    if unit.formation == "broken-up":
        yield plain_line(f"{unit.id}'s formation is unclear; it is treated as a line", "M-1.7")
    if unit.formation == "column":
        text = "If it deploys before it moves, it keeps the allowance of a column"
        yield plain_line(text, "M-6.2", read="M-6.2")
        text = "It may follow a winding path; its bases end one behind the other along it"
        yield plain_line(text, "M-6.9", read="M-6.10")


def _beside(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields friends in edge contact with a flank; a wheel's rear corner may swing into them."""
    beside = filter(unit.touches_flank_of_line, rulings.field.friends_of(unit))
    if neighbours := [friend.id for friend in beside]:
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
