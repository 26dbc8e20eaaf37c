"""Reads a recording that was sent as JSON lines or as a text in a message."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from typing import BinaryIO, Final

from tablecam.documents import MOST_BYTES
from tablecam.errors import BadInput
from tablecam.record.database import MAGIC
from tablecam.replay.copies import RecordingCopy
from tablecam.replay.lines import copy_from_lines
from tablecam.replay.text_form import MOST_CHARACTERS, recording_of

_BYTE_ORDER_MARK: Final = codecs.BOM_UTF8
_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Windows' own shell writes redirected output as UTF-16."""


def copy_from_file(file: BinaryIO, source: str) -> RecordingCopy:
    """Returns the recording in a file of either form; `source` is its name in errors.

    Raises:
        BadInput: It is in neither form, or damaged. Iterating over the entries raises it, too.
    """
    lines, first_lines = _lines(file), list[bytes]()
    # Blank lines do not show the form.
    for line in lines:
        first_lines.append(line)
        if line.removeprefix(_BYTE_ORDER_MARK).strip():
            break
    head = b"".join(first_lines)
    if head.startswith(_UTF16_MARKS):
        # Two bytes a character, and one character above the limit to show that there are too many.
        raw = head + file.read(2 * MOST_CHARACTERS + 2)
        return copy_from_file(BytesIO(raw.decode("utf-16", errors="replace").encode()), source)
    head = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if head.startswith(MAGIC):
        raise BadInput(source, "this is already a recording: expected JSON lines or a text")
    if not head or head.startswith(b"{"):
        return copy_from_lines(chain(first_lines, lines), source)
    return recording_of(_text(head, file), source)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yields lines; one that is too long is cut at the limit, and refused later."""
    while line := file.readline(MOST_BYTES + 1):
        yield line


def _text(head: bytes, file: BinaryIO) -> str:
    # One character above the limit shows that there are too many.
    return (head + file.read(MOST_CHARACTERS + 1)).decode("utf-8", errors="replace")
