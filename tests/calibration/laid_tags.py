"""Tables whose tags a hand laid more or less accurately, as a camera sees them; no pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera
from calibration.extrinsics.table_tags import (
    PATTERN_SCALE_SPREAD,
    SIDES_ENDS_ALIKE,
    SIDES_SIGMA_PX,
    FoundTag,
)
from calibration.extrinsics.tag_adjustment import TagAdjustment
from calibration.lens import LensPrior

ARM_MM = 80.0
"""A hand is assumed to turn tags by its place error over a tag and a third."""
OVERSTATED = 1.1
"""The ratio of patterns' stated to actual errors, on average over footage and simulation."""
_INWARD_PX = -0.2
"""The bias of a side by gamma and blur."""


@dataclass(frozen=True, eq=False)
class LaidTable:
    """A table under a camera whose lens was calibrated with `lens_covariance` (9, 9).

    Tags are listed at `listed_mm`, by id. A fitted side is off by `side_off_px` and its ends by
    `side_turned_px` relative to each other: one standard deviation each. That is also stated if
    tags are `read_by_pattern`; else the usual error of sides is.
    """

    camera: Camera
    listed_mm: Mapping[int, tuple[float, float]]
    size_mm: float
    lens_covariance: np.ndarray
    side_off_px: float
    side_turned_px: float
    read_by_pattern: bool = False

    def seen(self, rng: np.random.Generator, laid_mm: float) -> TagAdjustment:
        """The adjustment from one picture of tags laid with this standard deviation each way."""
        tags = []
        for tag, listed_mm in self.listed_mm.items():
            place_mm = np.array(listed_mm) + rng.normal(0, laid_mm, 2)
            corners_px = self.corners_px(place_mm, rng.normal(0, laid_mm / ARM_MM))
            tags.append(self._found(tag, self._as_fitted(corners_px, rng)))
        true = self.camera.lens
        numbers = rng.multivariate_normal(true.parameters, self.lens_covariance, method="svd")
        prior = LensPrior(true.with_parameters(numbers), self.lens_covariance)
        return TagAdjustment.of(tags, self.listed_mm, self.size_mm, prior)

    def _found(self, tag: int, corners_px: np.ndarray) -> FoundTag:
        """A tag as its finder reports it."""
        if not self.read_by_pattern:
            return FoundTag.of_sides(tag, corners_px, SIDES_SIGMA_PX, SIDES_ENDS_ALIKE)
        off, turned = np.square(self.side_off_px), np.square(self.side_turned_px)
        sigma_px, alike = OVERSTATED * np.sqrt(off + turned), (off - turned) / (off + turned)
        tag_found = FoundTag.of_sides(tag, corners_px, sigma_px, alike)
        return replace(tag_found, scale_spread=PATTERN_SCALE_SPREAD)

    def corners_px(self, place_mm, turn_rad: float) -> np.ndarray:
        """The true corners (4, 2) of a tag at a place, turned by an angle."""
        half = self.size_mm / 2
        square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
        cos, sin = np.cos(turn_rad), np.sin(turn_rad)
        flat = square @ [[cos, sin], [-sin, cos]] + place_mm
        return self.camera.to_image(np.column_stack([flat, np.zeros(4)]))

    def _as_fitted(self, corners_px: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The intersections of sides, each shifted and turned about its middle at random."""
        ends = np.roll(corners_px, -1, axis=0)
        along = (ends - corners_px) / np.linalg.norm(ends - corners_px, axis=1, keepdims=True)
        outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
        off = rng.normal(_INWARD_PX, self.side_off_px, (4, 1))
        turned = rng.normal(0, self.side_turned_px, (4, 1))
        lines = np.cross(
            np.column_stack([corners_px + (off - turned) * outward, np.ones(4)]),
            np.column_stack([ends + (off + turned) * outward, np.ones(4)]),
        )
        meet = np.cross(np.roll(lines, 1, axis=0), lines)
        return meet[:, :2] / meet[:, 2:]
