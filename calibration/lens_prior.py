"""What may be believed of a lens before the table is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.lens import Lens

Array = NDArray[np.float64]

_FOCAL_WIDTHS = 0.8
_FOCAL_SPREAD = 0.25  # of itself: from phones' and webcams' 85 degrees across down to 50
_ASPECT_SPREAD = 0.002
_CENTRE_SPREAD_WIDTHS = 0.012
_DISTORTION_SPREAD = (0.15, 0.1, 0.001, 0.001, 0.05)

_KNOWN_FOCAL_SHARE = 3e-4
_KNOWN_CENTRE_WIDTHS = 3e-4
_KNOWN_DISTORTION = (5e-4, 2e-3, 5e-5, 5e-5, 3e-3)


@dataclass(frozen=True, slots=True)
class LensPrior:
    """A lens, and how far off it may be: `covariance` (9, 9), ordered as `LENS_PARAMETERS`."""

    lens: Lens
    covariance: Array = field(compare=False, repr=False)


def unknown_lens(width_px: int, height_px: int) -> LensPrior:
    """A camera nobody has calibrated: as phones, webcams and cameras on tripods usually are."""
    focal = _FOCAL_WIDTHS * width_px
    lens = Lens(width_px, height_px, focal, focal, (width_px - 1) / 2, (height_px - 1) / 2)
    covariance = _diagonal(_FOCAL_SPREAD * focal, _CENTRE_SPREAD_WIDTHS, _DISTORTION_SPREAD, lens)
    # Pixels are square to a few thousandths: fx and fy are wrong together.
    covariance[0, 1] = covariance[1, 0] = covariance[0, 0] - (_ASPECT_SPREAD * focal) ** 2 / 2
    return LensPrior(lens, covariance)


def well_known(lens: Lens) -> LensPrior:
    """The same lens as a dozen good board views would know it."""
    return LensPrior(
        lens,
        _diagonal(_KNOWN_FOCAL_SHARE * lens.fx_px, _KNOWN_CENTRE_WIDTHS, _KNOWN_DISTORTION, lens),
    )


def _diagonal(
    focal_px: float, centre_widths: float, distortion: tuple[float, ...], lens: Lens
) -> Array:
    centre_px = centre_widths * lens.width_px
    return np.diag(np.square([focal_px, focal_px, centre_px, centre_px, *distortion]))
