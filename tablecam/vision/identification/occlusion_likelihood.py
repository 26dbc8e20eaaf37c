"""Scores how well tags explain a patch when occluders of any shape may lie over them.

`occluders` assumes single discs, edges and bars. Smoke, a die with its shadow and a figure on top
of it hide other shapes: here a point counts as covered wherever its neighbourhood contradicts the
tag by more than covering it would cost. That separates tags less well anywhere on a table, but much
better where few can lie: beside known bases of their unit.

Costs are in nats times `SPREAD`, because neighbouring points have correlated errors.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]
Array = NDArray[np.float64]

SPREAD = 1.5
"""Cost difference that makes a tag e times as likely. It and the constants below were chosen on 72
simulated tables of 2 to 6 px a cell: 245 of 254 partly occluded tags in contact with a known base
of their unit were 9 times as likely as all alternatives together, and of 3,000 invented names 3.8
%."""
_POINT_SIGMA, _SIGMA_PER_NOISE = 0.3, 1.2
_MOST_POINT_COST = 6.0
_COVERED_POINT_COST = 0.5
_COVER_SIGMA, _MOST_UNEVEN_COST = 0.15, 1.0
"""Occluders are mostly of one grey from point to point; a tag's edges are not."""


def costs_with_occluders(seen: Map, meant: Map, *, noise: float) -> tuple[Array, Array]:
    """Returns the costs of a patch as each of k tags with anything on top, (k,), and as no tag.

    `seen`, one patch (m,) for all tags or one for each (k, m), and `meant` (k, m) are 0 for black
    paint and 1 for white paper, row by row at the points of a square; `noise` is the pixels' sigma
    in that unit. The cost of no tag has one value a patch.
    """
    across = math.isqrt(seen.shape[-1])
    picture = seen.reshape(-1, across, across)
    cover_sigma, sigma = (
        np.float32(max(least, _SIGMA_PER_NOISE * noise)) for least in (_COVER_SIGMA, _POINT_SIGMA)
    )
    # How far each point differs from the mean of its neighbourhood.
    uneven = (picture - _box_sums(picture) / np.float32(9)) / cover_sigma
    cover_cost = np.minimum(uneven**2 / 2, np.float32(_MOST_UNEVEN_COST)) + np.float32(
        _COVERED_POINT_COST
    )
    # In place: there are a thousand tags, and it halves the time.
    mismatch: Map = picture - meant.reshape(-1, across, across)
    mismatch /= np.float32(math.sqrt(2)) * sigma
    mismatch *= mismatch
    np.minimum(mismatch, np.float32(_MOST_POINT_COST), out=mismatch)
    cover_gain = mismatch - cover_cost
    # Cover a point only if its whole neighbourhood gains: an occluder is larger than a point.
    cover_gain *= _box_sums(cover_gain) > 0
    costs = mismatch.sum(axis=(1, 2)).astype(np.float64) - cover_gain.sum(axis=(1, 2))
    return costs, cover_cost.sum(axis=(1, 2), dtype=np.float64)


def _box_sums(maps: Map) -> Map:
    """Returns 3 x 3 box sums; the outermost points are repeated beyond the edges."""
    rows = maps.copy()
    rows[:, 1:] += maps[:, :-1]
    rows[:, 0] += maps[:, 0]
    rows[:, :-1] += maps[:, 1:]
    rows[:, -1] += maps[:, -1]
    # Adding flat arrays is fast but wraps at the ends of rows, which are then corrected.
    sums, row = rows.copy(), rows.ravel()
    sums.ravel()[1:] += row[:-1]
    sums.ravel()[:-1] += row[1:]
    sums[:, :, 0] = 2 * rows[:, :, 0] + rows[:, :, 1]
    sums[:, :, -1] = rows[:, :, -2] + 2 * rows[:, :, -1]
    return sums
