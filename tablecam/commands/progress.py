"""Shows the progress of long work as a bar on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from tablecam.replay.copies import ShowsProgress

Item = TypeVar("Item")


def with_progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yields the items while a bar shows how many of `total` are done."""
    console = Console(stderr=True)
    yield from track(
        items,
        what,
        total,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def watched_as(what: str) -> ShowsProgress:
    """Returns a function that shows progress under a name, for library code to call."""
    return partial(with_progress, what=what)
