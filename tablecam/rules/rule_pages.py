"""Reads a rulebook's pages: `RULES.md` with the rules, `COVERAGE.md` with where they are played.

A line of `RULES.md` is a rule: `- **M-1.9** Near the enemy. A unit is near if ...`: its id, its
title up to the first full stop, and its text. A row of `COVERAGE.md` begins with the id of a rule
and names the modules that implement it, the tests that verify it, and what is still missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tablecam.rules.discovery import text_of

COVERAGE_FILE, WORDS_FILE = "COVERAGE.md", "RULES.md"

_ID = r"(?P<id>[A-Z]+-[A-Z0-9]+(?:\.\d+)*[A-Za-z]?)"
_ROW = re.compile(rf"^\| {_ID} \|(?P<cells>.*)\|$")
_LINE = re.compile(rf"^- \*\*{_ID}\*\* (?P<title>[^.]+)\. (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RuleWords:
    """A rule in our own words: a title of a few words, and one or two sentences."""

    title: str
    text: str


@cache
def rule_words(game: str) -> Mapping[str, RuleWords]:
    """Returns the rules of a game by id, in the order of the book; none without a `RULES.md`."""
    text = text_of(game, WORDS_FILE) or ""
    return MappingProxyType(
        {line["id"]: RuleWords(line["title"], line["text"]) for line in _LINE.finditer(text)}
    )


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """A rule, the modules that implement it, the tests that verify it, and what is missing."""

    id: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    left_open: str

    @property
    def is_whole(self) -> bool:
        """Whether the rule is fully implemented and tested."""
        return bool(self.tests) and not self.left_open


def coverage_of(game: str) -> tuple[RuleCoverage, ...] | None:
    """Returns the rules of a game's rulebook in order, None if it has no coverage page."""
    text = text_of(game, COVERAGE_FILE)
    return None if text is None else tuple(_rows(text.splitlines()))


def _rows(lines: Iterable[str]) -> Iterator[RuleCoverage]:
    for line in lines:
        # Headings and text between the tables are not rows.
        if (row := _ROW.match(line)) is not None:
            modules, tests, left_open = (cell.strip() for cell in row["cells"].split("|"))
            yield RuleCoverage(row["id"], _names(modules), _names(tests), left_open)


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in cell.split(",") if name.strip())
