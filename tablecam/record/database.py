"""Opens the SQLite database of a game file: safe writes, one file at rest, versions checked."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, Final

from sqlalchemy import Connection, Engine, NullPool, StaticPool, create_engine, event

from tablecam.errors import BadInput
from tablecam.record.faults import REPAIR, in_words, is_full
from tablecam.record.migrations import MIGRATIONS, Migration
from tablecam.record.schema import APPLICATION_ID, SCHEMA_VERSION

MAGIC: Final = b"SQLite format 3\x00"
"""With it every SQLite database begins."""
_PATIENCE_S: Final = 1.0
"""How long to wait for another program that writes to the same file. Players wait, too."""


def engine_of(path: Path, *, read_only: bool = False) -> Engine:
    """The engine of a game file; it may be used from any thread.

    Each transaction opens the file and closes it again (a millisecond or two): so the write-ahead
    log is folded in each time, and what lies in the folder is one file that can be copied.
    """

    def connect() -> sqlite3.Connection:
        address = _address(path, read_only)  # a disk may be full by now, or be so no longer
        # We begin; the driver never.
        return sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None)

    engine = create_engine("sqlite+pysqlite://", poolclass=NullPool, creator=connect)
    event.listen(engine, "connect", _prepare if not read_only else _prepare_reading)
    event.listen(engine, "begin", _begin if not read_only else _begin_reading)
    return engine


def engine_in_memory(path: Path) -> Engine:
    """The engine of a copy of a game file: to bring up to date what may not be written."""
    copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    original = sqlite3.connect(_address(path, read_only=True), uri=True)
    try:
        original.backup(copy)
    finally:
        original.close()
    return create_engine("sqlite+pysqlite://", poolclass=StaticPool, creator=lambda: copy)


def check_recording(path: Path) -> None:
    """Refuse, without opening it as a database, a file that is none.

    Raises:
        BadInput: It is missing, cannot be read, or is no database.
    """
    try:
        with in_words(str(path), "cannot be read"), path.open("rb") as file:
            begins = file.read(len(MAGIC))
    except BadInput as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        because = "expected a recording, but there is no file of that name"
        raise BadInput(str(path), because) from None
    if begins != MAGIC:
        raise BadInput(str(path), "expected a recording of tablecam, got another kind of file")


def check_version(path: Path, connection: Connection, newest: int = SCHEMA_VERSION) -> int:
    """The version of a recording's tables, not above `newest`.

    Raises:
        BadInput: It is another program's database, or a newer tablecam's.
    """
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise BadInput(
            str(path), "expected a recording of tablecam, got another program's database"
        )
    version = _pragma(connection, "user_version")
    if version > newest:
        expected = f"expected a recording of version {newest} or older, got version {version}"
        raise BadInput(str(path), f"{expected}: a newer tablecam opens it")
    if version < 1:
        expected = f"expected a recording of version 1 to {newest}, got version {version}"
        raise BadInput(str(path), f"{expected}; {REPAIR}")
    return version


def migrate(
    path: Path,
    connection: Connection,
    *,
    steps: Mapping[int, Migration] = MIGRATIONS,
    newest: int = SCHEMA_VERSION,
) -> None:
    """Bring an older recording's tables up to date, all in the connection's one transaction.

    Raises:
        BadInput: It is no recording, or of a newer version.
    """
    for version in range(check_version(path, connection, newest), newest):
        steps[version](connection)
        set_pragma(connection, "user_version", version + 1)


def set_pragma(connection: Connection, name: str, value: int) -> None:
    """Write one of the numbers in the database's header."""
    connection.exec_driver_sql(f"PRAGMA {name} = {value:d}")


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())


def _address(path: Path, read_only: bool) -> str:
    """The file as SQLite is told to open it; a reader that could write leaves no logs lying."""
    address = _uri(path.absolute())
    if not read_only or _may_write(path.absolute().parent):
        return f"{address}?mode=rw"
    # A database with a write-ahead log wants to write beside itself even when it is only read,
    # which fails on a disc, a full disk or a friend's share; nothing is in a log that is not there.
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return f"{address}?{'mode=ro' if has_log else 'immutable=1'}"


def _uri(path: PurePath) -> str:
    """A file's address; SQLite takes none with a host, as Windows has for what others share.

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
    may = os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
    return may and not is_full(folder)


def _prepare(connection: Any, _: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Room that is free stays blank, in SQLites that are not built so, too: a change there shows.
    connection.execute("PRAGMA secure_delete = ON")


def _prepare_reading(connection: Any, _: object) -> None:
    connection.execute("PRAGMA query_only = ON")


def _begin(connection: Connection) -> None:
    # At once a writer: a reader that becomes one may be refused without waiting.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_reading(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
