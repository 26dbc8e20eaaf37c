"""Deployment zones and the proposed places in them: the outer third at a side's edge (M-2.3)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import Bases, ahead, has_same_bases, laid, wheeled
from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.ground import Ground, is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.table.headings import mean_deg
from tablecam.table.model import Point, Position, TableSize, Unit
from tablecam.table.sides import side_name

_GAP_MM = 5.0
"""Gap between units in proposed rows, so that none touch."""
_STEP_MM = 20.0
"""Step along a row past impassable ground."""


def deployment_zone(table: TableSize, *, is_near: bool) -> shapely.Polygon:
    """Returns the third of the table at an edge."""
    deep_mm = table.depth_mm / 3
    low = 0.0 if is_near else table.depth_mm - deep_mm
    return shapely.box(0.0, low, table.width_mm, low + deep_mm)


def zone_shapes(table: TableSize, label: str, *, is_near: bool) -> tuple[Shape, ...]:
    """Draws the third of the table at an edge."""
    return shapes_of(deployment_zone(table, is_near=is_near), "zone", label)


def zone_of_side(table: TableSize, side: str, near: str) -> tuple[Shape, ...]:
    """Draws the third of a side; `near` is the side that deploys at the edge y = 0."""
    return zone_shapes(table, side_name(side), is_near=side == near)


def zones_of_sides(table: TableSize, near: str, far: str) -> tuple[Shape, ...]:
    """Draws the thirds of both sides."""
    return (*zone_of_side(table, near, near), *zone_of_side(table, far, near))


def unit_outside_zone(position: Position, side: str, *, is_near: bool) -> str | None:
    """Returns a unit of a side that leaves its third by more than a sliver, or None."""
    # A sliver over the zone's edge does not count (G-5).
    zone = shapely.buffer(
        deployment_zone(position.table, is_near=is_near), SLIVER_MM, join_style="mitre"
    )
    for unit in _units_of(position, side):
        if not all(shapely.covers(zone, footprint(base)) for base in unit.bases):
            return unit.id
    return None


def unit_on_impassable(position: Position, side: str) -> str | None:
    """Returns a unit of a side that lies partly on impassable ground, or None (M-5.1)."""
    closed = Ground.of(position.terrain).impassable
    for unit in _units_of(position, side):
        if any(is_partly_in(footprint(base), closed) for base in unit.bases):
            return unit.id
    return None


def _units_of(position: Position, side: str) -> Iterator[Unit]:
    return (unit for unit in position.units if unit.side == side)


def check_room(position: Position, sides: Collection[str]) -> None:
    """Checks that each side fits into either third of the table.

    Edges are chosen only after the terrain is laid (M-2.3).

    Raises:
        BadInput: A side does not fit; with its name.
    """
    for side in sides:
        # Whichever edge it gets.
        for near in sides:
            usual_places(position, side, near)


def with_units_at(
    position: Position, sides: Collection[str], places: Mapping[str, Bases]
) -> Position:
    """Returns the position with units of some sides at given poses.

    Raises:
        BadInput: A unit is of another side, or has other bases.
    """
    own = {unit.id: unit for unit in position.units if unit.side in sides}
    for name, bases in places.items():
        if name not in own:
            expected = " or ".join(map(side_name, sides))
            raise BadInput("deploy", f"expected units of {expected}, got {name}")
        if not has_same_bases(bases, own[name].bases):
            raise BadInput("deploy", f"expected the {len(own[name].bases)} bases of {name}")
    units = tuple(
        laid(unit, places[unit.id]) if unit.id in places else unit for unit in position.units
    )
    return replace(position, units=units)


def with_commanders(position: Position, side: str, places: Mapping[str, Point]) -> Position:
    """Returns the position with commanders of a side at given places.

    Raises:
        BadInput: One is of another side, or stands off the table.
    """
    own = [leader.id for leader in position.commanders if leader.side == side]
    table = position.table
    for name, (x_mm, y_mm) in places.items():
        if name not in own:
            raise BadInput("deploy", f"expected a commander of {side_name(side)}, got {name}")
        if not (0 <= x_mm <= table.width_mm and 0 <= y_mm <= table.depth_mm):
            raise BadInput("deploy", f"expected {name} on the table, got {x_mm:g}, {y_mm:g} mm")
    return with_commanders_at(position, places)


def with_commanders_at(position: Position, places: Mapping[str, Point]) -> Position:
    """Returns a position with some commanders, by id, at other places."""
    leaders = tuple(
        replace(leader, x_mm=places[leader.id][0], y_mm=places[leader.id][1], pose=None)
        if leader.id in places
        else leader
        for leader in position.commanders
    )
    return replace(position, commanders=leaders)


def usual_places(position: Position, side: str, near: str) -> Mapping[str, Bases]:
    """Returns poses in rows for all units of a side, in their formation and facing the enemy.

    Raises:
        BadInput: They do not fit into the third.
    """
    is_near = side == near
    heading_deg = 90.0 if is_near else 270.0
    own = {unit.id: _facing(unit.bases, heading_deg) for unit in _units_of(position, side)}
    closed = Ground.of(position.terrain).impassable
    placed = _in_rows(own, position.table, closed, is_near=is_near)
    if len(placed) < len(own):
        why = f"expected the {side_name(side)} units to fit into a third of the table"
        raise BadInput("position", why)
    return {name: placed[name] for name in own}


def _in_rows(
    units: Mapping[str, Bases], table: TableSize, closed: shapely.Geometry, *, is_near: bool
) -> dict[str, Bases]:
    """Places units in rows from the front of a third, the deepest first, as many as fit."""
    # Deep units first: a row is as deep as its first unit.
    waiting = sorted(units, key=lambda name: -_size(units[name])[1])
    placed: dict[str, Bases] = {}
    front_mm = 0.0
    while waiting and front_mm + (deep_mm := _size(units[waiting[0]])[1]) <= table.depth_mm / 3:
        x_mm = 0.0
        while x_mm < table.width_mm:
            middle_mm = table.depth_mm / 3 - front_mm - deep_mm / 2
            y_mm = middle_mm if is_near else table.depth_mm - middle_mm
            fit = _fitting(units, waiting, (x_mm, y_mm), table.width_mm, closed)
            if fit is None:
                # Impassable ground here: try a little farther along the row.
                x_mm += _STEP_MM
                continue
            name, placed[name] = fit
            waiting.remove(name)
            x_mm += _size(units[name])[0] + _GAP_MM
        front_mm += deep_mm + _GAP_MM
    return placed


def _fitting(
    units: Mapping[str, Bases],
    names: Sequence[str],
    at_mm: Point,
    width_mm: float,
    closed: shapely.Geometry,
) -> tuple[str, Bases] | None:
    """Returns the first unit that fits with its left end at a place, and its poses there."""
    for name in names:
        wide_mm = _size(units[name])[0]
        if at_mm[0] + wide_mm <= width_mm:
            bases = _moved_to(units[name], (at_mm[0] + wide_mm / 2, at_mm[1]))
            if not any(is_partly_in(footprint(base), closed) for base in bases):
                return name, bases
    return None


def _size(bases: Bases) -> tuple[float, float]:
    """Returns the width and depth of a unit's bounding box."""
    left, low, right, high = _bounds(bases)
    return right - left, high - low


def _facing(bases: Bases, heading_deg: float) -> Bases:
    middle = bases[0].place_mm
    return wheeled(bases, middle, heading_deg - mean_deg(base.heading_deg for base in bases))


def _moved_to(bases: Bases, middle: Point) -> Bases:
    left, low, right, high = _bounds(bases)
    x, y = middle[0] - (left + right) / 2, middle[1] - (low + high) / 2
    return ahead(bases, math.degrees(math.atan2(y, x)), math.hypot(x, y))


def _bounds(bases: Bases) -> tuple[float, float, float, float]:
    left, low, right, high = shapely.union_all([footprint(base) for base in bases]).bounds
    return left, low, right, high
