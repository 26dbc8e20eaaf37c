"""One program alone writes to a recording: who does holds a lock beside it until it ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_SUFFIX: Final = ".lock"


class WriterLock:
    """Held from `taken` to `release`, or until the program ends, however it does."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    @classmethod
    def taken(cls, recording: Path) -> WriterLock | None:
        """The lock of a recording; None while another holds it.

        Raises:
            OSError: There can be none beside it.
        """
        path = recording.with_name(f".{recording.name}{_SUFFIX}")
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _is_locked(handle):
                os.close(handle)
                return None
            if _is_still(path, handle):
                return cls(path, handle)
            os.close(handle)  # who held it has just removed it

    def release(self) -> None:
        """Let others write. May be called twice."""
        if self._handle < 0:
            return
        if sys.platform != "win32":
            _remove(self._path)  # while it is locked: who has opened it looks whether it is still
        os.close(self._handle)
        self._handle = -1
        if sys.platform == "win32":
            _remove(self._path)  # an open file cannot be removed there


def _is_locked(handle: int) -> bool:
    """Whether this program has the lock now."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    """Remove a lock's file, if that can be: one that is left lying locks nobody out."""
    with suppress(OSError):
        path.unlink()
