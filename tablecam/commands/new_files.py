"""Checks and writes a command's output: a new file, created atomically, or `-`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from tablecam.errors import BadInput
from tablecam.record.atomic_files import NameTaken, new_file_atomically

STANDARD_OUTPUT: Final = Path("-")

Writing = Callable[[bytes], object]


force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


def check_new(
    outputs: Mapping[str, Path | None], *, inputs: Iterable[Path] = (), force: bool | None = None
) -> None:
    """Refuses outputs that exist, and two options for one file, before any work.

    `outputs` maps each option to its path. With `force` they may exist unless they are among the
    `inputs`; None if a command has no such option.

    Raises:
        BadInput: Names the file, or the option.
    """
    taken: dict[Path, str] = {}
    read = {path.resolve() for path in inputs}
    for option, path in outputs.items():
        if path is None:
            continue
        # Resolved, as one file may be named in two ways.
        name = path if path == STANDARD_OUTPUT else path.resolve()
        # Even with --force, inputs must not be overwritten.
        if name in read:
            raise BadInput(str(path), "expected a new file to write, got one of the inputs")
        if name in taken:
            raise BadInput(option, f"expected a different file from that of {taken[name]}")
        taken[name] = option
        if path.exists() and not path.is_file():
            kind = "folder" if path.is_dir() else "device or a pipe"
            raise BadInput(str(path), f"expected a file to write, got a {kind}")
        if path != STANDARD_OUTPUT and path.exists() and not force:
            hint = "" if force is None else "; --force overwrites it"
            raise NameTaken(str(path), f"the file already exists{hint}")


def check_place(path: Path, *, ending: str | None = None) -> None:
    """Refuses a path that cannot be written, before minutes are spent on its contents.

    Raises:
        BadInput: There is no such folder, the path is a folder, or has another ending.
    """
    if not path.parent.is_dir():
        raise BadInput(str(path), "expected a file in a folder that exists, got no such folder")
    if path.is_dir():
        raise BadInput(str(path), "expected a file to write, got a folder")
    if ending is not None and path.suffix.lower() != ending:
        raise BadInput(str(path), f"expected a name that ends in {ending}")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes a text line by line.

    Raises:
        NameTaken: A file of that name exists.
        BadInput: It cannot be written, or reading `lines` fails; then no file is created.
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
    with new_file_atomically(path) as fresh, fresh.open("wb") as file:
        yield file.write
