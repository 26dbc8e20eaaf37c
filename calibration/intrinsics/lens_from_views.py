"""Calibrates the lens from board views: chooses the views and fits the lens to their corners.

A live calibration works on growing lists of views: `objection_to` judges one more view,
`lens_from_views` solves again from all of them in well under a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.intrinsics.board import BoardView, mean_corner_distance_px
from calibration.least_squares import Solution, least_squares
from calibration.lens import LENS_PARAMETERS, Lens
from calibration.results import LensCalibration, Origin, ViewError

Array = NDArray[np.float64]

LEAST_VIEWS = 3
"""Fewer do not determine a lens; eight or more, tilted every way, determine it well."""

_LENS = len(LENS_PARAMETERS)
_POSE = 6
_BLUR_OF_A_SHARP_VIEW_PX = 1.0
_BLUR_ABOVE_THE_REST = 2.0
_SAME_PLACE_SHARE = 0.01  # of the picture's diagonal
_OUTLIER_SIGMAS = 6.0  # corners scatter unevenly, real outliers are ten times farther out
_SMALLEST_OUTLIER_PX = 0.05
_ROUNDS_OF_REJECTION = 6
_WORST_KNOWN_FOCAL_SHARE = 0.05
_MOST_CORRELATION = 0.8


@dataclass(frozen=True, slots=True)
class RejectedView:
    """A picture left out of a calibration, and one sentence with the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class LensSearch:
    """A calibrated lens, the views used for it, and those that do not fit it."""

    calibration: LensCalibration
    used: tuple[BoardView, ...]
    rejected: tuple[RejectedView, ...]


def check_sizes(views: Sequence[BoardView]) -> None:
    """Refuses views from different cameras, or one camera in different modes.

    Raises:
        CalibrationError: Two views are of different sizes.
    """
    for view in views:
        first = views[0]
        if (view.width_px, view.height_px) != (first.width_px, first.height_px):
            raise CalibrationError(
                f"{view.name}: expected a picture of {first.width_px}x{first.height_px} px like "
                f"{first.name}, got {view.width_px}x{view.height_px}"
            )


def choose_views(
    views: Sequence[BoardView],
) -> tuple[tuple[BoardView, ...], tuple[RejectedView, ...]]:
    """Returns the views to use, in order, and those rejected as blurred or repeated.

    Of two near-duplicates the sharper one is used.
    """
    chosen: list[BoardView] = []
    rejected: dict[str, RejectedView] = {}
    # Sharpest first, so that of near-duplicates the sharper view is chosen.
    for view in sorted(views, key=lambda view: view.blur_px):
        because = objection_to(view, chosen)
        if because is None:
            chosen.append(view)
        else:
            rejected[view.name] = RejectedView(view.name, because)
    names = [view.name for view in views]
    chosen.sort(key=lambda view: names.index(view.name))
    return tuple(chosen), tuple(sorted(rejected.values(), key=lambda view: names.index(view.name)))


def objection_to(view: BoardView, others: Sequence[BoardView]) -> str | None:
    """Returns why a view should not join the others (blurred, or nothing new), or None."""
    if others:
        usual_px = float(np.median([other.blur_px for other in others]))
        # With a floor: next to very sharp views a merely sharp one is not blurred.
        limit_px = _BLUR_ABOVE_THE_REST * max(usual_px, _BLUR_OF_A_SHARP_VIEW_PX)
        if view.blur_px > limit_px:
            return (
                f"it is blurred: its edges are {view.blur_px:.1f} px wide, the others' "
                f"{usual_px:.1f} px"
            )
    for other in others:
        moved_px = mean_corner_distance_px(view, other)
        if moved_px < _SAME_PLACE_SHARE * np.hypot(view.width_px, view.height_px):
            return (
                f"the board is in the same place as in {other.name}: its corners moved only "
                f"{moved_px:.0f} px"
            )
    return None


def lens_from_views(views: Sequence[BoardView], origin: Origin) -> LensSearch:
    """Returns the five-parameter lens that fits the views best, with its covariance.

    It leaves out corners far from where the rest predicts them, and views with mostly such corners.

    Raises:
        CalibrationError: The views are too few, too alike or of different sizes.
    """
    check_sizes(views)
    rejected: list[RejectedView] = []
    used = list(views)
    while True:
        _check_enough(used)
        bundle = _Bundle(tuple(used))
        solution, inliers = _solve_without_outliers(bundle)
        odd_views = [
            view
            for view, is_inlier in zip(used, bundle.split(inliers), strict=True)
            if _is_odd(is_inlier)
        ]
        if not odd_views:
            break
        because = "most of its corners disagree with the lens found from the other views"
        rejected += [RejectedView(view.name, because) for view in odd_views]
        # Without them the other views give another lens: solve again.
        used = [view for view in used if view not in odd_views]
    calibration = _calibration(bundle, solution, inliers, origin)
    return LensSearch(calibration, tuple(used), tuple(rejected))


def _check_enough(views: Sequence[BoardView]) -> None:
    """Raises CalibrationError for fewer views than needed."""
    if len(views) < LEAST_VIEWS:
        names = ", ".join(view.name for view in views) or "none"
        raise CalibrationError(
            f"lens: expected {LEAST_VIEWS} usable views of the board or more, got {len(views)} "
            f"({names})"
        )


def _is_odd(inliers: NDArray[np.bool_]) -> bool:
    """Whether most corners of a view are outliers."""
    return bool(inliers.mean() < 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class _Bundle:
    """All views as one problem. The unknowns: the lens's nine, then six for each view's pose."""

    views: tuple[BoardView, ...]

    @property
    def corners(self) -> int:
        """The number of corners in all views."""
        return sum(len(view.corner_ids) for view in self.views)

    def split(self, per_corner: NDArray[Any]) -> list[NDArray[Any]]:
        """Splits values of corners (n,) by view."""
        ends = np.cumsum([len(view.corner_ids) for view in self.views])
        return np.split(per_corner, ends[:-1])

    def lens(self, values: Array) -> Lens:
        """Returns the lens among the unknowns (p,)."""
        first = self.views[0]
        fx, fy, cx, cy, k1, k2, p1, p2, k3 = (float(value) for value in values[:_LENS])
        return Lens(first.width_px, first.height_px, fx, fy, cx, cy, k1, k2, p1, p2, k3)

    def start(self) -> Array:
        """Returns the first unknowns: a lens without distortion and the poses it gives, (p,)."""
        first = self.views[0]
        boards = [view.board_mm.astype(np.float32) for view in self.views]
        corners = [view.corners_px.astype(np.float32) for view in self.views]
        # A closed-form start without distortion is near enough for least squares.
        matrix = cv2.initCameraMatrix2D(boards, corners, (first.width_px, first.height_px))
        poses = []
        for view in self.views:
            _, rotation, translation = cv2.solvePnP(view.board_mm, view.corners_px, matrix, None)
            poses += [rotation.ravel(), translation.ravel()]
        lens = [matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2], 0, 0, 0, 0, 0]
        return np.concatenate([np.array(lens, dtype=np.float64), *poses])

    def misfit(self, values: Array) -> tuple[Array, Array]:
        """Returns predicted minus seen corners, (n, 2), and the derivatives (n, 2, p)."""
        fx, fy, cx, cy = values[:4]
        matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        misfits, jacobians = [], []
        for number, view in enumerate(self.views):
            at = _LENS + _POSE * number
            rotation, translation = values[at : at + 3], values[at + 3 : at + 6]
            seen, by = cv2.projectPoints(
                view.board_mm, rotation, translation, matrix, values[4:_LENS]
            )
            misfits.append(seen.reshape(-1, 2) - view.corners_px)
            jacobian = np.zeros((len(seen), 2, len(values)))
            # OpenCV's columns: rotation, translation, then fx, fy, cx, cy and the distortion.
            jacobian[..., :_LENS] = by[:, 6:15].reshape(-1, 2, _LENS)
            jacobian[..., at : at + _POSE] = by[:, :6].reshape(-1, 2, _POSE)
            jacobians.append(jacobian)
        return np.concatenate(misfits), np.concatenate(jacobians)

    def solve(self, start: Array, inliers: NDArray[np.bool_]) -> Solution:
        """Solves for the unknowns that fit the inlier corners best."""

        def inlier_misfit(values: Array) -> tuple[Array, Array]:
            misfit, jacobian = self.misfit(values[0])
            by = jacobian[inliers].reshape(1, -1, len(start))
            return misfit[inliers].reshape(1, -1), by

        return least_squares(inlier_misfit, start[None], steps=60, tolerance=1e-9)


def _solve_without_outliers(bundle: _Bundle) -> tuple[Solution, NDArray[np.bool_]]:
    """Solves for the unknowns from corners that agree, and returns which do, (n,)."""
    inliers = np.ones(bundle.corners, dtype=bool)
    values = bundle.start()
    for _ in range(_ROUNDS_OF_REJECTION):
        solution = bundle.solve(values, inliers)
        values = solution.values[0]
        distance = np.linalg.norm(bundle.misfit(values)[0], axis=1)
        sigma_px = np.median(distance) / np.sqrt(2 * np.log(2))  # of a Gaussian with this median
        # The floor keeps the corners of nearly perfect views, whose sigma is close to 0.
        is_inlier = distance < max(_OUTLIER_SIGMAS * sigma_px, _SMALLEST_OUTLIER_PX)
        if np.array_equal(is_inlier, inliers):
            break
        inliers = is_inlier
    # The last round may have changed the inliers.
    return bundle.solve(values, inliers), inliers


def _calibration(
    bundle: _Bundle, solution: Solution, inliers: NDArray[np.bool_], origin: Origin
) -> LensCalibration:
    """Returns the lens with its covariance, and each view's errors.

    Raises:
        CalibrationError: The views do not determine its focal length.
    """
    values = solution.values[0]
    freedom = solution.residuals.size - values.size
    misfits = bundle.misfit(values)[0]
    correlation = _neighbour_correlation(bundle.views, bundle.split(misfits), bundle.split(inliers))
    variance = (
        float((solution.residuals**2).sum() / freedom)
        * ((1 + correlation) / (1 - correlation)) ** 2
    )
    covariance = variance * solution.covariance[0, :_LENS, :_LENS]
    lens = bundle.lens(values)
    # Negated, so that NaN counts as unknown.
    if not np.sqrt(covariance[0, 0]) < _WORST_KNOWN_FOCAL_SHARE * lens.fx_px:
        raise CalibrationError(
            "lens: expected views that tilt the board in different ways, got "
            f"{len(bundle.views)} views too similar to determine the focal length"
        )
    squares = np.square(misfits).sum(axis=1)
    errors = zip(bundle.views, bundle.split(squares), bundle.split(inliers), strict=True)
    views = tuple(
        ViewError(
            view.name,
            float(np.sqrt(square[is_inlier].mean())),
            int(is_inlier.sum()),
            int((~is_inlier).sum()),
        )
        for view, square, is_inlier in errors
    )
    rms_px = float(np.sqrt(squares[inliers].mean()))
    return LensCalibration(lens, (covariance + covariance.T) / 2, rms_px, views, origin)


def _neighbour_correlation(
    views: Sequence[BoardView], misfits: Sequence[Array], inliers: Sequence[NDArray[np.bool_]]
) -> float:
    """Returns the correlation of the misfits of neighbouring corners, from 0 to 0.8.

    A board that is not flat, or a lens unlike the model, moves whole groups of corners. They then
    carry less information than independent ones: along each of the board's two directions by (1 -
    correlation) / (1 + correlation), as in a first-order autoregressive series.
    """
    covariance = variance = 0.0
    for view, misfit, is_inlier in zip(views, misfits, inliers, strict=True):
        distance_mm = np.linalg.norm(
            view.board_mm[is_inlier][:, None] - view.board_mm[is_inlier], axis=2
        )
        square_mm = distance_mm[distance_mm > 0].min()
        # Neighbours along a side; those across a diagonal are 1.4 squares away.
        one, other = np.nonzero((distance_mm > 0) & (distance_mm < 1.2 * square_mm))
        covariance += float((misfit[is_inlier][one] * misfit[is_inlier][other]).sum())
        variance += float(np.square(misfit[is_inlier][one]).sum())
    return float(np.clip(covariance / variance, 0.0, _MOST_CORRELATION)) if variance > 0 else 0.0
