"""Tapes that a seat keeps, and places that it points at, for all other seats to see."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

MOST_KEPT = 8
"""Tapes that a seat may keep; a new one replaces the oldest."""


@dataclass(frozen=True, slots=True)
class KeptTape:
    """A tape that seat `by` has kept between two things, named as in `LiveTable.measure`."""

    number: int
    by: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Ping:
    """A place on the table that seat `by` points at."""

    number: int
    by: str
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class Pointed:
    """All tapes in order, and the latest place of each seat; `version` counts the changes."""

    version: int = 0
    tapes: tuple[KeptTape, ...] = ()
    pings: tuple[Ping, ...] = ()


class Pointing:
    """The tapes and pings of a table while tablecam runs. Thread-safe.

    `tell` is called after each change.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._now = Pointed()

    @property
    def now(self) -> Pointed:
        """The current tapes and pings."""
        return self._now

    def keep(self, by: str, a: str, b: str) -> None:
        """Keeps a tape; the same one again replaces the seat's earlier one."""
        with self._lock:
            number = self._now.version + 1
            own = [tape for tape in self._now.tapes if tape.by == by and (tape.a, tape.b) != (a, b)]
            kept = (*own, KeptTape(number, by, a, b))[-MOST_KEPT:]
            others = (tape for tape in self._now.tapes if tape.by != by)
            tapes = sorted((*others, *kept), key=lambda tape: tape.number)
            self._now = replace(self._now, version=number, tapes=tuple(tapes))
        self._tell()

    def remove(self, by: str, a: str, b: str) -> None:
        """Removes a tape of a seat."""
        removed = (by, a, b)
        with self._lock:
            tapes = self._now.tapes
            left = tuple(tape for tape in tapes if (tape.by, tape.a, tape.b) != removed)
            self._now = replace(self._now, version=self._now.version + 1, tapes=left)
        self._tell()

    def ping(self, by: str, x_mm: float, y_mm: float) -> None:
        """Points at a place; a seat's earlier one is forgotten."""
        with self._lock:
            number = self._now.version + 1
            others = (ping for ping in self._now.pings if ping.by != by)
            pings = (*others, Ping(number, by, x_mm, y_mm))
            self._now = replace(self._now, version=number, pings=pings)
        self._tell()
