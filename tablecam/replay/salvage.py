"""Collects the surviving parts of a recording in a damaged file, and the known losses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeGuard

from tablecam.documents import Json
from tablecam.record.digests import Verification, Verifier
from tablecam.record.entries import (
    KINDS,
    PICTURE_KINDS,
    GameFacts,
    Kind,
    NewEntry,
    Picture,
    PictureKind,
)
from tablecam.record.schema import FORMAT, entry, picture, recording
from tablecam.replay.pages import Row, Value

PictureKey = tuple[int, PictureKind]
"""An entry's number, and the kind of its picture."""

_SIGNATURES: Final = {"image/jpeg": b"\xff\xd8", "image/webp": b"RIFF", "image/png": b"\x89PNG"}
"""The first bytes of a picture's file, by media type."""
_RECORDING, _ENTRY, _PICTURE = (
    tuple(column.name for column in table.c) for table in (recording, entry, picture)
)
_ID_LENGTH: Final = 32


@dataclass(slots=True)
class Salvaged:
    """The parts of one recording found in a file's rows.

    `entries` and `pictures` are complete. `kinds` and `listed` are the entries and pictures that
    an index names, readable or not. `rows` and `picture_rows` are the raw rows, to be verified.
    `doubted` are entries whose row number differs from their own, which means a change.
    """

    id: str
    facts: GameFacts | None = None
    written_by: str = ""
    entries: dict[int, NewEntry] = field(default_factory=dict)
    pictures: dict[PictureKey, Picture] = field(default_factory=dict)
    kinds: dict[int, Kind | None] = field(default_factory=dict)
    listed: set[PictureKey] = field(default_factory=set)
    rows: dict[int, Json] = field(default_factory=dict)
    picture_rows: dict[PictureKey, Json] = field(default_factory=dict)
    facts_row: Json | None = None
    doubted: list[tuple[int, int, NewEntry]] = field(default_factory=list)

    def verified(self) -> Verification:
        """Verifies the entries and pictures by their digests."""
        verifier = Verifier(self.facts_row)
        pictures: dict[int, list[Json]] = {}
        for (number, _), row in self.picture_rows.items():
            pictures.setdefault(number, []).append(row)
        for number in sorted(self.rows):
            verifier.entry(self.rows[number], pictures.get(number, ()))
        return verifier.verification

    def settle(self) -> None:
        """Gives each doubted entry the number that is known to be missing, or drops it."""
        # Another program that wrote the file renumbered.
        is_renumbered = not self.entries
        for row_number, own_number, new in self.doubted:
            missing = [
                n for n in (row_number, own_number) if n in self.kinds and n not in self.entries
            ]
            number = own_number if is_renumbered else next(iter(missing), None)
            if number is not None:
                self.entries.setdefault(number, new)
                self.kinds[number] = new.kind
        self.doubted.clear()


def salvaged(rows: Iterable[Row]) -> Salvaged:
    """Returns the surviving parts of the recording that most rows belong to."""
    recordings: dict[str, Salvaged] = {}
    count: Counter[str] = Counter()
    for row in rows:
        name = row.values[0] if row.values else None
        if isinstance(name, str) and len(name) == _ID_LENGTH:
            salvage = recordings.setdefault(name, Salvaged(name))
            is_taken = _take_listed(salvage, row) if row.is_of_index else _take(salvage, row)
            count[name] += is_taken
    if not count:
        return Salvaged("")
    # Noise may look like a row of some recording, but only the real one has many.
    salvage = recordings[count.most_common(1)[0][0]]
    salvage.settle()
    return salvage


def _take(known: Salvaged, row: Row) -> bool:
    """Adds a table's row to a recording; returns whether it is a valid one."""
    match row.values:
        case (str(), int(number), str(at), str(kind), str(document), *_) if _is_kind(kind):
            entry = _entry(kind, at, document)
            if entry is None or number < 1:
                return False
            if row.number == number:
                # Another page may hold an old copy of the row: the first one counts.
                known.entries.setdefault(number, entry)
                known.rows.setdefault(number, _by_column(_ENTRY, row.values))
                known.kinds[number] = kind
            else:
                known.doubted.append((row.number or 0, number, entry))
        case (str(), int(number), str(kind), str(media_type), bytes(image), *_) if _is_picture(
            kind
        ):
            # Noise hardly ever begins like a picture.
            signature = _SIGNATURES.get(media_type)
            if number < 1 or signature is None or not image.startswith(signature):
                return False
            known.pictures.setdefault((number, kind), Picture(kind, image, media_type))
            known.listed.add((number, kind))
            known.picture_rows.setdefault((number, kind), _by_column(_PICTURE, row.values))
        case (str(), str(form), str(), str(), None | str(), str(), str(), *_) if form == FORMAT:
            return _take_facts(known, row.values)
        case _:
            return False
    return True


def _take_facts(known: Salvaged, values: tuple[Value, ...]) -> bool:
    row = _by_column(_RECORDING, values)
    at = _time(row["started_at"])
    if at is None:
        return False
    # A damaged column may hold a value of any type.
    camera = None if row["camera_file"] is None else str(row["camera_file"])
    place = row["place"] if isinstance(row["place"], int) else 0
    known.facts = GameFacts(
        str(row["game"]), str(row["table_file"]), at, camera, str(row["id"]), place
    )
    known.written_by = str(row["written_by"])
    known.facts_row = row
    return True


def _by_column(columns: Sequence[str], values: tuple[Value, ...]) -> Json:
    """Returns a row's values by the names of their columns."""
    return dict.fromkeys(columns) | dict(zip(columns, values, strict=False))


def _take_listed(known: Salvaged, row: Row) -> bool:
    """Adds the part that an index's row names; returns whether it names one of a recording."""
    match row.values:
        case (str(), int(number), int()) if number > 0:
            # This index does not name the entry's kind.
            known.kinds.setdefault(number, None)
        case (str(), str(kind), int(number), int()) if number > 0 and _is_kind(kind):
            known.kinds[number] = kind
        case (str(), int(number), str(kind), int()) if number > 0 and _is_picture(kind):
            known.listed.add((number, kind))
        case _:
            return False
    return True


def _entry(kind: Kind, at: str, document: str) -> NewEntry | None:
    """Returns an entry; None if it is unreadable."""
    try:
        parsed: Any = json.loads(document)
        if "\\u" in document:
            # A lone surrogate cannot be stored.
            json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    when = _time(at)
    if when is None or not isinstance(parsed, dict):
        return None
    return NewEntry(kind, parsed, at=when)


def _time(words: Value) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(words))
    except ValueError:
        return None
    return None if time.tzinfo is None else time


def _is_kind(word: str) -> TypeGuard[Kind]:
    return word in KINDS


def _is_picture(word: str) -> TypeGuard[PictureKind]:
    return word in PICTURE_KINDS
