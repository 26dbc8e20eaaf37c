"""Measures the distances between all units of a field once (G-1, G-2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.uncertainty.lengths import Lengths, distances, updated_distances


@dataclass(frozen=True, slots=True, eq=False)
class DistanceMatrix:
    """The matrix of distances between unit footprints, in the field's order."""

    indices: Mapping[str, int]
    lengths: Lengths

    def mm(self, a_id: str, b_id: str) -> float:
        """Returns the distance between two units; 0 if they touch or overlap."""
        return float(self.lengths.value_mm[self.indices[a_id], self.indices[b_id]])

    def sigma_mm(self, a_id: str, b_id: str) -> float:
        """Returns the standard deviation of the distance between two units."""
        return float(self.lengths.sigma_mm[self.indices[a_id], self.indices[b_id]])

    def nearest(self, to_id: str, among: Iterable[UnitOnField]) -> UnitOnField | None:
        """Returns the nearest of the given units, the first of equals; None if there are none."""
        return min(among, key=lambda other: self.mm(to_id, other.id), default=None)


def distance_matrix(field: Field) -> DistanceMatrix:
    """Measures the distances between all units of a field."""
    places = MappingProxyType({unit.id: place for place, unit in enumerate(field.units)})
    return DistanceMatrix(places, distances([unit.unit for unit in field.units]))


def updated_distance_matrix(
    before: DistanceMatrix, field: Field, changed: Collection[str]
) -> DistanceMatrix:
    """Updates the distances after only the units of ids `changed` have moved."""
    places = [before.indices[unit_id] for unit_id in changed]
    units = [unit.unit for unit in field.units]
    return DistanceMatrix(before.indices, updated_distances(before.lengths, units, places))
