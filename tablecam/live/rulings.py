"""Rules on the newest position, on demand; reuses rulings that a move cannot change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from tablecam.errors import BadInput
from tablecam.rules.books import Book, book_of
from tablecam.rules.measuring import Measures
from tablecam.rules.reports import Finding, Part, Section, UnitReport
from tablecam.table.model import Position
from tablecam.table.motion import steadied
from tablecam.table.roster import Roster
from tablecam.table.rows import as_if_calibrated
from tablecam.uncertainty.answer import CERTAIN_SIGMAS, Answer
from tablecam.wording import nearest, quoted

Sheets = dict[tuple[str, ...], UnitReport]
"""The sheets asked for so far, by the unit or the two units that they are about."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ruled:
    """The rulings for one active side: the steadied position, the book's rulings, cached sheets.

    `state` is that of the game in progress, by which the book may rule.
    """

    position: Position
    state: object | None
    handle: object
    sheets: Sheets


class LiveRulings:
    """Rulings on a watched table. Thread-safe, one request at a time.

    `state` returns the state of the game in progress, None without one.
    """

    def __init__(self, roster: Roster, state: Callable[[], object | None] = lambda: None) -> None:
        self._roster = roster
        self._state = state
        self._book = book_of(roster.game) or Measures(roster.game)
        self._turn = threading.Lock()
        self._ruled: dict[str, _Ruled] = {}
        self._steady: Position | None = None

    @property
    def has_rules(self) -> bool:
        """Whether there is a rulebook for this table's game."""
        return book_of(self._roster.game) is not None

    def unit_sheet(
        self, position: Position, unit: str, active: str, only: Collection[str] | None = None
    ) -> UnitReport:
        """Reports on one unit in a side's round; with `only`, on the sections with those keys.

        Raises:
            BadInput: There is no such unit, side or rulebook.
        """
        return self._report(position, active, only, unit)

    def pair_sheet(
        self, position: Position, a: str, b: str, active: str, only: Collection[str] | None = None
    ) -> UnitReport:
        """Reports on two units in a side's round, like `unit_sheet`.

        Raises:
            BadInput: As for `unit_sheet`.
        """
        return self._report(position, active, only, a, b)

    def _report(
        self, position: Position, active: str, only: Collection[str] | None, *units: str
    ) -> UnitReport:
        for unit in units:
            self._check_unit(unit)
        with self._turn:
            book, handle, known = self._handle(position, active)
            if units not in known:
                ask: Callable[..., UnitReport] = (
                    book.unit_sheet if len(units) == 1 else book.pair_sheet
                )
                report = ask(handle, *units)
                if len(units) == 2:
                    report = self._with_hints(report, book.ruled_position(handle), active, *units)
                known[units] = report
            # Computed under the lock, and cached.
            for section in known[units].sections:
                if only is None or section.key in only:
                    _ = section.lines
            return known[units]

    def _with_hints(
        self, report: UnitReport, position: Position, active: str, a: str, b: str
    ) -> UnitReport:
        """Says at each close call of two units whether calibrating their bases would decide it.

        It asks the same questions of a table on which those bases were pushed into the jig.
        """
        pair = tuple(unit for unit in position.units if unit.id in (a, b))
        calibrated = {
            unit.id: replace(unit, bases=tuple(map(as_if_calibrated, unit.bases))) for unit in pair
        }
        if all(calibrated[unit.id] == unit for unit in pair):
            return report
        units = tuple(calibrated.get(unit.id, unit) for unit in position.units)

        @cache
        def known() -> Mapping[str, Answer]:
            handle = self._book.rulings(replace(position, units=units), active)
            lines = self._book.pair_sheet(handle, a, b).lines
            return {
                line.question.id: line.answer for line in lines if line.question and line.answer
            }

        def hinted(section: Section) -> Iterator[Part]:
            yield from section.shapes
            for line in section.lines:
                is_close = line.answer is not None and line.answer.answer == "too_close"
                then = known().get(line.question.id) if is_close and line.question else None
                if line.answer is None or then is None or then.answer == "too_close":
                    yield line
                else:
                    hint = f"{_how_close(line.answer)}: calibrating the bases of {a} and {b}"
                    yield replace(line, text=f"{line.text.rstrip('.')}; {hint} would decide it")

        sections = tuple(
            replace(section, work=partial(hinted, section)) for section in report.sections
        )
        return replace(report, sections=sections)

    def answer(self, position: Position, question: str, active: str) -> tuple[Finding, Position]:
        """Returns the line that answers a question, and the position it was ruled on.

        Raises:
            BadInput: There is no such question now, side or rulebook.
        """
        with self._turn:
            book, handle, _ = self._handle(position, active)
            return book.answer(handle, question), book.ruled_position(handle)

    def _handle(self, position: Position, active: str) -> tuple[Book, object, Sheets]:
        self._check_side(active)
        # A base within its sigma keeps its old place: noise changes no ruling, and only rulings on
        # bases that really moved are computed again.
        self._steady = steadied(position, self._steady)
        # Each side's round has rulings of its own.
        ruled, state = self._ruled.get(active), self._state()
        if ruled is None or ruled.position != self._steady or ruled.state is not state:
            handle = self._book.rulings(self._steady, active)
            if state is not None:
                handle = self._book.in_game(handle, state)
            ruled = self._ruled[active] = _Ruled(self._steady, state, handle, {})
        return self._book, ruled.handle, ruled.sheets

    def _check_side(self, active: str) -> None:
        named = [entry.side for entry in self._roster.units]
        named += [entry.side for entry in self._roster.commanders]
        sides = list(dict.fromkeys(named))
        if active not in sides:
            expected = f"expected one of {', '.join(sides)}"
            raise BadInput("request", f"{expected}, got {quoted(active)}", key="active")

    def _check_unit(self, unit: str) -> None:
        ids = [entry.id for entry in self._roster.units]
        if unit not in ids:
            message = f"there is no unit {quoted(unit)} in the table file{nearest(unit, ids)}"
            raise BadInput("rulings", message)


def _how_close(answer: Answer) -> str:
    """Says how far a margin is from being decisive."""
    by_mm = CERTAIN_SIGMAS * answer.sigma_mm - abs(answer.margin_mm)
    return f"too close by {by_mm:.1f} mm" if by_mm >= 0.05 else "only just too close"
