"""Commanders that are displaced when enemy units pass over them (M-6.29)."""

from __future__ import annotations

from dataclasses import replace

import shapely

from tablecam.geometry.shapes import shapes_of
from tablecam.rules.game import Event
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import COMMANDER_BW
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import StateAndEvents
from tablecam.rules.maurice.game.state.steps import Displacing, Step
from tablecam.table.model import Commander
from tablecam.table.sides import side_name
from tablecam.wording import joined

RULE = "M-6.29"


def marker_outline(commander: Commander, bw_mm: float) -> shapely.Polygon:
    """Returns a commander's marker as a disc of 1 BW diameter around its centre."""
    place = shapely.Point(commander.x_mm, commander.y_mm)
    return shapely.buffer(place, COMMANDER_BW * bw_mm / 2)


def commanders_under(state: State, side: str, area: shapely.Geometry) -> tuple[Commander, ...]:
    """Returns the commanders of a side whose markers lie partly in an area."""
    bw_mm = state.position.table.base_width_mm
    own = (commander for commander in state.position.commanders if commander.side == side)
    return tuple(
        commander for commander in own if is_partly_in(marker_outline(commander, bw_mm), area)
    )


def with_displacement(
    state: State, side: str, area: shapely.Geometry, then: Step
) -> StateAndEvents:
    """Returns the state with `then` next, or the displacement of an enemy commander before it.

    `area` is all that the side's unit passed over, in table millimetres.
    """
    enemy = state.other(side)
    displaced = commanders_under(state, enemy, area)
    if not displaced:
        return state.to(then), ()
    # The side pays for it when the round ends (M-6.30).
    state = replace(state, round=replace(state.round, displaced=state.round.displaced | {enemy}))
    names = joined(commander.id for commander in displaced)
    passes = f"{side_name(side)} passes over {names}"
    text = f"{passes}: {side_name(enemy)} moves him 1 BW to a place clear of all bases"
    drawn = tuple(
        shape
        for commander in displaced
        for shape in shapes_of(
            marker_outline(commander, state.position.table.base_width_mm), "contact"
        )
    )
    event = Event("displaced", text, RULE, {"side": enemy}, drawn)
    return state.to(Displacing(enemy, then=then)), (event,)
