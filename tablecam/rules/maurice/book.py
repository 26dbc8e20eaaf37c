"""Maurice Lite's answers about a position, for callers that do not know the game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tablecam.documents import Document
from tablecam.errors import BadInput
from tablecam.geometry.shapes import TableDrawing
from tablecam.rules.books import LengthByRule, Resolution, RulingsQuery
from tablecam.rules.maurice.field.field import GAME, Field, field_of, updated_field
from tablecam.rules.maurice.field.placement import units_fit_for_rulings
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.place.command_string import RULE, command_string
from tablecam.rules.maurice.resolve.resolve import report, resolve
from tablecam.rules.maurice.rulings.drawing import rulings_drawing
from tablecam.rules.maurice.rulings.facts import Rulings, sides
from tablecam.rules.maurice.rulings.rulings import (
    RULES,
    document_under_rule,
    keys_under,
    pair_document,
    rulings_document,
)
from tablecam.rules.maurice.rulings.text import rulings_notes, rulings_tables
from tablecam.rules.maurice.sheets import sheets
from tablecam.rules.reports import Finding, TextTable, UnitReport
from tablecam.table.model import Position
from tablecam.uncertainty.lengths import Length
from tablecam.wording import nearest, quoted

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """The rulings on a position, and why some units were left out, by unit id."""

    rulings: Rulings
    left_out: Mapping[str, str]


class MauriceBook:
    """Maurice Lite as `tablecam.rules.books.Book`."""

    game: Final = GAME

    def rulings(self, position: Position, active: str, before: object | None = None) -> Handle:
        """Returns a handle on all rulings on units that are whole.

        `before` is the handle of an earlier position: rulings on units around which nothing has
        changed since are remembered.

        Raises:
            BadInput: The terrain is of an unknown kind, or a unit's state is invalid.
        """
        whole, left_out = units_fit_for_rulings(position)
        if isinstance(before, Handle):
            field = updated_field(before.rulings.field, whole, "table")
            return Handle(Rulings(field, active), left_out)
        return Handle(Rulings(field_of(whole, "table"), active), left_out)

    def ruled_position(self, handle: object) -> Position:
        """Returns the position that the rulings are about."""
        return _handle(handle).rulings.field.position

    def unit_sheet(self, handle: object, unit: str) -> UnitReport:
        """Returns the sheet of a unit; if it was left out, only why."""
        ruled = _handle(handle)
        _check(ruled, unit)
        if unit in ruled.left_out:
            return UnitReport(unit, (), (ruled.left_out[unit],))
        return _warned(ruled, sheets.unit_sheet(ruled.rulings, unit), unit)

    def pair_sheet(self, handle: object, a: str, b: str) -> UnitReport:
        """Returns the sheet of two units; if one was left out, only why."""
        ruled = _handle(handle)
        if a == b:
            raise BadInput("rulings", f"expected two units, got {a} twice")
        for unit in (a, b):
            _check(ruled, unit)
        reasons = tuple(ruled.left_out[unit] for unit in (a, b) if unit in ruled.left_out)
        if reasons:
            return UnitReport(f"{a} and {b}", (), reasons)
        return _warned(ruled, sheets.pair_sheet(ruled.rulings, a, b), a, b)

    def length_to_unit(self, position: Position, commander: str, unit: str) -> LengthByRule | None:
        """Returns the path from a commander to a unit of its side (M-4.12)."""
        field = field_of(units_fit_for_rulings(position)[0], "table")
        leaders = {leader.id: leader for leader in position.commanders}
        if unit not in field.by_id or field.by_id[unit].side != leaders[commander].side:
            return None
        reached = command_string(field, leaders[commander], [unit])
        if reached is None:
            return None
        ends = reached.path.points_mm
        length = Length(reached.length_mm, reached.sigma_mm, ends[0], ends[-1])
        because = f"{reached.because}, from the edge of the marker to the nearest point it reaches"
        return LengthByRule(length, reached.path, RULE, because)

    def answer(self, handle: object, question: str) -> Finding:
        """Returns the line that answers a question, from any section.

        Raises:
            BadInput: No section asks this question now.
        """
        rulings = _handle(handle).rulings
        for line in sheets.lines_about(rulings, question):
            if line.question is not None and line.question.id == question:
                return line
        similar = sheets.question_like(rulings, question)
        kinds = f", which begins with one of {', '.join(sheets.KINDS)}"
        example = kinds if similar is None else f", such as {similar}"
        message = f"expected the id of a question on the page{example}, got {quoted(question)}"
        raise BadInput("question", message)

    def print_rulings(self, position: Position, query: RulingsQuery, source: str) -> Printed:
        """Returns the answers to a query, for `tablecam rulings`.

        Raises:
            BadInput: The position is not fit for rulings, or the query names what is not there.
        """
        field = field_of(position, source)
        _check_query(field, query)
        about = query.pair or query.units
        everything = Rulings(field, query.active)
        narrowed = (
            Rulings(field, query.active, about, query.pair is not None) if about else everything
        )
        return Printed(everything, narrowed, query)

    def resolve(self, position: Position, request: Document, source: str) -> Resolution:
        """Resolves a volley, a bombardment, a combat or a rally with given dice.

        Raises:
            BadInput: The request is not allowed, or the dice do not match it.
        """
        field = field_of(position, source)
        document = resolve(field, request_of(request, field))
        return Resolution(document, tuple(report(document)), field.warnings)


@dataclass(frozen=True, slots=True)
class Printed:
    """The answers to a query as `tablecam.rules.books.PrintedRulings`."""

    everything: Rulings
    narrowed: Rulings
    query: RulingsQuery

    @property
    def document(self) -> Json:
        """The rulings document, with a pair's answers."""
        pair, rule = self.query.pair, self.query.rule
        document = (
            rulings_document(self.narrowed) if pair is None else pair_document(self.narrowed, *pair)
        )
        return document if rule is None else document_under_rule(rule, document)

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """The tables of all rulings."""
        return () if self.reports else rulings_tables(self.narrowed, rule=self.query.rule)

    @property
    def reports(self) -> tuple[UnitReport, ...]:
        """The sheets of the units or the pair, under one rule its findings alone."""
        if self.query.pair is not None:
            return (sheets.pair_sheet(self.everything, *self.query.pair),)
        return tuple(sheets.unit_sheet(self.everything, unit) for unit in self.query.units)

    @property
    def notes(self) -> tuple[str, ...]:
        """Close calls, interpretations that decide, and warnings."""
        if self.reports:
            return tuple(f"warning: {text}" for text in self.everything.field.warnings)
        return rulings_notes(self.narrowed, rule=self.query.rule)

    @property
    def drawing(self) -> TableDrawing:
        """The table with the evidence."""
        return rulings_drawing(self.narrowed, rule=self.query.rule)


def _check_query(field: Field, query: RulingsQuery) -> None:
    _check_named("--active", query.active, sides(field), "side")
    for option, ids in (("--unit", query.units), ("--pair", query.pair or ())):
        for unit in ids:
            _check_named(option, unit, field.by_id, "unit")
    if query.rule is not None and not keys_under(query.rule):
        known = ", ".join(dict.fromkeys(rule for rules in RULES.values() for rule in rules))
        message = f"expected one of {known}, or a chapter such as M-7, got {query.rule}"
        raise BadInput("--rule", message)


def _check_named(option: str, name: str, known: Iterable[str], kind: str) -> None:
    names = list(known)
    if name not in names:
        message = f"there is no {kind} {quoted(name)} on the table{nearest(name, names)}"
        raise BadInput(option, message)


def _check(ruled: Handle, unit: str) -> None:
    units = [*ruled.rulings.field.by_id, *ruled.left_out]
    if unit not in units:
        message = f"there is no unit {quoted(unit)} on the table{nearest(unit, units)}"
        raise BadInput("rulings", message)


def _warned(ruled: Handle, sheet: UnitReport, *units: str) -> UnitReport:
    """Returns a sheet with warnings about its units, their commanders, and units left out."""
    field = ruled.rulings.field
    sides = {field.by_id[unit].side for unit in units}
    leaders = {leader.id for leader in field.position.commanders if leader.side in sides}
    oddities = [
        oddity.sentence for oddity in field.oddities if oddity.concerned_ids & {*units, *leaders}
    ]
    return replace(sheet, warnings=(*sheet.warnings, *oddities, *ruled.left_out.values()))


def _handle(handle: object) -> Handle:
    if not isinstance(handle, Handle):
        raise TypeError(f"expected a handle of this book's, got {handle!r}")
    return handle


BOOK: Final = MauriceBook()
