"""Long work shows itself: a bar on standard error, where a person looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from tablecam.replay.copies import Watched

Item = TypeVar("Item")


def with_progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """The items one by one, while a bar tells how many of `total` there were; then it is gone."""
    console = Console(stderr=True)
    yield from track(
        items,
        what,
        total,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def watched_as(what: str) -> Watched:
    """A bar, by that name, for whoever lets others see how far its work has come."""
    return partial(with_progress, what=what)
