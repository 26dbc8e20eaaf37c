"""Measures a picture's sharpness, for focusing a lens."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

_FIRST_BLUR_PX = 1.0
_SECOND_BLUR_PX = 2.0
_DIFFERENCE_VARIANCE = 1 / 3  # a difference over two pixels blurs by a box as wide
_STRONGEST_SHARE = 0.004
_LEAST_GRADIENT = 1.0  # grey levels a pixel, after the second blur; less is noise
_SHARPEST_PX = 0.6  # a lens in perfect focus: the pixel itself, and a little diffraction
_MOST_PIXELS = 2_100_000


def blur_px(picture: NDArray[np.uint8]) -> float:
    """Returns the blur of a grey picture's strongest edges, one sigma; inf without edges.

    The picture is blurred twice more; the ratio of the gradients gives the original blur, whatever
    the contrast (Zhuo and Sim, "Defocus map estimation from a single image", 2011). Only the middle
    of a large picture is used: the lens is focused there.
    """
    grey = _middle(picture).astype(np.float32)
    first, second = (_gradient(grey, blur) for blur in (_FIRST_BLUR_PX, _SECOND_BLUR_PX))
    # A sample of the pixels suffices for the quantile.
    limit = float(np.quantile(second[::4, ::4], 1 - _STRONGEST_SHARE))
    if limit < _LEAST_GRADIENT:
        return float("inf")
    strong = second >= limit
    ratio = float(np.median(first[strong] / second[strong])) ** 2
    # Blurring must flatten an edge; otherwise it is noise.
    if ratio <= 1:
        return float("inf")
    # A blurred step's gradient peaks at 1 / sigma, so ratio = (s² + second²) / (s² + first²); this
    # is solved for s².
    original_variance = (_SECOND_BLUR_PX**2 - ratio * _FIRST_BLUR_PX**2) / (ratio - 1)
    return float(np.sqrt(max(original_variance - _DIFFERENCE_VARIANCE, 0.0)))


def focus_score(blur_px: float) -> float:
    """Converts a blur to a score from 0, nothing visible, to 100, as sharp as a picture can be."""
    return 100.0 * min(1.0, _SHARPEST_PX / max(blur_px, _SHARPEST_PX))


def _middle(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Crops the middle of a picture with more than `_MOST_PIXELS`."""
    height, width = picture.shape
    share = min(1.0, float(np.sqrt(_MOST_PIXELS / (height * width))))
    rows, columns = int(height * share), int(width * share)
    top, left = (height - rows) // 2, (width - columns) // 2
    return picture[top : top + rows, left : left + columns]


def _gradient(grey: NDArray[np.float32], sigma_px: float) -> NDArray[np.float32]:
    """Returns the gradient's length in a blurred picture, in grey levels a pixel."""
    blurred = cv2.GaussianBlur(grey, (0, 0), sigma_px)
    across = cv2.Sobel(blurred, cv2.CV_32F, 1, 0, scale=1 / 8)
    down = cv2.Sobel(blurred, cv2.CV_32F, 0, 1, scale=1 / 8)
    return np.asarray(cv2.magnitude(across, down), dtype=np.float32)
