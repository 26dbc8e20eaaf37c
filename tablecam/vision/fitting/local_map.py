"""Approximates the camera near many small patches at once by polynomials of second degree.

Exact projection of every pixel of every tag would dominate the run time. Over a patch of some tens
of pixels, a lens and a tilted plane differ from their second-degree polynomial by less than 0.002
px (third-order term of a lens with k1 = -0.22 over 20 px), so nine exact points suffice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_NINE_POINTS = np.array([[x, y] for y in (-1.0, 0.0, 1.0) for x in (-1.0, 0.0, 1.0)])


@dataclass(frozen=True, slots=True, eq=False)
class LocalMaps:
    """Maps offsets from the centres of n patches, between picture and table.

    `coefficients` (n, 6, 2) are those of 1, x, y, x², xy, y², with offsets divided by `reach`.
    """

    coefficients: Array
    reach: float

    def __call__(self, offsets: Array) -> Array:
        """Maps offsets (m, 2), shared by all patches, or (n, m, 2) to (n, m, 2)."""
        basis = _basis(offsets / self.reach)
        if basis.ndim == 2:
            # Two large products are several times as fast as n small ones.
            return np.moveaxis(np.moveaxis(self.coefficients, -1, 0) @ basis.T, 0, -1)
        return np.asarray(basis @ self.coefficients)

    def over(self, offsets: Array) -> tuple[Map, Map]:
        """Maps offsets (m, 2) shared by all patches to x and y, (n, m) each, in single precision.

        Single precision resolves 0.001 mm over a table: subtract a centre with `about` first.
        """
        basis = np.ascontiguousarray(_basis(offsets / self.reach).T, dtype=np.float32)
        x, y = np.ascontiguousarray(np.moveaxis(self.coefficients, -1, 0), dtype=np.float32)
        # No matrix product: BLAS starts threads for it, 100 times slower when both cores are busy.
        return np.einsum("nk,km->nm", x, basis), np.einsum("nk,km->nm", y, basis)

    @property
    def steps(self) -> Array:
        """The derivatives at each centre: images of a unit step along x and along y, (n, 2, 2)."""
        return self.coefficients[:, 1:3] / self.reach

    def about(self, values: Array) -> LocalMaps:
        """Returns the maps with `values` (n, 2) subtracted."""
        coefficients = self.coefficients.copy()
        # Only the constant term contains the place itself.
        coefficients[:, 0] -= values
        return LocalMaps(coefficients, self.reach)

    def turned(self, steps: Array) -> LocalMaps:
        """Returns the maps of offsets p that apply these maps to p @ `steps`, (n, 2, 2).

        One grid of offsets then serves patches with different rotations.
        """
        (ax, ay), (bx, by) = steps.transpose(1, 2, 0)
        zero, one = np.zeros_like(ax), np.ones_like(ax)
        # Rows: 1, a, b, a², ab, b²; columns: their coefficients in 1, x, y, x², xy, y².
        composed = np.array(
            [
                [one, zero, zero, zero, zero, zero],
                [zero, ax, ay, zero, zero, zero],
                [zero, bx, by, zero, zero, zero],
                [zero, zero, zero, ax * ax, ax * ay, ay * ay],
                [zero, zero, zero, 2 * ax * bx, ax * by + bx * ay, 2 * ay * by],
                [zero, zero, zero, bx * bx, bx * by, by * by],
            ]
        )
        return LocalMaps(composed.transpose(2, 0, 1) @ self.coefficients, self.reach)


def table_to_picture(
    camera: Camera, places_mm: Array, heights_mm: Array, reach_mm: float
) -> LocalMaps:
    """Maps offsets in mm around `places_mm` (n, 2), on planes `heights_mm` (n,), to pixels."""
    nine = places_mm[:, None] + _NINE_POINTS * reach_mm
    heights = np.broadcast_to(heights_mm[:, None, None], (*nine.shape[:2], 1))
    pixels = camera.to_image(np.concatenate([nine, heights], axis=2).reshape(-1, 3))
    return _through_nine(pixels, reach_mm)


def picture_to_table(
    camera: Camera, centres_px: Array, heights_mm: Array, reach_px: float
) -> LocalMaps:
    """Maps offsets in pixels around `centres_px` (n, 2) to places on planes `heights_mm` (n,)."""
    nine = centres_px[:, None] + _NINE_POINTS * reach_px
    heights = np.repeat(heights_mm, len(_NINE_POINTS))
    return _through_nine(camera.to_table(nine.reshape(-1, 2), heights), reach_px)


def _through_nine(values: Array, reach: float) -> LocalMaps:
    """Fits the polynomials to exact values at the nine points."""
    return LocalMaps(np.asarray(_FIT_TO_NINE @ values.reshape(-1, len(_NINE_POINTS), 2)), reach)


def _basis(offsets: Array) -> Array:
    """Returns the monomials 1, x, y, x², xy, y² of offsets (..., 2)."""
    x, y = offsets[..., 0], offsets[..., 1]
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


# The nine points are the same for all patches: one pseudo-inverse fits them all.
_FIT_TO_NINE = np.linalg.pinv(_basis(_NINE_POINTS))
