"""The parts of a recording: its facts, its entries in order, and their pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, get_args
from uuid import uuid4

from tablecam.documents import Json

Kind = Literal["position", "move", "picture", "play", "deed", "ruling", "dispute", "notice"]
"""The kinds of an entry; README.md beside this file describes their documents."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

PictureKind = Literal["table", "before", "after", "plain", "drawn"]
"""The whole table from above; a place before and after a move; a dispute's two pictures."""
PICTURE_KINDS: Final[tuple[PictureKind, ...]] = get_args(PictureKind)


@dataclass(frozen=True, slots=True)
class GameFacts:
    """What a game is played with. `camera_file` is None for a simulated table.

    `place` is the game's number in its folder, from 1; 0 if not counted.
    """

    game: str
    table_file: str
    started_at: datetime
    camera_file: str | None = None
    id: str = field(default_factory=lambda: uuid4().hex)
    place: int = 0

    def __post_init__(self) -> None:
        if self.started_at.tzinfo is None:
            raise ValueError(f"expected a time with its zone, got {self.started_at}")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture file; an entry has at most one of each kind."""

    kind: PictureKind
    image: bytes = field(repr=False)
    media_type: str = "image/jpeg"


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to store. The recording assigns its number."""

    kind: Kind
    document: Json
    pictures: tuple[Picture, ...] = ()
    at: datetime = field(default_factory=lambda: datetime.now(UTC).astimezone())

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError(f"expected a time with its zone, got {self.at}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored entry. `pictures` are the kinds it has; `Journal.picture` loads each."""

    number: int
    kind: Kind
    at: datetime
    document: Json
    pictures: tuple[PictureKind, ...] = ()
    digest: str | None = field(default=None, compare=False, repr=False)
