"""Places that the referee adopts from the table: `lay`, nobody's action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tablecam.rules.frozen_json import Variant
from tablecam.table.model import BasePose, Position


class Lay(Variant):
    """The bases of some units as they really lie, within the accuracy of hands and cameras.

    It also says which bases are left of a unit that lost some (`Game.adopt_positions`).
    """

    units: Mapping[str, tuple[BasePose, ...]]


def with_bases(position: Position, units: Mapping[str, tuple[BasePose, ...]]) -> Position:
    """Returns a position in which some units have other bases."""
    return replace(
        position,
        units=tuple(replace(unit, bases=units.get(unit.id, unit.bases)) for unit in position.units),
    )
