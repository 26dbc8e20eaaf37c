"""Turns database and disk errors into one line for players that names the recording."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError, OperationalError

from tablecam.errors import BadInput
from tablecam.record.atomic_files import disk_errors

REPAIR: Final = "`tablecam replay FILE --repair OUT` recovers what is readable"
"""What to do about a damaged file."""
_MESSAGES: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the file or its folder cannot be written",
    sqlite3.SQLITE_PERM: "the file or its folder cannot be written",
    sqlite3.SQLITE_CANTOPEN: "the file or its folder cannot be opened",
    sqlite3.SQLITE_BUSY: "another program is writing to it",
    sqlite3.SQLITE_LOCKED: "another program is writing to it",
    sqlite3.SQLITE_IOERR: "the disk is full or failing",
    sqlite3.SQLITE_ERROR: f"its tables are damaged; {REPAIR}",
    sqlite3.SQLITE_CONSTRAINT: f"it is damaged, or was replaced by another; {REPAIR}",
    sqlite3.SQLITE_MISMATCH: f"it is damaged; {REPAIR}",
    sqlite3.SQLITE_CORRUPT: f"it is damaged; {REPAIR}",
    sqlite3.SQLITE_NOTADB: f"it is damaged, or not a recording; {REPAIR}",
}
"""SQLite's faults in words, by primary result code: the low byte of the extended code."""
_DAMAGED: Final = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
}
"""The codes of a damaged or replaced file: our own statements are correct."""
_MIN_FREE_BYTES: Final = 64 * 1024
"""Less free space counts as a full disk: SQLite's files beside a database take 32 kB."""
_NOT_UTF8: Final = "Could not decode to UTF-8"
"""The driver's message about damaged text, for which it has no code."""
_REFUSES, _NOT_YET = "FATAL", "the database system is"
"""Parts of the driver's message when a server refuses a login, for good or while starting up."""


class ServerUnavailable(BadInput):
    """A server does not answer, or the connection is lost."""


class Damaged(BadInput):
    """A recording's file is damaged, or another was put in its place."""


@contextmanager
def readable_errors(name: str, failure: str) -> Iterator[None]:
    """Reports a database or disk error as one clear line; `failure` says what failed.

    Raises:
        Damaged: Names the file, and what to do about it.
        ServerUnavailable: Names the server, what could not be done, and why.
        BadInput: Names the recording, what could not be done with it, and why.
    """
    try:
        with disk_errors(name, failure):
            yield
    except DBAPIError as error:
        raise _kind(error, name)(name, f"{failure}: {_because(error, name)}") from error


def is_full(folder: Path) -> bool:
    """Whether the disk that holds a folder has no free space left."""
    try:
        return shutil.disk_usage(folder).free < _MIN_FREE_BYTES
    except OSError:
        return False


def _because(error: DBAPIError, name: str) -> str:
    """Returns why something failed."""
    # The low byte is the primary code; the rest is detail that players do not need.
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    # SQLite often reports a full disk as a broken one.
    if code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and is_full(Path(name).parent):
        code = sqlite3.SQLITE_FULL
    # A server's message has several lines.
    message = " ".join(str(error.orig).split())
    return _MESSAGES.get(code, f"{message}; {REPAIR}" if _NOT_UTF8 in message else message)


def _kind(error: DBAPIError, name: str) -> type[BadInput]:
    if _is_no_answer(error):
        return ServerUnavailable
    return Damaged if _is_damage(error, name) else BadInput


def _is_damage(error: DBAPIError, name: str) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", 0)
    # A truncated file has an I/O error's code, but no other disk would help.
    is_damage = code & 0xFF in _DAMAGED or code == sqlite3.SQLITE_IOERR_SHORT_READ
    is_damage = is_damage or _NOT_UTF8 in str(error.orig)
    # Statements also fail with these codes for want of room.
    return is_damage and not is_full(Path(name).parent)


def _is_no_answer(error: DBAPIError) -> bool:
    # SQLite's errors are about a file, never about a server.
    if isinstance(error.orig, sqlite3.Error) or not isinstance(error, OperationalError):
        return False
    message = str(error.orig)
    # All other operational errors of a server mean that it is away.
    return _REFUSES not in message or _NOT_YET in message
