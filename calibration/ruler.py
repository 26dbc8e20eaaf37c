"""Checks a calibration against a ruler laid on the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from calibration.errors import CalibrationError

Array = NDArray[np.float64]

CLICK_SIGMA_PX = 0.7
"""Sigma of a person's click on the end of a ruler under a magnifier."""


@dataclass(frozen=True, slots=True)
class RulerCheck:
    """A measured length compared with the true one.

    `sigma_mm` includes the clicks and the calibration.
    """

    measured_mm: float
    sigma_mm: float
    true_mm: float

    @property
    def off_mm(self) -> float:
        """The measured minus the true length."""
        return self.measured_mm - self.true_mm

    @property
    def off_sigmas(self) -> float:
        """The same in standard deviations."""
        return self.off_mm / self.sigma_mm


def ruler_check(
    camera: Camera,
    ends_px: ArrayLike,
    true_mm: float,
    *,
    height_mm: float = 0.0,
    click_sigma_px: float = CLICK_SIGMA_PX,
) -> RulerCheck:
    """Measures between two pixels (2, 2), the ends of `true_mm` on a ruler `height_mm` thick.

    Raises:
        CalibrationError: An end is not on the table, or both are the same.
    """
    places, by_pixel = camera.to_table_with_jacobian(ends_px, height_mm)
    difference = places[1] - places[0]
    length_mm = float(np.linalg.norm(difference))
    if not np.isfinite(length_mm) or length_mm == 0:
        raise CalibrationError("ruler: expected two different points on the table")
    by_place = (
        np.stack([-difference, difference]) / length_mm
    )  # the length's derivative by each end's place
    # The two clicks are independent: their variances add.
    by_clicks = np.einsum("ei,eij->ej", by_place, by_pixel).ravel()
    variance = click_sigma_px**2 * float(by_clicks @ by_clicks)
    if camera.covariance is not None:
        points = np.column_stack([places, np.full(2, height_mm)])
        # The calibration's error moves both ends alike, so most of it cancels in the length.
        place_by_parameter = -by_pixel @ camera.parameter_jacobian(points)
        by_parameters = np.einsum("ei,eij->j", by_place, place_by_parameter)
        variance += float(by_parameters @ camera.covariance @ by_parameters)
    return RulerCheck(length_mm, float(np.sqrt(variance)), true_mm)
