"""Where an army may be deployed: in the outer third of the table at its edge (M-2.3)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.outlines import footprint
from tablecam.rules.maurice.field.ground import Ground, is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.game.state.poses import Bases, ahead, wheeled
from tablecam.table.formation import read_formation
from tablecam.table.headings import mean_deg
from tablecam.table.model import BasePose, Point, Position, TableSize, Unit
from tablecam.table.sides import side_name

_GAP_MM = 5.0
"""Between units that are laid in rows: a hand's, so that nobody touches anybody."""
_STEP_MM = 20.0
"""How far along a row the next place is tried that is not closed."""


def third(table: TableSize, *, is_near: bool) -> shapely.Polygon:
    """The third of the table at an edge."""
    deep_mm = table.depth_mm / 3
    low = 0.0 if is_near else table.depth_mm - deep_mm
    return shapely.box(0.0, low, table.width_mm, low + deep_mm)


def outside(position: Position, side: str, *, is_near: bool) -> str | None:
    """A unit of a side that does not lie wholly in its third, up to a sliver; None if all do."""
    zone = shapely.buffer(third(position.table, is_near=is_near), SLIVER_MM, join_style="mitre")
    for unit in position.units:
        if unit.side == side and not all(
            shapely.covers(zone, footprint(base)) for base in unit.bases
        ):
            return unit.id
    return None


def barred(position: Position, side: str) -> str | None:
    """A unit of a side that lies partly on impassable ground; None if none does (M-5.1)."""
    closed = Ground.of(position.terrain).impassable
    for unit in position.units:
        if unit.side == side and any(is_partly_in(footprint(base), closed) for base in unit.bases):
            return unit.id
    return None


def check_room(position: Position, sides: Collection[str]) -> None:
    """Refuse a table on which a side fits into none of the thirds, or only into one.

    Who takes which edge is not known before the terrain is laid (M-2.3).

    Raises:
        BadInput: Naming the side.
    """
    for side in sides:
        for near in sides:
            usual_places(position, side, near)


def deployed(position: Position, sides: Collection[str], places: Mapping[str, Bases]) -> Position:
    """The position with units of some sides where they were laid.

    Raises:
        BadInput: One is of no such side, or has other bases.
    """
    own = {unit.id: unit for unit in position.units if unit.side in sides}
    for name, bases in places.items():
        if name not in own:
            raise BadInput(
                "deploy", f"expected units of {' or '.join(map(side_name, sides))}, got {name}"
            )
        if list(map(_kind, bases)) != list(map(_kind, own[name].bases)):
            raise BadInput("deploy", f"expected the {len(own[name].bases)} bases of {name}")
    units = tuple(
        _laid(unit, places[unit.id]) if unit.id in places else unit for unit in position.units
    )
    return replace(position, units=units)


def with_commanders(position: Position, side: str, places: Mapping[str, Point]) -> Position:
    """The position with commanders of a side where they were put.

    Raises:
        BadInput: One is not of the side, or stands off the table.
    """
    own = [leader.id for leader in position.commanders if leader.side == side]
    table = position.table
    for name, (x_mm, y_mm) in places.items():
        if name not in own:
            raise BadInput("deploy", f"expected a commander of {side_name(side)}, got {name}")
        if not (0 <= x_mm <= table.width_mm and 0 <= y_mm <= table.depth_mm):
            raise BadInput("deploy", f"expected {name} on the table, got {x_mm:g}, {y_mm:g} mm")
    leaders = tuple(
        replace(each, x_mm=places[each.id][0], y_mm=places[each.id][1], pose=None)
        if each.id in places
        else each
        for each in position.commanders
    )
    return replace(position, commanders=leaders)


def usual_places(position: Position, side: str, near: str) -> Mapping[str, Bases]:
    """All units of a side in rows in its third, each formed as it is and facing the enemy.

    Raises:
        BadInput: They do not fit.
    """
    is_near = side == near
    heading_deg = 90.0 if is_near else 270.0
    own = {
        unit.id: _facing(unit.bases, heading_deg) for unit in position.units if unit.side == side
    }
    closed = Ground.of(position.terrain).impassable
    found = _in_rows(own, position.table, closed, is_near=is_near)
    if len(found) < len(own):
        raise BadInput("position", f"expected {side_name(side)} to fit into a third of the table")
    return {name: found[name] for name in own}


def _in_rows(
    units: Mapping[str, Bases], table: TableSize, closed: shapely.Geometry, *, is_near: bool
) -> dict[str, Bases]:
    """Units from the front of a third to its back, the deepest first, as many as fit."""
    left = sorted(units, key=lambda name: -_size(units[name])[1])
    found: dict[str, Bases] = {}
    front_mm = 0.0
    while left and front_mm + (deep_mm := _size(units[left[0]])[1]) <= table.depth_mm / 3:
        x_mm = 0.0
        while x_mm < table.width_mm:
            middle_mm = table.depth_mm / 3 - front_mm - deep_mm / 2
            y_mm = middle_mm if is_near else table.depth_mm - middle_mm
            fit = _fitting(units, left, (x_mm, y_mm), table.width_mm, closed)
            if fit is None:
                x_mm += _STEP_MM
                continue
            name, found[name] = fit
            left.remove(name)
            x_mm += _size(units[name])[0] + _GAP_MM
        front_mm += deep_mm + _GAP_MM
    return found


def _fitting(
    units: Mapping[str, Bases],
    names: Sequence[str],
    at_mm: Point,
    width_mm: float,
    closed: shapely.Geometry,
) -> tuple[str, Bases] | None:
    """The first of some units that fits with its left end at a place, and how it lies there."""
    for name in names:
        wide_mm = _size(units[name])[0]
        if at_mm[0] + wide_mm <= width_mm:
            bases = _moved_to(units[name], (at_mm[0] + wide_mm / 2, at_mm[1]))
            if not any(is_partly_in(footprint(base), closed) for base in bases):
                return name, bases
    return None


def _size(bases: Bases) -> tuple[float, float]:
    """How wide and how deep a unit is."""
    left, low, right, high = _bounds(bases)
    return right - left, high - low


def _facing(bases: Bases, heading_deg: float) -> Bases:
    middle = bases[0].x_mm, bases[0].y_mm
    return wheeled(bases, middle, heading_deg - mean_deg(base.heading_deg for base in bases))


def _moved_to(bases: Bases, middle: Point) -> Bases:
    left, low, right, high = _bounds(bases)
    x, y = middle[0] - (left + right) / 2, middle[1] - (low + high) / 2
    return ahead(bases, math.degrees(math.atan2(y, x)), math.hypot(x, y))


def _bounds(bases: Bases) -> tuple[float, float, float, float]:
    left, low, right, high = shapely.union_all([footprint(base) for base in bases]).bounds
    return left, low, right, high


def _laid(unit: Unit, bases: Bases) -> Unit:
    laid = replace(unit, bases=bases, formation=None)
    return replace(laid, formation=read_formation(laid).name)


def _kind(base: BasePose) -> tuple[int | None, float, float]:
    return base.tag, base.width_mm, base.depth_mm
