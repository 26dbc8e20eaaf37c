"""Reports the progress of a lens calibration: how well the lens is known, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.intrinsics.board import BoardView
from calibration.intrinsics.coverage import Coverage, Tilt, coverage, tilt_of
from calibration.intrinsics.lens_expectation import field_sigmas_px
from calibration.intrinsics.lens_from_views import LensSearch
from calibration.lens import Lens
from calibration.results import LensCalibration

Array = NDArray[np.float64]

ENOUGH_VIEWS = 8
ENOUGH_SIGMA_PX = 0.1
"""At this sigma anywhere in the field a lens adds little to the error of a tag's fit."""


@dataclass(frozen=True, slots=True)
class GuidedView:
    """One view; `rms_px` is None while there is no lens, or if the view was left out.

    `outline_px` is the hull of its corners in the picture.
    """

    name: str
    corners: int
    outline_px: tuple[tuple[float, float], ...]
    blur_px: float
    tilt: Tilt
    rms_px: float | None = None
    rejected_because: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a lens calibration: the coverage of its views, and the lens they give.

    `sigma_px` is the lens's uncertainty where it is worst in the field, `usual_px` its root mean
    square; both are None while there is no lens, and `problem` says why. `missing` lists what is
    still needed, in a few words each; it is empty when nothing is.
    """

    views: tuple[GuidedView, ...]
    coverage: Coverage
    lens: LensCalibration | None
    sigma_px: float | None
    usual_px: float | None
    problem: str
    missing: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        """Whether the lens is known well enough everywhere in the field."""
        return not self.missing


def lens_progress(
    views: Sequence[BoardView], search: LensSearch | None, *, problem: str = ""
) -> Progress:
    """Returns the progress of these views; `search` is the lens from them, or None."""
    calibration = None if search is None else search.calibration
    lens = None if calibration is None else calibration.lens
    used = views if search is None else search.used
    coverage_so_far = coverage(used, lens)
    sigma_px = usual_px = None
    if calibration is not None:
        sigmas_px = field_sigmas_px(calibration)
        # A part of the field that the lens cannot see counts as unknown.
        sigma_px = float(np.nan_to_num(sigmas_px, nan=np.inf).max())
        usual_px = float(np.sqrt(np.nanmean(sigmas_px**2)))
    return Progress(
        views=tuple(_guided(view, lens, search) for view in views),
        coverage=coverage_so_far,
        lens=calibration,
        sigma_px=sigma_px,
        usual_px=usual_px,
        problem=problem,
        missing=_wanting(len(used), coverage_so_far, sigma_px),
    )


def _guided(view: BoardView, lens: Lens | None, search: LensSearch | None) -> GuidedView:
    """Returns the summary of a view, with its result in the search."""
    errors, rejected = {}, {}
    if search is not None:
        errors = {error.name: error.rms_px for error in search.calibration.views}
        rejected = {view.name: view.reason for view in search.rejected}
    return GuidedView(
        name=view.name,
        corners=len(view.corner_ids),
        outline_px=_hull(view.corners_px),
        blur_px=view.blur_px,
        tilt=tilt_of(view, lens),
        rms_px=errors.get(view.name),
        rejected_because=rejected.get(view.name),
    )


def _hull(points_px: Array) -> tuple[tuple[float, float], ...]:
    """Returns a simplified convex hull of points (n, 2), in order."""
    hull = cv2.convexHull(points_px.astype(np.float32))
    # Distortion bends the board's sides: a few corners show them well enough.
    corners = cv2.approxPolyDP(hull, 0.01 * cv2.arcLength(hull, True), True).reshape(-1, 2)
    return tuple((float(x), float(y)) for x, y in corners)


def _wanting(count: int, coverage_so_far: Coverage, sigma_px: float | None) -> tuple[str, ...]:
    """Lists what is still missing, in a few words each; `sigma_px` is None without a lens."""
    wanting = []
    if count < ENOUGH_VIEWS:
        more = ENOUGH_VIEWS - count
        wanting.append(f"{more} more view{'s' if more > 1 else ''}")
    if coverage_so_far.missing_cells:
        cells = len(coverage_so_far.missing_cells)
        of_parts = "a view of one more part" if cells == 1 else f"views of {cells} more parts"
        wanting.append(f"{of_parts} of the picture")
    leaning = {tilt for tilt, number in coverage_so_far.tilts if number}
    if not leaning & {"left", "right"}:
        wanting.append("a view with the board tilted left or right")
    if not leaning & {"top", "bottom"}:
        wanting.append("a view with the board tilted up or down")
    if sigma_px is not None and sigma_px > ENOUGH_SIGMA_PX:
        wanting.append(f"lens uncertainty below {ENOUGH_SIGMA_PX} px (now {sigma_px:.2f} px)")
    elif sigma_px is None and count >= ENOUGH_VIEWS:
        wanting.append("views that are consistent with one lens")
    return tuple(wanting)
