"""A ruler laid on the table: how far off is what the camera says of its length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import Camera
from calibration.errors import CalibrationError

Array = NDArray[np.float64]

CLICK_SIGMA_PX = 0.7
"""How well a person clicks the end of a ruler under a magnifier."""


@dataclass(frozen=True, slots=True)
class RulerCheck:
    """A length as the camera measures it, beside what it truly is.

    `sigma_mm` counts the clicks and the calibration together.
    """

    measured_mm: float
    sigma_mm: float
    true_mm: float

    @property
    def off_mm(self) -> float:
        """How much too long the camera measures."""
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
    """Measure between two pixels (2, 2), the ends of `true_mm` on a ruler `height_mm` thick.

    Raises:
        CalibrationError: An end is not on the table, or both are the same.
    """
    places, by_pixel = camera.to_table_with_jacobian(ends_px, height_mm)
    apart = places[1] - places[0]
    length_mm = float(np.linalg.norm(apart))
    if not np.isfinite(length_mm) or length_mm == 0:
        raise CalibrationError("ruler: expected two different ends on the table, got none such")
    along = np.stack([-apart, apart]) / length_mm  # the length's derivative by each end's place
    by_clicks = np.einsum("ei,eij->ej", along, by_pixel).ravel()
    variance = click_sigma_px**2 * float(by_clicks @ by_clicks)
    if camera.covariance is not None:
        points = np.column_stack([places, np.full(2, height_mm)])
        # What the calibration has wrong moves both ends together, so most of it cancels.
        by_place = -by_pixel @ camera.parameter_jacobian(points)
        by_parameters = np.einsum("ei,eij->j", along, by_place)
        variance += float(by_parameters @ camera.covariance @ by_parameters)
    return RulerCheck(length_mm, float(np.sqrt(variance)), true_mm)
