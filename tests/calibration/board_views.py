"""Board views of a known lens, made by projection, without pictures."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.intrinsics.board import BoardView
from calibration.lens import Lens

LENS = Lens(1920, 1080, 1650.0, 1648.0, 965.0, 531.0, -0.22, 0.05, 0.0008, -0.0006, 0.002)
BOARD_MM = np.array([[x * 25.0, y * 25.0, 0.0] for y in range(1, 8) for x in range(1, 11)])
_MIDDLE_MM = BOARD_MM.mean(axis=0)


def projected(lens: Lens, tilt_deg: tuple[float, float, float], middle_mm) -> np.ndarray:
    """The board's corners (70, 2), turned about its middle, which is held at `middle_mm`."""
    rotation, _ = cv2.Rodrigues(np.radians(tilt_deg))
    translation = np.asarray(middle_mm) - rotation @ _MIDDLE_MM
    points, _ = cv2.projectPoints(
        BOARD_MM, np.radians(tilt_deg), translation, lens.matrix, lens.distortion
    )
    return points.reshape(-1, 2)


def view(
    name: str,
    corners_px: np.ndarray,
    lens: Lens = LENS,
    *,
    blur_px: float = 0.7,
    seen: slice = slice(None),
) -> BoardView:
    """A view with these corners."""
    ids = np.arange(len(BOARD_MM))[seen]
    return BoardView(
        name, lens.width_px, lens.height_px, BOARD_MM[seen], corners_px[seen], ids, blur_px
    )


def many_views(rng: np.random.Generator, *, count: int = 12, noise_px: float = 0.05):
    """Views all over the field, tilted in every direction, with Gaussian noise on their corners."""
    views = []
    while len(views) < count:
        middle = [*rng.uniform([-240, -130], [240, 130]), rng.uniform(550, 750)]
        corners = projected(LENS, tuple(rng.uniform(-30, 30, 3)), middle)
        if (corners > 5).all() and (corners < [LENS.width_px - 6, LENS.height_px - 6]).all():
            noise = rng.normal(scale=noise_px, size=corners.shape)
            views.append(view(f"view-{len(views) + 1}", corners + noise))
    return views
