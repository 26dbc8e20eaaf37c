"""Finds the table's pose from its fixed tags, leaving out a misplaced one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import LEAST_TAGS, Camera
from calibration.errors import CalibrationError
from calibration.extrinsics.table_tags import FoundTag
from calibration.extrinsics.tag_adjustment import EXACT, Adjustment, TagAdjustment
from calibration.lens import LensPrior, unknown_lens, well_known
from calibration.results import LensCalibration, Origin, TableCalibration, TagResidual

Array = NDArray[np.float64]
Places = Mapping[int, tuple[float, float]]


_GRID = 9
_NOTABLE_MISFIT = 4.0  # above this, tags do not lie as listed; corners' errors alone give about 1
_CLEAR_GAIN = 8.0  # ratio of misfits with all tags and without the wrong one: of six tags placed
# by hand to 0.3 mm, a ratio of 4 left one out in 4 of 20 draws, 8 in none
_CLEAR_LEAD = 2.0  # ratio of misfits without the second-best candidate and without the wrong tag
_SMALLEST_MISFIT = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class TableSearch:
    """The table calibration, notes for the user, and the sigma that a lens calibration would give.

    `sigma_with_lens_mm` is what `calibration.sigma_mm` would become after a good lens calibration
    if the tags lie as listed; None if the lens was calibrated.
    """

    calibration: TableCalibration
    notes: tuple[str, ...]
    sigma_with_lens_mm: float | None


def find_table(
    found: Sequence[FoundTag],
    listed_mm: Places,
    tag_size_mm: float,
    *,
    picture_size_px: tuple[int, int],
    lens: LensCalibration | None,
    origin: Origin,
    picture_name: str,
) -> TableSearch:
    """Finds the table's pose, and refines the lens, from the corners of three or more tags.

    A tag that contradicts the others is left out if they determine which one it is. Without a
    calibrated lens a typical one with a wide prior takes its place, which makes the result less
    certain.

    Args:
        found: The tags as the picture shows them.
        listed_mm: The listed places of the tags' centres on the table, by id.
        tag_size_mm: The side of the tags' black square.
        picture_size_px: The picture's width and height.
        lens: The lens calibration, if there is one.
        origin: The time and pictures of the calibration.
        picture_name: The picture's name in errors and notes.

    Raises:
        CalibrationError: Fewer than three of the tags are seen, or they lie on one line.
    """
    seen = [tag for tag in found if tag.id in listed_mm]
    _check_enough(seen, listed_mm, picture_name)
    _check_span(seen, listed_mm, tag_size_mm, picture_name)
    prior = unknown_lens(*picture_size_px) if lens is None else _prior(lens)
    used, notes = _consistent(seen, listed_mm, tag_size_mm, prior)
    problem = TagAdjustment.of(used, listed_mm, tag_size_mm, prior)
    outcome = problem.learn()
    calibration = _calibration(seen, used, listed_mm, tag_size_mm, outcome, origin)
    missing = _missing_note(seen, used, listed_mm)
    sigma_with_lens = None
    if lens is None:
        # The same picture, solved as if the lens had been calibrated and the tags lay as listed.
        with_known_lens = problem.with_prior(well_known(outcome.camera.lens))
        with_lens = with_known_lens.solve(replace(EXACT, corner_scale=outcome.spreads.corner_scale))
        sigma_with_lens = mean_sigma_mm(
            replace(with_lens.camera, covariance=with_lens.covariance), problem.places_mm
        )
    return TableSearch(calibration, (*missing, *notes), sigma_with_lens)


def mean_sigma_mm(camera: Camera, tags_mm: Array) -> float:
    """Returns the mean sigma of places between the tags (n, 2), in mm, as `sigmas_mm`."""
    return float(sigmas_mm(camera, tags_mm).mean())


def sigmas_mm(camera: Camera, spanned_mm: Array) -> Array:
    """Returns the sigmas of places, in mm, from the calibration alone.

    Along one direction, averaged over all, at a grid on the table that spans places (n, 2).
    """
    low, high = spanned_mm.min(axis=0), spanned_mm.max(axis=0)
    x, y = np.meshgrid(*np.linspace(low, high, _GRID).T)
    covariances = camera.table_covariance(np.stack([x.ravel(), y.ravel()], axis=1))
    return np.asarray(np.sqrt(np.trace(covariances, axis1=1, axis2=2) / 2))


def _prior(lens: LensCalibration) -> LensPrior:
    """Returns a lens calibration as a prior."""
    return LensPrior(lens.lens, lens.covariance)


def _check_enough(seen: Sequence[FoundTag], listed_mm: Places, picture_name: str) -> None:
    """Raises CalibrationError if fewer than three tags are seen."""
    if len(seen) < LEAST_TAGS:
        missing = sorted(listed_mm.keys() - {tag.id for tag in seen})
        raise CalibrationError(
            f"{picture_name}: expected {LEAST_TAGS} table tags or more in view, got {len(seen)} "
            f"(seen: {_names(seen)}; missing: {', '.join(map(str, missing)) or 'none'})"
        )


def _check_span(
    seen: Sequence[FoundTag], listed_mm: Places, tag_size_mm: float, picture_name: str
) -> None:
    """Raises CalibrationError if the tags lie on one line."""
    places = np.array([listed_mm[tag.id] for tag in seen])
    # The smallest singular value measures the tags' spread across their best line.
    width_mm = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)[-1]
    if width_mm < tag_size_mm:
        raise CalibrationError(
            f"{picture_name}: table tags {_names(seen)} lie on one line; they must span an area"
        )


def _names(tags: Sequence[FoundTag]) -> str:
    """Lists the ids of tags."""
    return ", ".join(str(tag.id) for tag in tags) or "none"


def _consistent(
    seen: list[FoundTag], listed_mm: Places, size_mm: float, prior: LensPrior
) -> tuple[list[FoundTag], tuple[str, ...]]:
    """Returns the tags that agree on one table pose, and notes on those that do not.

    Each tag in turn is assumed wrong; the hypotheses are compared by how well the rest fits.
    """
    # Without one of three, too few would remain to compare.
    if len(seen) <= LEAST_TAGS:
        return seen, ()
    misfit_of_all = TagAdjustment.of(seen, listed_mm, size_mm, prior).solve(EXACT).misfit
    if misfit_of_all < _NOTABLE_MISFIT:
        return seen, ()
    without: list[tuple[float, int]] = []
    for number in range(len(seen)):
        rest = seen[:number] + seen[number + 1 :]
        misfit = TagAdjustment.of(rest, listed_mm, size_mm, prior).solve(EXACT).misfit
        # A floor, because three exact tags fit perfectly by chance.
        without.append((max(misfit, _SMALLEST_MISFIT), number))
    (best, wrong), (second, _) = sorted(without)[:2]
    if misfit_of_all > _CLEAR_GAIN * best and second > _CLEAR_LEAD * best:
        note = f"table tag {seen[wrong].id} is not at its listed place and was ignored"
        return seen[:wrong] + seen[wrong + 1 :], (note,)
    note = (
        "the table tags' listed places contradict each other: check the places and the tag size, "
        f"starting with tag {seen[wrong].id}"
    )
    return seen, (note,)


def _missing_note(
    seen: Sequence[FoundTag], used: Sequence[FoundTag], listed_mm: Places
) -> tuple[str, ...]:
    """Returns notes on tags that are not seen, or too few to detect a wrong one."""
    missing = sorted(listed_mm.keys() - {tag.id for tag in seen})
    notes = []
    if missing:
        notes.append(f"table tags not seen: {', '.join(map(str, missing))}")
    if len(used) == LEAST_TAGS:
        notes.append("only three table tags: a misplaced one cannot be detected")
    return tuple(notes)


def _calibration(
    seen: Sequence[FoundTag],
    used: Sequence[FoundTag],
    listed_mm: Places,
    size_mm: float,
    outcome: Adjustment,
    origin: Origin,
) -> TableCalibration:
    """Returns the calibration with the residuals of all seen tags, used or not."""
    camera = outcome.camera
    # Residuals do not depend on the prior: any lens serves.
    all_tags = TagAdjustment.of(seen, listed_mm, size_mm, unknown_lens(1, 1))
    tags = tuple(
        TagResidual(tag.id, float(dx), float(dy), used=tag in used)
        for tag, (dx, dy) in zip(seen, all_tags.residuals_mm(camera), strict=True)
    )
    places = np.array([listed_mm[tag.id] for tag in used])
    sigma_mm = mean_sigma_mm(replace(camera, covariance=outcome.covariance), places)
    return TableCalibration(
        camera.lens, camera.pose, outcome.covariance, outcome.rms_px, sigma_mm, tags, origin
    )
