"""Small games to record: the parts of a dispute, and files for them."""

from dataclasses import replace
from datetime import UTC, datetime

from tablecam.hall.synchronisation import HallCopy
from tablecam.record.disputes import dispute_entry
from tablecam.record.entries import GameFacts
from tablecam.record.game_file import GameFile
from tablecam.record.journal import Journal
from tablecam.replay.copies import copy_of

FACTS = GameFacts(
    "maurice-lite",
    'format = "tablecam.table"',
    datetime(2026, 5, 1, 19, 30, tzinfo=UTC),
    "{}",
    "0123456789abcdef" * 2,
)


def dispute(text="Is B1 to the flank of F1?", word="yes"):
    return {
        "at": "2026-05-01T20:15:30+00:00",
        "question": {"id": "flank/F1/B1", "text": text},
        "active": "french",
        "answer": {
            "answer": word,
            "margin_mm": -3.25,
            "sigma_mm": 0.4,
            "probability": 0.12,
            "rule": "M-1.12",
            "because": "Two bases lie behind.",
            "evidence": [],
        },
        "line": {
            "text": "B1 is to the front of F1.",
            "reading": {"rule": "G-5", "text": "0.5 mm."},
        },
        "version": 7,
    }


def position(number=1):
    return {"format": "tablecam.position", "version": 1, "game": "maurice-lite", "n": number}


def pictures(number, size=20_000):
    """A plain and a drawn picture of a dispute, different from all others."""
    return bytes([number % 251]) * size, bytes([number % 241, 7]) * (size // 2)


def add_dispute(journal, *parts):
    """Add a dispute to a recording and return its number."""
    journal.append(dispute_entry(*parts))
    return len(journal.entries("dispute"))


def add(record, number, **parts):
    """Add a dispute to a recording or a live table's record, and return its number."""
    made = (dispute(f"Question {number}?", **parts), position(number), *pictures(number))
    if isinstance(record, Journal):
        return add_dispute(record, *made)
    return record.add_dispute(*made)


def catch_up(game, hall, **how):
    """Send the entries that a hall lacks, as a table does when it starts uploading."""
    return HallCopy(game, hall).send_entries(**how)


def forged(game, path, change=lambda document: document, *, entry=None, written_by=None):
    """A recording with one entry's document changed and with digests that hold."""
    copy = copy_of(game, pictures=True)
    entries = (
        replace(new, document=change(new.document)) if number == entry else new
        for number, new in enumerate(copy.entries, start=1)
    )
    return GameFile.create(path, copy.facts, entries, written_by or copy.written_by).path
