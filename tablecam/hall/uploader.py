"""Sends what is recorded at this table to a hall's server, beside the game and never in its way.

The table's own file comes first: what the server does not hear of now is sent once it answers.
"""

from __future__ import annotations

import logging
import os
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
from tablecam.hall.catching_up import BATCH, HallCopy
from tablecam.hall.server import Hall
from tablecam.record.faults import NoAnswer, in_words
from tablecam.record.game_file import GameFile

NOTE: Final = ".for-halls"
"""The note's name. A line for each recording: the hall's address, the file's name, and what its
table is called where it has a name, with tabs between them."""


@dataclass(frozen=True, slots=True)
class Owing:
    """A recording that a hall is still to get, and what its table is called there."""

    path: Path
    name: str = ""


class Owed:
    """The note of one hall in a folder of recordings. For one thread.

    Args:
        folder: Where the recordings are.
        hall: The hall's address, without a password.
    """

    def __init__(self, folder: Path, hall: str) -> None:
        self._folder = folder
        self._note = folder / NOTE
        self._hall = hall

    def games(self) -> list[Owing]:
        """The recordings that the hall is still to get, in the order in which they were begun.

        Raises:
            BadInput: The note cannot be read.
        """
        return [self._owing(line) for line in self._lines() if self._is_own(line)]

    def add(self, owing: Owing) -> None:
        """Note that the hall is to get a recording.

        Raises:
            BadInput: The note cannot be written.
        """
        if owing not in self.games():
            self._write([*self._others(owing.path), self._line(owing)])

    def is_paid(self, path: Path) -> None:
        """Note that the hall has all of a recording.

        Raises:
            BadInput: The note cannot be written.
        """
        self._write(self._others(path))

    def _is_own(self, line: str) -> bool:
        return line.startswith(f"{self._hall}\t")

    def _owing(self, line: str) -> Owing:
        _, file, name = (*line.split("\t"), "")[:3]
        return Owing(self._folder / file, name)

    def _line(self, owing: Owing) -> str:
        return "\t".join(filter(None, (self._hall, owing.path.name, owing.name)))

    def _others(self, path: Path) -> list[str]:
        """The lines but for this hall's of one recording."""
        lines = self._lines()
        return [
            each for each in lines if not (self._is_own(each) and self._owing(each).path == path)
        ]

    def _lines(self) -> list[str]:
        with in_words(str(self._note), "cannot be read"):
            if not self._note.exists():
                return []
            return self._note.read_text(encoding="utf-8").splitlines()

    def _write(self, lines: list[str]) -> None:
        """Write the note, whole or not at all."""
        fresh = self._note.with_name(f"{NOTE}.{os.getpid()}.new")
        with in_words(str(self._note), "cannot be written"):
            try:
                with fresh.open("w", encoding="utf-8") as file:
                    file.writelines(f"{line}\n" for line in lines)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(fresh, self._note)
            finally:
                fresh.unlink(missing_ok=True)


log = logging.getLogger(__name__)

LOOK_S: Final = 0.5
"""How often the file is looked at for something new: a hall sees a move within a second."""
PRESENCE_S: Final = 5.0
"""How often a hall is told that this table is playing, and a lost server tried again."""
AWAY: Final = "The hall's server does not answer; the game is kept here and sent later."
NOT_TAKEN: Final = (
    "The hall does not take this game just now; it is kept here and sent later. The log of this "
    "table's tablecam says why."
)
APART: Final = (
    "This game's file is played on another machine, too: the hall shows this table as a game of "
    "its own."
)
_STEERING: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
"""What a name of one line has no use for, and a database does not take."""


class Sending(Background):
    """A thread that keeps a hall's copies up to date.

    Args:
        hall: The server. It need not be there.
        path: The file of the game that is being played, None while there is none.
        folder: Where older games are; those that were played in this hall are sent to their end.
        name: What players call this table, empty where they do not.
    """

    def __init__(
        self, hall: Hall, path: Callable[[], Path | None], folder: Path, name: str = ""
    ) -> None:
        super().__init__("hall")
        self._hall = hall
        self._path = path
        self._name = one_line(name)
        self._owed = Owed(folder, hall.name)
        self._game: GameFile | None = None
        self._copy: HallCopy | None = None
        self._older: deque[Owing] = deque()
        self._older_copy: HallCopy | None = None
        self._is_ready = False
        self._is_mending = False
        self._has_said_apart = False
        self._said_at_s = -PRESENCE_S
        self._trouble = ""
        self._news: list[str] = []
        self._lock = threading.Lock()

    @property
    def trouble(self) -> str:
        """Why the hall has not got everything, in one line for the page; empty when it has."""
        with self._lock:
            return self._trouble

    def news(self) -> Sequence[str]:
        """What players should know and have not been told yet, a sentence each."""
        with self._lock:
            told, self._news = self._news, []
            return told

    def _run(self) -> None:
        while not self._stopping.is_set():
            is_heard = self._step()
            patience_s = LOOK_S if is_heard else PRESENCE_S
            has_more = is_heard and (self._older or self._is_mending)
            self._stopping.wait(0.0 if has_more else patience_s)
        self._send_last()

    def _step(self) -> bool:
        """Send what is new; whether the server answered."""
        try:
            self._send()
        except NoAnswer as error:
            self._is_ready = False
            self._say(AWAY, error)
            return False
        except Exception as error:  # a fault of ours, too, must not end the sending
            self._is_ready = False
            self._say(NOT_TAKEN, error)
            return False
        self._say("")
        return True

    def _send(self) -> None:
        """Send what is new of this game, and then a little of what is older."""
        game = self._current()
        if not self._is_ready:
            self._hall.prepare()
            playing = None if game is None else game.path
            self._older = deque(each for each in self._owed.games() if each.path != playing)
            self._copy = self._older_copy = None  # what the hall has is looked at anew
            self._is_ready = True
        if game is not None:
            copy = self._copy = self._copy or HallCopy(game, self._hall)
            copy.catch_up()
            self._say_who_it_is(copy)
            self._is_mending = copy.mend() > 0
        if self._older:
            self._send_older(self._older[0])

    def _say_who_it_is(self, copy: HallCopy) -> None:
        if copy.is_apart and not self._has_said_apart:
            self._has_said_apart = True
            log.warning("%s Its id there is %s.", APART, copy.id)
            with self._lock:
                self._news.append(APART)
        if time.monotonic() - self._said_at_s >= PRESENCE_S:
            self._hall.say_it_is_there(copy.id)
            if self._name:
                self._hall.call(copy.id, self._name)
            self._said_at_s = time.monotonic()

    def _send_last(self) -> None:
        """Send what was done last; older games can wait until there is a next one."""
        self._older.clear()
        self._step()

    def _current(self) -> GameFile | None:
        """The game that is being played, once there is something of it."""
        path = self._path()
        if path is not None and (self._game is None or self._game.path != path):
            self._game, self._copy = GameFile.open(path, read_only=True), None
            self._note(path)
        return self._game

    def _note(self, path: Path) -> None:
        """Note that the hall is to get a game, even if this program ends before it has."""
        try:
            self._owed.add(Owing(path, self._name))
        except BadInput as error:
            log.warning("if this game ends while the hall is away, it is not sent: %s", error)

    def _send_older(self, owing: Owing) -> None:
        """Send some of what a game before this one could not; what is no recording is left alone.

        Raises:
            NoAnswer: The server is lost: the game is still owed.
        """
        try:
            if self._older_copy is None:
                game = GameFile.open(owing.path, read_only=True)
                self._older_copy = HallCopy(game, self._hall)
            sent = self._older_copy.catch_up(at_most=BATCH) or self._older_copy.mend()
            if sent:
                log.info("%d entries or pictures of %s are sent to the hall", sent, owing.path)
                return
            if owing.name:
                self._hall.call(self._older_copy.id, owing.name)
            self._owed.is_paid(owing.path)
        except NoAnswer:
            raise
        except BadInput as error:
            log.warning("this recording is not sent to the hall: %s", error)
        self._older.popleft()
        self._older_copy = None

    def _say(self, trouble: str, error: Exception | None = None) -> None:
        with self._lock:
            if trouble != self._trouble:
                told = trouble or "the hall is reached again, and has everything"
                because = f" ({error})" if error else ""
                unforeseen = None if isinstance(error, BadInput) else error
                log.warning("%s%s", told, because, exc_info=unforeseen)
            self._trouble = trouble


def one_line(name: str) -> str:
    """A name as any database takes it and any page shows it."""
    whole = name.encode("utf-8", "replace").decode()  # no half characters
    return _STEERING.sub(" ", whole).strip()
