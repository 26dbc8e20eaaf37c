"""The lens, from views of a board: which views to use, and the lens that explains them best.

All that a live calibration needs works on lists that grow: `objection_to` judges one more view,
`lens_from_views` solves again from what there is, in well under a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import BoardView, apart_px
from calibration.errors import CalibrationError
from calibration.least_squares import Solution, least_squares
from calibration.lens import LENS_PARAMETERS, Lens
from calibration.results import LensCalibration, Origin, ViewError

Array = NDArray[np.float64]

LEAST_VIEWS = 3
"""Fewer cannot tell a lens; eight or more, tilted every way, tell it well."""

_LENS = len(LENS_PARAMETERS)
_POSE = 6
_BLUR_OF_A_SHARP_VIEW_PX = 1.0
_BLUR_ABOVE_THE_REST = 2.0
_SAME_PLACE_SHARE = 0.01  # of the picture's diagonal
_OUTLIER_SIGMAS = 6.0  # corners scatter unevenly, real outliers are ten times farther out
_SMALLEST_OUTLIER_PX = 0.05
_ROUNDS_OF_REJECTION = 6
_WORST_KNOWN_FOCAL_SHARE = 0.05
_MOST_ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class RejectedView:
    """A picture that was left out of a calibration, and one sentence that says why."""

    name: str
    because: str


@dataclass(frozen=True, slots=True, eq=False)
class LensSearch:
    """A found lens with the views behind it, and those that turned out not to fit."""

    calibration: LensCalibration
    used: tuple[BoardView, ...]
    rejected: tuple[RejectedView, ...]


def check_sizes(views: Sequence[BoardView]) -> None:
    """Refuse views that different cameras, or one camera in different modes, have taken.

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
    """The views worth using, in their order, and those that are blurred or seen before.

    Of two near-duplicates the sharper one stays.
    """
    chosen: list[BoardView] = []
    rejected: dict[str, RejectedView] = {}
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
    """Why a view should not join the others: it is blurred, or shows nothing new; else None."""
    if others:
        usual_px = float(np.median([other.blur_px for other in others]))
        limit_px = _BLUR_ABOVE_THE_REST * max(usual_px, _BLUR_OF_A_SHARP_VIEW_PX)
        if view.blur_px > limit_px:
            return (
                f"it is blurred: its edges are {view.blur_px:.1f} px wide, the others' "
                f"{usual_px:.1f} px"
            )
    for other in others:
        moved_px = apart_px(view, other)
        if moved_px < _SAME_PLACE_SHARE * np.hypot(view.width_px, view.height_px):
            return (
                f"it shows the board where {other.name} does: its corners moved by "
                f"{moved_px:.0f} px only"
            )
    return None


def lens_from_views(views: Sequence[BoardView], origin: Origin) -> LensSearch:
    """The five-parameter lens that explains the views best, and how well it is known.

    Corners that lie far from where the rest puts them are left out, and so is a view most of
    whose corners do.

    Raises:
        CalibrationError: The views are too few, too alike or of different sizes.
    """
    check_sizes(views)
    rejected: list[RejectedView] = []
    used = list(views)
    while True:
        _check_enough(used)
        bundle = _Bundle(tuple(used))
        solution, kept = _without_outliers(bundle)
        odd = [view for view, keep in zip(used, bundle.split(kept), strict=True) if _is_odd(keep)]
        if not odd:
            break
        because = "most of its corners do not lie where the other views' lens puts them"
        rejected += [RejectedView(view.name, because) for view in odd]
        used = [view for view in used if view not in odd]
    calibration = _calibration(bundle, solution, kept, origin)
    return LensSearch(calibration, tuple(used), tuple(rejected))


def _check_enough(views: Sequence[BoardView]) -> None:
    if len(views) < LEAST_VIEWS:
        names = ", ".join(view.name for view in views) or "none"
        raise CalibrationError(
            f"lens: expected {LEAST_VIEWS} usable views of the board or more, got {len(views)} "
            f"({names})"
        )


def _is_odd(kept: NDArray[np.bool_]) -> bool:
    return bool(kept.mean() < 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class _Bundle:
    """All views at once. The unknowns: the lens's nine, then each view's pose, six each."""

    views: tuple[BoardView, ...]

    @property
    def corners(self) -> int:
        """How many corners all views have together."""
        return sum(len(view.corner_ids) for view in self.views)

    def split(self, per_corner: NDArray[Any]) -> list[NDArray[Any]]:
        """What belongs to each corner (n,), apart for each view."""
        ends = np.cumsum([len(view.corner_ids) for view in self.views])
        return np.split(per_corner, ends[:-1])

    def lens(self, values: Array) -> Lens:
        """The lens among the unknowns (p,)."""
        first = self.views[0]
        fx, fy, cx, cy, k1, k2, p1, p2, k3 = (float(value) for value in values[:_LENS])
        return Lens(first.width_px, first.height_px, fx, fy, cx, cy, k1, k2, p1, p2, k3)

    def start(self) -> Array:
        """A lens without distortion and the poses that follow from it, (p,)."""
        first = self.views[0]
        boards = [view.board_mm.astype(np.float32) for view in self.views]
        corners = [view.corners_px.astype(np.float32) for view in self.views]
        matrix = cv2.initCameraMatrix2D(boards, corners, (first.width_px, first.height_px))
        poses = []
        for view in self.views:
            _, rotation, translation = cv2.solvePnP(view.board_mm, view.corners_px, matrix, None)
            poses += [rotation.ravel(), translation.ravel()]
        lens = [matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2], 0, 0, 0, 0, 0]
        return np.concatenate([np.array(lens, dtype=np.float64), *poses])

    def misfit(self, values: Array) -> tuple[Array, Array]:
        """Corners as predicted less as seen, (n, 2), and the derivatives (n, 2, p)."""
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
            jacobian[..., :_LENS] = by[:, 6:15].reshape(-1, 2, _LENS)
            jacobian[..., at : at + _POSE] = by[:, :6].reshape(-1, 2, _POSE)
            jacobians.append(jacobian)
        return np.concatenate(misfits), np.concatenate(jacobians)

    def solve(self, start: Array, kept: NDArray[np.bool_]) -> Solution:
        """The unknowns that explain the kept corners best."""

        def kept_misfit(values: Array) -> tuple[Array, Array]:
            misfit, jacobian = self.misfit(values[0])
            by = jacobian[kept].reshape(1, -1, len(start))
            return misfit[kept].reshape(1, -1), by

        return least_squares(kept_misfit, start[None], steps=60, tolerance=1e-9)


def _without_outliers(bundle: _Bundle) -> tuple[Solution, NDArray[np.bool_]]:
    """The unknowns from corners that agree, and which corners (n,) do."""
    kept = np.ones(bundle.corners, dtype=bool)
    values = bundle.start()
    for _ in range(_ROUNDS_OF_REJECTION):
        solution = bundle.solve(values, kept)
        values = solution.values[0]
        distance = np.linalg.norm(bundle.misfit(values)[0], axis=1)
        sigma_px = np.median(distance) / np.sqrt(2 * np.log(2))  # were they Gaussian
        again = distance < max(_OUTLIER_SIGMAS * sigma_px, _SMALLEST_OUTLIER_PX)
        if np.array_equal(again, kept):
            break
        kept = again
    return bundle.solve(values, kept), kept


def _calibration(
    bundle: _Bundle, solution: Solution, kept: NDArray[np.bool_], origin: Origin
) -> LensCalibration:
    """The lens among the unknowns, with its covariance, and how far each view's corners are off.

    Raises:
        CalibrationError: The views leave its focal length open.
    """
    values = solution.values[0]
    freedom = solution.residuals.size - values.size
    misfits = bundle.misfit(values)[0]
    alike = _alike(bundle.views, bundle.split(misfits), bundle.split(kept))
    variance = float((solution.residuals**2).sum() / freedom) * ((1 + alike) / (1 - alike)) ** 2
    covariance = variance * solution.covariance[0, :_LENS, :_LENS]
    lens = bundle.lens(values)
    if not np.sqrt(covariance[0, 0]) < _WORST_KNOWN_FOCAL_SHARE * lens.fx_px:
        raise CalibrationError(
            "lens: expected views that tilt the board in different ways, got "
            f"{len(bundle.views)} views too alike to tell how long the lens is"
        )
    squares = np.square(misfits).sum(axis=1)
    errors = zip(bundle.views, bundle.split(squares), bundle.split(kept), strict=True)
    views = tuple(
        ViewError(
            view.name, float(np.sqrt(square[keep].mean())), int(keep.sum()), int((~keep).sum())
        )
        for view, square, keep in errors
    )
    rms_px = float(np.sqrt(squares[kept].mean()))
    return LensCalibration(lens, (covariance + covariance.T) / 2, rms_px, views, origin)


def _alike(
    views: Sequence[BoardView], misfits: Sequence[Array], kept: Sequence[NDArray[np.bool_]]
) -> float:
    """How alike the misfits of neighbouring corners are, from 0 to 0.8: their correlation.

    A board that is not flat, or a lens that is not quite of this kind, moves whole groups of
    corners. They then tell less than as many independent ones: along each of the board's two
    directions by (1 - alike) / (1 + alike), as in a series where each is like the one before.
    """
    together = alone = 0.0
    for view, misfit, keep in zip(views, misfits, kept, strict=True):
        apart = np.linalg.norm(view.board_mm[keep][:, None] - view.board_mm[keep], axis=2)
        square_mm = apart[apart > 0].min()
        one, other = np.nonzero((apart > 0) & (apart < 1.2 * square_mm))
        together += float((misfit[keep][one] * misfit[keep][other]).sum())
        alone += float(np.square(misfit[keep][one]).sum())
    return float(np.clip(together / alone, 0.0, _MOST_ALIKE)) if alone > 0 else 0.0
