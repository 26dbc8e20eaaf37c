"""Hands over the table: laid over a finished picture, with their shadows, frame by frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from tablecam.simulate.hand_shape import (
    AHEAD_MM,
    ASIDE_MM,
    BEHIND_MM,
    HandPicture,
    hand_picture,
)
from tablecam.simulate.light import GAMMA, Linear, Picture, whole
from tablecam.simulate.mat import SHADOW_MM_PER_MM
from tablecam.simulate.rays import Array, Box
from tablecam.simulate.scene import Hand

_HEIGHT_MM = 40.0
_GRIPS = 4
"""A hand closes in so many steps."""
_SHADOW_COARSER = 4
_SHADOW_STRENGTH = 0.55
_SHADOW_SOFT_PX = 9.0
_SHADED = np.round(255 * (1 - _SHADOW_STRENGTH * np.arange(256) / 255) ** (1 / GAMMA)).astype(
    np.uint8
)
_OPAQUE = 60
"""From this cover on, of 255, nothing is seen through a hand."""


class HandPainter:
    """Draws hands over pictures of one camera."""

    def __init__(self, camera: Camera, light: Linear) -> None:
        self._camera = camera
        self._frame = whole(camera)
        self._light = np.clip(200 * light ** (1 / GAMMA), 0, 255).astype(np.uint8)

    def draw(self, picture: Picture, hands: Sequence[Hand]) -> None:
        """Lay hands over a picture, in place."""
        for hand in hands:
            self._shade(picture, hand)
        for hand in hands:
            self._lay(picture, hand)

    def is_hidden(self, hands: Sequence[Hand], pixels: ArrayLike) -> NDArray[np.bool_]:
        """Which pixels (n, 2) a hand or an arm hides."""
        points = np.asarray(pixels, dtype=np.float64)
        hidden = np.zeros(len(points), dtype=bool)
        for hand in hands:
            there = cv2.perspectiveTransform(
                points[:, None], np.linalg.inv(self._to_picture(hand, _HEIGHT_MM, (0.0, 0.0)))
            )[:, 0]
            cover = _picture(hand).image[..., 3]
            column, row = np.rint(there).astype(int).T
            inside = (column >= 0) & (row >= 0)
            inside &= (column < cover.shape[1]) & (row < cover.shape[0])
            hidden[inside] |= cover[row[inside], column[inside]] >= _OPAQUE
        return hidden

    def _lay(self, picture: Picture, hand: Hand) -> None:
        box = self._box(hand, _HEIGHT_MM, (0.0, 0.0)).clipped(self._frame)
        if box.is_empty:
            return
        to_box = _moved(-box.left, -box.top) @ self._to_picture(hand, _HEIGHT_MM, (0.0, 0.0))
        seen = cv2.warpPerspective(_picture(hand).image, to_box, (box.width, box.height))
        light = cv2.merge([self._light[box.slices]] * 3)
        colour = cv2.multiply(np.ascontiguousarray(seen[..., :3]), light, scale=1 / 200)
        left = cv2.merge([255 - seen[..., 3]] * 3)
        under = cv2.multiply(picture[box.slices], left, scale=1 / 255)
        picture[box.slices] = cv2.add(under, colour)

    def _shade(self, picture: Picture, hand: Hand) -> None:
        fall = (SHADOW_MM_PER_MM[0] * _HEIGHT_MM, SHADOW_MM_PER_MM[1] * _HEIGHT_MM)
        margin = int(3 * _SHADOW_SOFT_PX)
        box = self._box(hand, 0.0, fall)
        box = Box(box.left - margin, box.top - margin, box.right + margin, box.bottom + margin)
        box = box.clipped(self._frame)
        if box.is_empty:
            return
        size = (box.width // _SHADOW_COARSER + 1, box.height // _SHADOW_COARSER + 1)
        coarser = np.diag([1 / _SHADOW_COARSER, 1 / _SHADOW_COARSER, 1.0])
        to_box = coarser @ _moved(-box.left, -box.top) @ self._to_picture(hand, 0.0, fall)
        cover = cv2.warpPerspective(_picture(hand).image[..., 3], to_box, size)
        cover = cv2.GaussianBlur(cover, (0, 0), _SHADOW_SOFT_PX / _SHADOW_COARSER)
        full = cv2.resize(cover, (size[0] * _SHADOW_COARSER, size[1] * _SHADOW_COARSER))
        factor = cv2.LUT(full[: box.height, : box.width], _SHADED)
        shaded = cv2.multiply(picture[box.slices], cv2.merge([factor] * 3), scale=1 / 255)
        picture[box.slices] = shaded

    def _box(self, hand: Hand, height_mm: float, fall_mm: tuple[float, float]) -> Box:
        corners = HandPicture.pixels(
            np.array(
                [
                    (AHEAD_MM, -ASIDE_MM),
                    (AHEAD_MM, ASIDE_MM),
                    (-BEHIND_MM, ASIDE_MM),
                    (-BEHIND_MM, -ASIDE_MM),
                ]
            )
        )
        to_picture = self._to_picture(hand, height_mm, fall_mm)
        return Box.around(cv2.perspectiveTransform(corners[:, None], to_picture)[:, 0], 2)

    def _to_picture(self, hand: Hand, height_mm: float, fall_mm: tuple[float, float]) -> Array:
        """The homography from the hand's own picture to the camera's, right about the fingers."""
        around = np.array([(50.0, -60.0), (50.0, 60.0), (-250.0, 60.0), (-250.0, -60.0)])
        heading_rad = math.radians(hand.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        x = hand.x_mm + around[:, 0] * cos + around[:, 1] * sin + fall_mm[0]
        y = hand.y_mm + around[:, 0] * sin - around[:, 1] * cos + fall_mm[1]
        seen = self._camera.to_image(np.column_stack([x, y, np.full(4, height_mm)]))
        found = cv2.getPerspectiveTransform(
            HandPicture.pixels(around).astype(np.float32), seen.astype(np.float32)
        )
        return np.asarray(found, dtype=np.float64)


def _picture(hand: Hand) -> HandPicture:
    """The hand's picture; made once for each side and closeness of the fingers."""
    facing_deg = 90.0 if math.sin(math.radians(hand.heading_deg)) > 0 else 270.0
    return _made(hand.side, round(hand.grip * _GRIPS), facing_deg)


@lru_cache(maxsize=32)
def _made(side: str, grip: int, facing_deg: float) -> HandPicture:
    return hand_picture(side, grip / _GRIPS, facing_deg)


def _moved(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
