"""The table's fixed tags in a picture, with corners fitted to the pixels of their sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.lens import Lens
from calibration.tag_sides import fit_sides, meeting_points

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

FITTED_SIGMA_PX = 0.1
"""How well a fitted corner is known; measured on rendered tables, the inward bias of gamma aside.
"""

FOUND_SIGMA_PX = 0.5
"""How well a corner is known of a tag whose sides could not be fitted: something lies on one."""

FITTED_ENDS_ALIKE = -0.6
"""How the two ends of a fitted side err together, across it: rather one outward and one inward.

A line through evenly many pixels over 85 % of its length is known twice as well in its middle as at
its ends (sqrt(3) / 0.85): -0.61. On the shared footage, sides were off by 0.033 and 0.046 px, and
their ends by 0.058 and 0.123 px one against the other (hd-b, uhd-b): -0.51 and -0.75.
"""

_FARTHEST_FIT_CELLS = 0.5
_SMALL_PICTURE_PX = 2500


@dataclass(frozen=True, slots=True, eq=False)
class FoundTag:
    """A tag in a picture: its black square's corners (4, 2), from its top left clockwise.

    `sigma_px` is one standard deviation of a corner in each direction; `ends_alike` the correlation
    of the errors, across a side, of its two ends.
    """

    id: int
    corners_px: Array
    sigma_px: float
    ends_alike: float = 0.0

    def __post_init__(self) -> None:
        if self.corners_px.shape != (4, 2):
            raise ValueError(f"expected 4 corners, got shape {self.corners_px.shape}")


def tag_dictionary(name: str) -> cv2.aruco.Dictionary:
    """The ArUco dictionary of a name such as `DICT_4X4_250`.

    Raises:
        CalibrationError: OpenCV has no dictionary of that name.
    """
    number = getattr(cv2.aruco, name, None) if name.startswith("DICT_") else None
    if number is None:
        raise CalibrationError(f"tags.dictionary: expected one of OpenCV's, got {name!r}")
    return cv2.aruco.getPredefinedDictionary(number)


def find_tags(
    picture: Picture, dictionary: str, ids: Iterable[int], lens: Lens | None = None
) -> tuple[FoundTag, ...]:
    """Those tags of `ids` that a grey picture shows, ordered by id.

    Where an id is read twice, the larger one counts: a false tag is a small one. Where some are
    missing, a small picture is searched again at twice its size. The lens, where one is known,
    says how bent the tags' sides are.
    """
    tags = tag_dictionary(dictionary)
    wanted = set(ids)
    quads = _detected(picture, tags, wanted, enlarged=1)
    if wanted - quads.keys() and max(picture.shape) < _SMALL_PICTURE_PX:
        quads = _detected(picture, tags, wanted, enlarged=2) | quads
    cells = tags.markerSize + 2
    return tuple(_refined(picture, number, quads[number], cells, lens) for number in sorted(quads))


def _detected(
    picture: Picture, tags: cv2.aruco.Dictionary, wanted: set[int], *, enlarged: int
) -> dict[int, Array]:
    searched = picture if enlarged == 1 else cv2.resize(picture, None, fx=enlarged, fy=enlarged)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, ids, _ = cv2.aruco.ArucoDetector(tags, parameters).detectMarkers(searched)
    found: dict[int, Array] = {}
    for number, quad in zip([] if ids is None else ids.ravel(), corners, strict=True):
        # A pixel's centre moves by half of what a pixel grows.
        quad_px = (np.asarray(quad, dtype=np.float64).reshape(4, 2) + 0.5) / enlarged - 0.5
        known = found.get(int(number))
        if int(number) in wanted and (known is None or _area(known) < _area(quad_px)):
            found[int(number)] = quad_px
    return found


def _area(quad_px: Array) -> float:
    return float(cv2.contourArea(quad_px.astype(np.float32)))


def _refined(
    picture: Picture, number: int, quad_px: Array, cells: int, lens: Lens | None
) -> FoundTag:
    cell_px = np.sqrt(_area(quad_px)) / cells
    sides = fit_sides(picture, quad_px, cell_px, lens)
    if sides is not None:
        corners = meeting_points(sides)
        moved = np.linalg.norm(corners - quad_px, axis=1)
        if np.all(moved < _FARTHEST_FIT_CELLS * cell_px):
            return FoundTag(number, corners, FITTED_SIGMA_PX, FITTED_ENDS_ALIKE)
    return FoundTag(number, quad_px, FOUND_SIGMA_PX)
