"""Completes recordings of older tablecams, which hold only actions, by replaying them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import StaticPool, create_engine

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, GameFacts, Json, NewEntry
from tablecam.record.journal import Journal, begin_recording, insert_entry
from tablecam.record.positions import DifferenceEncoder
from tablecam.record.schema import metadata
from tablecam.replay.copies import ShowsProgress, copy_of, without_progress
from tablecam.replay.rerun import Rerun
from tablecam.rules.game import Game
from tablecam.rules.games import game_of
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json


def retold(journal: Journal, watched: ShowsProgress = without_progress) -> Journal:
    """Returns a complete recording: this one, or a completed copy in memory.

    A copy has extra positions where units moved, so later entries have other numbers.

    Args:
        journal: Any recording; nothing is written to it.
        watched: Shows progress over its entries.

    Raises:
        BadInput: It cannot be read, or an entry is damaged.
    """
    game = game_of(journal.facts().game)
    is_complete = all("after" in play.document for play in journal.entries("play"))
    if game is None or is_complete:
        return journal
    copy = copy_of(journal, pictures=True)
    entries = _Completion(game, journal.name).of(watched(copy.entries, copy.last))
    return _in_memory(copy.facts, copy.written_by, entries, journal.name)


def _in_memory(
    facts: GameFacts, written_by: str, entries: Iterable[NewEntry], name: str
) -> Journal:
    """Creates a recording in memory; any thread may read it."""
    arguments = {"check_same_thread": False}
    engine = create_engine("sqlite+pysqlite://", poolclass=StaticPool, connect_args=arguments)
    with engine.begin() as connection:
        metadata.create_all(connection)
        before = begin_recording(connection, facts, written_by)
        for number, entry in enumerate(entries, start=1):
            before = insert_entry(connection, facts.id, number, entry, before)
    return Journal(engine, facts.id, name)


class _Completion:
    """Replays a recording and adds the results, until an entry cannot be replayed."""

    def __init__(self, game: Game[Any, Any], name: str) -> None:
        self._rerun = Rerun(game, name)
        self._refused = ""
        self._chain = DifferenceEncoder()
        self._position_before: Position | None = None
        self._numbers: dict[int, int] = {}

    def of(self, entries: Iterable[NewEntry]) -> Iterator[NewEntry]:
        """Yields all entries, with their results and positions."""
        count = 0
        for number, entry in enumerate(entries, start=1):
            for completed in self._completed(Entry(number, entry.kind, entry.at, entry.document)):
                count += 1
                # Its pictures belong to the entry itself, not to a position before it.
                yield replace(
                    completed, pictures=entry.pictures if completed.kind == entry.kind else ()
                )
            self._numbers[number] = count

    def _completed(self, entry: Entry) -> Iterator[NewEntry]:
        document = entry.document
        if entry.kind == "picture":
            # The added positions have shifted the numbers.
            document = document | {"of": self._numbers.get(document.get("of", 0), 0)}
        elif entry.kind == "play":
            # A new game depends on nothing before it.
            self._refused = ""
            document = document | self._result(self._rerun.begin, entry)
            # The position first: the entry's events are shown on it.
            yield from self._moved(entry)
        elif entry.kind == "deed" and "events" not in document:
            document = document | self._result(self._rerun.act, entry)
            yield from self._moved(entry)
        yield NewEntry(entry.kind, document, at=entry.at)

    def _result(self, do: Callable[[Entry], Json], entry: Entry) -> Json:
        """Returns the engine's result for an entry; empty once it has refused one."""
        # After a refusal the engine no longer agrees with the recording.
        if self._refused:
            return {}
        try:
            return do(entry)
        except BadInput as refused:
            self._refused = f"cannot be replayed from here: {refused}"
            line = {"kind": "refused", "text": self._refused, "rule": None}
            return {"events": [line | {"facts": {}, "evidence": []}]}

    def _moved(self, entry: Entry) -> Iterator[NewEntry]:
        """Yields the position, if any unit has moved."""
        position = self._rerun.position()
        if position is None or self._refused or position == self._position_before:
            return
        self._position_before = position
        yield NewEntry("position", self._chain.document(position_to_json(position)), at=entry.at)
