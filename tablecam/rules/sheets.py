"""What a rulebook says about a unit or two, line by line, as a page shows it: any game's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tablecam.geometry.shapes import Shape
from tablecam.uncertainty.answer import Answer

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was decided where a rulebook is open: the rule it is about, and in our own words."""

    rule: str
    text: str

    def to_json(self) -> Json:
        """The reading as documents carry it."""
        return {"rule": self.rule, "text": self.text}


@dataclass(frozen=True, slots=True)
class Question:
    """What players may disagree about: an id that stays the same, and the question in words."""

    id: str
    text: str

    def to_json(self) -> Json:
        """The question as documents carry it."""
        return {"id": self.id, "text": self.text}


@dataclass(frozen=True, slots=True)
class Line:
    """One plain sentence, what proves it, and the reading that decided it if one did.

    `question` is what is asked when players dispute it; a line with one has an answer.
    """

    text: str
    answer: Answer | None = None
    rule: str | None = None
    reading: Reading | None = None
    question: Question | None = None

    def to_json(self) -> Json:
        """The line as documents carry it."""
        return {
            "text": self.text,
            "answer": None if self.answer is None else self.answer.to_json(),
            "rule": self.rule,
            "reading": None if self.reading is None else self.reading.to_json(),
            "question": None if self.question is None else self.question.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Section:
    """Lines about one subject, and what is drawn of it beside the lines' own proofs."""

    key: str
    title: str
    lines: tuple[Line, ...]
    shapes: tuple[Shape, ...] = ()

    def to_json(self) -> Json:
        """The section as documents carry it."""
        return {
            "key": self.key,
            "title": self.title,
            "lines": [line.to_json() for line in self.lines],
            "shapes": [shape.to_json() for shape in self.shapes],
        }


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that is said about a unit, or about two."""

    title: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()

    @property
    def lines(self) -> Iterator[Line]:
        """The lines of all sections."""
        return (line for section in self.sections for line in section.lines)

    def to_json(self) -> Json:
        """The sheet as documents carry it."""
        return {
            "title": self.title,
            "sections": [section.to_json() for section in self.sections],
            "warnings": list(self.warnings),
        }
