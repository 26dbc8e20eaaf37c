"""A new whole recording of what can be read of a damaged one. The damaged file is never touched.

Numbers stay as they were, for links and for what entries say of each other: where an entry is lost
a notice says so in its place.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Final

import tablecam
from tablecam.errors import BadInput
from tablecam.record.database import MAGIC
from tablecam.record.digests import Verified
from tablecam.record.entries import Entry, GameFacts, Json, Kind, NewEntry, Picture
from tablecam.record.faults import in_words
from tablecam.record.game_file import GameFile
from tablecam.record.positions import MISSED, WHOLE
from tablecam.record.schema import SCHEMA_VERSION
from tablecam.replay.copies import RecordingCopy
from tablecam.replay.film import public_part
from tablecam.replay.moment import document_after
from tablecam.replay.pages import Pages, Row, told_page_bytes
from tablecam.replay.salvage import Salvaged, salvaged
from tablecam.replay.scenes import SHOWN, Telling
from tablecam.replay.words import counted

_MOST_LOST: Final = 10_000
"""No more entries than these are missing at the end: a larger number is noise."""
_MOST_NAMED: Final = 12
"""So many runs of numbers are named of what is lost."""
_READ: Final = (3, SCHEMA_VERSION)
"""The versions of the tables whose rows are read here; the older one has no digests."""
_VERSIONS: Final = range(1, 100)
"""A damaged file may say any number; one that is no version is noise."""
_VERSION_AT: Final = slice(60, 64)
"""Where an SQLite file has its `user_version`."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a damaged recording still had, and what is known to be lost of it.

    Of `entries` that can be read, `unclear` ones tell nothing any more: positions that differ from
    a lost one, and what was changed to something that tablecam never keeps. `changed` ones can be
    read, but are not as they were written, or have a picture that is not; so may be the facts. The
    others are, but for `unsealed` ones, that an older tablecam wrote.
    """

    copy: RecordingCopy
    entries: int
    lost_entries: tuple[tuple[int, Kind | None], ...]
    unclear: tuple[tuple[int, Kind], ...]
    pictures: int
    lost_pictures: int
    has_facts: bool
    changed: tuple[tuple[int, Kind | None], ...]
    are_facts_changed: bool
    unsealed: int

    def lines(self) -> Iterator[str]:
        """All of it in words."""
        saved = self.entries - len(self.unclear)
        yield f"saved: {counted(saved, 'entry')}, {counted(self.pictures, 'picture')}"
        if self.lost_entries:
            yield f"lost, with a notice in place of each: {_kinds(self.lost_entries)}"
        if self.unclear:
            yield f"unclear now, with a notice in place of each: {_kinds(self.unclear)}"
        if self.lost_pictures:
            yield f"lost: {counted(self.lost_pictures, 'picture')}"
        if not self.has_facts:
            yield "lost: the table file and the camera file"
        if self.changed:
            yield f"kept, but not as written, or a picture of theirs: {_kinds(self.changed)}"
        if self.are_facts_changed:
            yield "kept, but not as written: the table file or the camera file"
        if self.unsealed:
            without = f"{counted(self.unsealed, 'entry')} of an older tablecam"
            yield f"without digests, so that changes cannot be known: {without}"
        is_changed = self.changed or self.are_facts_changed
        if not (self.lost_entries or self.lost_pictures or is_changed) and self.has_facts:
            yield f"nothing {'else ' if self.unclear else ''}is known to be lost"


def pages_of(path: Path) -> Pages:
    """The pages of a recording's file, and of the log beside it.

    Raises:
        BadInput: It is missing, empty, cannot be read, or whole enough to say that another version
            of tablecam has to repair it.
    """
    if not path.exists():
        raise BadInput(str(path), "expected a recording, but there is no file of that name")
    log = path.parent / f"{path.name}-wal"
    with in_words(str(path), "cannot be read"):
        database = path.read_bytes()
        try:
            logged = log.read_bytes()
        except FileNotFoundError:  # a game that is going on deletes it again and again
            logged = b""
    version = int.from_bytes(database[_VERSION_AT], "big") if database.startswith(MAGIC) else 0
    if version not in _READ and version in _VERSIONS:
        expected = f"expected a recording of version {SCHEMA_VERSION}, got version {version}"
        raise BadInput(str(path), f"{expected}: it takes its own tablecam to repair it")
    pages = Pages(database, logged)
    if any(True for number in range(1, pages.last + 1) for _ in pages.rows(number)):
        return pages
    return Pages(database, logged, told_page_bytes(database))


def verified(file: GameFile) -> Verified:
    """Whether a file is as it was written, also where nothing is kept in it.

    Raises:
        BadInput: It cannot be read.
    """
    found = file.verified()
    if found.without or found.faults:
        return found  # tables were taken out of older files: their room is not blank
    spoilt = pages_of(file.path).spoilt()
    if spoilt:  # what is being written just now looks so, too, but not twice
        spoilt &= pages_of(file.path).spoilt()
    for number in sorted(spoilt):
        found.faults.append(f"page {number} of the file is damaged, where nothing is kept")
    return found


def repaired(rows: Iterator[Row], name: str) -> Repaired:
    """What the rows of a damaged recording's pages give; `name` is what errors call it.

    Raises:
        BadInput: There is nothing of a recording in them.
    """
    found = salvaged(rows)
    if not found.entries and found.facts is None:
        raise BadInput(name, "nothing can be saved: no entry of a recording can be read in it")
    last = _last(found)
    lost = tuple((n, found.kinds.get(n)) for n in range(1, last + 1) if n not in found.entries)
    pictures = {key for key in found.pictures if key[0] <= last}
    listed = {key for key in found.listed if key[0] <= last}
    facts = found.facts or _guessed_facts(found)
    saving = _Saving(found, facts)
    entries = tuple(saving.entry(number) for number in range(1, last + 1))
    written_by = found.written_by or tablecam.__version__
    digests = found.verified()
    told = {*(number for number, _ in listed - pictures), *(n for n, _ in saving.unclear)}
    changed = tuple(
        (number, found.kinds.get(number))
        for number in digests.changed
        if number in found.entries and number not in told
    )
    copy = RecordingCopy(facts, written_by, last, _with_pictures(entries, found))
    return Repaired(
        copy,
        len(found.entries),
        lost,
        tuple(saving.unclear),
        len(pictures),
        len(listed - pictures),
        has_facts=found.facts is not None,
        changed=changed,
        are_facts_changed=digests.are_facts_changed,
        unsealed=digests.without,
    )


def _last(found: Salvaged) -> int:
    """The number of the last entry that there is known to have been."""
    saved = max(found.entries, default=0)
    return max((n for n in found.kinds if n <= saved + _MOST_LOST), default=saved)


def _guessed_facts(found: Salvaged) -> GameFacts:
    """What the entries themselves tell of the game they are of."""
    first = min(found.entries)
    documents = (each.document for _, each in sorted(found.entries.items()))
    games = (document.get("game") or _inside(document).get("game") for document in documents)
    game = next((each for each in games if isinstance(each, str)), "unknown")
    return GameFacts(game, "", found.entries[first].at, id=found.id)


def _inside(document: Json) -> Json:
    inside = document.get(WHOLE) or document.get("position")
    return inside if isinstance(inside, dict) else {}


class _Saving:
    """Goes through the numbers of a recording: what each becomes in the new one.

    A notice stands for what is lost, and positions need nothing that is. What is saved can be
    played: pages and films are told of it here already.
    """

    def __init__(self, found: Salvaged, facts: GameFacts) -> None:
        self.unclear: list[tuple[int, Kind]] = []
        self._found = found
        self._at = facts.started_at
        self._table: Json | None = None
        self._is_sure = True
        self._telling = Telling(found.id)

    def entry(self, number: int) -> NewEntry:
        """What has the next number in the new recording."""
        kept = self._found.entries.get(number)
        if kept is None:
            kind = self._found.kinds.get(number)
            self._is_sure = self._is_sure and kind not in (None, "position")
            return _notice(_lost_words(number, kind), self._at)
        self._at = kept.at
        try:
            return self._told(number, kept)
        except BadInput:
            self._is_sure = self._is_sure and kept.kind != "position"
            self.unclear.append((number, kept.kind))
            return _notice(f"{_named(number, kept.kind)} cannot be told any more", self._at)

    def _told(self, number: int, kept: NewEntry) -> NewEntry:
        """An entry that says what its kind does; a position whole where one before it is lost."""
        entry = Entry(number, kept.kind, kept.at, kept.document)
        if kept.kind == "position":
            table = document_after(self._table, entry, self._found.id)
            is_sure = self._is_sure or WHOLE in kept.document
            beside = {key: kept.document[key] for key in (MISSED,) if key in kept.document}
            kept = kept if is_sure else replace(kept, document={WHOLE: table} | beside)
            entry = replace(entry, document=kept.document)
        public_part(entry, self._found.id)
        if kept.kind == "deed" and not isinstance(kept.document.get("entry"), dict):
            raise BadInput(self._found.id, f"entry {number} does not say what was done")
        if entry.kind in SHOWN:
            deque(self._telling.of(entry), maxlen=0)
        if kept.kind == "position":
            self._table, self._is_sure = table, is_sure
        elif kept.kind in ("play", "dispute") and self._table is None:
            # Better than nothing: it is where all lay then, and what follows differs from that.
            self._table = _inside(kept.document) or None
        return kept


def _with_pictures(entries: Iterable[NewEntry], found: Salvaged) -> Iterator[NewEntry]:
    of: dict[int, list[Picture]] = {}
    for (number, _), picture in sorted(found.pictures.items()):
        of.setdefault(number, []).append(picture)
    for number, entry in enumerate(entries, start=1):
        yield replace(entry, pictures=tuple(of.get(number, ())))


def _notice(text: str, at: datetime) -> NewEntry:
    return NewEntry("notice", {"text": text}, at=at if at.tzinfo else at.replace(tzinfo=UTC))


def _kinds(entries: Sequence[tuple[int, Kind | None]]) -> str:
    """How many of which kinds, and their numbers."""
    counts = Counter(kind or "entry" for _, kind in entries)
    kinds = ", ".join(counted(count, kind) for kind, count in counts.most_common())
    return f"{kinds} ({_ranges([number for number, _ in entries])})"


def _ranges(numbers: list[int]) -> str:
    """Rising numbers, those in a row as their ends.

    >>> _ranges([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    rows = groupby(enumerate(numbers), key=lambda each: each[1] - each[0])
    ends = [[number for _, number in row] for _, row in rows]
    named = [f"{row[0]}-{row[-1]}" if len(row) > 1 else str(row[0]) for row in ends]
    more = ["..."] if len(named) > _MOST_NAMED else []
    return ", ".join(named[:_MOST_NAMED] + more)


def _lost_words(number: int, kind: Kind | None) -> str:
    words = f"{_named(number, kind)} was lost with a part of the file"
    moved = "what moved then may be shown where it lay before"
    return f"{words}: {moved}" if kind in (None, "position") else words


def _named(number: int, kind: Kind | None) -> str:
    return f"entry {number}" if kind is None else f"entry {number} (a {kind})"
