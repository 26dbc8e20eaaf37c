"""The position after a resolution: new states, broken units removed, others fallen back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from tablecam.rules.maurice.combat.fall_back import moved_back
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.table.model import Position, Unit


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The effects of a resolution on units, by id; units left out stay as they are.

    `gained` are levels of disruption, negative when shed, 0 for units that took part unharmed.
    """

    gained: Mapping[str, int] = field(default_factory=dict)
    broken: Collection[str] = ()
    smoking: Collection[str] = ()
    back_mm: Mapping[str, float] = field(default_factory=dict)


def position_after(table: Field, aftermath: Aftermath) -> Position:
    """Returns the position that follows. Broken units leave at once (M-1.14)."""
    units = tuple(
        _after(unit, aftermath) for unit in table.units if unit.id not in aftermath.broken
    )
    return replace(table.position, units=units)


def _after(unit: UnitOnField, aftermath: Aftermath) -> Unit:
    """Returns a unit with its new state and place."""
    if unit.id not in {*aftermath.gained, *aftermath.smoking, *aftermath.back_mm}:
        return unit.unit
    state = dict(unit.unit.state)
    if unit.id in aftermath.gained:
        state["disruption"] = unit.disruption + aftermath.gained[unit.id]
    if unit.id in aftermath.smoking:
        state["smoke"] = True
    back_mm = aftermath.back_mm.get(unit.id, 0.0)
    return replace((moved_back(unit, back_mm) if back_mm else unit).unit, state=state)
