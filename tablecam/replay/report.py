"""A recorded game as a battle report: prose by rounds, with a map of the table after each."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Final

from tablecam.record.entries import Entry, GameFacts, Json
from tablecam.replay.log import ROUND, Log, LogLine
from tablecam.replay.map_text import map_lines, sides_of
from tablecam.replay.moment import document_after
from tablecam.replay.words import counted, duration
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json
from tablecam.table.sides import side_name
from tablecam.wording import STEERING

WIDTH: Final = 74
"""As wide as the maps with their frames."""

_LEFT_OUT: Final = frozenset(
    {"move", "ruling", "remark", "undo", "picture", "dispute", "notice", "draw", "drawn", "shot"}
)
"""What is told elsewhere in the report, or by what came of it."""
_PARAGRAPHS: Final = frozenset({"command", "volleys", "charge", "overrule", "over"})
"""Events that begin something new within a round."""
_LOSSES: Final = frozenset({"broken"})
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>|&#~]|(?<!\S)[-+=]+(?!\S)")
"""Links and tags, and what makes a heading or a list where a line happens to begin with it."""
_LAY: Final = "The table lies as before."


@dataclass(slots=True)
class _Part:
    """A round, or what came before the first: its lines, and where all lay at its end."""

    head: LogLine | None
    lines: list[LogLine] = field(default_factory=list)
    table: Position | None = None


class Report:
    """Takes in a recording entry by entry; then `lines` are the report.

    Args:
        facts: The recording's.
        name: What errors call it.
    """

    def __init__(self, facts: GameFacts, name: str) -> None:
        self._facts = facts
        self._name = name
        self._log = Log()
        self._seen: Json | None = None
        self._markers: Json = {}
        self._tables: dict[int, Position | None] = {}
        self._began: Position | None = None
        self._ended_at: datetime = facts.started_at

    def add(self, entry: Entry) -> None:
        """Take in the next entry."""
        known = len(self._log.lines)
        self._log.add(entry)
        if any(line.kind in ("play", ROUND) for line in self._log.lines[known:]):
            self._tables[entry.number] = self._table()
        self._look(entry)
        self._ended_at = entry.at

    def _look(self, entry: Entry) -> None:
        """Keep where all lies, and what the game knows of it."""
        if entry.kind == "position":
            self._seen = document_after(self._seen, entry, self._name)
        elif entry.kind == "play" and self._seen is None:
            self._seen = entry.document.get("position")
        if entry.kind in ("play", "deed"):
            self._markers = entry.document.get("after", {}).get("markers", self._markers)
        if self._began is None:
            self._began = self._table()

    def _table(self) -> Position | None:
        """Where all lies now."""
        if self._seen is None:
            return None
        found = position_from_json(self._seen, self._name, games=(self._facts.game,))
        units = (replace(unit, state=self._markers.get(unit.id, {})) for unit in found.units)
        return replace(found, units=tuple(units)) if self._markers else found

    def lines(self) -> Iterator[str]:
        """The report, in Markdown that reads well as it is."""
        yield from self._head()
        before = [] if self._began is None else map_lines(self._began)
        yield from _fenced(before)
        for part in self._parts():
            yield from self._prose(part)
            # Drawn, as a camera's positions never are the same twice.
            now = before if part.table is None else map_lines(part.table)
            if now != before:
                yield from _fenced(now)
            elif part.lines:
                yield from ("", _LAY)
            before = now
        yield from _listed("Losses", self._of(_LOSSES))
        yield from _listed("Disputes", self._of({"dispute"}))
        yield from _listed("Overruled by the players", self._of({"overrule"}))
        yield from _listed("Notices", self._of({"notice"}))

    def _head(self) -> Iterator[str]:
        facts = self._facts
        sides = (
            _escaped(" against ".join(map(side_name, sides_of(self._began)))) if self._began else ""
        )
        took = duration(facts.started_at, self._ended_at)
        rounds = len(self._of({ROUND})) + bool(self._of({"play"}))
        over = next((line.text for line in reversed(self._of({"over"}))), "")
        yield f"# {facts.game}, {facts.started_at:%Y-%m-%d}{f': {sides}' if sides else ''}"
        yield ""
        yield from self._wrapped([f"{counted(rounds, 'round')} in {took}", over])

    def _of(self, kinds: Iterable[str]) -> list[LogLine]:
        wanted = frozenset(kinds)
        return [line for line in self._log.lines if line.kind in wanted and not line.is_undone]

    def _parts(self) -> Iterator[_Part]:
        part = _Part(None)
        for line in self._log.lines:
            if line.is_undone:
                continue
            if line.kind in ("play", ROUND):
                part.table = self._tables[line.entry]
                yield part
                part = _Part(line)
            elif line.kind not in _LEFT_OUT:
                part.lines.append(line)
        part.table = self._table()
        yield part

    def _prose(self, part: _Part) -> Iterator[str]:
        """A round's heading, and what was done in it, a paragraph for each thing that began."""
        if part.head is not None:
            yield from ("", f"## {self._sentence(part.head.text)} ({part.head.at:%H:%M})")
        paragraph: list[str] = []
        for line in part.lines:
            if line.kind in _PARAGRAPHS and paragraph:
                yield from ("", *self._wrapped(paragraph))
                paragraph = []
            paragraph.append(line.text)
        if paragraph:
            yield from ("", *self._wrapped(paragraph))

    def _wrapped(self, sentences: Iterable[str]) -> list[str]:
        said = " ".join(f"{self._sentence(each)}." for each in sentences if each)
        return textwrap.wrap(said, WIDTH)

    def _sentence(self, text: str) -> str:
        """A text as sentences begin, but for names, which keep their letters."""
        is_name = text.split(" ", 1)[0] in _names(self._began)
        return _escaped(text if is_name else text[:1].upper() + text[1:])


def _escaped(text: str) -> str:
    """What players and rules say, so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\g<0>", STEERING.sub("", text))


def _names(position: Position | None) -> set[str]:
    if position is None:
        return set()
    return {unit.id for unit in position.units} | {each.id for each in position.commanders}


def _fenced(lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", "```", *lines, "```")


def _listed(title: str, lines: list[LogLine]) -> Iterator[str]:
    if not lines:
        return
    yield from ("", f"## {title}", "")
    for number, of in groupby(lines, key=lambda line: line.entry):
        said = [*of]
        rules = "".join(f" [{line.rule}]" for line in said if line.rule)
        told = "; ".join(_escaped(line.text.rstrip(".")) for line in said)
        text = f"{said[0].at:%H:%M} {told}{rules} (entry {number})"
        yield from textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
