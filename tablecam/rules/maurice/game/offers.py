"""The page's view of a game: shapes of steps and events, and offers of legal actions.

Rules attach their own shapes to events. This module adds the units, commander or shots concerned,
so that every line of the log shows something on the table.
"""

from __future__ import annotations

import math
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

import shapely

from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.game import Event, Offer
from tablecam.rules.maurice.charge.charge import charges, why_never_charges
from tablecam.rules.maurice.combat.results import fall_back, moved_back
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.fire.fire import fire_of_units
from tablecam.rules.maurice.game import actions as act
from tablecam.rules.maurice.game.activation import played_bw
from tablecam.rules.maurice.game.cards import Modifying, amounts_words
from tablecam.rules.maurice.game.command import may_fire
from tablecam.rules.maurice.game.fire import Firing, able_to_fire, in_order, line_of_fire
from tablecam.rules.maurice.game.march import Marching, judge_march, march_words
from tablecam.rules.maurice.game.setup import ChoosingOrder, zones
from tablecam.rules.maurice.game.state import Command, State
from tablecam.rules.maurice.game.table import field_at, outlines
from tablecam.rules.maurice.movement.judge import placed
from tablecam.rules.maurice.place.ranges import command_string, reaches
from tablecam.rules.miniatures.ground import footprints
from tablecam.table.headings import difference_deg
from tablecam.table.model import Point
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import counted, joined, proper_name


def step_shapes(state: State) -> tuple[Shape, ...]:
    """Draws the current step: units that may act or roll, zones, targets."""
    return state.step.shapes(state) or outlines(field_at(state), state.step.waiting)


def with_shapes(before: State, after: State, events: Iterable[Event]) -> tuple[Event, ...]:
    """Returns an action's events with all their shapes; units are drawn as they stood then.

    A unit's result is a point with the role `result`, labelled with the result's words.
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


_NAMING = ("unit", "units", "force", "target", "targets", "engaged_with")
"""The facts that name units."""


def _shapes(
    event: Event, units: Mapping[str, UnitOnField], state: State, hits: str
) -> Iterator[Shape]:
    """Yields an event's own shapes, then the units, shots, side and result it concerns."""
    yield from event.evidence
    named = (event.facts.get(key, ()) for key in _NAMING)
    names = chain(*((names,) if isinstance(names, str) else names for names in named))
    about = [units[name] for name in names if name in units]
    # Units that rules draw themselves, such as broken ones, are not drawn twice.
    if not any(shape.role == "unit" for shape in event.evidence):
        for unit in about:
            yield from shapes_of(unit.outline, "unit", unit.id)
    if event.kind == "shot":
        yield from _shots(event, units)
    # An event without a place of its own is shown at its side's commander.
    if not (about or event.evidence):
        side = str(event.facts.get("side", event.facts.get("active")))
        if (leader := state.commander(side)) is not None:
            yield Shape("point", (leader.place_mm,), "leader", proper_name(leader.id))
    words = hits or _result(event)
    # Hits are shown at the target, any other result at the unit itself.
    shown = units.get(str(event.facts.get("target" if hits else "unit")))
    if words and shown is not None:
        yield Shape("point", (middle_of(shown.outline),), "result", words)


def _shots(event: Event, units: Mapping[str, UnitOnField]) -> Iterator[Shape]:
    shooter = units.get(str(event.facts["unit"]))
    target = units.get(str(event.facts["target"]))
    if shooter is None or target is None:
        return
    for name in event.facts["bases"]:
        base = shooter.unit.bases[shooter.unit.base_names.index(name)]
        yield from shapes_of(footprint(base), "shooter")
        yield line_of_fire(base.place_mm, target.outline)


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
            # The `broken` event reports it.
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


_INTERRUPTS = {
    "first-fire": "Fire first (First Fire)",
    "rough-going": "Close difficult ground (Rough Going)",
    "foil": "Foil the activation",
    "other": "Play another interrupt",
}

_DONE = {
    "laying-terrain": "Keep the terrain as it is",
    "activating": "Activate no force",
    "marching": "End the march",
    "charging": "End the charge",
    "firing": "End firing",
    "rallying": "End the rally",
    "moving-commander": "Keep the commander where he is",
}


def offer(state: State, action: act.Action) -> Offer:
    """Returns the offer of an action that is legal in a state."""
    match action:
        case Roll():
            return Offer("dice", str(action), step_shapes(state), state.step.dice_groups(state))
        case act.Activate():
            return _activation(state, action)
        case act.Fire():
            return _fire(state, action)
        case act.March():
            return _march(state, action)
        case act.Charge():
            return _charge(state, action)
        case act.FallBack():
            return _fall_back(state, action)
        case act.Rally():
            return Offer("rally", action.unit, outlines(field_at(state), [action.unit]))
        case act.PlaceCommander():
            return _commander(state, action)
        case _:
            return _command(state, action)


def _command(state: State, action: act.Action) -> Offer:
    """Offers a decision that moves nothing on the table."""
    field, step = field_at(state), state.step
    match action:
        case act.Volleys():
            if not action.invoke:
                return Offer("volleys", "Skip")
            return Offer("volleys", "Fire", outlines(field, may_fire(state)))
        case act.Declare():
            label = action.card or action.command.capitalize()
            own = field.of_side(state.active)
            fit = [unit.id for unit in own if _is_fit(state, unit, action.command)]
            return Offer("command", label, outlines(field, fit))
        case act.FireFrom():
            able = able_to_fire(state, step) if isinstance(step, Firing) else ()
            ordered = in_order(able, action.direction)
            numbered = enumerate(ordered, start=1)
            drawn = [shapes_of(unit.outline, "order", f"{n}. {unit.id}") for n, unit in numbered]
            label = f"Start from the {action.direction} ({ordered[0].id if ordered else 'nobody'})"
            return Offer("fire", label, (*chain(*drawn),))
        case act.ClearSmoke():
            force = step.force if isinstance(step, Marching) else ()
            smoking = [name for name in force if field.by_id[name].has_smoke]
            return Offer("march", "Clear all smoke", outlines(field, smoking))
        case act.Done():
            group = "setup" if step.type == "laying-terrain" else "done"
            return Offer(group, _DONE.get(step.type, "Leave the commander where he is"))
        case _:
            return _setup(state, action)


def _setup(state: State, action: act.Action) -> Offer:
    """Offers an action before the first round, with its zones and places."""
    table, step = state.position.table, state.step
    match action:
        case act.LayTerrain():
            drawn = tuple(Shape("polygon", piece.outline_mm, "terrain") for piece in action.terrain)
            return Offer("setup", f"Lay {len(action.terrain)} pieces as proposed", drawn)
        case act.ChooseEdge():
            drawn = zones(table, {action.edge: action.edge == "near"})
            return Offer("setup", f"The {action.edge} edge", drawn)
        case act.ChooseOrder():
            near = step.near if isinstance(step, ChoosingOrder) else ""
            drawn = zones(table, {side_name(action.first): action.first == near})
            return Offer("setup", f"{side_plural(action.first)} deploy first", drawn)
        case act.Deploy():
            label = "Deploy all in rows" if action.units else "Keep all units where they are"
            return Offer("setup", label, _deployed(state, action))
        case _:
            return _card(state, action)


def _card(state: State, action: act.Action) -> Offer:
    """Offers an action with cards, or declining."""
    match action:
        case act.Interrupt():
            label = action.card or _INTERRUPTS[action.effect]
            return Offer("card", label, _interrupted(state, action))
        case act.Modify():
            step = state.step
            concerned = step.then.concerned(state) if isinstance(step, Modifying) else ()
            amounts = {unit: by for unit, by in action.amounts.items() if unit in concerned}
            name = action.card or f"Card ({action.symbol})"
            label = f"{name}: {amounts_words(amounts) or 'no effect here'}"
            return Offer("card", label, outlines(field_at(state), amounts))
        case act.Decline():
            return Offer("card", "No card")
        case act.Remove():
            return Offer("card", "Remove the event from the game")
        case act.Draw():
            at = action.reshuffle_at
            reshuffle = "" if at is None else f" (card {at} is the Reshuffle card)"
            return Offer("card", f"Draw {action.count}{reshuffle}")
        case act.Discard():
            return Offer("card", f"Discard {', '.join(action.cards) or action.count}")
        case _:
            return Offer(action.type, action.type.replace("-", " ").capitalize())


def _is_fit(state: State, unit: UnitOnField, command: Command) -> bool:
    """Whether a unit could carry out a command, judging by visible facts."""
    match command:
        case "charge":
            return why_never_charges(unit) is None
        case "rally":
            return unit.disruption > 0
        case "bombard":
            return unit.unit.arm == "artillery" and unit.id not in state.round.fired
        case _:
            return command == "march"


def _interrupted(state: State, action: act.Interrupt) -> tuple[Shape, ...]:
    field = field_at(state)
    if action.effect == "first-fire":
        able = able_to_fire(state, Firing("volley", state.passive))
        return outlines(field, [unit.id for unit in able])
    units = outlines(field, state.step.waiting)
    is_of_ground = action.effect == "rough-going"
    return (*shapes_of(field.ground.difficult, "barred"), *units) if is_of_ground else units


def _deployed(state: State, action: act.Deploy) -> tuple[Shape, ...]:
    own = (unit for unit in state.position.units if unit.side == action.side)
    bases_of = {unit.id: action.units.get(unit.id, unit.bases) for unit in own}
    drawn = (shapes_of(footprints(bases), "goal", name) for name, bases in bases_of.items())
    return tuple(chain.from_iterable(drawn))


def _activation(state: State, action: act.Activate) -> Offer:
    field = field_at(state)
    shapes = outlines(field, action.force)
    spans_bw = played_bw(state, action)
    cards = joined(f"“{card}”" for card in action.cards) or counted(len(spans_bw), "card")
    what = f"{cards} of {sum(spans_bw)} BW"
    # One of several example spans.
    if state.declares_first and len(action.spans) == 1:
        what = f"{action.spans[0]} BW"
    # The string would reveal a distance before anything is declared.
    commander = None if state.declares_first else state.commander(state.active)
    if commander and (reached := command_string(field, commander, action.force)) is not None:
        shapes += (reached.path,)
        is_close = reaches(field, reached, spans_bw).answer == "too_close"
        doubt = ": too close, the mover decides" if is_close else ""
        what += f" ({proper_name(commander.id)} is {reached.length_bw:.2f} BW away{doubt})"
    return Offer("activate", f"{', '.join(action.force)}: with {what}", shapes, units=action.force)


def _fire(state: State, action: act.Fire) -> Offer:
    field, counts = field_at(state), Counter(action.targets.values())
    at = ", ".join(f"{target} ({counted(number, 'base')})" for target, number in counts.items())
    # If nothing may be measured between them yet, only the units are drawn.
    if state.declares_first:
        return Offer("fire", f"{action.unit} at {at}", outlines(field, (action.unit, *counts)))
    fire = fire_of_units(field, [action.unit])[action.unit]
    shapes = tuple(
        shape
        for base, target in action.targets.items()
        for option in fire[base].options
        if option.target == target
        for shape in option.evidence
    )
    return Offer("fire", f"{action.unit} at {at}", shapes)


def _march(state: State, action: act.March) -> Offer:
    field = field_at(state)
    unit = field.by_id[action.unit]
    there = placed(field, unit, action.bases).by_id[unit.id]
    label = f"{unit.id}: {march_words(field, unit, there)}{_march_cost(state, action, there)}"
    path = Shape("line", (middle_of(unit.outline), middle_of(there.outline)), "path")
    shapes = (*outlines(field, [unit.id]), path, *shapes_of(there.outline, "goal", unit.id))
    return Offer("march", label, shapes)


def _march_cost(state: State, action: act.March, there: UnitOnField) -> str:
    """Returns the disruptions that a march costs its unit, and friends (M-6.3, M-6.7)."""
    field = field_at(state)
    unit = field.by_id[action.unit]
    # Judging takes long, so only what may lie in the way is judged.
    turned_deg = abs(difference_deg(there.axes.heading_deg, unit.axes.heading_deg))
    bulge_mm = math.dist(unit.axes.left_mm, unit.axes.right_mm) * (turned_deg > 1) - SLIVER_MM
    area = shapely.buffer(shapely.union(unit.outline, there.outline).convex_hull, bulge_mm)
    in_the_way = [field.ground.difficult, *(friend.outline for friend in field.friends_of(unit))]
    if not shapely.intersects(area, in_the_way).any():
        return ""
    way = judge_march(state, action)
    own = counted(way.disruptions, "disruption") if way.disruptions else ""
    others = (f"{name} 1" for name in way.passed if field.by_id[name].is_disrupted_by_passing)
    costs = ", ".join(filter(None, (own, *others)))
    return costs and f": {costs}"


def _charge(state: State, action: act.Charge) -> Offer:
    field, drawn = field_at(state), outlines(field_at(state), [action.unit, action.target])
    if not state.declares_first:
        lanes = charges(field, [action.unit])[action.unit].lanes
        to_target = (lane.evidence for lane in lanes if lane.target == action.target)
        drawn = (*next(to_target, ()), *drawn)
    return Offer("charge", f"{action.unit} charges {action.target}", drawn)


def _fall_back(state: State, action: act.FallBack) -> Offer:
    field = field_at(state)
    unit, result = field.by_id[action.unit], fall_back(field, action.unit, {})[action.unit]
    shapes = outlines(field, [unit.id])
    if result.is_broken:
        return Offer("fall-back", f"{unit.id} cannot fall back and breaks", shapes)
    there = moved_back(unit, result.fall_back_mm).outline
    shapes = (*shapes, *shapes_of(there, "goal", f"{field.in_bw(result.fall_back_mm):.3g} BW back"))
    return Offer("fall-back", unit.id, shapes)


def _commander(state: State, action: act.PlaceCommander) -> Offer:
    leader = state.commander(action.side)
    name = "the commander" if leader is None else proper_name(leader.id)
    place = Shape("point", (action.place_mm,), "goal", name)
    friends = field_at(state).of_side(action.side)
    at = shapely.Point(action.place_mm)
    nearest = min(friends, key=lambda unit: float(shapely.distance(unit.outline, at)), default=None)
    where = f"{action.x_mm:.0f}, {action.y_mm:.0f} mm" if nearest is None else nearest.id
    way = () if leader is None else (Shape("line", (leader.place_mm, action.place_mm), "path"),)
    return Offer("commander", f"Move {name} to {where}", (*way, place))
