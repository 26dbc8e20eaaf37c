"""Defines a grey picture that decodes only the resolution needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]

REDUCED = 8
"""Size of the block that becomes one reduced pixel: JPEG decoders skip most at 8."""


class GreyPicture(Protocol):
    """A frame as vision reads it, whatever its storage."""

    @property
    def width_px(self) -> int:
        """The full picture's width."""

    @property
    def height_px(self) -> int:
        """The full picture's height."""

    def grey(self) -> Grey:
        """Returns the full picture (height, width), decoded once."""

    def reduced_grey(self) -> Grey:
        """Returns the picture reduced by `REDUCED`, block means: (ceil(h / 8), ceil(w / 8))."""


@dataclass(frozen=True, slots=True, eq=False)
class DecodedGrey:
    """A grey picture that is already decoded."""

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
        """Returns the picture itself."""
        return self.pixels

    def reduced_grey(self) -> Grey:
        """Returns the mean of each block; blocks at the right and lower edge may be smaller."""
        size = (-(-self.width_px // REDUCED), -(-self.height_px // REDUCED))
        return np.asarray(cv2.resize(self.pixels, size, interpolation=cv2.INTER_AREA))
