"""The sheets of a unit and of two units: every section, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.rulings.ruled import NOT_KNOWN, Rulings, attempt
from tablecam.rules.maurice.sheets.charge import charge_section, pair_charge_section
from tablecam.rules.maurice.sheets.combat import (
    cover_section,
    engaged_section,
    pair_engaged_section,
)
from tablecam.rules.maurice.sheets.fire import fire_section, lines_of_bases, pair_fire_section
from tablecam.rules.maurice.sheets.lines import plain
from tablecam.rules.maurice.sheets.moves import (
    force_section,
    movement_section,
    pair_force_section,
    span_section,
)
from tablecam.rules.maurice.sheets.place import (
    contact_section,
    contacts_section,
    flank_section,
    flanks_section,
    near_section,
    range_section,
)
from tablecam.rules.sheets import Line, Section, Sheet
from tablecam.table.sides import side_name

_OF_UNIT: Final[Mapping[str, Callable[[Rulings, UnitOnField], Section]]] = MappingProxyType(
    {
        "near": near_section,
        "contact": contacts_section,
        "flank": flanks_section,
        "fire": fire_section,
        "charge": charge_section,
        "engaged": engaged_section,
        "movement": movement_section,
        "force": force_section,
        "span": span_section,
    }
)
_OF_PAIR: Final[Mapping[str, Callable[[Rulings, UnitOnField, UnitOnField], Section]]] = (
    MappingProxyType(
        {
            "range": range_section,
            "contact": contact_section,
            "flank": flank_section,
            "fire": pair_fire_section,
            "charge": pair_charge_section,
            "engaged": pair_engaged_section,
            "cover": cover_section,
            "force": pair_force_section,
        }
    )
)
"""The sections by the kind of question that they ask, in the order in which they are shown."""

KINDS: Final = tuple(dict.fromkeys((*_OF_UNIT, *_OF_PAIR)))
"""What questions' ids begin with."""


def unit_sheet(found: Rulings, unit_id: str) -> Sheet:
    """All that holds for a unit."""
    unit = found.field.by_id[unit_id]
    return Sheet(
        _title(unit),
        tuple(_section(found, kind, make, unit) for kind, make in _OF_UNIT.items()),
        _hidden(unit),
    )


def pair_sheet(found: Rulings, a_id: str, b_id: str) -> Sheet:
    """All that holds between two units, the first one's view first."""
    a, b = found.field.by_id[a_id], found.field.by_id[b_id]
    sections = tuple(_section(found, kind, make, a, b) for kind, make in _OF_PAIR.items())
    return Sheet(f"{_title(a)}, and {_title(b)}", sections, (*_hidden(a), *_hidden(b)))


def _section(
    found: Rulings, kind: str, make: Callable[..., Section], *units: UnitOnField
) -> Section:
    """A section; where a fault of our own keeps it from being made, one line that says so."""
    names = [unit.id for unit in units]
    said = f"what to say of {' and '.join(names)} is {NOT_KNOWN}"
    key = "near_enemy" if kind == "near" else kind
    unknown = Section(key, kind.capitalize(), (plain(said),))
    if found.not_known & {kind, *(f"{kind}/{name}" for name in names)}:
        return unknown
    return attempt("/".join((kind, *names)), lambda: make(found, *units), unknown)


def lines_about(found: Rulings, question: str) -> Iterator[Line]:
    """The lines among which a question's is, if any is: of the sections that ask its kind."""
    kind, *parts = question.split("/")
    units = found.field.by_id
    named = [units[part] for part in dict.fromkeys(parts) if part in units]
    if len(named) > 1 and kind in _OF_PAIR:
        yield from _section(found, kind, _OF_PAIR[kind], named[0], named[-1]).lines
    for unit in named if kind in _OF_UNIT else ():
        yield from _section(found, kind, _OF_UNIT[kind], unit).lines
    if kind == "fire" and named:
        none: tuple[Line, ...] = ()
        yield from attempt(question, lambda: tuple(lines_of_bases(found, *named[:2])), none)


def question_like(found: Rulings, question: str) -> str | None:
    """The question most like one that nobody asks: of its kind and of its units where it can be.

    None where it is of no kind that there is.
    """
    kind, *parts = question.split("/")
    units = found.field.by_id
    if kind not in KINDS or not units:
        return None
    near = [each for part in parts for each in get_close_matches(part, units, n=1)]
    exact = [part for part in parts if part in units]
    named = (exact if len(exact) > 1 else near) or [next(iter(units))]
    others = [enemy.id for enemy in found.field.enemies_of(units[named[0]])]
    asked = "/".join((kind, named[0], *(named[1:] or others[:1])))
    ids = [line.question.id for line in lines_about(found, asked) if line.question is not None]
    return next(iter(get_close_matches(question, ids, n=1, cutoff=0.0)), None)


def _title(unit: UnitOnField) -> str:
    arm, formation = unit.unit.arm, unit.formation
    formed = {"artillery": "", "massed": ", massed", "broken-up": ", formation unclear"}
    return f"{unit.id}: {side_name(unit.side)} {arm}{formed.get(formation, f' in {formation}')}"


def _hidden(unit: UnitOnField) -> tuple[str, ...]:
    held = sum(base.seen == "held" for base in unit.unit.bases)
    if not held:
        return ()
    return (f"{unit.id}: {held} of {len(unit.bases)} bases are hidden; their last place counts",)
