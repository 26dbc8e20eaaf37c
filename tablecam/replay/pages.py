"""Rows straight from the pages of an SQLite file, however much of the rest is damaged.

SQLite itself finds a page only through others, and gives up where one is wrong. Here every page is
looked at by itself: it says of itself whether it holds rows, and a row says where it goes on. The
layout is SQLite's own, https://www.sqlite.org/fileformat2.html; names in brackets are from there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from tablecam.record.database import MAGIC

Value = str | int | float | bytes | None

_TABLE_LEAF: Final = 0x0D
_INDEX_LEAF: Final = 0x0A
_INDEX_INTERIOR: Final = 0x02
_TABLE_INTERIOR: Final = 0x05
_CELLS_AT: Final = {_TABLE_LEAF: 8, _INDEX_LEAF: 8, _INDEX_INTERIOR: 12}
"""Where a page's list of cells begins, by the page's kind."""
_INTERIOR_CELLS_AT: Final = 12

_HEADER_BYTES: Final = 100
USUAL_PAGE_BYTES: Final = 4096
"""What SQLite takes unless it is told otherwise, which tablecam does not."""
_WAL_HEADER: Final = struct.Struct(">8I")
_FRAME_HEADER: Final = struct.Struct(">6I")
_WAL_MAGIC: Final = (0x377F0682, 0x377F0683)
_LARGEST_ROW: Final = 1 << 30

_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""By serial type."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, with its number there; or of an index, where it ends with that."""

    values: tuple[Value, ...]
    number: int | None

    @property
    def is_of_index(self) -> bool:
        """Whether it only names a row of a table."""
        return self.number is None


class Pages:
    """The pages of a database, those in its write-ahead log in place of older ones.

    Args:
        database: The file's bytes.
        log: Its write-ahead log's, where there is one.
        page_bytes: How long a page is.
    """

    def __init__(
        self, database: bytes, log: bytes = b"", page_bytes: int = USUAL_PAGE_BYTES
    ) -> None:
        self._data = database
        self.page_bytes = page_bytes
        self._usable = page_bytes  # nobody reserves any of it
        self._newer = dict(_logged_pages(log, self.page_bytes))
        last = len(database) // self.page_bytes
        self.last = max((last, *self._newer))

    def rows(self, number: int) -> Iterator[Row]:
        """The rows that begin on a page, from 1; none where it holds none, or noise."""
        page = self._page(number)
        begins = _HEADER_BYTES if number == 1 else 0
        kind = page[begins] if len(page) == self.page_bytes else None
        if kind not in _CELLS_AT:
            return
        count = int.from_bytes(page[begins + 3 : begins + 5], "big")
        places = begins + _CELLS_AT[kind]
        for place in range(places, min(places + 2 * count, self._usable - 1), 2):
            at = int.from_bytes(page[place : place + 2], "big")
            try:
                row = self._row(page, at, kind)
            except (ValueError, IndexError, struct.error):
                continue  # this row is lost; its neighbours need not be
            yield row

    def spoilt(self) -> set[int]:
        """The pages of tables on which the free room is not blank, as it is where rows are added.

        Of indices nobody can tell: SQLite moves their rows, and what lay there may stay.
        """
        return {
            number
            for number in range(1, self.last + 1)
            for free in self._free_room(number)
            if any(free)
        }

    def _free_room(self, number: int) -> Iterator[bytes]:
        """What lies between the list of cells and the cells, and after the ends of long rows."""
        page = self._page(number)
        begins = _HEADER_BYTES if number == 1 else 0
        kind = page[begins] if len(page) == self.page_bytes else None
        if kind not in (_TABLE_LEAF, _TABLE_INTERIOR):
            return
        count, first = struct.unpack_from(">HH", page, begins + 3)
        cells = begins + (_CELLS_AT[_TABLE_LEAF] if kind == _TABLE_LEAF else _INTERIOR_CELLS_AT)
        yield page[cells + 2 * count : first]
        if kind == _TABLE_LEAF:
            for (at,) in struct.iter_unpack(">H", page[cells : cells + 2 * count]):
                yield self._after_end(page, at)

    def _after_end(self, page: bytes, at: int) -> bytes:
        """What comes after a row's end on the last of its pages; nothing where it has but one."""
        size, at = _varint(page, at)
        _, at = _varint(page, at)
        here = self._bytes_here(size, _TABLE_LEAF)
        if here == size:
            return b""
        (number,) = struct.unpack_from(">I", page, at + here)
        left = size - here
        while left > self._usable - 4:
            (number,) = struct.unpack_from(">I", self._page(number))
            left -= self._usable - 4
        return self._page(number)[4 + left :]

    def _page(self, number: int) -> bytes:
        if number in self._newer:
            return self._newer[number]
        return self._data[(number - 1) * self.page_bytes : number * self.page_bytes]

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        """The row in a cell, with what of it lies on other pages."""
        at += 4 if kind == _INDEX_INTERIOR else 0  # the page to its left
        size, at = _varint(page, at)
        number = None
        if kind == _TABLE_LEAF:
            number, at = _varint(page, at)
        return Row(_values(self._payload(page, at, size, kind)), number)

    def _payload(self, page: bytes, at: int, size: int, kind: int) -> bytes:
        if not 0 < size < _LARGEST_ROW:
            raise ValueError("expected a row of a usual size")
        here = self._bytes_here(size, kind)
        payload = page[at : at + here]
        if here == size:
            return payload if len(payload) == size else _short()
        (follows,) = struct.unpack_from(">I", page, at + here)
        return payload + self._overflow(follows, size - here)

    def _bytes_here(self, size: int, kind: int) -> int:
        """How much of a row of that size lies on its own page [X, M and K]."""
        usable = self._usable
        most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (usable - 4)
        return fitting if fitting <= most else least

    def _overflow(self, number: int, size: int) -> bytes:
        """The rest of a row, page after page; each names the next, and the last none."""
        parts: list[bytes] = []
        while size > 0:
            page = self._page(number) if 0 < number <= self.last else b""
            if len(page) < self.page_bytes:
                _short()
            (number,) = struct.unpack_from(">I", page)
            parts.append(page[4 : 4 + min(size, self._usable - 4)])
            size -= len(parts[-1])
        if number:
            raise ValueError("expected the row to end where its pages do")
        return b"".join(parts)


def _short() -> NoReturn:
    raise ValueError("expected a whole row")


def told_page_bytes(database: bytes) -> int:
    """How long its pages are by what a file says itself; the usual where that cannot be."""
    size = int.from_bytes(database[16:18], "big")
    size = 65536 if size == 1 else size
    is_one = size >= 512 and size & (size - 1) == 0
    return size if database.startswith(MAGIC) and is_one else USUAL_PAGE_BYTES


def _logged_pages(log: bytes, page_bytes: int) -> Iterator[tuple[int, bytes]]:
    """The pages that were written to a log and confirmed, in order."""
    if len(log) < _WAL_HEADER.size:
        return
    magic, _, size, _, *salts, _, _ = _WAL_HEADER.unpack_from(log)
    if magic not in _WAL_MAGIC or size != page_bytes:
        return
    waiting: list[tuple[int, bytes]] = []
    step = _FRAME_HEADER.size + page_bytes
    for at in range(_WAL_HEADER.size, len(log) - step + 1, step):
        number, is_confirmed, *frame_salts, _, _ = _FRAME_HEADER.unpack_from(log, at)
        if frame_salts != salts:
            return  # left over from before
        waiting.append((number, log[at + _FRAME_HEADER.size : at + step]))
        if is_confirmed:
            yield from waiting
            waiting.clear()


def _values(payload: bytes) -> tuple[Value, ...]:
    """The values of a row [record format]."""
    at_value, at = _varint(payload, 0)
    ends = at_value
    values: list[Value] = []
    while at < ends:
        kind, at = _varint(payload, at)
        value, at_value = _value(payload, at_value, kind)
        values.append(value)
        if at_value > len(payload):
            _short()
    if at != ends or at_value != len(payload):
        raise ValueError("expected values as long as the row")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    """A value of a kind [serial type], and where it ends."""
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind], at
    if kind == 7:
        return float(struct.unpack_from(">d", payload, at)[0]), at + 8
    if kind in _INTEGER_BYTES:
        ends = at + _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at:ends], "big", signed=True), ends
    if kind < 12:
        raise ValueError("expected a kind of value that is in use")
    ends = at + (kind - 12) // 2
    raw = payload[at:ends]
    return (raw if kind % 2 == 0 else raw.decode("utf-8")), ends


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    found = 0
    for place in range(at, at + 8):
        found = found << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return found, place + 1
    return found << 8 | data[at + 8], at + 9
