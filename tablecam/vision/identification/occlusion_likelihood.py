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


def most_worth(seen: Map, low: Map, high: Map, *, noise: float) -> float:
    """Returns a bound of how much less than no tag a tag costs that shows `low` to `high`, (m,).

    Other arguments as for `costs_with_occluders`.
    """
    nearest = np.clip(seen, low, high)
    mismatch, cover_cost = _point_costs(seen, nearest, noise, _POINT_SIGMA, _COVERED_POINT_COST)
    # At least the cheaper of the two is paid for each point.
    return float(np.maximum(cover_cost - mismatch, 0).sum())


def costs_with_compact_occluders(seen: Map, meant: Map, *, noise: float) -> Array:
    """Returns the costs of a patch (m,) as each of k tags (k, m) under compact occluders, (3, k).

    Where another tag differs, a nearby occluder may simply reach farther: then agreement there says
    little for a tag. Each row is one model of occluders, an Ising model: its best cover is found by
    iterated conditional modes (Besag 1986) from three starts. Other arguments as for
    `costs_with_occluders`.
    """
    costs = [
        _point_costs(seen, meant, noise, sigma, covered) for sigma, covered, _ in _COMPACT_OCCLUDERS
    ]
    gain = np.array([mismatch - cover_cost for mismatch, cover_cost in costs])
    gain = gain.reshape(-1, *gain.shape[2:])
    outline_costs = [cost for _, _, cost in _COMPACT_OCCLUDERS]
    outline_cost = np.array(outline_costs, dtype=np.float32).repeat(len(meant))
    starts = np.stack([_box_sums(gain) > 0, gain > 0, np.ones_like(gain, dtype=np.bool_)])
    least_pull = np.asarray(-gain / outline_cost[:, None, None], dtype=np.float32)
    is_covered = _compact_covers(starts, least_pull)
    outline = sum((np.diff(is_covered, axis=axis) != 0).sum(axis=(2, 3)) for axis in (2, 3))
    saved = (gain * is_covered).sum(axis=(2, 3)) - outline_cost * outline
    visible_cost = np.array([mismatch.sum(axis=(1, 2)) for mismatch, _ in costs])
    return np.asarray(visible_cost - saved.max(axis=0).reshape(visible_cost.shape))


def _compact_covers(starts: Rows, least_pull: Map) -> Rows:
    """Improves covers (3, n, a, a) until each point is covered if its neighbours pull it enough.

    The pull is the number of its four neighbours that are covered, less those that are not; it must
    exceed `least_pull` (n, a, a).
    """
    # Small integers, and a row and column of 0 beyond the edges, make the many steps fast.
    edges = ((0, 0), (0, 0), (1, 1), (1, 1))
    signs = np.pad(np.where(starts, np.int8(1), np.int8(-1)), edges)
    least = np.pad(np.floor(least_pull).clip(-5, 4).astype(np.int8), edges[1:])
    is_inside = np.pad(np.ones(starts.shape[2:], dtype=np.bool_), 1)
    is_even = np.indices(is_inside.shape).sum(axis=0) % 2 == 0
    turns = [
        np.broadcast_to(is_inside & is_turn, signs.shape).ravel().view(np.int8)
        for is_turn in (is_even, ~is_even)
    ]
    flat, row = signs.ravel(), signs.shape[-1]
    least = np.broadcast_to(least, signs.shape).ravel()
    pull = np.zeros_like(flat)
    middle = pull[row:-row]
    for _ in range(_COMPACT_ROUNDS):
        before = flat.copy()
        # Updates neighbours in turn, as on a chessboard, so that the cost can only fall.
        for is_turn in turns:
            np.add(flat[: -2 * row], flat[2 * row :], out=middle)
            middle += flat[row - 1 : -row - 1]
            middle += flat[row + 1 : 1 - row]
            wanted = (pull > least).view(np.int8) * np.int8(2) - np.int8(1)
            wanted -= flat
            wanted *= is_turn
            flat += wanted
        if (flat == before).all():
            break
    return np.asarray(signs[..., 1:-1, 1:-1] > 0)


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
