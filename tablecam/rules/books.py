"""The interface of a rulebook that rules on positions, and the lookup of a game's rulebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from tablecam.geometry.shapes import Shape
from tablecam.rules.discovery import discover
from tablecam.rules.reports import Finding, UnitReport
from tablecam.table.model import Position
from tablecam.uncertainty.lengths import Length


@dataclass(frozen=True, slots=True)
class LengthByRule:
    """A length between two things as a rulebook measures it, with the path it runs along."""

    length: Length
    path: Shape
    rule: str
    because: str


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
