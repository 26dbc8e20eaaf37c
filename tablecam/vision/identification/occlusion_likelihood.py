"""Scores how well tags explain a patch when occluders of any shape may lie over them.

`occluders` assumes single discs, edges and bars. Smoke, a die with its shadow and a figure on top
of it hide other shapes: here a point counts as covered if its neighbourhood contradicts the tag by
more than covering it would cost. That separates tags less well in general, but much better where
few are possible: beside known bases of their unit.

Costs are in nats times `SPREAD`, because neighbouring points have correlated errors.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]
Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

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
_COMPACT_OCCLUDERS = ((0.22, 0.15, 1.0), (0.22, 0.45, 0.5), (0.26, 0.3, 0.5))
"""Sigma of points in view, cost of a covered point and of a step of the outline: a compact occluder
costs little for its area, but more for its outline. Nobody knows how much, so three guesses count.
On 140 crowded pictures the surest of 254 wrong names was surer than 15 to 30 % of 700 right ones by
each guess alone, than 7 % by their mean."""
_COMPACT_ROUNDS = 8


def costs_with_occluders(seen: Map, meant: Map, *, noise: float) -> tuple[Array, Array]:
    """Returns the costs of a patch as each of k tags with anything on top, (k,), and as no tag.

    `seen`, one patch (m,) for all tags or one for each (k, m), and `meant` (k, m) are 0 for black
    paint and 1 for white paper, row by row at the points of a square, NaN where nothing is known:
    there neither costs anything. `noise` is the pixels' sigma in that unit. The cost of no tag has
    one value a patch.
    """
    mismatch, cover_cost = _point_costs(seen, meant, noise, _POINT_SIGMA, _COVERED_POINT_COST)
    cover_gain = mismatch - cover_cost
    # Cover a point only if its whole neighbourhood gains: an occluder is larger than a point.
    cover_gain *= _box_sums(cover_gain) > 0
    costs = mismatch.sum(axis=(1, 2)).astype(np.float64) - cover_gain.sum(axis=(1, 2))
    return costs, cover_cost.sum(axis=(1, 2), dtype=np.float64)


def costs_with_compact_occluders(seen: Map, meant: Map, *, noise: float) -> Array:
    """Returns the costs of a patch (m,) as each of k tags (k, m) under compact occluders, (3, k).

    Where another tag differs, a nearby occluder may simply reach farther: then agreement there says
    little for a tag. Each row is one model of occluders. Other arguments as for
    `costs_with_occluders`.
    """
    return np.array(
        [_compact_costs(seen, meant, noise, *occluder) for occluder in _COMPACT_OCCLUDERS]
    )


def _compact_costs(
    seen: Map, meant: Map, noise: float, sigma: float, point_cost: float, outline_cost: float
) -> Array:
    """Returns the costs of each tag, (k,), under the best cover of an Ising model.

    Found by iterated conditional modes (Besag 1986) from three starts.
    """
    mismatch, cover_cost = _point_costs(seen, meant, noise, sigma, point_cost)
    gain = mismatch - cover_cost
    covered = np.concatenate([_box_sums(gain) > 0, gain > 0, np.ones_like(gain, dtype=np.bool_)])
    is_even = np.indices(gain.shape[1:]).sum(axis=0) % 2 == 0
    gain = np.tile(gain, (3, 1, 1))
    for _ in range(_COMPACT_ROUNDS):
        before = covered
        # Updates neighbours in turn, as on a chessboard, so that the cost can only fall.
        for is_turn in (is_even, ~is_even):
            is_worth_it = gain + np.float32(outline_cost) * _pull(covered) > 0
            covered = np.where(is_turn, is_worth_it, covered)
        if (covered == before).all():
            break
    outline = sum((np.diff(covered, axis=axis) != 0).sum(axis=(1, 2)) for axis in (1, 2))
    saved = (gain * covered).sum(axis=(1, 2)) - outline_cost * outline
    return np.asarray(mismatch.sum(axis=(1, 2)) - saved.reshape(3, -1).max(axis=0))


def _point_costs(
    seen: Map, meant: Map, noise: float, sigma: float, covered: float
) -> tuple[Map, Map]:
    """Returns the cost of each point in view (k, a, a), and if it shows an occluder.

    An occluder costs `covered` a point, and more where it is uneven.
    """
    across = math.isqrt(seen.shape[-1])
    picture = seen.reshape(-1, across, across)
    cover_sigma, view_sigma = (
        np.float32(max(least, _SIGMA_PER_NOISE * noise)) for least in (_COVER_SIGMA, sigma)
    )
    # How far each point differs from the mean of its neighbourhood.
    uneven = (picture - _box_sums(picture) / np.float32(9)) / cover_sigma
    # In place: there are a thousand tags, and it halves the time.
    mismatch: Map = picture - meant.reshape(-1, across, across)
    mismatch /= np.float32(math.sqrt(2)) * view_sigma
    mismatch *= mismatch
    np.minimum(mismatch, np.float32(_MOST_POINT_COST), out=mismatch)
    cover_cost = np.minimum(uneven**2 / 2, np.float32(_MOST_UNEVEN_COST)) + np.float32(covered)
    is_unknown = np.isnan(picture)
    if is_unknown.any():
        # Beside unknown points nobody knows how even an occluder is.
        np.nan_to_num(cover_cost, copy=False, nan=covered)
        mismatch[np.broadcast_to(is_unknown, mismatch.shape)] = 0
        cover_cost[is_unknown] = 0
    return mismatch, cover_cost


def _pull(covered: Rows) -> Map:
    """Returns how many of each point's four neighbours are covered, less those that are not."""
    signs = np.where(covered, np.float32(1), np.float32(-1))
    pull = np.zeros_like(signs)
    pull[:, 1:] += signs[:, :-1]
    pull[:, :-1] += signs[:, 1:]
    pull[:, :, 1:] += signs[:, :, :-1]
    pull[:, :, :-1] += signs[:, :, 1:]
    return pull


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
