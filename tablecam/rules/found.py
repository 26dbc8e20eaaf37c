"""Finds what the rule systems bring, wherever their packages lie; none is named here."""

from __future__ import annotations

import importlib
import importlib.resources
import importlib.util
import pkgutil
from collections.abc import Iterator
from typing import Any

import tablecam.rules


def brought(module: str, name: str) -> Iterator[Any]:
    """What each package of `tablecam.rules` brings as `name` in its module `module`, if it does.

    Packages come in the order of their names.
    """
    for package in _packages():
        full_name = f"{package}.{module}"
        if importlib.util.find_spec(full_name) is not None:
            yield getattr(importlib.import_module(full_name), name)


def text_of(game: str, file_name: str) -> str | None:
    """The text of a file that lies in the package of a game; None where there is none."""
    for package in _packages():
        if importlib.util.find_spec(f"{package}.game") is None:
            continue
        if importlib.import_module(f"{package}.game").GAME.name == game:
            file = importlib.resources.files(package) / file_name
            return file.read_text(encoding="utf-8") if file.is_file() else None
    return None


def _packages() -> Iterator[str]:
    for package in pkgutil.iter_modules(tablecam.rules.__path__, "tablecam.rules."):
        if package.ispkg:
            yield package.name
