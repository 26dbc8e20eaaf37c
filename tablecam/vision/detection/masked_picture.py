"""Hides the masked parts of a table in its pictures, so that nothing is read there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import cv2
import numpy as np

from calibration.camera import Camera
from tablecam.table.model import Mask
from tablecam.vision.detection.grey_picture import REDUCED, Grey, GreyPicture

_PAINT_GREY = 128


class MaskedGrey:
    """A picture whose masks, flat on the table, are painted a uniform grey.

    A tall object reaches beyond a mask drawn around its foot: perspective makes it lean away from
    the camera, and a mask does not know its height.
    """

    def __init__(self, picture: GreyPicture, camera: Camera, masks: Sequence[Mask]) -> None:
        self._picture = picture
        self._outlines_px = [
            camera.to_image(np.array([[x_mm, y_mm, 0.0] for x_mm, y_mm in mask])) for mask in masks
        ]

    @property
    def width_px(self) -> int:
        """The picture's width."""
        return self._picture.width_px

    @property
    def height_px(self) -> int:
        """The picture's height."""
        return self._picture.height_px

    def grey(self) -> Grey:
        """Returns the full picture, masked."""
        return self._grey

    def reduced_grey(self) -> Grey:
        """Returns the reduced picture, masked."""
        return self._reduced_grey

    # A frame is read more than once.

    @cached_property
    def _grey(self) -> Grey:
        return self._painted(self._picture.grey(), 1)

    @cached_property
    def _reduced_grey(self) -> Grey:
        return self._painted(self._picture.reduced_grey(), REDUCED)

    def _painted(self, grey: Grey, reduced: int) -> Grey:
        painted = grey.copy()
        # Pixel centres: block k of a reduced picture is centred at 8 k + 3.5 of the full one.
        outlines = [
            np.round((outline_px + 0.5) / reduced - 0.5).astype(np.int32)
            for outline_px in self._outlines_px
        ]
        for outline in outlines:
            cv2.fillPoly(painted, [outline], _PAINT_GREY)
        return painted


def masked(picture: GreyPicture, camera: Camera, masks: Sequence[Mask]) -> GreyPicture:
    """Returns the picture with its masks painted over; the same picture if there are none."""
    return MaskedGrey(picture, camera, masks) if masks else picture
