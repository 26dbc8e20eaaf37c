"""How large and how good pictures may be, so that a game's file stays as small as players want."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal

Shown = Literal["table", "place"]
"""The whole table, or the place of one move."""

DEFAULT_MB: Final = 52.0
"""A busy game of three hours (600 moves) has 5.5 MB beside: its file stays below 60."""
GAME_S: Final = 3 * 3600.0
"""What a budget is for. A longer game goes on at the same rate."""

_BREAK_S: Final = 600.0
_AT_ONCE: Final = 1 / 12
"""This share is there from the beginning: a quarter of an hour's."""
_PARTS: Final[Mapping[Shown, float]] = {"table": 1 / 3, "place": 2 / 3}
"""So much is kept for each, that neither takes all; what one does not need the other may have."""
_SHARES: Final[Mapping[Shown, float]] = {"table": 1 / 3, "place": 1 / 8}
"""Of what is free now, a picture takes no more. Of a move there are two."""
_LEAST_SHARE: Final = 1 / 2
"""But so much where it is this or none."""


@dataclass(frozen=True, slots=True)
class Level:
    """A size, as a share of the full one along each side, and a JPEG's quality.

    `bytes_per_px` is what to expect before anything was seen of this table: measured on 4K and
    1080p pictures of a cloth with figures, rectified, with optimised Huffman code. Without it they
    are a tenth larger (5 to 20 % on four photographs), and take half the time.
    """

    scale: float
    quality: int
    bytes_per_px: float
    is_optimised: bool = True


LEVELS: Final[Mapping[Shown, Sequence[Level]]] = {
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
"""From the best to the least, by which one still makes out which base lies where. For the best
there is room: where there is less, bytes are worth the time that it takes to save them."""


def played_s(times: Iterable[datetime]) -> float:
    """For how long a game was played in which something was kept at these times, in order.

    A long time in which nothing was kept is a break.
    """
    gaps_s = ((after - before).total_seconds() for before, after in pairwise(times))
    return sum(min(max(gap_s, 0.0), _BREAK_S) for gap_s in gaps_s)


class PictureBudget:
    """Spends bytes over the time of a game. Any thread may ask.

    Args:
        total_mb: How many megabytes the pictures of a game of `GAME_S` may have; 0: there are none.
        spent_bytes: How many a game that goes on has already.
        played_s: For how long it was played.
    """

    def __init__(
        self, total_mb: float = DEFAULT_MB, *, spent_bytes: int = 0, played_s: float = 0.0
    ) -> None:
        self._total = total_mb * 1e6
        self._spent: dict[Shown, float] = {
            shown: spent_bytes * part for shown, part in _PARTS.items()
        }
        self._played_s = played_s
        self._began_s: float | None = None
        self._learnt: dict[Level, float] = {}
        self._lock = threading.Lock()

    @property
    def is_none(self) -> bool:
        """Whether players want no pictures at all."""
        return self._total <= 0

    def level(self, shown: Shown, full_px: int, now_s: float) -> Level | None:
        """How to keep a picture that has so many pixels in full; None: leave it out."""
        with self._lock:
            room = self._room(shown, now_s)
            for level in LEVELS[shown]:
                is_least = level is LEVELS[shown][-1]
                share = _LEAST_SHARE if is_least else _SHARES[shown]
                if self._expected(level, full_px) <= room * share:
                    return level
            return None

    def spend(self, shown: Shown, level: Level, full_px: int, size: int, now_s: float) -> bool:
        """Whether a picture that came out with so many bytes is kept: there is room for it."""
        with self._lock:
            self._learn(level, full_px, size)
            if size > self._room(shown, now_s):
                return False
            self._spent[shown] += size
            return True

    def spend_anyway(self, size: int) -> None:
        """Take note of what is kept in any case: the pictures of disputes."""
        with self._lock:
            for shown, part in _PARTS.items():
                self._spent[shown] += size * part

    def _room(self, shown: Shown, now_s: float) -> float:
        """What is free for pictures of a kind: all but what is kept for the other."""
        free = {kind: self._free(kind, now_s) for kind in _PARTS}
        kept = (
            min(max(room, 0.0), self._total * _PARTS[kind] * _AT_ONCE)
            for kind, room in free.items()
            if kind != shown
        )
        return sum(free.values()) - sum(kept)

    def _free(self, shown: Shown, now_s: float) -> float:
        """What is left of one kind's part; below 0 where it took of the other's."""
        if self._began_s is None:
            self._began_s = now_s
        played = (self._played_s + now_s - self._began_s) / GAME_S
        granted = self._total * (_AT_ONCE + (1 - _AT_ONCE) * played)
        return _PARTS[shown] * granted - self._spent[shown]

    def _expected(self, level: Level, full_px: int) -> float:
        per_px = self._learnt.get(level, level.bytes_per_px)
        return full_px * level.scale**2 * per_px

    def _learn(self, level: Level, full_px: int, size: int) -> None:
        per_px = size / max(1.0, full_px * level.scale**2)
        before = self._learnt.get(level, per_px)
        self._learnt[level] = (before + per_px) / 2
