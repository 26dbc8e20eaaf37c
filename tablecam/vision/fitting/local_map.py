"""The camera near many small patches at once, each as a polynomial of second degree.

Exact projection of every pixel of every tag would cost more than all else. Over a patch of some
tens of pixels a lens and a tilted plane differ from their second-degree polynomial by less
than 0.002 px (third-order term of a lens with k1 = -0.22 over 20 px), so nine exact points do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_NINE = np.array([[x, y] for y in (-1.0, 0.0, 1.0) for x in (-1.0, 0.0, 1.0)])


@dataclass(frozen=True, slots=True, eq=False)
class LocalMaps:
    """For each of n patches, how offsets from its centre map: picture to table, or back.

    `coefficients` (n, 6, 2) are of 1, x, y, x², xy, y², with offsets divided by `reach`.
    """

    coefficients: Array
    reach: float

    def __call__(self, offsets: Array) -> Array:
        """Where the offsets (m, 2), alike for all patches, or (n, m, 2) lie: (n, m, 2)."""
        return np.asarray(_basis(offsets / self.reach) @ self.coefficients)

    def over(self, offsets: Array) -> tuple[Map, Map]:
        """As a call, for offsets (m, 2) alike for all patches: x and y, (n, m) each.

        In single precision, which is a thousandth of a millimetre over a table: mind `about`.
        """
        basis = np.ascontiguousarray(_basis(offsets / self.reach).T, dtype=np.float32)
        x, y = np.ascontiguousarray(np.moveaxis(self.coefficients, -1, 0), dtype=np.float32)
        # No matrix product: NumPy's library starts threads for these, which takes 100 times as
        # long where both cores are busy.
        return np.einsum("nk,km->nm", x, basis), np.einsum("nk,km->nm", y, basis)

    @property
    def steps(self) -> Array:
        """What a step of one along x, and one along y, maps to at each centre, (n, 2, 2)."""
        return self.coefficients[:, 1:3] / self.reach

    def about(self, values: Array) -> LocalMaps:
        """The maps to what lies beside `values` (n, 2)."""
        beside = self.coefficients.copy()
        beside[:, 0] -= values
        return LocalMaps(beside, self.reach)

    def then(self, turns: Array) -> LocalMaps:
        """The maps, followed by a matrix (n, 2, 2) that is laid to the right of rows."""
        return LocalMaps(self.coefficients @ turns, self.reach)

    def turned(self, steps: Array) -> LocalMaps:
        """The maps of offsets p, where these map offsets p @ `steps`, (n, 2, 2).

        So one grid of offsets serves patches that are turned differently.
        """
        (ax, ay), (bx, by) = steps.transpose(1, 2, 0)
        none, one = np.zeros_like(ax), np.ones_like(ax)
        # Rows: 1, a, b, a², ab, b²; columns: what 1, x, y, x², xy, y² hold of each.
        composed = np.array(
            [
                [one, none, none, none, none, none],
                [none, ax, ay, none, none, none],
                [none, bx, by, none, none, none],
                [none, none, none, ax * ax, ax * ay, ay * ay],
                [none, none, none, 2 * ax * bx, ax * by + bx * ay, 2 * ay * by],
                [none, none, none, bx * bx, bx * by, by * by],
            ]
        )
        return LocalMaps(composed.transpose(2, 0, 1) @ self.coefficients, self.reach)


def table_to_picture(
    camera: Camera, places_mm: Array, heights_mm: Array, reach_mm: float
) -> LocalMaps:
    """From offsets in mm about `places_mm` (n, 2), on planes `heights_mm` (n,), to pixels."""
    nine = places_mm[:, None] + _NINE * reach_mm
    heights = np.broadcast_to(heights_mm[:, None, None], (*nine.shape[:2], 1))
    pixels = camera.to_image(np.concatenate([nine, heights], axis=2).reshape(-1, 3))
    return _through_nine(pixels, reach_mm)


def picture_to_table(
    camera: Camera, centres_px: Array, heights_mm: Array, reach_px: float
) -> LocalMaps:
    """From offsets in pixels about `centres_px` (n, 2) to places on planes `heights_mm` (n,)."""
    nine = centres_px[:, None] + _NINE * reach_px
    heights = np.repeat(heights_mm, len(_NINE))
    return _through_nine(camera.to_table(nine.reshape(-1, 2), heights), reach_px)


def _through_nine(values: Array, reach: float) -> LocalMaps:
    return LocalMaps(np.asarray(_FIT_TO_NINE @ values.reshape(-1, len(_NINE), 2)), reach)


def _basis(offsets: Array) -> Array:
    x, y = offsets[..., 0], offsets[..., 1]
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


_FIT_TO_NINE = np.linalg.pinv(_basis(_NINE))
