"""The record of a live game, and the file that is created for it with the first entry."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.atomic_files import NameTaken
from tablecam.record.disputes import dispute_entry, dispute_picture, dispute_position, disputes
from tablecam.record.entries import GameFacts, NewEntry
from tablecam.record.game_file import SUFFIX, GameFile, games_in
from tablecam.record.journal import Journal
from tablecam.record.plays import newest_play
from tablecam.record.positions import MISSED, DifferenceEncoder
from tablecam.recorder.entry_writer import Writer
from tablecam.recorder.picture_budget import DEFAULT_MB, PictureBudget, played_s


@dataclass(frozen=True, slots=True)
class _Dispute:
    document: Json
    position: Json
    plain: bytes
    drawn: bytes


class RemoteCopy(Protocol):
    """A second place that stores a copy of the recording: a hall."""

    @property
    def trouble(self) -> str:
        """Why the copy is incomplete, in one line for the page; empty if it is complete."""

    def news(self) -> Sequence[str]:
        """Returns sentences on the copy that players have not been shown yet."""


class GameRecorder:
    """Records a live table's game: writes all to a file, and holds its disputes in memory.

    Any thread may call any method. The file is created with the first entry. What cannot be
    written is tried again, in order, with the next entry: a full disk loses nothing while the
    program runs.

    Args:
        create: Creates the file.
        file: The file of a game that is resumed, if any.
        pictures_mb: The size limit of the pictures of a three-hour game, in megabytes.
        now: Returns the time; rereading a video passes the video's.
    """

    def __init__(
        self,
        create: Callable[[], GameFile],
        file: GameFile | None = None,
        *,
        pictures_mb: float = DEFAULT_MB,
        now: Callable[[], datetime] = lambda: datetime.now(UTC).astimezone(),
    ) -> None:
        self._now = now
        self._writer = Writer(create, file)
        resumed = self._writer.file
        self._disputes = [] if resumed is None else _disputes_of(resumed)
        self._chain = DifferenceEncoder()
        self._held: tuple[Json, Sequence[int], datetime] | None = None
        self._began_with: int | None = None
        self._lock = threading.Lock()
        # Decides how large pictures may be.
        self.budget = _budget(pictures_mb, self._writer.file)
        self.remote_copy: RemoteCopy | None = None

    @property
    def path(self) -> Path | None:
        """The game's file; None before there is anything to record."""
        with self._lock:
            file = self._writer.file
            return None if file is None else file.path

    def journal(self) -> Journal | None:
        """Returns the recording, opened to read while it is written; None before it begins.

        Raises:
            BadInput: It cannot be opened.
        """
        # With a connection of its own, a reader never blocks the writer.
        path = self.path
        return None if path is None else GameFile.open(path, read_only=True)

    @property
    def trouble(self) -> str:
        """Why something is not stored where it should be, in one line; empty if all is."""
        # No lock: the camera's loop asks with every frame, and a slow disk may hold the lock.
        return self._writer.trouble or (
            "" if self.remote_copy is None else self.remote_copy.trouble
        )

    def unfinished(self) -> Json | None:
        """Returns the document of the newest game in the file; None if none was begun.

        Raises:
            BadInput: The file cannot be read.
        """
        with self._lock:
            file = self._writer.file
            return None if file is None else newest_play(file)

    def begin_play(self, document: Json) -> None:
        """Records how a game begins."""
        with self._lock:
            self._write(NewEntry("play", document, at=self._now()))

    def add_actions(self, actions: Sequence[Json], rulings: Sequence[Json] = ()) -> None:
        """Records the actions done or undone in the newest game, all or none.

        `rulings` are the rulings that result from moves by hand.
        """
        entries = [NewEntry("deed", action, at=self._now()) for action in actions]
        entries += [NewEntry("ruling", ruling, at=self._now()) for ruling in rulings]
        with self._lock:
            self._write(*entries)

    def add_notice(self, text: str) -> None:
        """Records what happened to the camera or its tags, if there is a file."""
        with self._lock:
            # A notice alone is no game, so it creates no file.
            if self._writer.has_begun:
                self._write(NewEntry("notice", {"text": text}, at=self._now()))

    def add_pictures(self, *pictures: NewEntry) -> None:
        """Records pictures of other entries."""
        with self._lock:
            # Pictures do not queue for a disk with room: they would fill the memory.
            if pictures and not self._writer.trouble:
                self._write(*pictures)

    def try_again(self) -> Sequence[str]:
        """Writes what could not be written, if that is possible by now.

        Returns sentences on the file that players should read and have not been shown yet.
        """
        with self._lock:
            self._writer.try_again()
            news_of_copy = () if self.remote_copy is None else self.remote_copy.news()
            return [*self._writer.news(), *news_of_copy]

    @property
    def unsaved(self) -> str:
        """What was still unwritten when the file was closed, in one line; empty if nothing was."""
        return self._writer.lost

    def close(self) -> None:
        """Writes all pending entries, and releases the file. May be called twice."""
        with self._lock:
            self._writer.close()

    def settle(
        self,
        position: Json,
        moves: Sequence[Json],
        at: datetime,
        *,
        begins: bool,
        missed: Sequence[int] = (),
    ) -> int | None:
        """Records a resting position and the moves that led to it, all or none.

        Returns the position's entry number (its moves' numbers follow), or None if it is held
        back: `begins` says whether it may create the file; until something does, only the newest
        position is held. `missed` are the tags of bases left out when it is judged.
        """
        with self._lock:
            # A table that is only being set up leaves no file; only the newest position is worth
            # keeping.
            if not (begins or self._writer.has_begun):
                self._held = position, missed, at
                return None
            # Before the next one is encoded, which is stored as the difference from it.
            self._write_held()
            entry = self._position_entry(position, missed, at)
            return self._write(entry, *(NewEntry("move", move, at=at) for move in moves))

    @property
    def began_with(self) -> int | None:
        """The number of the position that was held until the file began; None before that."""
        with self._lock:
            return self._began_with

    def add_dispute(
        self, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
    ) -> int:
        """Records a dispute and returns its number, from 1; it can be read even if not written."""
        with self._lock:
            number = len(self._disputes) + 1
            entry = dispute_entry(document, position, picture_jpeg, drawn_jpeg)
            document = document | {"number": number}
            self._disputes.append(_Dispute(document, position, picture_jpeg, drawn_jpeg))
            # A dispute's pictures are always stored; later pictures must save their bytes.
            self.budget.spend_anyway(len(picture_jpeg) + len(drawn_jpeg))
            self._write(entry)
            return number

    def disputes(self) -> list[Json]:
        """Returns all disputes of this game, the newest last."""
        with self._lock:
            return [dict(dispute.document) for dispute in self._disputes]

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """Returns the picture of a dispute as JPEG, the evidence drawn on it unless `plain`.

        Raises:
            BadInput: There is no such dispute, or it has no picture.
        """
        dispute = self._dispute(number)
        jpeg = dispute.plain if plain else dispute.drawn
        if not jpeg:
            raise BadInput("dispute", f"expected one with a picture, but dispute {number} has none")
        return jpeg

    def dispute_position(self, number: int) -> Json:
        """Returns the position document of a dispute.

        Raises:
            BadInput: There is no such dispute.
        """
        return self._dispute(number).position

    def _dispute(self, number: int) -> _Dispute:
        with self._lock:
            if not 1 <= number <= len(self._disputes):
                raise BadInput("dispute", f"there is no dispute {number} in this game")
            return self._disputes[number - 1]

    def _write(self, *entries: NewEntry) -> int:
        self._write_held()
        return self._writer.keep(*entries)

    def _write_held(self) -> None:
        if self._held is not None:
            (position, missed, at), self._held = self._held, None
            self._began_with = self._writer.keep(self._position_entry(position, missed, at))

    def _position_entry(self, position: Json, missed: Sequence[int], at: datetime) -> NewEntry:
        document = self._chain.document(position)
        return NewEntry("position", document | ({MISSED: [*missed]} if missed else {}), at=at)


def _budget(pictures_mb: float, file: GameFile | None) -> PictureBudget:
    """Returns the picture budget of a new or a resumed game."""
    if file is None:
        return PictureBudget(pictures_mb)
    return PictureBudget(
        pictures_mb, spent_bytes=file.pictures_size(), played_s=played_s(file.times())
    )


def _disputes_of(file: GameFile) -> list[_Dispute]:
    """Returns the disputes of a resumed game with their pictures."""
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
    """Creates a game file in a folder, named by date, time and game, and numbered as its newest.

    Raises:
        BadInput: It cannot be written.
    """
    # By number, not by time: a clock may be set back.
    newest = max((game_facts.place for _, game_facts in games_in(folder)), default=0)
    facts = replace(facts, place=newest + 1)
    name = f"{facts.started_at:%Y-%m-%d_%H-%M-%S}_{facts.game}"
    for number in itertools.count(1):
        try:
            ending = f"-{number}" if number > 1 else ""
            return GameFile.create(folder / f"{name}{ending}{SUFFIX}", facts)
        except NameTaken:
            # Another program began a game in this second.
            continue
    raise AssertionError("there is always a next number")
