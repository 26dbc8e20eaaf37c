"""Writes entries to a game's file in order; what cannot be written waits until it can."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Kind, NewEntry, Picture
from tablecam.record.faults import Damaged
from tablecam.record.game_file import GameFile
from tablecam.record.journal import WrittenByAnother
from tablecam.record.writer_lock import WriterLock
from tablecam.wording import counted, joined

log = logging.getLogger(__name__)

Batch = tuple[NewEntry, ...]
"""Entries that are written together: all or none."""

_ENTRIES_PER_TRANSACTION: Final = 20
"""Roughly how many entries a transaction holds: a nearly full disk takes at least the first."""
_RETRY_S: Final = 1.0
"""How long to wait before entries that could not be written are tried again on their own."""
_NOUNS: Final[Mapping[Kind, str]] = {
    "position": "position",
    "move": "move",
    "picture": "picture",
    "play": "action",
    "deed": "action",
    "ruling": "ruling",
    "dispute": "dispute",
    "notice": "notice",
}
"""What players call each kind of pending entry."""
_GOES_ON: Final = "; the game continues, and everything is written as soon as possible"


@dataclass(frozen=True, slots=True)
class _WrittenEntry:
    """A written entry, held in memory to write it again; pictures only of disputes, which are few.

    Its JSON text takes a tenth of the memory of its document.
    """

    kind: Kind
    at: datetime
    text: str
    pictures: tuple[Picture, ...]

    @classmethod
    def of(cls, entry: Entry | NewEntry) -> _WrittenEntry:
        pictures = entry.pictures if isinstance(entry, NewEntry) and entry.kind == "dispute" else ()
        return cls(entry.kind, entry.at, json.dumps(entry.document), pictures)

    def again(self) -> NewEntry:
        return NewEntry(self.kind, json.loads(self.text), self.pictures, self.at)


class Writer:
    """The only writer of a game's file, which it creates with the first entry. Not thread-safe.

    If the file is removed, damaged or replaced, or another program writes to it, the game is
    written again under another name: all entries are remembered, without most pictures.

    Args:
        create: Creates the file.
        file: The file of a resumed game, if any. It is not used while another program holds it.
    """

    def __init__(self, create: Callable[[], GameFile], file: GameFile | None) -> None:
        self._create = create
        self._pending: deque[Batch] = deque()
        self._written: list[_WrittenEntry] = []
        self._lock: WriterLock | None = None
        self._news: list[str] = []
        self._tried_at_s = 0.0
        self._abandoned: tuple[Path, str] | None = None
        self._reason = ""
        self._longest_backlog = ""
        self._tampering = ""
        self._is_closed = False
        self.file: GameFile | None = None
        self.trouble = ""
        self.lost = ""
        self.last = 0
        if file is not None:
            self._take_over(file)

    @property
    def has_begun(self) -> bool:
        """Whether there is a file, or would be if it could be written."""
        return self.file is not None or bool(self._pending)

    def news(self) -> Sequence[str]:
        """Returns sentences on the file that players have not been shown yet."""
        news, self._news = self._news, []
        return news

    def keep(self, *entries: NewEntry) -> int:
        """Writes pending entries, then these, all or none, and returns the number of the first.

        An entry has its number whether or not it could be written by now.
        """
        # Counted at once: callers refer to the entry by its number while it still waits.
        first = self.last + 1
        self.last += len(entries)
        self._pending.append(entries)
        self._write()
        return first

    def try_again(self) -> None:
        """Writes pending entries unless that was tried just now or the writer is closed."""
        may_retry = time.monotonic() - self._tried_at_s >= _RETRY_S
        if self._pending and may_retry and not self._is_closed:
            self._write()

    def close(self) -> None:
        """Writes pending entries, and releases the file. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._pending:
            self._write()
        elif (damage := self._damage()) is not None:
            # Only now are all entries still in memory to be written again.
            self._start_new_file(damage)
            self._write()
        if self._pending:
            self.lost = f"{self._backlog()} could not be saved: {self._reason}"
            log.error("%s", self.lost)
        self._release()

    def _take_over(self, file: GameFile) -> None:
        lock, is_free = _lock_of(file.path)
        # One writer per file: a second program records in a file of its own.
        if not is_free:
            self._news.append(
                f"another tablecam is recording to {file.path.name}: this game is recorded in "
                "a new file"
            )
            return
        self._lock, self.file = lock, file
        faults = file.verified().faults
        if faults:
            self._tampering = f"{file.path.name} was changed after it was written ({faults[0]})"
            self._news.append(f"{self._tampering}; the game is recorded in it anyway")
        # Remembered as if written here, in case the file is lost.
        self._written = [_WrittenEntry.of(entry) for entry in file.entries()]
        self.last = len(self._written)

    def _write(self) -> None:
        """Writes pending entries in order, as far as possible."""
        self._tried_at_s = time.monotonic()
        try:
            # The second attempt is for a new file; if that fails too, the entries wait.
            try:
                self._append_all()
            except BadInput as error:
                if not self._is_lost(error):
                    raise
                self._start_new_file(error)
                self._append_all()
        except BadInput as error:
            self._report_pending(str(error))
        else:
            if self.trouble:
                self._news.append(
                    f"Everything is on the disk again: {self._longest_backlog} had been waiting."
                )
            self.trouble = self._reason = ""

    def _report_pending(self, because: str) -> None:
        self._longest_backlog = self._backlog()
        self.trouble = f"{self._unwritten()} not on the disk: {because}{_GOES_ON}"
        # Each retry fails alike, so a reason is logged once.
        if because != self._reason:
            log.error("%s", self.trouble)
        self._reason = because

    def _is_lost(self, error: BadInput) -> bool:
        """Whether the file can never be written to again."""
        if self.file is None:
            return False
        return isinstance(error, WrittenByAnother | Damaged) or _is_gone(self.file.path)

    def _damage(self) -> BadInput | None:
        """Returns a fault in the file that no write has reported, if any."""
        if self.file is None or self._lock is None or self._tampering:
            return None
        try:
            faults = self.file.verified().faults
        except BadInput as error:
            # It may only be busy.
            return error if self._is_lost(error) else None
        return Damaged(self.file.name, faults[0]) if faults else None

    def _start_new_file(self, error: BadInput) -> None:
        """Queues all remembered entries to be written to another file."""
        log.error("the game moves to another file: %s", error)
        if self.file is not None:
            self._abandoned = self.file.path, _reason_lost(self.file.path, error)
        self._release()
        self.file = None
        # Written entries come before pending ones, in their old order.
        self._pending.extendleft((entry.again(),) for entry in reversed(self._written))
        self._written = []
        # The new file's digests would hide it.
        if self._tampering:
            self.last += 1
            self._pending.append((NewEntry("notice", {"text": self._tampering}),))
            self._tampering = ""

    def _release(self) -> None:
        """Lets other programs write to the file."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _file(self) -> GameFile:
        if self.file is None:
            self.file = self._create()
            self._lock, _ = _lock_of(self.file.path)
            log.info("the game is recorded in %s", self.file.path)
            if self._abandoned is not None:
                self._news.append(_moved(*self._abandoned, self.file.path))
                self._abandoned = None
        return self.file

    def _append_all(self) -> None:
        while self._pending:
            batch: list[NewEntry] = []
            count = 0
            # Whole batches only, as each is written completely or not at all.
            for entries in self._pending:
                batch += entries
                count += 1
                if len(batch) >= _ENTRIES_PER_TRANSACTION:
                    break
            # Another count in the file means that another program has written to it.
            self._file().append(*batch, after=len(self._written))
            self._written += map(_WrittenEntry.of, batch)
            # Only what is on the disk leaves the queue.
            for _ in range(count):
                self._pending.popleft()

    def _unwritten(self) -> str:
        """Returns what is pending, with its verb: `1 move, 2 disputes and 3 actions are`."""
        count = sum(map(len, self._pending))
        return f"{self._backlog()} {'is' if count == 1 else 'are'}"

    def _backlog(self) -> str:
        """Returns the pending entries by kind: `1 move, 2 disputes and 3 actions`."""
        nouns = [_NOUNS[entry.kind] for entries in self._pending for entry in entries]
        return joined(counted(count, noun) for noun, count in sorted(Counter(nouns).items()))


def _is_gone(path: Path) -> bool:
    """Whether a file no longer exists; one that cannot be examined may."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _reason_lost(path: Path, error: BadInput) -> str:
    """Says why a file can no longer be written to."""
    if _is_gone(path):
        return "is gone"
    is_damaged = isinstance(error, Damaged)
    return "is damaged" if is_damaged else "is written to by another program"


def _moved(old: Path, reason: str, new: Path) -> str:
    """Returns the sentence that a game is recorded in another file from now on."""
    # A new file can take the old name only if the old file is gone by now.
    reason = "is gone" if old == new else reason
    return f"{old.name} {reason}: the game is now recorded in {new}, without its earlier pictures"


def _lock_of(path: Path) -> tuple[WriterLock | None, bool]:
    """Returns the lock of a file, and whether the file is free; it is if no lock is possible."""
    try:
        lock = WriterLock.acquire(path)
    except OSError as error:
        log.warning("cannot lock %s against other programs: %s", path, error)
        return None, True
    return lock, lock is not None
