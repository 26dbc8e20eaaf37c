"""The disputes in a recording: what was asked and answered, where all lay, and two pictures."""

from __future__ import annotations

from datetime import datetime

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Json, NewEntry, Picture, PictureKind
from tablecam.record.journal import Journal


def add_dispute(
    journal: Journal, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
) -> int:
    """Keep a dispute with its position and pictures; its number, from 1.

    Raises:
        BadInput: It cannot be written; what was there before is there still.
    """
    entry = journal.append(dispute_entry(document, position, picture_jpeg, drawn_jpeg))
    return len(journal.entries("dispute", up_to=entry))


def dispute_entry(
    document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
) -> NewEntry:
    """A dispute with its position and pictures; an empty picture is not kept.

    `document` is a dispute as the page has it; its number is the recording's to give.
    """
    images: dict[PictureKind, bytes] = {"plain": picture_jpeg, "drawn": drawn_jpeg}
    pictures = tuple(Picture(kind, jpeg) for kind, jpeg in images.items() if jpeg)
    kept = {"dispute": document, "position": position}
    return NewEntry("dispute", kept, pictures, datetime.fromisoformat(document["at"]))


def disputes(journal: Journal) -> list[Json]:
    """All disputes as they were asked, numbered from 1, the newest last.

    Raises:
        BadInput: They cannot be read.
    """
    entries = enumerate(journal.entries("dispute"), start=1)
    return [entry.document["dispute"] | {"number": number} for number, entry in entries]


def dispute_picture(journal: Journal, number: int, *, plain: bool = False) -> bytes:
    """The camera's picture of a dispute as JPEG, with the evidence on it unless `plain`.

    Raises:
        BadInput: There is no such dispute, or it has no picture.
    """
    kind: PictureKind = "plain" if plain else "drawn"
    entry = _entry(journal, number)
    if kind not in entry.pictures:
        raise BadInput(journal.name, f"expected a dispute with a picture, got {number}")
    return journal.picture(entry.number, kind).image


def dispute_position(journal: Journal, number: int) -> Json:
    """What lay on the table when a dispute was asked: a position document.

    Raises:
        BadInput: There is no such dispute.
    """
    position: Json = _entry(journal, number).document["position"]
    return position


def _entry(journal: Journal, number: int) -> Entry:
    entries = journal.entries("dispute")
    if not 1 <= number <= len(entries):
        raise BadInput(journal.name, f"there is no dispute {number}")
    return entries[number - 1]
