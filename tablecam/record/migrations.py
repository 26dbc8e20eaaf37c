"""Brings the tables of older recordings up to date, step by step."""

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
    """Version 2 keeps the games that are played with the referee."""
    for statement in _PLAYS:
        connection.execute(text(statement))


def _as_entries(connection: Connection) -> None:
    """Version 3 keeps all that happens in one order, and may be one recording among many."""
    metadata.create_all(connection)
    (game,) = connection.execute(text("SELECT * FROM game")).mappings()
    facts = {column.name: game[column.name] for column in recording.c if column.name in game}
    facts["id"] = uuid4().hex
    connection.execute(insert(recording), facts)
    found = heapq.merge(_played(connection), _disputed(connection), key=_when)
    for number, (row, pictures) in enumerate(found, start=1):
        key = {"recording": facts["id"], "number": number}
        connection.execute(insert(entry), key | row)
        for each in pictures:
            key = {"recording": facts["id"], "entry": number}
            connection.execute(insert(picture), key | each)
    for name in ("dispute_picture", "dispute", "deed", "play", "game"):
        connection.execute(text(f"DROP TABLE {name}"))


def with_digests(connection: Connection) -> None:
    """Version 4 has digests, and which game of its folder it is; what is there has neither."""
    for table in metadata.sorted_tables:
        there = {each["name"] for each in inspect(connection).get_columns(table.name)}
        for column in table.c:
            if column.name not in there:
                kind = column.type.compile(connection.dialect)
                added = f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}"
                connection.execute(text(added))


_Row = dict[str, Any]
_Found = tuple[_Row, list[_Row]]
"""An entry's row, and the rows of its pictures."""


def _when(found: _Found) -> datetime:
    at = datetime.fromisoformat(found[0]["at"])
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _played(connection: Connection) -> list[_Found]:
    """The games and what was done in them, as rows of entries; none has a picture."""
    found: list[_Found] = []
    plays = connection.execute(text("SELECT * FROM play ORDER BY number")).mappings().all()
    for play in plays:
        found.append(({"at": play["at"], "kind": "play", "document": play["document"]}, []))
        query = text("SELECT * FROM deed WHERE play = :number ORDER BY number")
        for deed in connection.execute(query, {"number": play["number"]}).mappings().all():
            document = json.dumps({"entry": json.loads(deed["document"])}, ensure_ascii=False)
            found.append(({"at": deed["at"], "kind": "deed", "document": document}, []))
    return found


def _disputed(connection: Connection) -> list[_Found]:
    """The disputes as rows of entries, each with the rows of its pictures."""
    found: list[_Found] = []
    disputes = connection.execute(text("SELECT * FROM dispute ORDER BY number")).mappings().all()
    for dispute in disputes:
        whole = {key: json.loads(dispute[key]) for key in ("document", "position")}
        whole = {"dispute": whole["document"], "position": whole["position"]}
        document = json.dumps(whole, ensure_ascii=False)
        pictures = _dispute_pictures(connection, dispute["number"])
        found.append(({"at": dispute["at"], "kind": "dispute", "document": document}, pictures))
    return found


def _dispute_pictures(connection: Connection, number: int) -> list[_Row]:
    query = text("SELECT kind, jpeg FROM dispute_picture WHERE dispute = :number")
    rows = connection.execute(query, {"number": number}).all()
    return [{"kind": row.kind, "media_type": "image/jpeg", "image": row.jpeg} for row in rows]


MIGRATIONS: Final[Mapping[int, Migration]] = {1: _with_plays, 2: _as_entries, 3: with_digests}
"""By the version they start from, what leads to the next one."""

if sorted(MIGRATIONS) != list(range(1, SCHEMA_VERSION)):
    raise AssertionError("each older version needs a step of its own")
