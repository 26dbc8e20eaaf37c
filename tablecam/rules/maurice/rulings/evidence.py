"""The shapes that show why: what each ruling's proof draws, by the key that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.tables import FORCE_BW, NEAR_BW
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.forces import why_apart
from tablecam.rules.maurice.rulings.narrowing import ALL_KEYS, keys_under
from tablecam.rules.maurice.rulings.ruled import Rulings, attempt
from tablecam.uncertainty.about import about
from tablecam.uncertainty.lengths import distance


def evidence_of(found: Rulings, *, rule: str | None = None) -> tuple[tuple[str, Shape], ...]:
    """The shapes to draw, each with the key of rulings it belongs to.

    Fire and charges are drawn of the active side, or of all the units that were asked for. Of two
    units the drawing shows the second as seen by the first.
    """
    keys = ALL_KEYS if rule is None else keys_under(rule)
    drawn: dict[tuple[str, Shape], None] = {}
    for key, make in _MAKERS:
        if key in keys:
            nothing: tuple[Shape, ...] = ()
            shapes = attempt(key, partial(_drawn, make, found), nothing)
            drawn.update(((key, shape), None) for shape in shapes)
    return tuple(drawn)


def _drawn(make: Callable[[Rulings], Iterator[Shape]], found: Rulings) -> tuple[Shape, ...]:
    return tuple(make(found))


def _acting(found: Rulings) -> list[str]:
    """The units whose own deeds are drawn."""
    return [
        unit_id
        for unit_id, each in found.units.items()
        if found.is_close_up or each.unit.side == found.active
    ]


def _is_shown(found: Rulings, target: str) -> bool:
    """Of two units only what they do to each other is drawn."""
    return not (found.is_close_up and len(found.units) > 1) or target in found.units


def _fire(found: Rulings) -> Iterator[Shape]:
    for unit_id in _acting(found):
        for base in found.units[unit_id].fire.values():
            for option in base.options:
                if _is_shown(found, option.target):
                    yield from option.evidence


def _charges(found: Rulings) -> Iterator[Shape]:
    for unit_id in _acting(found):
        for lane in found.units[unit_id].charge.lanes:
            if _is_shown(found, lane.target):
                yield from lane.evidence


def _reach(found: Rulings) -> Iterator[Shape]:
    """Of one unit alone: where a march may take it."""
    if found.is_close_up and len(found.units) == 1:
        for each in found.units.values():
            yield from shapes_of(reach(found.field, each.unit), "reach")


def _near(found: Rulings) -> Iterator[Shape]:
    """Of a close up the ring, of all units the shortest lines: two units' common line once."""
    lines = set()
    for each in found.units.values():
        if found.is_close_up and len(found.units) == 1:
            yield from about(found.field.position, each.unit.unit, rings_bw=(NEAR_BW,))
        for shape in each.near.answer.evidence:
            ends = frozenset(shape.points_mm)
            # Of those that touch, contact says more than a line of no length.
            if each.near.is_near and len(ends) > 1 and ends not in lines:
                lines.add(ends)
                yield shape


def _contacts(found: Rulings) -> Iterator[Shape]:
    for (a_id, b_id), contact in found.touching.contacts.items():
        if a_id in found.units or b_id in found.units:
            yield from contact.answer.evidence


def _flanks(found: Rulings) -> Iterator[Shape]:
    if found.is_close_up and len(found.units) > 1:
        for pair in found.pairs[:1]:
            yield from pair.to_flank.evidence
        return
    for pair in found.pairs:
        flanked = found.units.get(pair.a.id)
        if flanked is not None and pair.b.id in flanked.flanked_by:
            yield from pair.to_flank.evidence


def _engaged(found: Rulings) -> Iterator[Shape]:
    for (attacker, defender), each in found.engagements.pairs.items():
        if each.how == "near" and (attacker in found.units or defender in found.units):
            yield from each.evidence


def _links(found: Rulings) -> Iterator[Shape]:
    limit_mm = FORCE_BW * found.field.bw_mm + EXACT_MM
    units = found.field.by_id
    for of_side in found.forces.values():
        for force in of_side:
            for a_id, b_id in combinations(force, 2):
                a, b = units[a_id], units[b_id]
                if found.apart.mm(a_id, b_id) <= limit_mm and why_apart(a, b) is None:
                    length = distance(a.unit, b.unit)
                    yield Shape("line", (length.from_mm, length.to_mm), "link")


def _strings(found: Rulings) -> Iterator[Shape]:
    for string in found.strings:
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
