"""Watches a hall's server: what all its tables are doing, as it happens."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from tablecam.background import Background
from tablecam.errors import BadInput
from tablecam.hall.server import Hall
from tablecam.hall.tables import Followed, Table
from tablecam.hall.uploader import PRESENCE_S
from tablecam.record.faults import ServerUnavailable
from tablecam.record.journal import Journal

log = logging.getLogger(__name__)

_RETRY_S: Final = 1.0
"""How soon a lost server is tried again."""
_WAIT_S: Final = 0.2
"""How long to wait for news at a time: closing may take as long."""
AWAY: Final = "The hall's server does not answer; this is the last known state."
REFUSED: Final = (
    "The hall's server cannot be read; this is the last known state. See the log of "
    "`tablecam hall` for the reason."
)


class HallWatch(Background):
    """A thread that listens to the server; any thread may read its tables."""

    def __init__(self, hall: Hall) -> None:
        super().__init__("hall watch")
        self.hall = hall
        self._followed: dict[str, Followed] = {}
        self._tables: tuple[Table, ...] = ()
        self._trouble = ""
        self._version = 0
        self._changed = threading.Condition()

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        with self._changed:
            return self._version

    @property
    def trouble(self) -> str:
        """Why no news arrives, in one line; empty if it does."""
        with self._changed:
            return self._trouble

    def is_playing(self, recording_id: str) -> bool:
        """Whether a table is present with a game in progress."""
        return any(table.is_playing for table in self.tables() if table.id == recording_id)

    def name_of(self, recording_id: str) -> str:
        """Returns the players' name for a table; empty if they gave it none."""
        return next((table.name for table in self.tables() if table.id == recording_id), "")

    def tables(self) -> tuple[Table, ...]:
        """Returns all tables, those in play first, then the newest first."""
        with self._changed:
            return self._tables

    def wait(self, after_version: int, timeout_s: float) -> int | None:
        """Waits for a version above `after_version` and returns it; None after the timeout."""
        with self._changed:
            newer = self._changed.wait_for(lambda: self._version > after_version, timeout_s)
            return self._version if newer else None

    def journal(self, recording_id: str) -> Journal:
        """Returns a recording of the hall.

        Raises:
            BadInput: There is none of that id.
        """
        return self._followed_by_id(recording_id).journal

    def thumbnail(self, recording_id: str) -> bytes:
        """Returns a table from above as JPEG; empty before anything lay on it.

        Raises:
            BadInput: There is none of that id.
        """
        return self._followed_by_id(recording_id).thumbnail()

    def _followed_by_id(self, recording_id: str) -> Followed:
        with self._changed:
            followed = self._followed.get(recording_id)
        if followed is None:
            raise BadInput("hall", f"there is no table {recording_id}")
        return followed

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except BadInput as error:
                self._set_trouble(AWAY if isinstance(error, ServerUnavailable) else REFUSED, error)
            # An error of tablecam must not end the watch.
            except Exception as error:
                self._set_trouble(REFUSED, error)
            self._stopping.wait(_RETRY_S)

    def _listen(self) -> None:
        self.hall.prepare()
        # Listen before the first refresh: nothing falls between the two.
        with self.hall.listening() as news:
            self._set_trouble("")
            # Existing tables are shown at once.
            must_refresh = True
            while not self._stopping.is_set():
                if must_refresh:
                    refreshed_at_s = time.monotonic()
                    self._refresh()
                recordings = news(_WAIT_S)
                # A table that falls silent sends no notification.
                must_refresh = bool(recordings) or time.monotonic() - refreshed_at_s >= PRESENCE_S

    def _refresh(self) -> None:
        """Reads the status of every recording again."""
        listed = self.hall.recordings()
        followed = dict(self._followed)
        for recording in listed:
            if recording.id not in followed:
                followed[recording.id] = Followed(self.hall.journal(recording.id))
        with self._changed:
            self._followed = followed
        tables = [followed[recording.id].table(recording) for recording in listed]
        self._publish(tuple(sorted(tables, key=lambda table: not table.is_playing)))
        # One at a time: a hall has many, and the tables in play must stay up to date.
        unverified = next(
            (candidate for candidate in followed.values() if not candidate.is_verified), None
        )
        if unverified is not None:
            unverified.verify()

    def _publish(self, tables: tuple[Table, ...]) -> None:
        with self._changed:
            if tables != self._tables:
                self._tables = tables
                self._version += 1
                self._changed.notify_all()

    def _set_trouble(self, trouble: str, error: Exception | None = None) -> None:
        with self._changed:
            if trouble != self._trouble:
                if error is not None:
                    unforeseen = None if isinstance(error, BadInput) else error
                    log.warning("%s (%s)", trouble, error, exc_info=unforeseen)
                self._trouble = trouble
                self._version += 1
                self._changed.notify_all()
