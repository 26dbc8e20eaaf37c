"""The lamp over a simulated table: it is dimmed, and switched off and on."""

from __future__ import annotations

import threading

import cv2
import numpy as np

from tablecam.simulate.light import GAMMA, Picture

_FADE_S = 0.4
"""A dimmer, a hand on a switch and a camera's exposure take about so long."""


class Lamp:
    """How much light there is, as a share of all; any thread may dim it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._light = self._from = self._to = 1.0
        self._passed_s = _FADE_S

    @property
    def light(self) -> float:
        """The light now: 1 is all of it."""
        with self._lock:
            return self._light

    @property
    def goal(self) -> float:
        """The light that it fades to, or has."""
        with self._lock:
            return self._to

    def dim(self, light: float) -> None:
        """Fade to so much light."""
        with self._lock:
            self._from, self._to, self._passed_s = self._light, light, 0.0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._passed_s = min(self._passed_s + seconds, _FADE_S)
            share = self._passed_s / _FADE_S
            eased = share * share * (3 - 2 * share)
            self._light = self._from + (self._to - self._from) * eased


def dimmed(picture: Picture, light: float) -> Picture:
    """A picture, already encoded, under so much of its light; the same one under all of it.

    Gamma is a pure power, so a factor on light is a factor on what is encoded.
    """
    if light == 1.0:
        return picture
    levels = np.arange(256) * light ** (1 / GAMMA)
    table = np.clip(np.round(levels), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(picture, table), dtype=np.uint8)
