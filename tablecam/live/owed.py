"""Which recordings a hall is still to get: those that were shown in it, and no others.

Players who join a hall show it the games that they play in it. What else lies in their folder is
their own. So the folder has a note of what was begun for which hall, which outlives the program.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tablecam.record.faults import in_words

NOTE: Final = ".for-halls"
"""The note's name: a line for each recording, the hall's address and the file's name."""


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

    def paths(self) -> list[Path]:
        """The recordings that the hall is still to get, in the order in which they were begun.

        Raises:
            BadInput: The note cannot be read.
        """
        own = (line for line in self._lines() if line.startswith(f"{self._hall}\t"))
        return [self._folder / line.partition("\t")[2] for line in own]

    def add(self, path: Path) -> None:
        """Note that the hall is to get a recording.

        Raises:
            BadInput: The note cannot be written.
        """
        if path not in self.paths():
            self._write([*self._lines(), self._line(path)])

    def is_paid(self, path: Path) -> None:
        """Note that the hall has all of a recording.

        Raises:
            BadInput: The note cannot be written.
        """
        self._write([line for line in self._lines() if line != self._line(path)])

    def _line(self, path: Path) -> str:
        return f"{self._hall}\t{path.name}"

    def _lines(self) -> list[str]:
        with in_words(str(self._note), "cannot be read"):
            if not self._note.exists():
                return []
            return self._note.read_text(encoding="utf-8").splitlines()

    def _write(self, lines: list[str]) -> None:
        """Write the note, whole or not at all."""
        fresh = self._note.with_name(f"{NOTE}.{os.getpid()}.new")
        with in_words(str(self._note), "cannot be written"):
            fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            os.replace(fresh, self._note)
