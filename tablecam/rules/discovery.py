"""Discovers the packages of rule systems and what they provide; none is named here."""

from __future__ import annotations

import importlib
import importlib.resources
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tablecam.rules


def discover(module: str, name: str, game: str = "") -> Iterator[Any]:
    """Yields `name` of each package's module `module`, for packages of `tablecam.rules` with one.

    Packages come in the order of their names, but the one named like the `game` first: a caller who
    finds it there need not wait for the imports of all others.
    """
    folder = game.replace("-", "_")
    for package in sorted(
        _packages(), key=lambda package: not folder.startswith(package.rpartition(".")[2])
    ):
        full_name = f"{package}.{module}"
        # A rule system need not provide a book, a game and odds; a kit provides none.
        if importlib.util.find_spec(full_name) is not None:
            provided = getattr(importlib.import_module(full_name), name, None)
            if provided is not None:
                yield provided


def text_of(game: str, file_name: str) -> str | None:
    """Returns the text of a file in a game's package, None if there is none."""
    for package in _packages():
        if _game_of(package) == game:
            file = importlib.resources.files(package) / file_name
            return file.read_text(encoding="utf-8") if file.is_file() else None
    return None


def folder_of(game: str) -> Path | None:
    """Returns the folder of a game's package; the files of its demo are relative to it."""
    for package in _packages():
        if _game_of(package) == game:
            folder = importlib.resources.files(package)
            return folder if isinstance(folder, Path) else None
    return None


def _game_of(package: str) -> str | None:
    """Returns the name of a package's game; one not playable yet may still answer questions."""
    for module, name, key in (("game", "GAME", "name"), ("questions", "QUESTIONS", "game")):
        if importlib.util.find_spec(f"{package}.{module}") is not None:
            described = getattr(importlib.import_module(f"{package}.{module}"), name)
            return str(getattr(described, key))
    return None


def _packages() -> Iterator[str]:
    for package in pkgutil.iter_modules(tablecam.rules.__path__, "tablecam.rules."):
        if package.ispkg:
            yield package.name
