"""Writes entries to a game's file, in order; what cannot be written waits until it can."""

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
from tablecam.record.journal import WrittenElsewhere
from tablecam.record.writer_lock import WriterLock

log = logging.getLogger(__name__)

Together = tuple[NewEntry, ...]
"""Entries that are on the disk all or none."""

_AT_ONCE: Final = 20
"""About so many entries go into one transaction: a disk that has room for some gets them."""
_AGAIN_S: Final = 1.0
"""So long what could not be written waits before it is tried again by itself."""
_WORDS: Final[Mapping[Kind, str]] = {
    "position": "position",
    "move": "move",
    "picture": "picture",
    "play": "action",
    "deed": "action",
    "ruling": "ruling",
    "dispute": "dispute",
    "notice": "notice",
}
"""What players call what waits."""
_GOES_ON: Final = "; the game goes on, and all is written as soon as it can be"


@dataclass(frozen=True, slots=True)
class _Told:
    """An entry that was written, without its pictures but for a dispute's, which are few.

    Its text takes a tenth of the memory that its document does.
    """

    kind: Kind
    at: datetime
    text: str
    pictures: tuple[Picture, ...]

    @classmethod
    def of(cls, entry: Entry | NewEntry) -> _Told:
        few = entry.pictures if isinstance(entry, NewEntry) and entry.kind == "dispute" else ()
        return cls(entry.kind, entry.at, json.dumps(entry.document), few)

    def again(self) -> NewEntry:
        return NewEntry(self.kind, json.loads(self.text), self.pictures, self.at)


class Writer:
    """The one writer of a game's file, which it makes with the first entry. Not for two threads.

    A file that is taken away, damaged or replaced, or that another program writes to, is written
    anew under another name: all that was told is remembered, but for the pictures.

    Args:
        create: Makes the file.
        file: The file of a game that goes on, where there is one. It is left alone while another
            program has it.
    """

    def __init__(self, create: Callable[[], GameFile], file: GameFile | None) -> None:
        self._create = create
        self._waiting: deque[Together] = deque()
        self._told: list[_Told] = []
        self._lock: WriterLock | None = None
        self._news: list[str] = []
        self._tried_at_s = 0.0
        self._left: tuple[Path, str] | None = None
        self._because = ""
        self._most_waited = ""
        self._was_changed = ""
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
        return self.file is not None or bool(self._waiting)

    def news(self) -> Sequence[str]:
        """What players should know of the file and have not been told yet, a sentence each."""
        told, self._news = self._news, []
        return told

    def keep(self, *entries: NewEntry) -> int:
        """Write these, all or none, and before them what waits; the number of the first of them.

        It has that number whether or not it could be written by now.
        """
        first = self.last + 1
        self.last += len(entries)
        self._waiting.append(entries)
        self._write()
        return first

    def try_again(self) -> None:
        """Write what waits, if that was not tried just now; nothing once it is closed."""
        is_due = time.monotonic() - self._tried_at_s >= _AGAIN_S
        if self._waiting and is_due and not self._is_closed:
            self._write()

    def close(self) -> None:
        """Write what waits, and let other programs write. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._waiting:
            self._write()
        elif (damage := self._damage()) is not None:
            self._begin_anew(damage)
            self._write()
        if self._waiting:
            self.lost = f"{self._unwritten()} lost, as the program ends: {self._because}"
            log.error("%s", self.lost)
        self._let_go()

    def _take_over(self, file: GameFile) -> None:
        lock, is_free = _lock_of(file.path)
        if not is_free:
            self._news.append(
                f"{file.path.name} is being played by another tablecam: this game gets a file of "
                "its own"
            )
            return
        self._lock, self.file = lock, file
        faults = file.verified().faults
        if faults:
            self._was_changed = f"{file.path.name} is not as it was written ({faults[0]})"
            self._news.append(f"{self._was_changed}; the game goes on in it all the same")
        self._told = [_Told.of(entry) for entry in file.entries()]
        self.last = len(self._told)

    def _write(self) -> None:
        """Write what waits, in order, as far as that goes."""
        self._tried_at_s = time.monotonic()
        try:
            try:
                self._append_all()
            except BadInput as error:
                if not self._is_lost(error):
                    raise
                self._begin_anew(error)
                self._append_all()
        except BadInput as error:
            self._say_what_waits(str(error))
        else:
            if self.trouble:
                self._news.append(f"All is on the disk now: {self._most_waited} had waited for it.")
            self.trouble = self._because = ""

    def _say_what_waits(self, because: str) -> None:
        self._most_waited = self._waits()
        self.trouble = f"{self._unwritten()} not on the disk: {because}{_GOES_ON}"
        if because != self._because:
            log.error("%s", self.trouble)
        self._because = because

    def _is_lost(self, error: BadInput) -> bool:
        """Whether the file can never be gone on with."""
        if self.file is None:
            return False
        return isinstance(error, WrittenElsewhere | Damaged) or _is_gone(self.file.path)

    def _damage(self) -> BadInput | None:
        """What of the file is not as it was written, though nobody noticed while it was."""
        if self.file is None or self._lock is None or self._was_changed:
            return None
        try:
            faults = self.file.verified().faults
        except BadInput as error:
            return error if self._is_lost(error) else None  # it may only be busy
        return Damaged(self.file.name, faults[0]) if faults else None

    def _begin_anew(self, error: BadInput) -> None:
        """Have all that was told written again, to another file."""
        log.error("the game is written anew to another file: %s", error)
        if self.file is not None:
            self._left = self.file.path, _what_became(self.file.path, error)
        self._let_go()
        self.file = None
        self._waiting.extendleft((entry.again(),) for entry in reversed(self._told))
        self._told = []
        if self._was_changed:  # the new file's digests would hide it
            self.last += 1
            self._waiting.append((NewEntry("notice", {"text": self._was_changed}),))
            self._was_changed = ""

    def _let_go(self) -> None:
        """Let other programs write to the file."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _file(self) -> GameFile:
        if self.file is None:
            self.file = self._create()
            self._lock, _ = _lock_of(self.file.path)
            log.info("the game is kept in %s", self.file.path)
            if self._left is not None:
                self._news.append(_moved(*self._left, self.file.path))
                self._left = None
        return self.file

    def _append_all(self) -> None:
        while self._waiting:
            batch: list[NewEntry] = []
            count = 0
            for together in self._waiting:
                batch += together
                count += 1
                if len(batch) >= _AT_ONCE:
                    break
            self._file().append(*batch, after=len(self._told))
            self._told += map(_Told.of, batch)
            for _ in range(count):
                self._waiting.popleft()

    def _unwritten(self) -> str:
        """What waits, with its verb: `1 dispute is`, `1 move, 2 disputes and 3 actions are`."""
        count = sum(map(len, self._waiting))
        return f"{self._waits()} {'is' if count == 1 else 'are'}"

    def _waits(self) -> str:
        """How many of what: `1 move, 2 disputes and 3 actions`."""
        waiting = [_WORDS[each.kind] for together in self._waiting for each in together]
        *parts, last = (
            f"{count} {what}{'s' * (count > 1)}" for what, count in sorted(Counter(waiting).items())
        )
        return f"{', '.join(parts)} and {last}" if parts else last


def _is_gone(path: Path) -> bool:
    """Whether a file is not there any more; one that cannot be looked at may be."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _what_became(path: Path, error: BadInput) -> str:
    """What became of a file that a game cannot be kept in any more."""
    if _is_gone(path):
        return "is gone"
    is_damaged = isinstance(error, Damaged)
    return "is damaged" if is_damaged else "is written to by another program"


def _moved(old: Path, became: str, new: Path) -> str:
    """That a game is kept in another file from now on."""
    became = "is gone" if old == new else became
    return f"{old.name} {became}: the game is kept anew in {new}, without its earlier pictures"


def _lock_of(path: Path) -> tuple[WriterLock | None, bool]:
    """The lock of a file, and whether it is free; where there can be none it counts as free."""
    try:
        lock = WriterLock.taken(path)
    except OSError as error:
        log.warning("other programs cannot be told that this one writes to %s: %s", path, error)
        return None, True
    return lock, lock is not None
