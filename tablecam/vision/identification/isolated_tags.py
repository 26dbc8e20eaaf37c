"""Guesses partly occluded tags that have no identified unit neighbour to show where they lie.

Every remaining square is compared with each isolated tag, e.g. guns and commanders. The evidence:
the tag's size, which few share, that the tag is still missing, and its cells in the light of its
surroundings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.points import expected_values, tag_points, values_of_print
from tablecam.vision.fitting.tags import NO_TAGS, TagFits, TagGuesses
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.occluded_placement import AS_SHOWN
from tablecam.vision.identification.occlusion_likelihood import costs_with_occluders
from tablecam.vision.identification.unit_neighbours import NEAR_NATS

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

_LEAST_RING_SHARE, _LEAST_RIM_SHARE = 0.5, 0.5
_LEAST_WORTH = 40.0
_NAMES = 2
"""How many best names to try for a square. These thresholds are weaker than those after the fit."""


def guess_isolated_tags(sight: FrameContext, squares: TagGuesses, isolated: Index) -> TagGuesses:
    """Returns the likeliest of the patterns `isolated` (k,) for squares of their size, at any turn.

    The squares' own patterns are ignored; their headings are right up to quarter turns.
    """
    if sight.light is None or not len(squares) or not len(isolated):
        return NO_TAGS
    expected = expected_values(sight.patterns.cells[isolated], sight.blur_cells(squares))
    shown, gain_grey = shown_in_known_light(sight, squares)
    parts = []
    for row in rows_with_ring(sight, shown, expected).tolist():
        noise = sight.noise_grey / float(gain_grey[row])
        # All patterns at all four turns compete.
        best = _likeliest(shown[row], expected.reshape(-1, expected.shape[2]), noise)
        candidates = squares[np.full(len(best), row)]
        # The flat index counts four turns a pattern.
        headings_rad = candidates.headings_rad + best % 4 * (np.pi / 2)
        parts.append(replace(candidates, pattern=isolated[best // 4], headings_rad=headings_rad))
    return TagGuesses.joined(parts)


def evidence_by_size_nats(fits: TagFits, kinds: Sequence[TagKind], patterns: int) -> Array:
    """Returns how much more likely each pattern is at each fit (n, k), in nats, by its size."""
    likelier = np.zeros((len(fits), patterns))
    for kind in kinds:
        rows = np.isin(fits.tags.pattern, kind.pattern)
        likelier[np.ix_(rows, kind.pattern)] = NEAR_NATS
    return likelier


def shown_in_known_light(sight: FrameContext, squares: TagGuesses) -> tuple[Map, Array]:
    """Returns values of the print at the points of squares, (n, m), and the gain, (n,).

    The picture's light must be known.
    """
    assert sight.light is not None
    gain, black = sight.light.at(squares.places_mm).mean_grey.T
    points = tag_points(sight.patterns.side_cells)
    return values_of_print(sight.values_at(squares, points), black, gain, points), gain


def rows_with_ring(sight: FrameContext, shown: Map, expected: Map) -> Index:
    """Returns the rows that show enough of a border and its rim."""
    points = tag_points(sight.patterns.side_cells)
    mismatch = np.abs(shown - expected.mean(axis=(0, 1)))[:, ~points.is_inner]
    is_framed = (mismatch < AS_SHOWN).mean(axis=1) >= _LEAST_RING_SHARE
    white = (shown[:, points.is_rim] > 1 - AS_SHOWN).mean(axis=1)
    return np.flatnonzero(is_framed & (white >= _LEAST_RIM_SHARE))


def _likeliest(shown: Map, expected: Map, noise: float) -> Index:
    """Returns the cheapest expected patches (k, m) that are cheap enough."""
    costs, nothing_cost = costs_with_occluders(shown, expected, noise=noise)
    best = np.argsort(costs, kind="stable")[:_NAMES]
    return np.asarray(best[nothing_cost[0] - costs[best] >= _LEAST_WORTH])
