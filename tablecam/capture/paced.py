"""Plays a film at its own rate."""

from __future__ import annotations

import threading
from dataclasses import replace

from tablecam.capture.clock import Clock
from tablecam.capture.frame import Frame, Noted, Source

_MAKES_UP_FOR_S = 0.25


class PacedSource:
    """A source whose frames come when their `taken_at_s` says, never sooner.

    A wait that took a little too long is made up for. A film that is read too slowly, or that was
    held up, goes on from where it is; it does not rush to catch up.
    """

    def __init__(self, source: Source, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._late_s = 0.0
        self._closed = threading.Event()

    @property
    def name(self) -> str:
        """The film's name."""
        return self._source.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What the film has to say of itself."""
        return self._source.notes if isinstance(self._source, Noted) else ()

    def read(self) -> Frame | None:
        """The next frame, once it is due; None at the end."""
        frame = self._source.read()
        if frame is None:
            return None
        due_s = frame.taken_at_s + self._late_s
        self._clock.wait(self._closed, due_s - self._clock.now_s())
        now_s = self._clock.now_s()
        if now_s - due_s > _MAKES_UP_FOR_S:
            self._late_s += now_s - due_s
        return replace(frame, taken_at_s=now_s)

    def close(self) -> None:
        """End the wait, and close the film."""
        self._closed.set()
        self._source.close()
