"""One program alone writes to a recording: who does holds a lock beside it until it ends.

`filelock` locks, as it is tried on all systems, Windows with its files that are about to go among
them. It leaves a lock's file lying on Unix: here it is removed, so that a game leaves one file.
That is safe while it is locked, as `filelock` takes no lock of a file that has lost its name.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

_SUFFIX: Final = ".lock"


class WriterLock:
    """Held from `taken` to `release`, or until the program ends, however it does."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    @classmethod
    def taken(cls, recording: Path) -> WriterLock | None:
        """The lock of a recording; None while another holds it.

        Raises:
            OSError: There can be none beside it.
        """
        path = recording.with_name(f".{recording.name}{_SUFFIX}")
        lock = FileLock(path, blocking=False, thread_local=False, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return cls(lock)

    def release(self) -> None:
        """Let others write. May be called twice."""
        if not self._lock.is_locked:
            return
        if os.name == "posix":
            with suppress(OSError):  # one that is left lying locks nobody out
                os.unlink(self._lock.lock_file)
        self._lock.release()
