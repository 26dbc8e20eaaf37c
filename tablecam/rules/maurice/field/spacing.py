"""How far apart the units of a field lie, each from each, measured once (G-1, G-2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.uncertainty.lengths import Lengths, distances, renewed_distances


@dataclass(frozen=True, slots=True, eq=False)
class Spacing:
    """The lengths between footprints of all units, in the field's order."""

    places: Mapping[str, int]
    lengths: Lengths

    def mm(self, a_id: str, b_id: str) -> float:
        """How far two units lie apart; 0 where they touch or overlap."""
        return float(self.lengths.value_mm[self.places[a_id], self.places[b_id]])

    def sigma_mm(self, a_id: str, b_id: str) -> float:
        """The standard deviation of that."""
        return float(self.lengths.sigma_mm[self.places[a_id], self.places[b_id]])

    def nearest(self, to_id: str, among: Iterable[UnitOnField]) -> UnitOnField | None:
        """The nearest of some units, the first of those that are equally near."""
        return min(among, key=lambda other: self.mm(to_id, other.id), default=None)


def spacing(field: Field) -> Spacing:
    """The lengths between all units of a field."""
    places = MappingProxyType({unit.id: place for place, unit in enumerate(field.units)})
    return Spacing(places, distances([unit.unit for unit in field.units]))


def renewed_spacing(before: Spacing, field: Field, changed: Collection[str]) -> Spacing:
    """The same where only some units lie elsewhere than before."""
    places = [before.places[unit_id] for unit_id in changed]
    units = [unit.unit for unit in field.units]
    return Spacing(before.places, renewed_distances(before.lengths, units, places))
