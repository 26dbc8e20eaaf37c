"""Sheets of a unit and of a pair: all sections in display order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.rulings.facts import NOT_KNOWN, Rulings, attempt
from tablecam.rules.maurice.sheets.charge import charge_section, pair_charge_section
from tablecam.rules.maurice.sheets.combat import (
    cover_section,
    engaged_section,
    pair_engaged_section,
)
from tablecam.rules.maurice.sheets.fire import fire_section, lines_of_bases, pair_fire_section
from tablecam.rules.maurice.sheets.lines import plain_line
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
from tablecam.rules.reports import Finding, Section, UnitReport
from tablecam.table.sides import side_name
from tablecam.wording import joined

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
"""Section builders by kind of question, in display order."""

KINDS: Final = tuple(dict.fromkeys((*_OF_UNIT, *_OF_PAIR)))
"""The kinds of questions; each question id begins with one."""


def unit_sheet(rulings: Rulings, unit_id: str) -> UnitReport:
    """Returns all rulings on a unit."""
    unit = rulings.field.by_id[unit_id]
    return UnitReport(
        _title(unit),
        tuple(_section(rulings, kind, make, unit) for kind, make in _OF_UNIT.items()),
        _hidden(unit),
    )


def pair_sheet(rulings: Rulings, a_id: str, b_id: str) -> UnitReport:
    """Returns all rulings between two units, the first one's view first."""
    a, b = rulings.field.by_id[a_id], rulings.field.by_id[b_id]
    sections = tuple(_section(rulings, kind, make, a, b) for kind, make in _OF_PAIR.items())
    return UnitReport(f"{_title(a)}, and {_title(b)}", sections, (*_hidden(a), *_hidden(b)))


def _section(
    rulings: Rulings, kind: str, make: Callable[..., Section], *units: UnitOnField
) -> Section:
    """Returns a section, or one line that says so if an internal error prevents it."""
    names = [unit.id for unit in units]
    text = f"the answer for {joined(names)} is {NOT_KNOWN}"
    key = "near_enemy" if kind == "near" else kind
    unknown = Section(key, kind.capitalize(), (plain_line(text),))
    section = attempt("/".join((kind, *names)), lambda: make(rulings, *units), unknown)
    is_lost = rulings.not_known & {kind, *(f"{kind}/{name}" for name in names)}
    return unknown if is_lost else section


def lines_about(rulings: Rulings, question: str) -> Iterator[Finding]:
    """Yields the lines that may answer a question, from the sections of its kind."""
    kind, *parts = question.split("/")
    units = rulings.field.by_id
    named = [units[part] for part in dict.fromkeys(parts) if part in units]
    if len(named) > 1 and kind in _OF_PAIR:
        yield from _section(rulings, kind, _OF_PAIR[kind], named[0], named[-1]).lines
    for unit in named if kind in _OF_UNIT else ():
        yield from _section(rulings, kind, _OF_UNIT[kind], unit).lines
    if kind == "fire" and named:
        none: tuple[Finding, ...] = ()
        yield from attempt(question, lambda: tuple(lines_of_bases(rulings, *named[:2])), none)


def question_like(rulings: Rulings, question: str) -> str | None:
    """Returns the question most similar to an unknown one, or None if its kind is unknown."""
    kind, *parts = question.split("/")
    units = rulings.field.by_id
    if kind not in KINDS or not units:
        return None
    close_matches = [match for part in parts for match in get_close_matches(part, units, n=1)]
    # Exact ids of two units win over similar ones.
    exact = [part for part in parts if part in units]
    named = (exact if len(exact) > 1 else close_matches) or [next(iter(units))]
    others = [enemy.id for enemy in rulings.field.enemies_of(units[named[0]])]
    asked = "/".join((kind, named[0], *(named[1:] or others[:1])))
    ids = [line.question.id for line in lines_about(rulings, asked) if line.question is not None]
    return next(iter(get_close_matches(question, ids, n=1, cutoff=0.0)), None)


def _title(unit: UnitOnField) -> str:
    arm, formation = unit.unit.arm, unit.formation
    formed = {"artillery": "", "massed": ", massed", "broken-up": ", formation unclear"}
    return f"{unit.id}: {side_name(unit.side)} {arm}{formed.get(formation, f' in {formation}')}"


def _hidden(unit: UnitOnField) -> tuple[str, ...]:
    """Returns a warning if some bases are hidden and their last pose counts."""
    hidden_count = sum(base.seen == "held" for base in unit.unit.bases)
    if not hidden_count:
        return ()
    return (
        f"{unit.id}: {hidden_count} of {len(unit.bases)} bases are hidden; "
        "their last known pose counts",
    )
