"""What a sensor's colour filter does to a tag: each pixel's own blur, by where it is in the filter.

A cheap camera measures one colour a pixel, in squares of two by two, and guesses the other two from
the pixels around. So its grey picture is as sharp as the lens where green was measured, and blurred
along rows, along columns or both where it was not. At two pixels a cell that moves tags by more
than noise does. How cameras guess differs: it is measured on the tags of the very picture.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.neighbours import beside
from tablecam.vision.fitting.patches import Patches
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY
from tablecam.vision.fitting.tag_model import GAIN, TagColumns

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_ALONG_ROWS = np.array([[0, 0, 0], [1, -2, 1], [0, 0, 0]], np.float32)
_CROSSWISE = np.array([[1, 0, 1], [0, -4, 0], [1, 0, 1]], np.float32)
_BLURS = (_ALONG_ROWS, _ALONG_ROWS.T, _CROSSWISE)
"""What is added of them blurs. All are symmetrical, so that no tag is moved by what is measured."""
_PLACES = 4
"""Pixels of one square of the filter: each guesses in its own way."""
_USUAL = 0.1
"""How much of each is added, one standard deviation: up to 0.25 was measured, 0.1 as a rule."""
_WHITE = 1.0
_NOTHING = 1e-9
"""Keeps what is solved for determined where nothing is left to be explained."""


def mosaic_trace(
    columns: TagColumns, shares: Map, residuals: Map, weights: Map, patches: Patches
) -> Map:
    """By how many grey levels tags differ from their prediction as the filter lets expect, (n, m).

    The `residuals` (n, m) of a prediction without it tell how much, by their `weights`. Nothing
    where pixels were averaged.
    """
    trace = np.zeros_like(residuals)
    if patches.shrink > 1:
        return trace
    gain = np.maximum(shares[:, GAIN], LEAST_GAIN_GREY)
    drawn = columns.values[None, :, GAIN]
    by_blur = gain[:, None] * np.concatenate(
        [beside(drawn, patches, blur, fill=_WHITE) for blur in _BLURS]
    )
    place = _place_in_filter(patches)
    for each in range(_PLACES):
        mine = place == each
        trace += mine * np.tensordot(_added(by_blur, weights * mine, residuals), by_blur, 1)
    return trace


def _added(by_blur: Map, weights: Map, residuals: Map) -> Map:
    """How much of each blur (3, n, m) explains the residuals best, (3,)."""
    told = (weights * by_blur).reshape(len(by_blur), -1)
    normal = (told @ by_blur.reshape(len(by_blur), -1).T).astype(np.float64)
    right = (told @ residuals.ravel()).astype(np.float64)
    total = max(float(weights.sum()), 1.0)
    noise = float((weights * residuals**2).sum()) / total
    normal += (noise / _USUAL**2 + _NOTHING) * np.eye(len(by_blur))
    return np.linalg.solve(normal, right).astype(np.float32)


def _place_in_filter(patches: Patches) -> NDArray[np.int64]:
    """Which pixel of a square of the filter each is, (n, m)."""
    down, right = np.divmod(patches.spots, patches.across)
    column, row = patches.corners_px.T[..., None]
    return np.asarray((row + down) % 2 * 2 + (column + right) % 2)
