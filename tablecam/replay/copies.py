"""A recording in transit from one file to another: its facts and a stream of its entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, GameFacts, NewEntry
from tablecam.record.faults import REPAIR
from tablecam.record.journal import Journal

Item = TypeVar("Item")

BATCH = 200
"""How many entries are read at once: a long recording with pictures may not fit into memory."""


class ShowsProgress(Protocol):
    """Passes on items one by one, `total` in all, and shows progress meanwhile."""

    def __call__(self, items: Iterable[Item], total: int, /) -> Iterable[Item]:
        """Yields the same items as they are requested."""
        ...


def without_progress(items: Iterable[Item], total: int, /) -> Iterable[Item]:
    """Passes on items without showing progress."""
    return items


@dataclass(frozen=True, slots=True)
class RecordingCopy:
    """The contents of a new file of the same recording; `entries` can be iterated once.

    `last` is the number of entries, for progress.
    """

    facts: GameFacts
    written_by: str
    last: int
    entries: Iterator[NewEntry]


def copy_of(journal: Journal, *, pictures: bool) -> RecordingCopy:
    """Returns a copy of a recording as it is now, without entries that are added meanwhile.

    Raises:
        BadInput: It cannot be read, or was changed: its copy would get valid digests.
    """
    faults = journal.verified(images=pictures).faults
    if faults:
        raise BadInput(journal.name, f"{faults[0]}; {REPAIR}")
    # Only up to here, because a game in progress adds entries.
    last = journal.last()
    entries = (_with_pictures(journal, entry, pictures) for entry in batched(journal, last))
    return RecordingCopy(journal.facts(), journal.written_by(), last, entries)


def batched(journal: Journal, last: int) -> Iterator[Entry]:
    """Yields the entries of a recording up to a number, read in batches.

    Raises:
        BadInput: They cannot be read, or one of them is damaged.
    """
    for after in range(0, last, BATCH):
        yield from journal.entries(after=after, up_to=min(after + BATCH, last))


def _with_pictures(journal: Journal, entry: Entry, pictures: bool) -> NewEntry:
    kinds = entry.pictures if pictures else ()
    images = tuple(journal.picture(entry.number, kind) for kind in kinds)
    return NewEntry(entry.kind, entry.document, images, entry.at)
