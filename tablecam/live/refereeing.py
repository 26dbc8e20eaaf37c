"""Hands the table to the referee whenever it has come to rest, beside the loop that watches it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from tablecam.live.background import Background
from tablecam.live.state import Snapshot
from tablecam.referee.referee import Referee
from tablecam.referee.rest import Rest

log = logging.getLogger(__name__)

_PATIENCE_S = 0.5
"""How long it waits for a snapshot before it looks whether it is to stop."""


class Refereeing(Background):
    """A thread of its own, so that judging a move never holds up the camera.

    `wait` gives the newest snapshot after one of that version, or None after so many seconds.
    """

    def __init__(self, referee: Referee, wait: Callable[[int, float], Snapshot | None]) -> None:
        super().__init__("referee")
        self._referee = referee
        self._wait = wait
        self._rest = Rest()

    def _run(self) -> None:
        latest: Snapshot | None = None
        while not self._stopping.is_set():
            # Without a newer one the latest may be at rest by now.
            latest = self._wait(0 if latest is None else latest.version, _PATIENCE_S) or latest
            if latest is None:
                continue
            at_rest = self._rest.see(latest.position, time.monotonic())
            if at_rest is None:
                continue
            try:
                self._referee.see(at_rest)
            except Exception:  # a fault of ours costs one look, never the game
                log.exception("the referee could not make sense of the table")
