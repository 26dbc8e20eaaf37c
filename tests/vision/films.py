"""Films for a tracker: frames of sightings, and the moves that it reported."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tablecam.table.model import BasePose
from tablecam.vision.tracking.tracking import BaseTracker, TrackedBase
from tests.vision.sightings import CAMERA, FOOT, ROSTER, base_poses, sighting

FRAME_S = 1 / 15
FRAMES_TO_SETTLE = 6
"""0.4 s at 15 frames a second, after the first one."""
DOUBT = np.diag([1.0, 1.0, 1, 1, *[1e-6] * 2, *[1e-10] * 2, 1e-6, *[1e-7] * 3, *[0.01] * 3])
"""A calibration's errors: about 0.9 mm for a place in the middle of the table."""


@dataclass(frozen=True, slots=True)
class BaseMove:
    """A base that rested at `start` and has come to rest at `end`."""

    tag: int
    start: BasePose
    end: BasePose


def moves(before: Iterable[TrackedBase], after: Iterable[TrackedBase]) -> tuple[BaseMove, ...]:
    """The bases that have come to rest elsewhere, in the order of `after`.

    A base not seen at rest before has not moved but appeared.
    """
    rested = {base.tag: base.rest for base in before}
    return tuple(
        BaseMove(base.tag, start, base.rest)
        for base in after
        if (start := rested.get(base.tag)) is not None
        and base.rest is not None
        and base.rest != start
    )


class Film:
    """A tracker that is shown a film, and every move that it reported."""

    def __init__(self, camera=CAMERA, roster=ROSTER):
        self.tracker = BaseTracker(roster, camera)
        self.at_s = -FRAME_S
        self.bases = ()
        self.moves = []

    def show(self, *sightings, frames=1, after_s=FRAME_S, **options):
        """Show frames that are all the same, and return the last one's bases by tag."""
        for _ in range(frames):
            self.at_s += after_s
            before, after_s = self.bases, FRAME_S
            self.bases = self.tracker.update(sightings, self.at_s, **options)
            self.moves += moves(before, self.bases)
        return {base.tag: base for base in self.bases}

    @property
    def moved(self):
        return [move.tag for move in self.moves]


def there(x_mm, y_mm, heading_deg=90.0, tag=10):
    return base_poses([sighting(tag, x_mm, y_mm, heading_deg)], [FOOT], CAMERA)[0]


def assert_at(pose, expected, within_mm=0.01):
    assert math.hypot(pose.x_mm - expected.x_mm, pose.y_mm - expected.y_mm) <= within_mm
