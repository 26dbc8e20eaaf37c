"""All rulings that follow from a position alone, as facts and as a JSON document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.charge.charge import Charge, ChargeLane, charges
from tablecam.rules.maurice.combat.cover import CoverAnswers
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.field.distance_matrix import DistanceMatrix, distance_matrix
from tablecam.rules.maurice.field.field import GAME, Field, UnitOnField
from tablecam.rules.maurice.fire.fire import BaseFire, fire_of_units
from tablecam.rules.maurice.movement.judge import allowance_bw
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.command_string import command_strings, least_cards
from tablecam.rules.maurice.place.contacts import Contacts, contacts_of_field
from tablecam.rules.maurice.place.flank import flanked_by
from tablecam.rules.maurice.place.forces import forces
from tablecam.rules.maurice.place.near import RULE as NEAR_RULE
from tablecam.rules.maurice.place.near import NearEnemy, near_enemy
from tablecam.rules.maurice.place.pairs import pairs
from tablecam.rules.maurice.rulings.facts import (
    NOT_KNOWN,
    ForcePath,
    Rulings,
    T,
    UnitRulings,
    attempt,
)
from tablecam.rules.maurice.rulings.interpretations import readings_of
from tablecam.uncertainty.answer import Answer

Json = dict[str, Any]


def rulings(field: Field, active: str) -> Json:
    """Returns all rulings as a document; units of the side `active` count as attackers."""
    return rulings_document(all_rulings(field, active))


def all_rulings(field: Field, active: str) -> Rulings:
    """Returns all rulings as facts, with their evidence."""
    not_known: set[str] = set()
    apart = distance_matrix(field)
    touches = attempt("contact", lambda: contacts_of_field(field), Contacts(field, {}), not_known)
    engaged = attempt(
        "engaged", lambda: engagements(field, active), Engagements(field, active, {}, {}), not_known
    )
    by_side = {side: forces(field, side, apart) for side in sides(field)}
    no_charge = Charge(False, NOT_KNOWN, (), ())
    no_fire: Mapping[str, BaseFire] = {}
    fire = _of_each(field, "fire", lambda only: fire_of_units(field, only), no_fire, not_known)
    charge = _of_each(field, "charge", lambda only: charges(field, only), no_charge, not_known)
    units = {
        unit.id: unit_rulings(
            field, unit, apart, touches, engaged, fire[unit.id], charge[unit.id], not_known
        )
        for unit in field.units
    }
    ours = by_side.get(active, ())
    return Rulings(
        field,
        active,
        apart,
        touches,
        MappingProxyType(units),
        MappingProxyType(by_side),
        attempt("span", lambda: strings_of(field, active, ours), (), not_known),
        attempt("flank", lambda: pairs(field, apart), (), not_known),
        engaged,
        CoverAnswers(field),
        not_known=frozenset(not_known),
    )


def _of_each(
    field: Field,
    kind: str,
    work: Callable[[Collection[str] | None], Mapping[str, T]],
    otherwise: T,
    not_known: set[str],
) -> Mapping[str, T]:
    """Rules on all units at once or, where that fails, unit by unit, noting those that fail."""
    # All at once is much faster; unit by unit isolates the one that fails.
    together: Mapping[str, T] = attempt(kind, lambda: work(None), {})
    alone = (unit.id for unit in field.units if unit.id not in together)
    return {
        **together,
        **{
            name: attempt(f"{kind}/{name}", partial(_one_of, work, name), otherwise, not_known)
            for name in alone
        },
    }


def _one_of(work: Callable[[Collection[str]], Mapping[str, T]], name: str) -> T:
    return work((name,))[name]


def unit_rulings(
    field: Field,
    unit: UnitOnField,
    apart: DistanceMatrix,
    touches: Contacts,
    engaged: Engagements,
    fire: Mapping[str, BaseFire],
    charge: Charge,
    not_known: set[str],
) -> UnitRulings:
    """Returns the rulings on one unit from those on all; `not_known` is as in `attempt`."""
    unknown = Answer(
        "too_close", 0.0, 0.0, 0.5, NEAR_RULE, f"whether {unit.id} is near is {NOT_KNOWN}"
    )
    return UnitRulings(
        unit,
        near=attempt(
            f"near/{unit.id}",
            lambda: near_enemy(field, unit, apart),
            NearEnemy(unknown, None, None, is_near=False),
            not_known,
        ),
        in_contact=touches.enemies_of(unit.id),
        flanked_by=attempt(
            f"flank/{unit.id}", lambda: flanked_by(field, unit, touches), (), not_known
        ),
        fire=fire,
        charge=charge,
        engaged_with=engaged.enemies_of(unit.id),
        allowance_bw=allowance_bw(field, unit),
    )


def strings_of(
    field: Field,
    active: str,
    of_active: tuple[tuple[str, ...], ...],
    known: Mapping[tuple[str, tuple[str, ...]], ForcePath] = MappingProxyType({}),
) -> tuple[ForcePath, ...]:
    """Returns the paths from each commander of a side to each of its forces, reusing `known`."""
    leaders = [leader for leader in field.position.commanders if leader.side == active]
    strings = dict(known)
    for leader in leaders:
        missing = [force for force in of_active if (leader.id, force) not in known]
        for force, string in zip(missing, command_strings(field, leader, missing), strict=True):
            strings[leader.id, force] = ForcePath(leader.id, force, string)
    return tuple(strings[leader.id, force] for leader in leaders for force in of_active)


def sides(field: Field) -> tuple[str, ...]:
    """Returns the sides with a unit or commander on the table, in the position's order."""
    named = [unit.side for unit in field.units]
    named += [leader.side for leader in field.position.commanders]
    return tuple(dict.fromkeys(named))


def rulings_document(ruled: Rulings) -> Json:
    """Serialises rulings; unknown ones are null and listed under `not_known`."""
    not_known = set(ruled.not_known)
    document: Json = {
        "game": GAME,
        "active": ruled.active,
        "units": {
            unit_id: _unit_json(ruled, of_unit, not_known)
            for unit_id, of_unit in ruled.units.items()
        },
        "forces": {side: [list(force) for force in of] for side, of in ruled.forces.items()},
        "spans": None
        if "span" in not_known
        else [_string_json(ruled.field, string) for string in ruled.paths],
        "pairs": None if "flank" in not_known else [pair.to_json() for pair in ruled.pairs],
        "doubts": [answer.to_json() for answer in ruled.close_calls],
        "readings": dict(readings_of(ruled)),
        "warnings": list(ruled.field.warnings),
    }
    return {**document, "not_known": sorted(not_known)} if not_known else document


def pair_document(ruled: Rulings, a_id: str, b_id: str) -> Json:
    """Returns the rulings document with, under `answers`, those about two units."""
    answers = ruled.answers_about(a_id, b_id)
    return {**rulings_document(ruled), "answers": [answer.to_json() for answer in answers]}


def _unit_json(ruled: Rulings, unit: UnitRulings, not_known: set[str]) -> Json:
    """Returns a unit's rulings as JSON; what is not known is null."""

    def known(kind: str, work: Callable[[], Json]) -> Json | None:
        about = f"{kind}/{unit.unit.id}"
        return None if about in not_known else attempt(about, work, None, not_known)

    def none_if_lost(names: Iterable[str], *about: str) -> list[str] | None:
        return None if not_known.intersection(about) else list(names)

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
        **(known("engaged", lambda: _confidence_json(ruled, unit)) or {}),
        **(known("movement", lambda: _reach_json(ruled, unit)) or {}),
    }


def _reach_json(ruled: Rulings, unit: UnitRulings) -> Json:
    """Returns a unit's reach as polygons if only a few units were requested."""
    if not ruled.is_close_up:
        return {}
    shapes = shapes_of(reach(ruled.field, unit.unit), "reach")
    return {"reach": [shape.to_json()["points_mm"] for shape in shapes]}


def _confidence_json(ruled: Rulings, unit: UnitRulings) -> Json:
    """Returns the probability of each engagement, unless all positions are exact."""
    if is_exact(ruled.field):
        return {}
    probability_by_enemy = {
        enemy: round(ruled.engagements.probability(unit.unit.id, enemy), 4)
        for enemy in unit.engaged_with
    }
    return {"engaged_probability": probability_by_enemy}


def _near_json(near: NearEnemy) -> Json:
    distance_bw = None if near.distance_bw is None else round(near.distance_bw, 5)
    return {**near.answer.to_json(), "nearest": near.nearest, "distance_bw": distance_bw}


def _charge_json(charge: Charge) -> Json:
    document: Json = {
        "eligible": charge.is_eligible,
        "why_not": charge.why_not,
        "targets": list(charge.targets),
        "lanes": [_lane_json(lane) for lane in charge.lanes],
    }
    if charge.close_calls:
        document["doubts"] = [answer.to_json() for answer in charge.close_calls]
    return document


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


def _string_json(field: Field, string: ForcePath) -> Json:
    named: Json = {"commander": string.commander, "force": list(string.force)}
    span = string.span
    if span is None:
        return {
            **named,
            "length_bw": None,
            "because": "every path there comes within 1 BW of an enemy",
        }
    cards_bw, reached = least_cards(field, span)
    return {
        **named,
        "length_bw": round(span.length_bw, 5),
        "cards_bw": cards_bw,
        "answer": reached.answer,
        "probability": round(reached.probability, 4),
        "sigma_mm": round(span.sigma_mm, 4),
        "nearest": span.unit,
        "rule": "M-4.11",
        "because": span.because,
        "evidence": [span.path.to_json()],
    }
