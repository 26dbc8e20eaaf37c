"""Finds the contacts of units (M-1.10, G-6), also across thin obstacles (M-8.14)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.front_contact import touches_across
from tablecam.rules.maurice.field.tables import THIN_BW
from tablecam.uncertainty.answer import Answer, decide
from tablecam.uncertainty.contact import TOUCH_MM, Contact, contact, contacts
from tablecam.uncertainty.lengths import distance

RULE = "M-1.10"
ACROSS_RULE = "M-8.14"


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """The contacts on a field, including those too close to call.

    `contacts` is keyed by both units' ids, in the field's order.
    """

    field: Field
    contacts: Mapping[tuple[str, str], Contact]

    def of(self, unit_id: str) -> tuple[str, ...]:
        """Returns the ids of all units, also friends, that touch a unit, as measured."""
        return tuple(
            b_id if a_id == unit_id else a_id
            for (a_id, b_id), pair_contact in self.contacts.items()
            if unit_id in (a_id, b_id) and pair_contact.answer.margin_mm >= -EXACT_MM
        )

    def enemies_of(self, unit_id: str) -> tuple[str, ...]:
        """Returns the ids of the enemies in contact with a unit, as measured."""
        units = self.field.by_id
        side = units[unit_id].side
        return tuple(other for other in self.of(unit_id) if units[other].side != side)

    def contact(self, a_id: str, b_id: str) -> Contact | None:
        """Returns the contact between two units in either order; None if they are clearly apart."""
        return self.contacts.get((a_id, b_id)) or self.contacts.get((b_id, a_id))

    def answer(self, a_id: str, b_id: str) -> Answer:
        """Returns whether two units touch."""
        known = self.contact(a_id, b_id)
        if known is not None:
            return known.answer
        # Pairs that are clearly apart are not stored.
        units, table = self.field.by_id, self.field.position.table
        a, b = units[a_id].unit, units[b_id].unit
        return contact(a, b, tolerance_mm=table.tolerance_mm, rule=RULE).answer


def contacts_of_field(field: Field) -> Contacts:
    """Finds the contacts between all units of a field."""
    return _touching(field, frozenset(unit.id for unit in field.units))


def _touching(field: Field, among: Set[str]) -> Contacts:
    """Finds the contacts of the units `among`, in the field's order."""
    units = [unit.unit for unit in field.units]
    tolerance_mm = field.position.table.tolerance_mm
    direct = contacts(units, tolerance_mm=tolerance_mm, rule=RULE, among=among)
    by_ids = {(pair.a, pair.b): pair for pair in (*direct, *_across_obstacles(field, among))}
    place = {unit.id: index for index, unit in enumerate(units)}
    order = sorted(by_ids, key=lambda ids: (place[ids[0]], place[ids[1]]))
    return Contacts(field, MappingProxyType({ids: by_ids[ids] for ids in order}))


def contacts_of_unit(field: Field, unit_id: str) -> Contacts:
    """Finds the contacts between one unit of a field and all others."""
    return _touching(field, frozenset((unit_id,)))


def _is_across(field: Field, a: UnitOnField, b: UnitOnField) -> bool:
    return touches_across(field, a, b) or touches_across(field, b, a)


def _across_obstacles(field: Field, among: Set[str]) -> list[Contact]:
    """Finds the contacts of enemies that lie against both sides of a thin obstacle (M-8.14)."""
    if not any(piece.kind.is_linear for piece in field.ground.pieces):
        return []
    outlines = np.array([unit.outline for unit in field.units], dtype=object)
    thin_mm = THIN_BW * field.bw_mm + 2 * TOUCH_MM + EXACT_MM
    near = shapely.STRtree(outlines).query(outlines, predicate="dwithin", distance=thin_mm)
    return [
        _across(field, a, b)
        for a, b in ((field.units[i], field.units[j]) for i, j in near.T if i < j)
        if a.side != b.side
        and not among.isdisjoint((a.id, b.id))
        # Those that touch directly are contacts already.
        and shapely.distance(a.outline, b.outline) > TOUCH_MM + EXACT_MM
        and _is_across(field, a, b)
    ]


def _across(field: Field, a: UnitOnField, b: UnitOnField) -> Contact:
    """Builds a contact across an obstacle; its margin is that of the unit farther from it."""
    linear = [piece.outline for piece in field.ground.pieces if piece.kind.is_linear]
    to_obstacles_mm = shapely.distance(np.array([a.outline, b.outline])[:, None], np.array(linear))
    # Of several obstacles, the one that both lie closest to decides.
    margin_mm = TOUCH_MM - float(to_obstacles_mm.max(axis=0).min())
    apart = distance(a.unit, b.unit)
    tolerance_mm = field.position.table.tolerance_mm
    word, chance = decide(margin_mm, apart.sigma_mm, tolerance_mm=tolerance_mm)
    because = (
        f"{a.id} touches {b.id} across an obstacle at most {THIN_BW:g} BW thick, which both touch"
    )
    if word == "too_close":
        because = f"whether {a.id} and {b.id} touch the obstacle between them is too close to call"
    evidence = (apart.evidence(), *shapes_of(shapely.Point(apart.from_mm), "contact"))
    answer = Answer(word, margin_mm, apart.sigma_mm, chance, ACROSS_RULE, because, evidence)
    return Contact(a.id, b.id, answer, ())
