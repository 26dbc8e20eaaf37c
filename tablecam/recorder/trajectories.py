"""Tracks bases from rest to rest, and derives the path that a unit really took."""

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

_MAX_SIGHTINGS: Final = 400
"""Sightings of one base between two rests: 40 s at ten pictures a second. Beyond that the path is
simplified; if it is still long, every other sighting is dropped."""
_TOLERANCE_MM: Final = 2.0
"""How far sightings may lie beside the simplified path: hands tremble by more than that."""
_DECIMALS: Final = 2


@dataclass(frozen=True, slots=True)
class PathPoint:
    """A base, or the middle of a unit, at one moment."""

    at_s: float
    x_mm: float
    y_mm: float
    heading_deg: float


@dataclass(frozen=True, slots=True)
class _Trajectory:
    """Where a base rested before, and where it was seen since; `seen` grows."""

    start: BasePose
    seen: list[PathPoint]


class Trajectories:
    """Collects for each base the places where it was seen since it last lay at rest.

    Thread-safe: the vision loop adds sightings, another thread takes them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before: dict[int, TrackedBase] = {}
        self._seen_at_s = 0.0
        self._trajectories: dict[int, _Trajectory] = {}

    def watch(self, bases: Iterable[TrackedBase], at_s: float) -> None:
        """Adds the sightings of a picture; a base that did not change is the same object."""
        with self._lock:
            for base in bases:
                before = self._before.get(base.tag)
                if before is not base:
                    self._before[base.tag] = base
                    self._extend(before, base, at_s)
            self._seen_at_s = at_s

    def take(self) -> tuple[Mapping[int, Sequence[PathPoint]], float]:
        """Returns the trajectories since the last call, by tag, and the newest picture's time.

        There is one for each base that left its rest; it begins where the base rested before.
        """
        with self._lock:
            trajectories = {
                tag: tuple(trajectory.seen) for tag, trajectory in self._trajectories.items()
            }
            self._trajectories.clear()
            return trajectories, self._seen_at_s

    def _extend(self, before: TrackedBase | None, base: TrackedBase, at_s: float) -> None:
        trajectory = self._trajectories.get(base.tag)
        if trajectory is None:
            # Only a base that leaves a known rest has a path.
            if before is None or before.rest is None or _is_at_rest(base, before.rest):
                return
            # It set out after the previous picture, the last that showed it at rest.
            trajectory = _Trajectory(before.rest, [_seen_at(before.rest, self._seen_at_s)])
            self._trajectories[base.tag] = trajectory
        # A hand only passed over it.
        elif _is_at_rest(base, trajectory.start):
            del self._trajectories[base.tag]
            return
        if base.pose.seen == "now":
            trajectory.seen.append(_seen_at(base.pose, at_s))
        if len(trajectory.seen) > _MAX_SIGHTINGS:
            trajectory.seen[:] = _simplified(trajectory.seen)
            # An erratic path hardly simplifies.
            if len(trajectory.seen) > _MAX_SIGHTINGS // 2:
                del trajectory.seen[1::2]


def path(
    start: Sequence[BasePose],
    end: Sequence[BasePose],
    trajectories: Iterable[Sequence[PathPoint]],
    now_s: float,
) -> tuple[PathPoint, ...]:
    """Returns the path of a unit's middle, with no more points than it needs.

    It begins when the first base left its rest and ends when the last one came to rest.

    Args:
        start: The unit's bases where they rested before.
        end: The same bases where they rest now, in the same order.
        trajectories: In the same order; one is empty if the base was not seen on its way.
        now_s: The time to use if nothing was seen on the way.
    """
    current = [_seen_at(base, now_s) for base in start]
    seen: dict[float, dict[int, PathPoint]] = {}
    for base_index, sightings in enumerate(trajectories):
        for sighting_index, sighting in enumerate(sightings):
            # The first sighting has the time of leaving; its place is the base's in `start`.
            seen.setdefault(sighting.at_s, {})[base_index] = (
                sighting if sighting_index else current[base_index]
            )
    times_s = sorted(seen) or [now_s]
    middles = [_middle(current, times_s[0])]
    # Bases move one by one: the others count where they were last seen.
    for at_s in times_s:
        for base_index, sighting in seen.get(at_s, {}).items():
            current[base_index] = sighting
        middles.append(_middle(current, at_s))
    return _simplified((*middles, _middle([_seen_at(base, now_s) for base in end], times_s[-1])))


def path_document(points: Sequence[PathPoint], now_s: float) -> list[list[float]]:
    """Returns a path as recordings store it: for each point seconds before now, place, heading."""
    return [
        [round(value, _DECIMALS) for value in (now_s - p.at_s, p.x_mm, p.y_mm, p.heading_deg)]
        for p in points
    ]


def _is_at_rest(base: TrackedBase, rest: BasePose) -> bool:
    return base.is_settled and base.pose.seen == "now" and base.rest == rest


def _seen_at(pose: BasePose, at_s: float) -> PathPoint:
    return PathPoint(at_s, pose.x_mm, pose.y_mm, pose.heading_deg)


def _middle(bases: Sequence[PathPoint], at_s: float) -> PathPoint:
    return PathPoint(
        at_s,
        math.fsum(base.x_mm for base in bases) / len(bases),
        math.fsum(base.y_mm for base in bases) / len(bases),
        mean_deg([base.heading_deg for base in bases]),
    )


def _simplified(points: Sequence[PathPoint]) -> tuple[PathPoint, ...]:
    """Simplifies a path (Douglas-Peucker) to within `_TOLERANCE_MM`; its ends remain."""
    # The index travels as z, so that the points that remain keep their times and headings.
    numbered = [(point.x_mm, point.y_mm, number) for number, point in enumerate(points)]
    line = shapely.LineString(numbered).simplify(_TOLERANCE_MM, preserve_topology=False)
    remaining = shapely.get_coordinates(line, include_z=True)[1:-1, 2]
    return (points[0], *(points[round(number)] for number in remaining), points[-1])
