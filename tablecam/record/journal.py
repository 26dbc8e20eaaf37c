"""Reads and appends the entries of a recording in a database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, func, insert, select

import tablecam
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.digests import (
    Verification,
    Verifier,
    entry_digest,
    facts_digest,
    picture_digest,
)
from tablecam.record.entries import Entry, GameFacts, Kind, NewEntry, Picture, PictureKind
from tablecam.record.faults import REPAIR, Damaged, readable_errors
from tablecam.record.schema import FORMAT, entry, picture, recording

_VERIFIED_PER_BATCH: Final = 200
"""How many entries with their pictures are in memory at once while they are verified."""


class WrittenByAnother(BadInput):
    """Another program wrote to a recording that this one writes."""


class Journal:
    """One recording, in a game's file or among many on a server. Any thread may use it.

    What a method has written is on the disk when it returns. `name` is the recording's name in
    errors: a file's path, or a server's address without its password.
    """

    def __init__(self, engine: Engine, recording_id: str, name: str) -> None:
        self.id = recording_id
        self.name = name
        self._engine = engine

    def facts(self) -> GameFacts:
        """Returns what the game is played with.

        Raises:
            BadInput: It cannot be read.
        """
        rows = self._rows(select(recording).where(recording.c.id == self.id))
        if not rows:
            raise BadInput(self.name, f"there is no recording {self.id}")
        return facts_from_row(rows[0], self.name)

    def written_by(self) -> str:
        """Returns the version of tablecam that began the recording.

        Raises:
            BadInput: It cannot be read.
        """
        (row,) = self._rows(select(recording.c.written_by).where(recording.c.id == self.id))
        return str(row.written_by)

    def append(self, *entries: NewEntry, after: int | None = None) -> int:
        """Appends these entries in order, all or none, and returns the number of the last.

        `after` is the number that the newest stored entry must have; a lone writer counts them.

        Raises:
            WrittenByAnother: The newest has another number; nothing is written.
            BadInput: They cannot be written; the recording is unchanged.
        """
        with readable_errors(self.name, "cannot be written"), self._engine.begin() as connection:
            # Read in the transaction that writes: two writers cannot take the same number.
            last, before = last_digest(connection, self.id)
            if after not in (None, last):
                raise WrittenByAnother(self.name, f"expected {after} entries, got {last}")
            for number, new in enumerate(entries, start=last + 1):
                before = insert_entry(connection, self.id, number, new, before)
        return last + len(entries)

    def verified(self, *, images: bool = True) -> Verification:
        """Verifies all entries and pictures by their digests.

        Without `images` the pictures' files are not read.

        Raises:
            BadInput: They cannot be read.
        """
        facts = self._rows(select(recording).where(recording.c.id == self.id))
        verifier = Verifier(facts[0]._asdict() if facts else None)
        columns = [column for column in picture.c if images or column.name != "image"]
        for after in range(0, self.last(), _VERIFIED_PER_BATCH):
            batch = after + 1, after + _VERIFIED_PER_BATCH
            in_batch = (entry.c.recording == self.id) & entry.c.number.between(*batch)
            pictures_in_batch = (picture.c.recording == self.id) & picture.c.entry.between(*batch)
            pictures: dict[int, list[Mapping[str, Any]]] = {}
            rows = self._rows(select(entry).where(in_batch).order_by(entry.c.number))
            for row in self._rows(select(*columns).where(pictures_in_batch)):
                pictures.setdefault(row.entry, []).append(row._asdict())
            for row in rows:
                verifier.entry(row._asdict(), pictures.get(row.number, ()), images=images)
        return verifier.verification

    def last(self) -> int:
        """Returns the number of the newest entry, 0 in an empty recording.

        Raises:
            BadInput: It cannot be read.
        """
        with readable_errors(self.name, "cannot be read"), self._engine.begin() as connection:
            return self._last(connection)

    def digest(self, number: int) -> str:
        """Returns the digest of entry `number` ("" if none); for 0, of the recording's own row.

        Raises:
            BadInput: It cannot be read.
        """
        is_entry = (entry.c.recording == self.id) & (entry.c.number == number)
        own_digest = select(recording.c.digest).where(recording.c.id == self.id)
        rows = self._rows(select(entry.c.digest).where(is_entry) if number else own_digest)
        return (rows[0].digest or "") if rows else ""

    def times(self) -> list[datetime]:
        """Returns when each entry was made, in order.

        Raises:
            BadInput: They cannot be read.
        """
        times = select(entry.c.at).where(entry.c.recording == self.id).order_by(entry.c.number)
        return [datetime.fromisoformat(row.at) for row in self._rows(times)]

    def entries(self, *kinds: Kind, after: int = 0, up_to: int | None = None) -> list[Entry]:
        """Returns entries in order, after one number and up to another, only of `kinds` if any.

        Raises:
            BadInput: They cannot be read, or one of them is damaged.
        """
        entry_filter = (entry.c.recording == self.id) & (entry.c.number > after)
        picture_filter = (picture.c.recording == self.id) & (picture.c.entry > after)
        if up_to is not None:
            entry_filter &= entry.c.number <= up_to
            picture_filter &= picture.c.entry <= up_to
        if kinds:
            entry_filter &= entry.c.kind.in_(kinds)
        rows = self._rows(select(entry).where(entry_filter).order_by(entry.c.number))
        # Read pictures second: an entry being added meanwhile has all its pictures by now, or was
        # not among those read.
        pictures: dict[int, list[PictureKind]] = {}
        for row in self._rows(select(picture.c.entry, picture.c.kind).where(picture_filter)):
            pictures.setdefault(row.entry, []).append(row.kind)
        return [self._entry(row, pictures.get(row.number, ())) for row in rows]

    def newest(self, *kinds: Kind) -> Entry | None:
        """Returns the newest entry of some kinds, without its pictures; None if there is none.

        Raises:
            BadInput: It cannot be read, or is damaged.
        """
        is_kind = (entry.c.recording == self.id) & entry.c.kind.in_(kinds)
        query = select(entry).where(is_kind).order_by(entry.c.number.desc()).limit(1)
        rows = self._rows(query)
        return self._entry(rows[0], ()) if rows else None

    def picture(self, number: int, kind: PictureKind) -> Picture:
        """Returns a picture of an entry.

        Raises:
            BadInput: There is none of that kind, or it cannot be read.
        """
        of_entry = (picture.c.recording == self.id) & (picture.c.entry == number)
        rows = self._rows(select(picture).where(of_entry & (picture.c.kind == kind)))
        if not rows:
            raise BadInput(self.name, f"entry {number} has no picture {kind}")
        return Picture(kind, bytes(rows[0].image), rows[0].media_type)

    def pictured(self, *, up_to: int | None = None) -> set[tuple[int, PictureKind]]:
        """Returns the entry number and kind of each picture.

        Raises:
            BadInput: They cannot be read.
        """
        picture_filter = picture.c.recording == self.id
        if up_to is not None:
            picture_filter &= picture.c.entry <= up_to
        rows = self._rows(select(picture.c.entry, picture.c.kind).where(picture_filter))
        return {(row.entry, row.kind) for row in rows}

    def picture_count(self, *, up_to: int) -> int:
        """Returns how many pictures the entries up to one have.

        Raises:
            BadInput: They cannot be read.
        """
        picture_filter = (picture.c.recording == self.id) & (picture.c.entry <= up_to)
        (row,) = self._rows(select(func.count()).select_from(picture).where(picture_filter))
        return int(row[0])

    def pictures_size(self) -> int:
        """Returns the total size of all pictures, in bytes.

        Raises:
            BadInput: They cannot be read.
        """
        sizes = select(func.sum(func.length(picture.c.image)))
        (row,) = self._rows(sizes.where(picture.c.recording == self.id))
        return int(row[0] or 0)

    def _last(self, connection: Connection) -> int:
        newest = select(func.max(entry.c.number)).where(entry.c.recording == self.id)
        return int(connection.execute(newest).scalar_one() or 0)

    def _entry(self, row: Row[Any], pictures: Sequence[PictureKind]) -> Entry:
        try:
            document: Json = json.loads(row.document)
            at = datetime.fromisoformat(row.at)
        # A damaged document may nest deeper than the parser can follow.
        except (ValueError, RecursionError) as error:
            because = f"entry {row.number} is damaged: {error}; {REPAIR}"
            raise BadInput(self.name, because) from None
        return Entry(row.number, row.kind, at, document, tuple(sorted(pictures)), row.digest)

    def _rows(self, query: Any) -> list[Row[Any]]:
        with readable_errors(self.name, "cannot be read"), self._engine.begin() as connection:
            return list(connection.execute(query))


def begin_recording(
    connection: Connection, facts: GameFacts, written_by: str = tablecam.__version__
) -> str:
    """Writes a recording's row of facts, and returns its digest for the first entry to chain to."""
    row = facts_row(facts, written_by)
    connection.execute(insert(recording), row)
    return str(row["digest"])


def facts_row(facts: GameFacts, written_by: str) -> Json:
    """Returns the row of a recording; `written_by` is the version of tablecam that began it."""
    row = {
        "id": facts.id,
        "format": FORMAT,
        "game": facts.game,
        "table_file": facts.table_file,
        "camera_file": facts.camera_file,
        "started_at": facts.started_at.isoformat(),
        "written_by": written_by,
        "place": facts.place or None,
    }
    return row | {"digest": facts_digest(row)}


def entry_row(recording_id: str, number: int, new: Entry | NewEntry) -> Json:
    """Returns the row of an entry, without its digest."""
    document = json.dumps(new.document, ensure_ascii=False, separators=(",", ":"))
    return {
        "recording": recording_id,
        "number": number,
        "kind": new.kind,
        "at": new.at.isoformat(),
        # A lone surrogate, which no database accepts, would block every entry behind it.
        "document": document.encode("utf-8", "replace").decode("utf-8"),
    }


def picture_row(recording_id: str, number: int, new: Picture) -> Json:
    """Returns the row of a picture of an entry."""
    row = {
        "recording": recording_id,
        "entry": number,
        "kind": new.kind,
        "media_type": new.media_type,
        "image": new.image,
    }
    return row | {"digest": picture_digest(row)}


def facts_from_row(row: Row[Any], name: str) -> GameFacts:
    """Returns the facts in a recording's row; `name` is the recording's name in errors.

    Raises:
        Damaged: A column holds what was never written there.
    """
    game, table_file, camera_file = row.game, row.table_file, row.camera_file
    place = row.place or 0
    # A damaged file may hold numbers where texts were written, and vice versa.
    texts = (game, table_file, camera_file or "", row.id)
    if not (all(isinstance(text, str) for text in texts) and isinstance(place, int)):
        raise Damaged(
            name, f"the game's settings (rules, table file, camera file) are damaged; {REPAIR}"
        )
    try:
        started_at = datetime.fromisoformat(row.started_at)
        return GameFacts(game, table_file, started_at, camera_file, row.id, place)
    except (ValueError, TypeError) as error:
        raise Damaged(name, f"its start time is damaged: {error}; {REPAIR}") from None


def entry_rows(
    recording_id: str, number: int, new: NewEntry, before: str
) -> tuple[Json, list[Json]]:
    """Returns the row of an entry with its digest, and its pictures' rows."""
    pictures = [picture_row(recording_id, number, image) for image in new.pictures]
    row = entry_row(recording_id, number, new)
    picture_digests = {row["kind"]: row["digest"] for row in pictures}
    return row | {"digest": entry_digest(before, row, picture_digests)}, pictures


def insert_entry(
    connection: Connection, recording_id: str, number: int, new: NewEntry, before: str
) -> str:
    """Writes an entry with its pictures, and returns its digest for the next to chain to."""
    row, pictures = entry_rows(recording_id, number, new, before)
    connection.execute(insert(entry), row)
    if pictures:
        connection.execute(insert(picture), pictures)
    return str(row["digest"])


def last_digest(connection: Connection, recording_id: str) -> tuple[int, str]:
    """Returns the newest entry's number (0 without any) and the digest that the next chains to."""
    entries = select(entry.c.number, entry.c.digest).where(entry.c.recording == recording_id)
    newest = connection.execute(entries.order_by(entry.c.number.desc()).limit(1)).one_or_none()
    if newest is not None:
        return newest.number, newest.digest or ""
    own_digest = select(recording.c.digest).where(recording.c.id == recording_id)
    return 0, connection.execute(own_digest).scalar_one_or_none() or ""
