"""Shapes that show why each ruling holds, by the document key that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.tables import FORCE_BW, NEAR_BW
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.forces import linking_obstacle
from tablecam.rules.maurice.rulings.facts import Rulings, attempt
from tablecam.rules.maurice.rulings.narrowing import ALL_KEYS, keys_under
from tablecam.uncertainty.illustration import illustration
from tablecam.uncertainty.lengths import distance


def evidence_of(rulings: Rulings, *, rule: str | None = None) -> tuple[tuple[str, Shape], ...]:
    """Returns the shapes to draw, each with the key of the rulings it belongs to.

    Fire and charges are drawn for the active side, or for all requested units. For a pair the
    drawing shows the second unit as seen by the first.
    """
    keys = ALL_KEYS if rule is None else keys_under(rule)
    drawn: dict[tuple[str, Shape], None] = {}
    for key, make in _MAKERS:
        if key in keys:
            nothing: tuple[Shape, ...] = ()
            shapes = attempt(key, partial(_drawn, make, rulings), nothing)
            # A dict removes duplicates and keeps the order.
            drawn.update(((key, shape), None) for shape in shapes)
    return tuple(drawn)


def _drawn(make: Callable[[Rulings], Iterator[Shape]], rulings: Rulings) -> tuple[Shape, ...]:
    return tuple(make(rulings))


def _acting(rulings: Rulings) -> list[str]:
    """Returns the units whose actions are drawn."""
    return [
        unit_id
        for unit_id, of_unit in rulings.units.items()
        if rulings.is_close_up or of_unit.unit.side == rulings.active
    ]


def _is_shown(rulings: Rulings, target: str) -> bool:
    """Whether to draw an action at a target; of a pair only actions at each other."""
    return not (rulings.is_close_up and len(rulings.units) > 1) or target in rulings.units


def _fire(rulings: Rulings) -> Iterator[Shape]:
    for unit_id in _acting(rulings):
        for base in rulings.units[unit_id].fire.values():
            for option in base.options:
                if _is_shown(rulings, option.target):
                    yield from option.evidence


def _charges(rulings: Rulings) -> Iterator[Shape]:
    for unit_id in _acting(rulings):
        for lane in rulings.units[unit_id].charge.lanes:
            if _is_shown(rulings, lane.target):
                yield from lane.evidence


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
            yield from illustration(rulings.field.position, of_unit.unit.unit, rings_bw=(NEAR_BW,))
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
    limit_mm = FORCE_BW * rulings.field.bw_mm + EXACT_MM
    units = rulings.field.by_id
    for of_side in rulings.forces.values():
        for force in of_side:
            for a_id, b_id in combinations(force, 2):
                a, b = units[a_id], units[b_id]
                if rulings.distances.mm(a_id, b_id) <= limit_mm and linking_obstacle(a, b) is None:
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
