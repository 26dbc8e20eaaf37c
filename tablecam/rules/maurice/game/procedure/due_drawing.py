"""What a page draws of what is due, and of actions that have no drawing of their own rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import shapely

from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import SHORT_BW
from tablecam.rules.maurice.game.fire.fire_choices import able_to_fire, in_order
from tablecam.rules.maurice.game.setup.deploying import third
from tablecam.rules.maurice.game.state import actions as act
from tablecam.rules.maurice.game.state.declaring import may_try_to_charge, may_try_to_fire
from tablecam.rules.maurice.game.state.displaced import marker_outline
from tablecam.rules.maurice.game.state.state import Command, State
from tablecam.rules.maurice.game.state.steps import (
    Charging,
    ChoosingEdge,
    ChoosingFallBacks,
    ChoosingOrder,
    Deploying,
    Displacing,
    Firing,
    Interrupting,
    Marching,
    MovingCommander,
    Rallying,
    RollingCombat,
    RollingRally,
    RollingToDisrupt,
    RollingToHit,
)
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.model import Point
from tablecam.table.sides import side_name


def due_shapes(state: State) -> tuple[Shape, ...]:
    """What is due is about: the units that may act or roll, zones, who is fired at."""
    field, step = field_at(state), state.step
    match step:
        case Deploying():
            return _zone(state, side_name(step.side), is_near=step.side == step.near)
        case ChoosingOrder():
            sides = (step.near, state.other(step.near))
            zones = (_zone(state, side_name(side), is_near=side == step.near) for side in sides)
            return tuple(shape for zone in zones for shape in zone)
        case ChoosingEdge():
            return (*_zone(state, "near", is_near=True), *_zone(state, "far", is_near=False))
        case RollingToHit():
            return (*outlines(field, _aimers(step)), *_lines_of_fire(field, step))
        case Displacing() | MovingCommander():
            side = step.side if isinstance(step, Displacing) else state.active
            return _commanders(state, side)
        case _:
            return outlines(field, _names(step))


def offer_shapes(state: State, action: act.Action) -> tuple[Shape, ...]:
    """What an action is about that draws nothing itself; nothing where that is no place."""
    match action:
        case Roll():
            return due_shapes(state)
        case act.Volleys(invoke=True):
            return outlines(field_at(state), _in_range(state))
        case act.Declare():
            return outlines(field_at(state), _fit_for(state, action.command))
        case act.FireFrom() if isinstance(state.step, Firing):
            return _numbered(in_order(able_to_fire(state, state.step), action.direction))
        case act.Interrupt():
            return _interrupted(state, action)
        case act.Modify():
            return outlines(field_at(state), action.amounts)
        case act.ClearSmoke() if isinstance(state.step, Marching):
            field = field_at(state)
            smoking = [name for name in state.step.force if field.by_id[name].has_smoke]
            return outlines(field, smoking)
        case _:
            return _of_setup(state, action)


def _of_setup(state: State, action: act.Action) -> tuple[Shape, ...]:
    match action:
        case act.ChooseEdge():
            return _zone(state, action.edge, is_near=action.edge == "near")
        case act.ChooseOrder() if isinstance(state.step, ChoosingOrder):
            return _zone(state, side_name(action.first), is_near=action.first == state.step.near)
        case act.Deploy():
            return _deployed(state, action)
        case _:
            return ()


def outlines(field: Field, names: Iterable[str]) -> tuple[Shape, ...]:
    """Where units lie, each with its name."""
    return tuple(
        shape
        for name in names
        if name in field.by_id
        for shape in shapes_of(field.by_id[name].outline, "unit", name)
    )


def _names(step: object) -> tuple[str, ...]:
    """The units that may act in a step, or that roll in it."""
    match step:
        case Marching() | Charging():
            done = {*step.moved, *(step.charged if isinstance(step, Charging) else ())}
            return tuple(name for name in step.force if name not in done)
        case Rallying():
            return tuple(name for name in step.force if name not in step.tried)
        case RollingCombat():
            return step.engaged
        case RollingRally():
            return (step.unit,)
        case RollingToDisrupt():
            return (step.target,)
        case ChoosingFallBacks():
            return step.attackers
        case Interrupting():
            return step.force
        case _:
            return ()


def _aimers(step: RollingToHit) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for aim in step.aims for name in (aim.unit, aim.target)))


def _lines_of_fire(field: Field, step: RollingToHit) -> Iterator[Shape]:
    """From each base that fires to the nearest of its target."""
    for aim in step.aims:
        shooter, target = field.by_id[aim.unit], field.by_id[aim.target]
        for place, base in enumerate(shooter.unit.bases):
            if shooter.unit.base_name(place) == aim.base:
                yield line_of_fire((base.x_mm, base.y_mm), target.outline)


def line_of_fire(from_mm: Point, outline: shapely.Geometry) -> Shape:
    """A shot, from the middle of a base to the nearest of its target."""
    line = shapely.shortest_line(shapely.Point(from_mm), outline)
    x_mm, y_mm = shapely.get_coordinates(line)[1]
    return Shape("line", (from_mm, (float(x_mm), float(y_mm))), "shot")


def _zone(state: State, label: str, *, is_near: bool) -> tuple[Shape, ...]:
    """The third of the table where an army deploys (M-2.3)."""
    return shapes_of(third(state.position.table, is_near=is_near), "zone", label)


def _commanders(state: State, side: str) -> tuple[Shape, ...]:
    bw_mm = state.position.table.base_width_mm
    return tuple(
        shape
        for leader in state.position.commanders
        if leader.side == side
        for shape in shapes_of(marker_outline(leader, bw_mm), "unit", leader.id)
    )


def _in_range(state: State) -> list[str]:
    """Who might fire in the volley phase, on both sides; where nobody measures, whoever fires."""
    field = field_at(state)
    if state.declares_first:
        return [unit.id for unit in field.units if may_try_to_fire(unit)]
    far_mm = SHORT_BW * field.bw_mm
    return [
        unit.id
        for unit in field.units
        if unit.unit.arm != "cavalry"
        and any(
            shapely.dwithin(unit.outline, enemy.outline, far_mm) for enemy in field.enemies_of(unit)
        )
    ]


def _fit_for(state: State, command: Command) -> list[str]:
    """The active side's units that a command could be for, by what all can see of them."""
    return [u.id for u in field_at(state).of_side(state.active) if _is_fit(state, u, command)]


def _is_fit(state: State, unit: UnitOnField, command: Command) -> bool:
    match command:
        case "charge":
            return may_try_to_charge(unit)
        case "rally":
            return unit.disruption > 0
        case "bombard":
            return unit.unit.arm == "artillery" and unit.id not in state.round.fired
        case _:
            return command == "march"


def _numbered(units: Iterable[UnitOnField]) -> tuple[Shape, ...]:
    """Units with their places in an order."""
    return tuple(
        shape
        for place, unit in enumerate(units, start=1)
        for shape in shapes_of(unit.outline, "order", f"{place}. {unit.id}")
    )


def _interrupted(state: State, action: act.Interrupt) -> tuple[Shape, ...]:
    field = field_at(state)
    if action.effect == "first-fire":
        return outlines(
            field, [unit.id for unit in able_to_fire(state, Firing("volley", state.passive))]
        )
    if action.effect == "rough-going":
        return (*shapes_of(field.ground.difficult, "barred"), *outlines(field, _names(state.step)))
    return outlines(field, _names(state.step))


def _deployed(state: State, action: act.Deploy) -> tuple[Shape, ...]:
    """Where all of a side would lie."""
    placed = [
        (unit.id, action.units.get(unit.id, unit.bases))
        for unit in state.position.units
        if unit.side == action.side
    ]
    return tuple(
        shape
        for name, bases in placed
        for shape in shapes_of(shapely.union_all([footprint(base) for base in bases]), "goal", name)
    )
