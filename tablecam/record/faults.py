"""What a database complains of, in words for players: one line that names the recording."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError, OperationalError

from tablecam.errors import BadInput

REPAIR: Final = "`tablecam replay FILE --repair OUT` saves what can be saved"
"""What to do about a damaged file."""
_WORDS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the file or its folder may not be written",
    sqlite3.SQLITE_PERM: "the file or its folder may not be written",
    sqlite3.SQLITE_CANTOPEN: "the file or its folder may not be opened",
    sqlite3.SQLITE_BUSY: "another program is writing to it",
    sqlite3.SQLITE_LOCKED: "another program is writing to it",
    sqlite3.SQLITE_IOERR: "the disk is full or refuses",
    sqlite3.SQLITE_ERROR: f"its tables are damaged; {REPAIR}",
    sqlite3.SQLITE_CONSTRAINT: f"it is damaged, or was replaced by another; {REPAIR}",
    sqlite3.SQLITE_MISMATCH: f"it is damaged; {REPAIR}",
    sqlite3.SQLITE_CORRUPT: f"it is damaged; {REPAIR}",
    sqlite3.SQLITE_NOTADB: f"it is damaged, or no recording; {REPAIR}",
}
"""SQLite's faults in words, by primary result code: the low byte of what it gives."""
_DAMAGED: Final = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
}
"""The codes of a damaged or replaced file; our own statements are correct."""
_ROOM_BYTES: Final = 64 * 1024
"""Less than that is a full disk: what SQLite keeps beside a file has 32 kB, an entry a few."""
_NO_TEXT: Final = "Could not decode to UTF-8"
"""What the driver says of a text that was changed to none: no code tells it."""
_REFUSES, _NOT_YET = "FATAL", "the database system is"
"""What the driver says of a server that lets nobody in, or nobody as yet: no code tells it."""


class NoAnswer(BadInput):
    """A server does not answer, or is lost."""


class Damaged(BadInput):
    """A recording's file is damaged, or another lies in its place."""


@contextmanager
def in_words(name: str, deed: str) -> Iterator[None]:
    """Raise a fault of the database or the disk as one clear line; `deed` says what failed.

    Raises:
        Damaged: Naming the file, and what to do about it.
        NoAnswer: Naming the server, what could not be done, and why.
        BadInput: Naming the recording, what could not be done with it, and why.
    """
    try:
        yield
    except DBAPIError as error:
        raise _kind(error, name)(name, f"{deed}: {_because(error, name)}") from error
    except OSError as error:
        raise BadInput(name, f"{deed}: {error.strerror or error}") from error


def is_full(folder: Path) -> bool:
    """Whether there is no room left on the disk that a folder is on."""
    try:
        return shutil.disk_usage(folder).free < _ROOM_BYTES
    except OSError:
        return False


def _because(error: DBAPIError, name: str) -> str:
    """Why something failed; what a full disk does to SQLite often looks like a broken one."""
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and is_full(Path(name).parent):
        code = sqlite3.SQLITE_FULL
    told = " ".join(str(error.orig).split())  # a server says it in lines
    return _WORDS.get(code, f"{told}; {REPAIR}" if _NO_TEXT in told else told)


def _kind(error: DBAPIError, name: str) -> type[BadInput]:
    if _is_no_answer(error):
        return NoAnswer
    return Damaged if _is_damage(error, name) else BadInput


def _is_damage(error: DBAPIError, name: str) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", 0)
    is_one = code & 0xFF in _DAMAGED or code == sqlite3.SQLITE_IOERR_SHORT_READ
    is_one = is_one or _NO_TEXT in str(error.orig)
    return is_one and not is_full(Path(name).parent)


def _is_no_answer(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error) or not isinstance(error, OperationalError):
        return False
    said = str(error.orig)
    return _REFUSES not in said or _NOT_YET in said
