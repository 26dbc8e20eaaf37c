"""Measures each ordered pair of opposing units: distance, side and flank (M-1.11, M-1.12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.sides import SIDES, Side, sides_from
from tablecam.rules.maurice.field.distance_matrix import DistanceMatrix, distance_matrix
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.place.flank import flank_answer, flank_margins_mm
from tablecam.uncertainty.answer import Answer

_PLACES = 4


@dataclass(frozen=True, eq=False)
class UnitPair:
    """The position of unit `b` relative to unit `a`.

    `b_is` is the side of `a` on which most of `b` lies, for information only. `flank_margin_mm` is
    the margin by which `b` is to `a`'s flank, negative if it is not.
    """

    field: Field
    a: UnitOnField
    b: UnitOnField
    distance_mm: float
    sigma_mm: float
    b_is: Side
    flank_margin_mm: float

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of `a` and `b`."""
        return self.a.id, self.b.id

    @property
    def is_to_flank(self) -> bool:
        """Whether `b` is to `a`'s flank, as measured."""
        return self.flank_margin_mm >= -EXACT_MM

    @cached_property
    def to_flank(self) -> Answer:
        """The answer with its probability and evidence (M-1.12)."""
        return flank_answer(self.field, self.a, self.b, self.flank_margin_mm)

    def to_json(self) -> dict[str, Any]:
        """Serialises the pair."""
        return {
            "a": self.a.id,
            "b": self.b.id,
            "distance_mm": round(self.distance_mm, _PLACES),
            "distance_bw": round(self.field.in_bw(self.distance_mm), _PLACES + 1),
            "sigma_mm": round(self.sigma_mm, _PLACES),
            "b_is": self.b_is,
            "b_to_flank_of_a": self.is_to_flank,
        }


def pairs(
    field: Field,
    apart: DistanceMatrix | None = None,
    known: Mapping[tuple[str, str], UnitPair] = MappingProxyType({}),
) -> tuple[UnitPair, ...]:
    """Returns all ordered pairs of opposing units in field order, reusing those in `known`."""
    apart = distance_matrix(field) if apart is None else apart
    enemies = {unit.side: field.enemies_of(unit) for unit in field.units}
    # Units that ask about the same enemies are measured together, as arrays.
    units_by_enemies: dict[tuple[UnitOnField, ...], list[UnitOnField]] = {}
    for a in field.units:
        unknown = tuple(b for b in enemies[a.side] if (a.id, b.id) not in known)
        units_by_enemies.setdefault(unknown, []).append(a)
    new = {
        pair.ids: pair
        for others, units in units_by_enemies.items()
        for pair in _measured(field, units, others, apart)
    }
    ids = ((a.id, b.id) for a in field.units for b in enemies[a.side])
    return tuple(new.get(pair_ids) or known[pair_ids] for pair_ids in ids)


def _measured(
    field: Field,
    units: Sequence[UnitOnField],
    enemies: Sequence[UnitOnField],
    apart: DistanceMatrix,
) -> list[UnitPair]:
    """Measures each of the units against each of the enemies, all at once."""
    if not enemies:
        return []
    lies = sides_from([unit.axes for unit in units], [enemy.unit for enemy in enemies]).tolist()
    margins_mm = flank_margins_mm(units, enemies).tolist()
    among = np.ix_(*([apart.indices[unit.id] for unit in group] for group in (units, enemies)))
    far_mm, sigmas_mm = (lengths[among].tolist() for lengths in apart.lengths.arrays())
    return [
        UnitPair(field, a, b, far, sigma, SIDES[lie], margin)
        for a, *rows in zip(units, far_mm, sigmas_mm, lies, margins_mm, strict=True)
        for b, far, sigma, lie, margin in zip(enemies, *rows, strict=True)
    ]
