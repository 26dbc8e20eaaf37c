"""Whose the dice of a roll are, and what they need: real ones are entered one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from tablecam.rules.dice import Roll
from tablecam.rules.game import AlikeDice
from tablecam.rules.maurice.game.fire_steps import shots_of
from tablecam.rules.maurice.game.rally_steps import rally_needs
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.steps import (
    RollingCombat,
    RollingFirstRound,
    RollingRally,
    RollingTerrain,
    RollingToDisrupt,
    RollingToHit,
)
from tablecam.rules.maurice.game.table import field_at
from tablecam.rules.maurice.volley import Shot, disrupt_number
from tablecam.table.sides import side_name


def dice_groups(state: State, roll: Roll) -> tuple[AlikeDice, ...]:
    """The dice of the roll that is due; each is in one group."""
    every = tuple(range(roll.count))
    match state.step:
        case RollingToHit() as step:
            return _to_hit(shots_of(state, step))
        case RollingToDisrupt(target=target, firing=firing):
            number = disrupt_number(firing.kind, field_at(state).by_id[target].unit.arm)
            return (AlikeDice(f"hits on {target}", number, every),)
        case RollingRally() as step:
            return (AlikeDice(step.unit, rally_needs(state, step), every),)
        case RollingCombat(engaged=engaged):
            return _one_each(engaged)
        case RollingTerrain() | RollingFirstRound():
            return _one_each([side_name(side.name) for side in state.sides])
        case _:
            return ()


def _to_hit(shots: Sequence[Shot]) -> tuple[AlikeDice, ...]:
    """A unit's bases by number and target; the target is said where they fire at several."""
    dice = [shot for shot in shots for _ in range(shot.dice)]
    alike: dict[tuple[int, str], list[int]] = {}
    for place, shot in enumerate(dice):
        alike.setdefault((shot.to_hit, shot.target), []).append(place)
    several = len({shot.target for shot in shots}) > 1
    return tuple(
        AlikeDice(
            _bases([dice[place].base for place in places]) + f" at {target}" * several,
            needs,
            tuple(places),
        )
        for (needs, target), places in alike.items()
    )


def _bases(names: Sequence[str]) -> str:
    each = dict.fromkeys(names)
    return f"base{'s' * (len(each) > 1)} {', '.join(each)}"


def _one_each(names: Sequence[str]) -> tuple[AlikeDice, ...]:
    return tuple(AlikeDice(name, None, (place,)) for place, name in enumerate(names))
