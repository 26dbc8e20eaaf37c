"""Pixels of tags beside one another, as they lie in the picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.patches import Patches

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

_TOGETHER = np.float32(0.2)
"""How much less a pixel tells for each of the four beside it that tells the same: what is left of
neighbouring pixels is correlated by 0.15 to 0.4, on the shared footage and on simulated tables.
With 0.1 to 0.23 the largest errors shrink by a tenth to a fifth, most where shadows have edges."""
_BESIDE = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32)


def beside(values: Map, patches: Patches, kernel: Map, *, fill: float = 0.0) -> Map:
    """Values (k, n, m) filtered by a kernel (3, 3), as if they were `fill` where no pixel is."""
    where = _where(patches)
    count, across = len(patches.spots), patches.across
    squares = np.full((len(values), count * across**2), fill, np.float32)
    # What fills up rows goes to spot 0, a corner that is no pixel's, and neighbours none of a tag.
    squares[:, where] = values.reshape(len(values), -1)
    # One tall picture: no pixel of a square's outermost rows is a tag's.
    tall = squares.reshape(-1, across)
    filtered = cv2.filter2D(tall, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE)
    picked = np.asarray(filtered).reshape(squares.shape).take(where, axis=1)
    return np.asarray(picked.reshape(values.shape), dtype=np.float32)


def told_apart(values: Map, weights: Map, patches: Patches) -> Map:
    """Columns (n, k, m) times what their pixels tell, as neighbouring pixels err together.

    By its `weights` (n, m) alone, a pixel tells as much as if it erred by itself.
    """
    root = np.sqrt(weights)
    scaled = values.transpose(1, 0, 2) * root
    scaled -= _TOGETHER * beside(scaled, patches, _BESIDE)
    return np.asarray((scaled * root).transpose(1, 0, 2), dtype=np.float32)


def _where(patches: Patches) -> Index:
    rows = np.arange(len(patches.spots))[:, None] * patches.across**2
    return np.asarray((patches.spots + rows).ravel())
