"""What a page draws of what happened: whom it was about, where they stood, and what came of it.

Events bring the drawing of their rule; here all of them get the units, the commander or the shots
that they are about, so that no line of the log is about nothing on the table.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import shapely

from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.game import Event
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
            return outlines(field, _names_of_due(step))


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


def _names_of_due(step: object) -> tuple[str, ...]:
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
        return (
            *shapes_of(field.ground.difficult, "barred"),
            *outlines(field, _names_of_due(state.step)),
        )
    return outlines(field, _names_of_due(state.step))


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


def drawn(before: State, after: State, events: Iterable[Event]) -> tuple[Event, ...]:
    """The events of an action with their whole drawing, each as it stood then.

    What came of it for a unit is a point with the role `result`, and its words for a label.
    """
    all_events = tuple(events)
    if not all_events:
        return ()
    units = ChainMap(dict(field_at(after).by_id), dict(field_at(before).by_id))
    shots = _hits(all_events)
    return tuple(
        replace(event, evidence=tuple(_shapes(event, units, after, shots.get(place, ""))))
        for place, event in enumerate(all_events)
    )


def _shapes(
    event: Event, units: Mapping[str, UnitOnField], state: State, hits: str
) -> Iterator[Shape]:
    yield from event.evidence
    about = [units[name] for name in _names(event) if name in units]
    if not any(shape.role == "unit" for shape in event.evidence):
        for unit in about:
            yield from shapes_of(unit.outline, "unit", unit.id)
    if event.kind == "shot":
        yield from _shot(event, units)
    if not (about or event.evidence):
        yield from _of_side(event, state)
    words = hits or _result(event)
    shown = units.get(str(event.facts.get("target" if hits else "unit")))
    if words and shown is not None:
        yield Shape("point", (_middle(shown.outline),), "result", words)


def _names(event: Event) -> Iterator[str]:
    """The units that an event is about, by what its facts say."""
    for key in ("unit", "units", "force", "target", "targets", "engaged_with"):
        value = event.facts.get(key, ())
        yield from (value,) if isinstance(value, str) else value


def _shot(event: Event, units: Mapping[str, UnitOnField]) -> Iterator[Shape]:
    """The base that fired, and the line to its target."""
    shooter = units.get(str(event.facts["unit"]))
    target = units.get(str(event.facts["target"]))
    if shooter is None or target is None:
        return
    for place, base in enumerate(shooter.unit.bases):
        if shooter.unit.base_name(place) == event.facts["base"]:
            yield from shapes_of(footprint(base), "shooter")
            yield line_of_fire((base.x_mm, base.y_mm), target.outline)


def _of_side(event: Event, state: State) -> Iterator[Shape]:
    """A side's commander, where an event is about the whole of it."""
    side = event.facts.get("side", event.facts.get("active"))
    for leader in state.position.commanders:
        if leader.side == side:
            yield Shape("point", ((leader.x_mm, leader.y_mm),), "leader", side_name(str(side)))


def _hits(events: tuple[Event, ...]) -> dict[int, str]:
    """How many of the dice at each target hit, by the place of the last shot at it."""
    hits: Counter[str] = Counter()
    dice: Counter[str] = Counter()
    last: dict[str, int] = {}
    for place, event in enumerate(events):
        if event.kind == "shot":
            target = str(event.facts["target"])
            hits[target] += event.facts["hits"]
            dice[target] += len(event.facts["rolled"])
            last[target] = place
    return {place: f"{hits[name]} of {dice[name]} hit" for name, place in last.items()}


def _result(event: Event) -> str:
    """What an event came to for its unit, in a word or two."""
    facts = event.facts
    match event.kind:
        case "score":
            return f"{facts['score']}"
        case "broken":
            return "breaks"
        case "falls-back" | "result" if facts["broken"]:
            return ""  # told where it leaves the table
        case "falls-back":
            gained = facts["disruption"]
            return f"{_disruptions(gained)}, falls back" if gained else "falls back"
        case "result" | "disrupted" | "rallies":
            return _disruptions(facts["disruption"])
        case _:
            return ""


def _disruptions(gained: int) -> str:
    """The pips that a unit gained, as markers on the table show them."""
    if gained == 0:
        return "no \N{BLACK CIRCLE}"
    return f"{gained:+d} \N{BLACK CIRCLE}".replace("-", "\N{MINUS SIGN}")


def _middle(outline: shapely.Geometry) -> tuple[float, float]:
    middle = shapely.centroid(outline)
    return float(middle.x), float(middle.y)
