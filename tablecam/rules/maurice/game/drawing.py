"""Shapes of steps, offers and events: the units they concern, where these stood, and the result.

Rules attach their own shapes to events. This module adds the units, commander or shots concerned,
so that every line of the log shows something on the table.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import shapely

from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Event
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.game.fire import line_of_fire
from tablecam.rules.maurice.game.state import State
from tablecam.rules.maurice.game.table import field_at, outlines
from tablecam.table.model import Point
from tablecam.table.sides import side_name


def step_shapes(state: State) -> tuple[Shape, ...]:
    """Draws the current step: units that may act or roll, zones, targets."""
    return state.step.shapes(state) or outlines(field_at(state), state.step.waiting)


def with_shapes(before: State, after: State, events: Iterable[Event]) -> tuple[Event, ...]:
    """Returns an action's events with all their shapes; units are drawn as they stood then.

    A unit's result is a point with the role `result` and the result's words as its label.
    """
    all_events = tuple(events)
    if not all_events:
        return ()
    # Broken units are only in the field before.
    units = ChainMap(dict(field_at(after).by_id), dict(field_at(before).by_id))
    shots = _hits(all_events)
    return tuple(
        replace(event, evidence=tuple(_shapes(event, units, after, shots.get(place, ""))))
        for place, event in enumerate(all_events)
    )


def _shapes(
    event: Event, units: Mapping[str, UnitOnField], state: State, hits: str
) -> Iterator[Shape]:
    """Yields an event's own shapes, then the units, shots, side and result it concerns."""
    yield from event.evidence
    about = [units[name] for name in _names(event) if name in units]
    # Rules that draw units themselves, such as broken ones, are not doubled.
    if not any(shape.role == "unit" for shape in event.evidence):
        for unit in about:
            yield from shapes_of(unit.outline, "unit", unit.id)
    if event.kind == "shot":
        yield from _shots(event, units)
    # An event without a place of its own is shown at its side's commander.
    if not (about or event.evidence):
        yield from _of_side(event, state)
    words = hits or _result(event)
    # Hits are shown at the target, any other result at the unit itself.
    shown = units.get(str(event.facts.get("target" if hits else "unit")))
    if words and shown is not None:
        yield Shape("point", (middle_of(shown.outline),), "result", words)


def _names(event: Event) -> Iterator[str]:
    """Yields the units that an event's facts name."""
    for key in ("unit", "units", "force", "target", "targets", "engaged_with"):
        value = event.facts.get(key, ())
        yield from (value,) if isinstance(value, str) else value


def _shots(event: Event, units: Mapping[str, UnitOnField]) -> Iterator[Shape]:
    """Draws the bases that fired, each with the line to the target."""
    shooter = units.get(str(event.facts["unit"]))
    target = units.get(str(event.facts["target"]))
    if shooter is None or target is None:
        return
    for name in event.facts["bases"]:
        base = shooter.unit.bases[shooter.unit.base_names.index(name)]
        yield from shapes_of(footprint(base), "shooter")
        yield line_of_fire(base.place_mm, target.outline)


def _of_side(event: Event, state: State) -> Iterator[Shape]:
    """Marks a side's commander for an event that concerns the whole side."""
    side = str(event.facts.get("side", event.facts.get("active")))
    if (leader := state.commander(side)) is not None:
        yield Shape("point", (leader.place_mm,), "leader", side_name(side))


def _hits(events: tuple[Event, ...]) -> dict[int, str]:
    """Counts hits by target, keyed by the index of the last shot at it."""
    hits: Counter[str] = Counter()
    dice: Counter[str] = Counter()
    last: dict[str, int] = {}
    for place, event in enumerate(events):
        if event.kind == "shot":
            target = str(event.facts["target"])
            hits[target] += event.facts["hits"]
            dice[target] += len(event.facts["rolled"])
            # The label appears once per target, after its last shot.
            last[target] = place
    return {place: f"{hits[name]} of {dice[name]} hit" for name, place in last.items()}


def _result(event: Event) -> str:
    """Returns an event's result for its unit in a word or two, or an empty string."""
    facts = event.facts
    match event.kind:
        case "score":
            return f"{facts['score']}"
        case "broken":
            return "breaks"
        case "falls-back" | "result" if facts["broken"]:
            # The `broken` event says so.
            return ""
        case "falls-back":
            gained = facts["disruption"]
            return f"{_disruptions(gained)}, falls back" if gained else "falls back"
        case "result" | "disrupted" | "rallies":
            return _disruptions(facts["disruption"])
        case _:
            return ""


def _disruptions(gained: int) -> str:
    """Formats gained disruption as pips, like the markers on the table."""
    if gained == 0:
        return "no \N{BLACK CIRCLE}"
    return f"{gained:+d} \N{BLACK CIRCLE}".replace("-", "\N{MINUS SIGN}")


def middle_of(outline: shapely.Geometry) -> Point:
    """Returns the middle of an outline."""
    middle = shapely.centroid(outline)
    return float(middle.x), float(middle.y)
