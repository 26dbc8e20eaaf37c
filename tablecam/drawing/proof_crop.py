"""Crops a camera's picture to a place on the table and enlarges it to be legible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.drawing.labels import box_of
from tablecam.drawing.pen import Array, Picture, points_of
from tablecam.drawing.proof_ground import EvidenceHeights

LEAST_WIDTH_PX: Final = 900
"""A narrower crop is enlarged to this width."""
_NARROWEST, _WIDEST = 1.2, 2.2
"""Limits of a crop's aspect ratio: a long thin one would not show where on the table it is."""
_LEAST_MARGINS: Final = 5.0
"""The least width of a crop, in margins."""
_BEYOND: Final = 0.06
"""Shapes are drawn this far beyond the crop, so that their clipped edges do not show."""
_STEP_MM: Final = 8.0
"""Lenses bend lines, so shapes are projected point by point; over 8 mm the bend is under 0.01
px."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A rectangle of a camera's picture and its enlargement."""

    camera: Camera
    ground: EvidenceHeights
    left_px: int
    top_px: int
    width_px: int
    height_px: int

    @property
    def scale(self) -> float:
        """Pixels of the crop per pixel of the camera, in each direction."""
        return max(1.0, LEAST_WIDTH_PX / self.width_px)

    def of(self, picture: Picture) -> Picture:
        """Returns this part of a picture (height, width, 3)."""
        right_px, bottom_px = self.left_px + self.width_px, self.top_px + self.height_px
        part = picture[self.top_px : bottom_px, self.left_px : right_px]
        if self.scale == 1.0:
            return part.copy()
        size = (round(self.width_px * self.scale), round(self.height_px * self.scale))
        return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)

    def pixels(self, places_mm: Array, *, level_with_mm: Array | None = None) -> Array:
        """Projects table places (n, 2) to pixels of the crop, (n, 2).

        Each lies on the ground, or all at the height of the ground at one place `level_with_mm`
        (2,).
        """
        at_mm = places_mm if level_with_mm is None else np.tile(level_with_mm, (len(places_mm), 1))
        camera_px = _seen_px(self.camera, places_mm, self.ground.heights_mm(at_mm))
        corner_px = np.array([self.left_px, self.top_px])
        # Pixel centres are at integers, so the scaling is about the crop's corner.
        return np.asarray((camera_px - corner_px + 0.5) * self.scale - 0.5)

    def outlines(self, geometry: shapely.Geometry) -> list[Array]:
        """Clips a geometry to the crop; returns each part as pixels (n, 2).

        A polygon's points do not repeat the first; its holes are left out.
        """
        clipped = shapely.intersection(shapely.make_valid(geometry), self._seen_ground())
        parts = shapely.get_parts(shapely.segmentize(clipped, _STEP_MM))
        return [self.pixels(points_of(part)) for part in parts if not part.is_empty]

    def _seen_ground(self) -> shapely.Geometry:
        """Returns the part of the table visible at any height of its ground, slightly enlarged."""
        share = np.linspace(-_BEYOND, 1 + _BEYOND, 9)
        x, y = np.meshgrid(share * self.width_px, share * self.height_px)
        edge_px = np.stack([x + self.left_px, y + self.top_px], axis=-1).reshape(-1, 2)
        levels_mm = self.ground.levels_mm
        # A pixel shows a different place at each height.
        places_mm = np.concatenate([self.camera.to_table(edge_px, level) for level in levels_mm])
        # Pixels above the horizon see no place.
        hull = shapely.MultiPoint(places_mm[np.isfinite(places_mm).all(axis=-1)])
        return shapely.convex_hull(hull)


def crop_around(
    places_mm: Iterable[NDArray[np.float64]],
    camera: Camera,
    *,
    ground: EvidenceHeights,
    margin_mm: float,
) -> Cut:
    """Returns the crop that shows the places (each (n, 2)) with a margin around them.

    The whole picture if it shows none of them.
    """
    lens = camera.lens
    size_px = np.array([lens.width_px, lens.height_px], dtype=np.float64)
    places = np.concatenate([np.zeros((0, 2)), *places_mm])
    heights_mm = ground.heights_mm(places)
    seen_px = _seen_px(camera, places, heights_mm)
    # Places outside the picture must not pull the crop toward them.
    is_seen = (seen_px >= 0).all(axis=-1) & (seen_px < size_px).all(axis=-1)
    if not is_seen.any():
        return Cut(camera, ground, 0, 0, lens.width_px, lens.height_px)
    px_per_mm = camera.px_per_mm(places[is_seen], heights_mm[is_seen])
    # At the largest scale among the places, so that the margin is nowhere smaller than requested.
    margin_px = margin_mm * float(np.max(px_per_mm))
    box = box_of(seen_px[is_seen])
    sides_px = _sides_px(box[2:] - box[:2] + 2 * margin_px, _LEAST_MARGINS * margin_px, size_px)
    # Shift it into the picture rather than shrink it.
    low = np.clip((box[:2] + box[2:] - sides_px) / 2, 0, size_px - sides_px)
    left, top, width, height = (int(value) for value in np.floor([*low, *sides_px]))
    return Cut(camera, ground, left, top, width, height)


def _sides_px(requested_px: Array, least_px: float, most_px: Array) -> Array:
    """Returns width and height of a crop, neither too thin nor larger than the picture."""
    width, height = np.maximum(requested_px, least_px)
    # Too thin a crop is widened, never cut: the places must stay visible.
    width, height = max(width, _NARROWEST * height), max(height, width / _WIDEST)
    return np.minimum(np.ceil([width, height]), most_px)


def _seen_px(camera: Camera, places_mm: Array, heights_mm: Array) -> Array:
    """Projects table places (n, 2) at their heights (n,) to pixels."""
    return camera.to_image(np.column_stack([places_mm, heights_mm]))
