"""Maurice Lite's answers about a position, for callers that do not know the game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tablecam.errors import BadInput
from tablecam.rules.books import LengthByRule
from tablecam.rules.maurice.field.field import GAME, field_of, updated_field
from tablecam.rules.maurice.field.ruled_units import units_fit_for_rulings
from tablecam.rules.maurice.place.command_string import RULE, command_string
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.sheets import sheets
from tablecam.rules.reports import Finding, UnitReport
from tablecam.table.model import Position
from tablecam.uncertainty.lengths import Length
from tablecam.wording import nearest, quoted


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
