"""The interface of a rulebook that rules on positions, and the lookup of a game's rulebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from tablecam.documents import Document, Json
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape, TableDrawing
from tablecam.rules.discovery import discover
from tablecam.rules.reports import Finding, Section, TextTable, UnitReport
from tablecam.table.model import Position
from tablecam.uncertainty.lengths import Length
from tablecam.wording import nearest, quoted


@dataclass(frozen=True, slots=True)
class LengthByRule:
    """A length between two things as a rulebook measures it, and the path along which it runs."""

    length: Length
    path: Shape
    rule: str
    because: str


@dataclass(frozen=True, slots=True)
class RulingsQuery:
    """What `tablecam rulings` asks: about some `units`, a pair, or everything.

    With a `rule`, only what that rule or chapter answers.
    """

    active: str
    units: tuple[str, ...] = ()
    pair: tuple[str, str] | None = None
    rule: str | None = None


class PrintedRulings(Protocol):
    """The answers to a query, each worked out on demand."""

    @property
    def document(self) -> Json:
        """The rulings as JSON."""

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """The rulings as tables; none if some units are asked about."""

    @property
    def reports(self) -> tuple[UnitReport, ...]:
        """What the page says of the units or the pair."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines below the tables or reports: close calls, interpretations, warnings."""

    @property
    def drawing(self) -> TableDrawing:
        """The table with the evidence."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What dice decided: a document, lines for a terminal, and warnings about the position."""

    document: Json
    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Book(ABC):
    """A rulebook that answers questions about positions; its handles are opaque to callers.

    Reports consist of sections, each worked out on demand.
    """

    @property
    @abstractmethod
    def game(self) -> str:
        """The name of the game in documents."""

    @abstractmethod
    def rulings(self, position: Position, active: str) -> object:
        """Returns a handle on all rulings in a position, in the round of side `active`.

        Units that cannot be ruled on as they lie are left out, with a warning on their sheets.

        Raises:
            BadInput: No ruling is possible, for instance because of an unknown kind of terrain.
        """

    def in_game(self, handle: object, state: Any) -> object:
        """Returns a handle whose rulings also use the state of the game in progress.

        It uses only what every seat may know. By default only the table counts.
        """
        return handle

    @abstractmethod
    def ruled_position(self, handle: object) -> Position:
        """Returns the position without the units that were left out."""

    def left_out(self, handle: object) -> Mapping[str, str]:
        """Returns why some units were left out, by unit id."""
        return MappingProxyType({})

    @abstractmethod
    def sections(self, handle: object, *units: str) -> Sequence[Section]:
        """Returns the sections of a report on a unit or on a pair of units, in display order."""

    def title(self, handle: object, *units: str) -> str:
        """Returns the title of a report."""
        return " and ".join(units)

    def warnings(self, handle: object, *units: str) -> tuple[str, ...]:
        """Returns the warnings of a report."""
        return ()

    def unit_sheet(self, handle: object, unit: str) -> UnitReport:
        """Returns all rulings on a unit; for one that was left out, only the reason.

        Raises:
            BadInput: No such unit is on the table.
        """
        return self._report(handle, unit)

    def pair_sheet(self, handle: object, a: str, b: str) -> UnitReport:
        """Returns all rulings between two units, the first one's view first.

        Raises:
            BadInput: `a` and `b` are not two units on the table.
        """
        if a == b:
            raise BadInput("rulings", f"expected two units, got {a} twice")
        return self._report(handle, a, b)

    def _report(self, handle: object, *units: str) -> UnitReport:
        left_out = self.left_out(handle)
        known = [*self._ids(handle), *left_out]
        for unit in units:
            if unit not in known:
                message = f"there is no unit {quoted(unit)} on the table{nearest(unit, known)}"
                raise BadInput("rulings", message)
        if reasons := tuple(left_out[unit] for unit in units if unit in left_out):
            return UnitReport(" and ".join(units), (), reasons)
        sections = tuple(self.sections(handle, *units))
        return UnitReport(self.title(handle, *units), sections, self.warnings(handle, *units))

    def _ids(self, handle: object) -> list[str]:
        return [unit.id for unit in self.ruled_position(handle).units if unit.bases]

    def answer(self, handle: object, question: str) -> Finding:
        """Returns the line of a report that answers a question, by the question's id.

        Raises:
            BadInput: No such question applies now.
        """
        lines = self.lines_about(handle, question)
        for line in lines:
            if line.question is not None and line.question.id == question:
                return line
        such = self._nearest_question(handle, question)
        message = f"expected the id of a question on the page{such}, got {quoted(question)}"
        raise BadInput("question", message)

    def lines_about(self, handle: object, question: str) -> Iterator[Finding]:
        """Yields the lines that may answer a question, from the reports on the units it names."""
        ids = self._ids(handle)
        named = [part for part in dict.fromkeys(question.split("/")[1:]) if part in ids]
        pairs = [(named[0], named[-1])] if len(named) > 1 else []
        for units in (*pairs, *((unit,) for unit in named)):
            for section in self.sections(handle, *units):
                if section.answers(question):
                    yield from section.lines

    def _nearest_question(self, handle: object, question: str) -> str:
        """Returns the question most similar to an unknown one, or how questions begin."""
        kind, *parts = question.split("/")
        ids = self._ids(handle)
        if not ids:
            return ""
        # Exact ids of two units win over similar ones.
        exact = [part for part in parts if part in ids]
        close = [match for part in parts for match in get_close_matches(part, ids, n=1)]
        named = (exact if len(exact) > 1 else close) or ids[:1]
        others = [unit for unit in ids if unit not in named]
        for asked in (named, *([*named, other] for other in others)):
            lines = self.lines_about(handle, "/".join((kind, *asked)))
            questions = [line.question.id for line in lines if line.question is not None]
            if similar := get_close_matches(question, questions, n=1, cutoff=0.0):
                return f", such as {similar[0]}"
        sections = [*self.sections(handle, *ids[:1]), *self.sections(handle, *ids[:2])]
        kinds = dict.fromkeys(section.kind or section.key for section in sections)
        return f", which begins with one of {', '.join(kinds)}"

    def print_rulings(self, position: Position, query: RulingsQuery, source: str) -> PrintedRulings:
        """Returns the answers to a query about a position, which errors call `source`.

        Raises:
            BadInput: The position is unfit, the query names what is not there, or the game has no
                rulings on a position alone.
        """
        raise self._unanswered(source)

    def resolve(self, position: Position, request: Document, source: str) -> Resolution:
        """Resolves an event with given dice.

        Raises:
            BadInput: The request is not allowed, the dice do not match it, or the book has none.
        """
        raise self._unanswered(source)

    def _unanswered(self, source: str) -> BadInput:
        hint = f"`tablecam rule {self.game} --list` shows what it answers"
        return BadInput(
            source, f"{self.game} has no rulings on a position alone; {hint}", key="game"
        )

    def length_to_unit(self, position: Position, commander: str, unit: str) -> LengthByRule | None:
        """Returns the length from a commander to a unit as the rules measure it.

        None if no rule concerns the two, or no permitted path connects them.
        """
        return None


# Cached, as discovery imports all rule systems.
@cache
def book_of(game: str) -> Book | None:
    """Returns the rulebook of a game, None if there is none.

    A package of `tablecam.rules` provides it as `BOOK` in its module `book`.
    """
    books: Iterator[Book] = discover("book", "BOOK", game)
    return next((book for book in books if book.game == game), None)
