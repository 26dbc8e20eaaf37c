"""Names missing bases in contact with their unit when too much of a tag is hidden to decode.

Such a place is almost certain, and only the unit's missing tags are likely there. So border and
cells need only favour one of these over everything else together: another tag of the table, one
unknown to the table file, a card, or no tag. The better the picture's clear tags agree with the
table file, the less likely are names of other units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import expected_values
from tablecam.vision.fitting.tags import TagFits
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.occluded_placement import (
    NEAR_NEIGHBOUR,
    AcceptanceThresholds,
    OccludedPlacement,
    values_at_points,
)

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_LEAD = 4.5
"""Two names for one place, or two places for one name, must differ by this many nats."""
_PRIOR_MATES, _PRIOR_OTHERS = 150.0, 0.5
"""Prior counts before any picture is seen: 300 of 301 such places hold a unit neighbour."""
_ROUNDS = 3
"""How often to repeat: each identified base leaves fewer names for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class CompetingPlacements:
    """Fits (n,) that compete for places and names, each as a missing base with a name of `ids`.

    `worth` (n,) is how much less each costs than no tag at all.
    """

    fits: TagFits
    ids: Index
    worth: Array
    placements: tuple[OccludedPlacement, ...]

    def __getitem__(self, rows: Rows) -> CompetingPlacements:
        placements = tuple(compress(self.placements, rows))
        return CompetingPlacements(self.fits[rows], self.ids[rows], self.worth[rows], placements)

    def identified(self, free: Rows, odds: float) -> Index:
        """Returns the rows that are identified, one for each name and place.

        `free` (k,) are the tags of the dictionary that are on the table but not identified yet.
        Such a place holds a unit neighbour `odds` times as often as any other tag.
        """
        identified, free = np.empty(0, dtype=np.int64), free.copy()
        # A tag may lie at another place with its name, though that place alone proves nothing.
        is_elsewhere = ~self._overlaps & (self.ids[:, None] == self.ids)
        for _ in range(_ROUNDS):
            is_likely = np.array(
                [place.is_likely(free, odds) for place in self.placements], dtype=np.bool_
            )
            likely = np.flatnonzero(is_likely & ~self._is_outdone(is_likely, identified))
            is_sure = [
                self.placements[row].is_sure(
                    free, odds, compress(self.placements, is_elsewhere[row])
                )
                for row in likely
            ]
            more = likely[np.array(is_sure, dtype=np.bool_)]
            if not len(more):
                break
            identified = np.concatenate([identified, more])
            # An identified tag cannot lie anywhere else.
            free[self.ids[more]] = False
        return identified

    def count_unknown_tags(self, free: Rows) -> int:
        """Counts the places with a tag of another unit."""
        strangers: list[int] = []
        for row, placement in enumerate(self.placements):
            if placement.is_another(free) and not self._overlaps[row, strangers].any():
                strangers.append(row)
        return len(strangers)

    @property
    def _overlaps(self) -> Rows:
        """Which placements overlap, (n, n)."""
        places_mm = self.fits.tags.places_mm
        distance_mm = np.linalg.norm(places_mm[:, None] - places_mm, axis=2)
        return np.asarray(distance_mm < self.fits.tags.sizes_mm / 2)

    def _is_outdone(self, is_likely: Rows, identified: Index) -> Rows:
        """Returns rows with a close rival: another name for the place, or place for the name."""
        overlaps, is_same_name = self._overlaps, self.ids[:, None] == self.ids
        lead = self.worth[:, None] - self.worth
        order = np.arange(len(self.ids))
        # Of fits with the same name at the same place keeps the worthier, then the first.
        is_repeat = (
            overlaps & is_same_name & ((lead < 0) | ((lead == 0) & (order[:, None] > order)))
        )
        # Only a place that is itself likely to be right competes for the name.
        is_elsewhere = ~overlaps & is_same_name & is_likely & (lead < _LEAST_LEAD)
        is_renamed = overlaps & ~is_same_name & (lead < _LEAST_LEAD)
        return np.asarray(
            (is_repeat | is_elsewhere | is_renamed).any(axis=1)
            | overlaps[:, identified].any(axis=1)
        )


def odds_of_unit_neighbour(mates: int, others: int, strangers: int) -> float:
    """Returns the odds that a place beside a unit neighbour holds another one of the unit.

    `mates` is the number of bases in contact with their unit, `others` of bases in contact only
    with other units, `strangers` of places beside a unit with an unknown tag: a table file may list
    tags wrongly.
    """
    return (mates + _PRIOR_MATES) / (others + strangers + _PRIOR_OTHERS)


def score_placements(
    sight: FrameContext,
    fits: TagFits,
    likelier: Array,
    least: AcceptanceThresholds,
    *,
    sizes_mm: Sequence[float] = (),
) -> CompetingPlacements:
    """Returns the placements among fits (n,), beside unit neighbours or alone, that look like tags.

    `likelier` (n, 4, k), in nats, is how much its unit neighbours favour each of the roster's
    patterns, turned 0 to 3 quarters. A placement may show a tag of another of `sizes_mm`.
    """
    # With no contrast to compare, anything dim could pass as a tag: use the stricter thresholds.
    least = least if sight.gain_grey > 0 else NEAR_NEIGHBOUR
    placements = placements_of(sight, fits, likelier, least, sizes_mm=sizes_mm)
    rows = np.flatnonzero([placement.is_worth for placement in placements])
    placements = [placements[row] for row in rows]
    ids = sight.patterns.ids[fits.tags.pattern[rows]]
    worth = np.array([placement.worth for placement in placements])
    return CompetingPlacements(fits[rows], ids, worth, tuple(placements))


def placements_of(
    sight: FrameContext,
    fits: TagFits,
    likelier: Array,
    least: AcceptanceThresholds,
    *,
    sizes_mm: Sequence[float],
) -> list[OccludedPlacement]:
    """Returns fits (n,) as placements, whatever they look like; see `score_placements`."""
    if not len(fits):
        return []
    unit_nats = np.zeros((len(fits), 4, len(sight.dictionary.ids)))
    # Tags outside the roster have no evidence for or against them.
    unit_nats[:, :, sight.patterns.ids] = likelier
    values = values_at_points(sight, fits)
    sizes = fits.tags.sizes_mm
    expected_by_size = {
        size_mm: expected_values(
            sight.dictionary.cells, sight.blur_cells(fits.tags[sizes == size_mm])
        )
        for size_mm in np.unique(sizes)
    }
    ring_by_size = {
        size_mm: expected.mean(axis=(0, 1)) for size_mm, expected in expected_by_size.items()
    }
    return [
        OccludedPlacement(
            sight,
            fits[np.array([row])],
            values[row],
            expected_by_size[sizes[row]],
            ring_by_size[sizes[row]],
            int(sight.patterns.ids[pattern]),
            unit_nats[row],
            least,
            sizes_mm,
        )
        for row, pattern in enumerate(fits.tags.pattern)
    ]
