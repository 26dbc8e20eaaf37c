"""A picture of which no more is decoded than is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]

REDUCED = 8
"""A reduced picture has one pixel for so many by so many: what a JPEG decoder skips best."""


class GreyPicture(Protocol):
    """What vision reads: a frame, whatever it is stored as."""

    @property
    def width_px(self) -> int:
        """The whole picture's width."""

    @property
    def height_px(self) -> int:
        """The whole picture's height."""

    def grey(self) -> Grey:
        """The whole picture (height, width), decoded once."""

    def reduced_grey(self) -> Grey:
        """The picture `REDUCED` times smaller, each pixel a mean: (ceil(h / 8), ceil(w / 8))."""


@dataclass(frozen=True, slots=True, eq=False)
class DecodedGrey:
    """A grey picture that is decoded already."""

    pixels: Grey

    @property
    def width_px(self) -> int:
        """The picture's width."""
        return int(self.pixels.shape[1])

    @property
    def height_px(self) -> int:
        """The picture's height."""
        return int(self.pixels.shape[0])

    def grey(self) -> Grey:
        """The picture itself."""
        return self.pixels

    def reduced_grey(self) -> Grey:
        """The mean of each block of pixels; blocks at the right and lower edge may be smaller."""
        size = (-(-self.width_px // REDUCED), -(-self.height_px // REDUCED))
        return np.asarray(cv2.resize(self.pixels, size, interpolation=cv2.INTER_AREA))
