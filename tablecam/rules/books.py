"""The interface of a rulebook that rules on positions, and the lookup of a game's rulebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from tablecam.documents import Document
from tablecam.geometry.shapes import Shape, TableDrawing
from tablecam.rules.discovery import discover
from tablecam.rules.reports import Finding, TextTable, UnitReport
from tablecam.table.model import Position
from tablecam.uncertainty.lengths import Length

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LengthByRule:
    """A length between two things as a rulebook measures it, with the path it runs along."""

    length: Length
    path: Shape
    rule: str
    because: str


@dataclass(frozen=True, slots=True)
class RulingsQuery:
    """What `tablecam rulings` asks: of some `units`, or of a pair, or of everything.

    With a `rule`, only what a rule or a chapter answers.
    """

    active: str
    units: tuple[str, ...] = ()
    pair: tuple[str, str] | None = None
    rule: str | None = None


class PrintedRulings(Protocol):
    """The answers to a query, each worked out when it is asked for."""

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


class Book(Protocol):
    """A rulebook that answers questions about positions; its handles are opaque to callers."""

    @property
    def game(self) -> str:
        """The name of the game in documents."""

    def rulings(self, position: Position, active: str, before: object | None = None) -> object:
        """Returns a handle on all rulings in a position in a side's round.

        Units that cannot be ruled on as they lie are left out, and the sheets warn of them.
        `before` is a handle on an earlier position of the same table, whose unchanged results are
        reused.

        Raises:
            BadInput: No ruling is possible, as with terrain of an unknown kind.
        """

    def ruled_position(self, handle: object) -> Position:
        """Returns the position without the units that were left out."""

    def unit_sheet(self, handle: object, unit: str) -> UnitReport:
        """Returns all rulings on a unit; for one that was left out, only the reason.

        Raises:
            BadInput: No such unit is on the table.
        """

    def pair_sheet(self, handle: object, a: str, b: str) -> UnitReport:
        """Returns all rulings between two units.

        Raises:
            BadInput: `a` and `b` are not two units on the table.
        """

    def answer(self, handle: object, question: str) -> Finding:
        """Returns the line of a sheet that answers a question, by the question's id.

        Raises:
            BadInput: No such question applies now.
        """

    def print_rulings(self, position: Position, query: RulingsQuery, source: str) -> PrintedRulings:
        """Returns the answers to a query about a position, which errors call `source`.

        Raises:
            BadInput: The position is not fit for rulings, or the query names what is not there.
        """

    def resolve(self, position: Position, request: Document, source: str) -> Resolution:
        """Resolves an event with given dice.

        Raises:
            BadInput: The request is not allowed, or the dice do not match it.
        """

    def length_to_unit(self, position: Position, commander: str, unit: str) -> LengthByRule | None:
        """Returns the length from a commander to a unit as the rules measure it.

        None if no rule concerns the two, or no permitted path connects them.
        """


# Cached, as discovery imports all rule systems.
@cache
def book_of(game: str) -> Book | None:
    """Returns the rulebook of a game, None if there is none.

    A package of `tablecam.rules` provides it as `BOOK` in its module `book`.
    """
    books: Iterator[Book] = discover("book", "BOOK")
    return next((book for book in books if book.game == game), None)
