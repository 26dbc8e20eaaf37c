"""The status of a source as its reader reports it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

SourceState = Literal["opening", "live", "lost", "ended"]

_FRAMES_COUNTED = 30


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The status of a source at one instant.

    `opening`: for the first time; `live`: frames arrive; `lost`: they do not, and `message` says
    why and when the next try is; `ended`: the video is over, or the reader was closed. `since_s` is
    the time spent in this state. `notes` are the source's own, one sentence each. `finished`: no
    frame will ever come again.
    """

    name: str
    state: SourceState
    message: str
    since_s: float = 0.0
    frames_per_s: float = 0.0
    notes: tuple[str, ...] = ()
    finished: bool = False


class RateMeter:
    """Measures the frame rate over the last few frames."""

    def __init__(self) -> None:
        self._times_s: deque[float] = deque(maxlen=_FRAMES_COUNTED)

    def count(self, at_s: float) -> None:
        """Records the arrival of a frame."""
        self._times_s.append(at_s)

    def clear(self) -> None:
        """Starts over when the source does."""
        self._times_s.clear()

    def frames_per_s(self, now_s: float) -> float:
        """Returns the rate, which falls while no frame comes; 0 before the second frame."""
        if len(self._times_s) < 2:
            return 0.0
        first_s, last_s = self._times_s[0], self._times_s[-1]
        intervals = len(self._times_s) - 1
        usual_s = (last_s - first_s) / intervals
        # An overdue frame lowers the rate at once, not only when it comes.
        overdue_s = max(now_s - last_s - usual_s, 0.0)
        span_s = last_s - first_s + overdue_s
        return intervals / span_s if span_s > 0 else 0.0
