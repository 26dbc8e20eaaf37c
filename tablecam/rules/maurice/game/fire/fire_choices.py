"""Who may fire in a step, in which order, and at whom: what M-7.5 to M-7.8 leave to the player."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.requests import Kind
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.fire.option import Range
from tablecam.rules.maurice.game.state.actions import Fire
from tablecam.rules.maurice.game.state.declaring import may_try_to_fire, tried_fire
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.steps import Direction, Firing
from tablecam.rules.maurice.game.state.table import field_at, fire_at
from tablecam.table.headings import forward, mean_deg

_RANGES: dict[Kind, Range] = {"volley": "short", "bombard": "long"}
"""What each kind of fire reaches (M-7.1)."""


def able_to_fire(state: State, step: Firing) -> tuple[UnitOnField, ...]:
    """The units of the side that may fire yet and have a target.

    A unit fires once in a round (M-7.7, M-4.24); in a bombardment only activated guns do (M-7.3).
    Where players declare first, all those that may try: a list of targets would tell ranges.
    """
    allowed = [
        unit
        for unit in field_at(state).of_side(step.side)
        if unit.id not in state.round.fired
        and (step.may is None or unit.id in step.may)
        and (step.kind == "volley" or unit.unit.arm == "artillery")
    ]
    if state.declares_first:
        return tuple(unit for unit in allowed if may_try_to_fire(unit))
    fire = fire_at(state, [unit.id for unit in allowed])
    return tuple(unit for unit in allowed if _targets(fire[unit.id], step.kind))


def in_order(units: Iterable[UnitOnField], direction: Direction) -> tuple[UnitOnField, ...]:
    """Units from an end of their line to the other, as the player behind it sees left and right.

    He keeps to it as well as he can (M-7.8): the order in which fire is listed, not a duty.
    """
    everyone = list(units)
    if not everyone:
        return ()
    x, y = forward(mean_deg(unit.axes.heading_deg for unit in everyone))
    along_it = np.array((y, -x)) * (1 if direction == "left" else -1)

    def along(unit: UnitOnField) -> float:
        middle = np.mean([unit.axes.left_mm, unit.axes.right_mm], axis=0)
        return float(middle @ along_it)

    return tuple(sorted(everyone, key=along))


def choices(state: State, unit: UnitOnField, kind: Kind) -> tuple[Fire, ...]:
    """The usual ways for a unit to fire: with all bases, as many as can be at one of its targets.

    A player may do otherwise: split it differently, or hold bases back (M-7.5, M-7.14).
    """
    if state.declares_first:
        return tried_fire(state, unit)
    targets = _targets(fire_at(state, [unit.id])[unit.id], kind)
    everyone = dict.fromkeys(name for names in targets.values() for name in names)
    found: list[dict[str, str]] = []
    for target in everyone:
        aims = {base: target if target in names else names[0] for base, names in targets.items()}
        if aims not in found:
            found.append(aims)
    return tuple(Fire(unit.id, aims) for aims in found)


def _targets(fire: Mapping[str, BaseFire], kind: Kind) -> dict[str, tuple[str, ...]]:
    """The units that each base may fire at, bases that may fire at nobody left out."""
    wanted = _RANGES[kind]
    found = {
        name: tuple(option.target for option in base.options if option.range == wanted)
        for name, base in fire.items()
    }
    return {name: targets for name, targets in found.items() if targets}
