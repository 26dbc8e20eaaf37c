"""Scores which tag a partly hidden patch shows, by what would have to lie over it.

A figure, a puff of smoke or a hand covers one connected piece of a tag and may show anything there.
So each candidate tag pays for its contradictions, or for the cheapest occluder that hides them: a
disc, a straight edge with everything beyond it, or a bar. An occluder's price grows with its area,
and more if it would have to be as sharply black and white as a tag. A tag is identified if every
other one costs clearly more. A hidden cell is therefore evidence neither for nor against a tag.

Costs are negative log likelihoods in nats, as far as the constants below are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import TagPoints, tag_points

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_RADII_CELLS = (1.0, 1.8, 2.7)
_BAR_CELLS = 1.5
_DIRECTIONS = 12
_MOST_HIDDEN = 0.55
"""Largest share of a tag that an occluder may hide: too little remains beyond it."""

_LEAST_SIGMA = 0.15
"""Least sigma of points about their expected values, black to white: 0.10 on unoccluded tags."""
_MOST_SIGMA = 0.35
_SIGMA_PER_NOISE = 1.2
_MOST_POINT_COST = 2.5
_MOST_RIM_COST = 1.0
"""Largest cost of a point: a cell has four; rims are the first to be covered."""
_HIDDEN_POINT_COST = 0.25
_OCCLUDER_COST = 2.0
_OCCLUDER_SIGMA = 0.25
_MOST_UNEVEN_COST = 0.5
"""Occluders are mostly of one grey; this caps the cost of a point that is not."""
UNLIKELY_NATS = 6.0
"""Prior cost of a pattern that is identified elsewhere or not in the roster."""
_BATCH_PATCHES = 16
"""Patches per batch: more would not fit into the processor's cache."""
_THOROUGH_PATTERNS = 24
"""Patterns compared with all occluders: those whose inner points agree best."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanations:
    """Costs of explaining each of n patches as each of r tags, turned and partly hidden.

    `pattern` (n, r) and `turns` (n, r) identify the tags; a lower `cost` (n, r) explains better.
    `blank` (n,) is the cost of no tag: a black or white square with a rim, and something on top.
    """

    pattern: Index
    turns: Index
    cost: Array
    blank: Array

    def __getitem__(self, rows: Index) -> Explanations:
        return Explanations(self.pattern[rows], self.turns[rows], self.cost[rows], self.blank[rows])

    @classmethod
    def joined(cls, parts: Sequence[Explanations]) -> Explanations:
        """Returns all rows of the parts, which have equally many tags each, in order."""
        return cls(
            np.concatenate([part.pattern for part in parts]),
            np.concatenate([part.turns for part in parts]),
            np.concatenate([part.cost for part in parts]),
            np.concatenate([part.blank for part in parts]),
        )


def explanations(
    seen: Map,
    expected: Map,
    points: TagPoints,
    *,
    noise: Array,
    always: Index | None = None,
    few: int = _THOROUGH_PATTERNS,
) -> Explanations:
    """Explains n patches `seen` (n, m) by the tags `expected` (k, 4, m) at the same points.

    Both are 0 for black paint and 1 for white paper, NaN where nothing is known; `noise` (n,) is
    the pixels' sigma in that unit. The `few` tags that agree best inside are compared with all
    occluders; the patterns `always` (n, a), unturned, come first, whatever they cost.
    """
    cost_per_square = _cost_per_square(noise)
    flat = expected.reshape(-1, expected.shape[2])
    # A cheap ranking by the inner points first: comparing with all occluders is costly.
    tags, _ = likeliest(seen, expected, points, few=few, noise=noise)
    if always is not None:
        tags = np.concatenate([4 * always, tags], axis=1)
    ring = flat.mean(axis=0)
    # A blank black or white card competes as the explanation "no tag".
    squares = np.stack([np.where(points.is_inner, level, ring) for level in (0.0, 1.0)])
    squares = squares.astype(np.float32)
    covers = _covers(points.side_cells)
    cover_price = _price_of_hiding(seen, covers)
    # The cap limits the weight of one point, because whatever covers it may show anything.
    cap = np.where(points.is_rim, _MOST_RIM_COST, _MOST_POINT_COST).astype(np.float32)
    is_visible = (~covers).astype(np.float32).T
    cost, blank, is_unknown = np.empty(tags.shape), np.empty(len(seen)), np.isnan(seen)
    for start in range(0, len(seen), _BATCH_PATCHES):
        rows = slice(start, start + _BATCH_PATCHES)
        candidates = flat[tags[rows]]
        candidates = np.concatenate(
            [candidates, np.broadcast_to(squares, (len(candidates), *squares.shape))], 1
        )
        mismatch = np.minimum(
            (seen[rows, None] - candidates) ** 2 * cost_per_square[rows, None, None], cap
        )
        if is_unknown[rows].any():
            np.nan_to_num(mismatch, copy=False)
        # One matrix product sums the mismatch outside every occluder at once.
        visible_cost = (mismatch.reshape(-1, mismatch.shape[2]) @ is_visible).reshape(
            *mismatch.shape[:2], -1
        )
        best = (visible_cost + cover_price[rows, None]).min(axis=2)
        cost[rows], blank[rows] = best[:, :-2], best[:, -2:].min(axis=1)
    return Explanations(tags // 4, tags % 4, cost, blank)


def likeliest(
    seen: Map, expected: Map, points: TagPoints, *, few: int, noise: Array
) -> tuple[Index, Array]:
    """Returns the few tags and turns that agree best inside, best first: rows and costs, (n, few).

    Rows count patterns and their four turns. No occluder is assumed, but the cost of a point is
    capped.
    """
    flat = expected.reshape(-1, expected.shape[2])[:, points.is_inner]
    few = min(few, len(flat))
    inner, cost_per_square = seen[:, points.is_inner], _cost_per_square(noise)
    tags, cost = np.empty((len(seen), few), dtype=np.int64), np.empty((len(seen), few))
    has_unknown = np.any(np.isnan(inner), axis=1).tolist()
    for row in range(len(seen)):  # all at once would not fit into the processor's cache
        mismatch = np.minimum((inner[row] - flat) ** 2 * cost_per_square[row], _MOST_POINT_COST)
        if has_unknown[row]:
            np.nan_to_num(mismatch, copy=False)
        mismatch = mismatch.sum(axis=1)
        # Partitioning first: only the few best have to be in order.
        best = np.argpartition(mismatch, few - 1)[:few]
        tags[row] = best[np.argsort(mismatch[best])]
        cost[row] = mismatch[tags[row]]
    return tags, cost


def _cost_per_square(noise: Array) -> Map:
    """Returns the cost of a squared difference at pixel noise `noise` (n,)."""
    sigma = np.clip(_SIGMA_PER_NOISE * noise, _LEAST_SIGMA, _MOST_SIGMA)
    return np.asarray(1 / (2 * sigma**2), dtype=np.float32)


def _price_of_hiding(seen: Map, covers: Rows) -> Map:
    """Returns the price of each occluder (c, m) over each patch (n, m): (n, c)."""
    covered = covers.astype(np.float32).T
    known = ~np.isnan(seen)
    size = known.astype(np.float32) @ covered
    seen = np.where(known, seen, 0)
    total, squares = seen @ covered, (seen * seen) @ covered
    # The variance of the covered values, because an occluder should be one grey.
    uneven = (squares - total**2 / np.maximum(size, 1)) / (2 * _OCCLUDER_SIGMA**2)
    price = _HIDDEN_POINT_COST * size + np.minimum(uneven, _MOST_UNEVEN_COST * size)
    return np.asarray(price + _OCCLUDER_COST * (size > 0), dtype=np.float32)


@lru_cache(maxsize=4)
def _covers(side_cells: int) -> Rows:
    """Returns the pieces that occluders may hide, (c, m): nothing, discs, edges and bars."""
    points = tag_points(side_cells)
    half = side_cells / 2 + 1
    steps = np.arange(-half, half + 0.5)
    angles = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    shapes = [np.zeros(len(points.up), dtype=np.bool_)]
    shapes += [
        np.hypot(points.right - x, points.up - y) < radius
        for x in steps
        for y in steps
        for radius in _RADII_CELLS
    ]
    for angle in angles:
        distance_along = points.right * np.cos(angle) + points.up * np.sin(angle)
        shapes += [distance_along > edge for edge in np.arange(-0.5, half, 0.5)]
        # A bar at the opposite angle is the same bar.
        if angle < np.pi:
            middles = np.arange(-half + 1, half - 0.5, 0.5)
            shapes += [np.abs(distance_along - middle) < _BAR_CELLS / 2 for middle in middles]
    # Many shapes hide the same points at a tag's edge.
    covers = np.unique(np.array(shapes), axis=0)
    return np.asarray(covers[covers.mean(axis=1) <= _MOST_HIDDEN])
