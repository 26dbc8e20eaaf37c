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
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.dice import Roll
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.drawing import shapes_about
from tablecam.rules.miniatures.ground import area_of, axes_of, centre_mm, footprints, overlaps
from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.marches import disordered_on_the_way
from tablecam.rules.syw_d6.responses import responses
from tablecam.rules.syw_d6.state import (
    Due,
    State,
    destroyed,
    disordered,
    parted,
    with_calamity,
)
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

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws both units; a line between them would look like fire."""
        names = (self.unit, self.enemy)
        return tuple(shape for name in names for shape in shapes_about(state.position, (name,)))

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state after it has gone away, off the table, or nowhere and is destroyed."""
        name, kind, ground, length_in = self.unit, self.kind, state.field, sum(answer)
        unit = state.unit(name)
        state = disordered(state, name, "S-C.14")
        # A rout runs on until the disorder is cleared; the others end with this move (S-A.2).
        if kind == "retreats":
            state = state.changed(name, status=None, flees_from=None)
        enemy = None if unit.state.get("fled") else state.position.unit(self.enemy)
        away = away_deg(state, unit, None if enemy is None else centre_mm(enemy.bases))
        way = way_out(state, unit, away, length_in, enemy=self.enemy, turns=kind != "retreats")
        if way is None:
            return destroyed(state, name, "it has no way to go")
        gone_in = ground.inches(math.dist(centre_mm(unit.bases), centre_mm(way.bases)))
        whence = "toward its table edge" if enemy is None else f"away from {enemy.id}"
        text, rule = f"{name} {kind} {length_in:g} in {whence}", "S-C.11"
        if way.turn_deg:
            text += f", turned {abs(way.turn_deg):g}° to avoid other enemies or obstacles"
        if gone_in > length_in + 0.05:
            far = f"{gone_in:.1f} in from where it stood"
            text += f", and on to {far}, so as not to end on friends (our reading)"
            rule = "S-C.13"
        drawn = shapes_of(way.swept, "path")
        state = state.tells("flight", text, rule, *drawn, unit=name, inches=length_in)
        state = with_calamity(parted(state, name), name, kind, way.swept)
        if way.is_off:
            state = state.tells("loss", f"{name} leaves the table", "S-A.2", unit=name)
            return state.changed(name, bases=())
        # Only a rout has later moves, and those go to the edge (S-A.2, S-C.12).
        state = state.changed(name, bases=way.bases, fled=kind == "routs" or None, moved=True)
        state = disordered_on_the_way(state, ground, unit, way.swept)
        # Forced moves call response fire, responses do not (S-C.1, S-0.13).
        is_own = unit.side == state.active
        fire = responses(state, unit, way.bases, is_straight=True) if is_own else ()
        return state.pushed(*fire)


def flight_of(state: State, unit: Unit) -> FlightDie:
    """Returns the flight of a unit that is to retreat or rout (S-A.1).

    Where nobody attacked it, its first move goes away from the nearest enemy.
    """
    kind: Literal["routs", "retreats"] = (
        "routs" if unit.state.get("status") == "routing" else "retreats"
    )
    enemy = str(unit.state.get("flees_from", ""))
    if not unit.state.get("fled") and not state.has(enemy):
        enemy = next((near.id for near in state.field.nearest_enemies(unit)), "")
    return FlightDie(unit.id, kind, enemy)


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
            far_mm = math.dist(centre_mm(unit.bases), centre_mm(bases))
            area = swept_straight(footprints_mm, way_deg, far_mm)
            verdict = _verdict(state, ground, unit, bases, area, enemy)
            if verdict != "barred":
                return WayOut(float(turn_deg), bases, area, verdict == "off")
    return None


def away_deg(state: State, unit: Unit, from_mm: Point | None) -> float:
    """Returns the way straight away from an attacker; without one, to the own edge (S-C.12)."""
    x_mm, y_mm = centre_mm(unit.bases)
    if from_mm is None:
        edge = _edge(state, unit.side)
        goal = edge.interpolate(edge.project(shapely.Point(x_mm, y_mm)))
        return math.degrees(math.atan2(goal.y - y_mm, goal.x - x_mm))
    return math.degrees(math.atan2(y_mm - from_mm[1], x_mm - from_mm[0]))


def _end(ground: Field, unit: Unit, way_deg: float, length_in: float, *, turns: bool) -> Bases:
    """Returns where a flight ends: beyond friends and commanders on whom the unit would lie."""
    turn_deg = difference_deg(way_deg, axes_of(unit).heading_deg) if turns else 0.0
    others = (unit.id, *(enemy.id for enemy in ground.enemies(unit)))
    bases = unit.bases
    for step in range(_MOST_STEPS):
        far_mm = (length_in + step * _STEP_IN) * ground.inch_mm
        bases = ahead(unit.bases, way_deg, far_mm)
        bases = wheeled(bases, centre_mm(bases), turn_deg)
        if not ground.upon(footprints(bases), *others):
            break
    return bases


def _verdict(
    state: State, ground: Field, unit: Unit, bases: Bases, area: shapely.Geometry, enemy: str
) -> Literal["free", "off", "barred"]:
    """Returns whether a flight may go a way, and whether it leaves the table (S-C.11, S-C.13)."""
    end = footprints(bases)
    if ground.upon(end, unit.id):
        return "barred"
    whole = shapely.union(area, end)
    for other in ground.enemies(unit):
        outline = ground.outlines[other.id]
        before_mm = ground.apart_in(unit, other) * ground.inch_mm
        nearer = shapely.distance(end, outline) < before_mm - _ROUNDING_MM
        # An enemy that the unit fights lies against it.
        if (other.id != enemy and nearer) or overlaps(whole, outline):
            return "barred"
    pieces = (area_of(piece) for piece in state.position.terrain if piece.extra.get("impassable"))
    if any(overlaps(whole, piece) for piece in pieces):
        return "barred"
    table = table_outline(state.position.table)
    if shapely.covers(table, end):
        return "free"
    # Whatever is outside must have gone over the owner's edge.
    off_mm = shapely.distance(shapely.difference(end, table), _edge(state, unit.side))
    return "off" if off_mm < 1.0 else "barred"


def _edge(state: State, side: str) -> shapely.LineString:
    """Returns a side's own table edge."""
    table = state.position.table
    y_mm = 0.0 if state.edges[side] == "south" else table.depth_mm
    return shapely.LineString([(0.0, y_mm), (table.width_mm, y_mm)])


def home_edges(sides: tuple[str, str], units: Sequence[Unit]) -> dict[str, Edge]:
    """Returns each side's own edge: the long one that its units stand nearer to."""
    first, second = (
        centre_mm([base for unit in units if unit.side == side for base in unit.bases])[1]
        for side in sides
    )
    order: tuple[Edge, Edge] = ("south", "north") if first <= second else ("north", "south")
    return dict(zip(sides, order, strict=True))
