"""Selects the tags to fit to each square that reads clearly as one tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.decode import Readings, pattern_scores
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.tags import NO_TAGS, TagGuesses

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_CLEAR_RING, _CLEAR_SCORE, _CLEAR_MARGIN = 0.6, 0.85, 0.2
"""A square that reads this clearly is fitted as that tag only: none was ever another."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """Tags that squares may show: `square` (n,) is the square of each guess."""

    guesses: TagGuesses
    square: Index


NO_HYPOTHESES = Hypotheses(NO_TAGS, np.empty(0, dtype=np.int64))
"""Hypotheses of no squares."""


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The comparison of squares (rows) with all patterns of all kinds (columns), (n, k) each."""

    kind: Index
    pattern: Index
    turns: Index
    score: Array
    ring: Array


def clear_hypotheses(readings: Sequence[Readings], patterns: TagPatterns) -> Hypotheses:
    """Returns the tags of the squares that read as one tag and no other, one each."""
    table = _compared(readings, patterns)
    total = table.score + table.ring
    # The best two patterns of each square decide whether it is clear.
    order = np.argsort(-total, axis=1, kind="stable")[:, :2]
    best, rows = order[:, :1], np.arange(len(total))[:, None]
    scores = table.score[rows, order]
    # With a single pattern on the table there is no second one to compare.
    second = scores[:, 1] if scores.shape[1] > 1 else np.zeros(len(scores))
    square = np.flatnonzero(
        (table.ring[rows, best][:, 0] >= _CLEAR_RING)
        & (scores[:, 0] >= _CLEAR_SCORE)
        & (scores[:, 0] - second >= _CLEAR_MARGIN)
    )
    return Hypotheses(_guesses(readings, table, square, order[square, 0]), square)


def _compared(readings: Sequence[Readings], patterns: TagPatterns) -> _Columns:
    """Compares all squares with all patterns of all kinds."""
    scores, turns = [], []
    for reading in readings:
        by_turn = pattern_scores(reading.cells, patterns.cells[reading.kind.pattern])
        scores.append(by_turn.max(axis=2))
        turns.append(by_turn.argmax(axis=2))
    counts = [len(reading.kind.pattern) for reading in readings]
    ring = np.stack([reading.ring for reading in readings], axis=1)
    return _Columns(
        kind=np.repeat(np.arange(len(readings)), counts),
        pattern=np.concatenate([reading.kind.pattern for reading in readings]),
        turns=np.concatenate(turns, axis=1),
        score=np.concatenate(scores, axis=1),
        ring=np.repeat(ring, counts, axis=1),
    )


def _guesses(
    readings: Sequence[Readings], table: _Columns, square: Index, column: Index
) -> TagGuesses:
    """Returns the tags of these squares and columns of the comparison."""
    kind = table.kind[column]
    places = np.stack([reading.places_mm for reading in readings])
    headings = np.stack([reading.headings_rad for reading in readings])
    heights = np.array([reading.kind.height_mm for reading in readings])
    sizes = np.array([reading.kind.size_mm for reading in readings])
    # The square gives the heading up to quarter turns, the best match the turn.
    quarter_turns = table.turns[square, column] * (np.pi / 2)
    return TagGuesses(
        table.pattern[column],
        places[kind, square],
        headings[kind, square] + quarter_turns,
        heights[kind],
        sizes[kind],
    )
