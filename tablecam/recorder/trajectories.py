"""Where bases are seen on their way from rest to rest: which path a unit really took."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import shapely

from tablecam.table.headings import mean_deg
from tablecam.table.model import BasePose
from tablecam.vision.tracking.tracking import TrackedBase

_MOST_SEEN: Final = 400
"""Of one base between two rests, 40 s at ten pictures a second. Then those are forgotten without
which its way is the same; if these are few, every other one."""
_STRAIGHT_MM: Final = 2.0
"""A path has no more points than it needs for all seen places to lie this near to it: hands
tremble more."""
_PLACES: Final = 2


@dataclass(frozen=True, slots=True)
class SeenAt:
    """A base, or the middle of a unit, at one moment."""

    at_s: float
    x_mm: float
    y_mm: float
    heading_deg: float


@dataclass(frozen=True, slots=True)
class _Way:
    """Where a base rested before, and where it was seen since; it grows."""

    start: BasePose
    seen: list[SeenAt]


class Trails:
    """Remembers of each base the places where it was seen since it last lay at rest.

    The loop that watches tells it of each picture, another thread takes what there is.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before: dict[int, TrackedBase] = {}
        self._seen_at_s = 0.0
        self._ways: dict[int, _Way] = {}

    def watch(self, bases: Iterable[TrackedBase], at_s: float) -> None:
        """Look at all bases as a picture shows them; most are the same objects as before."""
        with self._lock:
            for base in bases:
                before = self._before.get(base.tag)
                if before is not base:
                    self._before[base.tag] = base
                    self._follow(before, base, at_s)
            self._seen_at_s = at_s

    def taken(self) -> tuple[Mapping[int, Sequence[SeenAt]], float]:
        """The way of each base that left its rest since this was last asked, by its tag.

        A way begins where the base rested before. Beside them, when the newest picture was.
        """
        with self._lock:
            ways = {tag: tuple(way.seen) for tag, way in self._ways.items()}
            self._ways.clear()
            return ways, self._seen_at_s

    def _follow(self, before: TrackedBase | None, base: TrackedBase, at_s: float) -> None:
        way = self._ways.get(base.tag)
        if way is None:
            if before is None or before.rest is None or _rests(base, before.rest):
                return
            way = _Way(before.rest, [_seen_at(before.rest, self._seen_at_s)])
            self._ways[base.tag] = way
        elif _rests(base, way.start):  # a hand only passed over it
            del self._ways[base.tag]
            return
        if base.pose.seen == "now":
            way.seen.append(_seen_at(base.pose, at_s))
        if len(way.seen) > _MOST_SEEN:
            way.seen[:] = _simplified(way.seen)
            if len(way.seen) > _MOST_SEEN // 2:
                del way.seen[1::2]


def path(
    start: Sequence[BasePose],
    end: Sequence[BasePose],
    ways: Iterable[Sequence[SeenAt]],
    now_s: float,
) -> tuple[SeenAt, ...]:
    """The path of a unit's middle, with no more points than it needs.

    It begins when the first base left its rest and ends when the last one came to it.

    Args:
        start: Its bases where they rested before.
        end: The same bases where they rest now, in the same order.
        ways: The way of each of them, in the same order; empty where none was seen.
        now_s: When it was, where nothing was seen on the way.
    """
    there = [_seen_at(base, now_s) for base in start]
    seen: dict[float, dict[int, SeenAt]] = {}
    for place, way in enumerate(ways):
        for number, each in enumerate(way):
            # The first is when it left; where from is told by `start`.
            seen.setdefault(each.at_s, {})[place] = each if number else there[place]
    times_s = sorted(seen) or [now_s]
    middles = [_middle(there, times_s[0])]
    for at_s in times_s:
        for place, each in seen.get(at_s, {}).items():
            there[place] = each
        middles.append(_middle(there, at_s))
    return _simplified((*middles, _middle([_seen_at(base, now_s) for base in end], times_s[-1])))


def path_document(points: Sequence[SeenAt], now_s: float) -> list[list[float]]:
    """A path as recordings have it: seconds before now, place and heading of each point."""
    return [
        [round(value, _PLACES) for value in (now_s - p.at_s, p.x_mm, p.y_mm, p.heading_deg)]
        for p in points
    ]


def _rests(base: TrackedBase, there: BasePose) -> bool:
    return base.is_settled and base.pose.seen == "now" and base.rest == there


def _seen_at(pose: BasePose, at_s: float) -> SeenAt:
    return SeenAt(at_s, pose.x_mm, pose.y_mm, pose.heading_deg)


def _middle(bases: Sequence[SeenAt], at_s: float) -> SeenAt:
    return SeenAt(
        at_s,
        math.fsum(base.x_mm for base in bases) / len(bases),
        math.fsum(base.y_mm for base in bases) / len(bases),
        mean_deg([base.heading_deg for base in bases]),
    )


def _simplified(points: Sequence[SeenAt]) -> tuple[SeenAt, ...]:
    """The ends, and of the points between those without which the path would be another."""
    numbered = [(point.x_mm, point.y_mm, number) for number, point in enumerate(points)]
    line = shapely.LineString(numbered).simplify(_STRAIGHT_MM, preserve_topology=False)
    kept = shapely.get_coordinates(line, include_z=True)[1:-1, 2]
    return (points[0], *(points[round(number)] for number in kept), points[-1])
