"""Holds the results of calibrations: the facts that a camera file stores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.camera import CAMERA_PARAMETERS, Pose
from calibration.lens import LENS_PARAMETERS, Lens

Array = NDArray[np.float64]

_FITS_FACTOR = 3.0
_FITS_LEAST_MM = 1.0


@dataclass(frozen=True, slots=True)
class Origin:
    """The time of a calibration (ISO 8601, in UTC) and the pictures it was made from."""

    made_at: str
    made_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ViewError:
    """The distance of a board view's corners from where the lens predicts them."""

    name: str
    rms_px: float
    corners: int
    corners_left_out: int = 0


@dataclass(frozen=True, slots=True)
class LensCalibration:
    """A lens calibrated from views of a board.

    `covariance` (9, 9) is ordered as `LENS_PARAMETERS`. `rms_px` is the reprojection error: the
    root mean square distance between a corner and its prediction.
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
        """The standard deviation of each parameter, (9,), ordered as `LENS_PARAMETERS`."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True, slots=True)
class TagResidual:
    """The offset of a table tag from its listed place, on the table.

    `used` is False for a tag that disagrees with the others and was left out: it was moved, is
    listed at the wrong place, or was misread.
    """

    id: int
    dx_mm: float
    dy_mm: float
    used: bool = True

    @property
    def distance_mm(self) -> float:
        """The distance of the tag from its listed place."""
        return float(np.hypot(self.dx_mm, self.dy_mm))


@dataclass(frozen=True, slots=True)
class TableCalibration:
    """A camera's pose over its table, with the lens as the table's picture refined it.

    `covariance` (15, 15) is ordered as `CAMERA_PARAMETERS`. `sigma_mm` is the mean standard
    deviation of places within the table tags, from the calibration alone.
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

    @property
    def fits_within_mm(self) -> float:
        """The rms offset of the table tags above which the calibration no longer fits.

        Three times what it stated itself, from the tags' own offsets and `sigma_mm`; at least 1 mm,
        as smaller offsets hardly move a base.
        """
        squares = [tag.distance_mm**2 for tag in self.tags if tag.used]
        stated_mm = float(np.hypot(np.sqrt(np.mean(squares or [0.0])), self.sigma_mm))
        return max(_FITS_FACTOR * stated_mm, _FITS_LEAST_MM)


def _check_covariance(covariance: Array, size: int) -> None:
    """Raises ValueError if a covariance has the wrong shape."""
    if covariance.shape != (size, size):
        raise ValueError(f"expected a {size}x{size} covariance, got shape {covariance.shape}")
