"""Heights: on which level a unit stands, and who attacks uphill (M-5.9, M-8.15)."""

from __future__ import annotations

import shapely

from tablecam.geometry.outlines import GRID_MM
from tablecam.rules.maurice.field.field import Field, UnitOnField

_SHARE = 0.5
"""A hill lifts a unit of which it holds more than this share (M-5.9)."""


def level(field: Field, unit: UnitOnField) -> int:
    """How many hills lie under more than half of a unit."""
    hills = [hill.outline for hill in field.ground.of_kind("hill")]
    held_mm2 = shapely.area(shapely.intersection(hills, unit.outline, grid_size=GRID_MM))
    return int((held_mm2 > _SHARE * shapely.area(unit.outline)).sum())


def is_uphill(field: Field, attacker: UnitOnField, defender: UnitOnField) -> bool:
    """Whether a defender stands on a higher level than an attacker (M-8.15)."""
    return level(field, defender) > level(field, attacker)
