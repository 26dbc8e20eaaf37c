"""Predicts how uncertain a lens will make places on a table, before the table is set up.

Errors in the lens's parameters move pixels, but the table's pose is fitted with the same lens, from
tags near the picture's corners, and compensates most of them. The remainder counts.
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
    """Returns the sigma of pixels caused by the lens, (down, across) from the top left.

    It is computed for a camera straight above a table that fills its picture, registered by a tag
    near each corner; NaN where the lens sees nothing. `field` is the share of the picture's width
    and height that the grid spans.
    """
    lens = calibration.lens
    # The height is arbitrary: a farther table is a larger one and gives the same pixels.
    above = Camera(lens, Pose((0.0, 0.0, 0.0), (0.0, 0.0, 1000.0)))
    # Solve for the pose change that best compensates each lens parameter, at the tags.
    tags, by_tags = _jacobians(above, _tag_corners_px(lens))
    _, by_field = _jacobians(above, _grid_px(lens, across, down, field))
    count = len(LENS_PARAMETERS)
    # A tag that the lens does not see must not make the fit NaN.
    usable = np.isfinite(tags).all(axis=1)
    at_tags = by_tags[usable].reshape(-1, by_tags.shape[-1])
    compensation, *_ = np.linalg.lstsq(at_tags[:, count:], at_tags[:, :count], rcond=None)
    # The part that the best pose cannot compensate remains as error of the field.
    uncompensated = by_field[..., :count] - by_field[..., count:] @ compensation
    covariances = uncompensated @ calibration.covariance @ uncompensated.transpose(0, 2, 1)
    # The mean over two directions.
    variances = np.trace(covariances, axis1=1, axis2=2) / 2
    return np.asarray(np.sqrt(variances).reshape(down, across))


def _jacobians(above: Camera, points_px: Array) -> tuple[Array, Array]:
    """Returns the table points behind pixels (n, 2), and the pixels' derivatives (n, 2, 15)."""
    places = above.to_table(points_px)
    points = np.column_stack([places, np.zeros(len(places))])
    return places, above.parameter_jacobian(points)


def _grid_px(lens: Lens, across: int, down: int, field: float) -> Array:
    """Returns a grid over the share `field` of the picture, (down * across, 2), row by row."""
    x_px = (0.5 + field * np.linspace(-0.5, 0.5, across)) * lens.width_px - 0.5
    y_px = (0.5 + field * np.linspace(-0.5, 0.5, down)) * lens.height_px - 0.5
    return np.array([(x, y) for y, x in product(y_px, x_px)])


def _tag_corners_px(lens: Lens) -> Array:
    """Returns the corners (16, 2) of a tag near each of the picture's corners."""
    half = _TAG_HALF * lens.width_px
    middle = np.array([lens.width_px, lens.height_px]) / 2
    signs = list(product((-1, 1), repeat=2))
    return np.array(
        [
            middle * (1 + _TAGS_FIELD * np.array(tag)) + half * np.array(corner)
            for tag in signs
            for corner in signs
        ]
    )
