"""Uploads this table's recordings to a hall's server, without ever delaying the game.

The table's own file comes first: a server that was away is brought up to date once it answers.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tablecam.background import Background
from tablecam.errors import BadInput
from tablecam.hall.server import Hall
from tablecam.hall.synchronisation import BATCH, HallCopy
from tablecam.record.atomic_files import replace_file
from tablecam.record.faults import ServerUnavailable, readable_errors
from tablecam.record.game_file import GameFile

NOTE: Final = ".for-halls"
"""The file name of the upload queue. A line for each recording: the hall's address, the file's
name and, if any, the table's name there, separated by tabs."""


@dataclass(frozen=True, slots=True)
class QueuedUpload:
    """A recording that a hall has not received in full, and its table's name there."""

    path: Path
    name: str = ""


class UploadQueue:
    """The upload queue for one hall, in a file in the folder of recordings. Not thread-safe.

    Args:
        folder: The folder of the recordings.
        hall: The hall's address, without a password.
    """

    def __init__(self, folder: Path, hall: str) -> None:
        self._folder = folder
        self._note = folder / NOTE
        self._hall = hall

    def games(self) -> list[QueuedUpload]:
        """Returns the recordings still to upload, the oldest first.

        Raises:
            BadInput: The queue cannot be read.
        """
        return [self._owing(line) for line in self._lines() if self._is_own(line)]

    def add(self, queued: QueuedUpload) -> None:
        """Adds a recording to the queue.

        Raises:
            BadInput: The queue cannot be written.
        """
        if queued not in self.games():
            self._write([*self._others(queued.path), self._line(queued)])

    def remove(self, path: Path) -> None:
        """Removes a recording that the hall has received in full.

        Raises:
            BadInput: The queue cannot be written.
        """
        self._write(self._others(path))

    def _is_own(self, line: str) -> bool:
        return line.startswith(f"{self._hall}\t")

    def _owing(self, line: str) -> QueuedUpload:
        # A line has no third field if the table has no name.
        _, file, name = (*line.split("\t"), "")[:3]
        return QueuedUpload(self._folder / file, name)

    def _line(self, queued: QueuedUpload) -> str:
        return "\t".join(filter(None, (self._hall, queued.path.name, queued.name)))

    def _others(self, path: Path) -> list[str]:
        """Returns all lines except this hall's for one recording."""
        lines = self._lines()
        return [
            line for line in lines if not (self._is_own(line) and self._owing(line).path == path)
        ]

    def _lines(self) -> list[str]:
        with readable_errors(str(self._note), "cannot be read"):
            if not self._note.exists():
                return []
            return self._note.read_text(encoding="utf-8").splitlines()

    def _write(self, lines: list[str]) -> None:
        """Writes the queue's file atomically."""
        with readable_errors(str(self._note), "cannot be written"):
            replace_file(self._note, "".join(f"{line}\n" for line in lines).encode())


log = logging.getLogger(__name__)

LOOK_S: Final = 0.5
"""How often the file is checked for new entries: a hall shows a move within a second."""
PRESENCE_S: Final = 5.0
"""How often to report presence to the hall, and to retry a lost server."""
AWAY: Final = "The hall's server does not answer; the game is recorded here and sent later."
NOT_TAKEN: Final = (
    "The hall does not accept this game at the moment; it is recorded here and sent later. See "
    "this table's log for the reason."
)
APART: Final = (
    "This game's file is also played on another machine: the hall shows this table as a separate "
    "game."
)
_BLANKS_AND_CONTROLS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
"""Characters that do not belong in a one-line name, and that a database may refuse."""


class Uploader(Background):
    """A thread that keeps a hall's copies up to date.

    Args:
        hall: The server; it may be unreachable.
        path: Returns the file of the game in progress; None while there is none.
        folder: The folder of older games; those played in this hall are completed there.
        name: The players' name for this table, or empty.
    """

    def __init__(
        self, hall: Hall, path: Callable[[], Path | None], folder: Path, name: str = ""
    ) -> None:
        super().__init__("hall")
        self._hall = hall
        self._path = path
        self._name = one_line(name)
        self._queue = UploadQueue(folder, hall.name)
        self._game: GameFile | None = None
        self._copy: HallCopy | None = None
        self._older: deque[QueuedUpload] = deque()
        self._older_copy: HallCopy | None = None
        self._is_ready = False
        self._has_missing_pictures = False
        self._has_reported_apart = False
        self._presence_at_s = -PRESENCE_S
        self._trouble = ""
        self._news: list[str] = []
        self._lock = threading.Lock()

    @property
    def trouble(self) -> str:
        """Why the hall has not received everything, in one line for the page; empty if it has."""
        with self._lock:
            return self._trouble

    def news(self) -> Sequence[str]:
        """Returns sentences that players should read and have not been shown yet."""
        with self._lock:
            news, self._news = self._news, []
            return news

    def _run(self) -> None:
        while not self._stopping.is_set():
            has_answered = self._step()
            pause_s = LOOK_S if has_answered else PRESENCE_S
            # No pause while there is more to send.
            has_more = has_answered and (self._older or self._has_missing_pictures)
            self._stopping.wait(0.0 if has_more else pause_s)
        self._send_last()

    def _step(self) -> bool:
        """Sends new entries, and returns whether the server answered."""
        try:
            self._send()
        except ServerUnavailable as error:
            self._is_ready = False
            self._set_trouble(AWAY, error)
            return False
        # Not even an error of tablecam may end the uploads.
        except Exception as error:
            self._is_ready = False
            self._set_trouble(NOT_TAKEN, error)
            return False
        self._set_trouble("")
        return True

    def _send(self) -> None:
        """Sends new entries of this game, and then some of older games."""
        game = self._current_game()
        if not self._is_ready:
            self._hall.prepare()
            self._older = self._older_games(game)
            # The server's contents may have changed while it was away.
            self._copy = self._older_copy = None
            self._is_ready = True
        if game is not None:
            copy = self._copy = self._copy or HallCopy(game, self._hall)
            copy.send_entries()
            self._report_presence(copy)
            self._has_missing_pictures = copy.send_missing_pictures() > 0
        # One batch of the older games at a time, so that they never delay this one.
        if self._older:
            self._send_older(self._older[0])

    def _older_games(self, playing: GameFile | None) -> deque[QueuedUpload]:
        """Returns the queued games without the one in progress, which is sent as it grows."""
        try:
            queue = self._queue.games()
        except BadInput as error:
            log.warning("older recordings are not sent to the hall: %s", error)
            return deque()
        return deque(queued for queued in queue if playing is None or queued.path != playing.path)

    def _report_presence(self, copy: HallCopy) -> None:
        if copy.is_apart and not self._has_reported_apart:
            self._has_reported_apart = True
            log.warning("%s Its id there is %s.", APART, copy.id)
            with self._lock:
                self._news.append(APART)
        if time.monotonic() - self._presence_at_s >= PRESENCE_S:
            self._hall.report_presence(copy.id)
            if self._name:
                self._hall.set_table_name(copy.id, self._name)
            self._presence_at_s = time.monotonic()

    def _send_last(self) -> None:
        """Sends the last entries; older games wait for the next run."""
        self._older.clear()
        self._step()

    def _current_game(self) -> GameFile | None:
        """Returns the game in progress, once it has a file."""
        path = self._path()
        # The recorder moves a game to another file if its own is lost.
        if path is not None and (self._game is None or self._game.path != path):
            self._game, self._copy = GameFile.open(path, read_only=True), None
            self._enqueue(path)
        return self._game

    def _enqueue(self, path: Path) -> None:
        """Queues a game, so that it is uploaded even if this program ends before."""
        try:
            self._queue.add(QueuedUpload(path, self._name))
        except BadInput as error:
            log.warning("if this game ends while the hall is away, it is not sent: %s", error)

    def _send_older(self, queued: QueuedUpload) -> None:
        """Sends some of the oldest queued game; drops one that cannot be read.

        Raises:
            ServerUnavailable: The connection is lost: the game stays in the queue.
        """
        try:
            if self._older_copy is None:
                game = GameFile.open(queued.path, read_only=True)
                self._older_copy = HallCopy(game, self._hall)
            sent = (
                self._older_copy.send_entries(at_most=BATCH)
                or self._older_copy.send_missing_pictures()
            )
            if sent:
                log.info("%d entries or pictures of %s are sent to the hall", sent, queued.path)
                return
            if queued.name:
                self._hall.set_table_name(self._older_copy.id, queued.name)
            self._queue.remove(queued.path)
        except ServerUnavailable:
            raise
        except BadInput as error:
            log.warning("this recording is not sent to the hall: %s", error)
        # Complete or unreadable: the next one follows.
        self._older.popleft()
        self._older_copy = None

    def _set_trouble(self, trouble: str, error: Exception | None = None) -> None:
        with self._lock:
            if trouble != self._trouble:
                message = trouble or "the hall answers again and has everything"
                because = f" ({error})" if error else ""
                unforeseen = None if isinstance(error, BadInput) else error
                log.warning("%s%s", message, because, exc_info=unforeseen)
            self._trouble = trouble


def one_line(name: str) -> str:
    """Returns a name on one line, valid for any database and page."""
    # Drops lone surrogates.
    name_utf8 = name.encode("utf-8", "replace").decode()
    return _BLANKS_AND_CONTROLS.sub(" ", name_utf8).strip()
