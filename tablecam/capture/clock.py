"""The time, and waiting for it, as one thing that a test can stand in for."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """What tells the time of frames and waits between them."""

    def now_s(self) -> float:
        """Seconds on a clock that never jumps, such as `time.monotonic`."""

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait until `event` is set, at most so many seconds; whether it is set."""


class SystemClock:
    """The computer's own clock."""

    def now_s(self) -> float:
        """Seconds on `time.monotonic`."""
        return time.monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait until `event` is set, at most so many seconds; whether it is set."""
        return event.wait(max(seconds, 0.0))
