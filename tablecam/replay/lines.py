"""Converts recordings to and from JSON lines: the facts, then one entry a line.

The first line is an object with `format` "tablecam.recording", `version`, the game's settings, and
the number of `entries`. Each other line is an entry with its `number`, `at`, `kind` and `document`,
and `pictures` in base64 if requested. Each has a `digest` that chains to the line before
(`record/digests.py`). Lines convert back to the identical recording.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from tablecam.documents import Document, Json, json_document
from tablecam.errors import BadInput
from tablecam.record.entries import GameFacts, Kind, NewEntry, Picture, PictureKind
from tablecam.record.journal import entry_rows, facts_row
from tablecam.replay.copies import RecordingCopy
from tablecam.table.sections import StrictModel
from tablecam.wording import quoted

FORMAT: Final = "tablecam.recording"
VERSION: Final = 1

_CHANGED: Final = "the line was changed: its digest does not match"

# File names are made of these: the patterns hold no path separators.
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
_Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
_MediaType = Annotated[str, StringConstraints(pattern=r"^image/[a-z0-9.+-]{1,40}$")]


class _FactsLine(StrictModel):
    """The first line: the recording's facts."""

    format: str
    version: int
    id: _Id
    game: _Name
    started_at: str
    written_by: Annotated[str, StringConstraints(max_length=80)]
    table_file: str
    camera_file: str | None = None
    entries: Annotated[int, Field(ge=0)]
    place: Annotated[int, Field(ge=0)] = 0
    digest: str | None = None


class _PictureIn(StrictModel):
    """A picture of an entry, in base64."""

    kind: PictureKind
    media_type: _MediaType
    image: str


class _EntryLine(StrictModel):
    """Any other line: an entry."""

    number: int
    at: str
    kind: Kind
    document: dict[str, Any]
    pictures: list[_PictureIn] = Field(default_factory=list)
    digest: str | None = None


def lines_of(copy: RecordingCopy, *, digests: bool = True) -> Iterator[str]:
    """Yields a recording as lines without line ends; needs no `digests` if a checksum covers all.

    Raises:
        BadInput: The copied recording cannot be read.
    """
    facts = copy.facts
    before = facts_row(facts, copy.written_by)["digest"]
    document: Json = {
        "format": FORMAT,
        "version": VERSION,
        "id": facts.id,
        "game": facts.game,
        "started_at": facts.started_at.isoformat(),
        "written_by": copy.written_by,
        "table_file": facts.table_file,
        "camera_file": facts.camera_file,
        "entries": copy.last,
    }
    document |= {"place": facts.place} if facts.place else {}
    yield _line(document | ({"digest": before} if digests else {}))
    for number, entry in enumerate(copy.entries, start=1):
        document = _entry_document(number, entry)
        if digests:
            before = entry_rows(facts.id, number, entry, before)[0]["digest"]
            document["digest"] = before
        yield _line(document)


def copy_from_lines(lines: Iterable[bytes], source: str, *, digests: bool = True) -> RecordingCopy:
    """Returns the recording in JSON lines; `source` is their name in errors.

    They need no `digests` if a checksum has covered them all.

    Raises:
        BadInput: The first line belongs to no recording, or to a newer version. Iterating over the
            entries raises it, too, with the line's number, if one is damaged, changed or missing.
    """
    numbered = _numbered(lines, source)
    line, document = next(numbered, (1, None))
    if document is None:
        raise BadInput(source, "expected the JSON lines of a recording, got nothing")
    try:
        facts, parsed = _facts(document, source)
    except BadInput as error:
        raise _on_line(error, line) from None
    entries = _entries(numbered, parsed.entries, source)
    if not digests:
        plain_entries = (entry for _, entry, _ in entries)
        return RecordingCopy(facts, parsed.written_by, parsed.entries, plain_entries)
    digest = facts_row(facts, parsed.written_by)["digest"]
    if parsed.digest != digest:
        raise BadInput(source, _CHANGED, key="digest", line=line)
    chained = _chained(entries, facts.id, digest, source)
    return RecordingCopy(facts, parsed.written_by, parsed.entries, chained)


def _line(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _entry_document(number: int, entry: NewEntry) -> Json:
    document: Json = {
        "number": number,
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "document": entry.document,
    }
    if entry.pictures:
        document["pictures"] = [_picture_document(picture) for picture in entry.pictures]
    return document


def _picture_document(picture: Picture) -> Json:
    image = base64.b64encode(picture.image).decode("ascii")
    return {"kind": picture.kind, "media_type": picture.media_type, "image": image}


def _numbered(lines: Iterable[bytes], source: str) -> Iterator[tuple[int, Document]]:
    """Yields the document of each line that is not blank, with the line's number."""
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            try:
                # A recording may hold an infinite margin.
                yield number, json_document(raw, source, largest=math.inf)
            except BadInput as error:
                raise _on_line(error, number) from None


def _facts(document: Document, source: str) -> tuple[GameFacts, _FactsLine]:
    document.require(FORMAT, VERSION)
    parsed = document.parsed(_FactsLine)
    started_at = _time(parsed.started_at, source, "started_at")
    facts = GameFacts(
        parsed.game, parsed.table_file, started_at, parsed.camera_file, parsed.id, parsed.place
    )
    return facts, parsed


def _entries(
    numbered: Iterator[tuple[int, Document]], expected_count: int, source: str
) -> Iterator[tuple[int, NewEntry, str | None]]:
    """Yields each entry with its line's number and digest."""
    count = 0
    for line, document in numbered:
        count += 1
        try:
            yield line, *_entry(document, count, expected_count, source)
        except BadInput as error:
            raise _on_line(error, line) from None
    # If the end is cut off, all remaining lines are valid.
    if count < expected_count:
        raise BadInput(
            source, f"expected {expected_count} entries, got {count}: the end is missing"
        )


def _chained(
    entries: Iterator[tuple[int, NewEntry, str | None]],
    recording_id: str,
    before: str,
    source: str,
) -> Iterator[NewEntry]:
    """Yields entries after checking their digests; `before` is the digest of the facts."""
    for number, (line, entry, digest) in enumerate(entries, start=1):
        before = entry_rows(recording_id, number, entry, before)[0]["digest"]
        if digest != before:
            raise BadInput(source, _CHANGED, key="digest", line=line)
        yield entry


def _entry(document: Document, number: int, last: int, source: str) -> tuple[NewEntry, str | None]:
    parsed = document.parsed(_EntryLine)
    # Numbers without gaps: no line can be missing unnoticed.
    if parsed.number != number or number > last:
        expected = f"expected {number}" if number <= last else f"expected at most {last}"
        raise BadInput(source, f"{expected}, got {parsed.number}", key="number")
    pictures = tuple(_picture(picture, source) for picture in parsed.pictures)
    if len({picture.kind for picture in pictures}) < len(pictures):
        raise BadInput(source, "expected one picture of each kind", key="pictures")
    at = _time(parsed.at, source, "at")
    return NewEntry(parsed.kind, parsed.document, pictures, at), parsed.digest


def _picture(parsed: _PictureIn, source: str) -> Picture:
    try:
        image = base64.b64decode(parsed.image, validate=True)
    except (binascii.Error, ValueError):
        raise BadInput(source, "expected base64", key="image") from None
    return Picture(parsed.kind, image, parsed.media_type)


def _time(words: str, source: str, key: str) -> datetime:
    try:
        time = datetime.fromisoformat(words)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        expected = "expected a time like 2026-05-01T19:30:00+02:00"
        raise BadInput(source, f"{expected}, got {quoted(words)}", key=key)
    return time


def _on_line(error: BadInput, line: int) -> BadInput:
    return BadInput(error.source, error.message, key=error.key, line=line)
