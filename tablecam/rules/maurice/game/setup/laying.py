"""Adoption of small pose differences as a round begins (placement tolerance, G-8).

A unit that the game has moved, or a player has put back, lies slightly off its recorded pose. Moves
are measured from the real pose, but it is only adopted between rounds, when contact does not depend
on it.
"""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.game import Refused
from tablecam.rules.lay import Lay, with_bases
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import refusing
from tablecam.rules.maurice.game.state.steps import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.state.table import field_on
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.motion import HAND_MM, lies_there


def pose_corrections(state: State, position: Position) -> Lay | None:
    """Returns the action that adopts all small pose differences, or None without any."""
    if not _has_round_just_begun(state):
        return None
    pairs = ((unit, position.unit(unit.id)) for unit in state.position.units)
    units = {
        unit.id: there.bases
        for unit, there in pairs
        if there is not None
        and there.bases != unit.bases
        and _is_within_tolerance(unit, there.bases)
    }
    return Lay(units) if units else None


def with_corrected_poses(state: State, action: Lay) -> State:
    """Returns the state with units at the poses of the action, which the round then begins with.

    Raises:
        Refused: The round is under way, a unit is missing, or it lies beyond placement tolerance or
            on top of others.
    """
    if not _has_round_just_begun(state):
        raise Refused("poses can only be corrected at the start of a round", rule="G-8")
    position = state.position
    for name, bases in action.units.items():
        unit = position.unit(name)
        if unit is None or not _is_within_tolerance(unit, bases):
            why = f"{name} is more than {HAND_MM:g} mm from its place"
            raise Refused(why, rule="G-8", key="units")
    position = with_bases(position, action.units)
    with refusing("G-8"):
        field_on(position)
    # Allowances and views of this round follow from these poses (M-6.2, M-8.4).
    return replace(state, position=position, round=replace(state.round, began=position))


def _has_round_just_begun(state: State) -> bool:
    # Later in the round, moves are measured from the recorded poses.
    has_fired = state.round.has_volleys
    return isinstance(state.step, VolleyChoice | CommandChoice) and not has_fired


def _is_within_tolerance(unit: Unit, bases: tuple[BasePose, ...]) -> bool:
    """Whether the same bases lie in the same order, each within placement tolerance."""
    return len(bases) == len(unit.bases) and all(
        (base.tag, base.width_mm) == (other.tag, other.width_mm) and lies_there(base, other)
        for base, other in zip(bases, unit.bases, strict=True)
    )
