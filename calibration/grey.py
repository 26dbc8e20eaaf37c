"""Converts colour pictures to grey without shifting their edges."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

_BAYER_WEIGHTS = np.array([[0.25, 0.5, 0.25]])


def to_grey(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns grey (height, width) from blue-green-red (height, width, 3) or grey.

    Colours are weighted by a Bayer sensor's sites: a quarter blue, half green, a quarter red.
    Demosaicing shifts blue and red by some hundredths of a pixel in opposite directions; with these
    weights the shifts cancel. With the usual luma weights, a lens calibrated from such a sensor had
    twice the error.
    """
    if picture.ndim == 2:
        return picture
    return np.asarray(cv2.transform(picture, _BAYER_WEIGHTS), dtype=np.uint8)
