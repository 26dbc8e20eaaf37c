"""The effects of a cheap camera on light: soft corners, colour filter, noise, gamma, JPEG."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from tablecam.simulate.rendering.light import GAMMA

_FULL, _PEDESTAL = 60000.0, 3000.0
"""A sensor's raw values (16 bits): white, and black, below which noise may still reach."""
_DARKEST = 0.004
_RAW_NOISE_A_GREY = 1.76
"""How much noisier a sensor's pixels are than the grey picture made from them, both after the
gamma: measured on even greys of 0.1 to 0.8 with OpenCV's edge-aware demosaicing."""


def softened(linear: np.ndarray, corner_blur_px: float) -> np.ndarray:
    """Light through a lens whose blur's variance grows with the square of the radius.

    `corner_blur_px` is the extra blur in the corners, one standard deviation.
    """
    height, width = linear.shape[:2]
    soft = cv2.GaussianBlur(linear, (0, 0), corner_blur_px)
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    share = ((x**2)[None, :] * width**2 + (y**2)[:, None] * height**2) / (width**2 + height**2)
    return linear + (soft - linear) * share[..., None]


def exposed(linear: np.ndarray, noise_grey: float, rng: np.random.Generator) -> np.ndarray:
    """The 8-bit picture (blue, green, red) of a sensor with a colour filter in front of its pixels.

    `linear` (height, width, 3) is light, of which 1 just clips; the sides are even. `noise_grey` is
    the noise of the grey picture before JPEG, one standard deviation, after the gamma, where dark
    and light parts have the same.
    """
    raw = np.empty(linear.shape[:2], dtype=np.float32)
    for row, column, channel in ((0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0)):  # red first
        raw[row::2, column::2] = linear[row::2, column::2, channel]
    slope = GAMMA * np.maximum(raw, _DARKEST) ** (1 - 1 / GAMMA)  # of light by encoded light
    noise = rng.standard_normal(raw.shape, dtype=np.float32)
    raw += noise * slope * np.float32(noise_grey * _RAW_NOISE_A_GREY / 255)
    counts = np.clip(raw * _FULL + _PEDESTAL, 0, _FULL + _PEDESTAL).astype(np.uint16)
    seen = cv2.demosaicing(counts, cv2.COLOR_BayerRGGB2BGR_EA)
    return _gamma()[seen]


def jpeg(picture: np.ndarray, quality: int) -> bytes:
    """A picture as a camera sends it."""
    good, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert good
    return data.tobytes()


@cache
def _gamma() -> np.ndarray:
    light = np.clip((np.arange(65536) - _PEDESTAL) / _FULL, 0, 1)
    return np.round(255 * light ** (1 / GAMMA)).astype(np.uint8)
