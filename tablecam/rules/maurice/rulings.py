"""Every ruling that follows from a position alone: all chapters put together (interfaces.md 7)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tablecam.measure.answer import shapes_of
from tablecam.rules.maurice.activation import spans
from tablecam.rules.maurice.chances import is_exact
from tablecam.rules.maurice.charge import Charge, ChargeLane, charges
from tablecam.rules.maurice.combat_cover import Covers
from tablecam.rules.maurice.engagement import Engagements, engagements
from tablecam.rules.maurice.field import GAME, Field, UnitOnField
from tablecam.rules.maurice.fire import BaseFire, fires
from tablecam.rules.maurice.flank import flanked_by
from tablecam.rules.maurice.forces import forces
from tablecam.rules.maurice.movement import allowance_bw
from tablecam.rules.maurice.near import Near, near_enemy
from tablecam.rules.maurice.pairs import pairs
from tablecam.rules.maurice.reach import reach
from tablecam.rules.maurice.readings import readings_of
from tablecam.rules.maurice.ruled import ForceString, Rulings, UnitRulings
from tablecam.rules.maurice.spacing import Spacing, spacing
from tablecam.rules.maurice.touch import Touching, touching

Json = dict[str, Any]


def rulings(field: Field, active: str) -> Json:
    """All rulings as one document; `active` is the side whose units count as attackers."""
    return rulings_document(all_rulings(field, active))


def all_rulings(field: Field, active: str) -> Rulings:
    """All rulings as facts, with their proofs."""
    apart, touches, engaged = spacing(field), touching(field), engagements(field, active)
    by_side = {side: forces(field, side, apart) for side in sides(field)}
    fire, charge = fires(field), charges(field)
    units = {
        each.id: unit_rulings(field, each, apart, touches, engaged, fire[each.id], charge[each.id])
        for each in field.units
    }
    return Rulings(
        field,
        active,
        apart,
        touches,
        MappingProxyType(units),
        MappingProxyType(by_side),
        strings_of(field, active, by_side.get(active, ())),
        pairs(field, apart),
        engaged,
        Covers(field),
    )


def unit_rulings(
    field: Field,
    unit: UnitOnField,
    apart: Spacing,
    touches: Touching,
    engaged: Engagements,
    fire: Mapping[str, BaseFire],
    charge: Charge,
) -> UnitRulings:
    """What holds for one unit, from what has been measured of all."""
    return UnitRulings(
        unit,
        near=near_enemy(field, unit, apart),
        in_contact=touches.enemies_of(unit.id),
        flanked_by=flanked_by(field, unit, touches),
        fire=fire,
        charge=charge,
        engaged_with=engaged.of(unit.id),
        allowance_bw=allowance_bw(field, unit),
    )


def strings_of(
    field: Field,
    active: str,
    of_active: tuple[tuple[str, ...], ...],
    known: Mapping[tuple[str, tuple[str, ...]], ForceString] = MappingProxyType({}),
) -> tuple[ForceString, ...]:
    """The strings from each commander of a side to each of its forces; `known` are taken over."""
    leaders = [leader for leader in field.position.commanders if leader.side == active]
    found = dict(known)
    for leader in leaders:
        asked = [force for force in of_active if (leader.id, force) not in known]
        for force, string in zip(asked, spans(field, leader, asked), strict=True):
            found[leader.id, force] = ForceString(leader.id, force, string)
    return tuple(found[leader.id, force] for leader in leaders for force in of_active)


def sides(field: Field) -> tuple[str, ...]:
    """The sides that have a unit or a commander on the table, in the position's order."""
    named = [unit.side for unit in field.units]
    named += [leader.side for leader in field.position.commanders]
    return tuple(dict.fromkeys(named))


def rulings_document(found: Rulings) -> Json:
    """Rulings as documents carry them."""
    return {
        "game": GAME,
        "active": found.active,
        "units": {
            unit_id: _unit_json(each) | _sureness_json(found, each) | _reach_json(found, each)
            for unit_id, each in found.units.items()
        },
        "forces": {side: [list(force) for force in of] for side, of in found.forces.items()},
        "spans": [_string_json(string) for string in found.strings],
        "pairs": [pair.to_json() for pair in found.pairs],
        "doubts": [answer.to_json() for answer in found.doubts],
        "readings": dict(readings_of(found)),
        "warnings": list(found.field.warnings),
    }


def pair_document(found: Rulings, a_id: str, b_id: str) -> Json:
    """Rulings with, under `answers`, what is ruled about two units and why."""
    answers = found.answers_about(a_id, b_id)
    return {**rulings_document(found), "answers": [answer.to_json() for answer in answers]}


def _unit_json(found: UnitRulings) -> Json:
    return {
        "side": found.unit.side,
        "formation": found.unit.formation,
        "near_enemy": _near_json(found.near),
        "in_contact": list(found.in_contact),
        "flanked_by": list(found.flanked_by),
        "bad_terrain": found.unit.is_in_difficult,
        "in_water": found.unit.is_in_water,
        "fire": {base: fire.to_json() for base, fire in found.fire.items()},
        "charge": _charge_json(found.charge),
        "engaged_with": list(found.engaged_with),
        "allowance_bw": found.allowance_bw,
    }


def _reach_json(found: Rulings, unit: UnitRulings) -> Json:
    """Where a unit may come to pass over, as polygons to draw, where only a few were asked for."""
    if not found.is_close_up:
        return {}
    shapes = shapes_of(reach(found.field, unit.unit), "reach")
    return {"reach": [shape.to_json()["points_mm"] for shape in shapes]}


def _sureness_json(found: Rulings, unit: UnitRulings) -> Json:
    """How probable each engagement is, where not everything on the table is exact."""
    if is_exact(found.field):
        return {}
    of = {
        enemy: round(found.engagements.probability(unit.unit.id, enemy), 4)
        for enemy in unit.engaged_with
    }
    return {"engaged_probability": of}


def _near_json(near: Near) -> Json:
    distance_bw = None if near.distance_bw is None else round(near.distance_bw, 5)
    return {**near.answer.to_json(), "nearest": near.nearest, "distance_bw": distance_bw}


def _charge_json(charge: Charge) -> Json:
    told: Json = {
        "eligible": charge.is_eligible,
        "why_not": charge.why_not,
        "targets": list(charge.targets),
        "lanes": [_lane_json(lane) for lane in charge.lanes],
    }
    if charge.doubts:
        told["doubts"] = [answer.to_json() for answer in charge.doubts]
    return told


def _lane_json(lane: ChargeLane) -> Json:
    wheel = None if lane.corner is None else {"about": lane.corner, "arc_mm": round(lane.arc_mm, 4)}
    return {
        "target": lane.target,
        "wheel": wheel,
        "straight_mm": round(lane.straight_mm, 4),
        "cost_bw": round(lane.cost_bw, 5),
        "also_meets": list(lane.also_meets),
        "crosses_difficult": lane.crosses_difficult,
        "probability": round(lane.probability, 4),
        "evidence": [shape.to_json() for shape in lane.evidence],
    }


def _string_json(string: ForceString) -> Json:
    named: Json = {"commander": string.commander, "force": list(string.force)}
    found = string.span
    if found is None:
        return {**named, "length_bw": None, "because": "every way there is within 1 BW of an enemy"}
    return {
        **named,
        "length_bw": round(found.length_bw, 5),
        "sigma_mm": round(found.sigma_mm, 4),
        "nearest": found.unit,
        "rule": "M-4.11",
        "because": found.because,
        "evidence": [found.path.to_json()],
    }
