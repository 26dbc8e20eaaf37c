"""What squares may be that do not read clearly: the few tags that most of them agrees with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import Readings
from tablecam.vision.detection.points import TagPoints, expected_at_points, tag_points
from tablecam.vision.fitting.tags import TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.hypotheses import Hypotheses
from tablecam.vision.identification.occluders import UNLIKELY_NATS, explanations

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_RING = 0.38
_RING_SLACK = 0.2
"""Tags of sizes whose ring is so much less like a tag's than another size's are not thought of.
Where ground darker than ink bleeds into a rim of one cell, at 2 px a cell, tags of 15.8 mm looked
like ones of 14.4 mm by up to 0.19: thought of as these alone, two were missed and one misnamed."""
_MOST_FOR_A_SQUARE = 3
_MOST_FREE, _MOST_TAKEN = 10, 2
_MOST_COST, _MOST_MORE, _FOR_BLANK = 150.0, 12.0, 40.0
"""In nats, as `occluders` counts. Of 96 tags 15 to 50 % hidden that were known in the end, all cost
141 or less here, and 5 or less more than the best explanation; 95 of a hundred were the best."""
_LEAST_ALIKE = 0.55
"""Before it is fitted: all of 770 half hidden tags that were alike enough in the end had 0.61 or
more on 20 simulated tables at 2 to 6 px a cell; half to three quarters of all others have less."""
_OUT_OF_THE_QUESTION = 1e6
_LEAST_GAIN_GREY = 8.0


def half_hidden_hypotheses(
    sight: Sight, readings: Sequence[Readings], is_left: Rows, taken: Rows
) -> Hypotheses:
    """The few patterns that squares which are left (n,) are best explained by.

    Patterns `taken` (k,) were found elsewhere: they are thought of only where they explain more.
    """
    best_ring = np.max([reading.ring for reading in readings], axis=0)
    parts: list[_Explained] = []
    for reading in readings:
        fits_in = (reading.ring >= _LEAST_RING) & (reading.ring >= best_ring - _RING_SLACK)
        rows = np.flatnonzero(is_left & fits_in)
        if len(rows):
            parts += _explained(sight, reading, rows, taken)
    square = np.concatenate([np.empty(0, np.int64), *(part.square for part in parts)])
    cost = np.concatenate([np.empty(0), *(part.cost for part in parts)])
    order = np.lexsort((cost, square))
    first = np.searchsorted(square[order], square[order])
    near = (np.arange(len(order)) - first < _MOST_FOR_A_SQUARE) & (cost[order] < _MOST_COST)
    chosen = order[near & (cost[order] - cost[order][first] < _MOST_MORE)]
    return Hypotheses(TagGuesses.joined([part.guesses for part in parts])[chosen], square[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    """Guesses (n,), the square that each is about, and what it costs to believe it."""

    guesses: TagGuesses
    square: Index
    cost: Array


def _explained(sight: Sight, reading: Readings, rows: Index, taken: Rows) -> list[_Explained]:
    """The best patterns for some rows of a reading: of those that are free, and of the others."""
    kind, many = reading.kind, np.ones(len(rows))
    upright = TagGuesses(
        np.zeros(len(rows), dtype=np.int64),
        reading.places_mm[rows],
        reading.headings_rad[rows],
        kind.height_mm * many,
        kind.size_mm * many,
    )
    points = tag_points(sight.patterns.side_cells)
    expected = expected_at_points(sight.patterns.cells[kind.pattern], sight.blur_cells(upright))
    seen = sight.seen(upright, points)
    black, gain = _levels(seen, expected, points)
    shown = (seen - black[:, None]) / gain[:, None]
    parts: list[_Explained] = []
    for is_taken, few, handicap in ((False, _MOST_FREE, 0.0), (True, _MOST_TAKEN, UNLIKELY_NATS)):
        mine = np.flatnonzero(taken[kind.pattern] == is_taken)
        if len(mine):
            noise = np.asarray(sight.noise_grey / gain, dtype=np.float64)
            found = explanations(shown, expected[mine], points, noise=noise, few=few)
            # What is as well explained by a plain square is hardly a tag.
            cost = found.cost + handicap + _FOR_BLANK * (found.cost > found.blank[:, None])
            alike = _likeness(shown, expected[mine][found.pattern, found.turns])
            cost = np.where(alike < _LEAST_ALIKE, _OUT_OF_THE_QUESTION, cost)
            each = np.arange(len(rows)).repeat(found.cost.shape[1])
            turned = upright.headings_rad[each] + found.turns.ravel() * (np.pi / 2)
            guesses = replace(
                upright[each],
                pattern=kind.pattern[mine[found.pattern.ravel()]],
                headings_rad=turned,
            )
            parts.append(_Explained(guesses, rows[each], cost.ravel()))
    return parts


def _likeness(seen: Map, meant: Map) -> Array:
    """The correlation of what is seen (n, m) with each of r explanations (n, r, m): (n, r)."""
    seen = seen - seen.mean(axis=1, keepdims=True)
    meant = meant - meant.mean(axis=2, keepdims=True)
    spread = np.linalg.norm(seen, axis=1)[:, None] * np.linalg.norm(meant, axis=2)
    together = np.einsum("nm,nrm->nr", seen, meant)
    return np.asarray(together / np.maximum(spread, 1e-6), dtype=np.float64)


def _levels(seen: Map, expected: Map, points: TagPoints) -> tuple[Map, Map]:
    """The grey of paint, and how much brighter paper is, by border and rim of each patch, (n,)."""
    ring = expected.mean(axis=(0, 1))
    border, rim = (np.median(seen[:, part], axis=1) for part in (points.is_border, points.is_rim))
    border_meant, rim_meant = (np.median(ring[part]) for part in (points.is_border, points.is_rim))
    gain = np.maximum((rim - border) / (rim_meant - border_meant), _LEAST_GAIN_GREY)
    return border - border_meant * gain, gain
