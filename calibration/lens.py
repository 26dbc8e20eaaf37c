"""Models a lens: maps directions in front of the camera to pixels and back; priors on a lens.

The model is Brown-Conrady's with five coefficients, in OpenCV's form: k1, k2, p1, p2, k3 (D. C.
Brown, "Close-range camera calibration", 1971).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LENS_PARAMETERS = ("fx_px", "fy_px", "cx_px", "cy_px", "k1", "k2", "p1", "p2", "k3")
"""The order of a lens's parameters in all vectors and covariances."""

_NEWTON_STEPS = 30
_NEWTON_TOLERANCE = 1e-7
"""Newton's error is squared by each step: the step from here leaves only rounding errors."""


@dataclass(frozen=True, slots=True)
class Lens:
    """The intrinsic parameters of a camera for pictures of one size.

    Pixel (0, 0) is the centre of the top-left pixel, x right, y down.
    """

    width_px: int
    height_px: int
    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float
    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0

    def __post_init__(self) -> None:
        if self.width_px <= 0 or self.height_px <= 0:
            raise ValueError(
                f"expected a picture size above 0, got {self.width_px}x{self.height_px}"
            )
        if not (self.fx_px > 0 and self.fy_px > 0):
            raise ValueError(f"expected focal lengths above 0, got {self.fx_px}, {self.fy_px}")

    @property
    def matrix(self) -> Array:
        """The 3x3 camera matrix, in pixels."""
        return np.array(
            [[self.fx_px, 0.0, self.cx_px], [0.0, self.fy_px, self.cy_px], [0.0, 0.0, 1.0]]
        )

    @property
    def distortion(self) -> Array:
        """The coefficients k1, k2, p1, p2, k3, in OpenCV's order."""
        return np.array([self.k1, self.k2, self.p1, self.p2, self.k3])

    @property
    def parameters(self) -> Array:
        """All nine parameters in the order of `LENS_PARAMETERS`."""
        return np.array([getattr(self, name) for name in LENS_PARAMETERS])

    def with_parameters(self, parameters: ArrayLike) -> Lens:
        """Returns a lens of the same picture size with these nine parameters."""
        values = np.asarray(parameters, dtype=np.float64)
        return Lens(self.width_px, self.height_px, *(float(value) for value in values))

    def distort(self, directions: ArrayLike) -> Array:
        """Distorts directions (n, 2), given as x/z and y/z."""
        directions = np.asarray(directions, dtype=np.float64)
        x, y = directions[..., 0], directions[..., 1]
        return self._distorted(x, y, *self._radial(x, y))

    def to_pixels(self, directions: ArrayLike) -> Array:
        """Projects directions (n, 2), x/z and y/z in front of the camera, to pixels (n, 2)."""
        return self.distort(directions) * [self.fx_px, self.fy_px] + [self.cx_px, self.cy_px]

    def to_pixels_with_jacobian(self, directions: ArrayLike) -> tuple[Array, Array]:
        """Projects like `to_pixels`, with each pixel's derivative by its direction, (n, 2, 2)."""
        distorted, jacobian = self._distort(np.asarray(directions, dtype=np.float64))
        focal = np.array([self.fx_px, self.fy_px])
        return distorted * focal + [self.cx_px, self.cy_px], jacobian * focal[:, None]

    def to_directions(self, pixels: ArrayLike) -> Array:
        """Returns the directions (n, 2), x/z and y/z, that pixels (n, 2) look along.

        The inverse of `to_pixels`, by Newton's method with the analytic derivative. A pixel that no
        direction reaches (beyond where a strong distortion folds back) gives NaN.
        """
        pixels = np.asarray(pixels, dtype=np.float64)
        # Solve in normalised coordinates, where the tolerance does not depend on the lens.
        target = (pixels - [self.cx_px, self.cy_px]) / [self.fx_px, self.fy_px]
        directions = target.copy()
        with np.errstate(all="ignore"):
            for _ in range(_NEWTON_STEPS):
                distorted, jacobian = self._distort(directions)
                error = distorted - target
                directions -= _solve_2x2(jacobian, error)
                is_reached = (np.abs(error) < _NEWTON_TOLERANCE).all(axis=-1)
                if is_reached.all():
                    break
            # Beyond the fold are mirrored solutions, flipped once or (det > 0 again) twice.
            by_x, by_y = jacobian[..., 0, 0], jacobian[..., 1, 1]
            is_reached &= (by_x * by_y - jacobian[..., 0, 1] ** 2 > 0) & (by_x + by_y > 0)
        directions[~is_reached] = np.nan
        return directions

    def _distort(self, directions: Array) -> tuple[Array, Array]:
        """Returns distorted directions (n, 2) and their derivatives (n, 2, 2)."""
        x, y = directions[..., 0], directions[..., 1]
        r2, radial = self._radial(x, y)
        slope = 2 * (self.k1 + r2 * (2 * self.k2 + r2 * 3 * self.k3))  # d radial / dx = slope * x
        # The Jacobian is symmetric: both derivatives off its diagonal are this one.
        cross_term = x * y * slope + 2 * self.p1 * x + 2 * self.p2 * y
        jacobian = np.empty((*directions.shape[:-1], 2, 2))
        jacobian[..., 0, 0] = radial + x * x * slope + 2 * self.p1 * y + 6 * self.p2 * x
        jacobian[..., 0, 1] = cross_term
        jacobian[..., 1, 0] = cross_term
        jacobian[..., 1, 1] = radial + y * y * slope + 6 * self.p1 * y + 2 * self.p2 * x
        return self._distorted(x, y, r2, radial), jacobian

    def _radial(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Returns the squared distance from the axis, and the radial factor there."""
        r2 = x * x + y * y
        return r2, 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))

    def _distorted(self, x: Array, y: Array, r2: Array, radial: Array) -> Array:
        """Returns distorted directions, given the radial terms."""
        out = np.empty((*x.shape, 2))
        out[..., 0] = x * radial + 2 * self.p1 * x * y + self.p2 * (r2 + 2 * x * x)
        out[..., 1] = y * radial + self.p1 * (r2 + 2 * y * y) + 2 * self.p2 * x * y
        return out


def _solve_2x2(matrices: Array, vectors: Array) -> Array:
    """Solves many 2x2 systems; inf or NaN where one is singular."""
    a, b = matrices[..., 0, 0], matrices[..., 0, 1]
    c, d = matrices[..., 1, 0], matrices[..., 1, 1]
    u, v = vectors[..., 0], vectors[..., 1]
    solutions = np.empty_like(vectors)
    # Cramer's rule; `np.linalg.solve` raises for all systems if one is singular.
    solutions[..., 0], solutions[..., 1] = d * u - b * v, a * v - c * u
    solutions /= (a * d - b * c)[..., None]
    return solutions


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
