"""Chooses the picture that shows a unit best: the last one with all of it visible at rest."""

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

_RENEW_S: Final = 10.0
"""How old a reference picture may become: a unit at rest looks the same for longer. In hasty play
the picture in use is then the one in which the table settled, which is already decoded."""
_RETRY_S: Final = 1.0
"""How often to look for units that have no reference picture, as a hand covered them."""
_MAX_BYTES: Final = 150e6
"""Memory for reference pictures. A decoded 4K one takes 33 MB, in colour and grey; a 1080p one 8.
Units whose pictures are the oldest lose them first."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture with the camera as it stood when the picture was taken."""

    frame: Frame
    camera: Camera


class ReferenceFrames:
    """Holds for each unit a clear picture of where it lay when the table last settled.

    Not thread-safe. `owners` gives the unit of each base by tag.
    """

    def __init__(self, owners: Mapping[int, str]) -> None:
        self._owners = owners
        self._chosen_at_s = self._renewed_at_s = -math.inf
        self._is_incomplete = False
        self._resting_poses: Mapping[int, BasePose] = {}
        self._shots: dict[str, Shot] = {}

    def see(self, bases: Iterable[TrackedBase], shot: Shot) -> None:
        """Offers a picture; it is used if the current ones are old or incomplete."""
        at_s = shot.frame.taken_at_s
        if at_s - self._renewed_at_s >= _RENEW_S:
            self._choose(bases, shot)
        elif self._is_incomplete and at_s - self._chosen_at_s >= _RETRY_S:
            self._choose(bases, shot, only_missing=True)

    def clear_shot(self, name: str) -> Shot | None:
        """Returns a clear picture of a unit where it lay when the table last settled, if any."""
        return self._shots.get(name)

    def settle(self, position: Position, bases: Iterable[TrackedBase], shot: Shot) -> None:
        """Sets the settled position; the newest picture may show it already."""
        before, self._resting_poses = self._resting_poses, _by_tag(position)
        moved = {
            self._owners[tag]
            for tag, base in before.items()
            if tag not in self._resting_poses or has_moved(self._resting_poses[tag], base)
        }
        # Its old picture shows another place; `_choose` may find a new one at once.
        self._shots = {
            name: shot_before for name, shot_before in self._shots.items() if name not in moved
        }
        self._choose(bases, shot)

    def _choose(
        self, bases: Iterable[TrackedBase], shot: Shot, *, only_missing: bool = False
    ) -> None:
        self._chosen_at_s = shot.frame.taken_at_s
        unclear: set[str] = set()
        visible: set[str] = set()
        for base in bases:
            name = self._owners[base.tag]
            (visible if self._is_clear(base) else unclear).add(name)
        # One covered base spoils the picture of its whole unit.
        shown = visible - unclear
        if only_missing:
            shown -= self._shots.keys()
        else:
            self._renewed_at_s = self._chosen_at_s
        self._shots |= dict.fromkeys(shown, shot)
        self._is_incomplete = bool((visible | unclear) - self._shots.keys())
        self._drop_oldest()

    def _is_clear(self, base: TrackedBase) -> bool:
        """Whether a base is visible where it lay when the table last settled."""
        resting = self._resting_poses.get(base.tag)
        is_seen = base.is_settled and base.pose.seen == "now"
        return is_seen and resting is not None and not has_moved(base.pose, resting)

    def _drop_oldest(self) -> None:
        # Many units share one frame, so memory is counted by frame.
        frames = {shot.frame.number: shot.frame for shot in self._shots.values()}
        room_bytes = _MAX_BYTES
        # From the newest down, so that the oldest lose their room.
        for number in sorted(frames, reverse=True):
            # Four bytes a pixel: colour and grey.
            room_bytes -= 4 * frames[number].width_px * frames[number].height_px
            if room_bytes < 0:
                del frames[number]
        self._shots = {
            name: shot for name, shot in self._shots.items() if shot.frame.number in frames
        }


def _by_tag(position: Position) -> Mapping[int, BasePose]:
    """Returns all bases of a position that have tags, including commanders'."""
    bases = [base for unit in position.units for base in unit.bases]
    bases += [commander.pose for commander in position.commanders if commander.pose is not None]
    return {base.tag: base for base in bases if base.tag is not None}
