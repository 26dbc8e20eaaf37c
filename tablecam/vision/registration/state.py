"""What a look says of camera and table tags, and what is remembered for the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.tag_pose import pose_parameters
from tablecam.vision.registration.residuals import shift_px
from tablecam.vision.registration.tag_memory import TagMemory

Array = NDArray[np.float64]

State = Literal["holds", "drifted", "registered", "moving", "unclear", "too few"]

LOST_PX = 1.0
"""A camera so far from the one registered last was found in another way, and only roughly."""
_AT_REST_PX = 0.5
"""What moves less from one look to the next has come to rest; tags are read to a few hundredths."""


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """What a look seems to show, and the next one has to bear out.

    `moved` are the table tags that lie wrong; `centres_px` says where each tag was seen.
    """

    moved: frozenset[int]
    is_camera: bool
    centres_px: Mapping[int, Array]

    def bears_out(self, before: Doubt | None) -> bool:
        """Whether this is what the look before seemed to show, with everything at rest since."""
        if before is None or (self.moved, self.is_camera) != (before.moved, before.is_camera):
            return False
        both = self.centres_px.keys() & before.centres_px.keys()
        steps = [np.linalg.norm(self.centres_px[tag] - before.centres_px[tag]) for tag in both]
        return bool(steps and max(steps) < _AT_REST_PX)


@dataclass(frozen=True, slots=True, eq=False)
class RegistrationMemory:
    """All that is remembered from look to look.

    `camera` is what was registered last; it `is_rough` until tags were read through it.
    `measured_with` is what the tags' places were learnt with, None before any was; `read_at_s` is
    when they were last read. `away` is how many millimetres tags lie beside their places that are
    left out, `seen_at_s` when each tag was seen last. `doubt` waits to be borne out;
    `troubled_since_s` is since when nothing fits together.
    """

    tags: TagMemory
    camera: Camera
    measured_with: Camera | None = None
    read_at_s: float | None = None
    away: Mapping[int, float] = field(default_factory=dict)
    seen_at_s: Mapping[int, float] = field(default_factory=dict)
    is_rough: bool = False
    doubt: Doubt | None = None
    troubled_since_s: float | None = None

    def looking_through(self, camera: Camera) -> RegistrationMemory:
        """The memory where a look is taken through another camera, near to the one registered.

        One that is far off is to be registered anew, and tells nothing of how the other drifted.
        """
        if camera.pose == self.camera.pose or self.is_lost(camera):
            return self
        step = pose_parameters(camera) - pose_parameters(self.camera)
        return replace(self, tags=self.tags.with_pose_off_by(step), camera=camera)

    def is_lost(self, camera: Camera) -> bool:
        """Whether a camera is so far from the one registered last that it is known only roughly."""
        return bool(self.tags.ids) and shift_px(self.camera, camera, self.tags.listed) > LOST_PX

    @property
    def is_waiting(self) -> bool:
        """Whether something has happened that nobody knows yet what to think of."""
        return self.doubt is not None or self.troubled_since_s is not None

    def having_seen(self, tags: Iterable[int], at_s: float) -> RegistrationMemory:
        """The memory once some tags were seen."""
        return replace(self, seen_at_s={**self.seen_at_s, **dict.fromkeys(tags, at_s)})

    def in_view(self, at_s: float, within_s: float) -> tuple[int, ...]:
        """The tags seen so short a time ago."""
        return tuple(
            tag for tag in self.tags.ids if at_s - self.seen_at_s.get(tag, -np.inf) <= within_s
        )


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """What the table tags of one look say.

    - `holds`: camera and tags are where they were; `drifted`: all but for a hundredth of a pixel
      or two; `registered`: the camera was bumped, and its new place is known.
    - `moving`: something is going on, wait for it to end; `unclear`: it does not end, and the tags
      contradict each other; `too few` of them are in view to tell anything.

    `seen` are the table tags in view; `moved` those that lie wrong by themselves and are left out,
    with by how many millimetres. `rms_px` and `rms_mm` are how far the others lie beside their
    listed places, None where none is seen. `camera` is the camera as it stands now where it is not
    where it was believed to be: use it from now on, and for the next `register`.

    Places of this look are to be believed only if it `is_trusted`: after a bump look at the same
    picture again, whole, with the new camera. `because` says in one sentence for players what is
    amiss, as long as it is; `news` in one for page and log what has just happened. Both are empty
    where there is nothing to say.
    """

    state: State
    seen: tuple[int, ...]
    moved: Mapping[int, float]
    rms_px: float | None
    rms_mm: float | None
    camera: Camera | None
    is_trusted: bool
    because: str
    news: str
    memory: RegistrationMemory = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "moved", MappingProxyType(dict(self.moved)))

    @property
    def unexplained_mm(self) -> float:
        """How far tags lie beside their places (rms) though nothing explains it; else 0."""
        return 0.0 if self.memory.troubled_since_s is None else self.rms_mm or 0.0
