"""Flights: units that evade, retreat or rout, directly away from their enemies (S-C.11)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import shapely

from tablecam.geometry.moves.lanes import swept_straight
from tablecam.geometry.moves.poses import ahead, wheeled
from tablecam.geometry.outlines import footprint, table_outline
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.game import Event
from tablecam.rules.miniatures.battle import Bases, Events
from tablecam.rules.miniatures.ground import area_of, axes_of, centre_mm, footprints, overlaps
from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.marches import disordered_on_the_way
from tablecam.rules.syw_d6.state import Due, State, destroyed, disordered, with_calamity
from tablecam.table.headings import difference_deg
from tablecam.table.model import Point, Unit

Edge = Literal["south", "north"]
_TURN_DEG, _MOST_DEG = 5, 90
_ROUNDING_MM = 0.01
_STEP_IN, _MOST_STEPS = 0.25, 96


class FlightDie(Due):
    """The dice of a unit that flees, all of which are added (S-A.1, S-C.7)."""

    unit: str
    kind: Literal["evades", "retreats", "routs"]
    enemy: str

    def roll(self, state: State) -> Roll:
        """Returns the plain rate in dice."""
        return Roll(f"how far {self.unit} {self.kind}", state.field.troops[self.unit].rate)

    def follow(self, state: State, answer: tuple[int, ...]) -> tuple[State, Events]:
        """Returns the state after the flight."""
        return flee(state, self, sum(answer))


@dataclass(frozen=True, slots=True)
class WayOut:
    """Where a unit can flee: its turn from straight away, its end, and whether it is off."""

    turn_deg: float
    bases: Bases
    swept: shapely.Geometry
    is_off: bool


def way_out(
    state: State, unit: Unit, away_deg: float, length_in: float, *, enemy: str, turns: bool
) -> WayOut | None:
    """Returns the way that turns least from straight away (S-C.11); None if there is none."""
    ground = state.field
    footprints_mm = [footprint(base) for base in unit.bases]
    for size_deg in range(0, _MOST_DEG + 1, _TURN_DEG):
        for turn_deg in (size_deg, -size_deg)[: 1 + (size_deg > 0)]:
            way_deg = away_deg + turn_deg
            bases = _end(ground, unit, way_deg, length_in, turns=turns)
            area = swept_straight(footprints_mm, way_deg, length_in * ground.inch_mm)
            verdict = _verdict(state, ground, unit, bases, area, enemy)
            if verdict != "barred":
                return WayOut(float(turn_deg), bases, area, verdict == "off")
    return None


def flee(state: State, flight: FlightDie, length_in: float) -> tuple[State, Events]:
    """Returns the state after a unit has gone away, off the table, or nowhere and is destroyed."""
    name, kind = flight.unit, flight.kind
    unit, ground = state.unit(name), state.field
    state, events = disordered(state, name, "S-C.14")
    # A rout runs on until the disorder is cleared; the others end with this move (S-A.2).
    if kind == "retreats":
        state = state.changed(name, status=None, flees_from=None)
    away_deg = _away_deg(state, unit, flight.enemy)
    turns = kind != "retreats"
    way = way_out(state, unit, away_deg, length_in, enemy=flight.enemy, turns=turns)
    if way is None:
        state, more = destroyed(state, name, "it has no way to go")
        return state, (*events, *more)
    text = f"{name} {kind} by {length_in:g} in"
    facts = {"unit": name, "inches": length_in}
    event = Event("flight", text, "S-C.11", facts, shapes_of(way.swept, "path"))
    calamity: Literal["routs", "retreats"] = "routs" if kind == "routs" else "retreats"
    # Who evades counts as one who retreats, but calls nobody to test (S-H.4, S-G.1).
    state = with_calamity(state, name, calamity, has_called=kind == "evades")
    if way.is_off:
        gone = Event("loss", f"{name} leaves the table", "S-A.2", {"unit": name})
        return state.changed(name, bases=()), (*events, event, gone)
    state = state.changed(name, bases=way.bases, fled=True, moved=True)
    state, more = disordered_on_the_way(state, ground, unit, way.swept)
    return state, (*events, event, *more)


def _away_deg(state: State, unit: Unit, enemy: str) -> float:
    """Returns the direction of a flight: from the attacker, later to the own edge (S-C.12)."""
    centre, other = centre_mm(unit.bases), state.position.unit(enemy)
    if unit.state.get("fled") or other is None:
        goal = _edge_point(state, unit.side, centre)
        return math.degrees(math.atan2(goal[1] - centre[1], goal[0] - centre[0]))
    start = centre_mm(other.bases)
    return math.degrees(math.atan2(centre[1] - start[1], centre[0] - start[0]))


def _end(ground: Field, unit: Unit, way_deg: float, length_in: float, *, turns: bool) -> Bases:
    """Returns where a flight ends: beyond friends on whom the unit would lie."""
    turn_deg = difference_deg(way_deg, axes_of(unit).heading_deg) if turns else 0.0
    bases = unit.bases
    for step in range(_MOST_STEPS):
        far_mm = (length_in + step * _STEP_IN) * ground.inch_mm
        bases = ahead(unit.bases, way_deg, far_mm)
        bases = wheeled(bases, centre_mm(bases), turn_deg)
        area = footprints(bases)
        friends = (ground.outlines[friend.id] for friend in ground.friends(unit))
        if not any(overlaps(area, friend) for friend in friends):
            break
    return bases


def _verdict(
    state: State, ground: Field, unit: Unit, bases: Bases, area: shapely.Geometry, enemy: str
) -> Literal["free", "off", "barred"]:
    """Returns whether a flight may go a way, and whether it leaves the table (S-C.11, S-C.13)."""
    end = footprints(bases)
    whole = shapely.union(area, end)
    for other in ground.enemies(unit):
        outline = ground.outlines[other.id]
        before_mm = ground.apart_in(unit, other) * ground.inch_mm
        nearer = shapely.distance(end, outline) < before_mm - _ROUNDING_MM
        # An enemy that the unit fights lies against it.
        if (other.id != enemy and nearer) or overlaps(whole, outline):
            return "barred"
    for piece in state.position.terrain:
        if piece.extra.get("impassable") and overlaps(whole, area_of(piece)):
            return "barred"
    table = table_outline(state.position.table)
    if shapely.covers(table, end):
        return "free"
    outside = shapely.difference(end, table)
    own = shapely.LineString(_edge_ends(state, unit.side))
    # Whatever is outside must have gone over the owner's edge.
    return "off" if shapely.distance(outside, own) < 1.0 else "barred"


def _edge_ends(state: State, side: str) -> tuple[Point, Point]:
    """Returns the ends of a side's own table edge."""
    table = state.position.table
    y_mm = 0.0 if state.edges[side] == "south" else table.depth_mm
    return (0.0, y_mm), (table.width_mm, y_mm)


def _edge_point(state: State, side: str, place_mm: Point) -> Point:
    """Returns the point beyond a side's own edge that is nearest to a place (S-C.12)."""
    edge = shapely.LineString(_edge_ends(state, side))
    nearest = edge.interpolate(edge.project(shapely.Point(place_mm)))
    return nearest.x, nearest.y


def home_edges(sides: tuple[str, str], units: Sequence[Unit]) -> dict[str, Edge]:
    """Returns each side's own edge: the long one that its units stand nearer to."""
    first, second = (
        centre_mm([base for unit in units if unit.side == side for base in unit.bases])[1]
        for side in sides
    )
    order: tuple[Edge, Edge] = ("south", "north") if first <= second else ("north", "south")
    return dict(zip(sides, order, strict=True))
