"""Writes a recorded game as a battle report: prose turn by turn, with a map after each."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Final

from tablecam.documents import Json
from tablecam.record.entries import Entry, GameFacts
from tablecam.replay.log import Log, LogLine
from tablecam.replay.map_text import map_lines
from tablecam.replay.moment import document_after
from tablecam.replay.words import duration
from tablecam.rules.descriptions import Standing
from tablecam.rules.games import described
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json
from tablecam.table.sides import side_name
from tablecam.wording import CONTROL_CHARACTERS, counted

WIDTH: Final = 74
"""Width of the text: that of the maps with their frames."""

_LEFT_OUT: Final = frozenset(
    {"move", "ruling", "remark", "put-back", "undo", "picture", "dispute", "notice", "detail"}
)
"""Kinds of moments or lines that other sections cover, or whose result suffices."""
_PARAGRAPHS: Final = frozenset({"phase", "attack", "overrule", "over"})
"""Kinds of moments or lines that begin a new paragraph within a turn."""
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>|&#~]")
"""Characters that make links, tags and headings."""
_LIST_MARK: Final = re.compile(r"^(\d*)([-+=]+|\.)(?=\s|$)")
"""What makes a list or a heading where a line begins with it."""
_UNCHANGED: Final = "The table is unchanged."


@dataclass(slots=True)
class _Part:
    """A turn, or the time before the first: its lines, and the table at its end."""

    head: LogLine | None
    lines: list[LogLine] = field(default_factory=list)
    table: Position | None = None


class Report:
    """Writes the report of a recording; after all entries are added, `lines` yields it.

    Args:
        facts: The recording's facts.
        name: The recording's name in errors.
    """

    def __init__(self, facts: GameFacts, name: str) -> None:
        self._facts = facts
        self._name = name
        self._game = described(facts.game)
        self._log = Log(self._game)
        self._position: Json | None = None
        self._markers: Json = {}
        self._state: Json = {}
        self._tables: dict[int, Position | None] = {}
        self._began: Position | None = None
        self._ended_at: datetime = facts.started_at

    def add(self, entry: Entry) -> None:
        """Adds the next entry."""
        count_before = len(self._log.lines)
        self._log.add(entry)
        # Before following this entry: the table at the end of the previous part.
        if any(map(self._begins_part, self._log.lines[count_before:])):
            self._tables[entry.number] = self._table()
        self._follow(entry)
        self._ended_at = entry.at

    def _follow(self, entry: Entry) -> None:
        """Updates the places of all units and their state in the game."""
        if entry.kind == "position":
            self._position = document_after(self._position, entry, self._name)
        elif entry.kind == "play" and self._position is None:
            self._position = entry.document.get("position")
        if entry.kind in ("play", "deed"):
            after = entry.document.get("after", {})
            self._markers = after.get("markers", self._markers)
            self._state = after.get("state", self._state)
        if self._began is None:
            self._began = self._table()

    def _table(self) -> Position | None:
        """Returns the current table."""
        if self._position is None:
            return None
        position = position_from_json(self._position, self._name, games=(self._facts.game,))
        units = (replace(unit, state=self._markers.get(unit.id, {})) for unit in position.units)
        return replace(position, units=tuple(units)) if self._markers else position

    def lines(self) -> Iterator[str]:
        """Yields the report, in Markdown that is readable as plain text."""
        yield from self._head()
        before = [] if self._began is None else map_lines(self._began)
        yield from _fenced(before)
        for part in self._parts():
            yield from self._prose(part)
            # Compares maps: two positions of a camera are never equal.
            now = before if part.table is None else map_lines(part.table)
            if now != before:
                yield from _fenced(now)
            elif part.lines:
                yield from ("", _UNCHANGED)
            before = now
        yield from _listed("Losses", self._lines_of({"loss"}))
        yield from _listed("Disputes", self._lines_of({"dispute"}))
        yield from _listed("Overruled by the players", self._lines_of({"overrule"}))
        yield from _listed("Notices", self._lines_of({"notice"}))

    def _head(self) -> Iterator[str]:
        facts = self._facts
        sides = _escaped(" against ".join(map(side_name, self._began.sides))) if self._began else ""
        took = duration(facts.started_at, self._ended_at)
        turns = len(self._lines_of({"turn"}))
        # Without a game there is no state that its rulebook could describe.
        standing = self._game.standing(self._state) if self._state else Standing()
        over = next((line.text for line in reversed(self._lines_of({"over"}))), "")
        title = self._game.title or facts.game
        yield f"# {title}, {facts.started_at:%Y-%m-%d}{f': {sides}' if sides else ''}"
        yield ""
        yield from self._wrapped([f"{counted(turns, standing.turn_word)} in {took}", over])

    def _lines_of(self, kinds: Iterable[str]) -> list[LogLine]:
        included = frozenset(kinds)
        return [
            line for line in self._log.lines if self._kind(line) in included and not line.is_undone
        ]

    def _kind(self, line: LogLine) -> str:
        """Returns the game's kind for a line's event, else the line's own kind."""
        return self._game.moments.get(line.kind, line.kind)

    def _begins_part(self, line: LogLine) -> bool:
        return self._kind(line) in ("play", "turn")

    def _parts(self) -> Iterator[_Part]:
        part = _Part(None)
        for line in self._log.lines:
            if line.is_undone:
                continue
            if self._begins_part(line):
                part.table = self._tables[line.entry]
                yield part
                part = _Part(line)
            # A throw of dice decides something, so readers want to follow it.
            elif self._kind(line) not in _LEFT_OUT or line.dice:
                part.lines.append(line)
        part.table = self._table()
        yield part

    def _prose(self, part: _Part) -> Iterator[str]:
        """Yields a turn's heading and text, with a paragraph for each action begun."""
        if part.head is not None:
            yield from ("", f"## {self._sentence(part.head.text)} ({part.head.at:%H:%M})")
        paragraph: list[str] = []
        for line in part.lines:
            if self._kind(line) in _PARAGRAPHS and paragraph:
                yield from ("", *self._wrapped(paragraph))
                paragraph = []
            paragraph.append(line.text)
        if paragraph:
            yield from ("", *self._wrapped(paragraph))

    def _wrapped(self, sentences: Iterable[str]) -> list[str]:
        prose = " ".join(f"{self._sentence(sentence)}." for sentence in sentences if sentence)
        return [_LIST_MARK.sub(r"\1\\\2", line) for line in textwrap.wrap(prose, WIDTH)]

    def _sentence(self, text: str) -> str:
        """Returns a text with a capital letter, unless it begins with a unit's name."""
        is_name = text.split(" ", 1)[0] in _names(self._began)
        return _escaped(text if is_name else text[:1].upper() + text[1:])


def _escaped(text: str) -> str:
    """Escapes a text by players or rules, so that Markdown shows it unchanged."""
    return _MARKUP.sub(r"\\\g<0>", CONTROL_CHARACTERS.sub("", text))


def _names(position: Position | None) -> set[str]:
    if position is None:
        return set()
    return {unit.id for unit in position.units} | {
        commander.id for commander in position.commanders
    }


def _fenced(lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", "```", *lines, "```")


def _listed(title: str, lines: list[LogLine]) -> Iterator[str]:
    if not lines:
        return
    yield from ("", f"## {title}", "")
    # The lines of one entry are one item.
    for number, entry_lines in groupby(lines, key=lambda line: line.entry):
        lines_of_entry = [*entry_lines]
        rules = "".join(f" [{line.rule}]" for line in lines_of_entry if line.rule)
        sentences = "; ".join(_escaped(line.text.rstrip(".")) for line in lines_of_entry)
        text = f"{lines_of_entry[0].at:%H:%M} {sentences}{rules} (entry {number})"
        yield from textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
