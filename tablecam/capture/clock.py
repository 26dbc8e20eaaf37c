"""A clock to tell the time and to wait by, which tests can replace."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time of frames and waits between them."""

    def now_s(self) -> float:
        """Returns seconds on a clock that never jumps, such as `time.monotonic`."""

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Waits until `event` is set, at most `seconds`; returns whether it is set."""


class SystemClock:
    """The computer's monotonic clock."""

    def now_s(self) -> float:
        """Returns seconds on `time.monotonic`."""
        return time.monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Waits until `event` is set, at most `seconds`; returns whether it is set."""
        return event.wait(max(seconds, 0.0))
