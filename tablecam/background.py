"""Background threads, and a lock that serves its threads in turn."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Self


class FairLock:
    """A lock that threads get in turn; use it as a context manager.

    A thread that releases Python's own lock may take it again at once: a loop that is always
    behind its camera would block a page's requests for a minute.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = threading.Lock()  # held by the thread that gets the lock next

    def __enter__(self) -> None:
        with self._next:
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @property
    def is_awaited(self) -> bool:
        """Whether a thread is waiting for the lock."""
        return self._next.locked()


class Background(ABC):
    """A background thread that runs from `start` to `close`; also a context manager.

    Subclasses do their work in `_run` and return soon after `_stopping` is set.
    """

    def __init__(self, name: str) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def _run(self) -> None:
        """Does the work, in the thread."""

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stops the thread and waits for its end. May be called twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
