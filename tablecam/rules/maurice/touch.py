"""Who touches whom (M-1.10, G-6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.measure.answer import EXACT_MM, Answer
from tablecam.measure.contact import Contact, contact, contacts
from tablecam.rules.maurice.field import Field

RULE = "M-1.10"


@dataclass(frozen=True, slots=True, eq=False)
class Touching:
    """The contacts on a field: those that hold, and those that are too close to call.

    `contacts` are keyed by both units' ids, in the field's order.
    """

    field: Field
    contacts: Mapping[tuple[str, str], Contact]

    def of(self, unit_id: str) -> tuple[str, ...]:
        """All units, friends too, that touch a unit, what was measured taken at its word."""
        return tuple(
            b_id if a_id == unit_id else a_id
            for (a_id, b_id), found in self.contacts.items()
            if unit_id in (a_id, b_id) and found.answer.margin_mm >= -EXACT_MM
        )

    def enemies_of(self, unit_id: str) -> tuple[str, ...]:
        """The enemies that touch a unit: those it is in contact with."""
        units = self.field.by_id
        side = units[unit_id].side
        return tuple(other for other in self.of(unit_id) if units[other].side != side)

    def contact(self, a_id: str, b_id: str) -> Contact | None:
        """The contact between two units, either way round; None where there plainly is none."""
        return self.contacts.get((a_id, b_id)) or self.contacts.get((b_id, a_id))

    def answer(self, a_id: str, b_id: str) -> Answer:
        """Whether two units touch."""
        found = self.contact(a_id, b_id)
        if found is not None:
            return found.answer
        units, table = self.field.by_id, self.field.position.table
        a, b = units[a_id].unit, units[b_id].unit
        return contact(a, b, tolerance_mm=table.tolerance_mm, rule=RULE).answer


def touching(field: Field) -> Touching:
    """The contacts between all units of a field."""
    units = [unit.unit for unit in field.units]
    found = contacts(units, tolerance_mm=field.position.table.tolerance_mm, rule=RULE)
    return Touching(field, MappingProxyType({(each.a, each.b): each for each in found}))
