"""Tags of the roster at a size that they cannot have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import Readings, pattern_scores
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.sighting import Rejection
from tablecam.vision.fitting.dictionary import TagPatterns

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
    kinds = [reading.kind for reading in readings]
    rings = np.stack([reading.ring for reading in readings])
    rejections: dict[int, Rejection] = {}
    for number, reading in enumerate(readings):
        best = (rings.argmax(axis=0) == number) & (reading.ring >= _LEAST_RING)
        for square, pattern in _clearly(
            reading.cells, np.flatnonzero(best & unexplained), patterns
        ):
            meant = next((kind for kind in kinds if pattern in kind.pattern), None)
            if meant is not None and missing[pattern] and _differ(reading.kind, meant):
                tag = int(patterns.ids[pattern])
                because = (
                    f"looks about {reading.kind.size_mm:g} mm wide, "
                    f"the table file says {meant.size_mm:g} mm"
                )
                x_mm, y_mm = reading.places_mm[square]
                rejections[tag] = Rejection(tag, because, float(x_mm), float(y_mm))
    return tuple(rejections.values())


def _clearly(
    cells: NDArray[np.float32], squares: NDArray[np.int64], patterns: TagPatterns
) -> Iterator[tuple[int, int]]:
    """Squares that show some pattern of the roster beyond doubt, each with that pattern's row."""
    scores = pattern_scores(cells[squares], patterns.cells).max(axis=2)
    for square, of_square in zip(squares, scores, strict=True):
        best = int(of_square.argmax())
        second = np.delete(of_square, best).max(initial=0.0)
        if of_square[best] >= _LEAST_SCORE and of_square[best] - second >= _LEAST_MARGIN:
            yield int(square), best


def _differ(seen: TagKind, meant: TagKind) -> bool:
    return max(seen.size_mm / meant.size_mm, meant.size_mm / seen.size_mm) >= _LEAST_RATIO
