"""Solves one Gauss-Newton step of the tag fit: light, blur and pose together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablecam.vision.fitting.light import ExpectedLight
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY, RobustWeights
from tablecam.vision.fitting.tag_model import (
    BLACK,
    BLUR,
    GAIN,
    GRADIENT_RIGHT,
    GRADIENT_UP,
    GROUND,
    POSE,
    TagColumns,
    TagPoses,
)

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_LONGEST_STEP_CELLS = 0.7
_LEAST_CURVATURE_RATIO = 0.7
"""Lower limit of the curvature ratio that divides a step: longer steps oscillate."""
_STIFFNESS = 1e-3
"""Keeps the normal equations solvable where every pixel has weight 0."""
_LIGHT_SLOPE_SIGMA = 0.05
"""Prior sigma of the light's change from a tag's middle to its side, as a share of the gain. Shadow
edges and the falloff of lamps cause it. Without these two columns tags are drawn towards the light
by up to 0.05 px (two pictures of the shared footage: median error 0.090 px without, 0.058 with)."""
_BLUR_SIGMA = 0.1
"""Prior sigma of the blur's logarithm: weak, so that a clear tag sets its own blur."""
_GROUND_SIGMA = 0.5
"""Prior sigma of the step from the rim's white to the ground, as a share of black to white."""
_FIXED = 1e6
_LIGHT_WEIGHT_PX = 30.0
"""Weight of the expected light, in pixels: an occluder hides many pixels at once. Values from 10 to
30 give the same results."""
_FIRST_SIGMA_GREY = 30.0
"""Sigma of the pixels of partly occluded tags on the first step, before residuals are known."""


def solve_coefficients(
    columns: TagColumns,
    weighted: Map,
    grey: Map,
    prior: Array,
    light: ExpectedLight | None = None,
    sigma_grey: ArrayLike = _FIRST_SIGMA_GREY,
) -> Map:
    """Solves for the coefficients (n, k) of the columns that fit the pixels best.

    `weighted` (n, k, m) are the columns times their pixels' weights, `prior` (n, k) is the diagonal
    of the prior's precision. `sigma_grey` is the pixels' noise; it scales the weight of the
    expected `light`, if given.
    """
    normal = (weighted @ columns.values.transpose(0, 2, 1)).astype(np.float64)
    normal += prior[:, :, None] * np.eye(prior.shape[1])
    right = (weighted @ grey[..., None]).astype(np.float64)
    if light is not None:
        weight = _LIGHT_WEIGHT_PX * np.square(np.asarray(sigma_grey, dtype=np.float64))
        precision = light.precision * weight.reshape(-1, 1, 1)
        # The expected light acts as more pixels: gain and black are the first two columns.
        normal[:, : BLACK + 1, : BLACK + 1] += precision
        right[:, : BLACK + 1] += precision @ light.mean_grey[..., None]
    return np.asarray(np.linalg.solve(normal, right)[..., 0], dtype=np.float32)


def fixed_light_and_blur_prior(columns: TagColumns) -> Array:
    """Returns a prior (n, k) for the first step, which fixes the light's slope and the blur."""
    prior = np.full(columns.values.shape[:2], _STIFFNESS)
    # The noise, which scales the actual prior, is not known yet.
    prior[:, [GRADIENT_RIGHT, GRADIENT_UP, BLUR]] = _FIXED
    return prior


def light_and_blur_prior(
    coefficients: Map, robust: RobustWeights, *, light_slope_sigma: float = _LIGHT_SLOPE_SIGMA
) -> Array:
    """Returns the prior's precision (n, k) of light and blur, in units of the pixels' noise."""
    gain = np.maximum(coefficients[:, GAIN], LEAST_GAIN_GREY).astype(np.float64)
    prior = np.full(coefficients.shape, _STIFFNESS)
    prior[:, GRADIENT_RIGHT] = prior[:, GRADIENT_UP] = (
        robust.sigma_grey / (light_slope_sigma * gain)
    ) ** 2
    prior[:, BLUR] = (robust.sigma_grey / (_BLUR_SIGMA * gain)) ** 2
    # Only the fine fit has a column for the ground.
    if coefficients.shape[1] > GROUND:
        prior[:, GROUND] = (robust.sigma_grey / (_GROUND_SIGMA * gain)) ** 2
    return prior


def take_step(poses: TagPoses, coefficients: Map, curvature_ratio: Map | None) -> TagPoses:
    """Returns the poses after one step, lengthened by the `curvature_ratio` (n,) if given.

    A step also lowers the weights of some pixels, so without this partly occluded tags converge
    slowly.
    """
    # The coefficients of the pose's columns are gain times the step: divide to get the step.
    step = coefficients[:, POSE] / np.maximum(coefficients[:, :1], LEAST_GAIN_GREY)
    if curvature_ratio is not None:
        step = step / np.maximum(curvature_ratio, _LEAST_CURVATURE_RATIO)[:, None]
    longest_step = np.abs(step).max(axis=1, keepdims=True)
    # Shortens the whole step, so that its direction stays.
    step = step * np.minimum(1.0, _LONGEST_STEP_CELLS / np.maximum(longest_step, 1e-9))
    step = step.astype(np.float32)
    return TagPoses(poses.offset_cells + step[:, :2], poses.headings_rad + step[:, 2])
