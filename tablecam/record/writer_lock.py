"""The lock that one program holds beside a recording while it alone writes to it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

_SUFFIX: Final = ".lock"


class WriterLock:
    """The lock of a recording, held from `acquire` to `release` or until the program ends."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    @classmethod
    def acquire(cls, recording: Path) -> WriterLock | None:
        """Acquires the lock of a recording; None while another program holds it.

        Raises:
            OSError: No lock can be created beside it.
        """
        path = recording.with_name(f".{recording.name}{_SUFFIX}")
        # Not bound to a thread, as another may release it. No soft lock: it would survive a crash.
        lock = FileLock(path, blocking=False, thread_local=False, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return cls(lock)

    def release(self) -> None:
        """Releases the lock. May be called twice."""
        if not self._lock.is_locked:
            return
        # On Unix `filelock` leaves its file behind. Removing it is safe while the lock is held: no
        # lock is granted on a file that has lost its name.
        if os.name == "posix":
            # A file that stays behind locks nobody out.
            with suppress(OSError):
                os.unlink(self._lock.lock_file)
        self._lock.release()
