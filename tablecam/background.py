"""Work that goes on beside the page, in a thread of its own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Self


class FairLock:
    """A lock that threads are given in turn; use it as a context.

    Python's own may be taken again at once by whoever gave it up: a loop that is always behind its
    camera would keep a page's requests waiting for a minute.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = threading.Lock()  # held by the one who is given the lock next

    def __enter__(self) -> None:
        with self._next:
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @property
    def is_awaited(self) -> bool:
        """Whether a thread waits for it."""
        return self._next.locked()


class Background(ABC):
    """A thread from `start` to `close`; used as a context, it is started and closed by it.

    What inherits from it does its work in `_run`, and returns soon after `_stopping` is set.
    """

    def __init__(self, name: str) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def _run(self) -> None:
        """The work."""

    def start(self) -> None:
        """Start the work."""
        self._thread.start()

    def close(self) -> None:
        """Stop the work and wait until it has stopped. May be called twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
