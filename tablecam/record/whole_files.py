"""Files that are there whole or not at all, and never take the place of another."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tablecam.errors import BadInput
from tablecam.record.faults import in_words

_TAKEN: Final = "expected a new name, but there is such a file"


class NameTaken(BadInput):
    """There is a file of that name already; it is never written over."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """An empty file to fill, which has the name `path` once that is done, if nothing is raised.

    Raises:
        NameTaken: There is a file of that name, before or by then.
        BadInput: It cannot be written.
    """
    with in_words(str(path), "cannot be written"):
        if path.is_dir():
            raise BadInput(str(path), "expected a new file, got a folder")
        if path.exists():
            raise NameTaken(str(path), _TAKEN)
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.touch(exist_ok=False)
            yield fresh
            _publish(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)


def _publish(fresh: Path, path: Path) -> None:
    """Give a finished file its name, if nobody has it."""
    with fresh.open("rb+") as file:  # else a power cut may leave the name with nothing in it
        os.fsync(file.fileno())
    try:
        _link(fresh, path)
    except FileExistsError:
        raise NameTaken(str(path), _TAKEN) from None
    if os.name == "posix":
        _flush_folder(path.parent)


def _link(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # some file systems know no links: take the name first, then fill it
        path.touch(exist_ok=False)
        try:
            os.replace(fresh, path)
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _flush_folder(folder: Path) -> None:
    """A new name outlives a power cut only once its folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
