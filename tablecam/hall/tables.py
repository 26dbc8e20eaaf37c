"""The tables of a hall, each as it stands: read on as its recording grows."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import cv2

from tablecam.errors import BadInput
from tablecam.hall.server import Listed
from tablecam.hall.uploader import PRESENCE_S
from tablecam.record.entries import Json
from tablecam.record.faults import NoAnswer
from tablecam.record.journal import Journal
from tablecam.replay.film_table import roster_of, sides_of
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import SHOWN, Scene, Telling
from tablecam.table.sides import side_name

log = logging.getLogger(__name__)

_SILENT_S: Final = 3 * PRESENCE_S
"""A table that has not said for so long that it is there is not playing any more."""
_THUMBNAIL_PX: Final = (720, 480)
_UNITS_ACROSS: Final = 1500.0
_JPEG_QUALITY: Final = 82


@dataclass(frozen=True, slots=True)
class Side:
    """A side as its players know it, and its morale where the game has such a thing."""

    name: str
    morale: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands: the round, whose it is, the sides, and what was done last.

    `round` and `active` are None where nobody referees, or the game has no rounds; nobody is active
    in a game that is over.
    """

    entry: int
    words: str = ""
    sides: tuple[Side, ...] = ()
    round: int | None = None
    active: str | None = None
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a hall as it stands; `name` is empty where its players gave it none."""

    id: str
    name: str
    game: str
    started_at: datetime
    is_playing: bool
    standing: Standing


class Followed:
    """A recording that is read on as it grows; of one that has ended, no more than is asked for."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._telling = Telling(journal.name)
        self._last = 0
        self._words = ""
        self._after: Json | None = None
        self._ended: Standing | None = None
        self._sides: tuple[str, ...] = ()
        self._drawn: tuple[int, bytes] = (-1, b"")
        self._lock = threading.Lock()
        self._faults: list[str] | None = None

    @property
    def is_verified(self) -> bool:
        """Whether `verify` has checked this recording."""
        return self._faults is not None

    def verify(self) -> None:
        """See whether the recording is as it was written; of pictures their digests are enough.

        Raises:
            NoAnswer: The server is lost.
        """
        try:
            self._faults = self.journal.verified(images=False).faults
        except NoAnswer:
            raise
        except BadInput as error:
            self._faults = [str(error)]

    def table(self, listed: Listed) -> Table:
        """How it stands.

        Raises:
            NoAnswer: The server is lost.
        """
        is_playing = listed.silent_s is not None and listed.silent_s < _SILENT_S
        try:
            standing = self._standing() if is_playing else self._as_it_ended(listed.last)
        except NoAnswer:
            raise  # of no recording anything is heard: they are shown as they were
        except Exception as error:  # one recording of many: the others are to be seen all the same
            log.debug("%s cannot be told of", listed.id, exc_info=error)
            standing = Standing(listed.last, f"It cannot be read: {error}")
        if self._faults:
            standing = replace(standing, words=f"Not as it was written: {self._faults[0]}")
        return Table(listed.id, listed.name, listed.game, listed.started_at, is_playing, standing)

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

    def _standing(self) -> Standing:
        with self._lock:
            self._read_on()
            return standing(self._last, self._words, self._sides, self._after)

    def _as_it_ended(self, last: int) -> Standing:
        """The same from the last thing that was done: reading all would take long in a hall."""
        if self._ended is None or self._ended.entry != last:
            deed = self.journal.newest("deed")
            document = {} if deed is None else deed.document
            events = document.get("events") or [{"text": ""}]
            sides = self._named_sides()
            self._ended = standing(last, events[-1]["text"], sides, document.get("after"))
        return self._ended

    def _read_on(self) -> None:
        for entry in self.journal.entries(*SHOWN, after=self._last):
            for scene in self._telling.of(entry):
                self._words = scene.words or self._words
            self._after = entry.document.get("after") or self._after
            self._last = entry.number
        self._sides = self._named_sides()

    def _named_sides(self) -> tuple[str, ...]:
        """The sides as the table file names them, else as they lie on the table."""
        if not self._sides:
            roster = roster_of(self.journal.facts().table_file)
            scene = self._telling.now
            seen = () if scene is None else (unit.side for unit in scene.position.units)
            return tuple(sides_of(roster) if roster is not None else dict.fromkeys(seen))
        return self._sides

    def _picture(self, scene: Scene) -> bytes:
        studio = Studio(self.journal, self._sides, *_THUMBNAIL_PX, units_across=_UNITS_ACROSS)
        table = studio.table(replace(scene, shapes=()))
        _, jpeg = cv2.imencode(".jpg", table, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        return jpeg.tobytes()


def standing(entry: int, words: str, sides: Sequence[str], after: Json | None) -> Standing:
    """How a game stands by what a deed's document has `after` it, None where nobody referees."""
    state = {} if after is None else after["state"]
    of_round = state.get("round") or {}
    morale = {side["name"]: side.get("morale") for side in state.get("sides", ())}
    is_over = after is not None and bool(after.get("is_over"))
    active = None if is_over else of_round.get("active")
    return Standing(
        entry,
        words,
        tuple(Side(side_name(side), morale.get(side)) for side in sides or morale),
        of_round.get("number"),
        active and side_name(active),
        is_over,
    )
