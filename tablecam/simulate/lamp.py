"""The lamp over a simulated table, which can be dimmed and switched."""

from __future__ import annotations

import threading

import cv2
import numpy as np

from tablecam.simulate.light import GAMMA, Picture

_FADE_S = 0.4
"""Duration of a fade, as of a dimmer or of a camera that adapts its exposure."""


class Lamp:
    """The current light as a share of full light. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._light = self._from = self._to = 1.0
        self._passed_s = _FADE_S

    @property
    def light(self) -> float:
        """The current light, 1 for full."""
        with self._lock:
            return self._light

    @property
    def goal(self) -> float:
        """The light at the end of the current fade."""
        with self._lock:
            return self._to

    def dim(self, light: float) -> None:
        """Fades to a share of full light."""
        with self._lock:
            # From the present light, even in the middle of a fade.
            self._from, self._to, self._passed_s = self._light, light, 0.0

    def advance(self, seconds: float) -> None:
        """Advances the time of the fade."""
        with self._lock:
            self._passed_s = min(self._passed_s + seconds, _FADE_S)
            share = self._passed_s / _FADE_S
            eased = share * share * (3 - 2 * share)
            self._light = self._from + (self._to - self._from) * eased


def dimmed(picture: Picture, light: float) -> Picture:
    """Returns an encoded picture under a share of its light; the same object if it is 1."""
    if light == 1.0:
        return picture
    # Gamma is a pure power, so a factor on light is a factor on the encoded value.
    levels = np.arange(256) * light ** (1 / GAMMA)
    table = np.clip(np.round(levels), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(picture, table), dtype=np.uint8)
