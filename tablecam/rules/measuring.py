"""What can be asked of any table: ranges, contact and sight, for games without a rulebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tablecam.documents import Document
from tablecam.errors import BadInput
from tablecam.rules.books import Book, LengthByRule, PrintedRulings, Resolution, RulingsQuery
from tablecam.rules.games import described
from tablecam.rules.reports import Finding, Question, Section, UnitReport
from tablecam.table.model import LengthUnit, Position, Unit
from tablecam.uncertainty.clear_line import line_of_sight
from tablecam.uncertainty.contact import contact
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within
from tablecam.wording import nearest, quoted


@dataclass(frozen=True, slots=True)
class Measures(Book):
    """Answers from lengths alone; its handles are positions."""

    name: str

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.name

    def rulings(self, position: Position, active: str, before: object | None = None) -> object:
        """Returns the position itself."""
        return position

    def ruled_position(self, handle: object) -> Position:
        """Returns the whole position."""
        assert isinstance(handle, Position)
        return handle

    def unit_sheet(self, handle: object, unit: str) -> UnitReport:
        """Returns how far a unit's enemies are, nearest first.

        Raises:
            BadInput: No such unit is on the table.
        """
        position = self.ruled_position(handle)
        own, length_unit = _unit(position, unit), self._length_unit(position)
        enemies = [
            (distance(own, enemy), enemy)
            for enemy in position.units
            if enemy.side != own.side and enemy.bases
        ]
        lines = []
        for length, enemy in sorted(enemies, key=lambda pair: pair[0].value_mm):
            sight = line_of_sight(position, own, enemy)
            hidden = "" if sight is None or sight.answer == "yes" else f"; {sight.because}"
            apart = length_unit.written(length.value_mm)
            lines.append(Finding(f"{enemy.id} is {apart} away{hidden}"))
        return UnitReport(unit, (Section("enemies", "Enemies", tuple(lines)),) if lines else ())

    def pair_sheet(self, handle: object, a: str, b: str) -> UnitReport:
        """Returns the range, contact and sight between two units.

        Raises:
            BadInput: `a` and `b` are not two units on the table.
        """
        position = self.ruled_position(handle)
        units = _unit(position, a), _unit(position, b)
        if a == b:
            raise BadInput(quoted(b), "expected another unit")
        ranges = tuple(self._ranges(position, *units))
        sections = (
            Section("range", "Range", ranges),
            Section("contact", "Contact", (self._contact(position, *units),)),
            Section("sight", "Line of sight", tuple(self._sight(position, *units))),
        )
        shown = tuple(section for section in sections if section.lines)
        return UnitReport(f"{a} and {b}", shown)

    def answer(self, handle: object, question: str) -> Finding:
        """Returns the line that answers a question: `range/6/F1/B1`, `contact/F1/B1`, ...

        Raises:
            BadInput: No such question applies now.
        """
        _, *_, a, b = ["", "", "", *question.split("/")]
        lines = self.pair_sheet(handle, a, b).lines
        asked = {line.question.id: line for line in lines if line.question is not None}
        if question not in asked:
            raise BadInput(quoted(question), "there is no such question now")
        return asked[question]

    def print_rulings(self, position: Position, query: RulingsQuery, source: str) -> PrintedRulings:
        """Refuses.

        Raises:
            BadInput: There is no rulebook.
        """
        raise BadInput(source, f"there is no rulebook of {self.name}", key="game")

    def resolve(self, position: Position, request: Document, source: str) -> Resolution:
        """Refuses.

        Raises:
            BadInput: There is no rulebook.
        """
        raise BadInput(source, f"there is no rulebook of {self.name}", key="game")

    def length_to_unit(self, position: Position, commander: str, unit: str) -> LengthByRule | None:
        """Returns None: no rule says otherwise than the shortest line."""
        return None

    def _length_unit(self, position: Position) -> LengthUnit:
        return described(self.name).length_unit(position.table)

    def _ranges(self, position: Position, a: Unit, b: Unit) -> Iterator[Finding]:
        length, unit = distance(a, b), self._length_unit(position)
        for limit in unit.ranges:
            answer = within(length, limit, position.table, unit=unit, a=a.id, b=b.id)
            words = f"Is {b.id} within {limit:g} {unit.symbol} of {a.id}?"
            asked = Question(f"range/{limit:g}/{a.id}/{b.id}", words)
            yield Finding(answer.because, answer, question=asked)

    def _contact(self, position: Position, a: Unit, b: Unit) -> Finding:
        answer = contact(a, b, tolerance_mm=position.table.tolerance_mm, rule="").answer
        asked = Question(f"contact/{a.id}/{b.id}", f"Does {a.id} touch {b.id}?")
        return Finding(answer.because, answer, question=asked)

    def _sight(self, position: Position, a: Unit, b: Unit) -> Iterator[Finding]:
        answer = line_of_sight(position, a, b)
        if answer is not None:
            asked = Question(f"sight/{a.id}/{b.id}", f"Does {a.id} see {b.id}?")
            yield Finding(answer.because, answer, question=asked)


def _unit(position: Position, name: str) -> Unit:
    units = {unit.id: unit for unit in position.units if unit.bases}
    if name not in units:
        raise BadInput(quoted(name), f"there is no such unit on the table{nearest(name, units)}")
    return units[name]
