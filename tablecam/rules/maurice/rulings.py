"""Every ruling that follows from a position alone: all chapters put together (interfaces.md 7)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from tablecam.rules.maurice.field import GAME, Field
from tablecam.rules.maurice.flank import flanked_by
from tablecam.rules.maurice.forces import forces
from tablecam.rules.maurice.near import Near, near_enemy
from tablecam.rules.maurice.pairs import pairs
from tablecam.rules.maurice.readings import readings_of
from tablecam.rules.maurice.ruled import Rulings, UnitRulings
from tablecam.rules.maurice.spacing import spacing
from tablecam.rules.maurice.touch import touching

Json = dict[str, Any]


def rulings(field: Field, active: str) -> Json:
    """All rulings as one document; `active` is the side whose units count as attackers."""
    return rulings_document(all_rulings(field, active))


def all_rulings(field: Field, active: str) -> Rulings:
    """All rulings as facts, with their proofs."""
    apart, touches = spacing(field), touching(field)
    units = {
        unit.id: UnitRulings(
            unit,
            near_enemy(field, unit, apart),
            touches.enemies_of(unit.id),
            flanked_by(field, unit, touches),
        )
        for unit in field.units
    }
    by_side = {side: forces(field, side, apart) for side in sides(field)}
    return Rulings(
        field,
        active,
        apart,
        touches,
        MappingProxyType(units),
        MappingProxyType(by_side),
        pairs(field, apart),
    )


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
        "units": {unit_id: _unit_json(each) for unit_id, each in found.units.items()},
        "forces": {side: [list(force) for force in of] for side, of in found.forces.items()},
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
    }


def _near_json(near: Near) -> Json:
    distance_bw = None if near.distance_bw is None else round(near.distance_bw, 5)
    return {**near.answer.to_json(), "nearest": near.nearest, "distance_bw": distance_bw}
