"""Words that all that tells of a recording shares."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {"yes": "yes", "no": "no", "too_close": "too close to call"}
)


def counted(count: int, what: str) -> str:
    """So many of something.

    >>> counted(1, "deed"), counted(2, "entry"), counted(2, "play")
    ('1 deed', '2 entries', '2 plays')
    """
    is_changed = what.endswith("y") and what[-2] not in "aeiou"
    many = f"{what[:-1]}ies" if is_changed else f"{what}s"
    return f"{count} {what if count == 1 else many}"


def duration(began: datetime, ended: datetime) -> str:
    """How long something took, to the minute: `45 min`, `2 h 05 min`."""
    minutes = max(0, round((ended - began).total_seconds() / 60))
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
