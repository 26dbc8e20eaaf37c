"""The tables of a game file, for who reads one with other tools too: each column says what it is.

A game file is an SQLite database whose `application_id` is `APPLICATION_ID` ("tcam") and whose
`user_version` is the version of these tables. Documents are JSON as the interfaces have them.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

APPLICATION_ID: Final = int.from_bytes(b"tcam", "big")
SCHEMA_VERSION: Final = 2
FORMAT: Final = "tablecam.game"

metadata = MetaData()

game = Table(
    "game",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, comment="1: one game"),
    Column("format", Text, nullable=False, comment=FORMAT),
    Column("game", Text, nullable=False, comment="the rule system, as a table file names it"),
    Column("table_file", Text, nullable=False, comment="the table file's text (TOML)"),
    Column("camera_file", Text, comment="the camera file's text (JSON); none on simulated tables"),
    Column("started_at", Text, nullable=False, comment="ISO 8601 with its zone"),
    Column("written_by", Text, nullable=False, comment="the version of tablecam that began it"),
    comment="what the game was played with; one row",
)

dispute = Table(
    "dispute",
    metadata,
    Column("number", Integer, primary_key=True, comment="from 1, in the order of asking"),
    Column("at", Text, nullable=False, comment="when it was asked: ISO 8601 with its zone"),
    Column("question", Text, nullable=False, comment="in words"),
    Column("answer", Text, comment="yes, no or too_close; none where it says more than that"),
    Column("document", Text, nullable=False, comment="all that was said, as JSON"),
    Column("position", Text, nullable=False, comment="what lay on the table: a position document"),
    comment="questions that players disagreed on, with the position that answered them",
)

dispute_picture = Table(
    "dispute_picture",
    metadata,
    Column("dispute", Integer, ForeignKey("dispute.number"), primary_key=True, comment="whose"),
    Column(
        "kind",
        Text,
        CheckConstraint("kind IN ('plain', 'drawn')"),
        primary_key=True,
        comment="plain: as the camera saw it; drawn: with the evidence on it",
    ),
    Column("jpeg", LargeBinary, nullable=False, comment="the picture's file"),
    comment="the camera's picture of each dispute, cut to the place",
)

play = Table(
    "play",
    metadata,
    Column("number", Integer, primary_key=True, comment="from 1: a table may see several games"),
    Column("at", Text, nullable=False, comment="when it began: ISO 8601 with its zone"),
    Column("document", Text, nullable=False, comment="how it began: a play document without log"),
    comment="games that were played with the referee",
)

deed = Table(
    "deed",
    metadata,
    Column("play", Integer, ForeignKey("play.number"), primary_key=True, comment="of which game"),
    Column("number", Integer, primary_key=True, comment="from 1, in the order of doing"),
    Column("at", Text, nullable=False, comment="when it was done: ISO 8601 with its zone"),
    Column("document", Text, nullable=False, comment="an entry of a play document's log"),
    comment="actions with their dice and cards, and what was taken back, as they were done",
)
