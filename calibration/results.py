"""What a calibration found, how well, and from what: the facts that a camera file keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.camera import CAMERA_PARAMETERS, Pose
from calibration.lens import LENS_PARAMETERS, Lens

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Origin:
    """When something was calibrated (ISO 8601, in UTC) and from which pictures."""

    made_at: str
    made_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ViewError:
    """How far a board view's corners lie from where the found lens puts them."""

    name: str
    rms_px: float
    corners: int
    corners_left_out: int = 0


@dataclass(frozen=True, slots=True)
class LensCalibration:
    """A lens found from views of a board.

    `covariance` (9, 9) is ordered as `LENS_PARAMETERS`. `rms_px` is the reprojection error: the
    root of the mean squared distance between a corner and where the lens puts it.
    """

    lens: Lens
    covariance: Array = field(compare=False, repr=False)
    rms_px: float
    views: tuple[ViewError, ...]
    origin: Origin

    def __post_init__(self) -> None:
        _check_covariance(self.covariance, len(LENS_PARAMETERS))

    @property
    def sigmas(self) -> Array:
        """One standard deviation of each parameter, (9,), ordered as `LENS_PARAMETERS`."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True, slots=True)
class TagResidual:
    """How far beside its listed place a table tag is seen, on the table.

    `used` is False for a tag that disagrees with the others and was left out: it was moved, is
    listed at the wrong place, or was read wrongly.
    """

    id: int
    dx_mm: float
    dy_mm: float
    used: bool = True

    @property
    def distance_mm(self) -> float:
        """How far the tag is from where it is listed."""
        return float(np.hypot(self.dx_mm, self.dy_mm))


@dataclass(frozen=True, slots=True)
class TableCalibration:
    """A camera's place over its table, with the lens as the table's picture refined it.

    `covariance` (15, 15) is ordered as `CAMERA_PARAMETERS`. `sigma_mm` is the mean standard
    deviation that the calibration alone leaves of a place within the table tags.
    """

    lens: Lens
    pose: Pose
    covariance: Array = field(compare=False, repr=False)
    rms_px: float
    sigma_mm: float
    tags: tuple[TagResidual, ...]
    origin: Origin

    def __post_init__(self) -> None:
        _check_covariance(self.covariance, len(CAMERA_PARAMETERS))


def _check_covariance(covariance: Array, size: int) -> None:
    if covariance.shape != (size, size):
        raise ValueError(f"expected a {size}x{size} covariance, got shape {covariance.shape}")
