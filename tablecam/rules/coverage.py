"""How much of a rulebook is played and tested, from the page that says so of each rule.

A game's package may hold `COVERAGE.md`: tables whose rows begin with the id of a rule and name the
modules that play it, the tests that hold it, and what is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tablecam.rules.found import text_of

FILE = "COVERAGE.md"

_ROW = re.compile(r"^\| (?P<id>[A-Z]+-\d+(?:\.\d+)?) \|(?P<cells>.*)\|$")


@dataclass(frozen=True, slots=True)
class Covered:
    """A rule: the modules that play it, the tests that hold it, and what of it is left open."""

    id: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    left_open: str

    @property
    def is_whole(self) -> bool:
        """Whether all of it is played and tested."""
        return bool(self.tests) and not self.left_open


def coverage_of(game: str) -> tuple[Covered, ...] | None:
    """Every rule of a game's rulebook, in its order; None where nothing is said of them."""
    text = text_of(game, FILE)
    return None if text is None else tuple(_rows(text.splitlines()))


def _rows(lines: Iterable[str]) -> Iterator[Covered]:
    for line in lines:
        if (row := _ROW.match(line)) is not None:
            modules, tests, left_open = (cell.strip() for cell in row["cells"].split("|"))
            yield Covered(row["id"], _names(modules), _names(tests), left_open)


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in cell.split(",") if name.strip())
