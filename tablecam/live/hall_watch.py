"""Watches a hall's server: what all its tables are doing, as it happens."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import cv2

from tablecam.errors import BadInput
from tablecam.live.background import Background
from tablecam.live.sending import PRESENCE_S
from tablecam.record.faults import NoAnswer
from tablecam.record.journal import Journal
from tablecam.record.server import Hall, Listed
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import SHOWN, Scene, Telling, headline

log = logging.getLogger(__name__)

_SILENT_S: Final = 3 * PRESENCE_S
"""A table that has not said for so long that it is there is not playing any more."""
_PATIENCE_S: Final = 1.0
"""How long one look for news lasts, and how soon a lost server is tried again."""
AWAY: Final = "The hall's server does not answer; this is what was known last."
REFUSED: Final = (
    "The hall's server cannot be read; this is what was known last. The log of `tablecam hall` "
    "says why."
)
_THUMBNAIL_PX: Final = (720, 480)
_UNITS_ACROSS: Final = 1500.0
_JPEG_QUALITY: Final = 82


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a hall as it stands: how its game stands, in a line, and what was done last."""

    id: str
    game: str
    started_at: datetime
    is_playing: bool
    entry: int
    headline: str = ""
    words: str = ""


class _Followed:
    """A recording that is read on as it grows; of one that has ended, no more than is asked for."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._telling = Telling(journal.name)
        self._last = 0
        self._words = ""
        self._ended: tuple[int, str, str] = (-1, "", "")
        self._sides: tuple[str, ...] = ()
        self._drawn: tuple[int, bytes] = (-1, b"")
        self._lock = threading.Lock()

    def table(self, listed: Listed) -> Table:
        """How it stands."""
        is_playing = listed.silent_s is not None and listed.silent_s < _SILENT_S
        facts = (listed.id, listed.game, listed.started_at, is_playing)
        try:
            standing = self._standing() if is_playing else self._as_it_ended(listed.last)
        except Exception as error:  # one recording of many: the others are to be seen all the same
            log.debug("%s cannot be told of", listed.id, exc_info=error)
            return Table(*facts, listed.last, words=f"It cannot be read: {error}")
        return Table(*facts, *standing)

    def thumbnail(self) -> bytes:
        """The table from above as JPEG; empty before anything lay on it.

        Raises:
            BadInput: The recording cannot be read, and never was.
        """
        with self._lock:
            try:
                self._read_on()
            except BadInput:
                if not self._drawn[1]:
                    raise
                return self._drawn[1]  # as it was seen last: the server will be back
            scene = self._telling.now
            if scene is not None and self._drawn[0] != self._last:
                self._drawn = (self._last, self._picture(scene))
            return self._drawn[1]

    def _standing(self) -> tuple[int, str, str]:
        with self._lock:
            self._read_on()
            scene = self._telling.now
            return self._last, "" if scene is None else scene.headline, self._words

    def _as_it_ended(self, last: int) -> tuple[int, str, str]:
        """The same from the last thing that was done: reading all would take long in a hall."""
        if self._ended[0] != last:
            deed = self.journal.newest("deed")
            document = {} if deed is None else deed.document
            after, events = document.get("after"), document.get("events") or [{"text": ""}]
            self._ended = (last, headline(after) if after else "", events[-1]["text"])
        return self._ended

    def _read_on(self) -> None:
        for entry in self.journal.entries(*SHOWN, after=self._last):
            for scene in self._telling.of(entry):
                self._words = scene.words or self._words
            self._last = entry.number

    def _picture(self, scene: Scene) -> bytes:
        sides = tuple(dict.fromkeys(unit.side for unit in scene.position.units))
        self._sides = self._sides or sides
        studio = Studio(self.journal, self._sides, *_THUMBNAIL_PX, units_across=_UNITS_ACROSS)
        table = studio.table(replace(scene, shapes=()))
        _, jpeg = cv2.imencode(".jpg", table, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        return jpeg.tobytes()


class HallWatch(Background):
    """A thread that listens to the server; any thread may ask what it knows."""

    def __init__(self, hall: Hall) -> None:
        super().__init__("hall watch")
        self.hall = hall
        self._followed: dict[str, _Followed] = {}
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

    def _known(self, recording_id: str) -> _Followed:
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
            looked_at_s = -PRESENCE_S
            while not self._stopping.is_set():
                heard = news(_PATIENCE_S)
                is_time = time.monotonic() - looked_at_s >= PRESENCE_S
                if heard or is_time:
                    looked_at_s = time.monotonic()
                    self._look()

    def _look(self) -> None:
        """Look at every recording again."""
        listed = self.hall.recordings()
        known = dict(self._followed)
        for each in listed:
            if each.id not in known:
                known[each.id] = _Followed(self.hall.journal(each.id))
        with self._changed:
            self._followed = known
        tables = [known[each.id].table(each) for each in listed]
        self._publish(tuple(sorted(tables, key=lambda table: not table.is_playing)))

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
