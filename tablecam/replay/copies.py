"""A recording on its way from one file into another: its facts, and its entries as they come."""

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
"""So many entries are read at once: a long recording need not fit into memory with its pictures."""


class Watched(Protocol):
    """Hands on what is worked on one by one, of `total`, to show how far it has come."""

    def __call__(self, items: Iterable[Item], total: int, /) -> Iterable[Item]:
        """The same things, as they are asked for."""
        ...


def unwatched(items: Iterable[Item], total: int, /) -> Iterable[Item]:
    """What is worked on while nobody looks."""
    return items


@dataclass(frozen=True, slots=True)
class RecordingCopy:
    """What a new file of the same recording is made of; `entries` can be gone through once.

    `last` is how many there are to be, for progress. What came without digests (`has_digests`) may
    have been changed on its way, and nobody can tell.
    """

    facts: GameFacts
    written_by: str
    last: int
    entries: Iterator[NewEntry]
    has_digests: bool = True


def copy_of(journal: Journal, *, pictures: bool) -> RecordingCopy:
    """A recording as it is now; what is added while it is gone through is left out.

    Raises:
        BadInput: It cannot be read, or is not as it was written: a copy would be sealed anew.
    """
    faults = journal.verified(images=pictures).faults
    if faults:
        raise BadInput(journal.name, f"{faults[0]}; {REPAIR}")
    last = journal.last()
    entries = (_with_pictures(journal, each, pictures) for each in batched(journal, last))
    return RecordingCopy(journal.facts(), journal.written_by(), last, entries)


def batched(journal: Journal, last: int) -> Iterator[Entry]:
    """The entries of a recording up to a number, read some at a time.

    Raises:
        BadInput: They cannot be read, or one of them is damaged.
    """
    for after in range(0, last, BATCH):
        yield from journal.entries(after=after, up_to=min(after + BATCH, last))


def _with_pictures(journal: Journal, entry: Entry, pictures: bool) -> NewEntry:
    kinds = entry.pictures if pictures else ()
    images = tuple(journal.picture(entry.number, kind) for kind in kinds)
    return NewEntry(entry.kind, entry.document, images, entry.at)
