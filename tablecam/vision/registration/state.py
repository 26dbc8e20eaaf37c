"""The result of checking a frame's table tags, and the state carried to the next frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.extrinsics.tag_pose import pose_parameters
from tablecam.vision.registration.residuals import shift_px
from tablecam.vision.registration.tag_memory import TagMemory

Array = NDArray[np.float64]

State = Literal["holds", "drifted", "registered", "moving", "unclear", "too few"]

LOST_PX = 1.0
"""A camera farther than this from the registered one was found another way, and only roughly."""
_AT_REST_PX = 0.5
"""Tags that shift less between two frames are at rest; they are read to a few hundredths."""


@dataclass(frozen=True, slots=True, eq=False)
class PendingChange:
    """A change that one frame shows and the next must confirm.

    `moved` are the table tags that lie wrong; `is_camera`: the camera moved; `centres_px` is
    where each tag was seen.
    """

    moved: frozenset[int]
    is_camera: bool
    centres_px: Mapping[int, Array]

    def confirms(self, before: PendingChange | None) -> bool:
        """Whether the previous frame showed the same change and everything is at rest since."""
        if before is None or (self.moved, self.is_camera) != (before.moved, before.is_camera):
            return False
        # Tags hidden in one of the two frames do not show whether they rest.
        both = self.centres_px.keys() & before.centres_px.keys()
        steps = [np.linalg.norm(self.centres_px[tag] - before.centres_px[tag]) for tag in both]
        return bool(steps and max(steps) < _AT_REST_PX)


@dataclass(frozen=True, slots=True, eq=False)
class RegistrationMemory:
    """The state carried from frame to frame.

    `camera` was registered last; it `is_rough` until tags were read through it. `measured_with` is
    the camera that the tags' places were measured with, None before any; `read_at_s` is when
    they were last read. `displaced_mm` gives the offset of each tag that is left out, `seen_at_s`
    when each tag was last seen. `pending` is a change to be confirmed; `unexplained_since_s` is
    when the tags stopped fitting any hypothesis.
    """

    tags: TagMemory
    camera: Camera
    measured_with: Camera | None = None
    read_at_s: float | None = None
    displaced_mm: Mapping[int, float] = field(default_factory=dict)
    seen_at_s: Mapping[int, float] = field(default_factory=dict)
    is_rough: bool = False
    pending: PendingChange | None = None
    unexplained_since_s: float | None = None

    def seen_through(self, camera: Camera) -> RegistrationMemory:
        """Returns the memory for a frame taken through another camera near the registered one.

        A camera that is far off must be registered again and says nothing about drift.
        """
        if camera.pose == self.camera.pose or self.is_lost(camera):
            return self
        # The belief is about the error of the pose, so it changes with the pose.
        step = pose_parameters(camera) - pose_parameters(self.camera)
        return replace(self, tags=self.tags.with_pose_shifted(step), camera=camera)

    def is_lost(self, camera: Camera) -> bool:
        """Whether a camera is so far from the registered one that it is known only roughly."""
        return bool(self.tags.ids) and shift_px(self.camera, camera, self.tags.listed) > LOST_PX

    @property
    def is_unsettled(self) -> bool:
        """Whether a change is pending or unexplained."""
        return self.pending is not None or self.unexplained_since_s is not None

    def with_seen(self, tags: Iterable[int], at_s: float) -> RegistrationMemory:
        """Records that tags were seen."""
        return replace(self, seen_at_s={**self.seen_at_s, **dict.fromkeys(tags, at_s)})

    def in_view(self, at_s: float, within_s: float) -> tuple[int, ...]:
        """Returns the tags seen within the last `within_s` seconds."""
        return tuple(
            tag for tag in self.tags.ids if at_s - self.seen_at_s.get(tag, -np.inf) <= within_s
        )


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """The result of checking one frame's table tags against the camera and each other.

    - `holds`: camera and tags have not moved; `drifted`: they have, by a few hundredths of a pixel;
      `registered`: the camera was bumped, and its new pose is known.
    - `moving`: something is moving, wait until it ends; `unclear`: it does not end, and the tags
      contradict each other; `too few`: not enough tags are in view.

    `seen` are the table tags in view; `displaced_mm` maps those that were moved by hand, and are
    left out, to their offset in mm. `rms_px` and `rms_mm` are the offset of the others from their
    listed places, None if none is seen. `camera` is set if the camera is not where it was believed
    to be: use it from now on, and for the next `register`.

    Use the places of this frame only if it `is_trusted`: after a bump, read the same picture again,
    whole, with the new camera. `problem` is a sentence for players about a present problem; `news`
    is a sentence for page and log about a new event. Both are empty if there is nothing to say.
    """

    state: State
    seen: tuple[int, ...]
    displaced_mm: Mapping[int, float]
    rms_px: float | None
    rms_mm: float | None
    camera: Camera | None
    is_trusted: bool
    problem: str
    news: str
    memory: RegistrationMemory = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "displaced_mm", MappingProxyType(dict(self.displaced_mm)))

    @property
    def is_frozen(self) -> bool:
        """Whether no place can be read until the camera or the table tags are at rest again."""
        return self.state in ("moving", "unclear", "too few") and not self.is_trusted

    def fits(self, camera: Camera) -> bool:
        """Whether the tags are about as far off as the camera's calibration itself stated.

        True while the camera or tags move, and with fewer tags than it takes to tell.
        """
        if camera.fits_within_mm is None or self.rms_mm is None:
            return True
        return self.state in ("moving", "too few") or self.rms_mm <= camera.fits_within_mm

    @property
    def unexplained_mm(self) -> float:
        """The tags' rms offset while no hypothesis explains it; else 0."""
        return 0.0 if self.memory.unexplained_since_s is None else self.rms_mm or 0.0
