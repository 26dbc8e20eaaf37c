"""Reads rows straight from the pages of an SQLite file, however badly it is damaged.

SQLite finds a page only through others, and gives up at a bad one. This module reads every page by
itself: its header says whether it holds rows, and a row says on which page it continues. The
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
"""Offset of a page's list of cells, by the page's kind."""
_INTERIOR_CELLS_AT: Final = 12

_HEADER_BYTES: Final = 100
USUAL_PAGE_BYTES: Final = 4096
"""SQLite's default page size, which tablecam does not change."""
_WAL_HEADER: Final = struct.Struct(">8I")
_FRAME_HEADER: Final = struct.Struct(">6I")
_WAL_MAGIC: Final = (0x377F0682, 0x377F0683)
_MAX_ROW_BYTES: Final = 1 << 30

_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Length of an integer, by serial type."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table with its number, or of an index, whose last value is that number."""

    values: tuple[Value, ...]
    number: int | None

    @property
    def is_of_index(self) -> bool:
        """Whether it belongs to an index, and so only refers to a table's row."""
        return self.number is None


class Pages:
    """The pages of a database; those in its write-ahead log replace older ones.

    Args:
        database: The file's bytes.
        log: The bytes of its write-ahead log, if there is one.
        page_bytes: The length of a page.
    """

    def __init__(
        self, database: bytes, log: bytes = b"", page_bytes: int = USUAL_PAGE_BYTES
    ) -> None:
        self._data = database
        self.page_bytes = page_bytes
        # No bytes are reserved at the end of a page.
        self._usable = page_bytes
        self._newer = dict(_logged_pages(log, self.page_bytes))
        last = len(database) // self.page_bytes
        self.last = max((last, *self._newer))

    def rows(self, number: int) -> Iterator[Row]:
        """Yields the rows that begin on a page, from 1; none if it is unreadable."""
        page = self._page(number)
        # The file's own header comes first on page 1.
        header_at = _HEADER_BYTES if number == 1 else 0
        kind = page[header_at] if len(page) == self.page_bytes else None
        if kind not in _CELLS_AT:
            return
        count = int.from_bytes(page[header_at + 3 : header_at + 5], "big")
        pointers_at = header_at + _CELLS_AT[kind]
        # A damaged count must not lead beyond the page.
        for pointer_at in range(pointers_at, min(pointers_at + 2 * count, self._usable - 1), 2):
            at = int.from_bytes(page[pointer_at : pointer_at + 2], "big")
            try:
                row = self._row(page, at, kind)
            except (ValueError, IndexError, struct.error):
                # This row is lost; its neighbours may be intact.
                continue
            yield row

    def spoilt(self) -> set[int]:
        """Returns the pages of tables with data in their free space, which should be blank.

        Pages of indices are not checked: SQLite moves their rows, and old bytes may remain.
        """
        return {
            number
            for number in range(1, self.last + 1)
            for free in self._free_spaces(number)
            if any(free)
        }

    def _free_spaces(self, number: int) -> Iterator[bytes]:
        """Yields the space between the list of cells and the cells, and after long rows."""
        page = self._page(number)
        header_at = _HEADER_BYTES if number == 1 else 0
        kind = page[header_at] if len(page) == self.page_bytes else None
        if kind not in (_TABLE_LEAF, _TABLE_INTERIOR):
            return
        count, first = struct.unpack_from(">HH", page, header_at + 3)
        cells = header_at + (_CELLS_AT[_TABLE_LEAF] if kind == _TABLE_LEAF else _INTERIOR_CELLS_AT)
        yield page[cells + 2 * count : first]
        if kind == _TABLE_LEAF:
            for (at,) in struct.iter_unpack(">H", page[cells : cells + 2 * count]):
                yield self._after_end(page, at)

    def _after_end(self, page: bytes, at: int) -> bytes:
        """Returns the bytes after a row's end on its last overflow page; empty without one."""
        size, at = _varint(page, at)
        _, at = _varint(page, at)
        local_bytes = self._local_bytes(size, _TABLE_LEAF)
        if local_bytes == size:
            return b""
        (number,) = struct.unpack_from(">I", page, at + local_bytes)
        left = size - local_bytes
        # Along the chain of pages to the last one.
        while left > self._usable - 4:
            (number,) = struct.unpack_from(">I", self._page(number))
            left -= self._usable - 4
        return self._page(number)[4 + left :]

    def _page(self, number: int) -> bytes:
        if number in self._newer:
            return self._newer[number]
        return self._data[(number - 1) * self.page_bytes : number * self.page_bytes]

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        """Returns the row in a cell, including its overflow pages."""
        # Skips the left child's page number.
        at += 4 if kind == _INDEX_INTERIOR else 0
        size, at = _varint(page, at)
        number = None
        if kind == _TABLE_LEAF:
            number, at = _varint(page, at)
        return Row(_values(self._payload(page, at, size, kind)), number)

    def _payload(self, page: bytes, at: int, size: int, kind: int) -> bytes:
        # Noise may name any size.
        if not 0 < size < _MAX_ROW_BYTES:
            raise ValueError("expected a row of a usual size")
        local_bytes = self._local_bytes(size, kind)
        payload = page[at : at + local_bytes]
        if local_bytes == size:
            return payload if len(payload) == size else _short()
        (overflow_page,) = struct.unpack_from(">I", page, at + local_bytes)
        return payload + self._overflow(overflow_page, size - local_bytes)

    def _local_bytes(self, size: int, kind: int) -> int:
        """Returns how many bytes of a row of that size lie on its own page [X, M and K]."""
        usable = self._usable
        max_local = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= max_local:
            return size
        min_local = (usable - 12) * 32 // 255 - 23
        fitting = min_local + (size - min_local) % (usable - 4)
        return fitting if fitting <= max_local else min_local

    def _overflow(self, number: int, size: int) -> bytes:
        """Returns the rest of a row from a chain of pages; each names the next, the last none."""
        parts: list[bytes] = []
        while size > 0:
            # A damaged link may lead anywhere.
            page = self._page(number) if 0 < number <= self.last else b""
            if len(page) < self.page_bytes:
                _short()
            (number,) = struct.unpack_from(">I", page)
            parts.append(page[4 : 4 + min(size, self._usable - 4)])
            size -= len(parts[-1])
        # The chain continues: these pages belong to another row.
        if number:
            raise ValueError("expected the row to end where its pages do")
        return b"".join(parts)


def _short() -> NoReturn:
    raise ValueError("expected a whole row")


def told_page_bytes(database: bytes) -> int:
    """Returns the page size in a file's header, or the usual one if that is invalid."""
    size = int.from_bytes(database[16:18], "big")
    # The field has two bytes, so 1 stands for 65536.
    size = 65536 if size == 1 else size
    is_valid = size >= 512 and size & (size - 1) == 0
    return size if database.startswith(MAGIC) and is_valid else USUAL_PAGE_BYTES


def _logged_pages(log: bytes, page_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yields the pages that were written to a log and committed, in order."""
    if len(log) < _WAL_HEADER.size:
        return
    magic, _, size, _, *salts, _, _ = _WAL_HEADER.unpack_from(log)
    if magic not in _WAL_MAGIC or size != page_bytes:
        return
    uncommitted: list[tuple[int, bytes]] = []
    step = _FRAME_HEADER.size + page_bytes
    for at in range(_WAL_HEADER.size, len(log) - step + 1, step):
        number, is_commit, *frame_salts, _, _ = _FRAME_HEADER.unpack_from(log, at)
        if frame_salts != salts:
            # An older log's frame.
            return
        uncommitted.append((number, log[at + _FRAME_HEADER.size : at + step]))
        # Frames without a commit after them never became valid.
        if is_commit:
            yield from uncommitted
            uncommitted.clear()


def _values(payload: bytes) -> tuple[Value, ...]:
    """Returns the values of a row [record format]."""
    at_value, at = _varint(payload, 0)
    header_end = at_value
    values: list[Value] = []
    while at < header_end:
        kind, at = _varint(payload, at)
        value, at_value = _value(payload, at_value, kind)
        values.append(value)
        if at_value > len(payload):
            _short()
    # Noise may parse as values, but hardly ever ends exactly with the row.
    if at != header_end or at_value != len(payload):
        raise ValueError("expected values as long as the row")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    """Returns a value of a kind [serial type], and where it ends."""
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind], at
    if kind == 7:
        return float(struct.unpack_from(">d", payload, at)[0]), at + 8
    if kind in _INTEGER_BYTES:
        end = at + _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind < 12:
        raise ValueError("expected a kind of value that is in use")
    end = at + (kind - 12) // 2
    raw = payload[at:end]
    return (raw if kind % 2 == 0 else raw.decode("utf-8")), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns an integer of one to nine bytes [varint], and where it ends."""
    value = 0
    for index in range(at, at + 8):
        value = value << 7 | data[index] & 0x7F
        if data[index] < 0x80:
            return value, index + 1
    # All eight bits of the ninth byte count.
    return value << 8 | data[at + 8], at + 9
