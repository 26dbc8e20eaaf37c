"""A recording in a database: entries are added at its end, and read from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, func, insert, select

import tablecam
from tablecam.errors import BadInput
from tablecam.record.digests import (
    Verified,
    Verifier,
    entry_digest,
    facts_digest,
    picture_digest,
)
from tablecam.record.entries import Entry, GameFacts, Json, Kind, NewEntry, Picture, PictureKind
from tablecam.record.faults import REPAIR, Damaged, in_words
from tablecam.record.schema import FORMAT, entry, picture, recording

_VERIFIED_AT_ONCE: Final = 200
"""So many entries with their pictures are in memory while they are verified."""


class WrittenElsewhere(BadInput):
    """A recording that one program writes was written to by another."""


class Journal:
    """One recording, in a game's file or among many on a server. Any thread may use it.

    What a method has returned from is on the disk whatever happens next. `name` is what errors
    call it: a file's path, or a server's address without its password.
    """

    def __init__(self, engine: Engine, recording_id: str, name: str) -> None:
        self.id = recording_id
        self.name = name
        self._engine = engine

    def facts(self) -> GameFacts:
        """What the game is played with.

        Raises:
            BadInput: It cannot be read.
        """
        rows = self._rows(select(recording).where(recording.c.id == self.id))
        if not rows:
            raise BadInput(self.name, f"there is no recording {self.id}")
        return facts_of(rows[0], self.name)

    def written_by(self) -> str:
        """The version of tablecam that began it.

        Raises:
            BadInput: It cannot be read.
        """
        (row,) = self._rows(select(recording.c.written_by).where(recording.c.id == self.id))
        return str(row.written_by)

    def append(self, *entries: NewEntry, after: int | None = None) -> int:
        """Keep these, in this order, all or none; the number of the last.

        `after` is the number of the last one before them, for who alone writes and counts them.

        Raises:
            WrittenElsewhere: Another is the last; nothing is written.
            BadInput: They cannot be written; what was there before is there still.
        """
        with in_words(self.name, "cannot be written"), self._engine.begin() as connection:
            last, before = last_digest(connection, self.id)
            if after not in (None, last):
                raise WrittenElsewhere(self.name, f"expected {after} entries, got {last}")
            for number, each in enumerate(entries, start=last + 1):
                before = insert_entry(connection, self.id, number, each, before)
        return last + len(entries)

    def verified(self, *, images: bool = True) -> Verified:
        """Whether all entries and pictures are as they were written, going by their digests.

        Without `images` the pictures themselves are not looked at.

        Raises:
            BadInput: They cannot be read.
        """
        facts = self._rows(select(recording).where(recording.c.id == self.id))
        verifier = Verifier(facts[0]._asdict() if facts else None)
        shown = [each for each in picture.c if images or each.name != "image"]
        for after in range(0, self.last(), _VERIFIED_AT_ONCE):
            some = after + 1, after + _VERIFIED_AT_ONCE
            of_it = (entry.c.recording == self.id) & entry.c.number.between(*some)
            seen = (picture.c.recording == self.id) & picture.c.entry.between(*some)
            pictures: dict[int, list[Mapping[str, Any]]] = {}
            rows = self._rows(select(entry).where(of_it).order_by(entry.c.number))
            for row in self._rows(select(*shown).where(seen)):
                pictures.setdefault(row.entry, []).append(row._asdict())
            for row in rows:
                verifier.entry(row._asdict(), pictures.get(row.number, ()), images=images)
        return verifier.found

    def last(self) -> int:
        """The number of the newest entry, 0 in an empty recording.

        Raises:
            BadInput: It cannot be read.
        """
        with in_words(self.name, "cannot be read"), self._engine.begin() as connection:
            return self._last(connection)

    def digest(self, number: int) -> str:
        """The digest of entry `number`, or of the recording's own row for 0; empty if it has none.

        Raises:
            BadInput: It cannot be read.
        """
        of_it = (entry.c.recording == self.id) & (entry.c.number == number)
        of_all = select(recording.c.digest).where(recording.c.id == self.id)
        rows = self._rows(select(entry.c.digest).where(of_it) if number else of_all)
        return (rows[0].digest or "") if rows else ""

    def times(self) -> list[datetime]:
        """When each entry was made, in order.

        Raises:
            BadInput: They cannot be read.
        """
        kept = select(entry.c.at).where(entry.c.recording == self.id).order_by(entry.c.number)
        return [datetime.fromisoformat(row.at) for row in self._rows(kept)]

    def entries(self, *kinds: Kind, after: int = 0, up_to: int | None = None) -> list[Entry]:
        """Entries in order, after one number and up to another; of these kinds, if any are named.

        Raises:
            BadInput: They cannot be read, or one of them is damaged.
        """
        wanted = (entry.c.recording == self.id) & (entry.c.number > after)
        seen = (picture.c.recording == self.id) & (picture.c.entry > after)
        if up_to is not None:
            wanted, seen = wanted & (entry.c.number <= up_to), seen & (picture.c.entry <= up_to)
        if kinds:
            wanted = wanted & entry.c.kind.in_(kinds)
        rows = self._rows(select(entry).where(wanted).order_by(entry.c.number))
        # Afterwards: of an entry that is added just now, all pictures are there by then, or it is
        # not among those read.
        pictures: dict[int, list[PictureKind]] = {}
        for row in self._rows(select(picture.c.entry, picture.c.kind).where(seen)):
            pictures.setdefault(row.entry, []).append(row.kind)
        return [self._entry(row, pictures.get(row.number, ())) for row in rows]

    def newest(self, kind: Kind) -> Entry | None:
        """The newest entry of a kind, without its pictures; None where there is none.

        Raises:
            BadInput: It cannot be read, or is damaged.
        """
        is_it = (entry.c.recording == self.id) & (entry.c.kind == kind)
        query = select(entry).where(is_it).order_by(entry.c.number.desc()).limit(1)
        rows = self._rows(query)
        return self._entry(rows[0], ()) if rows else None

    def picture(self, number: int, kind: PictureKind) -> Picture:
        """A picture of an entry.

        Raises:
            BadInput: There is none of that kind, or it cannot be read.
        """
        is_it = (picture.c.recording == self.id) & (picture.c.entry == number)
        rows = self._rows(select(picture).where(is_it & (picture.c.kind == kind)))
        if not rows:
            raise BadInput(self.name, f"entry {number} has no picture {kind}")
        return Picture(kind, bytes(rows[0].image), rows[0].media_type)

    def pictured(self, *, up_to: int | None = None) -> set[tuple[int, PictureKind]]:
        """Which pictures there are: the number of each one's entry, and its kind.

        Raises:
            BadInput: They cannot be read.
        """
        of_it = picture.c.recording == self.id
        if up_to is not None:
            of_it &= picture.c.entry <= up_to
        rows = self._rows(select(picture.c.entry, picture.c.kind).where(of_it))
        return {(row.entry, row.kind) for row in rows}

    def picture_count(self, *, up_to: int) -> int:
        """How many pictures its entries have until one.

        Raises:
            BadInput: They cannot be read.
        """
        of_it = (picture.c.recording == self.id) & (picture.c.entry <= up_to)
        (row,) = self._rows(select(func.count()).select_from(picture).where(of_it))
        return int(row[0])

    def pictures_size(self) -> int:
        """How many bytes all its pictures have.

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
        except (ValueError, RecursionError) as error:
            because = f"entry {row.number} is damaged: {error}; {REPAIR}"
            raise BadInput(self.name, because) from None
        return Entry(row.number, row.kind, at, document, tuple(sorted(pictures)), row.digest)

    def _rows(self, query: Any) -> list[Row[Any]]:
        with in_words(self.name, "cannot be read"), self._engine.begin() as connection:
            return list(connection.execute(query))


def begin_recording(
    connection: Connection, facts: GameFacts, written_by: str = tablecam.__version__
) -> str:
    """Write a recording's one row of facts; its digest, for its first entry to chain to."""
    row = facts_row(facts, written_by)
    connection.execute(insert(recording), row)
    return str(row["digest"])


def facts_row(facts: GameFacts, written_by: str) -> Json:
    """The row of a recording; `written_by` is the version of tablecam that began it."""
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


def entry_row(recording_id: str, number: int, kept: Entry | NewEntry) -> Json:
    """The row of an entry, but for its digest."""
    document = json.dumps(kept.document, ensure_ascii=False, separators=(",", ":"))
    return {
        "recording": recording_id,
        "number": number,
        "kind": kept.kind,
        "at": kept.at.isoformat(),
        # No database takes half a character, and what comes after it would wait for ever.
        "document": document.encode("utf-8", "replace").decode("utf-8"),
    }


def picture_row(recording_id: str, number: int, kept: Picture) -> Json:
    """The row of a picture of an entry."""
    row = {
        "recording": recording_id,
        "entry": number,
        "kind": kept.kind,
        "media_type": kept.media_type,
        "image": kept.image,
    }
    return row | {"digest": picture_digest(row)}


def facts_of(row: Row[Any], name: str) -> GameFacts:
    """What a recording's row says of it; `name` is what errors call it.

    Raises:
        Damaged: A column holds what was never written there.
    """
    told = row._asdict()
    game, table_file, camera_file = told["game"], told["table_file"], told["camera_file"]
    place = told.get("place") or 0
    # A damaged file may hold numbers where texts were written, and the other way about.
    texts = (game, table_file, camera_file or "", told["id"])
    if not (all(isinstance(text, str) for text in texts) and isinstance(place, int)):
        raise Damaged(name, f"what the game is played with is damaged; {REPAIR}")
    try:
        started_at = datetime.fromisoformat(told["started_at"])
        return GameFacts(game, table_file, started_at, camera_file, told["id"], place)
    except (ValueError, TypeError) as error:
        raise Damaged(name, f"when it began is damaged: {error}; {REPAIR}") from None


def rows_of(recording_id: str, number: int, new: NewEntry, before: str) -> tuple[Json, list[Json]]:
    """The row of an entry with its digest, and its pictures'; `before` is the digest before it."""
    pictures = [picture_row(recording_id, number, each) for each in new.pictures]
    row = entry_row(recording_id, number, new)
    of_pictures = {each["kind"]: each["digest"] for each in pictures}
    return row | {"digest": entry_digest(before, row, of_pictures)}, pictures


def insert_entry(
    connection: Connection, recording_id: str, number: int, new: NewEntry, before: str
) -> str:
    """Write an entry under its number, with its pictures; its digest, to chain to."""
    row, pictures = rows_of(recording_id, number, new, before)
    connection.execute(insert(entry), row)
    if pictures:
        connection.execute(insert(picture), pictures)
    return str(row["digest"])


def last_digest(connection: Connection, recording_id: str) -> tuple[int, str]:
    """The number of the newest entry, 0 without any, and the digest that the next chains to."""
    of_it = select(entry.c.number, entry.c.digest).where(entry.c.recording == recording_id)
    newest = connection.execute(of_it.order_by(entry.c.number.desc()).limit(1)).one_or_none()
    if newest is not None:
        return newest.number, newest.digest or ""
    of_all = select(recording.c.digest).where(recording.c.id == recording_id)
    return 0, connection.execute(of_all).scalar_one_or_none() or ""
