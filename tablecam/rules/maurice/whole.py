"""Which units of a position can be ruled on: whole, on the table, and not on top of each other.

Over a live table hands are at work: a unit that lies impossibly for a moment is left out of the
rulings, with a sentence that says why, and the others are ruled on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.measure.outlines import footprint, table_outline
from tablecam.rules.maurice.field import MOST_OFF_TABLE_MM, MOST_OVERLAP_MM, overlap_mm
from tablecam.rules.maurice.tables import BASES
from tablecam.table.model import Position, Unit


def whole_units(position: Position) -> tuple[Position, Mapping[str, str]]:
    """The position without the units that cannot be ruled on, and why, by their ids."""
    why = {unit.id: said for unit in position.units if (said := _why_not(unit, position))}
    left = [unit for unit in position.units if unit.id not in why]
    why |= _on_top_of_each_other(left)
    units = tuple(unit for unit in position.units if unit.id not in why)
    return replace(position, units=units), MappingProxyType(why)


def _why_not(unit: Unit, position: Position) -> str:
    """What is odd about a unit by itself; empty where nothing is."""
    wanted, lie = BASES[unit.arm], len(unit.bases)
    if lie != wanted:
        return f"{unit.id} is left out: {lie} of its {wanted} bases are on the table"
    play = table_outline(position.table).buffer(MOST_OFF_TABLE_MM)
    for index, pose in enumerate(unit.bases):
        if not play.contains(footprint(pose)):
            return f"{unit.id} is left out: its base {unit.base_name(index)} lies off the table"
    return ""


def _on_top_of_each_other(units: list[Unit]) -> dict[str, str]:
    """Of two that overlap by more than hands explain: the one that is hidden, else both."""
    owners = [(unit, index) for unit in units for index in range(len(unit.bases))]
    shapes = np.array([footprint(unit.bases[index]) for unit, index in owners], dtype=object)
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    why: dict[str, str] = {}
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        if i >= j or overlap_mm(shapely.intersection(shapes[i], shapes[j])) <= MOST_OVERLAP_MM:
            continue
        both = (owners[i], owners[j])
        names = " and ".join(f"{unit.base_name(index)} ({unit.id})" for unit, index in both)
        hidden = [unit.id for unit, index in both if unit.bases[index].seen == "held"]
        for unit_id in hidden if len(hidden) == 1 else [unit.id for unit, _ in both]:
            why[unit_id] = f"{unit_id} is left out: bases {names} lie on top of each other"
    return why
