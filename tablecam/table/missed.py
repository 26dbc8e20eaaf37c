"""Drops bases from a position that the camera has not seen for a while."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tablecam.table.model import Position


def without_bases(
    position: Position, tags: Collection[int], *, keeps_units: bool = False
) -> Position:
    """Returns the position without the bases of `tags`, nor units and commanders left with none.

    With `keeps_units` it keeps units without bases, and commanders where they were last seen: they
    are hidden, not taken off the table.
    """
    remaining_units = (
        replace(unit, bases=tuple(base for base in unit.bases if base.tag not in tags))
        for unit in position.units
    )
    commanders = (
        replace(commander, seen="held") if is_missed else commander
        for commander in position.commanders
        # A commander entered by hand has no tag that could be missed.
        if not (is_missed := commander.pose is not None and commander.pose.tag in tags)
        or keeps_units
    )
    units = tuple(unit for unit in remaining_units if unit.bases or keeps_units)
    return replace(position, units=units, commanders=tuple(commanders))
