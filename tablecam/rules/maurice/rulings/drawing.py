"""Chooses what a drawing of rulings shows: the shapes that show why, and their legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final

from tablecam.geometry.shapes import LegendEntry, Shape, TableDrawing, shapes_of
from tablecam.rules.maurice.charge.charge import ChargeLane
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import NEAR_BW
from tablecam.rules.maurice.fire.fire import FireOption
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.forces import are_linked
from tablecam.rules.maurice.rulings.facts import Rulings, UnitRulings, attempt
from tablecam.rules.maurice.rulings.rulings import keys_under
from tablecam.uncertainty.illustration import illustration
from tablecam.uncertainty.lengths import distance

Act = FireOption | ChargeLane

_LEGEND: Final[tuple[LegendEntry, ...]] = (
    ("near_enemy", "length", "near the enemy (M-1.9)"),
    ("in_contact", "contact", "contact (M-1.10)"),
    ("pairs", "directly-in-front", "directly in front (M-1.12)"),
    ("pairs", "counts", "base wholly behind the front line"),
    ("pairs", "intrusion", "the part that is directly in front"),
    ("fire", "fire-zone", "zone of fire (M-7.11)"),
    ("fire", "line-of-fire", "a line that avoids all cover (M-7.19)"),
    ("fire", "cover", "terrain that gives cover (M-7.19)"),
    ("charge", "lane", "charge (M-8.5)"),
    ("engaged_with", "line-of-attack", "engaged within 1 BW (M-8.12)"),
    ("allowance_bw", "reach", "reach of a march (M-6.2)"),
    ("forces", "link", "linked in a force (M-1.15)"),
    ("spans", "string", "distance from the CinC (M-4.12)"),
)


def rulings_drawing(rulings: Rulings, *, rule: str | None = None) -> TableDrawing:
    """Returns what the drawing of rulings shows; of a few units it is a close-up."""
    shapes = evidence_of(rulings, rule=rule)
    drawn = {(key, shape.role) for key, shape in shapes}
    nearest = (of_unit.near.nearest for of_unit in rulings.units.values())
    return TableDrawing(
        shapes,
        tuple(entry for entry in _LEGEND if entry[:2] in drawn),
        {unit.id: _name(unit) for unit in rulings.field.units},
        rulings.active,
        {*rulings.units, *filter(None, nearest)} if rulings.is_close_up else (),
    )


def _name(unit: UnitOnField) -> str:
    return f"{unit.id} {'•' * unit.disruption}" if unit.disruption else unit.id


def evidence_of(rulings: Rulings, *, rule: str | None = None) -> tuple[tuple[str, Shape], ...]:
    """Returns the shapes to draw, each with the key of the rulings it belongs to.

    For a pair the drawing shows the second unit as seen by the first.
    """
    keys = keys_under(rule)
    drawn: dict[tuple[str, Shape], None] = {}
    nothing: tuple[Shape, ...] = ()
    for key, make in _MAKERS:
        if key in keys:
            # The generator runs within the attempt, where its errors are caught.
            shapes = attempt(key, partial(tuple[Shape, ...], make(rulings)), nothing)
            # A dict removes duplicates and keeps the order.
            drawn.update(((key, shape), None) for shape in shapes)
    return tuple(drawn)


def _shown(rulings: Rulings, acts: Callable[[UnitRulings], Iterable[Act]]) -> Iterator[Shape]:
    """Draws shots or charges of the active side or of the units asked about.

    Of a pair only those at each other.
    """
    is_pair = rulings.is_close_up and len(rulings.units) > 1
    for of_unit in rulings.units.values():
        if rulings.is_close_up or of_unit.unit.side == rulings.active:
            for act in acts(of_unit):
                if not is_pair or act.target in rulings.units:
                    yield from act.evidence


def _fire(rulings: Rulings) -> Iterator[Shape]:
    yield from _shown(rulings, lambda unit: chain(*(base.options for base in unit.fire.values())))


def _charges(rulings: Rulings) -> Iterator[Shape]:
    yield from _shown(rulings, lambda unit: unit.charge.lanes)


def _reach(rulings: Rulings) -> Iterator[Shape]:
    """Draws a march's reach, if only one unit is requested."""
    if rulings.is_close_up and len(rulings.units) == 1:
        for of_unit in rulings.units.values():
            yield from shapes_of(reach(rulings.field, of_unit.unit), "reach")


def _near(rulings: Rulings) -> Iterator[Shape]:
    """Draws the ring of one requested unit, or the shortest lines of all, each once."""
    lines = set()
    for of_unit in rulings.units.values():
        if rulings.is_close_up and len(rulings.units) == 1:
            yield from illustration(rulings.field.position, of_unit.unit.unit, ranges=(NEAR_BW,))
        for shape in of_unit.near.answer.evidence:
            ends = frozenset(shape.points_mm)
            # Units in contact have a line of no length; the contact shape shows more.
            if of_unit.near.is_near and len(ends) > 1 and ends not in lines:
                lines.add(ends)
                yield shape


def _contacts(rulings: Rulings) -> Iterator[Shape]:
    for (a_id, b_id), contact in rulings.contacts.contacts.items():
        if a_id in rulings.units or b_id in rulings.units:
            yield from contact.answer.evidence


def _flanks(rulings: Rulings) -> Iterator[Shape]:
    """Draws a pair's flank, or those of all flanked units."""
    if rulings.is_close_up and len(rulings.units) > 1:
        for pair in rulings.pairs[:1]:
            yield from pair.to_flank.evidence
        return
    for pair in rulings.pairs:
        flanked = rulings.units.get(pair.a.id)
        if flanked is not None and pair.b.id in flanked.flanked_by:
            yield from pair.to_flank.evidence


def _engaged(rulings: Rulings) -> Iterator[Shape]:
    for (attacker, defender), engagement in rulings.engagements.pairs.items():
        if engagement.how == "near" and (attacker in rulings.units or defender in rulings.units):
            yield from engagement.evidence


def _links(rulings: Rulings) -> Iterator[Shape]:
    """Draws the links between units of a force."""
    for a, b in rulings.pairs_in_force:
        if are_linked(rulings.field, a, b):
            length = distance(a.unit, b.unit)
            yield Shape("line", (length.from_mm, length.to_mm), "link")


def _strings(rulings: Rulings) -> Iterator[Shape]:
    for string in rulings.paths:
        if string.span is not None:
            yield string.span.path


_MAKERS: tuple[tuple[str, Callable[[Rulings], Iterator[Shape]]], ...] = (
    ("allowance_bw", _reach),
    ("pairs", _flanks),
    ("fire", _fire),
    ("charge", _charges),
    ("engaged_with", _engaged),
    ("forces", _links),
    ("spans", _strings),
    ("near_enemy", _near),
    ("in_contact", _contacts),
)
