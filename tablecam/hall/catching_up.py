"""Brings a hall's copy of a recording up to what its table has: nothing lost, nothing doubled.

Entries are only ever added, and are numbered without gaps: so the copy's last number says what it
lacks, as long as it is a copy of this very game. A file that was copied and is played on two
machines has one id and two histories. Whoever comes second to the hall is shown in it as a game of
its own, from the common beginning to its own end: nothing of either is written over or mixed, and
who looks sees both tables. Its id there is made of the first entry in which the two differ: so it
is the same one whenever this table catches up.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from tablecam.hall.server import Hall, notify
from tablecam.record.entries import Entry, Json, NewEntry, PictureKind
from tablecam.record.faults import REPAIR, Damaged
from tablecam.record.journal import (
    Journal,
    entry_row,
    facts_row,
    insert_entry,
    last_digest,
    picture_row,
    rows_of,
)
from tablecam.record.schema import picture, recording

BATCH: Final = 100
"""So many entries go in one transaction: a table that was away for hours shows progress."""
_PICTURES_AT_ONCE: Final = 20
"""So many pictures that a copy lacks go in one transaction: some megabytes."""


class HallCopy:
    """A hall's copy of a recording. Not for two threads; many programs may send at once.

    `id` is its id in the hall: the recording's own, unless the hall has another game of that id.
    """

    def __init__(self, here: Journal, hall: Hall) -> None:
        self.id = here.id
        self._here = here
        self._hall = hall
        self._known: int | None = None
        self._lacking: list[tuple[int, PictureKind]] | None = None

    @property
    def is_apart(self) -> bool:
        """Whether it is a game of its own in the hall, as its file is played elsewhere, too."""
        return self.id != self._here.id

    def catch_up(self, *, at_most: int | None = None) -> int:
        """Send the entries that the hall lacks, or about `at_most` of them; how many it was.

        Raises:
            BadInput: The recording cannot be read, or the server not be reached. What was sent
                stays.
        """
        sent = 0
        while at_most is None or sent < at_most:
            last = self._last_there()
            entries = self._here.entries(after=last, up_to=last + BATCH)
            if not entries:
                break
            sent += self._send(entries, after=last)
        return sent

    def mend(self) -> int:
        """Send some of the pictures that the copy lacks of entries that it has; how many it was.

        What it lacks is looked up once: later entries are sent with their pictures.

        Raises:
            BadInput: As `catch_up`.
        """
        if self._lacking is None:
            pictured = self._here.pictured(up_to=self._last_there())
            self._lacking = sorted(pictured - self._there().pictured())
        some = self._lacking[:_PICTURES_AT_ONCE]
        if some:
            rows = [self._picture_row(number, kind) for number, kind in some]
            with self._hall.writing("cannot be written") as connection:
                connection.execute(insert(picture).on_conflict_do_nothing(), rows)
            del self._lacking[: len(some)]
        return len(some)

    def _there(self) -> Journal:
        return self._hall.journal(self.id)

    def _last_there(self) -> int:
        """The number of the copy's newest entry, once it is known to be one of this very game."""
        last = self._there().last()
        if last == self._known:
            return last
        both = min(last, self._here.last())
        if both and not self._is_same(both):
            self._part(both)
            return self._last_there()
        if last == 0:
            self._send_facts()
        # Who is behind the copy is compared again when he has gone on.
        self._known = last if both == last else None
        return last

    def _is_same(self, number: int) -> bool:
        """Whether both have the same entry of a number; then all before it are the same, too."""
        here, there = (
            [(each.kind, each.at, each.document) for each in found]
            for found in (
                journal.entries(after=number - 1, up_to=number)
                for journal in (self._here, self._there())
            )
        )
        return here == there

    def _part(self, last: int) -> None:
        """Have a game of its own in the hall: up to this entry the two have not stayed the same."""
        numbers = range(1, last + 1)
        first = numbers[bisect_left(numbers, True, key=lambda number: not self._is_same(number))]
        (own,) = self._here.entries(after=first - 1, up_to=first)
        told = json.dumps(entry_row(self.id, first, own), sort_keys=True)
        self.id = hashlib.sha256(told.encode()).hexdigest()[: len(self.id)]
        self._known = None

    def _send_facts(self) -> None:
        facts = replace(self._here.facts(), id=self.id)
        with self._hall.writing("cannot be written") as connection:
            row = facts_row(facts, self._here.written_by())
            connection.execute(insert(recording).on_conflict_do_nothing(), row)

    def _send(self, entries: Sequence[Entry], *, after: int) -> int:
        """Send entries with their pictures, all or none; none where another program was quicker."""
        own = self._as_written(entries, after)
        with self._hall.writing("cannot be written") as connection:
            last, before = self._last_for_now(connection)
            if last != after:
                return 0
            for number, each in enumerate(own, start=after + 1):
                before = insert_entry(connection, self.id, number, each, before)
            notify(connection, self.id, entries[-1].number)
        self._known = entries[-1].number
        return len(entries)

    def _as_written(self, entries: Sequence[Entry], after: int) -> list[NewEntry]:
        """Entries with their pictures, each as its digest says that it was written.

        Raises:
            Damaged: One is not: it is not handed on as if it were.
        """
        before = self._here.digest(after)
        found = []
        for each in entries:
            pictures = tuple(self._here.picture(each.number, kind) for kind in each.pictures)
            own = NewEntry(each.kind, each.document, pictures, each.at)
            row, _ = rows_of(self._here.id, each.number, own, before)
            if each.digest not in (None, row["digest"]):
                because = f"entry {each.number} is not as it was written; {REPAIR}"
                raise Damaged(self._here.name, because)
            before = each.digest or ""
            found.append(own)
        return found

    def _last_for_now(self, connection: Connection) -> tuple[int, str]:
        """The number and digest of the copy's newest entry, so until the transaction ends."""
        of_it = select(recording.c.id).where(recording.c.id == self.id)
        connection.execute(of_it.with_for_update())
        return last_digest(connection, self.id)

    def _picture_row(self, number: int, kind: PictureKind) -> Json:
        return picture_row(self.id, number, self._here.picture(number, kind))
