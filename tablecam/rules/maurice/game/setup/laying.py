"""Where bases really lie, taken over as a round begins: hands are hands (G-8).

A unit that the game has moved, or a hand has put back, lies a hair elsewhere than it should. Moves
are measured from where it lies; but only between rounds, when nothing hangs on who touches whom.
"""

from __future__ import annotations

from dataclasses import replace

from tablecam.errors import BadInput
from tablecam.rules.game import Refused
from tablecam.rules.maurice.game.state.actions import Lay
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.steps import VolleyChoice
from tablecam.rules.maurice.game.state.table import field_on
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.motion import HAND_MM, lies_there


def laid(state: State, position: Position) -> Lay | None:
    """The action that takes over all that lies a hair elsewhere; None where nothing does."""
    if not isinstance(state.step, VolleyChoice):
        return None
    seen = ((unit, position.unit(unit.id)) for unit in state.position.units)
    units = {
        unit.id: there.bases
        for unit, there in seen
        if there is not None and there.bases != unit.bases and _is_a_hair_off(unit, there.bases)
    }
    return Lay(units) if units else None


def as_laid(state: State, action: Lay) -> State:
    """The round begun with units where they lie.

    Raises:
        Refused: The round is under way, a unit is not there, or it lies farther off than a hand
            is, or upon others.
    """
    if not isinstance(state.step, VolleyChoice):
        raise Refused("expected a round that begins: moves are under way", rule="G-8")
    position = state.position
    units = {unit.id: unit for unit in position.units}
    for name, bases in action.units.items():
        if name not in units or not _is_a_hair_off(units[name], bases):
            why = f"{name} does not lie within {HAND_MM:g} mm of its place"
            raise Refused(why, rule="G-8", key="units")
        units[name] = replace(units[name], bases=bases)
    position = replace(position, units=tuple(units.values()))
    try:
        field_on(position)
    except BadInput as error:
        raise Refused(error.message, rule="G-8") from None
    return replace(state, position=position, round=replace(state.round, began=position))


def _is_a_hair_off(unit: Unit, bases: tuple[BasePose, ...]) -> bool:
    """Whether the same bases lie in the same order, each as near as a hand puts it."""
    return len(bases) == len(unit.bases) and all(
        (base.tag, base.width_mm) == (other.tag, other.width_mm) and lies_there(base, other)
        for base, other in zip(bases, unit.bases, strict=True)
    )
