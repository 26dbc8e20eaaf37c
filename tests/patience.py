"""How a test waits for concurrent events, and what time it is on a table meanwhile.

A test waits for the event itself. Patience ends only if it never comes, long after even a busy
machine would have produced it.
"""

import threading
import time
from collections.abc import Callable, Iterator

PATIENCE_S = 180.0  # only reached when a test fails
_PAUSE_S = 0.02


class FrameClock:
    """The clock of a table watched picture by picture: it stands still in between."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def show(self, taken_at_s: float) -> None:
        """Set the time to when a picture was taken."""
        self._now_s = taken_at_s

    def now_s(self) -> float:
        return self._now_s

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Let time pass without waiting."""
        self._now_s += max(seconds, 0.0)
        return event.is_set()


def in_time(patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Yields for each look while patience lasts."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        yield


def comes_true(is_so: Callable[[], bool]) -> None:
    """Look again until a condition is true."""
    for _ in in_time():
        if is_so():
            return
        time.sleep(_PAUSE_S)
    raise AssertionError("it never comes to be so")
