"""Light, sensor noise and gamma: converts reflectances to a camera's 8-bit values; the lamp.

Pictures are composed in linear light (1 just clips) and encoded last, as in a camera. Gamma is a
pure power, so a shadow may also be multiplied onto an encoded picture.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.simulate.rendering.rays import Box
from tablecam.table.model import TableSize

Linear = NDArray[np.float32]
Picture = NDArray[np.uint8]

GAMMA = 2.2
PAPER = 0.84
"""The reflectance of white paper."""
INK = 0.035
"""The reflectance of ink."""

_LEVELS = 8192
_ENCODED = np.round(255 * (np.arange(_LEVELS) / (_LEVELS - 1)) ** (1 / GAMMA)).astype(np.uint8)
_NOISE_MARGIN_PX = 97


def encoded(linear: Linear) -> Picture:
    """Encodes linear light, 0 to 1, as 8-bit values; brighter light clips."""
    index = np.clip(linear * (_LEVELS - 1) + 0.5, 0, _LEVELS - 1).astype(np.uint16)
    picture: Picture = _ENCODED[index]
    return picture


def linear_colour(red: int, green: int, blue: int) -> tuple[float, float, float]:
    """Converts a screen colour (0 to 255) to linear light, blue-green-red."""
    return (blue / 255) ** GAMMA, (green / 255) ** GAMMA, (red / 255) ** GAMMA


def light_field(camera: Camera, table: TableSize, *, uneven: bool = True) -> Linear:
    """Returns the brightness of white at each pixel (height, width), from lamp, window and lens."""
    lens = camera.lens
    if not uneven:
        return np.ones((lens.height_px, lens.width_px), dtype=np.float32)
    step = 16  # Light is smooth, so a coarse grid is enough.
    rows, columns = lens.height_px // step + 2, lens.width_px // step + 2
    x_px, y_px = np.meshgrid(np.arange(columns) * step, np.arange(rows) * step)
    radius = np.hypot(x_px - lens.cx_px, y_px - lens.cy_px) / np.hypot(lens.cx_px, lens.cy_px)
    vignette = 1 - 0.24 * radius**2
    places = camera.to_table(np.stack([x_px.ravel(), y_px.ravel()], axis=-1))
    x, y = (places / [table.width_mm, table.depth_mm]).T.reshape(2, rows, columns)
    window = 1.06 - 0.20 * x - 0.08 * (1 - y)  # it stands to the left, beyond the far edge
    folds = 0.025 * np.sin(5 * x + 3 * y) * np.cos(4 * y - 2 * x + 1)
    # Pixels above the horizon see no table.
    coarse = np.nan_to_num(vignette * (window + folds), nan=0.5).clip(0.2, 1.12)
    full = cv2.resize(
        coarse.astype(np.float32), (columns * step, rows * step), interpolation=cv2.INTER_CUBIC
    )
    # Resizing centres each value on its block; the shift moves it back to its own pixel.
    shift = np.array([[1, 0, -step / 2 + 0.5], [0, 1, -step / 2 + 0.5]])
    field = cv2.warpAffine(
        full, shift, (lens.width_px, lens.height_px), borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(field, dtype=np.float32)


class SensorNoise:
    """Sensor noise, cropped for each frame at random from one precomputed array.

    After gamma, shot noise is nearly as strong in the dark as in the light (proportional to
    light^-0.05), so one standard deviation, in 8-bit steps, serves all levels.
    """

    def __init__(self, width_px: int, height_px: int, sigma: float, seed: int) -> None:
        self._size = (height_px, width_px)
        self._seed = seed
        rng = np.random.default_rng(seed)
        shape = (height_px + _NOISE_MARGIN_PX, width_px + _NOISE_MARGIN_PX, 3)
        noise = np.rint(rng.standard_normal(shape, dtype=np.float32) * sigma)
        # Two unsigned arrays: adding and subtracting saturates, without a wider type.
        self._positive = np.maximum(noise, 0).astype(np.uint8)
        self._negative = np.maximum(-noise, 0).astype(np.uint8)

    def added(self, picture: Picture, number: int) -> Picture:
        """Returns a copy of the picture with the noise of frame `number`."""
        # By the frame's number: a frame has the same noise whenever it is drawn.
        rng = np.random.default_rng((self._seed, number))
        top, left = rng.integers(0, _NOISE_MARGIN_PX, 2)
        crop = (slice(top, top + self._size[0]), slice(left, left + self._size[1]))
        noisy = cv2.add(picture, self._positive[crop])
        return np.asarray(cv2.subtract(noisy, self._negative[crop], dst=noisy), dtype=np.uint8)


def whole(camera: Camera) -> Box:
    """Returns the box of all pixels of a camera."""
    return Box(0, 0, camera.lens.width_px, camera.lens.height_px)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A picture of a box of pixels with alpha.

    `light` (rows, columns, 4) is premultiplied blue, green and red, then alpha, 0 to 1.
    """

    box: Box
    light: Linear

    @classmethod
    def clear(cls, box: Box) -> Patch:
        """Returns a fully transparent patch."""
        return cls(box, np.zeros((box.height, box.width, 4), dtype=np.float32))

    def cover(
        self, colour: tuple[float, float, float] | Linear, share: NDArray[np.float32]
    ) -> None:
        """Blends a colour, (3,) or (rows, columns, 3), over a share (rows, columns) of pixels."""
        # Premultiplied colours: the layers beneath keep the uncovered share.
        rest = 1 - share
        self.light[..., :3] *= rest[..., None]
        self.light[..., :3] += share[..., None] * np.asarray(colour, dtype=np.float32)
        self.light[..., 3] *= rest
        self.light[..., 3] += share

    def shade(self, share: NDArray[np.float32]) -> None:
        """Adds a shadow that absorbs a share of the light, also from beneath the patch."""
        self.cover((0.0, 0.0, 0.0), share)

    def laid_on(self, picture: Linear, outer: Box) -> None:
        """Composites the patch onto a picture (rows, columns, 3) of the box `outer`, in place."""
        shared = self.box.clipped(outer)
        if shared.is_empty:
            return
        source = self.light[shared.within(self.box)]
        target = picture[shared.within(outer)]
        target *= 1 - source[..., 3:]
        target += source[..., :3]


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
