"""A recording in a file of its own: created atomically, opened to write or only to read."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, Row, select, text

import tablecam
from tablecam.errors import BadInput
from tablecam.record.atomic_files import new_file_atomically
from tablecam.record.database import (
    check_recording,
    check_version,
    open_engine,
    set_pragma,
)
from tablecam.record.digests import Verification
from tablecam.record.entries import GameFacts, NewEntry
from tablecam.record.faults import REPAIR, readable_errors
from tablecam.record.journal import Journal, begin_recording, facts_from_row, insert_entry
from tablecam.record.schema import APPLICATION_ID, SCHEMA_VERSION, metadata, recording

log = logging.getLogger(__name__)

SUFFIX: Final = ".tablecam"
_MAX_COMPLAINTS: Final = 5
"""How many findings of SQLite's integrity check are listed."""


class GameFile(Journal):
    """A recording in a file of its own.

    Any thread may use it, and any number of programs may read one that is being written.
    """

    def __init__(self, path: Path, engine: Engine, recording_id: str) -> None:
        super().__init__(engine, recording_id, str(path))
        self.path = path

    @classmethod
    def create(
        cls,
        path: Path,
        facts: GameFacts,
        entries: Iterable[NewEntry] = (),
        written_by: str = tablecam.__version__,
    ) -> GameFile:
        """Creates a recording with its first entries; `path` appears complete or not at all.

        Raises:
            NameTaken: A file of that name exists.
            BadInput: It cannot be written, or reading `entries` failed.
        """
        with readable_errors(str(path), "cannot be written"), new_file_atomically(path) as fresh:
            _fill(fresh, facts, entries, written_by)
        # It was filled under a temporary name, so it is opened again under its own.
        return cls(path, open_engine(path), facts.id)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> GameFile:
        """Opens a recording.

        Raises:
            BadInput: It is no recording, of another version, damaged, or cannot be opened.
        """
        engine, row = _opened(path, read_only=read_only)
        return cls(path, engine, row.id)

    def verified(self, *, images: bool = True) -> Verification:
        """Verifies the file's structure, and by their digests all its rows.

        Raises:
            BadInput: It cannot be read.
        """
        verified = super().verified(images=images)
        query = text(f"PRAGMA integrity_check({_MAX_COMPLAINTS})")
        complaints = [str(row[0]) for row in self._rows(query)]
        if complaints != ["ok"]:
            verified.faults += [
                f"the file is damaged: {' '.join(complaint.split())}" for complaint in complaints
            ]
        return verified


def facts_in(path: Path) -> GameFacts:
    """Returns the facts of a recording in a file.

    Raises:
        BadInput: It is no recording, of another version, damaged, or cannot be opened.
    """
    _, row = _opened(path, read_only=True)
    return facts_from_row(row, str(path))


def games_in(folder: Path) -> list[tuple[Path, GameFacts]]:
    """Returns each recording in a folder with its facts; logs those that cannot be read."""
    games = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            games.append((path, facts_in(path)))
        except BadInput as error:
            log.warning("skipping this recording: %s", error)
    return games


def _opened(path: Path, *, read_only: bool) -> tuple[Engine, Row[Any]]:
    """Returns the engine of a file, and the one row of its recording."""
    check_recording(path)
    with readable_errors(str(path), "cannot be opened"):
        engine = open_engine(path, read_only=read_only)
        with engine.begin() as connection:
            check_version(path, connection)
            rows = connection.execute(select(recording)).all()
    if len(rows) != 1:
        raise BadInput(str(path), f"expected one recording, got {len(rows)}; {REPAIR}")
    return engine, rows[0]


def _fill(path: Path, facts: GameFacts, entries: Iterable[NewEntry], written_by: str) -> None:
    """Creates the tables in an empty file, and writes the game's facts and first entries."""
    with open_engine(path).begin() as connection:
        metadata.create_all(connection)
        set_pragma(connection, "application_id", APPLICATION_ID)
        set_pragma(connection, "user_version", SCHEMA_VERSION)
        # Each entry chains to the digest of the one before it.
        before = begin_recording(connection, facts, written_by)
        for number, entry in enumerate(entries, start=1):
            before = insert_entry(connection, facts.id, number, entry, before)
