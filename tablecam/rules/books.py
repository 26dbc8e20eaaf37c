"""Finds what a game's rulebook can be asked, wherever its package lies; no game is named here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from tablecam.geometry.shapes import Shape
from tablecam.rules.found import brought
from tablecam.rules.sheets import Line, Sheet
from tablecam.table.model import Position
from tablecam.uncertainty.lengths import Length


@dataclass(frozen=True, slots=True)
class LengthByRule:
    """A length between two things as a rulebook takes it: along `path`, between which ends."""

    length: Length
    path: Shape
    rule: str
    because: str


class Book(Protocol):
    """What a rulebook answers about a position; its handles are its own and are only passed on."""

    @property
    def game(self) -> str:
        """The game as documents name it."""

    def rulings(self, position: Position, active: str, before: object | None = None) -> object:
        """A handle on all that holds in a position when it is a side's round.

        Units that cannot be ruled on as they lie are left out, and the sheets warn of them.
        `before` is a handle on an earlier position of the same table: what must be the same is
        taken over.

        Raises:
            BadInput: Nothing can be ruled on at all, such as terrain of an unknown kind.
        """

    def ruled_position(self, handle: object) -> Position:
        """The position as it was ruled on, without the units that were left out."""

    def unit_sheet(self, handle: object, unit: str) -> Sheet:
        """All that holds for a unit; of one that was left out only why.

        Raises:
            BadInput: There is no such unit on the table.
        """

    def pair_sheet(self, handle: object, a: str, b: str) -> Sheet:
        """All that holds between two units.

        Raises:
            BadInput: They are not two units on the table.
        """

    def answer(self, handle: object, question: str) -> Line:
        """The line of a sheet that answers a question, by the question's id.

        Raises:
            BadInput: There is no such question now.
        """

    def length_to_unit(self, position: Position, commander: str, unit: str) -> LengthByRule | None:
        """The length from a commander to a unit as a rule takes it.

        None where no rule speaks of the two, or no way that the rule allows leads there.
        """


@cache
def book_of(game: str) -> Book | None:
    """The rulebook of a game; None where tablecam has none.

    A package of `tablecam.rules` brings one as `BOOK` in its module `book`.
    """
    books: Iterator[Book] = brought("book", "BOOK")
    return next((book for book in books if book.game == game), None)
