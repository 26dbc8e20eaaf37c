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
from tablecam.record.faults import NoAnswer
from tablecam.record.journal import Journal

log = logging.getLogger(__name__)

_PATIENCE_S: Final = 1.0
"""How long one look for news lasts, and how soon a lost server is tried again."""
AWAY: Final = "The hall's server does not answer; this is what was known last."
REFUSED: Final = (
    "The hall's server cannot be read; this is what was known last. The log of `tablecam hall` "
    "says why."
)


class HallWatch(Background):
    """A thread that listens to the server; any thread may ask what it knows."""

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
        """Grows with whatever is new."""
        with self._changed:
            return self._version

    @property
    def trouble(self) -> str:
        """Why nothing new is heard of, in one line; empty when all is well."""
        with self._changed:
            return self._trouble

    def is_playing(self, recording_id: str) -> bool:
        """Whether a table is there and plays."""
        return any(each.is_playing for each in self.tables() if each.id == recording_id)

    def name_of(self, recording_id: str) -> str:
        """What players call a table; empty where they do not."""
        return next((each.name for each in self.tables() if each.id == recording_id), "")

    def tables(self) -> tuple[Table, ...]:
        """All tables, those that play first, the newest first."""
        with self._changed:
            return self._tables

    def wait(self, after_version: int, timeout_s: float) -> int | None:
        """The version once it is above `after_version`; None after the timeout."""
        with self._changed:
            newer = self._changed.wait_for(lambda: self._version > after_version, timeout_s)
            return self._version if newer else None

    def journal(self, recording_id: str) -> Journal:
        """A recording of the hall.

        Raises:
            BadInput: There is none of that id.
        """
        return self._known(recording_id).journal

    def thumbnail(self, recording_id: str) -> bytes:
        """A table from above as JPEG; empty before anything lay on it.

        Raises:
            BadInput: There is none of that id.
        """
        return self._known(recording_id).thumbnail()

    def _known(self, recording_id: str) -> Followed:
        with self._changed:
            found = self._followed.get(recording_id)
        if found is None:
            raise BadInput("hall", f"there is no table {recording_id}")
        return found

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except BadInput as error:
                self._say(AWAY if isinstance(error, NoAnswer) else REFUSED, error)
            except Exception as error:  # a fault of ours must not end the watch
                self._say(REFUSED, error)
            self._stopping.wait(_PATIENCE_S)

    def _listen(self) -> None:
        self.hall.prepare()
        with self.hall.listening() as news:
            self._say("")
            is_time = True  # what is there already is shown at once
            while not self._stopping.is_set():
                if is_time:
                    looked_at_s = time.monotonic()
                    self._look()
                heard = news(_PATIENCE_S)
                is_time = bool(heard) or time.monotonic() - looked_at_s >= PRESENCE_S

    def _look(self) -> None:
        """Look at every recording again."""
        listed = self.hall.recordings()
        known = dict(self._followed)
        for each in listed:
            if each.id not in known:
                known[each.id] = Followed(self.hall.journal(each.id))
        with self._changed:
            self._followed = known
        tables = [known[each.id].table(each) for each in listed]
        self._publish(tuple(sorted(tables, key=lambda table: not table.is_playing)))
        # One at a time: a hall has many, and those that play are to be seen meanwhile.
        new = next((each for each in known.values() if not each.is_verified), None)
        if new is not None:
            new.verify()

    def _publish(self, tables: tuple[Table, ...]) -> None:
        with self._changed:
            if tables != self._tables:
                self._tables = tables
                self._version += 1
                self._changed.notify_all()

    def _say(self, trouble: str, error: Exception | None = None) -> None:
        with self._changed:
            if trouble != self._trouble:
                if error is not None:
                    unforeseen = None if isinstance(error, BadInput) else error
                    log.warning("%s (%s)", trouble, error, exc_info=unforeseen)
                self._trouble = trouble
                self._version += 1
                self._changed.notify_all()
