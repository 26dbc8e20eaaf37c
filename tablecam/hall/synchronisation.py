"""Synchronises a hall's copy of a recording with the table's file, with no loss or duplicates.

Entries are only ever appended and are numbered without gaps, so the copy's last number says what it
lacks, provided that it is a copy of this very game. A file that was copied and is played on two
machines has one id and two histories. The second to reach the hall is stored there as a separate
game, from the common beginning to its own end: neither history is overwritten or mixed, and viewers
see both tables. Its id there derives from the first entry that differs, so it is the same
whenever this table synchronises.
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

from tablecam.documents import Json
from tablecam.hall.server import Hall, notify
from tablecam.record.entries import Entry, NewEntry, PictureKind
from tablecam.record.faults import REPAIR, Damaged
from tablecam.record.journal import (
    Journal,
    entry_row,
    entry_rows,
    facts_row,
    insert_entry,
    last_digest,
    picture_row,
)
from tablecam.record.schema import picture, recording

BATCH: Final = 100
"""Entries a transaction, so that a table that was away for hours shows progress."""
_PICTURES_PER_TRANSACTION: Final = 20
"""Missing pictures a transaction: some megabytes."""


class HallCopy:
    """A hall's copy of a recording. Not thread-safe, but many programs may upload at once.

    `id` is its id in the hall: the recording's own, unless the hall has another game of that id.
    """

    def __init__(self, here: Journal, hall: Hall) -> None:
        self.id = here.id
        self._local = here
        self._hall = hall
        self._compared_last: int | None = None
        self._missing_pictures: list[tuple[int, PictureKind]] | None = None

    @property
    def is_apart(self) -> bool:
        """Whether the hall stores it as a separate game: its file is also played elsewhere."""
        return self.id != self._local.id

    def send_entries(self, *, at_most: int | None = None) -> int:
        """Sends the entries that the hall lacks, or about `at_most` of them; returns how many.

        Raises:
            BadInput: The recording cannot be read, or the server cannot be reached. Entries already
                sent stay there.
        """
        sent = 0
        while at_most is None or sent < at_most:
            last = self._last_in_copy()
            entries = self._local.entries(after=last, up_to=last + BATCH)
            if not entries:
                break
            sent += self._send(entries, after=last)
        return sent

    def send_missing_pictures(self) -> int:
        """Sends some of the pictures that the copy's entries lack; returns how many.

        Missing pictures are determined once: later entries are sent with theirs.

        Raises:
            BadInput: As `send_entries`.
        """
        if self._missing_pictures is None:
            pictured = self._local.pictured(up_to=self._last_in_copy())
            self._missing_pictures = sorted(pictured - self._copy().pictured())
        batch = self._missing_pictures[:_PICTURES_PER_TRANSACTION]
        if batch:
            rows = [self._picture_row(number, kind) for number, kind in batch]
            with self._hall.writing("cannot be written") as connection:
                # Another program may have sent the same pictures meanwhile.
                connection.execute(insert(picture).on_conflict_do_nothing(), rows)
            del self._missing_pictures[: len(batch)]
        return len(batch)

    def _copy(self) -> Journal:
        return self._hall.journal(self.id)

    def _last_in_copy(self) -> int:
        """Returns the number of the copy's newest entry, after checking that the games match."""
        last = self._copy().last()
        if last == self._compared_last:
            return last
        common = min(last, self._local.last())
        if common and not self._is_same(common):
            self._branch_off(common)
            # Compare again: the separate game may be in the hall already, in part or whole.
            return self._last_in_copy()
        if last == 0:
            self._send_facts()
        # If the local file is behind the copy, compare again once it has grown.
        self._compared_last = last if common == last else None
        return last

    def _is_same(self, number: int) -> bool:
        """Whether both have the same entry of a number; then all earlier ones are the same."""
        local_entry, copied_entry = (
            [(entry.kind, entry.at, entry.document) for entry in entries]
            for entries in (
                journal.entries(after=number - 1, up_to=number)
                for journal in (self._local, self._copy())
            )
        )
        return local_entry == copied_entry

    def _branch_off(self, last: int) -> None:
        """Starts a separate game in the hall, as an entry up to `last` differs."""
        # All entries before the first different one are equal, so bisection finds it.
        numbers = range(1, last + 1)
        first = numbers[bisect_left(numbers, True, key=lambda number: not self._is_same(number))]
        # The id follows from this entry, so each later run continues the same separate game.
        (entry,) = self._local.entries(after=first - 1, up_to=first)
        digest_input = json.dumps(entry_row(self.id, first, entry), sort_keys=True)
        self.id = hashlib.sha256(digest_input.encode()).hexdigest()[: len(self.id)]
        self._compared_last = None

    def _send_facts(self) -> None:
        facts = replace(self._local.facts(), id=self.id)
        with self._hall.writing("cannot be written") as connection:
            row = facts_row(facts, self._local.written_by())
            connection.execute(insert(recording).on_conflict_do_nothing(), row)

    def _send(self, entries: Sequence[Entry], *, after: int) -> int:
        """Sends entries with pictures, all or none; none if another program sent them first."""
        # Read and verified first, so that the transaction is short.
        verified = self._verified(entries, after)
        with self._hall.writing("cannot be written") as connection:
            last, before = self._locked_last(connection)
            # Another program has sent these entries meanwhile.
            if last != after:
                return 0
            for number, entry in enumerate(verified, start=after + 1):
                before = insert_entry(connection, self.id, number, entry, before)
            notify(connection, self.id)
        self._compared_last = entries[-1].number
        return len(entries)

    def _verified(self, entries: Sequence[Entry], after: int) -> list[NewEntry]:
        """Returns entries with their pictures after checking their digests.

        Raises:
            Damaged: One was changed, so it must not be passed on as valid.
        """
        before = self._local.digest(after)
        verified = []
        for entry in entries:
            pictures = tuple(self._local.picture(entry.number, kind) for kind in entry.pictures)
            new = NewEntry(entry.kind, entry.document, pictures, entry.at)
            row, _ = entry_rows(self._local.id, entry.number, new, before)
            if entry.digest != row["digest"]:
                because = f"entry {entry.number} was changed after it was written; {REPAIR}"
                raise Damaged(self._local.name, because)
            before = row["digest"]
            verified.append(new)
        return verified

    def _locked_last(self, connection: Connection) -> tuple[int, str]:
        """Locks the copy, and returns its newest entry's number and digest."""
        # The lock on its row makes uploaders of one recording take turns.
        own_row = select(recording.c.id).where(recording.c.id == self.id)
        connection.execute(own_row.with_for_update())
        return last_digest(connection, self.id)

    def _picture_row(self, number: int, kind: PictureKind) -> Json:
        return picture_row(self.id, number, self._local.picture(number, kind))
