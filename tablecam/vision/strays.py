"""Tags of the roster at a size that they cannot have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.decode import Readings, pattern_scores
from tablecam.vision.dictionary import TagPatterns
from tablecam.vision.kinds import TagKind
from tablecam.vision.sighting import Rejection

Rows = NDArray[np.bool_]

_LEAST_RING, _LEAST_SCORE, _LEAST_MARGIN = 0.75, 0.9, 0.25
"""So clear that a person looking at the picture would name the tag as well."""
_LEAST_RATIO = 1.15
"""Nearer sizes are told apart by fitting alone."""


def tags_of_another_size(
    readings: Sequence[Readings], patterns: TagPatterns, unexplained: Rows, missing: Rows
) -> tuple[Rejection, ...]:
    """What must be said of squares that are `unexplained` (n,) by any tag found.

    Only patterns that are `missing` (k,), found nowhere, are thought of.
    """
    rejections: dict[int, Rejection] = {}
    for read_as in readings:
        clear = np.flatnonzero(unexplained & (read_as.ring >= _LEAST_RING))
        for meant in readings:
            ratio = read_as.kind.size_mm / meant.kind.size_mm
            candidates = meant.kind.pattern[missing[meant.kind.pattern]]
            if len(clear) and len(candidates) and max(ratio, 1 / ratio) >= _LEAST_RATIO:
                for pattern in _clearly(read_as.cells[clear], candidates, patterns):
                    tag = int(patterns.ids[pattern])
                    rejections[tag] = _rejection(tag, read_as.kind, meant.kind)
    return tuple(rejections.values())


def _clearly(
    cells: NDArray[np.float32], candidates: NDArray[np.int64], patterns: TagPatterns
) -> NDArray[np.int64]:
    """The candidates that some square shows beyond doubt."""
    scores = pattern_scores(cells, patterns.cells).max(axis=2)
    best = scores.argmax(axis=1)
    second = np.sort(scores, axis=1)[:, -2] if scores.shape[1] > 1 else np.zeros(len(scores))
    top = scores.max(axis=1)
    clear = (top >= _LEAST_SCORE) & (top - second >= _LEAST_MARGIN) & np.isin(best, candidates)
    return np.unique(best[clear])


def _rejection(tag: int, seen: TagKind, meant: TagKind) -> Rejection:
    return Rejection(
        tag,
        f"looks about {seen.size_mm:g} mm wide, the table file says {meant.size_mm:g} mm",
    )
