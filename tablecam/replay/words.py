"""Words and phrases that all reports on a recording share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {"yes": "yes", "no": "no", "too_close": "too close to call"}
)


def duration(began: datetime, ended: datetime) -> str:
    """Returns how long something took, to the minute: `45 min`, `2 h 05 min`."""
    minutes = max(0, round((ended - began).total_seconds() / 60))
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
