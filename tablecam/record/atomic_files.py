"""Writes files atomically: complete or not at all, new ones never over an existing file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tablecam.errors import BadInput

_TAKEN: Final = "a file of this name already exists"


class NameTaken(BadInput):
    """A file of that name already exists; it is never overwritten."""


@contextmanager
def disk_errors(name: str, failure: str) -> Iterator[None]:
    """Reports a disk error as one clear line; `failure` says what failed.

    Raises:
        BadInput: Names the file, what could not be done with it, and why.
    """
    try:
        yield
    except OSError as error:
        raise BadInput(name, f"{failure}: {error.strerror or error}") from error


@contextmanager
def new_file_atomically(path: Path) -> Iterator[Path]:
    """Yields an empty file to fill; it gets the name `path` afterwards, if nothing is raised.

    Raises:
        NameTaken: A file of that name exists, or does by the end.
        BadInput: The file cannot be written.
    """
    with disk_errors(str(path), "cannot be written"):
        if path.is_dir():
            raise BadInput(str(path), "expected a new file, got a folder")
        if path.exists():
            raise NameTaken(str(path), _TAKEN)
        # In the same folder, as links work only within one file system.
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.touch(exist_ok=False)
            yield fresh
            _publish(fresh, path)
        finally:
            # Removes only the temporary name: by now the file may have its final one as well.
            fresh.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Writes a file atomically: until it is complete, an earlier one stays.

    Raises:
        OSError: The file cannot be written.
    """
    # A name of its own, as several programs may write the file at once.
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def _publish(fresh: Path, path: Path) -> None:
    """Gives a finished file its name, unless that is taken."""
    # Without a sync, a power cut may leave the name with nothing in it.
    with fresh.open("rb+") as file:
        os.fsync(file.fileno())
    try:
        _link(fresh, path)
    except FileExistsError:
        raise NameTaken(str(path), _TAKEN) from None
    if os.name == "posix":
        _sync_folder(path.parent)


def _link(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    # Some file systems have no hard links: take the name first, then fill it.
    except OSError:
        path.touch(exist_ok=False)
        try:
            os.replace(fresh, path)
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _sync_folder(folder: Path) -> None:
    """Writes a folder to the disk: only then does a new name in it survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
