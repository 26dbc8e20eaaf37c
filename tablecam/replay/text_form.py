"""Converts a recording to a text for messages, and back, however a message has altered it.

    [tablecam.text 1; GAME, 2026-05-01 19:30, 412 entries; 15728; 0f3a...]
    /Td6WFoAAATm1rRGBMDo6gH...
    [end]

The brackets hold the version, a description for people, the number of bytes and the beginning of
their SHA-256; then follow JSON lines without pictures, compressed, in base64 without the final `=`,
which alone on a line would turn the line before it into a heading. Lines may be rewrapped, indented
and quoted with `>` or any other sign, and other words may stand before and after the text.
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
from tablecam.replay.copies import RecordingCopy, ShowsProgress, copy_of, without_progress
from tablecam.replay.lines import copy_from_lines, lines_of

VERSION: Final = 1
MOST_CHARACTERS: Final = 32 * 1024 * 1024
"""The longest text that is read: a long evening has some hundredths of it."""
MOST_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of lines that a text may expand to, against decompression bombs."""
_MAX_UNPACKING_BYTES: Final = 128 * 1024 * 1024
"""Memory limit of the decompression; ours needs a tenth."""

_WIDTH: Final = 76
_CHECKSUM_LENGTH: Final = 32
_ENDS: Final = ("[tablecam.text", "[end]")
# Removes what messengers insert: blanks, quote marks, invisible characters. The checksum shows
# whether the rest is intact, so no other signs need special treatment.
_INSERTED: Final = re.compile(r"(?:&gt;|[\s>|\u00ad\u200b-\u200f\u2060\ufeff])+")
_NO_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]+")
_PRESET: Final = 6 | lzma.PRESET_EXTREME
"""Makes a game of an hour a tenth shorter than the default preset, in 0.1 s."""
_HEAD: Final = re.compile(
    r"\[tablecam\.text(?P<version>\d{1,9});[^;\]]*;(?P<size>\d{1,12});(?P<sum>[0-9a-f]{32})\]"
)


def text_of(journal: Journal, watched: ShowsProgress = without_progress) -> str:
    """Returns a recording without its pictures as a text; `watched` shows progress.

    Raises:
        BadInput: It cannot be read, or an entry is damaged.
    """
    copy = copy_of(journal, pictures=False)
    copy = replace(copy, entries=iter(watched(copy.entries, copy.last)))
    # The text as a whole has a checksum.
    lines = "\n".join(lines_of(copy, digests=False))
    packed = lzma.compress(lines.encode("utf-8"), preset=_PRESET)
    began = f"{copy.facts.game}, {copy.facts.started_at:%Y-%m-%d %H:%M}"
    words = f"{began}, {copy.last} {'entry' if copy.last == 1 else 'entries'}"
    head = f"{_ENDS[0]} {VERSION}; {words}; {len(packed)}; {_checksum(packed)}]"
    body = textwrap.wrap(base64.b64encode(packed).decode("ascii").rstrip("="), _WIDTH)
    return "\n".join((head, *body, _ENDS[1])) + "\n"


def recording_of(text: str, source: str = "text") -> RecordingCopy:
    """Returns the recording in a text; `source` is its name in errors.

    Raises:
        BadInput: The text contains none, is cut off, changed, or of a newer version. Iterating over
            the entries raises it, too.
    """
    packed = _packed(text, source)
    lines = _unpacked(packed, source).split(b"\n")
    return copy_from_lines(lines, source, digests=False)


def _packed(text: str, source: str) -> bytes:
    """Returns the bytes between head and end after checking their length and checksum."""
    if len(text) > MOST_CHARACTERS:
        raise BadInput(source, f"expected at most {MOST_CHARACTERS} characters, got {len(text)}")
    plain = _INSERTED.sub("", text)
    head = _HEAD.search(plain)
    if head is None:
        expected = f"expected a recording as text, from {_ENDS[0]} 1; ...] to {_ENDS[1]}"
        raise BadInput(source, f"{expected}, got none")
    if int(head["version"]) != VERSION:
        expected = f"expected a text of version {VERSION}, got {head['version']}"
        raise BadInput(source, f"{expected}: it needs a newer tablecam")
    end = plain.find(_ENDS[1], head.end())
    if end < 0:
        raise BadInput(source, f"expected {_ENDS[1]} at the end: the text is cut off")
    packed = _decoded(plain[head.end() : end], source)
    if len(packed) != int(head["size"]) or _checksum(packed) != head["sum"]:
        because = "the text was changed in transit: its size or checksum does not match"
        raise BadInput(source, because)
    return packed


def _decoded(body: str, source: str) -> bytes:
    letters = _NO_BASE64.sub("", body)
    try:
        # The padding is left out of the text.
        return base64.b64decode(letters + "=" * (-len(letters) % 4))
    except binascii.Error:
        raise BadInput(source, "expected base64: the text was changed in transit") from None


def _unpacked(packed: bytes, source: str) -> bytes:
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MAX_UNPACKING_BYTES)
    try:
        # Bounded, as a short text may expand without end.
        lines = decompressor.decompress(packed, max_length=MOST_BYTES)
    except (lzma.LZMAError, MemoryError):
        raise BadInput(source, "expected a recording in tablecam's text form") from None
    if not decompressor.eof:
        raise BadInput(source, f"expected at most {MOST_BYTES // 2**20} MB of lines, got more")
    return lines


def _checksum(packed: bytes) -> str:
    return hashlib.sha256(packed).hexdigest()[:_CHECKSUM_LENGTH]
