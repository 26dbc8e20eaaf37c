"""Where an army may be deployed: in the outer third of the table at its edge (M-2.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.measure.outlines import footprint
from tablecam.rules.maurice.game.poses import Bases, ahead, wheeled
from tablecam.rules.maurice.ground import Ground, is_partly_in
from tablecam.rules.maurice.tables import SLIVER_MM
from tablecam.table.formation import read_formation
from tablecam.table.headings import mean_deg
from tablecam.table.model import BasePose, Point, Position, TableSize, Unit

_GAP_MM = 5.0
"""Between units that are laid in rows: a hand's, so that nobody touches anybody."""


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


def deployed(position: Position, side: str, places: Mapping[str, Bases]) -> Position:
    """The position with units of a side where they were deployed.

    Raises:
        BadInput: One is not of the side, or has other bases.
    """
    own = {unit.id: unit for unit in position.units if unit.side == side}
    for name, bases in places.items():
        if name not in own:
            raise BadInput("deploy", f"expected units of {side}, got {name}")
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
            raise BadInput("deploy", f"expected a commander of {side}, got {name}")
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
    own = [unit for unit in position.units if unit.side == side]
    heading_deg = 90.0 if is_near else 270.0
    faced = {unit.id: _facing(unit.bases, heading_deg) for unit in own}
    wide, deep = _largest([*faced.values()])
    others = [
        footprint(base) for unit in position.units if unit.side != side for base in unit.bases
    ]
    closed = shapely.union_all([Ground.of(position.terrain).impassable, *others])
    cells = _cells(position.table, wide + _GAP_MM, deep + _GAP_MM, is_near=is_near)
    found: dict[str, Bases] = {}
    for unit in own:
        for middle in cells:
            bases = _moved_to(faced[unit.id], middle)
            if not any(is_partly_in(footprint(base), closed) for base in bases):
                found[unit.id] = bases
                break
        else:
            raise BadInput("position", f"expected {side} to fit into a third of the table")
    return found


def _cells(table: TableSize, wide: float, deep: float, *, is_near: bool) -> Iterator[Point]:
    """The middles of cells in rows, from the front of a third to its back."""
    columns, rows = int(table.width_mm // wide), int(table.depth_mm / 3 // deep)
    for row in range(rows):
        back_mm = table.depth_mm / 3 - (row + 0.5) * deep
        y_mm = back_mm if is_near else table.depth_mm - back_mm
        for column in range(columns):
            yield (column + 0.5) * wide, y_mm


def _largest(formed: list[Bases]) -> tuple[float, float]:
    """How wide and how deep the largest of some units is."""
    boxes = [_bounds(bases) for bases in formed]
    return max(box[2] - box[0] for box in boxes), max(box[3] - box[1] for box in boxes)


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
