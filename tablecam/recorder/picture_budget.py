"""Chooses the size and quality of pictures to hold a game file within the players' limit."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal

PictureSubject = Literal["table", "place"]
"""What a picture shows: the whole table, or the place of one move."""

DEFAULT_MB: Final = 52.0
"""With 5.5 MB of other entries, a busy game of three hours (600 moves) stays below 60 MB."""
GAME_S: Final = 3 * 3600.0
"""The length of a game that the budget is for. A longer game spends at the same rate."""

_BREAK_S: Final = 600.0
_INITIAL_SHARE: Final = 1 / 12
"""The share of the budget that is free from the beginning: a quarter of an hour's."""
_PARTS: Final[Mapping[PictureSubject, float]] = {"table": 1 / 3, "place": 2 / 3}
"""The share of the budget reserved for each kind; a kind may also use what the other leaves."""
_SHARES: Final[Mapping[PictureSubject, float]] = {"table": 1 / 3, "place": 1 / 8}
"""The share of the free bytes that one picture may take. A move has two pictures."""
_LAST_LEVEL_SHARE: Final = 1 / 2
"""The same for a picture at the last level, as the alternative is none."""


@dataclass(frozen=True, slots=True)
class Level:
    """A picture's scale, as a share of the full size along each side, and its JPEG quality.

    `bytes_per_px` is the size to expect before any picture of this table was encoded: measured on
    rectified 4K and 1080p pictures of a cloth with figures, with optimised Huffman codes. Without
    those, files are a tenth larger (5 to 20 % on four photographs) and take half the time.
    """

    scale: float
    quality: int
    bytes_per_px: float
    is_optimised: bool = True


LEVELS: Final[Mapping[PictureSubject, Sequence[Level]]] = {
    "table": (
        Level(1.0, 75, 0.22, is_optimised=False),
        Level(1.0, 60, 0.15),
        Level(0.71, 55, 0.12),
        Level(0.57, 50, 0.11),
        Level(0.44, 45, 0.09),
        Level(0.36, 40, 0.08),
    ),
    "place": (
        Level(1.0, 85, 0.27, is_optimised=False),
        Level(1.0, 70, 0.17),
        Level(1.0, 50, 0.12),
        Level(0.7, 45, 0.11),
        Level(0.5, 40, 0.10),
    ),
}
"""From the best to the least, which still shows which base lies where. The best skips optimised
Huffman codes: only where room is short are bytes worth the time."""


def played_s(times: Iterable[datetime]) -> float:
    """Returns how long a game was played, in seconds, by the times of its entries in order.

    A gap counts as at most `_BREAK_S`: a longer one is a break.
    """
    gaps_s = ((after - before).total_seconds() for before, after in pairwise(times))
    return sum(min(max(gap_s, 0.0), _BREAK_S) for gap_s in gaps_s)


class PictureBudget:
    """Spreads a number of bytes over the time of a game. Thread-safe.

    Args:
        total_mb: The size limit of the pictures of a game of `GAME_S`, in megabytes; 0 for none.
        spent_bytes: The size of the pictures that a resumed game has already.
        played_s: How long a resumed game was played.
    """

    def __init__(
        self, total_mb: float = DEFAULT_MB, *, spent_bytes: int = 0, played_s: float = 0.0
    ) -> None:
        self._total = total_mb * 1e6
        # A resumed game no longer knows which kind took how much.
        self._spent: dict[PictureSubject, float] = {
            shown: spent_bytes * part for shown, part in _PARTS.items()
        }
        self._played_s = played_s
        self._began_s: float | None = None
        self._measured_bytes_per_px: dict[Level, float] = {}
        self._lock = threading.Lock()

    @property
    def is_none(self) -> bool:
        """Whether players want no pictures at all."""
        return self._total <= 0

    def level(self, shown: PictureSubject, full_px: int, now_s: float) -> Level | None:
        """Returns the level for a picture of `full_px` pixels; None to leave it out."""
        with self._lock:
            room = self._room_bytes(shown, now_s)
            # The levels are sorted: the first that fits is the best.
            for level in LEVELS[shown]:
                # The last level gets a larger share, as the alternative to it is no picture.
                is_least = level is LEVELS[shown][-1]
                share = _LAST_LEVEL_SHARE if is_least else _SHARES[shown]
                if self._expected(level, full_px) <= room * share:
                    return level
            return None

    def spend(
        self, shown: PictureSubject, level: Level, full_px: int, size: int, now_s: float
    ) -> bool:
        """Spends `size` bytes of an encoded picture if there is room; else returns False."""
        with self._lock:
            # Even a picture that is thrown away tells how well this table compresses.
            self._learn(level, full_px, size)
            if size > self._room_bytes(shown, now_s):
                return False
            self._spent[shown] += size
            return True

    def spend_anyway(self, size: int) -> None:
        """Counts what is stored in any case: the pictures of disputes."""
        with self._lock:
            for shown, part in _PARTS.items():
                self._spent[shown] += size * part

    def _room_bytes(self, shown: PictureSubject, now_s: float) -> float:
        """Returns the bytes free for a kind: all but what is reserved for the other."""
        # The other kind's reserve is capped, or a game without moves would never use it.
        free = {kind: self._free_bytes(kind, now_s) for kind in _PARTS}
        reserved = (
            min(max(room, 0.0), self._total * _PARTS[kind] * _INITIAL_SHARE)
            for kind, room in free.items()
            if kind != shown
        )
        return sum(free.values()) - sum(reserved)

    def _free_bytes(self, shown: PictureSubject, now_s: float) -> float:
        """Returns what is left of a kind's part; below 0 if it used the other's."""
        if self._began_s is None:
            self._began_s = now_s
        played = (self._played_s + now_s - self._began_s) / GAME_S
        # A share is free at once, the rest in proportion to the time played.
        granted = self._total * (_INITIAL_SHARE + (1 - _INITIAL_SHARE) * played)
        return _PARTS[shown] * granted - self._spent[shown]

    def _expected(self, level: Level, full_px: int) -> float:
        per_px = self._measured_bytes_per_px.get(level, level.bytes_per_px)
        return full_px * level.scale**2 * per_px

    def _learn(self, level: Level, full_px: int, size: int) -> None:
        per_px = size / max(1.0, full_px * level.scale**2)
        before = self._measured_bytes_per_px.get(level, per_px)
        # A moving average, as light and table change during a game.
        self._measured_bytes_per_px[level] = (before + per_px) / 2
