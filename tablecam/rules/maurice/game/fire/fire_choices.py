"""A side's choices in fire: which units may fire, in which order, and at whom (M-7.5 to M-7.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.requests import Kind
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.fire.option import Range
from tablecam.rules.maurice.game.state.actions import Fire
from tablecam.rules.maurice.game.state.declaring import declarable_fire, may_try_to_fire
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.steps import Direction, Firing
from tablecam.rules.maurice.game.state.table import field_at, fire_at
from tablecam.table.headings import forward, mean_deg

_RANGES: dict[Kind, Range] = {"volley": "short", "bombard": "long"}
"""The range of each kind of fire (M-7.1)."""


def able_to_fire(state: State, step: Firing) -> tuple[UnitOnField, ...]:
    """Returns the side's units that may still fire and have a target.

    A unit fires once in a round (M-7.7, M-4.24); in a bombardment only activated guns do (M-7.3).
    Where players declare first these are all units that may try: a list of targets would reveal
    ranges.
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
    """Sorts units along their line from one end, left and right as seen by the player behind it.

    The order guides the list only: a player keeps to it as well as possible (M-7.8).
    """
    line = list(units)
    if not line:
        return ()
    # The mean heading of the line, as single units may face aside.
    x, y = forward(mean_deg(unit.axes.heading_deg for unit in line))
    # To the right of the heading, so that the left end comes first.
    axis = np.array((y, -x)) * (1 if direction == "left" else -1)

    def position_along(unit: UnitOnField) -> float:
        middle = np.mean([unit.axes.left_mm, unit.axes.right_mm], axis=0)
        return float(middle @ axis)

    return tuple(sorted(line, key=position_along))


def usual_fire(state: State, unit: UnitOnField, kind: Kind) -> tuple[Fire, ...]:
    """Lists a unit's usual fire: all bases, with as many as possible at one of its targets.

    A player may also split fire otherwise or hold bases back (M-7.5, M-7.14).
    """
    if state.declares_first:
        return declarable_fire(state, unit)
    targets = _targets(fire_at(state, [unit.id])[unit.id], kind)
    all_targets = dict.fromkeys(name for names in targets.values() for name in names)
    aim_sets: list[dict[str, str]] = []
    for target in all_targets:
        # Bases that cannot fire at it fire at their first target.
        aims = {base: target if target in names else names[0] for base, names in targets.items()}
        # Different targets may lead to the same aims.
        if aims not in aim_sets:
            aim_sets.append(aims)
    return tuple(Fire(unit.id, aims) for aims in aim_sets)


def _targets(fire: Mapping[str, BaseFire], kind: Kind) -> dict[str, tuple[str, ...]]:
    """Returns the targets of each base that has any."""
    needed_range = _RANGES[kind]
    by_base = {
        name: tuple(option.target for option in base.options if option.range == needed_range)
        for name, base in fire.items()
    }
    return {name: targets for name, targets in by_base.items() if targets}
