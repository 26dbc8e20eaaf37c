"""A recording that somebody has handed on: as JSON lines, or as a text out of a message."""

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

_MARK: Final = codecs.BOM_UTF8
_WIDE_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""So Windows' own shell writes whatever is sent into a file."""


def copy_from_file(file: BinaryIO, source: str) -> RecordingCopy:
    """The recording in a file, whichever form it has; `source` is what errors call it.

    Raises:
        BadInput: It is in neither form, or damaged. The entries raise it as they come.
    """
    lines, begins = _lines(file), list[bytes]()
    for line in lines:
        begins.append(line)
        if line.removeprefix(_MARK).strip():
            break
    begin = b"".join(begins)
    if begin.startswith(_WIDE_MARKS):
        wide = begin + file.read(2 * MOST_CHARACTERS + 2)
        return copy_from_file(BytesIO(wide.decode("utf-16", errors="replace").encode()), source)
    begin = begin.removeprefix(_MARK).lstrip()
    if begin.startswith(MAGIC):
        raise BadInput(source, "expected JSON lines or a text, got a recording: it is one already")
    if not begin or begin.startswith(b"{"):
        return copy_from_lines(chain(begins, lines), source)
    return recording_of(_text(begin, file), source)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines, of which too long ones are cut where they become so: they are refused for it."""
    while line := file.readline(MOST_BYTES + 1):
        yield line


def _text(begin: bytes, file: BinaryIO) -> str:
    # A character more than is looked at shows that there are too many.
    return (begin + file.read(MOST_CHARACTERS + 1)).decode("utf-8", errors="replace")
