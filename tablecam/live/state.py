"""The published states of a live table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from calibration.camera import Camera
from tablecam.capture.frame import Frame
from tablecam.live.notices import Notice
from tablecam.live.pointing import Pointed
from tablecam.table.model import Mask, Position

SourceState = Literal["opening", "live", "lost", "ended"]


@dataclass(frozen=True, slots=True)
class Health:
    """The camera's health: numbers, and `warnings` in words.

    `message` says what the source is doing; `reprojection_px` is the rms distance between where
    the table tags are and where the calibration puts them, None when none is seen;
    `behind_s` is how old a frame was when its position was ready. `frozen` says why the places are
    those of an earlier frame; empty if they are not.
    """

    source: str
    state: SourceState
    message: str
    calibration: str
    frames_per_s: float = 0.0
    tags_seen: int = 0
    tags_held: int = 0
    missing: tuple[int, ...] = ()
    reprojection_px: float | None = None
    behind_s: float | None = None
    warnings: tuple[str, ...] = ()
    frozen: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of the live table.

    `version` grows by one with each; `frame` is the number of the frame it was read from, -1
    before the first. `at_s` is when the frame was taken, on the clock of the frames: infinite once
    the source has ended, as nothing moves any more. `held_for_s` says, by tag, for how long each
    held base has been hidden; `doubted` are the tags of bases that are seen in two places, neither
    of which is believed.

    `notices` are the latest things that happened to the camera and its tags, the newest last;
    `disputes` is how many of this game have been settled, `game` the version of the referee's game,
    `pointed` what seats point out to each other, `masks` the parts where the camera does not look.
    """

    version: int
    frame: int
    position: Position
    health: Health
    held_for_s: Mapping[int, float] = field(default_factory=dict)
    doubted: frozenset[int] = frozenset()
    notices: tuple[Notice, ...] = ()
    disputes: int = 0
    game: int = 0
    at_s: float = 0.0
    pointed: Pointed = field(default_factory=Pointed)
    masks: tuple[Mask, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "held_for_s", MappingProxyType(dict(self.held_for_s)))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The table at one instant: a snapshot, the frame it was read from, the camera at that time."""

    snapshot: Snapshot
    frame: Frame | None
    camera: Camera
