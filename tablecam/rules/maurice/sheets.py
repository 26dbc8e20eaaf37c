"""The sheets of a unit and of two units: every section, in the order in which they are shown."""

from __future__ import annotations

from tablecam.rules.maurice.field import UnitOnField
from tablecam.rules.maurice.ruled import Rulings
from tablecam.rules.maurice.sheets_charge import charge_section, pair_charge_section
from tablecam.rules.maurice.sheets_combat import (
    cover_section,
    engaged_section,
    pair_engaged_section,
)
from tablecam.rules.maurice.sheets_fire import fire_section, pair_fire_section
from tablecam.rules.maurice.sheets_moves import (
    force_section,
    movement_section,
    pair_force_section,
    span_section,
)
from tablecam.rules.maurice.sheets_place import (
    contact_section,
    contacts_section,
    flank_section,
    flanks_section,
    near_section,
    range_section,
)
from tablecam.rules.sheets import Sheet

_OF_UNIT = (
    near_section,
    contacts_section,
    flanks_section,
    fire_section,
    charge_section,
    engaged_section,
    movement_section,
    force_section,
    span_section,
)
_OF_PAIR = (
    range_section,
    contact_section,
    flank_section,
    pair_fire_section,
    pair_charge_section,
    pair_engaged_section,
    cover_section,
    pair_force_section,
)


def unit_sheet(found: Rulings, unit_id: str) -> Sheet:
    """All that holds for a unit."""
    unit = found.field.by_id[unit_id]
    return Sheet(_title(unit), tuple(make(found, unit) for make in _OF_UNIT), _hidden(unit))


def pair_sheet(found: Rulings, a_id: str, b_id: str) -> Sheet:
    """All that holds between two units, the first one's view first."""
    a, b = found.field.by_id[a_id], found.field.by_id[b_id]
    sections = tuple(make(found, a, b) for make in _OF_PAIR)
    return Sheet(f"{_title(a)}, and {_title(b)}", sections, (*_hidden(a), *_hidden(b)))


def _title(unit: UnitOnField) -> str:
    arm, formation = unit.unit.arm, unit.formation
    formed = {"artillery": "", "massed": ", massed", "broken-up": ", formation unclear"}
    return f"{unit.id}: {unit.side.title()} {arm}{formed.get(formation, f' in {formation}')}"


def _hidden(unit: UnitOnField) -> tuple[str, ...]:
    held = sum(base.seen == "held" for base in unit.unit.bases)
    if not held:
        return ()
    return (f"{unit.id}: {held} of {len(unit.bases)} bases are hidden; their last place counts",)
