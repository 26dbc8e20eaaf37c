"""What moves and dice do: disruption, broken units, lost morale and displaced commanders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import shapely

from tablecam.geometry.outlines import unit_footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Event
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import COMMANDER_BW
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import Displacing, Over, Step
from tablecam.table.model import Commander, Point
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import counted


def with_disruption(
    state: State, name: str, gained: int, why: str, rule: str, drawn: tuple[Shape, ...] = ()
) -> StateAndEvents:
    """Adds disruption to a unit; callers check whether it breaks. `drawn` shows what disrupted it.

    Raises:
        KeyError: There is no such unit.
    """
    unit = state.position.unit(name)
    if unit is None:
        raise KeyError(name)
    level = int(unit.state.get("disruption", 0)) + gained
    text = f"{name} {why}: {counted(gained, 'disruption')}, {level} in total"
    facts = {"unit": name, "disruption": gained, "level": level}
    return state.with_marker(unit, disruption=level), (
        Event("disrupted", text, rule, facts, drawn),
    )


def without_broken(state: State, broken: Sequence[str]) -> StateAndEvents:
    """Removes units that broke, in the order in which they did (M-1.14).

    Each costs its army 1 morale. The army that first reaches 0 loses at once, and units that would
    break after that stay.

    Raises:
        KeyError: There is no such unit.
    """
    events: list[Event] = []
    for name in broken:
        # The army may have lost with the unit before.
        if isinstance(state.step, Over):
            break
        unit = state.position.unit(name)
        if unit is None:
            raise KeyError(name)
        units = tuple(other for other in state.position.units if other.id != name)
        state = replace(state, position=replace(state.position, units=units))
        facts = {"unit": name, "side": unit.side}
        text, drawn = f"{name} breaks and leaves the table", shapes_of(unit_footprint(unit), "unit")
        events.append(Event("broken", text, "M-1.14", facts, drawn))
        state, lost = with_less_morale(state, unit.side)
        events += lost
    return state, tuple(events)


def with_less_morale(state: State, side: str) -> StateAndEvents:
    """Takes 1 morale from an army; at 0 the game is over (M-2.5, M-4.1)."""
    left = state.side(side).morale - 1
    state = state.with_side(replace(state.side(side), morale=left))
    facts = {"side": side, "morale": left}
    events = [Event("morale", f"the {side_name(side)} army has {left} morale left", "M-2.5", facts)]
    if left <= 0:
        winner = state.other(side)
        because = f"the {side_name(side)} army has no morale left: {side_plural(winner)} win"
        state = state.to(Over(winner, because, "M-4.1"))
        events.append(Event("over", because, "M-4.1", {"winner": winner}))
    return state, tuple(events)


def marker_outline(place_mm: Point, bw_mm: float) -> shapely.Polygon:
    """Returns a commander's marker as a disc of 1 BW diameter around its centre."""
    return shapely.buffer(shapely.Point(place_mm), COMMANDER_BW * bw_mm / 2)


def marker_of(state: State, leader: Commander) -> shapely.Polygon:
    """Returns the marker of a commander on the table."""
    return marker_outline(leader.place_mm, state.position.table.bw_mm)


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
    passes = f"{side_plural(side)} pass over {leader.id}"
    text = f"{passes}: {side_plural(enemy)} move him 1 BW to a place clear of all bases"
    drawn = shapes_of(marker_of(state, leader), "contact")
    event = Event("displaced", text, "M-6.29", {"side": enemy}, drawn)
    return displacing(state, enemy, then), (event,)
