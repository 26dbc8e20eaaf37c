"""Which tag it is when a part of it is hidden: what would have to lie over it to be another.

A figure, a puff of smoke or a hand covers one connected piece of a tag, and shows there what it
will. So each tag that it might be is charged for what contradicts it, or for the cheapest thing
that hides the contradiction: a disc, a straight edge with all beyond it, or a bar. Hiding has its
price by area, and a higher one where what hides would have to be as sharply black and white as a
tag. A tag is known when every other one would cost clearly more. A hidden cell is thus no
evidence against a tag, and none for it.

Costs are in units of log likelihood, nats, as far as the constants below are true.
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
"""More of a tag than this hidden, and nothing is left to tell it by."""

_LEAST_SPREAD = 0.15
"""Of points about what is expected, black to white: 0.10 on tags that are wholly seen."""
_MOST_SPREAD = 0.35
_SPREAD_OF_NOISE = 1.2
_MOST_OF_POINT = 2.5
_MOST_OF_RIM = 1.0
"""A point that is all wrong costs this: a cell has four; rims are the first to be covered."""
_HIDDEN_POINT = 0.25
_HIDING_AT_ALL = 2.0
_OCCLUDER_SPREAD = 0.25
_MOST_OF_HIDDEN = 0.5
"""Things that hide are of one grey, more or less; but this is all that a point can cost."""
UNLIKELY_NATS = 6.0
"""A pattern that was found elsewhere, or is not of the roster, is so much less likely."""
_AT_ONCE = 16
"""More would not fit into the processor's cache."""
_FEW = 24
"""Patterns that are compared thoroughly: those whose inner points agree best."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanations:
    """What it would cost to say that each of n things seen is one of r tags turned somehow.

    `pattern` (n, r) and `turns` (n, r) say which tags; `cost` (n, r) is lower the better it is
    explained. `blank` (n,) is the cost of its being a black or white square with a rim about it
    and something on top: no tag at all.
    """

    pattern: Index
    turns: Index
    cost: Array
    blank: Array

    def __getitem__(self, rows: Index) -> Explanations:
        return Explanations(self.pattern[rows], self.turns[rows], self.cost[rows], self.blank[rows])

    @classmethod
    def joined(cls, parts: Sequence[Explanations]) -> Explanations:
        """All rows of the parts, of equally many tags each, one part after the other."""
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
    few: int = _FEW,
) -> Explanations:
    """The tags that n patches may be: `seen` (n, m) at the points against `expected` (k, 4, m).

    Both are 0 for black paint and 1 for white paper; `noise` (n,) is the spread of the pixels in
    that unit. The `few` that agree best inside are thought through; the patterns `always` (n, a),
    unturned, are put first, whatever they cost.
    """
    factor = _by_square(noise)
    flat = expected.reshape(-1, expected.shape[2])
    which, _ = likeliest(seen, expected, points, few=few, noise=noise)
    if always is not None:
        which = np.concatenate([4 * always, which], axis=1)
    ring = flat.mean(axis=0)
    squares = np.stack([np.where(points.is_inner, level, ring) for level in (0.0, 1.0)])
    squares = squares.astype(np.float32)
    covers = _covers(points.side_cells)
    hidden = _price_of_hiding(seen, covers)
    most = np.where(points.is_rim, _MOST_OF_RIM, _MOST_OF_POINT).astype(np.float32)
    shown = (~covers).astype(np.float32).T
    cost, blank = np.empty(which.shape), np.empty(len(seen))
    for start in range(0, len(seen), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        meant = flat[which[rows]]
        meant = np.concatenate([meant, np.broadcast_to(squares, (len(meant), *squares.shape))], 1)
        amiss = np.minimum((seen[rows, None] - meant) ** 2 * factor[rows, None, None], most)
        apart = (amiss.reshape(-1, amiss.shape[2]) @ shown).reshape(*amiss.shape[:2], -1)
        best = (apart + hidden[rows, None]).min(axis=2)
        cost[rows], blank[rows] = best[:, :-2], best[:, -2:].min(axis=1)
    return Explanations(which // 4, which % 4, cost, blank)


def likeliest(
    seen: Map, expected: Map, points: TagPoints, *, few: int, noise: Array
) -> tuple[Index, Array]:
    """The few tags and turns that agree best inside, the best first: rows and costs, (n, few).

    Rows count through patterns and their four turns. Nothing is taken as hidden, but no point
    costs more than one that is all wrong.
    """
    flat = expected.reshape(-1, expected.shape[2])[:, points.is_inner]
    few = min(few, len(flat))
    inner, factor = seen[:, points.is_inner], _by_square(noise)
    which, cost = np.empty((len(seen), few), dtype=np.int64), np.empty((len(seen), few))
    for row in range(len(seen)):  # all at once would not fit into the processor's cache
        amiss = np.minimum((inner[row] - flat) ** 2 * factor[row], _MOST_OF_POINT).sum(axis=1)
        best = np.argpartition(amiss, few - 1)[:few]
        which[row] = best[np.argsort(amiss[best])]
        cost[row] = amiss[which[row]]
    return which, cost


def _by_square(noise: Array) -> Map:
    """What a squared difference costs, where pixels spread by `noise` (n,)."""
    spread = np.clip(_SPREAD_OF_NOISE * noise, _LEAST_SPREAD, _MOST_SPREAD)
    return np.asarray(1 / (2 * spread**2), dtype=np.float32)


def _price_of_hiding(seen: Map, covers: Rows) -> Map:
    """What each of the covers (c, m) costs, over each of the patches seen (n, m): (n, c)."""
    over = covers.astype(np.float32).T
    size = over.sum(axis=0)
    total, squares = seen @ over, (seen * seen) @ over
    uneven = (squares - total**2 / np.maximum(size, 1)) / (2 * _OCCLUDER_SPREAD**2)
    price = _HIDDEN_POINT * size + np.minimum(uneven, _MOST_OF_HIDDEN * size)
    return np.asarray(price + _HIDING_AT_ALL * (size > 0), dtype=np.float32)


@lru_cache(maxsize=4)
def _covers(side_cells: int) -> Rows:
    """The pieces of a tag that something may hide, (c, m): nothing, discs, edges and bars."""
    points = tag_points(side_cells)
    half = side_cells / 2 + 1
    steps = np.arange(-half, half + 0.5)
    angles = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    pieces = [np.zeros(len(points.up), dtype=np.bool_)]
    pieces += [
        np.hypot(points.right - x, points.up - y) < radius
        for x in steps
        for y in steps
        for radius in _RADII_CELLS
    ]
    for angle in angles:
        along = points.right * np.cos(angle) + points.up * np.sin(angle)
        pieces += [along > edge for edge in np.arange(-0.5, half, 0.5)]
        if angle < np.pi:
            middles = np.arange(-half + 1, half - 0.5, 0.5)
            pieces += [np.abs(along - middle) < _BAR_CELLS / 2 for middle in middles]
    covers = np.unique(np.array(pieces), axis=0)
    return np.asarray(covers[covers.mean(axis=1) <= _MOST_HIDDEN])
