"""Measures each ordered pair of opposing units: distance, side and flank (M-1.11, M-1.12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.sides import SIDES, Side, sides_from
from tablecam.rules.maurice.field.distance_matrix import distance_matrix
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


def pairs(field: Field, units: Sequence[UnitOnField]) -> tuple[UnitPair, ...]:
    """Returns the pairs of each of some units with each of its enemies, in field order."""
    measured = {
        pair.ids: pair
        for side in dict.fromkeys(unit.side for unit in units)
        for pair in _measured(
            field,
            [unit for unit in units if unit.side == side],
            [unit for unit in field.units if unit.side != side],
        )
    }
    return tuple(measured[a.id, b.id] for a in units for b in field.enemies_of(a))


def _measured(
    field: Field,
    units: Sequence[UnitOnField],
    enemies: Sequence[UnitOnField],
) -> list[UnitPair]:
    """Measures each of the units against each of the enemies, all at once."""
    if not enemies:
        return []
    apart = distance_matrix(field)
    lies = sides_from([unit.axes for unit in units], [enemy.unit for enemy in enemies]).tolist()
    margins_mm = flank_margins_mm(units, enemies).tolist()
    among = np.ix_(*([apart.indices[unit.id] for unit in group] for group in (units, enemies)))
    far_mm, sigmas_mm = apart.value_mm[among].tolist(), apart.spread_mm[among].tolist()
    return [
        UnitPair(field, a, b, far, sigma, SIDES[lie], margin)
        for a, *rows in zip(units, far_mm, sigmas_mm, lies, margins_mm, strict=True)
        for b, far, sigma, lie, margin in zip(enemies, *rows, strict=True)
    ]
