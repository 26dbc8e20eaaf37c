"""Finds the table's fixed tags in a picture and fits corners to their patterns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.extrinsics.tag_pattern import fit_pattern
from calibration.extrinsics.tag_sides import corners_covariance, fit_sides, meeting_points
from calibration.lens import Lens

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

SIDES_SIGMA_PX = 0.1
"""Sigma of a corner where two fitted sides meet, measured on rendered tables, without gamma's
inward bias."""

SIDES_ENDS_ALIKE = -0.6
"""Correlation of the errors of a fitted side's two ends: one tends outward, the other inward. A
line through evenly spaced pixels over 85 % of its length has half the error in its middle as at its
ends (sqrt(3) / 0.85): -0.61. On the shared footage, sides were off by 0.033 and 0.046 px, and their
ends by 0.058 and 0.123 px relative to each other (hd-b, uhd-b): -0.51 and -0.75."""

SIDES_SCALE_SPREAD = math.inf
"""No prior on the scale of these errors: it depends on the camera (0.4 to 1.3 times on good
pictures), and a table's tags determine it."""

PATTERN_SCALE_SPREAD = 0.2
"""Prior on the scale if a whole pattern is fitted and its errors estimated from its pixels: on the
shared footage and on simulated tables of 1080p and 4K corners err by 0.8 to 1.1 times what is
stated."""

FOUND_SIGMA_PX = 0.5
"""Sigma of a corner of a tag that could not be fitted, with something on a side."""

_FARTHEST_FIT_CELLS = 0.5
_SMALL_PICTURE_PX = 2500


@dataclass(frozen=True, slots=True, eq=False)
class FoundTag:
    """A tag in a picture: its black square's corners (4, 2), from its top left clockwise.

    `covariance_px2` (8, 8) is of the corners' x and y, corner by corner. `scale_spread` is its own
    uncertainty: the standard deviation of the logarithm of a factor on all sigmas.
    """

    id: int
    corners_px: Array
    covariance_px2: Array
    scale_spread: float = SIDES_SCALE_SPREAD

    def __post_init__(self) -> None:
        if self.corners_px.shape != (4, 2):
            raise ValueError(f"expected 4 corners, got shape {self.corners_px.shape}")
        if self.covariance_px2.shape != (8, 8):
            raise ValueError(f"expected an 8x8 covariance, got shape {self.covariance_px2.shape}")

    @classmethod
    def of_sides(
        cls, number: int, corners_px: Array, sigma_px: float, end_correlation: float = 0.0
    ) -> FoundTag:
        """Makes a tag from fitted sides: see `corners_covariance`."""
        return cls(number, corners_px, corners_covariance(corners_px, sigma_px, end_correlation))


def tag_dictionary(name: str) -> cv2.aruco.Dictionary:
    """Returns the ArUco dictionary of a name such as `DICT_4X4_250`.

    Raises:
        CalibrationError: OpenCV has no dictionary of that name.
    """
    number = getattr(cv2.aruco, name, None) if name.startswith("DICT_") else None
    if number is None:
        raise CalibrationError(f"expected an ArUco dictionary such as DICT_4X4_250, got {name!r}")
    return cv2.aruco.getPredefinedDictionary(number)


def find_tags(
    picture: Picture, dictionary: str, ids: Iterable[int], lens: Lens | None = None
) -> tuple[FoundTag, ...]:
    """Finds tags of `ids` in a grey picture, ordered by id.

    If an id is read twice, the larger one counts: false tags are small. If some are missing, a
    small picture is searched again at twice its size. The `lens`, if known, predicts how curved
    tags are; without it only their sides are fitted.
    """
    tags = tag_dictionary(dictionary)
    wanted_ids = set(ids)
    quads = _detected(picture, tags, wanted_ids, enlarged=1)
    # Enlarging helps OpenCV to find tags of a few pixels a cell.
    if wanted_ids - quads.keys() and max(picture.shape) < _SMALL_PICTURE_PX:
        # Detections in the original picture take precedence.
        quads = _detected(picture, tags, wanted_ids, enlarged=2) | quads
    return tuple(
        _fitted(picture, number, quads[number], _inner_cells(tags, number), lens)
        for number in sorted(quads)
    )


def _detected(
    picture: Picture, tags: cv2.aruco.Dictionary, wanted_ids: set[int], *, enlarged: int
) -> dict[int, Array]:
    """Returns the corners (4, 2) of the largest detection of each wanted id."""
    searched = picture if enlarged == 1 else cv2.resize(picture, None, fx=enlarged, fy=enlarged)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, ids, _ = cv2.aruco.ArucoDetector(tags, parameters).detectMarkers(searched)
    quads: dict[int, Array] = {}
    for number, quad in zip([] if ids is None else ids.ravel(), corners, strict=True):
        # Pixel centres are at integers, so scale about the corner of the picture.
        quad_px = (np.asarray(quad, dtype=np.float64).reshape(4, 2) + 0.5) / enlarged - 0.5
        known = quads.get(int(number))
        if int(number) in wanted_ids and (known is None or _area(known) < _area(quad_px)):
            quads[int(number)] = quad_px
    return quads


def _area(quad_px: Array) -> float:
    """Returns the area of a quad (4, 2)."""
    return float(cv2.contourArea(quad_px.astype(np.float32)))


def _inner_cells(tags: cv2.aruco.Dictionary, number: int) -> Array:
    """Returns the cells inside a tag's black border, 1 where white, the top row first."""
    return np.asarray(
        tags.getBitsFromByteList(tags.bytesList[number : number + 1], tags.markerSize)
    )


def _fitted(
    picture: Picture, number: int, quad_px: Array, inner: Array, lens: Lens | None
) -> FoundTag:
    """Fits a detected tag: by its pattern, else by its sides, else as detected."""
    # Two cells more for the black border.
    cell_px = np.sqrt(_area(quad_px)) / (len(inner) + 2)

    def is_near(corners_px: Array) -> bool:
        # A fit far from the detection has settled on another edge.
        moved_px = np.linalg.norm(corners_px - quad_px, axis=1)
        return bool(np.all(moved_px < _FARTHEST_FIT_CELLS * cell_px))

    # The pattern first: it fits all edges of a tag; the sides are only a third of them.
    pattern = None if lens is None else fit_pattern(picture, quad_px, inner, lens)
    if pattern is not None and is_near(pattern.corners_px):
        return FoundTag(number, pattern.corners_px, pattern.covariance_px2, PATTERN_SCALE_SPREAD)
    sides = fit_sides(picture, quad_px, cell_px, lens)
    if sides is not None and is_near(corners_px := meeting_points(sides)):
        return FoundTag.of_sides(number, corners_px, SIDES_SIGMA_PX, SIDES_ENDS_ALIKE)
    return FoundTag.of_sides(number, quad_px, FOUND_SIGMA_PX)
