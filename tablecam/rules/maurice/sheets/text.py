"""Sheets as a terminal shows them: the sentences of the page, each with its answer and rule."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from tablecam.rules.maurice.rulings.narrowing import is_under
from tablecam.rules.sheets import Line, Sheet

_WORDS: Final = {"yes": "yes", "no": "no", "too_close": "too close"}
_INDENT: Final = 2
_COLUMN: Final = 13
"""Where sentences begin: after the longest answer."""


def sheet_lines(sheet: Sheet, *, width: int, rule: str | None = None) -> Iterator[str]:
    """A sheet in lines no longer than a width; of one rule or chapter only what it answers."""
    yield sheet.title
    for section in sheet.sections:
        told = [line for line in section.lines if rule is None or is_under(rule, line.rule)]
        if told:
            yield ""
            yield section.title
        for line in told:
            yield from _wrapped(line, width)


def _wrapped(line: Line, width: int) -> Iterator[str]:
    answer = "-" if line.answer is None else _WORDS[line.answer.answer]
    said = f"{line.text} [{line.rule}]" if line.rule else line.text
    head = f"{'':{_INDENT}}{answer:{_COLUMN - _INDENT}}"
    yield from textwrap.wrap(said, width, initial_indent=head, subsequent_indent=" " * _COLUMN)
    if line.reading is not None:
        read = f"As read: {line.reading.text}."
        indent = " " * _COLUMN
        yield from textwrap.wrap(read, width, initial_indent=indent, subsequent_indent=indent)
