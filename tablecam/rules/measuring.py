"""What can be asked of any table: ranges, contact and sight, for games without a rulebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from tablecam.rules.books import Book
from tablecam.rules.games import described
from tablecam.rules.reports import Finding, Question, Section
from tablecam.table.model import LengthUnit, Position, Unit
from tablecam.uncertainty.clear_line import line_of_sight
from tablecam.uncertainty.contact import contact
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within


class Measures(Book):
    """Answers from lengths alone; its handles are positions."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def game(self) -> str:
        """The name of the game."""
        return self._name

    def rulings(self, position: Position, active: str) -> object:
        """Returns the position itself."""
        return position

    def ruled_position(self, handle: object) -> Position:
        """Returns the whole position."""
        assert isinstance(handle, Position)
        return handle

    def sections(self, handle: object, *units: str) -> Sequence[Section]:
        """Returns a unit's enemies, or the range, contact and sight between two units."""
        position = self.ruled_position(handle)
        by_id = {unit.id: unit for unit in position.units}
        named = [by_id[unit] for unit in units]
        if len(named) == 1:
            return [Section("enemies", "Enemies", partial(self._enemies, position, *named))]
        return [
            Section("range", "Range", partial(self._ranges, position, *named)),
            Section("contact", "Contact", partial(self._contact, position, *named)),
            Section("sight", "Line of sight", partial(self._sight, position, *named)),
        ]

    def _length_unit(self, position: Position) -> LengthUnit:
        return described(self._name).length_unit(position.table)

    def _enemies(self, position: Position, own: Unit) -> Iterator[Finding]:
        """Yields the distances to a unit's enemies, nearest first."""
        length_unit = self._length_unit(position)
        enemies = [
            (distance(own, enemy), enemy)
            for enemy in position.units
            if enemy.side != own.side and enemy.bases
        ]
        for length, enemy in sorted(enemies, key=lambda pair: pair[0].value_mm):
            sight = line_of_sight(position, own, enemy)
            hidden = "" if sight is None or sight.answer == "yes" else f"; {sight.because}"
            apart = length_unit.written(length.value_mm)
            yield Finding(f"{enemy.id} is {apart} away{hidden}")

    def _ranges(self, position: Position, a: Unit, b: Unit) -> Iterator[Finding]:
        length, unit = distance(a, b), self._length_unit(position)
        for limit in described(self._name).lengths_asked(a, b) or unit.ranges:
            answer = within(length, limit, position.table, unit=unit, a=a.id, b=b.id)
            words = f"Is {b.id} within {unit.counted(f'{limit:g}')} of {a.id}?"
            asked = Question(f"range/{limit:g}/{a.id}/{b.id}", words)
            yield Finding(answer.because, answer, question=asked)

    def _contact(self, position: Position, a: Unit, b: Unit) -> Iterator[Finding]:
        answer = contact(a, b, tolerance_mm=position.table.tolerance_mm, rule="").answer
        if answer.answer == "no":
            apart = self._length_unit(position).margin(distance(a, b).value_mm)
            answer = replace(answer, because=f"{a.id} and {b.id} do not touch: {apart} apart")
        asked = Question(f"contact/{a.id}/{b.id}", f"Does {a.id} touch {b.id}?")
        yield Finding(answer.because, answer, question=asked)

    def _sight(self, position: Position, a: Unit, b: Unit) -> Iterator[Finding]:
        answer = line_of_sight(position, a, b)
        if answer is not None:
            asked = Question(f"sight/{a.id}/{b.id}", f"Does {a.id} see {b.id}?")
            yield Finding(answer.because, answer, question=asked)
