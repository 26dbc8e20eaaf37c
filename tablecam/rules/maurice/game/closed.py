"""When measuring is closed, until what is declared, and for whom it is open all the same.

Only in a game in which players have agreed to declare first (`DECLARING.md`).
"""

from __future__ import annotations

from tablecam.rules.game import Closed
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.steps import (
    Activating,
    Charging,
    ChoosingEdge,
    ChoosingFallBacks,
    ChoosingOrder,
    Deploying,
    Discarding,
    Displacing,
    Drawing,
    Firing,
    Interrupting,
    LayingTerrain,
    Marching,
    Modifying,
    Over,
    Rallying,
    Removing,
    RollingCombat,
    RollingRally,
    RollingTerrain,
    RollingToDisrupt,
    RollingToHit,
    Step,
)
from tablecam.table.sides import side_name

_SETUP = (RollingTerrain, LayingTerrain, ChoosingEdge, ChoosingOrder, Deploying)
"""Ground is laid and armies are deployed with a measuring stick: nobody can shoot yet (M-2)."""


def closed(state: State) -> Closed | None:
    """What is to be declared before anybody measures; None where measuring is free."""
    step = _onward(state.step)
    if not state.declares_first or isinstance(step, (*_SETUP, Over)):
        return None
    names = _declared(state, step)
    if not names:
        return Closed(f"Measuring is closed until {_until(state, step)}")
    told = f"Measuring is closed, but for what has been declared: {', '.join(names)}"
    return Closed(told, names)


def _onward(step: Step) -> Step:
    """The step that cards only come before."""
    while isinstance(step, Drawing | Modifying | Removing | Displacing | Discarding):
        step = step.then
    return step


def _until(state: State, step: Step) -> str:
    match step:
        case Firing():
            return f"{side_name(step.side)} has declared its fire"
        case Charging():
            return f"{side_name(state.active)} has declared a charge"
        case Activating():
            return f"{side_name(state.active)} has activated a force"
        case Interrupting():
            return f"{side_name(state.passive)} has interrupted or not"
        case _:
            return f"{side_name(state.active)} has declared what it does"


def _declared(state: State, step: Step) -> tuple[str, ...]:
    """The units that have been declared to do or to suffer something that is going on."""
    match step:
        case RollingToHit(aims=aims):
            names = [name for aim in aims for name in (aim.unit, aim.target)]
        case RollingToDisrupt(target=target, firing=firing):
            names = [*(aim.unit for aim in firing.hits if aim.target == target), target]
        case Marching(force=units) | Rallying(force=units) | Interrupting(force=units):
            names = [*units, *_leader(state, units)]
        case Charging(charged=charged):
            names = [name for unit, met in charged.items() if met for name in (unit, *met)]
        case RollingCombat(engaged=units) | ChoosingFallBacks(attackers=units):
            names = [*units]
        case RollingRally(unit=unit):
            names = [unit]
        case _:
            names = []
    there = {unit.id for unit in state.position.units}
    there |= {leader.id for leader in state.position.commanders}
    return tuple(name for name in dict.fromkeys(names) if name in there)


def _leader(state: State, force: tuple[str, ...]) -> tuple[str, ...]:
    """The commander whose span to a force has been declared with it (M-4.11)."""
    led = (each.id for each in state.position.commanders if each.side == state.active)
    return tuple(led) if force else ()
