"""Sends what is recorded at this table to a hall's server, beside the game and never in its way.

The table's own file comes first: what the server does not hear of now is sent once it answers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tablecam.errors import BadInput
from tablecam.live.background import Background
from tablecam.live.owed import Owed
from tablecam.record.catching_up import BATCH, catch_up
from tablecam.record.game_file import GameFile
from tablecam.record.server import Hall

log = logging.getLogger(__name__)

LOOK_S: Final = 0.5
"""How often the file is looked at for something new: a hall sees a move within a second."""
PRESENCE_S: Final = 5.0
"""How often a hall is told that this table is playing, and a lost server tried again."""


class Sending(Background):
    """A thread that keeps a hall's copies up to date.

    Args:
        hall: The server. It need not be there.
        path: The file of the game that is being played, None while there is none.
        folder: Where older games are; those that were played in this hall are sent to their end.
    """

    def __init__(self, hall: Hall, path: Callable[[], Path | None], folder: Path) -> None:
        super().__init__("hall")
        self._hall = hall
        self._path = path
        self._owed = Owed(folder, hall.name)
        self._game: GameFile | None = None
        self._older: deque[Path] = deque()
        self._is_ready = False
        self._said_at_s = -PRESENCE_S
        self._trouble = ""
        self._lock = threading.Lock()

    @property
    def trouble(self) -> str:
        """Why the hall has not got everything, in one line for the page; empty when it has."""
        with self._lock:
            return self._trouble

    def _run(self) -> None:
        while not self._stopping.is_set():
            is_heard = self._step()
            patience_s = LOOK_S if is_heard else PRESENCE_S
            self._stopping.wait(0.0 if is_heard and self._older else patience_s)
        self._send_last()

    def _step(self) -> bool:
        """Send what is new; whether the server answered."""
        try:
            self._send()
        except BadInput as error:
            self._is_ready = False
            self._say(f"the hall is not reached; all is in this table's own file: {error}")
            return False
        except Exception as error:  # a fault of ours must not end the sending
            log.exception("the hall's copy could not be brought up to date")
            self._say(f"the hall's copy could not be brought up to date: {error!r}")
            return False
        self._say("")
        return True

    def _send(self) -> None:
        """Send what is new of this game, and then a little of those before it."""
        game = self._current()
        if not self._is_ready:
            self._hall.prepare()
            self._older = deque(path for path in self._owed.paths() if path != self._path())
            self._is_ready = True
        if game is not None:
            catch_up(game, self._hall)
            self._say_it_is_there(game)
        if self._older:
            self._send_older(self._older[0])

    def _say_it_is_there(self, game: GameFile) -> None:
        if time.monotonic() - self._said_at_s >= PRESENCE_S:
            self._hall.say_it_is_there(game.id)
            self._said_at_s = time.monotonic()

    def _send_last(self) -> None:
        """Send what was done last; older games can wait until there is a next one."""
        self._older.clear()
        self._step()

    def _current(self) -> GameFile | None:
        path = self._path()
        if path is not None and (self._game is None or self._game.path != path):
            self._owed.add(path)
            self._game = GameFile.open(path, read_only=True)
        return self._game

    def _send_older(self, path: Path) -> None:
        """Send some of what a game before this one could not; what is no recording is left alone.

        A server that is lost meanwhile is noticed with the next look at this game.
        """
        try:
            sent = catch_up(GameFile.open(path, read_only=True), self._hall, at_most=BATCH)
        except BadInput as error:
            log.warning("this recording is not sent to the hall: %s", error)
            sent = 0
        if sent:
            log.info("%d entries of %s are sent to the hall", sent, path)
        else:
            self._owed.is_paid(path)
            self._older.popleft()

    def _say(self, trouble: str) -> None:
        with self._lock:
            if trouble != self._trouble:
                log.warning("%s", trouble or "the hall is reached again, and has everything")
            self._trouble = trouble
