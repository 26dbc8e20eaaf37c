"""Encodes and reads a recording's disputes: question and answer, position, and two pictures."""

from __future__ import annotations

from datetime import datetime

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.entries import Entry, NewEntry, Picture, PictureKind
from tablecam.record.journal import Journal


def dispute_entry(
    document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
) -> NewEntry:
    """Returns the entry of a dispute with its position and its pictures that are not empty.

    `document` is the dispute as the page has it, without a number.
    """
    images: dict[PictureKind, bytes] = {"plain": picture_jpeg, "drawn": drawn_jpeg}
    pictures = tuple(Picture(kind, jpeg) for kind, jpeg in images.items() if jpeg)
    contents = {"dispute": document, "position": position}
    return NewEntry("dispute", contents, pictures, datetime.fromisoformat(document["at"]))


def disputes(journal: Journal) -> list[Json]:
    """Returns all disputes as they were asked, numbered from 1, the newest last.

    Raises:
        BadInput: They cannot be read.
    """
    # Numbers are not stored: a dispute's number is its place among the disputes.
    entries = enumerate(journal.entries("dispute"), start=1)
    return [entry.document["dispute"] | {"number": number} for number, entry in entries]


def dispute_picture(journal: Journal, number: int, *, plain: bool = False) -> bytes:
    """Returns the camera's picture of a dispute as JPEG, the evidence drawn on it unless `plain`.

    Raises:
        BadInput: There is no such dispute, or it has no picture.
    """
    kind: PictureKind = "plain" if plain else "drawn"
    entry = _entry(journal, number)
    if kind not in entry.pictures:
        raise BadInput(journal.name, f"dispute {number} has no picture")
    return journal.picture(entry.number, kind).image


def dispute_position(journal: Journal, number: int) -> Json:
    """Returns the position document of a dispute: the table when it was asked.

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
