"""Builds a new recording from the readable parts of a damaged one; never changes the damaged one.

Entries keep their numbers, because links and other entries refer to them: a notice replaces each
lost entry.
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
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.database import MAGIC
from tablecam.record.digests import Verification
from tablecam.record.entries import Entry, GameFacts, Kind, NewEntry, Picture
from tablecam.record.faults import readable_errors
from tablecam.record.game_file import GameFile
from tablecam.record.positions import MISSED, WHOLE
from tablecam.record.schema import SCHEMA_VERSION
from tablecam.replay.copies import RecordingCopy
from tablecam.replay.film import public_part
from tablecam.replay.moment import document_after
from tablecam.replay.pages import Pages, Row, told_page_bytes
from tablecam.replay.salvage import Salvaged, salvaged
from tablecam.replay.scenes import SHOWN, SceneBuilder
from tablecam.wording import counted

_MAX_LOST: Final = 10_000
"""How many entries may be missing at the end: a larger number is noise."""
_MAX_RANGES: Final = 12
"""How many ranges of lost numbers are listed."""
_PLAUSIBLE_VERSIONS: Final = range(1, 100)
"""A damaged file may hold any number; one outside this range is noise."""
_VERSION_AT: Final = slice(60, 64)
"""The bytes of an SQLite file that hold its `user_version`."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """The saved parts of a damaged recording, and the known losses.

    Of the readable `entries`, `unclear` ones no longer mean anything: positions that are a
    difference from a lost one, and contents that tablecam never writes. `changed` ones are
    readable, but they or their pictures changed since they were written; so may the facts have.
    All others are intact.
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

    def lines(self) -> Iterator[str]:
        """Yields the result as sentences."""
        saved = self.entries - len(self.unclear)
        yield f"saved: {counted(saved, 'entry')}, {counted(self.pictures, 'picture')}"
        if self.lost_entries:
            yield f"lost (replaced by notices): {_kinds(self.lost_entries)}"
        if self.unclear:
            yield f"no longer interpretable (replaced by notices): {_kinds(self.unclear)}"
        if self.lost_pictures:
            yield f"lost: {counted(self.lost_pictures, 'picture')}"
        if not self.has_facts:
            yield "lost: the table file and the camera file"
        if self.changed:
            yield f"kept, but changed (they or their pictures): {_kinds(self.changed)}"
        if self.are_facts_changed:
            yield "kept, but changed: the table file or the camera file"
        is_changed = self.changed or self.are_facts_changed
        if not (self.lost_entries or self.lost_pictures or is_changed) and self.has_facts:
            yield f"nothing {'else ' if self.unclear else ''}is known to be lost"


def pages_of(path: Path) -> Pages:
    """Returns the pages of a recording's file, including the log beside it.

    Raises:
        BadInput: It is missing, empty, cannot be read, or has a version that another tablecam must
            repair.
    """
    if not path.exists():
        raise BadInput(str(path), "there is no such file")
    log = path.parent / f"{path.name}-wal"
    with readable_errors(str(path), "cannot be read"):
        database = path.read_bytes()
        try:
            logged = log.read_bytes()
        # A running game deletes it again and again.
        except FileNotFoundError:
            logged = b""
    version = int.from_bytes(database[_VERSION_AT], "big") if database.startswith(MAGIC) else 0
    if version != SCHEMA_VERSION and version in _PLAUSIBLE_VERSIONS:
        expected = f"expected a recording of version {SCHEMA_VERSION}, got version {version}"
        raise BadInput(str(path), f"{expected}: repair it with the tablecam that wrote it")
    # The usual page size first: a damaged header may name another.
    pages = Pages(database, logged)
    if any(True for number in range(1, pages.last + 1) for _ in pages.rows(number)):
        return pages
    return Pages(database, logged, told_page_bytes(database))


def verified(file: GameFile) -> Verification:
    """Verifies a file, including its unused space.

    Raises:
        BadInput: It cannot be read.
    """
    result = file.verified()
    if result.faults:
        return result
    spoilt = pages_of(file.path).spoilt()
    # A page that is being written looks the same, but not twice.
    if spoilt:
        spoilt &= pages_of(file.path).spoilt()
    for number in sorted(spoilt):
        result.faults.append(f"page {number} of the file is damaged in unused space")
    return result


def repaired(rows: Iterator[Row], name: str) -> Repaired:
    """Builds a recording from the rows of a damaged one's pages; `name` is its name in errors.

    Raises:
        BadInput: The rows hold nothing of a recording.
    """
    saved = salvaged(rows)
    if not saved.entries and saved.facts is None:
        raise BadInput(name, "nothing can be saved: the file has no readable entry of a recording")
    last = _last(saved)
    lost = tuple((n, saved.kinds.get(n)) for n in range(1, last + 1) if n not in saved.entries)
    pictures = {key for key in saved.pictures if key[0] <= last}
    listed = {key for key in saved.listed if key[0] <= last}
    facts = saved.facts or _guessed_facts(saved)
    rebuilding = _Rebuilding(saved, facts)
    entries = tuple(rebuilding.entry(number) for number in range(1, last + 1))
    written_by = saved.written_by or tablecam.__version__
    digests = saved.verified()
    # Entries reported as lost or unclear are not also reported as changed.
    reported = {*(number for number, _ in listed - pictures), *(n for n, _ in rebuilding.unclear)}
    changed = tuple(
        (number, saved.kinds.get(number))
        for number in digests.changed
        if number in saved.entries and number not in reported
    )
    copy = RecordingCopy(facts, written_by, last, _with_pictures(entries, saved))
    return Repaired(
        copy,
        len(saved.entries),
        lost,
        tuple(rebuilding.unclear),
        len(pictures),
        len(listed - pictures),
        has_facts=saved.facts is not None,
        changed=changed,
        are_facts_changed=digests.are_facts_changed,
    )


def _last(saved: Salvaged) -> int:
    """Returns the number of the last entry known to have existed."""
    last_saved = max(saved.entries, default=0)
    return max((n for n in saved.kinds if n <= last_saved + _MAX_LOST), default=last_saved)


def _guessed_facts(saved: Salvaged) -> GameFacts:
    """Returns the facts that the entries themselves reveal."""
    first = min(saved.entries)
    documents = (entry.document for _, entry in sorted(saved.entries.items()))
    games = (
        document.get("game") or _position_inside(document).get("game") for document in documents
    )
    game = next((name for name in games if isinstance(name, str)), "unknown")
    return GameFacts(game, "", saved.entries[first].at, id=saved.id)


def _position_inside(document: Json) -> Json:
    position = document.get(WHOLE) or document.get("position")
    return position if isinstance(position, dict) else {}


class _Rebuilding:
    """Builds the new recording entry by entry.

    A notice replaces each lost entry, and positions that follow a lost one become whole. Each saved
    entry is processed as for pages and films, so that the new recording can be played.
    """

    def __init__(self, saved: Salvaged, facts: GameFacts) -> None:
        self.unclear: list[tuple[int, Kind]] = []
        self._saved = saved
        self._at = facts.started_at
        self._table: Json | None = None
        self._is_table_known = True
        self._telling = SceneBuilder(saved.id)

    def entry(self, number: int) -> NewEntry:
        """Returns the entry with the next number in the new recording."""
        entry = self._saved.entries.get(number)
        if entry is None:
            kind = self._saved.kinds.get(number)
            # Positions after a lost one are differences from an unknown table.
            self._is_table_known = self._is_table_known and kind not in (None, "position")
            return _notice(_lost_words(number, kind), self._at)
        self._at = entry.at
        try:
            return self._checked(number, entry)
        except BadInput:
            self._is_table_known = self._is_table_known and entry.kind != "position"
            self.unclear.append((number, entry.kind))
            return _notice(f"{_named(number, entry.kind)} can no longer be interpreted", self._at)

    def _checked(self, number: int, new: NewEntry) -> NewEntry:
        """Returns an entry if it is valid; a position becomes whole if one before it is lost."""
        entry = Entry(number, new.kind, new.at, new.document)
        if new.kind == "position":
            table = document_after(self._table, entry, self._saved.id)
            is_table_known = self._is_table_known or WHOLE in new.document
            missed = {key: new.document[key] for key in (MISSED,) if key in new.document}
            new = new if is_table_known else replace(new, document={WHOLE: table} | missed)
            entry = replace(entry, document=new.document)
        public_part(entry, self._saved.id)
        if new.kind == "deed" and not isinstance(new.document.get("entry"), dict):
            raise BadInput(self._saved.id, f"entry {number} does not say what was done")
        if entry.kind in SHOWN:
            # Only checks that the scenes can be built.
            deque(self._telling.scenes_of(entry), maxlen=0)
        # Only now is the entry known to be valid.
        if new.kind == "position":
            self._table, self._is_table_known = table, is_table_known
        elif new.kind in ("play", "dispute") and self._table is None:
            # An approximation: the table as it was then. Later differences apply to it.
            self._table = _position_inside(new.document) or None
        return new


def _with_pictures(entries: Iterable[NewEntry], saved: Salvaged) -> Iterator[NewEntry]:
    pictures: dict[int, list[Picture]] = {}
    for (number, _), picture in sorted(saved.pictures.items()):
        pictures.setdefault(number, []).append(picture)
    for number, entry in enumerate(entries, start=1):
        yield replace(entry, pictures=tuple(pictures.get(number, ())))


def _notice(text: str, at: datetime) -> NewEntry:
    return NewEntry("notice", {"text": text}, at=at if at.tzinfo else at.replace(tzinfo=UTC))


def _kinds(entries: Sequence[tuple[int, Kind | None]]) -> str:
    """Counts the entries of each kind and lists their numbers."""
    counts = Counter(kind or "entry" for _, kind in entries)
    kinds = ", ".join(counted(count, kind) for kind, count in counts.most_common())
    return f"{kinds} ({_ranges([number for number, _ in entries])})"


def _ranges(numbers: list[int]) -> str:
    """Returns rising numbers as ranges.

    >>> _ranges([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    # Consecutive numbers have the same difference from their index.
    runs = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs_of_numbers = [[number for _, number in run] for _, run in runs]
    ranges = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs_of_numbers]
    more = ["..."] if len(ranges) > _MAX_RANGES else []
    return ", ".join(ranges[:_MAX_RANGES] + more)


def _lost_words(number: int, kind: Kind | None) -> str:
    words = f"{_named(number, kind)} was lost with a part of the file"
    moved = "units that moved then may be shown at their old place"
    return f"{words}: {moved}" if kind in (None, "position") else words


def _named(number: int, kind: Kind | None) -> str:
    return f"entry {number}" if kind is None else f"entry {number} (a {kind})"
