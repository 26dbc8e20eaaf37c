"""Reads from `COVERAGE.md` which rules of a rulebook are implemented and tested.

Each row of its tables begins with the id of a rule and names the modules that implement it, the
tests that verify it, and what is still missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tablecam.rules.discovery import text_of

FILE = "COVERAGE.md"

_ROW = re.compile(r"^\| (?P<id>[A-Z]+-[A-Z0-9]+(?:\.\d+)*[A-Za-z]?) \|(?P<cells>.*)\|$")


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
    text = text_of(game, FILE)
    return None if text is None else tuple(_rows(text.splitlines()))


def _rows(lines: Iterable[str]) -> Iterator[RuleCoverage]:
    for line in lines:
        # Headings and text between the tables are not rows.
        if (row := _ROW.match(line)) is not None:
            modules, tests, left_open = (cell.strip() for cell in row["cells"].split("|"))
            yield RuleCoverage(row["id"], _names(modules), _names(tests), left_open)


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in cell.split(",") if name.strip())
