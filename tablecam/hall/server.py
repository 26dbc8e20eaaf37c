"""A hall's server: many recordings in PostgreSQL, and which tables are playing now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    URL,
    Column,
    Connection,
    DateTime,
    Engine,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    func,
    make_url,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from tablecam.errors import BadInput
from tablecam.record.faults import ServerUnavailable, readable_errors
from tablecam.record.journal import Journal
from tablecam.record.schema import SCHEMA_VERSION, entry, metadata, recording

CHANNEL: Final = "tablecam"
"""The channel of the server's notifications of a recording's news: `{"recording": ...}`."""

_TIMEOUT_S: Final = 5
"""How long to wait for a server that does not answer before reporting it."""
_CONNECT_ARGS: Final = {
    "connect_timeout": _TIMEOUT_S,
    "keepalives_idle": _TIMEOUT_S,
    "keepalives_interval": _TIMEOUT_S,
    "keepalives_count": 2,
    "tcp_user_timeout": 3000 * _TIMEOUT_S,
}
"""Without these, a connection to a server that was switched off would block for minutes."""
_LOCK: Final = int.from_bytes(b"tablecam", "big") >> 1
"""An advisory lock for creating the tables: two programs may start at once."""

server_metadata = MetaData()

schema_version = Table(
    "schema_version",
    server_metadata,
    Column("version", Integer, primary_key=True, comment="version of the recordings' tables"),
    comment="one row",
)

presence = Table(
    "presence",
    server_metadata,
    Column("recording", Text, primary_key=True, comment="its id"),
    Column(
        "at",
        DateTime(timezone=True),
        nullable=False,
        comment="when its table last reported, by the server's clock",
    ),
    comment="tables in play report every few seconds, even if nothing happens",
)

table_name = Table(
    "table_name",
    server_metadata,
    Column("recording", Text, primary_key=True, comment="its id"),
    Column("name", Text, nullable=False, comment="the players' name for the table"),
    comment="names of tables; others are identified by start time and players",
)


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """One recording of a hall: its facts, its number of entries, and how long it was silent.

    A table reports its presence every few seconds; `silent_s` is None if it never did. `name` is
    the players' name for the table, or empty.
    """

    id: str
    game: str
    started_at: datetime
    last: int
    silent_s: float | None
    name: str = ""


def server_url(address: str) -> URL:
    """Returns a hall's address as a SQLAlchemy URL.

    Raises:
        BadInput: It is not the address of a PostgreSQL server.
    """
    expected = "expected the address of a PostgreSQL server: postgresql://user@host/database"
    try:
        url = make_url(address)
    # An invalid port raises ValueError.
    except (ArgumentError, ValueError):
        raise BadInput("--record", f"{expected}, got {_without_password(address)}") from None
    if "@" in (url.host or ""):
        because = "write an @ in a password as %40"
        raise BadInput("--record", f"{expected}, got {_without_password(address)}: {because}")
    if url.drivername not in {"postgresql", "postgres", "postgresql+psycopg"} or not url.database:
        raise BadInput("--record", f"{expected}, got {_public_address(url)}")
    return url.set(drivername="postgresql+psycopg")


class Hall:
    """A server with many recordings. Thread-safe; connects when first needed.

    Raises:
        BadInput: The address is not a PostgreSQL server's, or the driver is not installed.
    """

    def __init__(self, address: str) -> None:
        url = server_url(address)
        self.name = _public_address(url)
        self.url = url
        try:
            self.engine: Engine = create_engine(
                url, pool_pre_ping=True, connect_args=dict(_CONNECT_ARGS)
            )
        except (ImportError, NoSuchModuleError):
            because = "PostgreSQL needs another package: pip install 'tablecam[hall]'"
            raise BadInput("--record", because) from None

    def prepare(self) -> None:
        """Creates the tables if needed.

        Raises:
            BadInput: The server cannot be reached, refuses, or has tables of another version.
        """
        with self.writing("cannot be used") as connection:
            # Two programs may start at once. The lock ends with the transaction.
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            metadata.create_all(connection)
            server_metadata.create_all(connection)
            version = connection.execute(select(schema_version.c.version)).scalar_one_or_none()
            if version is None:
                connection.execute(schema_version.insert(), {"version": SCHEMA_VERSION})
            elif version != SCHEMA_VERSION:
                expected = f"expected tables of version {SCHEMA_VERSION}, got version {version}"
                raise BadInput(self.name, f"{expected}: use the matching tablecam")

    @contextmanager
    def writing(self, failure: str) -> Iterator[Connection]:
        """Opens a transaction; reports errors in it as one line, with `failure` for what failed."""
        with readable_errors(self.name, failure), self.engine.begin() as connection:
            yield connection

    def journal(self, recording_id: str) -> Journal:
        """Returns a recording by its id, without checking that it exists."""
        return Journal(self.engine, recording_id, self.name)

    def recordings(self) -> list[RecordingSummary]:
        """Returns all recordings, the newest first.

        Raises:
            BadInput: They cannot be read.
        """
        newest = select(func.max(entry.c.number)).where(entry.c.recording == recording.c.id)
        # Read from the index, without a scan.
        last = func.coalesce(newest.scalar_subquery(), 0).label("last")
        silent_s = func.extract("epoch", func.now() - presence.c.at).label("silent_s")
        name = func.coalesce(table_name.c.name, "").label("name")
        query = (
            select(recording.c.id, recording.c.game, recording.c.started_at, silent_s, last, name)
            .outerjoin(presence, presence.c.recording == recording.c.id)
            .outerjoin(table_name, table_name.c.recording == recording.c.id)
        )
        with self.writing("cannot be read") as connection:
            rows = connection.execute(query).all()
        listed = [
            RecordingSummary(
                row.id,
                row.game,
                datetime.fromisoformat(row.started_at),
                row.last,
                None if row.silent_s is None else float(row.silent_s),
                row.name,
            )
            for row in rows
        ]
        # Not in SQL: the times are texts, perhaps of different zones.
        return sorted(listed, key=lambda row: row.started_at, reverse=True)

    def report_presence(self, recording_id: str) -> None:
        """Stores that a table is playing now.

        Raises:
            BadInput: It cannot be written.
        """
        new = insert(presence).values(recording=recording_id, at=func.now())
        # All reports but the first find an existing row.
        upsert = new.on_conflict_do_update(index_elements=["recording"], set_={"at": func.now()})
        with self.writing("cannot be written") as connection:
            connection.execute(upsert)

    def set_table_name(self, recording_id: str, name: str) -> None:
        """Stores the players' name for the table of a recording.

        Raises:
            BadInput: It cannot be written.
        """
        new = insert(table_name).values(recording=recording_id, name=name)
        upsert = new.on_conflict_do_update(index_elements=["recording"], set_={"name": name})
        with self.writing("cannot be written") as connection:
            connection.execute(upsert)
            notify(connection, recording_id)

    @contextmanager
    def listening(self) -> Iterator[Callable[[float], list[str]]]:
        """Yields a function that waits for news: it returns the recordings that have any.

        Its argument is the longest wait in seconds. News that arrives between two calls is not
        lost.

        Raises:
            BadInput: The server cannot be reached, or the connection is lost.
        """
        with (
            readable_errors(self.name, "cannot receive notifications"),
            self.engine.connect() as connection,
        ):
            # Outside transactions: LISTEN would take effect only at a commit.
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql(f"LISTEN {CHANNEL}")
            driver: Any = connection.connection.driver_connection

            def news(timeout_s: float) -> list[str]:
                # Bypasses SQLAlchemy, so the driver raises its own errors.
                try:
                    # Returns with the first notifications, without waiting for the timeout.
                    notifications = list(driver.notifies(timeout=timeout_s, stop_after=1))
                except self.engine.dialect.loaded_dbapi.Error as error:
                    # A broken connection must not return to the pool.
                    connection.invalidate()
                    because = " ".join(str(error).split())
                    raise ServerUnavailable(self.name, f"is lost: {because}") from error
                return [
                    json.loads(notification.payload)["recording"] for notification in notifications
                ]

            yield news


def notify(connection: Connection, recording_id: str) -> None:
    """Notifies all listeners of a recording's news once the transaction is committed."""
    payload = json.dumps({"recording": recording_id})
    connection.execute(select(func.pg_notify(CHANNEL, payload)))


def _public_address(url: URL) -> str:
    """Returns an address without its password, and without options, which may contain one."""
    name = url.drivername.partition("+")[0]
    return url.set(drivername=name, query={}).render_as_string(hide_password=True)


def _without_password(address: str) -> str:
    """Returns an invalid address without any part that may be a password."""
    # Up to the last @ anything may be a password, and so may the options.
    scheme, colon, rest = address.partition(":")
    _, at, host = rest.rpartition("@")
    return f"{scheme}:***{at}{host.partition('?')[0] if at else ''}" if colon else address
