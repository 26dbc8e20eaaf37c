"""How a test waits for what happens beside it, and what time it is on a table meanwhile.

A test waits for the thing itself. Patience only ends where it never comes, and long after the
busiest machine would have brought it.
"""

import threading
import time
from collections.abc import Callable, Iterator

PATIENCE_S = 90
_PAUSE_S = 0.02


class FrameClock:
    """The clock of a table that is looked at picture by picture: between two it stands."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def show(self, taken_at_s: float) -> None:
        """It is as late as when a picture was taken."""
        self._now_s = taken_at_s

    def now_s(self) -> float:
        return self._now_s

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Time passes, and nobody waits for it."""
        self._now_s += max(seconds, 0.0)
        return event.is_set()


def in_time(patience_s: float = PATIENCE_S) -> Iterator[None]:
    """A turn for each look, while there is patience left."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        yield


def comes_true(is_so: Callable[[], bool]) -> None:
    """Look again until something is so."""
    for _ in in_time():
        if is_so():
            return
        time.sleep(_PAUSE_S)
    raise AssertionError("it never comes to be so")
