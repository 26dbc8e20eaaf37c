"""How well tags explain a patch when things of any shape may lie over them.

`occluders` thinks of single discs, edges and bars. Smoke, a die with its shadow and a figure on
top of it hide what they will: here a point counts as covered wherever a cell's neighbourhood
contradicts the tag by more than covering it would cost. That tells tags apart less well anywhere
on a table, but much better where few can lie: beside known bases of their unit.

Costs are in nats times `SPREAD`: neighbouring points err together.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]
Array = NDArray[np.float64]

SPREAD = 1.5
"""What is so much cheaper than something else is e times as likely. It and the constants below
were chosen on 72 simulated tables of 2 to 6 px a cell, where with them 245 of 254 half hidden tags
that lay flush beside a known base of their unit were 9 times as likely as all that they could be
else, and of 3,000 names made up for them 3.8 %."""
_POINT_SPREAD, _SPREAD_OF_NOISE = 0.3, 1.2
_MOST_OF_POINT = 6.0
_COVERED_POINT = 0.5
_COVER_SPREAD, _MOST_UNEVEN = 0.15, 1.0
"""Things are of one grey from point to point, more or less; a tag's edges are not."""


def costs_if_covered(seen: Map, meant: Map, *, noise: float) -> tuple[Array, Array]:
    """What it costs that a patch is each of k tags with anything on top, and that it is none.

    `seen`, one patch (m,) for all tags or one for each (k, m), and `meant` (k, m) are 0 for black
    paint and 1 for white paper, row by row at the points of a square; `noise` is the spread of the
    pixels in that unit. The costs are (k,), and for each patch.
    """
    across = math.isqrt(seen.shape[-1])
    picture = seen.reshape(-1, across, across)
    cover_spread, spread = (
        np.float32(max(least, _SPREAD_OF_NOISE * noise)) for least in (_COVER_SPREAD, _POINT_SPREAD)
    )
    uneven = (picture - _about(picture) / np.float32(9)) / cover_spread
    covered = np.minimum(uneven**2 / 2, np.float32(_MOST_UNEVEN)) + np.float32(_COVERED_POINT)
    # In place, as there are a thousand tags: half of the time.
    amiss: Map = picture - meant.reshape(-1, across, across)
    amiss /= np.float32(math.sqrt(2)) * spread
    amiss *= amiss
    np.minimum(amiss, np.float32(_MOST_OF_POINT), out=amiss)
    saved = amiss - covered
    saved *= _about(saved) > 0
    costs = amiss.sum(axis=(1, 2)).astype(np.float64) - saved.sum(axis=(1, 2))
    return costs, covered.sum(axis=(1, 2), dtype=np.float64)


def _about(maps: Map) -> Map:
    """The sums over each point and its eight neighbours; the outermost points are repeated."""
    rows = maps.copy()
    rows[:, 1:] += maps[:, :-1]
    rows[:, 0] += maps[:, 0]
    rows[:, :-1] += maps[:, 1:]
    rows[:, -1] += maps[:, -1]
    # As one long row, which is quick; the ends of rows, which then reach into others, are mended.
    sums, row = rows.copy(), rows.ravel()
    sums.ravel()[1:] += row[:-1]
    sums.ravel()[:-1] += row[1:]
    sums[:, :, 0] = 2 * rows[:, :, 0] + rows[:, :, 1]
    sums[:, :, -1] = rows[:, :, -2] + 2 * rows[:, :, -1]
    return sums
