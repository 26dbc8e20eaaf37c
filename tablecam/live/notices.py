"""Notices about the camera and its tags, one sentence each, for the page's log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MOST_KEPT = 20
"""A page shows the latest; all of them are in the program's log."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence with its time of day; `number` counts from 1."""

    number: int
    at: datetime
    text: str

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError(f"expected a time with its zone, got {self.at}")


def with_notice(notices: tuple[Notice, ...], text: str, at: datetime) -> tuple[Notice, ...]:
    """Appends a notice, the latest last; keeps at most `MOST_KEPT`."""
    number = notices[-1].number + 1 if notices else 1
    return (*notices, Notice(number, at, text))[-MOST_KEPT:]
