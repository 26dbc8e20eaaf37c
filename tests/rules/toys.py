"""Rule systems that only tests know: their folders are found as those of the package are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tablecam.rules

SYSTEMS = Path(__file__).parent / "systems"


@contextmanager
def toys_beside_the_rules() -> Iterator[None]:
    """Puts the toys' folders beside the package's own, as a player who adds one does."""
    tablecam.rules.__path__.append(str(SYSTEMS))
    known = set(sys.modules)
    try:
        yield
    finally:
        tablecam.rules.__path__.remove(str(SYSTEMS))
        toys = tuple(f"tablecam.rules.{folder.name}" for folder in SYSTEMS.iterdir())
        for name in set(sys.modules) - known:
            if name.startswith(toys):
                del sys.modules[name]
