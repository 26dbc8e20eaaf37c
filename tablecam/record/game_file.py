"""The game as one file: made whole or not at all, opened by whoever may."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, select, text

import tablecam
from tablecam.errors import BadInput
from tablecam.record.database import (
    check_recording,
    check_version,
    engine_in_memory,
    engine_of,
    migrate,
    set_pragma,
)
from tablecam.record.digests import Verified
from tablecam.record.entries import GameFacts, NewEntry
from tablecam.record.faults import REPAIR, in_words
from tablecam.record.journal import Journal, begin_recording, facts_of, insert_entry
from tablecam.record.schema import APPLICATION_ID, SCHEMA_VERSION, metadata, recording
from tablecam.record.whole_files import whole_file

log = logging.getLogger(__name__)

SUFFIX: Final = ".tablecam"
_MOST_COMPLAINTS: Final = 5
"""How many of SQLite's findings are listed."""
_ONE_ROW_SINCE: Final = 3
"""Since that version a recording's facts are one row of a table of their own."""


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
        """A new recording, with the entries that it begins with; under its name is all, or nothing.

        Raises:
            NameTaken: There is a file of that name.
            BadInput: It cannot be written, or what is to be in it cannot be had.
        """
        with whole_file(path) as fresh:
            _fill(fresh, facts, entries, written_by)
        return cls(path, engine_of(path), facts.id)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> GameFile:
        """The recording in a file; an older one is brought up to date, or a copy if only read.

        Raises:
            BadInput: It is no recording, of a newer version, damaged, or cannot be opened.
        """
        check_recording(path)
        with in_words(str(path), "cannot be opened"):
            engine = _engine(path, read_only)
            with engine.begin() as connection:
                if not read_only:
                    migrate(path, connection)
                ids = connection.execute(select(recording.c.id)).scalars().all()
        if len(ids) != 1:
            raise BadInput(str(path), f"expected one recording, got {len(ids)}; {REPAIR}")
        return cls(path, engine, ids[0])

    def verified(self, *, images: bool = True) -> Verified:
        """Whether the file is whole, and all in it as it was written, going by its digests.

        Raises:
            BadInput: It cannot be read.
        """
        found = super().verified(images=images)
        query = text(f"PRAGMA integrity_check({_MOST_COMPLAINTS})")
        complaints = [str(row[0]) for row in self._rows(query)]
        if complaints != ["ok"]:
            found.faults += [
                f"the file is damaged: {' '.join(each.split())}" for each in complaints
            ]
        return found


def facts_in(path: Path) -> GameFacts:
    """What a recording in a file is of; an older one is not brought up to date for that.

    Raises:
        BadInput: It is no recording, of a newer version, damaged, or cannot be opened.
    """
    check_recording(path)
    with in_words(str(path), "cannot be opened"):
        engine = engine_of(path, read_only=True)
        with engine.begin() as connection:
            is_old = check_version(path, connection) < _ONE_ROW_SINCE
            rows = () if is_old else connection.execute(text("SELECT * FROM recording")).all()
    if is_old:
        return GameFile.open(path, read_only=True).facts()
    if len(rows) != 1:
        raise BadInput(str(path), f"expected one recording, got {len(rows)}; {REPAIR}")
    return facts_of(rows[0], str(path))


def games_in(folder: Path) -> list[tuple[Path, GameFacts]]:
    """What each recording in a folder is of; one that cannot be read is named in the log."""
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            found.append((path, facts_in(path)))
        except BadInput as error:
            log.warning("this game is left alone: %s", error)
    return found


def _engine(path: Path, read_only: bool) -> Engine:
    """An engine of a file, or of an up to date copy if it is older and only to be read."""
    engine = engine_of(path, read_only=read_only)
    if not read_only:
        return engine
    with engine.begin() as connection:
        if check_version(path, connection) == SCHEMA_VERSION:
            return engine
    copy = engine_in_memory(path)
    with copy.begin() as connection:
        migrate(path, connection)
    return copy


def _fill(path: Path, facts: GameFacts, entries: Iterable[NewEntry], written_by: str) -> None:
    """Make the tables in an empty file, and write the game's one row and what is in it already."""
    with engine_of(path).begin() as connection:
        metadata.create_all(connection)
        set_pragma(connection, "application_id", APPLICATION_ID)
        set_pragma(connection, "user_version", SCHEMA_VERSION)
        before = begin_recording(connection, facts, written_by)
        for number, each in enumerate(entries, start=1):
            before = insert_entry(connection, facts.id, number, each, before)
