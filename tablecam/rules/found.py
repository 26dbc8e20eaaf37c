"""Finds what the rule systems bring, wherever their packages lie; none is named here."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from typing import Any

import tablecam.rules


def brought(module: str, name: str) -> Iterator[Any]:
    """What each package of `tablecam.rules` brings as `name` in its module `module`, if it does.

    Packages come in the order of their names.
    """
    for package in pkgutil.iter_modules(tablecam.rules.__path__, "tablecam.rules."):
        full_name = f"{package.name}.{module}"
        if package.ispkg and importlib.util.find_spec(full_name) is not None:
            yield getattr(importlib.import_module(full_name), name)
