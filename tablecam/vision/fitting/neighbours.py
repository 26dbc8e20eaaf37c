"""Filters tags' pixels with their neighbours in the picture and corrects for correlated errors."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.patches import Patches

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

_CORRELATION = np.float32(0.2)
"""How much weight a pixel loses for each of its four neighbours: neighbouring residuals are
correlated by 0.15 to 0.4, on the shared footage and on simulated tables. With 0.1 to 0.23 the
largest errors shrink by a tenth to a fifth, most at shadow edges."""
_FOUR_NEIGHBOURS = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32)


def filter_patches(values: Map, patches: Patches, kernel: Map, *, fill: float = 0.0) -> Map:
    """Filters values (k, n, m) with a kernel (3, 3), with `fill` where the tags have no pixel."""
    indices = _square_indices(patches)
    count, across = len(patches.spots), patches.across
    squares = np.full((len(values), count * across**2), fill, np.float32)
    # Padding goes to spot 0, a corner that no real pixel uses and that neighbours no tag pixel.
    squares[:, indices] = values.reshape(len(values), -1)
    # One tall picture filters all squares at once: no tag pixel lies in a square's outermost rows.
    tall = squares.reshape(-1, across)
    filtered = cv2.filter2D(tall, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE)
    at_pixels = np.asarray(filtered).reshape(squares.shape).take(indices, axis=1)
    return np.asarray(at_pixels.reshape(values.shape), dtype=np.float32)


def decorrelated_columns(values: Map, weights: Map, patches: Patches) -> Map:
    """Weights columns (n, k, m) for correlated errors of neighbouring pixels.

    `weights` (n, m) are the pixels' weights if their errors were independent.
    """
    root = np.sqrt(weights)
    scaled = values.transpose(1, 0, 2) * root
    # Root weights on both sides keep the matrix of weights symmetric.
    scaled -= _CORRELATION * filter_patches(scaled, patches, _FOUR_NEIGHBOURS)
    return np.asarray((scaled * root).transpose(1, 0, 2), dtype=np.float32)


def _square_indices(patches: Patches) -> Index:
    """Returns each pixel's index in the squares laid out one after the other, (n * m,)."""
    rows = np.arange(len(patches.spots))[:, None] * patches.across**2
    return np.asarray((patches.spots + rows).ravel())
