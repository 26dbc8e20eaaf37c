"""Pictures of tags on a plain table, drawn pixel by pixel: slow, obvious, and with none of our code
except the camera.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.table.model import TableSize
from tablecam.table.roster import BaseType, Roster, TableTag, UnitEntry

_SUBPIXELS = 4
_TABLE_LIGHT, _WHITE, _BLACK = 0.25, 0.8, 0.05

LENS = Lens(900, 640, 700.0, 700.0, 452.0, 318.0, k1=-0.08, k2=0.01, p1=0.0005, p2=-0.0003)
CAMERA = Camera(LENS, Pose((math.pi - 0.1, 0.05, 0.03), (-210.0, 150.0, 480.0)), "drawn")
"""About 1.4 px a millimetre over a table of 420 x 300 mm."""

FOOT = BaseType("foot", 40, 40, 15, tag_forward_mm=-10, tag_height_mm=3)
GUN = BaseType("gun", 60, 40, 20, tag_right_mm=10, tag_forward_mm=-6, tag_height_mm=3)
ROSTER = Roster(
    game="maurice-lite",
    table=TableSize(420, 300, 40),
    dictionary="DICT_4X4_250",
    table_tag_size_mm=36,
    table_tags=tuple(
        TableTag(number, x_mm, y_mm)
        for number, (x_mm, y_mm) in enumerate([(35, 35), (385, 35), (385, 265), (35, 265)])
    ),
    base_types=(FOOT, GUN),
    units=(
        UnitEntry("F1", "french", "infantry", FOOT, (10, 11, 12, 13)),
        UnitEntry("A1", "french", "artillery", GUN, (20,)),
    ),
    commanders=(),
    terrain=(),
)


@dataclass(frozen=True)
class Print:
    """A tag as it lies on a table."""

    tag: int
    x_mm: float
    y_mm: float
    heading_deg: float
    size_mm: float = FOOT.tag_size_mm
    height_mm: float = FOOT.tag_height_mm
    dictionary: str = "DICT_4X4_250"


def picture_of(
    prints: list[Print],
    camera: Camera = CAMERA,
    *,
    blur_px: float = 0.6,
    noise_grey: float = 2.0,
    light: float = 1.0,
    seed: int = 0,
) -> np.ndarray:
    """A grey picture: light, blurred, encoded with gamma 2.2, and with noise."""
    shown = np.full((camera.lens.height_px, camera.lens.width_px), _TABLE_LIGHT)
    for printed in prints:
        _lay(shown, camera, printed)
    blurred = cv2.GaussianBlur(shown * light, (0, 0), blur_px)
    noise = np.random.default_rng(seed).normal(0, noise_grey, shown.shape)
    return np.clip(255 * blurred ** (1 / 2.2) + noise, 0, 255).round().astype(np.uint8)


def cover(picture: np.ndarray, camera: Camera, x_mm: float, y_mm: float, radius_mm: float) -> None:
    """Draw a dark disc, like a figure, over a place in a picture."""
    ((x_px, y_px),) = camera.to_image(np.array([[x_mm, y_mm, 3.0]]))
    radius_px = radius_mm * float(camera.px_per_mm(np.array([[x_mm, y_mm]]))[0])
    cv2.circle(picture, (round(x_px), round(y_px)), round(radius_px), 40, -1, cv2.LINE_AA)


def _lay(shown: np.ndarray, camera: Camera, each: Print) -> None:
    """Draw one tag with its white rim."""
    part, share, value = _drawn(camera, each)
    shown[part] = shown[part] * (1 - share) + value


@cache
def _drawn(camera: Camera, each: Print) -> tuple[tuple[slice, slice], np.ndarray, np.ndarray]:
    """The region of a tag and its rim, their cover there, and their light.

    Each pixel has the mean of points within it. Cached, as many pictures show the same.
    """
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, each.dictionary))
    across = dictionary.markerSize + 2
    cells = np.pad(
        cv2.aruco.generateImageMarker(dictionary, each.tag, across) > 127, 1, constant_values=True
    )
    cell_mm = each.size_mm / across
    reach_mm = (across / 2 + 1) * cell_mm
    ((x_px, y_px),) = camera.to_image(np.array([[each.x_mm, each.y_mm, each.height_mm]]))
    half_px = int(1.5 * reach_mm * camera.px_per_mm(np.array([[each.x_mm, each.y_mm]]))[0]) + 2
    left, top = int(x_px) - half_px, int(y_px) - half_px
    steps = (np.arange(2 * half_px * _SUBPIXELS) + 0.5) / _SUBPIXELS - 0.5
    points_px = np.stack(np.meshgrid(left + steps, top + steps), axis=-1).reshape(-1, 2)
    away = camera.to_table(points_px, each.height_mm) - [each.x_mm, each.y_mm]
    heading = math.radians(each.heading_deg)
    up = away @ [math.cos(heading), math.sin(heading)]
    right = away @ [math.sin(heading), -math.cos(heading)]
    on_tag = np.maximum(np.abs(up), np.abs(right)) < reach_mm
    row = ((reach_mm - up) / cell_mm).clip(0, across + 1).astype(int)
    column = ((reach_mm + right) / cell_mm).clip(0, across + 1).astype(int)
    values = np.where(cells[row, column], _WHITE, _BLACK)
    side = (2 * half_px, _SUBPIXELS, 2 * half_px, _SUBPIXELS)
    share = on_tag.reshape(side).mean(axis=(1, 3))
    value = np.where(on_tag, values, 0.0).reshape(side).mean(axis=(1, 3))
    part = slice(top, top + 2 * half_px), slice(left, left + 2 * half_px)
    return part, share, value
