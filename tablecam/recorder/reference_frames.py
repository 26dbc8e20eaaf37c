"""Which picture shows a unit best: the last one in which all of it was seen at rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.table.model import BasePose, Position
from tablecam.table.motion import has_moved
from tablecam.vision.tracking.tracking import TrackedBase

_AGAIN_S: Final = 10.0
"""So long a picture is new enough: what is at rest looks the same for longer. In hasty play what is
kept is then the one in which the table settled, which has been decoded already."""
_LACKING_S: Final = 1.0
"""So often units are looked for of which there is none, as a hand was over them."""
_MOST_BYTES: Final = 150e6
"""Of pictures that are kept so. A decoded one of 4K has 33 MB, in colour and grey; of 1080p, 8.
Units that were last seen clearly long before others go without."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture, and the camera as it stood when it was taken."""

    frame: Frame
    camera: Camera


class Looks:
    """Keeps for each unit a clear picture of where it lay when the table last settled.

    Not for two threads at once. `owners` says by tag whose a base is.
    """

    def __init__(self, owners: Mapping[int, str]) -> None:
        self._owners = owners
        self._looked_at_s = self._renewed_at_s = -math.inf
        self._lacks_some = False
        self._lies: Mapping[int, BasePose] = {}
        self._shots: dict[str, Shot] = {}

    def see(self, bases: Iterable[TrackedBase], shot: Shot) -> None:
        """Look at a picture, if it is time for one."""
        at_s = shot.frame.taken_at_s
        if at_s - self._renewed_at_s >= _AGAIN_S:
            self._look(bases, shot)
        elif self._lacks_some and at_s - self._looked_at_s >= _LACKING_S:
            self._look(bases, shot, only_lacking=True)

    def clear(self, name: str) -> Shot | None:
        """Where a unit lay when the table last settled, seen clearly since or just before."""
        return self._shots.get(name)

    def settle(self, position: Position, bases: Iterable[TrackedBase], shot: Shot) -> None:
        """From now on all lies as in this position; the newest picture may show it already."""
        before, self._lies = self._lies, _by_tag(position)
        moved = {
            self._owners[tag]
            for tag, base in before.items()
            if tag not in self._lies or has_moved(self._lies[tag], base)
        }
        self._shots = {name: kept for name, kept in self._shots.items() if name not in moved}
        self._look(bases, shot)

    def _look(
        self, bases: Iterable[TrackedBase], shot: Shot, *, only_lacking: bool = False
    ) -> None:
        self._looked_at_s = shot.frame.taken_at_s
        unclear: set[str] = set()
        seen: set[str] = set()
        for base in bases:
            name = self._owners[base.tag]
            (seen if self._is_clear(base) else unclear).add(name)
        shown = seen - unclear
        if only_lacking:
            shown -= self._shots.keys()
        else:
            self._renewed_at_s = self._looked_at_s
        self._shots |= dict.fromkeys(shown, shot)
        self._lacks_some = bool((seen | unclear) - self._shots.keys())
        self._forget_the_oldest()

    def _is_clear(self, base: TrackedBase) -> bool:
        """Whether a base is seen where it lay when the table last settled."""
        there = self._lies.get(base.tag)
        is_seen = base.is_settled and base.pose.seen == "now"
        return is_seen and there is not None and not has_moved(base.pose, there)

    def _forget_the_oldest(self) -> None:
        frames = {shot.frame.number: shot.frame for shot in self._shots.values()}
        room = _MOST_BYTES
        for number in sorted(frames, reverse=True):
            room -= 4 * frames[number].width_px * frames[number].height_px
            if room < 0:
                del frames[number]
        self._shots = {
            name: shot for name, shot in self._shots.items() if shot.frame.number in frames
        }


def _by_tag(position: Position) -> Mapping[int, BasePose]:
    """All bases of a position that have tags, commanders' too."""
    bases = [base for unit in position.units for base in unit.bases]
    bases += [leader.pose for leader in position.commanders if leader.pose is not None]
    return {base.tag: base for base in bases if base.tag is not None}
