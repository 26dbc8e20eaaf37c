"""Missing tags that no mate tells of: guns and commanders, half hidden, wherever they lie.

Nothing says where to look, so every square that is left is thought of as each of them. What speaks
for a name is the size, which few share, that it is free, and what is seen in the light about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.points import expected_at_points, tag_points
from tablecam.vision.fitting.tags import NO_TAGS, TagFits, TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.occluded_placement import AS_SHOWN
from tablecam.vision.identification.occlusion_likelihood import costs_if_covered
from tablecam.vision.identification.unit_neighbours import NEAR_NATS

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]

_LEAST_FRAMED, _LEAST_RIM = 0.5, 0.5
_LEAST_WORTH = 40.0
_NAMES = 2
"""What is asked before anything is fitted is less than what is asked after, and soon told."""


def lone_guesses(sight: Sight, squares: TagGuesses, lone: Index) -> TagGuesses:
    """The likeliest few of the patterns `lone` (k,), at any turn, for squares of their size.

    A square's pattern is not looked at, and its heading is right but for quarter turns.
    """
    if sight.light is None or not len(squares) or not len(lone):
        return NO_TAGS
    meant = expected_at_points(sight.patterns.cells[lone], sight.blur_cells(squares))
    light = sight.light.at(squares.places_mm)
    gain, black = (grey[:, None] for grey in light.mean_grey.T)
    points = tag_points(sight.patterns.side_cells)
    shown = ((sight.seen(squares, points) - black) / gain).astype(np.float32)
    parts = []
    for row in _framed(sight, shown, meant).tolist():
        noise = sight.noise_grey / float(light.gain_grey[row])
        best = _likeliest(shown[row], meant.reshape(-1, meant.shape[2]), noise)
        each = squares[np.full(len(best), row)]
        turned_rad = each.headings_rad + best % 4 * (np.pi / 2)
        parts.append(replace(each, pattern=lone[best // 4], headings_rad=turned_rad))
    return TagGuesses.joined(parts)


def likelier_by_size(fits: TagFits, kinds: Sequence[TagKind], patterns: int) -> Array:
    """How much likelier each of so many patterns is at each fit (n,), in nats: its size tells."""
    likelier = np.zeros((len(fits), patterns))
    for kind in kinds:
        mine = np.isin(fits.tags.pattern, kind.pattern)
        likelier[np.ix_(mine, kind.pattern)] = NEAR_NATS
    return likelier


def _framed(sight: Sight, shown: Map, meant: Map) -> Index:
    """The rows that show enough of a border and its rim."""
    points = tag_points(sight.patterns.side_cells)
    amiss = np.abs(shown - meant.mean(axis=(0, 1)))[:, ~points.is_inner]
    is_framed = (amiss < AS_SHOWN).mean(axis=1) >= _LEAST_FRAMED
    white = (shown[:, points.is_rim] > 1 - AS_SHOWN).mean(axis=1)
    return np.flatnonzero(is_framed & (white >= _LEAST_RIM))


def _likeliest(shown: Map, meant: Map, noise: float) -> Index:
    """Which of what could be meant (k, m) costs least, if that is little."""
    costs, nothing = costs_if_covered(shown, meant, noise=noise)
    best = np.argsort(costs, kind="stable")[:_NAMES]
    return np.asarray(best[nothing[0] - costs[best] >= _LEAST_WORTH])
