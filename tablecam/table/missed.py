"""A table without what nobody has seen on it for long: hands may have taken it off."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tablecam.table.model import Position


def without(position: Position, tags: Collection[int]) -> Position:
    """A table without some bases; units of which none is left do not lie on it, nor commanders."""
    kept = (
        replace(unit, bases=tuple(base for base in unit.bases if base.tag not in tags))
        for unit in position.units
    )
    leaders = (
        leader
        for leader in position.commanders
        if leader.pose is None or leader.pose.tag not in tags
    )
    units = tuple(unit for unit in kept if unit.bases)
    return replace(position, units=units, commanders=tuple(leaders))
