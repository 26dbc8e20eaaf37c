"""Opens the SQLite database of a game file: durable writes, a single file, versions checked."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path, PurePath
from typing import Any, Final

from sqlalchemy import Connection, Engine, NullPool, create_engine, event

from tablecam.errors import BadInput
from tablecam.record.faults import REPAIR, is_full, readable_errors
from tablecam.record.schema import APPLICATION_ID, SCHEMA_VERSION

MAGIC: Final = b"SQLite format 3\x00"
"""The bytes that every SQLite database begins with."""
_PATIENCE_S: Final = 1.0
"""How long to wait for another program that writes to the same file; players wait meanwhile."""


def open_engine(path: Path, *, read_only: bool = False) -> Engine:
    """Returns the engine of a game file; any thread may use it.

    Each transaction opens and closes the file (a millisecond or two), which folds in the
    write-ahead log. Between transactions the folder holds one file that can be copied.
    """

    def connect() -> sqlite3.Connection:
        # For each connection: whether the disk is full may change.
        address = _address(path, read_only)
        # Without an isolation level the driver never begins a transaction; `_begin` does.
        return sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None)

    engine = create_engine("sqlite+pysqlite://", poolclass=NullPool, creator=connect)
    event.listen(engine, "connect", _prepare if not read_only else _prepare_reading)
    event.listen(engine, "begin", _begin if not read_only else _begin_reading)
    return engine


def check_recording(path: Path) -> None:
    """Refuses a file that is no SQLite database, without opening it as one.

    Raises:
        BadInput: The file is missing, cannot be read, or is no database.
    """
    try:
        with readable_errors(str(path), "cannot be read"), path.open("rb") as file:
            first_bytes = file.read(len(MAGIC))
    except BadInput as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        because = "there is no such file"
        raise BadInput(str(path), because) from None
    if first_bytes != MAGIC:
        raise BadInput(str(path), "expected a tablecam recording, got another kind of file")


def check_version(path: Path, connection: Connection) -> None:
    """Refuses a database whose tables are not those of a recording.

    Raises:
        BadInput: The database is another program's, or another version of tablecam's.
    """
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise BadInput(str(path), "expected a tablecam recording, got another program's database")
    version = _pragma(connection, "user_version")
    if version != SCHEMA_VERSION:
        hint = "it needs a newer tablecam" if version > SCHEMA_VERSION else REPAIR
        expected = f"expected a recording of version {SCHEMA_VERSION}, got version {version}"
        raise BadInput(str(path), f"{expected}; {hint}")


def set_pragma(connection: Connection, name: str, value: int) -> None:
    """Writes one of the numbers in the database's header."""
    connection.exec_driver_sql(f"PRAGMA {name} = {value:d}")


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())


def _address(path: Path, read_only: bool) -> str:
    """Returns the URI by which SQLite opens the file; a reader leaves no log files behind."""
    address = _uri(path.absolute())
    if not read_only or _may_write(path.absolute().parent):
        return f"{address}?mode=rw"
    # SQLite writes beside a database with a write-ahead log even to read it, which fails on a
    # read-only or full disk. Without a log that holds data, `immutable` is safe.
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return f"{address}?{'mode=ro' if has_log else 'immutable=1'}"


def _uri(path: PurePath) -> str:
    """Returns a file's URI; SQLite accepts no host, so a Windows share's becomes part of the path.

    >>> from pathlib import PureWindowsPath
    >>> _uri(PureWindowsPath("C:/games/an evening.tablecam"))
    'file:///C:/games/an%20evening.tablecam'
    >>> _uri(PureWindowsPath("//server/share/a.tablecam"))
    'file:////server/share/a.tablecam'
    """
    address = path.as_uri()
    has_host = not address.startswith("file:///")
    return address.replace("file://", "file:////", 1) if has_host else address


def _may_write(folder: Path) -> bool:
    # `os.access` checks the real user by default, but SQLite writes as the effective one.
    may = os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
    return may and not is_full(folder)


def _prepare(connection: Any, _: object) -> None:
    # With a write-ahead log others can read while a game is being written.
    connection.execute("PRAGMA journal_mode = WAL")
    # Sync at each commit: what was appended survives a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Some SQLite builds leave old data in freed space; blanked, a later change there shows.
    connection.execute("PRAGMA secure_delete = ON")


def _prepare_reading(connection: Any, _: object) -> None:
    # A reader may hold the file open for writing (`_address`); its statements must not write.
    connection.execute("PRAGMA query_only = ON")


def _begin(connection: Connection) -> None:
    # Takes the write lock at once: SQLite may refuse to upgrade a read lock without waiting.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_reading(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
