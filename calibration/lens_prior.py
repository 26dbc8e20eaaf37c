"""Defines priors on a lens before the table is seen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.lens import Lens

Array = NDArray[np.float64]

_FOCAL_WIDTHS = 0.8
_FOCAL_SIGMA_SHARE = 0.25  # of itself: from phones' and webcams' 85 degrees across down to 50
_ASPECT_SIGMA = 0.002
_CENTRE_SIGMA_WIDTHS = 0.012
_DISTORTION_SIGMAS = (0.15, 0.1, 0.001, 0.001, 0.05)

_KNOWN_FOCAL_SHARE = 3e-4
_KNOWN_CENTRE_WIDTHS = 3e-4
_KNOWN_DISTORTION = (5e-4, 2e-3, 5e-5, 5e-5, 3e-3)


@dataclass(frozen=True, slots=True)
class LensPrior:
    """A lens and its uncertainty: `covariance` (9, 9), ordered as `LENS_PARAMETERS`."""

    lens: Lens
    covariance: Array = field(compare=False, repr=False)


def unknown_lens(width_px: int, height_px: int) -> LensPrior:
    """Returns the prior for an uncalibrated camera: a typical phone, webcam or camera."""
    focal = _FOCAL_WIDTHS * width_px
    lens = Lens(width_px, height_px, focal, focal, (width_px - 1) / 2, (height_px - 1) / 2)
    covariance = _diagonal(
        _FOCAL_SIGMA_SHARE * focal, _CENTRE_SIGMA_WIDTHS, _DISTORTION_SIGMAS, lens
    )
    # Pixels are square to a few thousandths: the errors of fx and fy are correlated.
    covariance[0, 1] = covariance[1, 0] = covariance[0, 0] - (_ASPECT_SIGMA * focal) ** 2 / 2
    return LensPrior(lens, covariance)


def well_known(lens: Lens) -> LensPrior:
    """Returns the prior for a lens calibrated from a dozen good board views."""
    return LensPrior(
        lens,
        _diagonal(_KNOWN_FOCAL_SHARE * lens.fx_px, _KNOWN_CENTRE_WIDTHS, _KNOWN_DISTORTION, lens),
    )


def _diagonal(
    focal_px: float, centre_widths: float, distortion: tuple[float, ...], lens: Lens
) -> Array:
    """Returns the covariance (9, 9) of independent parameters with these sigmas."""
    centre_px = centre_widths * lens.width_px
    return np.diag(np.square([focal_px, focal_px, centre_px, centre_px, *distortion]))
