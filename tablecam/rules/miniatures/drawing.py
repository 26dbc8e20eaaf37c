"""Draws the units of a step, an action or an event of a battle: outlines, and lines of fire."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import shapely

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Event, Offer
from tablecam.rules.miniatures.ground import axes_of, footprints
from tablecam.table.model import Position, Unit


def names_in(value: object) -> Iterator[str]:
    """Yields the texts in a frozen value, in the order of its fields: names of units among them."""
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value):
        for key in dataclasses.fields(value):
            yield from names_in(getattr(value, key.name))
    elif isinstance(value, Mapping):
        yield from names_in([*value.items()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_in(item)


def shapes_about(
    position: Position, names: Iterable[str], *drawn_before: Shape
) -> tuple[Shape, ...]:
    """Draws the units among some names, and a line from one to an enemy, unless one is drawn."""
    units = [unit for name in dict.fromkeys(names) if (unit := position.unit(name)) and unit.bases]
    drawn = tuple(
        shape for unit in units for shape in shapes_of(footprints(unit.bases), "unit", unit.id)
    )
    has_line = any(shape.role == "shot" for shape in drawn_before)
    if len(units) == 2 and units[0].side != units[1].side and not has_line:
        drawn += shapes_of(_line(*units), "shot")
    return drawn


def offer_shapes(position: Position, action: Any, offer: Offer) -> tuple[Shape, ...]:
    """Draws the units of an offered action, and where it takes a unit."""
    drawn = shapes_about(position, offer.units, *offer.evidence)
    unit = position.unit(getattr(action, "unit", ""))
    bases = getattr(action, "bases", ())
    if unit is None or not bases or isinstance(bases[0], int):
        return drawn
    goal = shapes_of(footprints(bases), "goal", unit.id)
    path = shapely.LineString([axes_of(unit).middle_mm, axes_of(unit, bases).middle_mm])
    return (*drawn, *(shapes_of(path, "path") if path.length else ()), *goal)


def with_shapes(before: Position, after: Position, event: Event) -> Event:
    """Returns an event with its units drawn as they stood then, and its result.

    The fact `result` of an event is written at its target, or else at its unit.
    """
    facts = event.facts
    keys = ("unit", "target", "units", "enemy")
    names = [name for key in keys if key in facts for name in names_in(facts[key])]
    # A unit destroyed is on the table only before.
    units = {name: after.unit(name) or before.unit(name) for name in names}
    there = dataclasses.replace(after, units=tuple(unit for unit in units.values() if unit))
    drawn = (*event.evidence, *shapes_about(there, names, *event.evidence))
    shown = units.get(str(facts.get("target", facts.get("unit"))))
    if shown is not None and "result" in facts:
        middle_mm = shapely.get_coordinates(shapely.centroid(footprints(shown.bases)))[0].tolist()
        drawn += (Shape("point", (tuple(middle_mm),), "result", str(facts["result"])),)
    return dataclasses.replace(event, evidence=drawn)


def _line(unit: Unit, target: Unit) -> shapely.LineString:
    """Returns the line from the middle of a unit's front to the nearest point of a target."""
    start = shapely.Point(axes_of(unit).middle_mm)
    return shapely.shortest_line(start, footprints(target.bases))
