"""Rulings of a miniatures rulebook on units as they lie, without a game."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules.measuring import Measures
from tablecam.rules.miniatures.placement import placement_warnings
from tablecam.rules.reports import Finding, Question, Section
from tablecam.table.model import Position, Unit
from tablecam.uncertainty.answer import certain


class BattleBook(Measures):
    """A book's rulings on a unit or on two enemies, besides ranges and contact.

    Between friends, and if a unit lacks a key, it answers only what can be measured.
    """

    source = "book"

    @abstractmethod
    def read(self, position: Position) -> None:
        """Reads the keys that rulings need.

        Raises:
            BadInput: One is missing or wrong.
        """

    @abstractmethod
    def ruled(self, position: Position, *units: Unit) -> Iterable[Section]:
        """Returns the sections on a unit, or on two enemies."""

    def sections(self, handle: object, *units: str) -> Sequence[Section]:
        """Returns the book's sections, and those of measurements."""
        measured, position = super().sections(handle, *units), self.ruled_position(handle)
        named = [unit for name in units if (unit := position.unit(name)) is not None]
        are_friends = len({unit.side for unit in named}) < len(named)
        if are_friends or self._lacking(position):
            return measured
        return [*self.ruled(position, *named), *measured]

    def warnings(self, handle: object, *units: str) -> tuple[str, ...]:
        """Returns why the book does not rule on a table, and which units lie impossibly."""
        position = self.ruled_position(handle)
        return (*self._lacking(position), *placement_warnings(position, *units))

    def _lacking(self, position: Position) -> tuple[str, ...]:
        try:
            self.read(position)
        except BadInput as error:
            return (f"No rulings by the {self.source}: {error}",)
        return ()


def refused(asked: Question, rule: str, why: str, shapes: tuple[Shape, ...] = ()) -> Finding:
    """Returns the line that answers a question with no."""
    return Finding(why, certain("no", rule, why, shapes), question=asked)


def possible(lines: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns the lines whose answer is not no."""
    return tuple(line for line in lines if line.answer and line.answer.answer != "no")
