"""Writes entries to a game's file, in order; what cannot be written waits until it can."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Final

from tablecam.errors import BadInput
from tablecam.record.entries import Kind, NewEntry
from tablecam.record.game_file import GameFile

log = logging.getLogger(__name__)

Together = tuple[NewEntry, ...]
"""Entries that are on the disk all or none."""

_AT_ONCE: Final = 20
"""About so many entries go into one transaction: a disk that has room for some gets them."""
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


class Writer:
    """The one writer of a game's file, which it makes with the first entry. Not for two threads.

    Args:
        create: Makes the file.
        file: The file of a game that goes on, where there is one.
    """

    def __init__(self, create: Callable[[], GameFile], file: GameFile | None) -> None:
        self._create = create
        self._waiting: deque[Together] = deque()
        self.file = file
        self.trouble = ""
        self.last = 0 if file is None else file.last()

    @property
    def has_begun(self) -> bool:
        """Whether there is a file, or would be if it could be written."""
        return self.file is not None or bool(self._waiting)

    def keep(self, *entries: NewEntry) -> int:
        """Write these, all or none, and before them what waits; the number of the first of them.

        It has that number whether or not it could be written by now.
        """
        first = self.last + 1
        self.last += len(entries)
        self._waiting.append(entries)
        self.write()
        return first

    def write(self) -> None:
        """Write what waits, in order, as far as that goes."""
        if not self._waiting:
            return
        try:
            self._write(self._file())
            self.trouble = ""
        except BadInput as error:
            trouble = f"{self._unwritten()} not on the disk: {error}"
            if trouble != self.trouble:
                log.error("%s", trouble)
            self.trouble = trouble

    def _file(self) -> GameFile:
        if self.file is None:
            self.file = self._create()
            log.info("the game is kept in %s", self.file.path)
        return self.file

    def _write(self, file: GameFile) -> None:
        while self._waiting:
            batch: list[NewEntry] = []
            count = 0
            for together in self._waiting:
                batch += together
                count += 1
                if len(batch) >= _AT_ONCE:
                    break
            file.append(*batch)
            for _ in range(count):
                self._waiting.popleft()

    def _unwritten(self) -> str:
        """How many of what: `1 dispute is`, `2 disputes and 3 actions are`."""
        waiting = [_WORDS[each.kind] for together in self._waiting for each in together]
        parts = [
            f"{count} {what}{'s' * (count > 1)}" for what, count in sorted(Counter(waiting).items())
        ]
        return f"{' and '.join(parts)} {'is' if len(waiting) == 1 else 'are'}"
