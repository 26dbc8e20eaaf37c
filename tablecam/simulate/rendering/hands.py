"""Renders hands and their shadows over a finished picture of the table."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from tablecam.simulate.rendering.light import GAMMA, Linear, Picture, whole
from tablecam.simulate.rendering.mat import SHADOW_MM_PER_MM, Colour
from tablecam.simulate.rendering.rays import Array, Box
from tablecam.simulate.rendering.scene import Hand

Image = NDArray[np.float32]

PX_PER_MM = 1.8
AHEAD_MM = 60.0
BEHIND_MM = 900.0
ASIDE_MM = 75.0

_CUFF_MM = -158.0
_SKINS: tuple[Colour, ...] = ((222, 172, 142), (198, 146, 112), (232, 186, 160))
_SLEEVES: tuple[Colour, ...] = ((46, 62, 96), (112, 44, 50), (72, 84, 66), (86, 78, 72))

Joint = tuple[float, float, float, float]
"""A joint of the hand: ahead, right, height of its middle, radius."""

_ARM: tuple[tuple[Joint, Joint], ...] = (
    ((-BEHIND_MM - 50, 0, 34, 43), (_CUFF_MM, 0, 34, 31)),
    ((_CUFF_MM - 16, 0, 34, 35), (_CUFF_MM, 0, 34, 34)),
)


@dataclass(frozen=True, slots=True, eq=False)
class HandPicture:
    """A hand from above as premultiplied BGRA (rows, columns, 4), 8 bits.

    Rows run back along the arm from `AHEAD_MM`, columns to the right from -`ASIDE_MM`.
    """

    image: NDArray[np.uint8]

    @staticmethod
    def pixels(points_mm: Array) -> Array:
        """Converts points (n, 2), ahead and right, to pixels (n, 2) of the picture."""
        ahead, right = points_mm[:, 0], points_mm[:, 1]
        return np.column_stack([(right + ASIDE_MM) * PX_PER_MM, (AHEAD_MM - ahead) * PX_PER_MM])


def hand_picture(side: str, grip: float, heading_deg: float) -> HandPicture:
    """Renders the hand of a side's player, its fingers closed by `grip` (0 to 1).

    `heading_deg`, the direction of the arm on the table, determines the direction of the light.
    """
    seed = zlib.crc32(side.encode())
    skin, sleeve = _SKINS[seed % len(_SKINS)], _SLEEVES[seed // 7 % len(_SLEEVES)]
    ahead, right = _grid()
    arm = _height(ahead, right, _ARM)
    arm = np.where(ahead < _CUFF_MM + 2, arm, 0)
    flesh = _smoothed(_height(ahead, right, _bones(grip)), 1.3 * PX_PER_MM)
    # The higher of the two surfaces is visible.
    is_sleeve = arm > flesh
    height = np.where(is_sleeve, arm + _wool(ahead, right), flesh).astype(np.float32)
    lit = _lambert(height, heading_deg)
    colour = np.broadcast_to(np.array(sleeve, dtype=np.float64), (*height.shape, 3)).copy()
    top = slice(0, round((AHEAD_MM - _CUFF_MM + 4) * PX_PER_MM))  # no flesh below the cuff
    painted = _skin(skin, ahead[top], right[top], grip)
    colour[top] = np.where(is_sleeve[top, :, None], colour[top], painted)
    shade = np.clip(0.34 + 0.78 * lit, 0, 1.25)[..., None]
    # Shade is warm: red falls off more slowly than blue.
    warm = np.array([shade**0.82, shade, shade**1.1]).squeeze(-1).transpose(1, 2, 0)
    cover = cv2.GaussianBlur((height > 0).astype(np.float32), (0, 0), 0.9)
    bgr = np.clip(colour * warm, 0, 255)[..., ::-1] * cover[..., None]
    return HandPicture(np.dstack([bgr, 255 * cover]).astype(np.uint8))


def _grid() -> tuple[Image, Image]:
    rows, columns = round((AHEAD_MM + BEHIND_MM) * PX_PER_MM), round(2 * ASIDE_MM * PX_PER_MM)
    row, column = np.indices((rows, columns), dtype=np.float32)
    return AHEAD_MM - row / PX_PER_MM, column / PX_PER_MM - ASIDE_MM


def _height(ahead: Image, right: Image, bones: tuple[tuple[Joint, Joint], ...]) -> Image:
    """Returns the height of the surface of round bones above the table, 0 beside them."""
    height = np.zeros(ahead.shape, dtype=np.float32)
    for (a0, r0, z0, radius0), (a1, r1, z1, radius1) in bones:
        reach = max(radius0, radius1) + 1
        rows = slice(
            max(0, int((AHEAD_MM - max(a0, a1) - reach) * PX_PER_MM)),
            max(0, int((AHEAD_MM - min(a0, a1) + reach) * PX_PER_MM) + 1),
        )
        # Only the rows that the bone can reach.
        x, y = ahead[rows] - a0, right[rows] - r0
        step_a, step_r = a1 - a0, r1 - r0
        length2 = step_a**2 + step_r**2
        along = np.clip((x * step_a + y * step_r) / max(length2, 1e-6), 0, 1)
        apart2 = (x - along * step_a) ** 2 + (y - along * step_r) ** 2
        # A sphere that moves along the bone while its radius changes.
        radius = radius0 + along * (radius1 - radius0)
        top = z0 + along * (z1 - z0) + np.sqrt(np.maximum(radius**2 - apart2, 0))
        height[rows] = np.maximum(height[rows], np.where(apart2 < radius**2, top, 0))
    return height


def _smoothed(height: Image, sigma_px: float) -> Image:
    """Smooths heights inside the outline only: the joints soften, the outline stays."""
    inside = (height > 0).astype(np.float32)
    # Divided by the blurred mask, so that the empty outside does not lower the edge.
    share = np.maximum(cv2.GaussianBlur(inside, (0, 0), sigma_px), 1e-3)
    return np.asarray(cv2.GaussianBlur(height, (0, 0), sigma_px) / share * inside)


def _bones(grip: float) -> tuple[tuple[Joint, Joint], ...]:
    """Returns the bones of wrist, back of the hand, four fingers of three bones, and thumb."""
    bones: list[tuple[Joint, Joint]] = [((-190, 0, 28, 24), (-128, 0, 28, 22))]
    for fingers_open, fingers_closed in zip(_OPEN, _CLOSED, strict=True):
        joints = [
            _between(one, other, grip)
            for one, other in zip(fingers_open, fingers_closed, strict=True)
        ]
        bones += list(pairwise(joints))
        # The back of the hand: a bone from the wrist to each knuckle.
        bones.append(((-126, joints[0][1] * 0.45, 30, 19), joints[0]))
    thumb = [
        _between(one, other, grip) for one, other in zip(_THUMB_OPEN, _THUMB_CLOSED, strict=True)
    ]
    return tuple(bones + list(pairwise(thumb)))


def _between(one: Joint, other: Joint, share: float) -> Joint:
    a, r, z, radius = (x + (y - x) * share for x, y in zip(one, other, strict=True))
    return a, r, z, radius


_OPEN: tuple[tuple[Joint, ...], ...] = (
    ((-46, -27, 36, 10.5), (-8, -30, 33, 8.8), (16, -29, 27, 7.8), (34, -27, 22, 6.8)),
    ((-40, -9, 38, 11.0), (2, -9, 36, 9.2), (28, -8, 29, 8.0), (48, -7, 23, 7.0)),
    ((-44, 10, 37, 10.5), (-5, 12, 34, 8.8), (20, 14, 28, 7.8), (38, 15, 22, 6.8)),
    ((-54, 28, 34, 9.5), (-24, 33, 30, 7.8), (-6, 36, 25, 6.8), (9, 38, 20, 6.2)),
)
_CLOSED: tuple[tuple[Joint, ...], ...] = (
    ((-52, -25, 44, 10.5), (-18, -27, 44, 9.0), (2, -17, 28, 8.0), (9, -9, 14, 6.8)),
    ((-48, -8, 46, 11.0), (-12, -9, 47, 9.4), (10, -3, 30, 8.2), (15, 2, 14, 7.0)),
    ((-52, 10, 44, 10.5), (-18, 13, 44, 9.0), (3, 14, 28, 8.0), (9, 13, 14, 6.8)),
    ((-60, 27, 40, 9.5), (-32, 32, 37, 8.0), (-16, 31, 25, 7.0), (-7, 27, 15, 6.2)),
)
_THUMB_OPEN: tuple[Joint, ...] = (
    (-112, -18, 30, 16),
    (-78, -38, 28, 12),
    (-50, -52, 24, 10),
    (-26, -58, 20, 8.2),
)
_THUMB_CLOSED: tuple[Joint, ...] = (
    (-112, -18, 34, 16),
    (-76, -37, 34, 12),
    (-42, -40, 26, 10),
    (-15, -28, 16, 8.4),
)


def _skin(skin: Colour, ahead: Image, right: Image, grip: float) -> NDArray[np.float64]:
    """Returns skin colours with redder knuckles, pale nails and slight mottling."""
    rng = np.random.default_rng(3)
    coarse = rng.standard_normal((ahead.shape[0] // 9 + 2, ahead.shape[1] // 9 + 2))
    mottled = cv2.resize(coarse, ahead.shape[::-1], interpolation=cv2.INTER_CUBIC)
    colour = np.array(skin) * (1 + 0.018 * mottled[..., None])
    for one, other in zip((*_OPEN, _THUMB_OPEN), (*_CLOSED, _THUMB_CLOSED), strict=True):
        joints = [_between(a, b, grip) for a, b in zip(one, other, strict=True)]
        for joint in joints[:-1]:
            colour *= 1 - _spot(ahead, right, joint[:2], 5.5) * np.array([0.02, 0.10, 0.12])
        tip, before = np.array(joints[-1][:2]), np.array(joints[-2][:2])
        nail = tip + (tip - before) / np.linalg.norm(tip - before) * 1.5
        pale = np.clip(_spot(ahead, right, (nail[0], nail[1]), 3.6) * 2.2 - 0.7, 0, 1) * 0.5
        colour += (np.array([240, 206, 192]) - colour) * pale
    return np.asarray(colour)


def _spot(
    ahead: Image, right: Image, at: tuple[float, float], radius_mm: float
) -> NDArray[np.float64]:
    apart2 = (ahead - at[0]) ** 2 + (right - at[1]) ** 2
    return np.exp(-apart2.astype(np.float64) / (2 * (radius_mm * 0.6) ** 2))[..., None]


def _wool(ahead: Image, right: Image) -> Image:
    """Returns the relief of knitted ribs, tighter in the cuff, and of folds in the sleeve."""
    is_cuff = ahead > _CUFF_MM - 22
    ribs = 0.5 * np.abs(np.sin(right * np.where(is_cuff, 0.95, 0.6)))
    folds = 1.6 * np.sin(ahead / 17 + 2.2 * np.sin(ahead / 71) + right / 23)
    return np.asarray(ribs + np.where(is_cuff, 0, folds), dtype=np.float32)


def _lambert(height: Image, heading_deg: float) -> Image:
    """Returns the cosine of the angle between surface normal and light, 0 to 1."""
    toward_x, toward_y = -SHADOW_MM_PER_MM
    heading_rad = math.radians(heading_deg)
    cos, sin = math.cos(heading_rad), math.sin(heading_rad)
    # The direction to the light in the hand's frame: ahead, right, up.
    light = np.array([toward_x * cos + toward_y * sin, toward_x * sin - toward_y * cos, 1.0])
    light /= np.linalg.norm(light)
    smooth = _smoothed(height, 0.8)
    slope_ahead = -np.gradient(smooth, axis=0) * PX_PER_MM
    slope_right = np.gradient(smooth, axis=1) * PX_PER_MM
    length = np.sqrt(slope_ahead**2 + slope_right**2 + 1)
    facing = (-slope_ahead * light[0] - slope_right * light[1] + light[2]) / length
    return np.asarray(np.clip(facing, 0, 1), dtype=np.float32)


_HEIGHT_MM = 40.0
_GRIPS = 4
"""The number of steps in which a hand closes."""
_SHADOW_DOWNSAMPLING = 4
_SHADOW_STRENGTH = 0.55
_SHADOW_SOFT_PX = 9.0
_SHADED = np.round(255 * (1 - _SHADOW_STRENGTH * np.arange(256) / 255) ** (1 / GAMMA)).astype(
    np.uint8
)
_OPAQUE = 60
"""The coverage, of 255, from which a hand hides what is beneath it."""


class HandPainter:
    """Draws hands over the pictures of one camera."""

    def __init__(self, camera: Camera, light: Linear) -> None:
        self._camera = camera
        self._frame = whole(camera)
        # 200 stands for full light, which leaves room for brighter places.
        self._light = np.clip(200 * light ** (1 / GAMMA), 0, 255).astype(np.uint8)

    def draw(self, picture: Picture, hands: Sequence[Hand]) -> None:
        """Draws hands over a picture, in place."""
        # All shadows first: none falls on another hand.
        for hand in hands:
            self._shade(picture, hand)
        for hand in hands:
            self._lay(picture, hand)

    def is_hidden(self, hands: Sequence[Hand], pixels: ArrayLike) -> NDArray[np.bool_]:
        """Returns which pixels (n, 2) a hand or an arm hides."""
        points = np.asarray(pixels, dtype=np.float64)
        hidden = np.zeros(len(points), dtype=bool)
        for hand in hands:
            # Back from the camera's picture to the hand's.
            local = cv2.perspectiveTransform(
                points[:, None], np.linalg.inv(self._to_picture(hand, _HEIGHT_MM, (0.0, 0.0)))
            )[:, 0]
            cover = _picture(hand).image[..., 3]
            column, row = np.rint(local).astype(int).T
            inside = (column >= 0) & (row >= 0)
            inside &= (column < cover.shape[1]) & (row < cover.shape[0])
            hidden[inside] |= cover[row[inside], column[inside]] >= _OPAQUE
        return hidden

    def _lay(self, picture: Picture, hand: Hand) -> None:
        box = self._box(hand, _HEIGHT_MM, (0.0, 0.0)).clipped(self._frame)
        if box.is_empty:
            return
        to_box = _translation(-box.left, -box.top) @ self._to_picture(hand, _HEIGHT_MM, (0.0, 0.0))
        warped = cv2.warpPerspective(_picture(hand).image, to_box, (box.width, box.height))
        light = cv2.merge([self._light[box.slices]] * 3)
        colour = cv2.multiply(np.ascontiguousarray(warped[..., :3]), light, scale=1 / 200)
        transparency = cv2.merge([255 - warped[..., 3]] * 3)
        under = cv2.multiply(picture[box.slices], transparency, scale=1 / 255)
        picture[box.slices] = cv2.add(under, colour)

    def _shade(self, picture: Picture, hand: Hand) -> None:
        offset_mm = (SHADOW_MM_PER_MM[0] * _HEIGHT_MM, SHADOW_MM_PER_MM[1] * _HEIGHT_MM)
        margin = int(3 * _SHADOW_SOFT_PX)
        box = self._box(hand, 0.0, offset_mm)
        box = Box(box.left - margin, box.top - margin, box.right + margin, box.bottom + margin)
        box = box.clipped(self._frame)
        if box.is_empty:
            return
        size = (box.width // _SHADOW_DOWNSAMPLING + 1, box.height // _SHADOW_DOWNSAMPLING + 1)
        # The shadow is blurred anyway, so a quarter of the resolution is enough.
        scaling = np.diag([1 / _SHADOW_DOWNSAMPLING, 1 / _SHADOW_DOWNSAMPLING, 1.0])
        to_box = (
            scaling @ _translation(-box.left, -box.top) @ self._to_picture(hand, 0.0, offset_mm)
        )
        cover = cv2.warpPerspective(_picture(hand).image[..., 3], to_box, size)
        cover = cv2.GaussianBlur(cover, (0, 0), _SHADOW_SOFT_PX / _SHADOW_DOWNSAMPLING)
        full = cv2.resize(cover, (size[0] * _SHADOW_DOWNSAMPLING, size[1] * _SHADOW_DOWNSAMPLING))
        factor = cv2.LUT(full[: box.height, : box.width], _SHADED)
        shaded = cv2.multiply(picture[box.slices], cv2.merge([factor] * 3), scale=1 / 255)
        picture[box.slices] = shaded

    def _box(self, hand: Hand, height_mm: float, offset_mm: tuple[float, float]) -> Box:
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
        to_picture = self._to_picture(hand, height_mm, offset_mm)
        return Box.around(cv2.perspectiveTransform(corners[:, None], to_picture)[:, 0], 2)

    def _to_picture(self, hand: Hand, height_mm: float, offset_mm: tuple[float, float]) -> Array:
        """Returns the homography from the hand's picture to the camera's, exact at the fingers."""
        around = np.array([(50.0, -60.0), (50.0, 60.0), (-250.0, 60.0), (-250.0, -60.0)])
        heading_rad = math.radians(hand.heading_deg)
        cos, sin = math.cos(heading_rad), math.sin(heading_rad)
        x = hand.x_mm + around[:, 0] * cos + around[:, 1] * sin + offset_mm[0]
        y = hand.y_mm + around[:, 0] * sin - around[:, 1] * cos + offset_mm[1]
        pixels = self._camera.to_image(np.column_stack([x, y, np.full(4, height_mm)]))
        homography = cv2.getPerspectiveTransform(
            HandPicture.pixels(around).astype(np.float32), pixels.astype(np.float32)
        )
        return np.asarray(homography, dtype=np.float64)


def _picture(hand: Hand) -> HandPicture:
    """Returns the hand's picture, cached by side, grip and direction."""
    # Two directions of light suffice: players sit at two opposite edges.
    facing_deg = 90.0 if math.sin(math.radians(hand.heading_deg)) > 0 else 270.0
    return _cached_picture(hand.side, round(hand.grip * _GRIPS), facing_deg)


@lru_cache(maxsize=32)
def _cached_picture(side: str, grip: int, facing_deg: float) -> HandPicture:
    return hand_picture(side, grip / _GRIPS, facing_deg)


def _translation(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
