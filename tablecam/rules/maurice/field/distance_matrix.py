"""Measures the distances between all units of a field once (G-1, G-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from tablecam.geometry.rectangles import Array
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.memo import Memo
from tablecam.uncertainty.lengths import distances_of_pairs

_REMEMBERED: Memo[tuple[float, float]] = Memo(size=16_384)


@dataclass(frozen=True, slots=True, eq=False)
class DistanceMatrix:
    """The distances (n, n) between unit footprints in mm, in the field's order, with sigmas."""

    indices: Mapping[str, int]
    value_mm: Array
    spread_mm: Array

    def mm(self, a_id: str, b_id: str) -> float:
        """Returns the distance between two units; 0 if they touch or overlap."""
        return float(self.value_mm[self.indices[a_id], self.indices[b_id]])

    def sigma_mm(self, a_id: str, b_id: str) -> float:
        """Returns the standard deviation of the distance between two units."""
        return float(self.spread_mm[self.indices[a_id], self.indices[b_id]])


# Cached, as several rulings on one field ask for it.
@lru_cache(maxsize=8)
def distance_matrix(field: Field) -> DistanceMatrix:
    """Measures the distances between all units of a field; known ones are remembered."""
    units = [unit.unit for unit in field.units]
    pairs = np.array([*combinations(range(len(units)), 2)], dtype=np.intp).reshape(-1, 2)
    places = [unit.place for unit in field.units]

    def measured(new: list[int]) -> list[tuple[float, float]]:
        lengths = distances_of_pairs(units, pairs[new])
        return list(zip(*(values.tolist() for values in lengths), strict=True))

    keys = [*combinations(places, 2)]
    lengths = np.array(_REMEMBERED.answers(keys, measured), dtype=np.float64).reshape(-1, 2)
    matrices = np.zeros((2, len(units), len(units)))
    first, second = pairs.T
    matrices[:, first, second] = matrices[:, second, first] = lengths.T
    indices = {unit.id: place for place, unit in enumerate(field.units)}
    return DistanceMatrix(indices, *matrices)
