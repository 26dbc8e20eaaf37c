"""Plain questions about units as their bases lie: fire, charges, flights, sight and terrain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field as Limits

from tablecam.documents import Document
from tablecam.geometry.moves.lanes import room_ahead_mm
from tablecam.geometry.moves.poses import ahead, wheeled
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Ban
from tablecam.rules.miniatures.faces import FACES
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.questions import INCH_MM, Facts
from tablecam.rules.syw_d6.charges import judged_charge, struck_edge
from tablecam.rules.syw_d6.field import Between, Field, field_of, hides
from tablecam.rules.syw_d6.fire import Shot
from tablecam.rules.syw_d6.flights import centre_of, way_out
from tablecam.rules.syw_d6.marches import disordered_on_the_way
from tablecam.rules.syw_d6.state import State
from tablecam.rules.syw_d6.tables import GAME
from tablecam.rules.syw_d6.unit_keys import UnitFacts
from tablecam.table.headings import difference_deg
from tablecam.table.model import Commander, Position, TableSize, Unit
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name, Positive, TerrainSection

Json = dict[str, Any]
Inches = Annotated[float, Limits(ge=0, le=1000)]
_STATE = (
    "disordered", "reforming", "status", "limbered", "moved", "fired", "charged", "melee_with",
    "casualties_this_turn", "casualties_from", "contacted_on", "tested_this_turn",
)  # fmt: skip
_OWN = ("id", "side", "arm", "bases", "figures", "lost", "ranks", "files", "cover", "formation")
_FAR_MM = 1e5


@dataclass(frozen=True, kw_only=True)
class CommanderFacts:
    """A commander's base on the table."""

    id: Name
    side: Name
    base: BaseSection


@dataclass(frozen=True, kw_only=True)
class LyingFacts(Facts):
    """What else lies on the table."""

    others: list[UnitFacts] = field(default_factory=list)
    commanders: list[CommanderFacts] = field(default_factory=list)
    terrain: list[TerrainSection] = field(default_factory=list)


def position_of(
    facts: LyingFacts,
    document: Document,
    units: Sequence[tuple[str, UnitFacts]],
    table_mm: tuple[float, float] = (_FAR_MM, _FAR_MM),
) -> Position:
    """Returns the table of a question; `units` are those that it names, by their keys."""
    lying = [_unit(document, (key,), unit, key) for key, unit in units]
    lying += [
        _unit(document, ("others", place), other, f"other {place + 1}")
        for place, other in enumerate(facts.others)
    ]
    leaders = tuple(
        Commander(
            one.id, one.side, one.base.x_mm, one.base.y_mm, pose=one.base.to_pose(),
            extra={"level": "army"},
        )
        for one in facts.commanders
    )  # fmt: skip
    terrain = tuple(piece.to_terrain() for piece in facts.terrain)
    table = TableSize(*table_mm, tolerance_mm=facts.tolerance_mm)
    return Position(GAME, table, tuple(lying), leaders, terrain)


def _unit(document: Document, place: tuple[str | int, ...], facts: UnitFacts, name: str) -> Unit:
    """Returns a unit on the table; the first two units of a question are enemies."""
    if not facts.bases:
        raise document.error((*place, "bases"), "expected bases, but the key is missing")
    if facts.side is None and place[0] == "others":
        raise document.error((*place, "side"), "expected this key, but it is missing")
    troops = facts.troops(document, *place)
    side = facts.side or ("enemy" if name in ("target", "attacker") else "own")
    plain = to_plain(facts)
    extra = {key: value for key, value in plain.items() if key not in (*_OWN, *_STATE)}
    extra |= {"figures": troops.figures_start, "experience": facts.experience or "green"}
    extra = {key: value for key, value in extra.items() if value is not None}
    state = {key: plain[key] for key in _STATE if plain.get(key)}
    declared = {"formation": facts.formation} if "column" in facts.formation else {}
    return Unit(
        facts.id or name, side, facts.arm, tuple(base.to_pose() for base in facts.bases),
        state={"figures": troops.figures, **declared, **state}, extra=extra,
    )  # fmt: skip


def lying_shot(
    facts: LyingFacts, document: Document, firer: UnitFacts, target: UnitFacts
) -> tuple[Field, Unit, Unit, Shot | Ban]:
    """Returns how a target lies to a firer, with the table on which they lie (S-D, S-E)."""
    position = position_of(facts, document, (("firer", firer), ("target", target)))
    ground, (a, b) = field_of(position), position.units[:2]
    return ground, a, b, ground.shot(a, b)


def _state_of(position: Position, own: Unit) -> State:
    """Returns a battle on a question's table; the unit's own edge is the long one nearer to it."""
    other = next((unit.side for unit in position.units if unit.side != own.side), "enemy")
    is_low = centre_of(own)[1] <= position.table.depth_mm / 2
    edge, far_edge = ("south", "north") if is_low else ("north", "south")
    edges_of_sides = {own.side: edge, other: far_edge}
    return State(position, (own.side, other), edges=edges_of_sides)


@dataclass(frozen=True, kw_only=True)
class ChargeFacts(LyingFacts):
    """A charge straight ahead at an enemy, as the bases lie."""

    charger: UnitFacts
    target: UnitFacts
    direction_deg: float
    final_value_in: Inches


def charge(facts: ChargeFacts, document: Document) -> Json:
    """Answers whether a charge in a direction is legal, and which edge it strikes (S-B.11)."""
    named = (("charger", facts.charger), ("target", facts.target))
    position = position_of(facts, document, named)
    unit, target = position.units[:2]
    front = axes_of(unit)
    turn_deg = difference_deg(facts.direction_deg, front.heading_deg)
    unit = replace(unit, bases=wheeled(unit.bases, front.middle_mm, turn_deg))
    position = replace(position, units=(unit, *position.units[1:]))
    state = _state_of(position, unit)
    ground = state.field
    room_mm = room_ahead_mm(axes_of(unit), [ground.outlines[target.id]], _FAR_MM)
    if math.isinf(room_mm):
        why = f"{unit.id} does not meet {target.id} in that direction"
        return {"legal": False, "why_not": {"rule": "S-B.14", "because": why}}
    bases = ahead(unit.bases, facts.direction_deg, room_mm)
    ruling, way = judged_charge(state, unit, target, bases, facts.final_value_in)
    path_in = ground.inches(room_mm)
    answer: Json = {"legal": way is not None, "path_in": path_in}
    struck = struck_edge(ground, target, replace(unit, bases=bases))
    if struck is not None:
        place, face, edge = struck
        off_deg = abs(difference_deg(facts.direction_deg, edge.heading_deg + 180.0))
        answer |= {"edge": FACES[place], "contacted_on": face, "off_square_deg": off_deg}
    if way is None:
        return answer | {"why_not": {"rule": ruling.rule, "because": ruling.because}}
    troops = ground.troops[unit.id]
    bonus = not troops.is_disordered and (troops.weight == "line" or way.face == "rear")
    return answer | {"charge_distance_in": way.charge_in, "charge_bonus": bonus}


@dataclass(frozen=True, kw_only=True)
class FlightFacts(LyingFacts):
    """A flight from an attacker, as the bases lie."""

    kind: Literal["evade", "retreat", "rout"]
    unit: UnitFacts
    attacker: UnitFacts | None = None
    attacker_centre_mm: tuple[float, float] | None = None
    table_mm: tuple[Positive, Positive] | None = None
    first: bool = True
    distance_in: Inches


def flight(facts: FlightFacts, document: Document) -> Json:
    """Answers where a unit flees to, and whom it disorders (S-C.11 to S-C.13)."""
    if facts.first and (facts.attacker is None) == (facts.attacker_centre_mm is None):
        raise document.error(("attacker",), "expected an attacker, or attacker_centre_mm")
    named = [("unit", facts.unit)]
    if facts.attacker is not None:
        named.append(("attacker", facts.attacker))
    position = position_of(facts, document, named, facts.table_mm or (_FAR_MM, _FAR_MM))
    unit = position.units[0]
    state = _state_of(position, unit)
    enemy = position.units[1].id if facts.attacker is not None else ""
    away_deg = _away_deg(facts, position, unit)
    turns = facts.kind != "retreat"
    way = way_out(state, unit, away_deg, facts.distance_in, enemy=enemy, turns=turns)
    enemies = [other for other in position.units if other.side != unit.side]
    ground = state.field
    answer: Json = {
        "straight_away_allowed": way is not None and way.turn_deg == 0,
        "distances_before_mm": {
            other.id: ground.apart_in(unit, other) * INCH_MM for other in enemies
        },
        "disordered": True,
        "destroyed": way is None,
        "off_table": way is not None and way.is_off,
    }
    if way is None:
        return answer
    gone = state.changed(unit.id, bases=way.bases)
    after, there = gone.field, gone.unit(unit.id)
    shaken = disordered_on_the_way(gone, ground, unit, way.swept)[0]
    friends = [one.id for one in position.units if one.side == unit.side and one.id != unit.id]
    return answer | {
        "turn_deg": way.turn_deg,
        "distances_after_mm": {
            other.id: after.apart_in(there, other) * INCH_MM for other in enemies
        },
        "bases": [] if way.is_off else to_plain(way.bases),
        "disordered_friends": [
            name
            for name in friends
            if shaken.unit(name).state.get("disordered")
            and not position_marks(position, name).get("disordered")
        ],
    }


def position_marks(position: Position, name: str) -> Any:
    """Returns the state of a unit."""
    unit = position.unit(name)
    return {} if unit is None else unit.state


def _away_deg(facts: FlightFacts, position: Position, unit: Unit) -> float:
    """Returns the direction straight away; later moves go to the nearer long edge (S-C.12)."""
    centre = centre_of(unit)
    if not facts.first:
        return 270.0 if _state_of(position, unit).edges[unit.side] == "south" else 90.0
    start = facts.attacker_centre_mm or centre_of(position.units[1])
    return math.degrees(math.atan2(centre[1] - start[1], centre[0] - start[0]))


@dataclass(frozen=True, kw_only=True)
class TargetFacts:
    """Where a target stands."""

    on_hill: bool = False
    at_in: Inches = 0.0


@dataclass(frozen=True, kw_only=True)
class BetweenFacts:
    """What stands between: a unit, an own commander, or terrain."""

    side: Literal["friend", "enemy", "commander"] | None = None
    on_hill: bool = False
    from_firer_in: Inches = 0.0
    from_target_in: Inches = 0.0
    terrain: bool = False


@dataclass(frozen=True, kw_only=True)
class SightFacts(Facts):
    """Whether a firer sees past what stands between."""

    firer_on_hill: bool = False
    target: TargetFacts = field(default_factory=TargetFacts)
    between: list[BetweenFacts] = field(default_factory=list)


def sight(facts: SightFacts, document: Document) -> Json:
    """Answers whether anything blocks the line (S-E.1 to S-E.4)."""
    for one in facts.between:
        if one.terrain:
            why = "designated terrain cannot be fired through"
            return {"may_fire": False, "why_not": {"rule": "S-J.10", "because": why}}
        between = Between(
            is_friend=one.side != "enemy",
            on_hill=one.on_hill,
            from_firer_in=one.from_firer_in,
            from_target_in=one.from_target_in,
        )
        blocks = hides(
            between, firer_on_hill=facts.firer_on_hill, target_on_hill=facts.target.on_hill
        )
        if blocks:
            rule = "S-E.3" if facts.firer_on_hill else "S-E.1"
            why = f"the {one.side or 'friend'} between blocks the line"
            return {"may_fire": False, "why_not": {"rule": rule, "because": why}}
    return {"may_fire": True}


@dataclass(frozen=True, kw_only=True)
class GroundFacts:
    """A piece of terrain as it counts."""

    kind: Name
    designated: bool = True
    disorders: bool | None = None


@dataclass(frozen=True, kw_only=True)
class TerrainMoveFacts(Facts):
    """A move into, in or out of terrain."""

    unit: UnitFacts
    ground: GroundFacts
    where: Literal["entering", "inside", "leaving"]
    edge_ahead_in: Inches = 0.0
    base_depth_in: Inches = 0.0
    final_value_in: Inches


def terrain_move(facts: TerrainMoveFacts, document: Document) -> Json:
    """Answers where a move must stop at terrain, and whether it disorders (S-J.8, S-J.9)."""
    unit, ground = facts.unit, facts.ground
    counts = ground.designated
    crosses = facts.where != "inside" and facts.edge_ahead_in <= facts.final_value_in
    must_stop = counts and crosses
    answer: Json = {"must_stop": must_stop, "ends_between_in": None}
    if must_stop:
        deep_in = facts.edge_ahead_in + facts.base_depth_in
        first_in = facts.edge_ahead_in if facts.where == "entering" else deep_in
        answer["ends_between_in"] = [
            min(first_in, facts.final_value_in),
            min(deep_in, facts.final_value_in),
        ]
    disorders = counts if ground.disorders is None else ground.disorders
    is_touched = facts.where == "inside" or (facts.where == "entering" and crosses)
    suffers = unit.regular and unit.weight != "light"
    return answer | {"disordered": disorders and is_touched and suffers}
