"""Sheets of a unit and of a pair: all sections in display order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.rulings.facts import NOT_KNOWN, Rulings, attempt
from tablecam.rules.maurice.sheets.combat import (
    charge_section,
    cover_section,
    engaged_section,
    pair_charge_section,
    pair_engaged_section,
)
from tablecam.rules.maurice.sheets.fire import fire_section, lines_of_bases, pair_fire_section
from tablecam.rules.maurice.sheets.lines import Part, plain_line
from tablecam.rules.maurice.sheets.place import (
    contact_section,
    contacts_section,
    flank_section,
    flanks_section,
    force_section,
    movement_section,
    near_section,
    pair_force_section,
    range_section,
    span_section,
)
from tablecam.rules.reports import Finding, Section, UnitReport
from tablecam.table.sides import side_name
from tablecam.wording import joined

Maker = Callable[..., Iterator[Part]]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of question: its section's title, and what makes it for a unit and for a pair.

    Of friends a pair's section only says that they are on the same side, by the rule `of_enemies`,
    unless that is None.
    """

    title: str
    of_unit: Maker | None = None
    of_pair: Maker | None = None
    of_enemies: str | None = None
    among_friends: str = ""


KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        "range": _Kind("Range", None, range_section),
        "near": _Kind("Near the enemy", near_section),
        "contact": _Kind("Contact", contacts_section, contact_section),
        "flank": _Kind(
            "Flanks", flanks_section, flank_section, "M-1.13", ": friends never flank each other"
        ),
        "fire": _Kind("Fire", fire_section, pair_fire_section, "M-7.13"),
        "charge": _Kind("Charge", charge_section, pair_charge_section, "M-8.1"),
        "engaged": _Kind("Engaged", engaged_section, pair_engaged_section, ""),
        "cover": _Kind("Cover in combat", None, cover_section, ""),
        "movement": _Kind("Movement", movement_section),
        "force": _Kind("Force", force_section, pair_force_section),
        "span": _Kind("Span from the CinC", span_section),
    }
)
"""The kinds of questions, in display order; each question id begins with one."""


def unit_sheet(rulings: Rulings, unit_id: str) -> UnitReport:
    """Returns all rulings on a unit."""
    unit = rulings.field.by_id[unit_id]
    return UnitReport(
        _title(unit),
        tuple(section(rulings, kind, unit) for kind in KINDS if KINDS[kind].of_unit),
        _hidden(unit),
    )


def pair_sheet(rulings: Rulings, a_id: str, b_id: str) -> UnitReport:
    """Returns all rulings between two units, the first one's view first."""
    a, b = rulings.field.by_id[a_id], rulings.field.by_id[b_id]
    sections = tuple(section(rulings, kind, a, b) for kind in KINDS if KINDS[kind].of_pair)
    return UnitReport(f"{_title(a)}, and {_title(b)}", sections, (*_hidden(a), *_hidden(b)))


def section(rulings: Rulings, kind: str, *units: UnitOnField) -> Section:
    """Returns a section, or one line that says so if an internal error prevents it."""
    names, title = [unit.id for unit in units], KINDS[kind].title
    key = "near_enemy" if kind == "near" else kind
    text = f"the answer for {joined(names)} is {NOT_KNOWN}"
    unknown: tuple[Part, ...] = (plain_line(text),)
    parts = attempt("/".join((kind, *names)), lambda: tuple(_parts(rulings, kind, units)), unknown)
    if rulings.not_known & {kind, *(f"{kind}/{name}" for name in names)}:
        parts = unknown
    lines = tuple(part for part in parts if isinstance(part, Finding))
    return Section(key, title, lines, tuple(part for part in parts if isinstance(part, Shape)))


def _parts(rulings: Rulings, kind: str, units: Sequence[UnitOnField]) -> Iterator[Part]:
    """Yields the lines and shapes of a section on one unit or two."""
    about, is_pair = KINDS[kind], len(units) > 1
    if is_pair and about.of_enemies is not None and units[0].side == units[1].side:
        same = f"{units[0].id} and {units[1].id} are on the same side"
        yield plain_line(same + about.among_friends, about.of_enemies or None)
    elif (make := about.of_pair if is_pair else about.of_unit) is not None:
        yield from make(rulings, *units)


def lines_about(rulings: Rulings, question: str) -> Iterator[Finding]:
    """Yields the lines that may answer a question, from the sections of its kind."""
    kind, *parts = question.split("/")
    units = rulings.field.by_id
    named = [units[part] for part in dict.fromkeys(parts) if part in units]
    if kind not in KINDS:
        return
    if len(named) > 1:
        yield from section(rulings, kind, named[0], named[-1]).lines
    for unit in named:
        yield from section(rulings, kind, unit).lines
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
