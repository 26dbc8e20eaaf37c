"""Every ruling that follows from a position alone: all chapters put together (interfaces.md 7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.charge.charge import Charge, ChargeLane, charges
from tablecam.rules.maurice.combat.cover import Covers
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField
from tablecam.rules.maurice.field.spacing import Spacing, spacing
from tablecam.rules.maurice.fire.fire import BaseFire, fires
from tablecam.rules.maurice.movement.movement import allowance_bw
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.activation import least_cards, spans
from tablecam.rules.maurice.place.flank import flanked_by
from tablecam.rules.maurice.place.forces import forces
from tablecam.rules.maurice.place.near import RULE as NEAR_RULE
from tablecam.rules.maurice.place.near import Near, near_enemy
from tablecam.rules.maurice.place.pairs import pairs
from tablecam.rules.maurice.place.touch import Touching, touching
from tablecam.rules.maurice.rulings.readings import readings_of
from tablecam.rules.maurice.rulings.ruled import (
    NOT_KNOWN,
    ForceString,
    Rulings,
    T,
    UnitRulings,
    attempt,
)
from tablecam.uncertainty.answer import Answer

Json = dict[str, Any]


def rulings(field: Field, active: str) -> Json:
    """All rulings as one document; `active` is the side whose units count as attackers."""
    return rulings_document(all_rulings(field, active))


def all_rulings(field: Field, active: str) -> Rulings:
    """All rulings as facts, with their proofs."""
    lost: set[str] = set()
    apart = spacing(field)
    touches = attempt("contact", lambda: touching(field), Touching(field, {}), lost)
    engaged = attempt(
        "engaged", lambda: engagements(field, active), Engagements(field, active, {}, {}), lost
    )
    by_side = {side: forces(field, side, apart) for side in sides(field)}
    nobody = Charge(False, NOT_KNOWN, (), ())
    unarmed: Mapping[str, BaseFire] = {}
    fire = _of_each(field, "fire", lambda only: fires(field, only), unarmed, lost)
    charge = _of_each(field, "charge", lambda only: charges(field, only), nobody, lost)
    units = {
        each.id: unit_rulings(
            field, each, apart, touches, engaged, fire[each.id], charge[each.id], lost
        )
        for each in field.units
    }
    ours = by_side.get(active, ())
    return Rulings(
        field,
        active,
        apart,
        touches,
        MappingProxyType(units),
        MappingProxyType(by_side),
        attempt("span", lambda: strings_of(field, active, ours), (), lost),
        attempt("flank", lambda: pairs(field, apart), (), lost),
        engaged,
        Covers(field),
        not_known=frozenset(lost),
    )


def _of_each(
    field: Field,
    kind: str,
    work: Callable[[Collection[str] | None], Mapping[str, T]],
    otherwise: T,
    lost: set[str],
) -> Mapping[str, T]:
    """A chapter of all units at once; where that fails, unit by unit, those that fail left out."""
    together: Mapping[str, T] = attempt(kind, lambda: work(None), {})
    alone = (each.id for each in field.units if each.id not in together)
    return {
        **together,
        **{
            name: attempt(f"{kind}/{name}", partial(_one_of, work, name), otherwise, lost)
            for name in alone
        },
    }


def _one_of(work: Callable[[Collection[str]], Mapping[str, T]], name: str) -> T:
    return work((name,))[name]


def unit_rulings(
    field: Field,
    unit: UnitOnField,
    apart: Spacing,
    touches: Touching,
    engaged: Engagements,
    fire: Mapping[str, BaseFire],
    charge: Charge,
    lost: set[str],
) -> UnitRulings:
    """What holds for one unit, from what has been measured of all; `lost` is as in `attempt`."""
    unknown = Answer(
        "too_close", 0.0, 0.0, 0.5, NEAR_RULE, f"whether {unit.id} is near: {NOT_KNOWN}"
    )
    return UnitRulings(
        unit,
        near=attempt(
            f"near/{unit.id}",
            lambda: near_enemy(field, unit, apart),
            Near(unknown, None, None, is_near=False),
            lost,
        ),
        in_contact=touches.enemies_of(unit.id),
        flanked_by=attempt(f"flank/{unit.id}", lambda: flanked_by(field, unit, touches), (), lost),
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
    """Serialises rulings; unknown ones are null and listed under `not_known`."""
    lost = set(found.not_known)
    document: Json = {
        "game": GAME,
        "active": found.active,
        "units": {unit_id: _unit_json(found, each, lost) for unit_id, each in found.units.items()},
        "forces": {side: [list(force) for force in of] for side, of in found.forces.items()},
        "spans": None
        if "span" in lost
        else [_string_json(found.field, string) for string in found.strings],
        "pairs": None if "flank" in lost else [pair.to_json() for pair in found.pairs],
        "doubts": [answer.to_json() for answer in found.doubts],
        "readings": dict(readings_of(found)),
        "warnings": list(found.field.warnings),
    }
    return {**document, "not_known": sorted(lost)} if lost else document


def pair_document(found: Rulings, a_id: str, b_id: str) -> Json:
    """Rulings with, under `answers`, what is ruled about two units and why."""
    answers = found.answers_about(a_id, b_id)
    return {**rulings_document(found), "answers": [answer.to_json() for answer in answers]}


def _unit_json(found: Rulings, unit: UnitRulings, lost: set[str]) -> Json:
    def known(kind: str, work: Callable[[], Json]) -> Json | None:
        about = f"{kind}/{unit.unit.id}"
        return None if about in lost else attempt(about, work, None, lost)

    def none_if_lost(names: Iterable[str], *about: str) -> list[str] | None:
        return None if lost.intersection(about) else list(names)

    name = unit.unit.id
    return {
        "side": unit.unit.side,
        "formation": unit.unit.formation,
        "near_enemy": _near_json(unit.near),
        "in_contact": none_if_lost(unit.in_contact, "contact"),
        "flanked_by": none_if_lost(unit.flanked_by, "contact", f"flank/{name}"),
        "bad_terrain": unit.unit.is_in_difficult,
        "in_water": unit.unit.is_in_water,
        "fire": known("fire", lambda: {base: fire.to_json() for base, fire in unit.fire.items()}),
        "charge": known("charge", lambda: _charge_json(unit.charge)),
        "engaged_with": none_if_lost(unit.engaged_with, "engaged"),
        "allowance_bw": unit.allowance_bw,
        **(known("engaged", lambda: _sureness_json(found, unit)) or {}),
        **(known("movement", lambda: _reach_json(found, unit)) or {}),
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


def _string_json(field: Field, string: ForceString) -> Json:
    named: Json = {"commander": string.commander, "force": list(string.force)}
    found = string.span
    if found is None:
        return {**named, "length_bw": None, "because": "every way there is within 1 BW of an enemy"}
    cards_bw, reached = least_cards(field, found)
    return {
        **named,
        "length_bw": round(found.length_bw, 5),
        "cards_bw": cards_bw,
        "answer": reached.answer,
        "probability": round(reached.probability, 4),
        "sigma_mm": round(found.sigma_mm, 4),
        "nearest": found.unit,
        "rule": "M-4.11",
        "because": found.because,
        "evidence": [found.path.to_json()],
    }
