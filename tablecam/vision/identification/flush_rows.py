"""Guesses the tags of whole rows before any of their bases is identified.

Seen at an angle, a unit's own figures hide the same part of all its tags, and each alone may be any
of several. Together they are less ambiguous: squares that lie flush show tags of one unit, each
once, in any order. So the other squares in its row are evidence for the unit of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import expected_values
from tablecam.vision.fitting.tags import NO_TAGS, TagGuesses
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.isolated_tags import rows_with_ring, shown_in_known_light
from tablecam.vision.identification.occlusion_likelihood import SPREAD, costs_with_occluders
from tablecam.vision.identification.unit_neighbours import CONTACT_NATS

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_LEAST_PROBABILITY = 0.5
"""Least probability of a row's unit for its tags to be fitted: the fits decide."""
_MOST_MATES = 3
_ODDS = 300.0
"""Odds that flush squares show one unit, as for any place beside a base of the unit."""


@dataclass(frozen=True, slots=True, eq=False)
class RowGuesses:
    """Tags that squares in rows may show, (n,), and how much each pattern is favoured there.

    `prior_nats` (n, k) is as for bases in contact with a known one of their unit.
    """

    guesses: TagGuesses
    prior_nats: Array


def guess_rows(sight: FrameContext, squares: TagGuesses, missing: Index) -> RowGuesses:
    """Returns the tags of units that miss two of the patterns `missing` (k,), in flush squares.

    The squares' own patterns are ignored; their headings are right up to quarter turns.
    """
    neighbours = sight.unit_neighbours
    patterns = len(sight.patterns.ids)
    unit = neighbours.unit[missing]
    units = [missing[unit == number] for number in np.unique(unit[unit >= 0])]
    units = [tags for tags in units if len(tags) > 1]
    parts, prior_nats = [NO_TAGS], [np.empty((0, patterns))]
    if sight.light is None or not len(squares) or not units:
        return RowGuesses(NO_TAGS, prior_nats[0])
    squares, ratios = _likelihood_ratios(sight, squares, np.concatenate(units))
    turned = TagGuesses.joined(
        [
            replace(squares, headings_rad=squares.headings_rad + turn * np.pi / 2)
            for turn in range(4)
        ]
    )
    base_mm = np.array([neighbours.base_mm[tags[0]] for tags in units])
    for size_mm in np.unique(base_mm, axis=0):
        of_size = [units[row] for row in np.flatnonzero((base_mm == size_mm).all(axis=1))]
        as_base = replace(turned, pattern=np.full(len(turned), of_size[0][0]))
        for square, mates in _rows(as_base, neighbours.in_contact(as_base)):
            probability = _probabilities(ratios[mates], of_size)
            nats = np.log1p(probability * np.exp(CONTACT_NATS))
            likely = np.flatnonzero(probability >= _LEAST_PROBABILITY)
            parts.append(replace(turned[np.full(len(likely), square)], pattern=likely))
            prior_nats.append(np.tile(nats, (len(likely), 1)))
    return RowGuesses(TagGuesses.joined(parts), np.concatenate(prior_nats))


def _likelihood_ratios(
    sight: FrameContext, squares: TagGuesses, tags: Index
) -> tuple[TagGuesses, Array]:
    """Returns squares with a ring (n,), and each pattern's likelihood ratio to the average there.

    The ratios are (4n, k) for all patterns of the roster, and 0 except for `tags`: n rows for each
    of 0 to 3 quarter turns.
    """
    expected = expected_values(sight.patterns.cells[tags], sight.blur_cells(squares))
    shown, gain = shown_in_known_light(sight, squares)
    rows = rows_with_ring(sight, shown, expected)
    ratios = np.zeros((4, len(rows), len(sight.patterns.ids)))
    for number, row in enumerate(rows):
        costs, nothing_cost = costs_with_occluders(
            shown[row], expected.reshape(-1, expected.shape[2]), noise=sight.noise_grey / gain[row]
        )
        likelihood = np.exp((nothing_cost[0] - costs) / SPREAD)
        # Any tag at any turn, or none.
        ratio = likelihood / (likelihood.mean() + 1)
        ratios[:, number, tags] = ratio.reshape(-1, 4).T
    return squares[rows], ratios.reshape(-1, ratios.shape[2])


def _rows(squares: TagGuesses, is_flush: NDArray[np.bool_]) -> Iterator[tuple[int, Index]]:
    """Yields each square that lies flush with others, and the nearest of these."""
    for square in np.flatnonzero(is_flush.any(axis=1)):
        away_mm = np.linalg.norm(squares.places_mm - squares.places_mm[square], axis=1)
        mates: list[int] = []
        for mate in np.argsort(np.where(is_flush[square], away_mm, np.inf), kind="stable"):
            apart_mm = np.linalg.norm(squares.places_mm[mates] - squares.places_mm[mate], axis=1)
            # A place may have been detected as several squares.
            if is_flush[square, mate] and (apart_mm > squares.sizes_mm[mate]).all():
                mates.append(int(mate))
        yield int(square), np.array(mates[:_MOST_MATES])


def _probabilities(mates: Array, units: Sequence[Index]) -> Array:
    """Returns the probability that the mates of a square that shows a tag are of its unit, (k,).

    `mates` (m, k) are their likelihood ratios.
    """
    evidence = np.zeros(mates.shape[1])
    of_units = 0.0
    for tags in units:
        count = min(len(mates), len(tags) - 1)
        orders = np.array(list(permutations(tags, count)))
        ratio = mates[np.arange(count), orders].prod(axis=1)
        of_units += float(ratio.mean())
        for tag in tags:
            # The square's own tag cannot also lie elsewhere.
            evidence[tag] = ratio[(orders != tag).all(axis=1)].mean()
    return evidence / (of_units + len(units) / _ODDS)
