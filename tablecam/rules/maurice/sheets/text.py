"""Sheets as terminal text: the page's sentences, each with its answer and rule."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from tablecam.rules.maurice.rulings.narrowing import is_under
from tablecam.rules.reports import Finding, UnitReport

_WORDS: Final = {"yes": "yes", "no": "no", "too_close": "too close"}
_INDENT: Final = 2
_COLUMN: Final = 13
"""Indent of sentences: wider than the longest answer."""


def sheet_lines(sheet: UnitReport, *, width: int, rule: str | None = None) -> Iterator[str]:
    """Yields a sheet as lines up to a width, optionally only those of a rule or chapter."""
    yield sheet.title
    for section in sheet.sections:
        lines = [line for line in section.lines if rule is None or is_under(rule, line.rule)]
        if lines:
            yield ""
            yield section.title
        for line in lines:
            yield from _wrapped(line, width)


def _wrapped(line: Finding, width: int) -> Iterator[str]:
    answer = "-" if line.answer is None else _WORDS[line.answer.answer]
    text = f"{line.text} [{line.rule}]" if line.rule else line.text
    head = f"{'':{_INDENT}}{answer:{_COLUMN - _INDENT}}"
    yield from textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * _COLUMN)
    if line.reading is not None:
        read = f"Interpretation: {line.reading.text}."
        indent = " " * _COLUMN
        yield from textwrap.wrap(read, width, initial_indent=indent, subsequent_indent=indent)
