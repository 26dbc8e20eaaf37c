"""Effects of webcams and phones on pictures, and of wear and light on printed tags, one at a time.

`light` changes what falls on the sensor (height, width, 3; blue, green, red; linear, 1 clips),
`processing` the 8-bit picture before it is compressed. Strengths in pixels are those at 1080p: a 4K
picture shows an angle with twice as many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np

from tests.footage import TrueTag

Tags = Mapping[int, TrueTag]

_RIMMED = 8 / 6
"""A tag with its white rim, a cell wide, beside its black square."""


@dataclass(frozen=True)
class CameraEffect:
    """One effect, by default none; `quality` is that of the JPEG, or 85 to 95 if None."""

    name: str
    light: Callable[[np.ndarray, Tags], np.ndarray] = lambda linear, tags: linear
    processing: Callable[[np.ndarray], np.ndarray] = lambda picture: picture
    quality: int | None = None


PLAIN = CameraEffect("")


def swayed(linear: np.ndarray, tags: Tags, *, sway_px: float) -> np.ndarray:
    """A rolling shutter on a mount that a passing arm has set swaying.

    The rows are read in 30 ms, a quarter of a sway at 8 Hz, the first resonance of a light arm.
    """
    height, width = linear.shape[:2]
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    phase = 2 * math.pi * 8.0 * 0.03 * (y / height - 0.5)
    return cv2.remap(linear, x + _px(linear, sway_px) * np.sin(phase), y, cv2.INTER_CUBIC)


def drifted(linear: np.ndarray, tags: Tags, *, stops: float, warmth: float) -> np.ndarray:
    """Auto exposure off by `stops`; white balance gives too little blue and too much red."""
    return linear * np.float32(2**stops) * np.float32([1 - warmth, 1, 1 + warmth])


def banded(linear: np.ndarray, tags: Tags, *, depth: float) -> np.ndarray:
    """Light that flickers at 100 Hz, with a rolling shutter of 30 ms: three bands."""
    rows = np.linspace(0, 2 * math.pi * 100.0 * 0.03, len(linear), dtype=np.float32)
    return linear * (1 + np.float32(depth) * np.sin(rows))[:, None, None]


def smeared(linear: np.ndarray, tags: Tags, *, length_px: float) -> np.ndarray:
    """Motion blur along a slanting line: the mount shakes while the shutter is open."""
    fine, length = 8, _px(linear, length_px)
    size = 2 * math.ceil(length / 2) + 3
    line = np.zeros((size * fine, size * fine), np.float32)
    half = np.array([math.cos(0.6), math.sin(0.6)]) * length * fine / 2
    middle = size * fine / 2
    ends = [tuple(np.rint(middle + side * half).astype(int).tolist()) for side in (-1, 1)]
    cv2.line(line, ends[0], ends[1], 1.0, fine)
    kernel = cv2.resize(line, (size, size), interpolation=cv2.INTER_AREA)
    return cv2.filter2D(linear, -1, kernel / kernel.sum())


def fringed(linear: np.ndarray, tags: Tags, *, of_radius: float) -> np.ndarray:
    """Lateral chromatic aberration: red is larger and blue smaller by a share of the radius."""
    height, width = linear.shape[:2]
    planes = []
    for channel, larger in enumerate((1 - of_radius, 1.0, 1 + of_radius)):
        about = np.array(
            [[larger, 0, (1 - larger) * width / 2], [0, larger, (1 - larger) * height / 2]]
        )
        planes.append(
            cv2.warpAffine(
                linear[..., channel], about, (width, height), flags=cv2.INTER_CUBIC,
                borderMode=cv2.BORDER_REPLICATE,
            )
        )  # fmt: skip
    return np.maximum(np.dstack(planes), 0)


def sharpened(picture: np.ndarray, *, amount: float, radius_px: float = 1.0) -> np.ndarray:
    """An unsharp mask of the brightness, as webcams apply it: halos beside edges."""
    ycc = cv2.cvtColor(picture, cv2.COLOR_BGR2YCrCb)
    grey = ycc[..., 0].astype(np.float32)
    edges = grey - cv2.GaussianBlur(grey, (0, 0), radius_px)
    ycc[..., 0] = np.clip(np.rint(grey + amount * edges), 0, 255)
    return cv2.cvtColor(ycc, cv2.COLOR_YCrCb2BGR)


def yellowed(linear: np.ndarray, tags: Tags) -> np.ndarray:
    """Paper that has lain in the sun: sRGB 250, 240, 205."""
    return _on_prints(linear, tags, lambda print_, *_: print_ * np.float32([0.61, 0.87, 0.95]))


def laminated(linear: np.ndarray, tags: Tags, *, mirrored: float) -> np.ndarray:
    """Gloss that reflects a share of white everywhere, as a plastic surface does (Fresnel: 4 %)."""
    return _on_prints(linear, tags, lambda print_, white, *_: print_ + white * np.float32(mirrored))


def worn(linear: np.ndarray, tags: Tags, *, bare: float) -> np.ndarray:
    """Ink that has greyed, with specks of bare paper on a share of it."""

    def wear(print_: np.ndarray, white: np.ndarray, across: np.ndarray, tag: int) -> np.ndarray:
        specks = np.random.default_rng(tag).random((24, 24), dtype=np.float32) < bare
        at = np.rint((across + 1) * 11.5).astype(int).clip(0, 23)
        fine = cv2.GaussianBlur(specks[at[..., 1], at[..., 0]].astype(np.float32), (0, 0), 0.6)
        share = 0.06 + 0.94 * fine[..., None]
        return print_ + share * np.maximum(white - print_, 0)

    return _on_prints(linear, tags, wear)


def glaring(linear: np.ndarray, tags: Tags, *, of_side: float, every: int) -> np.ndarray:
    """A tube lamp reflected in laminated tags: a bright strip, its width a share of the print's.

    Tags lie level to a degree, so a lamp is reflected in one part of the table only.
    """

    def glare(print_: np.ndarray, white: np.ndarray, across: np.ndarray, tag: int) -> np.ndarray:
        turn, beside = np.random.default_rng(tag).uniform((0, -0.7), (math.pi, 0.7))
        away = across @ np.array([math.cos(turn), math.sin(turn)]) - beside
        strip = np.exp(-((away / of_side) ** 4)).astype(np.float32)
        return print_ + white * strip[..., None]

    return _on_prints(linear, {tag: tags[tag] for tag in tags if tag % every == 0}, glare)


CAMERA_EFFECTS = (
    CameraEffect("MJPEG, quality 85", quality=85),
    CameraEffect("MJPEG, quality 60", quality=60),
    CameraEffect("rolling shutter, sway of 1 px", partial(swayed, sway_px=1.0)),
    CameraEffect("2/3 stop over, cool", partial(drifted, stops=2 / 3, warmth=-0.15)),
    CameraEffect("1 stop under, warm", partial(drifted, stops=-1.0, warmth=0.15)),
    # LEDs that dim by half, in 5 ms of exposure: 0.5 sinc(0.5).
    CameraEffect("50 Hz bands, ± 32 %", partial(banded, depth=0.32)),
    CameraEffect("motion blur of 2 px", partial(smeared, length_px=2.0)),
    # Imatest calls up to 0.15 % moderate.
    CameraEffect("colour fringes, 0.15 %", partial(fringed, of_radius=0.0015)),
    CameraEffect("sharpened", processing=partial(sharpened, amount=1.0)),
    CameraEffect("sharpened strongly", processing=partial(sharpened, amount=2.5)),
    CameraEffect("laminated, mirrors 5 %", partial(laminated, mirrored=0.05)),
    CameraEffect("worn, 8 % bare", partial(worn, bare=0.08)),
    CameraEffect("glare across 1 tag in 5", partial(glaring, of_side=0.2, every=5)),
    CameraEffect("yellowed paper", yellowed),
)


def _px(linear: np.ndarray, at_1080p: float) -> float:
    return at_1080p * linear.shape[1] / 1920


def _on_prints(
    linear: np.ndarray,
    tags: Tags,
    change: Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray],
) -> np.ndarray:
    """Changes the camera's view of tags with their rims.

    `change` gets the part of the picture, the brightness of paper there (3,), each pixel's place
    across the print (from -1 to 1 each way), and the tag.
    """
    changed = linear.copy()
    for tag, part, across in _prints(linear, tags):
        is_print = (np.abs(across).max(axis=2) <= 1)[..., None].astype(np.float32)
        share = cv2.GaussianBlur(is_print, (0, 0), 0.6)[..., None]
        print_ = linear[part]
        white = np.percentile(print_[is_print[..., 0] > 0], 90, axis=0).astype(np.float32)
        changed[part] = print_ + share * (change(print_, white, across, tag) - print_)
    return changed


def _prints(
    linear: np.ndarray, tags: Tags
) -> Iterator[tuple[int, tuple[slice, slice], np.ndarray]]:
    height, width = linear.shape[:2]
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float32) / _RIMMED
    for tag, true in tags.items():
        middle = true.corners_px.mean(axis=0)
        reach = np.abs(true.corners_px - middle).max(axis=0) * _RIMMED + 2
        left, top = np.maximum(np.floor(middle - reach), 0).astype(int)
        right, bottom = np.minimum(np.ceil(middle + reach) + 1, (width, height)).astype(int)
        if right - left < 3 or bottom - top < 3:
            continue
        to_print = cv2.getPerspectiveTransform(true.corners_px.astype(np.float32), square)
        x, y = np.meshgrid(np.arange(left, right), np.arange(top, bottom))
        pixels = np.stack([x, y], axis=-1).reshape(-1, 1, 2).astype(np.float32)
        across = cv2.perspectiveTransform(pixels, to_print).reshape(*x.shape, 2)
        yield tag, (slice(top, bottom), slice(left, right)), across
