"""Where a commander may be put: moved for a card, or displaced by whoever stands on him."""

from __future__ import annotations

import math
from dataclasses import replace

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.game.state.actions import PlaceCommander
from tablecam.rules.maurice.game.state.displaced import marker_outline
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at, forces_at
from tablecam.table.hands import HAND_MM
from tablecam.table.headings import forward
from tablecam.table.model import Commander, Point

DIRECTIONS = 24
"""Directions in which a displaced commander's place is looked for: 15 degrees apart."""


def must_go(state: State, leader: Commander) -> bool:
    """Whether any base stands on a commander, and he has anywhere to go to (M-6.29)."""
    is_stood_upon = not _is_clear(field_at(state), (leader.x_mm, leader.y_mm))
    return is_stood_upon and bool(displaced_places(state, leader.side))


def usual_places(state: State, side: str) -> tuple[Point, ...]:
    """Behind each force of a side, where that is free and he does not stand already."""
    field = field_at(state)
    leader = next(each for each in state.position.commanders if each.side == side)
    found = []
    forces = forces_at(state, side)
    if state.declares_first:  # who is linked to whom is measured
        forces = tuple((unit.id,) for unit in field.of_side(side))
    for force in forces:
        unit = field.by_id[force[len(force) // 2]]
        ahead_x, ahead_y = forward(unit.axes.heading_deg)
        rear = max(
            (unit.axes.left_mm[0] - x) * ahead_x + (unit.axes.left_mm[1] - y) * ahead_y
            for x, y in shapely.get_coordinates(unit.outline).tolist()
        )
        middle_x, middle_y = (
            (a + b) / 2 for a, b in zip(unit.axes.left_mm, unit.axes.right_mm, strict=True)
        )
        back = rear + field.bw_mm
        place = round(middle_x - back * ahead_x, 1), round(middle_y - back * ahead_y, 1)
        if _is_free(field, place) and _far_mm(leader, place) >= field.bw_mm:
            found.append(place)
    return tuple(dict.fromkeys(found))


def displaced_places(state: State, side: str) -> tuple[Point, ...]:
    """Free places all round a commander, on the first ring of whole BW that has any (M-6.29)."""
    field = field_at(state)
    leader = next(each for each in state.position.commanders if each.side == side)
    table = field.position.table
    farthest = math.ceil(math.hypot(table.width_mm, table.depth_mm) / field.bw_mm)
    for ring in range(1, farthest + 1):
        places = (_on_ring(leader, ring * field.bw_mm, turn) for turn in range(DIRECTIONS))
        if free := tuple(place for place in places if _is_free(field, place)):
            return free
    return ()


def place_refusal(state: State, action: PlaceCommander) -> str | None:
    """Why a commander may not be moved to a place; None where he may (M-6.27).

    He may stand where friends do, and is displaced then.
    """
    field = field_at(state)
    leader = _at(state, action)
    marker = marker_outline(leader, field.bw_mm)
    place = shapely.Point(action.x_mm, action.y_mm)
    if not shapely.covers(table_outline(field.position.table), place):
        return f"expected a place on the table, got {action.x_mm:g}, {action.y_mm:g}"
    for unit in field.units:
        if unit.side != action.side and is_partly_in(marker, unit.outline):
            return f"{unit.id} stands there"
    return None


def ring_refusal(state: State, action: PlaceCommander) -> str | None:
    """Why a displaced commander may not be put at a place; None where he may (M-6.29)."""
    field = field_at(state)
    leader = next(each for each in state.position.commanders if each.side == action.side)
    if not _is_free(field, (action.x_mm, action.y_mm)):
        return "expected a place on the table that is free of all bases"
    nearest_free = displaced_places(state, action.side)
    if not nearest_free:
        return None
    ring = round(field.in_bw(_far_mm(leader, nearest_free[0])))
    got_mm = _far_mm(leader, (action.x_mm, action.y_mm))
    if min(abs(got_mm - each * field.bw_mm) for each in range(1, ring + 1)) > HAND_MM:
        return f"expected a place {ring} BW from where he was, got {field.in_bw(got_mm):.2f}"
    return None


def _is_free(field: Field, place: Point) -> bool:
    is_on_table = shapely.covers(table_outline(field.position.table), shapely.Point(place))
    return bool(is_on_table) and _is_clear(field, place)


def _is_clear(field: Field, place: Point) -> bool:
    marker = marker_outline(Commander("", "", *place), field.bw_mm)
    return not any(is_partly_in(marker, unit.outline) for unit in field.units)


def _on_ring(leader: Commander, far_mm: float, turn: int) -> Point:
    angle = 2 * math.pi * turn / DIRECTIONS
    x, y = leader.x_mm + far_mm * math.cos(angle), leader.y_mm + far_mm * math.sin(angle)
    return round(x, 1), round(y, 1)


def _far_mm(leader: Commander, place: Point) -> float:
    return math.hypot(place[0] - leader.x_mm, place[1] - leader.y_mm)


def _at(state: State, action: PlaceCommander) -> Commander:
    leader = next(each for each in state.position.commanders if each.side == action.side)
    return replace(leader, x_mm=action.x_mm, y_mm=action.y_mm)
