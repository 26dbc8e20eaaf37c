"""Selects the units fit for rulings: complete, on the table and not on top of each other.

On a live table, units may lie impossibly for a moment while players move them. They are left out
with a sentence that says why, and the rulings cover the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import shapely

from tablecam.geometry.outlines import footprint, table_outline
from tablecam.rules.maurice.field.field import MAX_OFF_TABLE_MM, MAX_SIGMA_DEG, MAX_SIGMA_MM
from tablecam.rules.maurice.field.overlaps import max_overlap_mm, overlapping_bases
from tablecam.rules.maurice.field.tables import BASES
from tablecam.table.model import Position, Unit
from tablecam.wording import joined


def units_fit_for_rulings(position: Position) -> tuple[Position, Mapping[str, str]]:
    """Returns the position without unfit units, and the reasons for their omission by id."""
    play = table_outline(position.table).buffer(MAX_OFF_TABLE_MM)
    why = {unit.id: reason for unit in position.units if (reason := _why_not(unit, play))}
    complete = [unit for unit in position.units if unit.id not in why]
    # Only among the others: what is left out anyway disturbs nobody.
    why |= _on_top_of_each_other(complete)
    units = tuple(unit for unit in position.units if unit.id not in why)
    return replace(position, units=units), MappingProxyType(why)


def _why_not(unit: Unit, play: shapely.Geometry) -> str:
    """Returns why a unit by itself is unfit for rulings; empty if it is fit."""
    expected, count = BASES[unit.arm], len(unit.bases)
    if count != expected:
        return f"{unit.id} is left out: {count} of its {expected} bases are on the table"
    for index, pose in enumerate(unit.bases):
        if not shapely.contains(play, footprint(pose)):
            return f"{unit.id} is left out: its base {unit.base_name(index)} is off the table"
        if pose.sigma_mm > MAX_SIGMA_MM or pose.sigma_deg > MAX_SIGMA_DEG:
            name = unit.base_name(index)
            return f"{unit.id} is left out: the pose of its base {name} is too uncertain"
    return ""


def _on_top_of_each_other(units: list[Unit]) -> dict[str, str]:
    """Returns why units with impossible overlaps are left out, by id: the hidden one, else both."""
    why: dict[str, str] = {}
    for *both, deep_mm in overlapping_bases(units):
        if deep_mm <= max_overlap_mm(*(unit.bases[index] for unit, index in both)):
            continue
        names = joined(f"{unit.base_name(index)} ({unit.id})" for unit, index in both)
        # Where only one of the two is seen, the camera is right about that one.
        hidden = [unit.id for unit, index in both if unit.bases[index].seen == "held"]
        for unit_id in hidden if len(hidden) == 1 else [unit.id for unit, _ in both]:
            why[unit_id] = f"{unit_id} is left out: bases {names} are on top of each other"
    return why
