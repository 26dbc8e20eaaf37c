"""Reports of a rulebook on one unit or two, line by line, for any game."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Final, TypeVar

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.uncertainty.answer import Answer

T = TypeVar("T")
log = logging.getLogger(__name__)

NOT_KNOWN = "unknown, as tablecam could not work it out"

_INDENT: Final = 2
_COLUMN: Final = 13
"""Indent of a report's sentences: wider than the longest answer."""


@dataclass(frozen=True, slots=True)
class Interpretation:
    """An interpretation of an ambiguous rule: the rule, and the decision in our own words."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question that players may dispute: a stable id, and the question in words."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One plain sentence, with its answer, its rule, and the reading that decided it, if any.

    `question` is the question that players may dispute; a line with one has an answer.
    """

    text: str
    answer: Answer | None = None
    rule: str | None = None
    reading: Interpretation | None = None
    question: Question | None = None

    def to_json(self) -> Json:
        """Returns the JSON value of the line."""
        return {
            "text": self.text,
            "answer": self.answer and self.answer.to_json(),
            "rule": self.rule,
            "reading": self.reading and asdict(self.reading),
            "question": self.question and asdict(self.question),
        }


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of plain strings, for a terminal or a page.

    Columns whose heading is in `right` are right-aligned; those in `whole` never break a word.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    right: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()


Part = Finding | Shape
"""A line of a section, or a shape that it draws in addition to the evidence of its lines."""


UNKNOWN: Final = Finding(f"The answer is {NOT_KNOWN}.")
"""The only line of a section after an internal error."""


@dataclass(frozen=True, eq=False)
class Section:
    """Lines about one subject, and shapes to draw in addition to the evidence of the lines.

    `work` yields both on demand. The ids of the section's questions begin with `kind`, by default
    its key.
    """

    key: str
    title: str
    work: Callable[[], Iterable[Part]]
    kind: str = ""

    def answers(self, question: str) -> bool:
        """Whether a question is of the kind that the section answers."""
        return question.split("/")[0] == (self.kind or self.key)

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        unknown: tuple[Part, ...] = (UNKNOWN,)
        return attempt(f"section {self.key}", lambda: tuple(self.work()), unknown)

    @property
    def lines(self) -> tuple[Finding, ...]:
        """The lines; after an internal error, the single line `UNKNOWN`."""
        return tuple(part for part in self._parts if isinstance(part, Finding))

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes to draw in addition to the evidence of the lines."""
        return tuple(part for part in self._parts if isinstance(part, Shape))

    def to_json(self, *, is_asked: bool = True) -> Json:
        """Returns the JSON value of the section; unless it `is_asked`, its lines are null."""
        lines = [line.to_json() for line in self.lines] if is_asked else None
        shapes = [shape.to_json() for shape in self.shapes] if is_asked else []
        return {"key": self.key, "title": self.title, "lines": lines, "shapes": shapes}


@dataclass(frozen=True, slots=True)
class UnitReport:
    """A report on one unit, or on a pair of units."""

    title: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()

    @property
    def lines(self) -> Iterator[Finding]:
        """The lines of all sections."""
        return (line for section in self.sections for line in section.lines)

    def to_json(self, only: Collection[str] | None = None) -> Json:
        """Returns the JSON value of the report.

        With `only`, just the sections with these keys are worked out. Empty ones are left out.
        """
        asked = [only is None or section.key in only for section in self.sections]
        sections = [
            section.to_json(is_asked=is_asked)
            for section, is_asked in zip(self.sections, asked, strict=True)
            if not is_asked or section.lines
        ]
        return {"title": self.title, "sections": sections, "warnings": list(self.warnings)}


def attempt(what: str, work: Callable[[], T], otherwise: T, not_known: set[str] | None = None) -> T:
    """Returns the result of `work`, or `otherwise` if an internal error occurs.

    The error is logged, and `what` is added to `not_known`: one question without an answer must not
    prevent all others.

    Raises:
        BadInput: `work` refuses its input.
    """
    try:
        return work()
    # Bad input is the caller's error, not ours.
    except BadInput:
        raise
    except Exception as error:
        log.error("%s is %s: %r", what, NOT_KNOWN, error)
        log.debug("", exc_info=True)
        if not_known is not None:
            not_known.add(what)
        return otherwise


def is_under(rule: str, other: str | None) -> bool:
    """Whether a rule equals another or lies in its chapter, ignoring case.

    >>> is_under("M-7", "M-7.12"), is_under("m-7.1", "M-7.12"), is_under("M-7", None)
    (True, False, False)
    """
    prefix = rule.upper()
    return other is not None and (other == prefix or other.startswith(f"{prefix}."))


def report_lines(report: UnitReport, *, width: int, rule: str | None = None) -> Iterator[str]:
    """Yields a report as lines of at most `width`, optionally only those of a rule or chapter."""
    yield report.title
    for section in report.sections:
        lines = [line for line in section.lines if rule is None or is_under(rule, line.rule)]
        if lines:
            yield ""
            yield section.title
        for line in lines:
            yield from _wrapped(line, width)


def _wrapped(line: Finding, width: int) -> Iterator[str]:
    answer = "-" if line.answer is None else line.answer.answer.replace("_", " ")
    text = f"{line.text} [{line.rule}]" if line.rule else line.text
    head = f"{'':{_INDENT}}{answer:{_COLUMN - _INDENT}}"
    yield from textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * _COLUMN)
    if line.reading is not None:
        read = f"Interpretation: {line.reading.text}."
        indent = " " * _COLUMN
        yield from textwrap.wrap(read, width, initial_indent=indent, subsequent_indent=indent)
