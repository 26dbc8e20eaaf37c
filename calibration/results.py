"""Holds the results of calibrations: the facts that a camera file stores."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import CAMERA_PARAMETERS, LEAST_TAGS, Camera, Pose
from calibration.errors import CalibrationError
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


@dataclass(frozen=True, slots=True)
class CameraFile:
    """A camera file: a camera's lens, its pose over the table, or both.

    `name` is the calibration's and is stored with measurements; `title` is its name for people,
    empty if they gave none. `source` is the file's name in errors.
    """

    name: str
    width_px: int
    height_px: int
    lens: LensCalibration | None = None
    table: TableCalibration | None = None
    source: str = field(default="camera file", compare=False)
    title: str = ""

    def __post_init__(self) -> None:
        if self.lens is None and self.table is None:
            raise ValueError("expected a lens, a table or both, got neither")

    @property
    def shown_title(self) -> str:
        """The calibration's title: by default its source and the day."""
        part = self.table or self.lens
        assert part is not None, "a camera file holds one of them"
        made_from = next(iter(part.origin.made_from), self.name)
        return self.title or f"{made_from}, {part.origin.made_at[:10]}"

    def camera(self, tags_mm: ArrayLike | None = None) -> Camera:
        """Returns the camera over its table, with the joint covariance of lens and pose.

        Args:
            tags_mm: The places of the table's tags, (n, 2), of which it must see three.

        Raises:
            CalibrationError: The file has no table, or its camera does not see the table.
        """
        if self.table is None:
            raise CalibrationError(
                f"{self.source}: table: expected a table calibration, found only a lens: "
                "run `tablecam calibrate table` first"
            )
        camera = Camera(
            self.table.lens,
            self.table.pose,
            self.name,
            self.table.covariance,
            self.shown_title,
            self.table.fits_within_mm,
        )
        if tags_mm is not None and (seen := int(camera.sees(tags_mm).sum())) < LEAST_TAGS:
            raise CalibrationError(
                f"{self.source}: table: expected a camera that sees {LEAST_TAGS} of the table's "
                f"tags or more, got one that sees {seen}"
            )
        return camera

    def check_picture_size(self, width_px: int, height_px: int, picture_name: str) -> None:
        """Refuses a picture that this camera cannot have taken.

        Raises:
            CalibrationError: The picture's size is not the camera file's.
        """
        if (width_px, height_px) != (self.width_px, self.height_px):
            raise CalibrationError(
                f"{picture_name}: expected a picture of {self.width_px}x{self.height_px} px as in "
                f"{self.source}, got {width_px}x{height_px}"
            )


def calibration_name(made_at: datetime, *results: LensCalibration | TableCalibration) -> str:
    """Returns a name for a calibration: the time and six letters of a hash of its results.

    It is valid in file names on every system.
    """
    digest = hashlib.sha256()
    for result in results:
        # The hash covers all results: two calibrations made in one second still get different
        # names.
        digest.update(result.lens.parameters.tobytes() + result.covariance.tobytes())
        if isinstance(result, TableCalibration):
            digest.update(repr(result.pose).encode())
    return f"{made_at:%Y%m%d-%H%M%S}-{digest.hexdigest()[:6]}"


def _check_covariance(covariance: Array, size: int) -> None:
    """Raises ValueError if a covariance has the wrong shape."""
    if covariance.shape != (size, size):
        raise ValueError(f"expected a {size}x{size} covariance, got shape {covariance.shape}")
