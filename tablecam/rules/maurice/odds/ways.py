"""Falling back on a field, as odds need it: who can matter to whom, and the rule asked once.

Whoever can matter to a unit is whoever its way back, at its longest, comes upon.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.rules.maurice.combat.fall_back import fall_back
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.results import Result
from tablecam.rules.maurice.field.tables import FALL_BACK_BW, SLIVER_MM
from tablecam.rules.maurice.odds.fates import Concern, Fate
from tablecam.table.headings import forward
from tablecam.uncertainty.contact import TOUCH_MM

_SAFE_MM = 0.5
"""Who is asked in vain changes no chance, who is left out would: a hair more than may touch."""


@dataclass(frozen=True, slots=True, eq=False)
class FieldGround:
    """A field before anyone falls back: the `Ground` of `odds_fates.py`."""

    field: Field

    def concern(self, unit_id: str, places_mm: Mapping[str, frozenset[float]]) -> Concern:
        """Who can matter to a unit that falls back."""
        return concern(self.field, self.field.by_id[unit_id], places_mm)

    def fall_back(
        self, unit_id: str, fates: Mapping[str, Fate], standing: frozenset[str]
    ) -> Mapping[str, Fate]:
        """What becomes of a unit that falls back, and of friends (M-8.24 to M-8.27)."""
        # Nobody else can matter, so nobody else need be looked at.
        names = fates.keys() | standing
        units = tuple(unit for unit in self.field.units if unit.id in names)
        by_id = MappingProxyType({unit.id: unit for unit in units})
        before = {
            name: Result(fate.disruption, fate.is_broken, (), fate.falls_back, fate.back_mm)
            for name, fate in fates.items()
        }
        after = fall_back(replace(self.field, units=units, by_id=by_id), unit_id, before)
        return {**fates, **{name: _fate(result) for name, result in after.items()}}


def _fate(result: Result) -> Fate:
    return Fate(result.disruption, result.is_broken, result.falls_back, result.back_mm)


def concern(field: Field, unit: UnitOnField, places_mm: Mapping[str, frozenset[float]]) -> Concern:
    """Whoever can matter to a unit that falls back (M-8.25 to M-8.27).

    Args:
        field: Where all units lay before any fell back.
        unit: The one that is to.
        places_mm: How far back each other attacker may be by then.
    """
    friends = {
        friend.id: [fallen_back(friend, back_mm) for back_mm in places_mm.get(friend.id, {0.0})]
        for friend in field.friends_of(unit)
    }
    least_mm = FALL_BACK_BW * field.bw_mm
    longest_mm = _longest_mm(unit, least_mm, [shape for each in friends.values() for shape in each])
    # What reaches deeper than a sliver into the way (G-5) reaches into it without its rim, too.
    way = shapely.buffer(_swept(unit, 0.0, longest_mm), -0.4 * SLIVER_MM, join_style="mitre")
    ends = _swept(unit, least_mm, longest_mm)
    passed = tuple(
        name for name, shapes in friends.items() if shapely.intersects(way, shapes).any()
    )
    enemies = tuple(
        enemy.id
        for enemy in field.enemies_of(unit)
        if shapely.intersects(way, enemy.outline)
        or shapely.dwithin(ends, enemy.outline, TOUCH_MM + _SAFE_MM)
    )
    return Concern(enemies, passed)


def fallen_back(unit: UnitOnField, back_mm: float) -> shapely.Geometry:
    """A unit's outline once it has gone straight back (M-8.24)."""
    step = np.array(forward(unit.axes.heading_deg)) * -back_mm
    return shapely.transform(unit.outline, lambda points: points + step)


def _longest_mm(unit: UnitOnField, least_mm: float, friends: Sequence[shapely.Geometry]) -> float:
    """How far it may have to go until it stands on nobody, wherever its friends may be (M-8.25)."""
    longest_mm = least_mm
    while friends:
        ends = _swept(unit, least_mm, longest_mm)
        is_met = shapely.area(shapely.intersection(ends, friends)) > 0
        past_mm = [_past_mm(unit, each) for each, met in zip(friends, is_met, strict=True) if met]
        if max(past_mm, default=0.0) <= longest_mm:
            break
        longest_mm = max(past_mm)
    return longest_mm


def _past_mm(unit: UnitOnField, friend: shapely.Geometry) -> float:
    """How far back all of a unit is behind all of a friend."""
    ahead = np.array(forward(unit.axes.heading_deg))
    own, others = (shapely.get_coordinates(each) @ ahead for each in (unit.outline, friend))
    return float(own.max() - others.min())


def _swept(unit: UnitOnField, from_mm: float, to_mm: float) -> shapely.Geometry:
    """All ground that a unit's bases cover on the way from one distance back to another."""
    ahead = np.array(forward(unit.axes.heading_deg))
    return shapely.union_all([*_hulls(unit.bases, -from_mm * ahead, -to_mm * ahead)])


def _hulls(
    bases: Iterable[shapely.Polygon], first: NDArray[np.float64], last: NDArray[np.float64]
) -> Iterable[shapely.Geometry]:
    for base in bases:
        corners = shapely.get_coordinates(base)
        yield shapely.convex_hull(
            shapely.MultiPoint(np.concatenate([corners + first, corners + last]))
        )
