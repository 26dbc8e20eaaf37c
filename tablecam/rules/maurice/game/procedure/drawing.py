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
from tablecam.rules.game import Event
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.game.procedure.due_drawing import line_of_fire
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.sides import side_name


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
