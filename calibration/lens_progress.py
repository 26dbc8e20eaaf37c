"""How far a lens calibration has come: how well the lens is known, and what is still wanting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import BoardView
from calibration.coverage import Coverage, Tilt, coverage, tilt_of
from calibration.lens import Lens
from calibration.lens_expectation import field_sigmas_px
from calibration.lens_from_views import LensSearch
from calibration.results import LensCalibration

Array = NDArray[np.float64]

ENOUGH_VIEWS = 8
ENOUGH_SIGMA_PX = 0.1
"""A lens that is known to this anywhere in the field adds little to what a tag's fit leaves."""


@dataclass(frozen=True, slots=True)
class GuidedView:
    """One view; `rms_px` None while there is no lens, or when it was left out.

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
    """How far a lens calibration has come: what its views show, and what they make of the lens.

    `sigma_px` is what the lens would leave uncertain where it is worst in the field, `usual_px`
    its root mean square; None while there is no lens, and `problem` says why.
    `wanting` says in a few words each what is still to be had; nothing when it is enough.
    """

    views: tuple[GuidedView, ...]
    coverage: Coverage
    lens: LensCalibration | None
    sigma_px: float | None
    usual_px: float | None
    problem: str
    wanting: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        """Whether the lens is known well enough, everywhere in the field."""
        return not self.wanting


def lens_progress(
    views: Sequence[BoardView], search: LensSearch | None, *, problem: str = ""
) -> Progress:
    """How far these views have come; `search` is what was found from them, None: nothing yet."""
    calibration = None if search is None else search.calibration
    lens = None if calibration is None else calibration.lens
    used = views if search is None else search.used
    seen = coverage(used, lens)
    sigma_px = usual_px = None
    if calibration is not None:
        sigmas_px = field_sigmas_px(calibration)
        sigma_px = float(np.nan_to_num(sigmas_px, nan=np.inf).max())
        usual_px = float(np.sqrt(np.nanmean(sigmas_px**2)))
    return Progress(
        views=tuple(_guided(view, lens, search) for view in views),
        coverage=seen,
        lens=calibration,
        sigma_px=sigma_px,
        usual_px=usual_px,
        problem=problem,
        wanting=_wanting(len(used), seen, sigma_px),
    )


def _guided(view: BoardView, lens: Lens | None, search: LensSearch | None) -> GuidedView:
    """What is shown of a view, with what came of it in the search."""
    errors, rejected = {}, {}
    if search is not None:
        errors = {error.name: error.rms_px for error in search.calibration.views}
        rejected = {odd.name: odd.because for odd in search.rejected}
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
    """A few corners of the hull of points (n, 2), in order."""
    hull = cv2.convexHull(points_px.astype(np.float32))
    # A bent lens bows the board's sides: a few corners show them well enough.
    few = cv2.approxPolyDP(hull, 0.01 * cv2.arcLength(hull, True), True).reshape(-1, 2)
    return tuple((float(x), float(y)) for x, y in few)


def _wanting(count: int, seen: Coverage, sigma_px: float | None) -> tuple[str, ...]:
    """What so many views still want, a few words each; `sigma_px` None while there is no lens."""
    wanting = []
    if count < ENOUGH_VIEWS:
        more = ENOUGH_VIEWS - count
        wanting.append(f"{more} more view{'s' if more > 1 else ''}")
    if seen.missing_cells:
        cells = len(seen.missing_cells)
        over = "a view over one more part" if cells == 1 else f"views over {cells} more parts"
        wanting.append(f"{over} of the picture")
    leaning = {tilt for tilt, number in seen.tilts if number}
    if not leaning & {"left", "right"}:
        wanting.append("a view that leans to the left or right")
    if not leaning & {"top", "bottom"}:
        wanting.append("a view that leans up or down")
    if sigma_px is not None and sigma_px > ENOUGH_SIGMA_PX:
        wanting.append(f"a lens known to {ENOUGH_SIGMA_PX} px (now {sigma_px:.2f} px)")
    elif sigma_px is None and count >= ENOUGH_VIEWS:
        wanting.append("views that agree on a lens")
    return tuple(wanting)
