"""The tables of a recording, each column with a comment for readers with other tools.

A game file is an SQLite database whose `application_id` is `APPLICATION_ID` ("tcam") and whose
`user_version` is the version of these tables. A hall stores many recordings in the same tables of
a server. README.md beside this file describes the document of each kind of entry.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

APPLICATION_ID: Final = int.from_bytes(b"tcam", "big")
SCHEMA_VERSION: Final = 4
FORMAT: Final = "tablecam.game"

metadata = MetaData()

recording = Table(
    "recording",
    metadata,
    Column("id", Text, primary_key=True, comment="32 random hexadecimal digits"),
    Column("format", Text, nullable=False, comment=FORMAT),
    Column("game", Text, nullable=False, comment="the rule system, as a table file names it"),
    Column("table_file", Text, nullable=False, comment="the table file's text (TOML)"),
    Column("camera_file", Text, comment="the camera file's text (JSON); none on simulated tables"),
    Column("started_at", Text, nullable=False, comment="ISO 8601 with its zone"),
    Column("written_by", Text, nullable=False, comment="the version of tablecam that began it"),
    Column("place", Integer, comment="its number among its folder's games, by no clock"),
    Column("digest", Text, nullable=False, comment="SHA-256 of this row (digests.py)"),
    comment="the settings of a game; a game file has one row",
)

entry = Table(
    "entry",
    metadata,
    Column("recording", Text, ForeignKey(recording.c.id), primary_key=True, comment="its id"),
    Column("number", Integer, primary_key=True, comment="from 1 without gaps, in order of time"),
    Column("at", Text, nullable=False, comment="time: ISO 8601 with its zone"),
    Column("kind", Text, nullable=False, comment="position, move, play, deed, ..."),
    Column("document", Text, nullable=False, comment="its content, as JSON"),
    Column("digest", Text, nullable=False, comment="of this row, its pictures and the one before"),
    comment="all events in order; rows are added and never changed",
)

Index("entry_by_kind", entry.c.recording, entry.c.kind, entry.c.number)

picture = Table(
    "picture",
    metadata,
    Column("recording", Text, primary_key=True, comment="its id"),
    Column("entry", Integer, primary_key=True, comment="the entry that it shows"),
    Column("kind", Text, primary_key=True, comment="table, before, after, plain or drawn"),
    Column("media_type", Text, nullable=False, comment="image/jpeg or image/webp"),
    Column("image", LargeBinary, nullable=False, comment="the image file"),
    Column("digest", Text, nullable=False, comment="of this row; its entry's digest includes it"),
    ForeignKeyConstraint(["recording", "entry"], [entry.c.recording, entry.c.number]),
    comment="the camera's pictures of entries",
)
