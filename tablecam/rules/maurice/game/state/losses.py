"""Disruptions, broken units and the morale they cost (M-1.14, M-2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tablecam.geometry.outlines import unit_footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Event
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import Over
from tablecam.table.sides import side_name
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
        because = f"the {side_name(side)} army has no morale left: {side_name(winner)} wins"
        state = state.to(Over(winner, because, "M-4.1"))
        events.append(Event("over", because, "M-4.1", {"winner": winner}))
    return state, tuple(events)
