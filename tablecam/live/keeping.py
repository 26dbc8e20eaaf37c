"""What a live table keeps of a game, and the file that is made for it once there is something."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from tablecam.errors import BadInput
from tablecam.record.disputes import dispute_entry, dispute_picture, dispute_position, disputes
from tablecam.record.entries import GameFacts, Json, Kind, NewEntry
from tablecam.record.game_file import SUFFIX, GameFile
from tablecam.record.journal import Journal
from tablecam.record.plays import newest_play
from tablecam.record.positions import Chain
from tablecam.record.whole_files import NameTaken

log = logging.getLogger(__name__)

_MOST_AT_ONCE = 20
"""So many entries go into one transaction: a disk that has room for some gets them."""
_WORDS: Final[Mapping[Kind, str]] = {
    "position": "position",
    "move": "move",
    "picture": "picture",
    "play": "action",
    "deed": "action",
    "ruling": "ruling",
    "dispute": "dispute",
    "notice": "notice",
}
"""What players call what waits."""


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

    def unfinished(self) -> Json | None:
        """The document of the newest game in the file; None where none was begun.

        Raises:
            BadInput: The file cannot be read.
        """

    def begin_play(self, document: Json) -> None:
        """Keep how a game begins."""

    def add_deed(self, document: Json) -> None:
        """Keep what was done, or taken back, in the game that began last: a deed's document."""

    def settle(self, position: Json, *, begins: bool) -> None:
        """Keep where all lies now; `begins` says whether that is worth a file by itself.

        Until there is one the newest position waits for what is.
        """


@dataclass(frozen=True, slots=True)
class _Dispute:
    document: Json
    position: Json
    plain: bytes
    drawn: bytes


class KeptGame:
    """A `GameRecord` that remembers this game's disputes, and writes all to a file of its own.

    The file is made when there is something to keep. What cannot be written is remembered and
    tried again, in order, with the next: a full disk loses nothing while the program runs.

    Args:
        create: Makes the file.
        file: The file of a game that goes on, where there is one.
    """

    def __init__(self, create: Callable[[], GameFile], file: GameFile | None = None) -> None:
        self._create = create
        self._file = file
        self._disputes = [] if file is None else _disputes_of(file)
        self._waiting: deque[NewEntry] = deque()
        self._chain = Chain()
        self._held: tuple[Json, datetime] | None = None
        self._trouble = ""
        self._lock = threading.Lock()

    @property
    def path(self) -> Path | None:
        """The game's file, None while there was nothing to keep."""
        with self._lock:
            return None if self._file is None else self._file.path

    def journal(self) -> Journal | None:
        """The recording, to be looked at while it is written; None while there was none."""
        with self._lock:
            return self._file

    @property
    def trouble(self) -> str:
        """Why something is not on the disk, in one line for the page; empty when all is."""
        with self._lock:
            return self._trouble

    def unfinished(self) -> Json | None:
        """The document of the newest game in the file; None where none was begun.

        Raises:
            BadInput: The file cannot be read.
        """
        with self._lock:
            return None if self._file is None else newest_play(self._file)

    def begin_play(self, document: Json) -> None:
        """Keep how a game begins."""
        with self._lock:
            self._keep(NewEntry("play", document))

    def add_deed(self, document: Json) -> None:
        """Keep what was done, or taken back, in the game that began last: a deed's document."""
        with self._lock:
            self._keep(NewEntry("deed", document))

    def settle(self, position: Json, *, begins: bool) -> None:
        """Keep where all lies now; `begins` says whether that is worth a file by itself.

        Until there is one the newest position waits for what is.
        """
        with self._lock:
            at = datetime.now(UTC).astimezone()
            if begins or self._has_begun():
                self._keep_held()
                self._keep(NewEntry("position", self._chain.document(position), at=at))
            else:
                self._held = position, at

    def add_dispute(
        self, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
    ) -> int:
        """Keep a dispute; its number, from 1. It can be asked for whether or not it was written."""
        with self._lock:
            number = len(self._disputes) + 1
            entry = dispute_entry(document, position, picture_jpeg, drawn_jpeg)
            document = document | {"number": number}
            self._disputes.append(_Dispute(document, position, picture_jpeg, drawn_jpeg))
            self._keep(entry)
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

    def _has_begun(self) -> bool:
        return self._file is not None or bool(self._waiting)

    def _keep_held(self) -> None:
        if self._held is not None:
            position, at = self._held
            self._held = None
            self._waiting.append(NewEntry("position", self._chain.document(position), at=at))

    def _keep(self, *entries: NewEntry) -> None:
        """Write these and what is not written yet, in order, as far as that goes."""
        self._keep_held()
        self._waiting.extend(entries)
        try:
            if self._file is None:
                self._file = self._create()
                log.info("the game is kept in %s", self._file.path)
            while self._waiting:
                batch = [*islice(self._waiting, _MOST_AT_ONCE)]
                self._file.append(*batch)
                for _ in batch:
                    self._waiting.popleft()
            self._trouble = ""
        except BadInput as error:
            self._trouble = f"{self._unwritten()} not on the disk: {error}"
            log.error("%s", self._trouble)

    def _unwritten(self) -> str:
        """How many of what: `1 dispute is`, `2 disputes and 3 actions are`."""
        counts = Counter(_WORDS[each.kind] for each in self._waiting)
        parts = [f"{count} {what}{'s' * (count > 1)}" for what, count in sorted(counts.items())]
        return f"{' and '.join(parts)} {'is' if len(self._waiting) == 1 else 'are'}"


def _disputes_of(file: GameFile) -> list[_Dispute]:
    """The disputes of a game that goes on, pictures and all."""
    return [
        _Dispute(
            document,
            dispute_position(file, document["number"]),
            _picture(file, document, plain=True),
            _picture(file, document, plain=False),
        )
        for document in disputes(file)
    ]


def _picture(file: GameFile, document: Json, *, plain: bool) -> bytes:
    if not document.get("has_picture"):
        return b""
    return dispute_picture(file, document["number"], plain=plain)


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
