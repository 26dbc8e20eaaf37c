"""Detects whether a board is held still."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from calibration.board import BoardView, mean_corner_distance_px

HOLD_S = 0.7
"""How long a board must be held still before its view is taken."""

_LEAST_FRAMES = 3
_LEAST_SHARED = 4
"""Least shared corners: fewer say little about the motion of a whole board."""
_LONGEST_GAP_S = 1.0
# A camera reads its rows one after the other, in some 20 ms. At this speed the board shears by 0.05
# px in a picture of 1920x1080 in that time, as much as its corners' own error. Hands are equally
# unsteady in millimetres with any camera, hence a share of the diagonal.
_STILL_SHARE_PER_S = 2.5 / 2203  # of the picture's diagonal


@dataclass(frozen=True, slots=True)
class Stillness:
    """A board's speed, and the share of the required time that it has been still."""

    speed_px_per_s: float
    share: float

    @property
    def is_still(self) -> bool:
        """Whether it has been held still for long enough."""
        return self.share >= 1.0


class Holding:
    """Tracks one board from frame to frame; remembers the last second only."""

    def __init__(self, hold_s: float = HOLD_S) -> None:
        self._hold_s = hold_s
        self._seen: deque[tuple[float, BoardView]] = deque()

    def forget(self) -> None:
        """Forgets the board, because it is gone or its view has been taken."""
        self._seen.clear()

    def watch(self, view: BoardView, taken_at_s: float) -> Stillness:
        """Returns how still the board is in this frame, compared with earlier ones.

        Frames since when the board has stayed within the limit are remembered, earlier ones
        forgotten.
        """
        # After a gap in the frames earlier ones say nothing about motion.
        if self._seen and taken_at_s - self._seen[-1][0] > _LONGEST_GAP_S:
            self._seen.clear()
        # How far the board may drift in the required time at the limit of its speed.
        limit_px = _STILL_SHARE_PER_S * self._hold_s * np.hypot(view.width_px, view.height_px)
        speed = 0.0
        if self._seen:
            before_s, before = self._seen[-1]
            # Frames with the same time stamp must not divide by zero.
            speed = _moved_px(before, view) / max(taken_at_s - before_s, 1e-3)
        # A frame that shares too few corners is infinitely far away: it goes, too.
        while self._seen and max(_moved_px(old, view) for _, old in self._seen) > limit_px:
            self._seen.popleft()
        self._seen.append((taken_at_s, view))
        # Remember just enough frames to span the required time.
        while len(self._seen) > 2 and taken_at_s - self._seen[1][0] >= self._hold_s:
            self._seen.popleft()
        held_s = taken_at_s - self._seen[0][0]
        # At a low frame rate two frames could span the required time.
        enough_frames = len(self._seen) / _LEAST_FRAMES
        return Stillness(speed, float(min(held_s / self._hold_s, enough_frames, 1.0)))


def _moved_px(before: BoardView, now: BoardView) -> float:
    """Returns how far the board moved between two views."""
    return mean_corner_distance_px(before, now, least_shared=_LEAST_SHARED)
