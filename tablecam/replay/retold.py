"""Recordings of older tablecams, which kept actions alone: the engine tells what they led to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import StaticPool, create_engine

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, GameFacts, Json, NewEntry
from tablecam.record.journal import Journal, begin_recording, insert_entry
from tablecam.record.positions import Chain
from tablecam.record.schema import metadata
from tablecam.replay.copies import Watched, copy_of, unwatched
from tablecam.replay.rerun import Rerun
from tablecam.rules.game import Game
from tablecam.rules.games import game_of
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json


def retold(journal: Journal, watched: Watched = unwatched) -> Journal:
    """A recording that tells all that happened in it: itself, or a copy in memory.

    In a copy positions stand where units have moved, so later entries have other numbers.

    Args:
        journal: Any recording; nothing is written to it.
        watched: Sees its entries as they are done again.

    Raises:
        BadInput: It cannot be read, or an entry is damaged.
    """
    game = game_of(journal.facts().game)
    is_told = all("after" in play.document for play in journal.entries("play"))
    if game is None or is_told:
        return journal
    copy = copy_of(journal, pictures=True)
    entries = _Retelling(game, journal.name).of(watched(copy.entries, copy.last))
    return _in_memory(copy.facts, copy.written_by, entries, journal.name)


def _in_memory(
    facts: GameFacts, written_by: str, entries: Iterable[NewEntry], name: str
) -> Journal:
    """A recording that is gone with the program; any thread may read it."""
    arguments = {"check_same_thread": False}
    engine = create_engine("sqlite+pysqlite://", poolclass=StaticPool, connect_args=arguments)
    with engine.begin() as connection:
        metadata.create_all(connection)
        before = begin_recording(connection, facts, written_by)
        for number, entry in enumerate(entries, start=1):
            before = insert_entry(connection, facts.id, number, entry, before)
    return Journal(engine, facts.id, name)


class _Retelling:
    """Goes through a recording and does again what it says, until that cannot be done."""

    def __init__(self, game: Game[Any, Any], name: str) -> None:
        self._rerun = Rerun(game, name)
        self._refused = ""
        self._chain = Chain()
        self._lay: Position | None = None
        self._numbers: dict[int, int] = {}

    def of(self, entries: Iterable[NewEntry]) -> Iterator[NewEntry]:
        """All entries, with what followed from them and where all lay then."""
        count = 0
        for number, entry in enumerate(entries, start=1):
            for told in self._told(Entry(number, entry.kind, entry.at, entry.document)):
                count += 1
                yield replace(told, pictures=entry.pictures if told.kind == entry.kind else ())
            self._numbers[number] = count

    def _told(self, entry: Entry) -> Iterator[NewEntry]:
        document = entry.document
        if entry.kind == "picture":
            document = document | {"of": self._numbers.get(document.get("of", 0), 0)}
        elif entry.kind == "play":
            self._refused = ""
            document = document | self._done(self._rerun.begin, entry)
            yield from self._moved(entry)
        elif entry.kind == "deed" and "events" not in document:
            document = document | self._done(self._rerun.act, entry)
            yield from self._moved(entry)
        yield NewEntry(entry.kind, document, at=entry.at)

    def _done(self, do: Callable[[Entry], Json], entry: Entry) -> Json:
        """What the engine says of an entry; once it refuses one, nothing of those after it."""
        if self._refused:
            return {}
        try:
            return do(entry)
        except BadInput as refused:
            self._refused = f"cannot be told from here on: {refused}"
            line = {"kind": "refused", "text": self._refused, "rule": None}
            return {"events": [line | {"facts": {}, "evidence": []}]}

    def _moved(self, entry: Entry) -> Iterator[NewEntry]:
        """Where all lies by now, if anything lies elsewhere."""
        position = self._rerun.position()
        if position is None or self._refused or position == self._lay:
            return
        self._lay = position
        yield NewEntry("position", self._chain.document(position_to_json(position)), at=entry.at)
