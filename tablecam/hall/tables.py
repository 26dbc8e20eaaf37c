"""The tables of a hall, updated as their recordings grow."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from tablecam.capture.picture import jpeg_bytes
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.hall.server import RecordingSummary
from tablecam.hall.uploader import PRESENCE_S
from tablecam.record.faults import ServerUnavailable
from tablecam.record.journal import Journal
from tablecam.replay.film_table import roster_of
from tablecam.replay.pictures import Studio
from tablecam.replay.scenes import SHOWN, Scene, SceneBuilder
from tablecam.rules.descriptions import Described, Standing
from tablecam.rules.games import described
from tablecam.table.sides import colour_numbers, side_name, side_plural

log = logging.getLogger(__name__)

_SILENT_S: Final = 3 * PRESENCE_S
"""A table that has not reported its presence for this long is no longer playing."""
_THUMBNAIL_PX: Final = (720, 480)
_UNITS_ACROSS: Final = 1500.0
_JPEG_QUALITY: Final = 82


@dataclass(frozen=True, slots=True)
class Side:
    """A side as its players know it, and the figure that best sums up its status, if any.

    `colour` is the number of its colour in the palette.
    """

    name: str
    figure: str = ""
    colour: int = 0


@dataclass(frozen=True, slots=True)
class GameStatus:
    """The status of a game: the turn, the active side, the sides, and the last action.

    `turn` is empty and `active` None without a referee, or if the game has no turns; `active` is
    None once the game is over.
    """

    entry: int
    words: str = ""
    sides: tuple[Side, ...] = ()
    turn: str = ""
    active: str | None = None
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a hall with its game's status; `name` is empty if its players gave it none.

    `title` is the name of its rulebook as players know it, or else of its game.
    """

    id: str
    name: str
    game: str
    title: str
    started_at: datetime
    is_playing: bool
    standing: GameStatus


class Followed:
    """A recording that is followed as it grows; an ended one is read only as far as needed."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._telling = SceneBuilder(journal.name)
        self._last = 0
        self._words = ""
        self._after: Json | None = None
        self._ended: GameStatus | None = None
        self._sides: tuple[str, ...] = ()
        self._drawn: tuple[int, bytes] = (-1, b"")
        self._lock = threading.Lock()
        self._faults: list[str] | None = None

    @property
    def is_verified(self) -> bool:
        """Whether `verify` has checked this recording."""
        return self._faults is not None

    def verify(self) -> None:
        """Verifies the recording by its digests, without reading its pictures.

        Raises:
            ServerUnavailable: The connection to the server is lost.
        """
        try:
            self._faults = self.journal.verified(images=False).faults
        except ServerUnavailable:
            raise
        except BadInput as error:
            self._faults = [str(error)]

    def table(self, listed: RecordingSummary) -> Table:
        """Returns the table with its game's status.

        Raises:
            ServerUnavailable: The connection to the server is lost.
        """
        is_playing = listed.silent_s is not None and listed.silent_s < _SILENT_S
        try:
            status = self._status_now() if is_playing else self._final_status(listed.last)
        except ServerUnavailable:
            # No recording can be read: keep all tables as they were.
            raise
        # One recording of many must not hide the others.
        except Exception as error:
            log.debug("%s cannot be shown", listed.id, exc_info=error)
            status = GameStatus(listed.last, f"This recording cannot be read: {error}")
        if self._faults:
            status = replace(status, words=f"Changed since it was written: {self._faults[0]}")
        title = described(listed.game).title or listed.game
        return Table(
            listed.id, listed.name, listed.game, title, listed.started_at, is_playing, status
        )

    def thumbnail(self) -> bytes:
        """Returns the table from above as JPEG; empty before anything lay on it.

        Raises:
            BadInput: The recording cannot be read, and has never been.
        """
        with self._lock:
            try:
                self._read_new()
            except BadInput:
                if not self._drawn[1]:
                    raise
                # Keep the last picture: the server may come back.
                return self._drawn[1]
            scene = self._telling.now
            if scene is not None and self._drawn[0] != self._last:
                self._drawn = (self._last, self._picture(scene))
            return self._drawn[1]

    def _status_now(self) -> GameStatus:
        with self._lock:
            self._read_new()
            return game_status(self._game(), self._last, self._words, self._sides, self._after)

    def _final_status(self, last: int) -> GameStatus:
        """Returns the status of an ended game."""
        # Only from its last action, or its beginning: reading all of a long game takes long.
        if self._ended is None or self._ended.entry != last:
            newest = self.journal.newest("deed", "play")
            document = {} if newest is None else newest.document
            events = document.get("events") or [{"text": ""}]
            sides = self._side_names()
            words = events[-1]["text"]
            self._ended = game_status(self._game(), last, words, sides, document.get("after"))
        return self._ended

    def _read_new(self) -> None:
        for entry in self.journal.entries(*SHOWN, after=self._last):
            for scene in self._telling.scenes_of(entry):
                self._words = scene.words or self._words
            # Entries without a status leave it as it was.
            self._after = entry.document.get("after") or self._after
            self._last = entry.number
        self._sides = self._side_names()

    def _game(self) -> Described:
        return described(self.journal.facts().game)

    def _side_names(self) -> tuple[str, ...]:
        """Returns the sides in the order of the table file, or else of the units."""
        if not self._sides:
            roster = roster_of(self.journal.facts().table_file)
            scene = self._telling.now
            if roster is None:
                return () if scene is None else tuple(scene.position.sides)
            return tuple(roster.sides)
        return self._sides

    def _picture(self, scene: Scene) -> bytes:
        studio = Studio(self.journal, self._sides, *_THUMBNAIL_PX, units_across=_UNITS_ACROSS)
        # A ruling's drawings and markers would only clutter so small a picture.
        return jpeg_bytes(studio.table(replace(scene, shapes=(), markers={})), _JPEG_QUALITY)


def game_status(
    game: Described, entry: int, words: str, sides: Sequence[str], after: Json | None
) -> GameStatus:
    """Returns a game's status from an entry's `after`, which is None before a game has begun."""
    standing = Standing() if after is None else game.standing(after["state"])
    figures = {
        side.name: f"{side.figures[0].label} {side.figures[0].value}"
        for side in standing.sides
        if side.figures
    }
    is_over = after is not None and bool(after.get("is_over"))
    active = None if is_over else standing.active
    return GameStatus(
        entry,
        words,
        tuple(
            Side(side_plural(side), figures.get(side, ""), colour)
            for side, colour in colour_numbers(sides or figures).items()
        ),
        "" if standing.turn is None else f"{standing.turn_word.capitalize()} {standing.turn}",
        active and side_name(active),
        is_over,
    )
