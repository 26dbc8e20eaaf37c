"""Reads what a game's rules say, in our own words, from its `RULES.md`.

A line is a rule: `- **M-1.9** Near the enemy. A unit is near if ...`: its id, its title up to the
first full stop, and its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tablecam.rules.discovery import text_of

FILE = "RULES.md"

_LINE = re.compile(
    r"^- \*\*(?P<id>[A-Z]+-[A-Z0-9]+(?:\.\d+)*[A-Za-z]?)\*\* (?P<title>[^.]+)\. (?P<text>.+)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RuleWords:
    """A rule in our own words: a title of a few words, and one or two sentences."""

    title: str
    text: str


@cache
def rule_words(game: str) -> Mapping[str, RuleWords]:
    """Returns the rules of a game by id, in the order of the book; none where it tells none."""
    text = text_of(game, FILE) or ""
    return MappingProxyType(
        {line["id"]: RuleWords(line["title"], line["text"]) for line in _LINE.finditer(text)}
    )
