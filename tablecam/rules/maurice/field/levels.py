"""Computes the level a unit stands on, and who attacks uphill (M-5.9, M-8.15)."""

from __future__ import annotations

import shapely

from tablecam.geometry.outlines import GRID_MM
from tablecam.rules.maurice.field.field import Field, UnitOnField

_SHARE = 0.5
"""A hill raises a unit if more than this share of its area lies on it (M-5.9)."""


def level(field: Field, unit: UnitOnField) -> int:
    """Counts the hills under more than half of a unit."""
    hills = [hill.outline for hill in field.ground.of_kind("hill")]
    on_hill_mm2 = shapely.area(shapely.intersection(hills, unit.outline, grid_size=GRID_MM))
    return int((on_hill_mm2 > _SHARE * shapely.area(unit.outline)).sum())


def is_uphill(field: Field, attacker: UnitOnField, defender: UnitOnField) -> bool:
    """Returns whether the defender stands on a higher level than the attacker (M-8.15)."""
    return level(field, defender) > level(field, attacker)
