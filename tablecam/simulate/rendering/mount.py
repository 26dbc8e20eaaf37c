"""The mount of a simulated camera, which can be bumped and can sag."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Pose

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tilt:
    """A displacement of a camera from its original pose.

    The camera is turned so that the middle of its picture shifts right and down by some pixels,
    rolled clockwise about its optical axis, and moved along it toward the table.
    """

    right_px: float = 0.0
    down_px: float = 0.0
    roll_deg: float = 0.0
    lower_mm: float = 0.0

    def plus(self, more: Tilt, times: float = 1.0) -> Tilt:
        """Returns the sum of this tilt and a multiple of another."""
        return Tilt(
            self.right_px + times * more.right_px,
            self.down_px + times * more.down_px,
            self.roll_deg + times * more.roll_deg,
            self.lower_mm + times * more.lower_mm,
        )

    def of(self, camera: Camera) -> Camera:
        """Returns the camera with this displacement."""
        if self == UPRIGHT:
            return camera
        # A shift of the picture by f tan(angle) is a turn of the camera by that angle.
        turn = (
            _turn(math.atan2(self.right_px, camera.lens.fx_px), 1)
            @ _turn(-math.atan2(self.down_px, camera.lens.fy_px), 0)
            @ _turn(math.radians(self.roll_deg), 2)
        )
        rotation = turn @ camera.pose.rotation
        # Turned about the camera itself, then moved along its optical axis.
        translation = turn @ camera.pose.translation - [0.0, 0.0, self.lower_mm]
        vector, _ = cv2.Rodrigues(rotation)
        return replace(camera, pose=Pose(_three(vector), _three(translation)))


UPRIGHT = Tilt()
"""No displacement."""


class Mount:
    """The current displacement of a camera. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tilt = UPRIGHT
        self._sagging = UPRIGHT

    @property
    def tilt(self) -> Tilt:
        """The current displacement."""
        with self._lock:
            return self._tilt

    def bump(self, by: Tilt) -> None:
        """Displaces the camera at once."""
        with self._lock:
            self._tilt = self._tilt.plus(by)

    def sag(self, by_a_second: Tilt) -> None:
        """Lets the camera sag by a tilt per second; `UPRIGHT` stops it."""
        with self._lock:
            self._sagging = by_a_second

    def advance(self, seconds: float) -> None:
        """Advances the time of the sagging."""
        with self._lock:
            if self._sagging != UPRIGHT:
                self._tilt = self._tilt.plus(self._sagging, seconds)


def _turn(angle_rad: float, axis: int) -> Array:
    vector = np.zeros(3)
    vector[axis] = angle_rad
    matrix, _ = cv2.Rodrigues(vector)
    return np.asarray(matrix, dtype=np.float64)


def _three(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values.ravel())
    return x, y, z
