"""The clock of a simulated source: real time, or a fixed interval per frame."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

_LONGEST_STEP_S = 0.25
"""The longest time step: nothing jumps after a stall, and on a slow computer hands move slowly
enough to be followed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a frame, on the clock of `time.monotonic`, and the time since the last one."""

    taken_at_s: float
    passed_s: float


class Pace:
    """Waits for the moment of the next frame, if paced.

    Unpaced moments follow at once, `interval_s` apart, and are the same on every machine.
    """

    def __init__(self, interval_s: float, *, is_paced: bool) -> None:
        self._interval_s = interval_s
        self._is_paced = is_paced
        self._stopped = threading.Event()
        self._last_s: float | None = None

    def wait(self) -> Moment | None:
        """Waits for the moment of the next frame and returns it, None once stopped."""
        if self._last_s is None:
            now_s, passed_s = time.monotonic() if self._is_paced else 0.0, 0.0
        elif self._is_paced:
            # Waiting on the event lets `stop` end the wait.
            self._stopped.wait(self._last_s + self._interval_s - time.monotonic())
            now_s = time.monotonic()
            # A frame after a stall shows the next moment, not the one that would be due.
            passed_s = min(now_s - self._last_s, _LONGEST_STEP_S)
        else:
            now_s, passed_s = self._last_s + self._interval_s, self._interval_s
        self._last_s = now_s
        return None if self._stopped.is_set() else Moment(now_s, passed_s)

    def stop(self) -> None:
        """Ends all waiting, now and later."""
        self._stopped.set()
