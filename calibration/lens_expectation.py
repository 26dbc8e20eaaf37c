"""How wrong a lens will make places on a table, before there is a table.

A lens's uncertain parameters move pixels, but the table's pose is found with the same lens, from
tags near the corners of the picture, and takes most of that back. What is left is what counts.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Pose
from calibration.lens import LENS_PARAMETERS, Lens
from calibration.results import LensCalibration

Array = NDArray[np.float64]

_FIELD = 0.92
_TAGS_FIELD = 0.80
_TAG_HALF = 0.03  # of the picture's width


def field_sigmas_px(
    calibration: LensCalibration, *, across: int = 9, down: int = 7, field: float = _FIELD
) -> Array:
    """What the lens alone leaves uncertain over the field, (down, across) from top left, in pixels.

    One standard deviation of a pixel's place, as if the camera hung straight over a table that
    fills its picture, registered by a tag near each corner. nan where the lens sees nothing.
    `field` is the share of the picture's width and height that the grid spans.
    """
    lens = calibration.lens
    above = Camera(lens, Pose((0.0, 0.0, 0.0), (0.0, 0.0, 1000.0)))
    # Without the lens a pixel is only as far from where it was as the pose cannot follow.
    tags, by_tags = _jacobians(above, _tag_corners_px(lens))
    _, by_field = _jacobians(above, _grid_px(lens, across, down, field))
    count = len(LENS_PARAMETERS)
    usable = np.isfinite(tags).all(axis=1)
    seen = by_tags[usable].reshape(-1, by_tags.shape[-1])
    taken_back, *_ = np.linalg.lstsq(seen[:, count:], seen[:, :count], rcond=None)
    left = by_field[..., :count] - by_field[..., count:] @ taken_back
    covariances = left @ calibration.covariance @ left.transpose(0, 2, 1)
    variances = np.trace(covariances, axis1=1, axis2=2) / 2
    return np.asarray(np.sqrt(variances).reshape(down, across))


def _jacobians(above: Camera, points_px: Array) -> tuple[Array, Array]:
    """The table points behind pixels (n, 2), and the derivatives (n, 2, 15) of the pixels."""
    places = above.to_table(points_px)
    points = np.column_stack([places, np.zeros(len(places))])
    return places, above.parameter_jacobian(points)


def _grid_px(lens: Lens, across: int, down: int, field: float) -> Array:
    """A grid over so much of the field, (down * across, 2), row by row."""
    x_px = (0.5 + field * np.linspace(-0.5, 0.5, across)) * lens.width_px - 0.5
    y_px = (0.5 + field * np.linspace(-0.5, 0.5, down)) * lens.height_px - 0.5
    return np.array([(x, y) for y, x in product(y_px, x_px)])


def _tag_corners_px(lens: Lens) -> Array:
    """The corners (16, 2) of a tag near each of the picture's corners."""
    half = _TAG_HALF * lens.width_px
    middle = np.array([lens.width_px, lens.height_px]) / 2
    signs = list(product((-1, 1), repeat=2))
    return np.array(
        [
            middle * (1 + _TAGS_FIELD * np.array(s)) + half * np.array(t)
            for s in signs
            for t in signs
        ]
    )
