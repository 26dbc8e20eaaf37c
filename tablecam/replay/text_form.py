"""A recording as a text that is pasted into a message, and read again from what came out of one.

    [tablecam.text 1; maurice-lite, 2026-05-01 19:30, 412 entries; 15728; 0f3a...]
    /Td6WFoAAATm1rRGBMDo6gH...
    [end]

Between the brackets stand the version, words for people, how many bytes follow and the beginning of
their SHA-256; then JSON lines without pictures, compressed, in base64 without its `=` at the end,
which on a line of its own would make a heading of the line before it. Lines may be broken anew,
indented and quoted with `>` or any other sign, and other words stand before and after it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import lzma
import re
import textwrap
from dataclasses import replace
from typing import Final

from tablecam.errors import BadInput
from tablecam.record.journal import Journal
from tablecam.replay.copies import RecordingCopy, Watched, copy_of, unwatched
from tablecam.replay.lines import copy_from_lines, lines_of

VERSION: Final = 1
MOST_CHARACTERS: Final = 32 * 1024 * 1024
"""Of a text that is looked at: a long evening has some hundredths of it."""
MOST_BYTES: Final = 256 * 1024 * 1024
"""Of the lines that a text unfolds into: who packs a bomb gets no further."""
_MOST_MEMORY: Final = 128 * 1024 * 1024
"""Of the unpacking itself; ours needs a tenth."""

_WIDTH: Final = 76
_SUM_LENGTH: Final = 32
_ENDS: Final = ("[tablecam.text", "[end]")
# What messengers put in is left out before: blanks, quote marks, characters that show nothing. The
# sum of what is left tells whether it is whole, so nothing has to be known of other signs.
_PUT_IN: Final = re.compile(r"(?:&gt;|[\s>|\u00ad\u200b-\u200f\u2060\ufeff])+")
_NO_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]+")
_PACKING: Final = 6 | lzma.PRESET_EXTREME
"""A game of an hour is a tenth shorter by it than by the usual one, in 0.1 s."""
_HEAD: Final = re.compile(
    r"\[tablecam\.text(?P<version>\d{1,9});[^;\]]*;(?P<size>\d{1,12});(?P<sum>[0-9a-f]{32})\]"
)


def text_of(journal: Journal, watched: Watched = unwatched) -> str:
    """A recording without its pictures as a text for a message; `watched` sees its entries.

    Raises:
        BadInput: It cannot be read, or an entry is damaged.
    """
    copy = copy_of(journal, pictures=False)
    copy = replace(copy, entries=iter(watched(copy.entries, copy.last)))
    lines = "\n".join(lines_of(copy, digests=False))  # the whole has a sum
    packed = lzma.compress(lines.encode("utf-8"), preset=_PACKING)
    began = f"{copy.facts.game}, {copy.facts.started_at:%Y-%m-%d %H:%M}"
    words = f"{began}, {copy.last} {'entry' if copy.last == 1 else 'entries'}"
    head = f"{_ENDS[0]} {VERSION}; {words}; {len(packed)}; {_sum(packed)}]"
    body = textwrap.wrap(base64.b64encode(packed).decode("ascii").rstrip("="), _WIDTH)
    return "\n".join((head, *body, _ENDS[1])) + "\n"


def recording_of(text: str, source: str = "text") -> RecordingCopy:
    """The recording in a text; `source` is what errors call it.

    Raises:
        BadInput: There is none in it, or it was cut, changed, or is of a newer version. Its
            entries raise it as they come.
    """
    packed = _packed(text, source)
    lines = _unpacked(packed, source).split(b"\n")
    return replace(copy_from_lines(lines, source), has_digests=True)  # it has a sum, which holds


def _packed(text: str, source: str) -> bytes:
    """The bytes between head and end, whole as their sum says."""
    if len(text) > MOST_CHARACTERS:
        raise BadInput(source, f"expected at most {MOST_CHARACTERS} characters, got {len(text)}")
    plain = _PUT_IN.sub("", text)
    head = _HEAD.search(plain)
    if head is None:
        expected = f"expected a recording as text, from {_ENDS[0]} 1; ...] to {_ENDS[1]}"
        raise BadInput(source, f"{expected}, got none")
    if int(head["version"]) != VERSION:
        expected = f"expected a text of version {VERSION}, got {head['version']}"
        raise BadInput(source, f"{expected}: a newer tablecam reads it")
    end = plain.find(_ENDS[1], head.end())
    if end < 0:
        raise BadInput(source, f"expected {_ENDS[1]} at its end, but the text was cut before it")
    packed = _decoded(plain[head.end() : end], source)
    if len(packed) != int(head["size"]) or _sum(packed) != head["sum"]:
        expected = f"expected {head['size']} bytes as they were written, got {len(packed)}"
        raise BadInput(source, f"{expected}: the text was changed on its way")
    return packed


def _decoded(body: str, source: str) -> bytes:
    letters = _NO_BASE64.sub("", body)
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4))
    except binascii.Error:
        raise BadInput(source, "expected base64: the text was changed on its way") from None


def _unpacked(packed: bytes, source: str) -> bytes:
    unpacking = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    try:
        found = unpacking.decompress(packed, max_length=MOST_BYTES)
    except (lzma.LZMAError, MemoryError):
        raise BadInput(source, "expected a recording as tablecam packs it") from None
    if not unpacking.eof:
        raise BadInput(source, f"expected at most {MOST_BYTES // 2**20} MB of lines, got more")
    return found


def _sum(packed: bytes) -> str:
    return hashlib.sha256(packed).hexdigest()[:_SUM_LENGTH]
