"""What a live table keeps of a game, and the file that is made for it once there is something."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tablecam.errors import BadInput
from tablecam.record.game_file import SUFFIX, GameFacts, GameFile, NameTaken

log = logging.getLogger(__name__)

Json = dict[str, Any]


class GameRecord(Protocol):
    """Where a live table keeps things. Every method may be called from any thread."""

    @property
    def trouble(self) -> str:
        """Why something is not on the disk, in one line for the page; empty when all is."""

    def add_dispute(
        self, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
    ) -> int:
        """Keep a dispute; its number, from 1. It can be asked for whether or not it was written."""

    def disputes(self) -> list[Json]:
        """All disputes, the newest last."""

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """The picture of a dispute as JPEG, with the evidence on it unless `plain`.

        Raises:
            BadInput: There is no such dispute, or it has no picture.
        """

    def dispute_position(self, number: int) -> Json:
        """The position document of a dispute.

        Raises:
            BadInput: There is no such dispute.
        """


@dataclass(frozen=True, slots=True)
class _Dispute:
    document: Json
    position: Json
    plain: bytes
    drawn: bytes


class KeptGame:
    """A `GameRecord` that remembers this game's disputes, and writes them to a file of its own.

    The file is made when there is something to keep. What cannot be written is remembered and
    tried again, in order, with the next: a full disk loses nothing while the program runs.
    """

    def __init__(self, create: Callable[[], GameFile]) -> None:
        self._create = create
        self._file: GameFile | None = None
        self._disputes: list[_Dispute] = []
        self._written = 0
        self._trouble = ""
        self._lock = threading.Lock()

    @property
    def path(self) -> Path | None:
        """The game's file, None while there was nothing to keep."""
        with self._lock:
            return None if self._file is None else self._file.path

    @property
    def trouble(self) -> str:
        """Why something is not on the disk, in one line for the page; empty when all is."""
        with self._lock:
            return self._trouble

    def add_dispute(
        self, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
    ) -> int:
        """Keep a dispute; its number, from 1. It can be asked for whether or not it was written."""
        with self._lock:
            number = len(self._disputes) + 1
            document = document | {"number": number}
            self._disputes.append(_Dispute(document, position, picture_jpeg, drawn_jpeg))
            self._write()
            return number

    def disputes(self) -> list[Json]:
        """All disputes of this game, the newest last."""
        with self._lock:
            return [dict(kept.document) for kept in self._disputes]

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """The picture of a dispute as JPEG, with the evidence on it unless `plain`.

        Raises:
            BadInput: There is no such dispute, or it has no picture.
        """
        kept = self._kept(number)
        jpeg = kept.plain if plain else kept.drawn
        if not jpeg:
            raise BadInput("dispute", f"expected one with a picture, got {number}, asked without")
        return jpeg

    def dispute_position(self, number: int) -> Json:
        """The position document of a dispute.

        Raises:
            BadInput: There is no such dispute.
        """
        return self._kept(number).position

    def _kept(self, number: int) -> _Dispute:
        with self._lock:
            if not 1 <= number <= len(self._disputes):
                raise BadInput("dispute", f"there is no dispute {number} in this game")
            return self._disputes[number - 1]

    def _write(self) -> None:
        """Write what is not written yet, as far as that goes."""
        try:
            if self._file is None:
                self._file = self._create()
                log.info("the game is kept in %s", self._file.path)
            for kept in self._disputes[self._written :]:
                self._file.add_dispute(kept.document, kept.position, kept.plain, kept.drawn)
                self._written += 1
            self._trouble = ""
        except BadInput as error:
            waiting = len(self._disputes) - self._written
            disputes = "1 dispute is" if waiting == 1 else f"{waiting} disputes are"
            self._trouble = f"{disputes} not on the disk: {error}"
            log.error("%s", self._trouble)


def new_game_file(folder: Path, facts: GameFacts) -> GameFile:
    """A file of its own in a folder, named by date, time and game.

    Raises:
        BadInput: It cannot be written.
    """
    name = f"{facts.started_at:%Y-%m-%d_%H-%M-%S}_{facts.game}"
    for number in itertools.count(1):
        try:
            ending = f"-{number}" if number > 1 else ""
            return GameFile.create(folder / f"{name}{ending}{SUFFIX}", facts)
        except NameTaken:
            continue  # another program began a game in this second
    raise AssertionError("there is always a next number")
