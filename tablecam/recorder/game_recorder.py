"""What a live table keeps of a game, and the file that is made for it once there is something."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from tablecam.errors import BadInput
from tablecam.record.disputes import dispute_entry, dispute_picture, dispute_position, disputes
from tablecam.record.entries import GameFacts, Json, NewEntry
from tablecam.record.game_file import SUFFIX, GameFile, games_in
from tablecam.record.journal import Journal
from tablecam.record.plays import newest_play
from tablecam.record.positions import MISSED, Chain
from tablecam.record.whole_files import NameTaken
from tablecam.recorder.picture_budget import DEFAULT_MB, PictureBudget, played_s
from tablecam.recorder.writing import Writer


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

    def add_deeds(self, deeds: Sequence[Json], rulings: Sequence[Json] = ()) -> None:
        """Keep what was done or taken back in the game that began last, all or none of it.

        `rulings` are what was then made of hands' moves.
        """

    def settle(
        self,
        position: Json,
        moves: Sequence[Json],
        at: datetime,
        *,
        begins: bool,
        missed: Sequence[int] = (),
    ) -> int | None:
        """Keep where all lies now, and the moves that led there, all or none of it.

        `begins` says whether that is worth a file by itself. Until there is one the newest position
        waits for what is. The position's number, None while it waits; its moves' are the next.
        `missed` are the tags of the bases without which it is judged.
        """

    @property
    def began_with(self) -> int | None:
        """The number of the position that had waited until the file began; None before that."""

    def add_notice(self, text: str) -> None:
        """Keep what happened to the camera or its tags, where there is a file."""

    @property
    def budget(self) -> PictureBudget:
        """How large pictures may be."""

    def add_pictures(self, *pictures: NewEntry) -> None:
        """Keep what other entries looked like."""

    def try_again(self) -> Sequence[str]:
        """Write what could not be written, if it can be by now.

        What players should know of the file and were not told yet, a sentence each.
        """

    def close(self) -> None:
        """Write what waits, and leave the file to other programs. May be called twice."""


@dataclass(frozen=True, slots=True)
class _Dispute:
    document: Json
    position: Json
    plain: bytes
    drawn: bytes


class Elsewhere(Protocol):
    """Where a copy of the recording is kept, too: in a hall."""

    @property
    def trouble(self) -> str:
        """Why it has not got everything, in one line for the page; empty when it has."""

    def news(self) -> Sequence[str]:
        """What players should know of it and have not been told yet, a sentence each."""


class KeptGame:
    """A `GameRecord` that remembers this game's disputes, and writes all to a file of its own.

    The file is made when there is something to keep. What cannot be written is remembered and
    tried again, in order, with the next: a full disk loses nothing while the program runs.

    Args:
        create: Makes the file.
        file: The file of a game that goes on, where there is one.
        pictures_mb: How large the pictures of a game of three hours may be, in megabytes.
        now: What time it is; a video that is read again has its own.
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
        going_on = self._writer.file
        self._disputes = [] if going_on is None else _disputes_of(going_on)
        self._chain = Chain()
        self._held: tuple[Json, Sequence[int], datetime] | None = None
        self._began_with: int | None = None
        self._lock = threading.Lock()
        self.budget = _budget(pictures_mb, self._writer.file)
        self.elsewhere: Elsewhere | None = None

    @property
    def path(self) -> Path | None:
        """The game's file, None while there was nothing to keep."""
        with self._lock:
            file = self._writer.file
            return None if file is None else file.path

    def journal(self) -> Journal | None:
        """The recording, to be looked at while it is written; None while there was none.

        Raises:
            BadInput: It cannot be opened.
        """
        path = self.path
        return None if path is None else GameFile.open(path, read_only=True)

    @property
    def trouble(self) -> str:
        """Why something is not kept where it should be, in one line; empty when all is.

        It waits for nobody: a camera's loop asks with every frame.
        """
        return self._writer.trouble or ("" if self.elsewhere is None else self.elsewhere.trouble)

    def unfinished(self) -> Json | None:
        """The document of the newest game in the file; None where none was begun.

        Raises:
            BadInput: The file cannot be read.
        """
        with self._lock:
            file = self._writer.file
            return None if file is None else newest_play(file)

    def begin_play(self, document: Json) -> None:
        """Keep how a game begins."""
        with self._lock:
            self._keep(NewEntry("play", document, at=self._now()))

    def add_deeds(self, deeds: Sequence[Json], rulings: Sequence[Json] = ()) -> None:
        """Keep what was done or taken back in the game that began last, all or none of it.

        `rulings` are what was then made of hands' moves.
        """
        entries = [NewEntry("deed", each, at=self._now()) for each in deeds]
        entries += [NewEntry("ruling", each, at=self._now()) for each in rulings]
        with self._lock:
            self._keep(*entries)

    def add_notice(self, text: str) -> None:
        """Keep what happened to the camera or its tags, where there is a file."""
        with self._lock:
            if self._writer.has_begun:
                self._keep(NewEntry("notice", {"text": text}, at=self._now()))

    def add_pictures(self, *pictures: NewEntry) -> None:
        """Keep what other entries looked like."""
        with self._lock:
            # They do not wait for a disk with room: they would fill the memory, too.
            if pictures and not self._writer.trouble:
                self._keep(*pictures)

    def try_again(self) -> Sequence[str]:
        """Write what could not be written, if it can be by now.

        What players should know of the file and were not told yet, a sentence each.
        """
        with self._lock:
            self._writer.try_again()
            of_copy = () if self.elsewhere is None else self.elsewhere.news()
            return [*self._writer.news(), *of_copy]

    @property
    def lost(self) -> str:
        """What never came to the disk until it was closed, in one line; empty where all did."""
        return self._writer.lost

    def close(self) -> None:
        """Write what waits, and leave the file to other programs. May be called twice."""
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
        """Keep where all lies now, and the moves that led there, all or none of it.

        `begins` says whether that is worth a file by itself. Until there is one the newest position
        waits for what is. The position's number, None while it waits; its moves' are the next.
        `missed` are the tags of the bases without which it is judged.
        """
        with self._lock:
            if not (begins or self._writer.has_begun):
                self._held = position, missed, at
                return None
            self._keep_held()
            told = self._position_entry(position, missed, at)
            return self._keep(told, *(NewEntry("move", each, at=at) for each in moves))

    @property
    def began_with(self) -> int | None:
        """The number of the position that had waited until the file began; None before that."""
        with self._lock:
            return self._began_with

    def add_dispute(
        self, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
    ) -> int:
        """Keep a dispute; its number, from 1. It can be asked for whether or not it was written."""
        with self._lock:
            number = len(self._disputes) + 1
            entry = dispute_entry(document, position, picture_jpeg, drawn_jpeg)
            document = document | {"number": number}
            self._disputes.append(_Dispute(document, position, picture_jpeg, drawn_jpeg))
            self.budget.spend_anyway(len(picture_jpeg) + len(drawn_jpeg))
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

    def _keep(self, *entries: NewEntry) -> int:
        self._keep_held()
        return self._writer.keep(*entries)

    def _keep_held(self) -> None:
        if self._held is not None:
            (position, missed, at), self._held = self._held, None
            self._began_with = self._writer.keep(self._position_entry(position, missed, at))

    def _position_entry(self, position: Json, missed: Sequence[int], at: datetime) -> NewEntry:
        document = self._chain.document(position)
        return NewEntry("position", document | ({MISSED: [*missed]} if missed else {}), at=at)


def _budget(pictures_mb: float, file: GameFile | None) -> PictureBudget:
    """What a game has left for pictures."""
    if file is None:
        return PictureBudget(pictures_mb)
    return PictureBudget(
        pictures_mb, spent_bytes=file.pictures_size(), played_s=played_s(file.times())
    )


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
    """A file of its own in a folder, named by date, time and game, and counted as its newest.

    Raises:
        BadInput: It cannot be written.
    """
    newest = max((each.place for _, each in games_in(folder)), default=0)
    facts = replace(facts, place=newest + 1)
    name = f"{facts.started_at:%Y-%m-%d_%H-%M-%S}_{facts.game}"
    for number in itertools.count(1):
        try:
            ending = f"-{number}" if number > 1 else ""
            return GameFile.create(folder / f"{name}{ending}{SUFFIX}", facts)
        except NameTaken:
            continue  # another program began a game in this second
    raise AssertionError("there is always a next number")
