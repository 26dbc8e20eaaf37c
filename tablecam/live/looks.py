"""Which picture shows a unit best: the last one in which all of it was seen at rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.table.model import BasePose
from tablecam.vision.tracking import TrackedBase

_EVERY_S: Final = 1.0
"""A look so often is enough: what is at rest looks the same for longer."""
_MOST_BYTES: Final = 150e6
"""Of pictures that are kept so. A decoded one of 4K has 33 MB, in colour and grey; of 1080p, 8.
Units that were last seen clearly long before others go without."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture, and the camera as it stood when it was taken."""

    frame: Frame
    camera: Camera


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    rests: tuple[BasePose | None, ...]
    shot: Shot


class Looks:
    """Keeps for each unit a clear picture of where it lies, and of where it lay when it settled.

    Not for two threads at once. `owners` says by tag whose a base is.
    """

    def __init__(self, owners: Mapping[int, str]) -> None:
        self._owners = owners
        self._looked_at_s = -_EVERY_S
        self._newest: dict[str, _Look] = {}
        self._settled: dict[str, _Look] = {}

    def see(self, bases: Iterable[TrackedBase], shot: Shot, *, at_once: bool = False) -> None:
        """Look at a picture, if it is time for one."""
        if not at_once and shot.frame.taken_at_s - self._looked_at_s < _EVERY_S:
            return
        self._looked_at_s = shot.frame.taken_at_s
        for name, rests in self._clear(bases).items():
            self._newest[name] = _Look(rests, shot)
            settled = self._settled.get(name)
            if settled is not None and settled.rests == rests:
                self._settled[name] = self._newest[name]
        self._forget_the_oldest()

    def settled(self, name: str) -> Shot | None:
        """Where a unit lay when the table last settled, seen clearly."""
        look = self._settled.get(name)
        return None if look is None else look.shot

    def newest(self, name: str) -> Shot | None:
        """Where it lies now."""
        look = self._newest.get(name)
        return None if look is None else look.shot

    def settle(self) -> None:
        """From now on all lies where it was seen last."""
        self._settled = dict(self._newest)

    def _clear(self, bases: Iterable[TrackedBase]) -> Mapping[str, tuple[BasePose | None, ...]]:
        """Where the bases of each unit rest of which every one is seen at rest."""
        rests: dict[str, tuple[BasePose | None, ...]] = {}
        unclear: set[str] = set()
        for base in bases:
            name = self._owners[base.tag]
            rests[name] = (*rests.get(name, ()), base.rest)
            if not base.is_settled or base.pose.seen != "now":
                unclear.add(name)
        return {name: places for name, places in rests.items() if name not in unclear}

    def _forget_the_oldest(self) -> None:
        looks = [*self._newest.values(), *self._settled.values()]
        frames = {look.shot.frame.number: look.shot.frame for look in looks}
        room = _MOST_BYTES
        for number in sorted(frames, reverse=True):
            room -= 4 * frames[number].width_px * frames[number].height_px
            if room < 0:
                del frames[number]
        for kept in (self._newest, self._settled):
            for name in [n for n, look in kept.items() if look.shot.frame.number not in frames]:
                del kept[name]
