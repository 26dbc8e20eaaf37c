"""Commanders that are displaced when enemy units pass over them (M-6.29)."""

from __future__ import annotations

from dataclasses import replace

import shapely

from tablecam.geometry.shapes import shapes_of
from tablecam.rules.game import Event
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import COMMANDER_BW
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import Displacing, Step
from tablecam.table.model import Commander, Point
from tablecam.table.sides import side_name


def marker_outline(place_mm: Point, bw_mm: float) -> shapely.Polygon:
    """Returns a commander's marker as a disc of 1 BW diameter around its centre."""
    return shapely.buffer(shapely.Point(place_mm), COMMANDER_BW * bw_mm / 2)


def marker_of(state: State, leader: Commander) -> shapely.Polygon:
    """Returns the marker of a commander on the table."""
    return marker_outline((leader.x_mm, leader.y_mm), state.position.table.base_width_mm)


def commander_under(state: State, side: str, area: shapely.Geometry) -> Commander | None:
    """Returns a side's commander if its marker lies partly in an area, else None."""
    leader = state.commander(side)
    is_under = leader is not None and is_partly_in(marker_of(state, leader), area)
    return leader if is_under else None


def displacing(state: State, side: str, then: Step) -> State:
    """Returns the state in which a side places its displaced commander; `then` follows."""
    # The side pays for it when the round ends (M-6.30).
    displaced = state.round.displaced | {side}
    state = replace(state, round=replace(state.round, displaced=displaced))
    return state.to(Displacing(side, then))


def with_displacement(
    state: State, side: str, area: shapely.Geometry, then: Step
) -> StateAndEvents:
    """Returns the state with `then` next, or the displacement of an enemy commander before it.

    `area` is all that the side's unit passed over, in table millimetres.
    """
    enemy = state.other(side)
    leader = commander_under(state, enemy, area)
    if leader is None:
        return state.to(then), ()
    passes = f"{side_name(side)} passes over {leader.id}"
    text = f"{passes}: {side_name(enemy)} moves him 1 BW to a place clear of all bases"
    drawn = shapes_of(marker_of(state, leader), "contact")
    event = Event("displaced", text, "M-6.29", {"side": enemy}, drawn)
    return displacing(state, enemy, then), (event,)
