"""Sends what is recorded at this table to a hall's server, beside the game and never in its way.

The table's own file comes first: what the server does not hear of now is sent once it answers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tablecam.errors import BadInput
from tablecam.live.background import Background
from tablecam.record.catching_up import catch_up, is_caught_up
from tablecam.record.game_file import SUFFIX, GameFile
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
        folder: Where older games are, which the server may not have wholly.
    """

    def __init__(self, hall: Hall, path: Callable[[], Path | None], folder: Path) -> None:
        super().__init__("hall")
        self._hall = hall
        self._path = path
        self._folder = folder
        self._game: GameFile | None = None
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
            patience_s = LOOK_S if self._step() else PRESENCE_S
            self._stopping.wait(patience_s)
        self._step()  # what was done last

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
        if not self._is_ready:
            self._hall.prepare()
            self._send_older()
            self._is_ready = True
        game = self._current()
        if game is None:
            return
        catch_up(game, self._hall)
        if time.monotonic() - self._said_at_s >= PRESENCE_S:
            self._hall.say_it_is_there(game.id)
            self._said_at_s = time.monotonic()

    def _current(self) -> GameFile | None:
        path = self._path()
        if path is not None and (self._game is None or self._game.path != path):
            self._game = GameFile.open(path, read_only=True)
        return self._game

    def _send_older(self) -> None:
        """Send what games before this one could not; a file that is none is left alone."""
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if self._stopping.is_set():
                return
            try:
                game = GameFile.open(path, read_only=True)
            except BadInput as error:
                log.warning("this recording is not sent to the hall: %s", error)
                continue
            if not is_caught_up(game, self._hall):
                log.info("%d entries of %s are sent to the hall", catch_up(game, self._hall), path)

    def _say(self, trouble: str) -> None:
        with self._lock:
            if trouble != self._trouble:
                log.warning("%s", trouble or "the hall is reached again, and has everything")
            self._trouble = trouble
