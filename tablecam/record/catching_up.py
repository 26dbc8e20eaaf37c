"""Brings a hall's copy of a recording up to what its table has: nothing lost, nothing doubled.

Entries are only ever added, and are numbered without gaps: so the copy's last number says what it
lacks. What arrives twice, from a table that did not hear that it had arrived, is there once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Table
from sqlalchemy.dialects.postgresql import insert

from tablecam.record.entries import Entry
from tablecam.record.journal import Journal, entry_row, facts_row, picture_row
from tablecam.record.schema import entry, picture, recording
from tablecam.record.server import Hall, notify

BATCH: Final = 100
"""So many entries go in one transaction: a table that was away for hours shows progress."""


def catch_up(here: Journal, hall: Hall, *, at_most: int | None = None) -> int:
    """Send what a hall lacks of a recording, or about `at_most` of it; how many entries it was.

    Raises:
        BadInput: The recording cannot be read, or the server not be reached. What was sent stays.
    """
    sent, last = 0, hall.journal(here.id).last()
    if last == 0:
        _send_facts(here, hall)
    while (at_most is None or sent < at_most) and (
        entries := here.entries(after=last, up_to=last + BATCH)
    ):
        _send(entries, here, hall)
        sent, last = sent + len(entries), entries[-1].number
    return sent


def _send_facts(here: Journal, hall: Hall) -> None:
    with hall.writing("cannot be written") as connection:
        _add(connection, recording, [facts_row(here.facts(), here.written_by())])


def _send(entries: Sequence[Entry], here: Journal, hall: Hall) -> None:
    """Send entries with their pictures in one transaction."""
    rows = [entry_row(here.id, each.number, each) for each in entries]
    pictures = [
        picture_row(here.id, each.number, here.picture(each.number, kind))
        for each in entries
        for kind in each.pictures
    ]
    with hall.writing("cannot be written") as connection:
        _add(connection, entry, rows)
        _add(connection, picture, pictures)
        notify(connection, here.id, entries[-1].number)


def _add(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table).on_conflict_do_nothing(), rows)
