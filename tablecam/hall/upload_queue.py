"""Which recordings a hall is still to get: those that were shown in it, and no others.

Players who join a hall show it the games that they play in it. What else lies in their folder is
their own. So the folder has a note of what was begun for which hall, which outlives the program.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tablecam.record.faults import in_words

NOTE: Final = ".for-halls"
"""The note's name. A line for each recording: the hall's address, the file's name, and what its
table is called where it has a name, with tabs between them."""


@dataclass(frozen=True, slots=True)
class Owing:
    """A recording that a hall is still to get, and what its table is called there."""

    path: Path
    name: str = ""


class Owed:
    """The note of one hall in a folder of recordings. For one thread.

    Args:
        folder: Where the recordings are.
        hall: The hall's address, without a password.
    """

    def __init__(self, folder: Path, hall: str) -> None:
        self._folder = folder
        self._note = folder / NOTE
        self._hall = hall

    def games(self) -> list[Owing]:
        """The recordings that the hall is still to get, in the order in which they were begun.

        Raises:
            BadInput: The note cannot be read.
        """
        return [self._owing(line) for line in self._lines() if self._is_own(line)]

    def add(self, owing: Owing) -> None:
        """Note that the hall is to get a recording.

        Raises:
            BadInput: The note cannot be written.
        """
        if owing not in self.games():
            self._write([*self._others(owing.path), self._line(owing)])

    def is_paid(self, path: Path) -> None:
        """Note that the hall has all of a recording.

        Raises:
            BadInput: The note cannot be written.
        """
        self._write(self._others(path))

    def _is_own(self, line: str) -> bool:
        return line.startswith(f"{self._hall}\t")

    def _owing(self, line: str) -> Owing:
        _, file, name = (*line.split("\t"), "")[:3]
        return Owing(self._folder / file, name)

    def _line(self, owing: Owing) -> str:
        return "\t".join(filter(None, (self._hall, owing.path.name, owing.name)))

    def _others(self, path: Path) -> list[str]:
        """The lines but for this hall's of one recording."""
        lines = self._lines()
        return [
            each for each in lines if not (self._is_own(each) and self._owing(each).path == path)
        ]

    def _lines(self) -> list[str]:
        with in_words(str(self._note), "cannot be read"):
            if not self._note.exists():
                return []
            return self._note.read_text(encoding="utf-8").splitlines()

    def _write(self, lines: list[str]) -> None:
        """Write the note, whole or not at all."""
        fresh = self._note.with_name(f"{NOTE}.{os.getpid()}.new")
        with in_words(str(self._note), "cannot be written"):
            try:
                with fresh.open("w", encoding="utf-8") as file:
                    file.writelines(f"{line}\n" for line in lines)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(fresh, self._note)
            finally:
                fresh.unlink(missing_ok=True)
