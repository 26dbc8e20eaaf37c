"""The steps of a fit: what pixels say of light, blur and place, and so where to go."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablecam.vision.fitting.light import ExpectedLight
from tablecam.vision.fitting.robust import LEAST_GAIN_GREY, Believed
from tablecam.vision.fitting.tag_model import (
    ACROSS,
    ALONG,
    BLACK,
    BLUR,
    GAIN,
    GROUND,
    PLACE,
    TagColumns,
    TagPoses,
)

Array = NDArray[np.float64]
Map = NDArray[np.float32]

_LONGEST_STEP_CELLS = 0.7
_LEAST_FIRM = 0.7
"""Steps are lengthened by no more than this divides: longer ones swing to and fro."""
_STIFFNESS = 1e-3
"""Keeps the normal equations solvable where no pixel is left to tell."""
_LIGHT_CHANGES = 0.05
"""From a tag's middle to its side, as a share: one standard deviation of what is expected. Shadows'
edges and lamps' light falling off do this; unless they are fitted, tags are drawn towards the light
by up to a twentieth of a pixel (two pictures of the shared footage: median error 0.090 px without,
0.058 with)."""
_BLUR_DIFFERS = 0.1
"""The blur's logarithm, likewise: the fit moves it freely for tags that tell."""
_GROUND_DIFFERS = 0.5
"""From the white of the rim, as a share of black to white, likewise."""
_HELD = 1e6
_LIGHT_TELLS = 30.0
"""As if so many pixels of each tag told the light that is expected on it: what lies over a tag
hides many at once. With 10 to 30 the same is found."""
_FIRST_SPREAD_GREY = 30.0
"""What pixels of half hidden tags are off by before it is known what is hidden."""


def solved(
    columns: TagColumns,
    told: Map,
    grey: Map,
    prior: Array,
    light: ExpectedLight | None = None,
    spread_grey: ArrayLike = _FIRST_SPREAD_GREY,
) -> Map:
    """The shares (n, k) of the columns that explain the pixels best.

    `told` (n, k, m) are the columns times what their pixels tell, which spread by `spread_grey`
    where the light that is expected has to be weighed against them.
    """
    normal = (told @ columns.values.transpose(0, 2, 1)).astype(np.float64)
    normal += prior[:, :, None] * np.eye(prior.shape[1])
    right = (told @ grey[..., None]).astype(np.float64)
    if light is not None:
        weight = _LIGHT_TELLS * np.square(np.asarray(spread_grey, dtype=np.float64))
        precision = light.precision * weight.reshape(-1, 1, 1)
        normal[:, : BLACK + 1, : BLACK + 1] += precision
        right[:, : BLACK + 1] += precision @ light.mean_grey[..., None]
    return np.asarray(np.linalg.solve(normal, right)[..., 0], dtype=np.float32)


def light_and_blur_held(columns: TagColumns) -> Array:
    """A prior (n, k) for the first step, which knows nothing yet of light and noise."""
    prior = np.full(columns.values.shape[:2], _STIFFNESS)
    prior[:, [ACROSS, ALONG, BLUR]] = _HELD
    return prior


def expected(shares: Map, left: Believed, *, light_changes: float = _LIGHT_CHANGES) -> Array:
    """A prior (n, k): how well light and blur are known before, in units of the pixels' noise."""
    gain = np.maximum(shares[:, GAIN], LEAST_GAIN_GREY).astype(np.float64)
    prior = np.full(shares.shape, _STIFFNESS)
    prior[:, ACROSS] = prior[:, ALONG] = (left.spread_grey / (light_changes * gain)) ** 2
    prior[:, BLUR] = (left.spread_grey / (_BLUR_DIFFERS * gain)) ** 2
    if shares.shape[1] > GROUND:
        prior[:, GROUND] = (left.spread_grey / (_GROUND_DIFFERS * gain)) ** 2
    return prior


def moved(poses: TagPoses, shares: Map, firmness: Map | None) -> TagPoses:
    """The poses after a step, a longer one where tags pull less firmly than their weights do.

    A step changes the weights as well, so that half hidden tags would come near slowly.
    """
    # The slopes' shares are gain times the step: the picture is linear in these.
    change = shares[:, PLACE] / np.maximum(shares[:, :1], LEAST_GAIN_GREY)
    if firmness is not None:
        change = change / np.maximum(firmness, _LEAST_FIRM)[:, None]
    longest = np.abs(change).max(axis=1, keepdims=True)
    change = change * np.minimum(1.0, _LONGEST_STEP_CELLS / np.maximum(longest, 1e-9))
    change = change.astype(np.float32)
    return TagPoses(poses.moved_cells + change[:, :2], poses.headings_rad + change[:, 2])
