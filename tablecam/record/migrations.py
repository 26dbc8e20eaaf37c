"""Migrates the tables of older recordings, one version at a time."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import Connection, insert, inspect, text

from tablecam.record.schema import SCHEMA_VERSION, entry, metadata, picture, recording

Migration = Callable[[Connection], None]

_PLAYS: Final = (
    "CREATE TABLE play (number INTEGER PRIMARY KEY, at TEXT NOT NULL, document TEXT NOT NULL)",
    "CREATE TABLE deed (play INTEGER REFERENCES play (number), number INTEGER, at TEXT NOT NULL,"
    " document TEXT NOT NULL, PRIMARY KEY (play, number))",
)


def _with_plays(connection: Connection) -> None:
    """Migrates to version 2, which stores the games that are played with the referee."""
    for statement in _PLAYS:
        connection.execute(text(statement))


def _as_entries(connection: Connection) -> None:
    """Migrates to version 3: one sequence of entries, in one recording of possibly many."""
    metadata.create_all(connection)
    (game,) = connection.execute(text("SELECT * FROM game")).mappings()
    facts = {column.name: game[column.name] for column in recording.c if column.name in game}
    facts["id"] = uuid4().hex
    connection.execute(insert(recording), facts)
    # Both series are in order of time already.
    events = heapq.merge(_play_entries(connection), _dispute_entries(connection), key=_made_at)
    for number, (row, pictures) in enumerate(events, start=1):
        key = {"recording": facts["id"], "number": number}
        connection.execute(insert(entry), key | row)
        for image in pictures:
            key = {"recording": facts["id"], "entry": number}
            connection.execute(insert(picture), key | image)
    # Tables that refer to others go first.
    for name in ("dispute_picture", "dispute", "deed", "play", "game"):
        connection.execute(text(f"DROP TABLE {name}"))


def with_digests(connection: Connection) -> None:
    """Migrates to version 4: digests, and the game's number in its folder; both empty at first."""
    for table in metadata.sorted_tables:
        # After the step to version 3 all columns exist: it creates tables of today's schema.
        existing = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.c:
            if column.name not in existing:
                kind = column.type.compile(connection.dialect)
                statement = f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}"
                connection.execute(text(statement))


_Row = dict[str, Any]
_EntryRows = tuple[_Row, list[_Row]]
"""An entry's row, and the rows of its pictures."""


def _made_at(entry_rows: _EntryRows) -> datetime:
    at = datetime.fromisoformat(entry_rows[0]["at"])
    # Times with and without a zone cannot be compared.
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _play_entries(connection: Connection) -> list[_EntryRows]:
    """Returns the games and the actions in them as rows of entries, without pictures."""
    entries: list[_EntryRows] = []
    plays = connection.execute(text("SELECT * FROM play ORDER BY number")).mappings().all()
    for play in plays:
        entries.append(({"at": play["at"], "kind": "play", "document": play["document"]}, []))
        query = text("SELECT * FROM deed WHERE play = :number ORDER BY number")
        for deed in connection.execute(query, {"number": play["number"]}).mappings().all():
            document = json.dumps({"entry": json.loads(deed["document"])}, ensure_ascii=False)
            entries.append(({"at": deed["at"], "kind": "deed", "document": document}, []))
    return entries


def _dispute_entries(connection: Connection) -> list[_EntryRows]:
    """Returns the disputes as rows of entries, each with the rows of its pictures."""
    entries: list[_EntryRows] = []
    disputes = connection.execute(text("SELECT * FROM dispute ORDER BY number")).mappings().all()
    for dispute in disputes:
        parts = {key: json.loads(dispute[key]) for key in ("document", "position")}
        parts = {"dispute": parts["document"], "position": parts["position"]}
        document = json.dumps(parts, ensure_ascii=False)
        pictures = _dispute_pictures(connection, dispute["number"])
        entries.append(({"at": dispute["at"], "kind": "dispute", "document": document}, pictures))
    return entries


def _dispute_pictures(connection: Connection, number: int) -> list[_Row]:
    query = text("SELECT kind, jpeg FROM dispute_picture WHERE dispute = :number")
    rows = connection.execute(query, {"number": number}).all()
    return [{"kind": row.kind, "media_type": "image/jpeg", "image": row.jpeg} for row in rows]


MIGRATIONS: Final[Mapping[int, Migration]] = {1: _with_plays, 2: _as_entries, 3: with_digests}
"""The migration from each version to the next, by the version it starts from."""

if sorted(MIGRATIONS) != list(range(1, SCHEMA_VERSION)):
    raise AssertionError("each older version needs a step of its own")
