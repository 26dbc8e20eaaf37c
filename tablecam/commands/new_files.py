"""Where a command writes what it was asked for: a new file, whole or not at all, or `-`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tablecam.errors import BadInput
from tablecam.record.whole_files import NameTaken, whole_file

STANDARD_OUTPUT: Final = Path("-")

Writing = Callable[[bytes], object]


def check_new(outputs: Mapping[str, Path | None]) -> None:
    """Refuse, before any work, outputs that are there already or are one; by their options.

    Raises:
        BadInput: Naming the file, or the option.
    """
    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        name = path if path == STANDARD_OUTPUT else path.resolve()
        if name in taken:
            raise BadInput(option, f"expected an output of its own, got that of {taken[name]}")
        taken[name] = option
        if path != STANDARD_OUTPUT and path.exists():
            raise NameTaken(str(path), "expected a new name, but there is such a file")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text line by line, as the lines come.

    Raises:
        NameTaken: There is a file of that name.
        BadInput: It cannot be written, or the lines cannot be had; then there is no such file.
    """
    with _opened(path) as write:
        for line in lines:
            write(f"{line}\n".encode())


@contextmanager
def _opened(path: Path) -> Iterator[Writing]:
    if path == STANDARD_OUTPUT:
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as fresh, fresh.open("wb") as file:
        yield file.write
