"""All rulings that follow from a position alone, as a JSON document, whole or for one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from tablecam.geometry.shapes import shapes_of
from tablecam.rules.game import Json
from tablecam.rules.maurice.charge.charge import Charge, ChargeLane
from tablecam.rules.maurice.field.field import GAME, Field
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.command_string import least_cards
from tablecam.rules.maurice.place.near import NearEnemy
from tablecam.rules.maurice.rulings.facts import ForcePath, Rulings, UnitRulings
from tablecam.rules.maurice.rulings.interpretations import readings_of
from tablecam.rules.reports import is_under

RULES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "formation": ("M-1.7",),
        "near_enemy": ("M-1.9",),
        "in_contact": ("M-1.10",),
        "flanked_by": ("M-1.13",),
        "bad_terrain": ("M-5.3",),
        "in_water": ("M-5.6",),
        "allowance_bw": ("M-6.2", "M-6.11", "M-6.19"),
        "reach": ("M-6.2", "M-6.11", "M-6.19"),
        "fire": tuple(f"M-7.{number}" for number in (*range(6, 8), *range(9, 25))),
        "charge": ("M-8.3", "M-8.4", "M-8.5", "M-8.6", "M-8.7", "M-8.8"),
        "engaged_with": ("M-8.10", "M-8.11", "M-8.12"),
        "forces": ("M-1.15",),
        "spans": ("M-4.11", "M-4.12"),
        "pairs": ("M-1.11", "M-1.12"),
    }
)
"""The keys of the rulings document, and the rules that each answers."""

_ALWAYS = frozenset({"game", "active", "units", "warnings", "side"})


def rulings_document(ruled: Rulings) -> Json:
    """Serialises rulings; unknown ones are null and listed under `not_known`."""
    ruled.ask_all()
    units = {unit_id: _unit_json(ruled, of_unit) for unit_id, of_unit in ruled.units.items()}
    paths, pairs, not_known = ruled.paths, ruled.pairs, ruled.not_known
    document: Json = {
        "game": GAME,
        "active": ruled.active,
        "units": units,
        "forces": {side: [list(force) for force in of] for side, of in ruled.forces.items()},
        "spans": None
        if "span" in not_known
        else [_string_json(ruled.field, string) for string in paths],
        "pairs": None if "flank" in not_known else [pair.to_json() for pair in pairs],
        "doubts": [answer.to_json() for answer in ruled.close_calls],
        "readings": dict(readings_of(ruled)),
        "warnings": list(ruled.field.warnings),
    }
    return {**document, "not_known": sorted(not_known)} if not_known else document


def pair_document(ruled: Rulings, a_id: str, b_id: str) -> Json:
    """Returns the rulings document with, under `answers`, those about two units."""
    answers = ruled.answers_about(a_id, b_id)
    return {**rulings_document(ruled), "answers": [answer.to_json() for answer in answers]}


def _unit_json(ruled: Rulings, unit: UnitRulings) -> Json:
    """Returns a unit's rulings as JSON; what is not known is null."""

    def known(kind: str, work: Callable[[], Json]) -> Json | None:
        about = f"{kind}/{unit.unit.id}"
        document = ruled.attempt(about, work, None)
        return None if about in ruled.not_known else document

    def none_if_lost(names: Iterable[str], *about: str) -> list[str] | None:
        return None if ruled.not_known.intersection(about) else list(names)

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
        "charge": known("charge", lambda: _charge_json(ruled.field, unit.charge)),
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
    if ruled.field.is_exact:
        return {}
    chance_of = partial(ruled.engagements.probability, unit.unit.id)
    return {"engaged_probability": {name: round(chance_of(name), 4) for name in unit.engaged_with}}


def _near_json(near: NearEnemy) -> Json:
    distance_bw = None if near.distance_bw is None else round(near.distance_bw, 5)
    return {**near.answer.to_json(), "nearest": near.nearest, "distance_bw": distance_bw}


def _charge_json(field: Field, charge: Charge) -> Json:
    document: Json = {
        "eligible": charge.is_eligible,
        "why_not": None if charge.why_not is None else str(charge.why_not),
        "targets": list(charge.targets),
        "lanes": [lane_json(field, lane) for lane in charge.lanes],
    }
    if charge.close_calls:
        document["doubts"] = [answer.to_json() for answer in charge.close_calls]
    return document


def lane_json(field: Field, lane: ChargeLane) -> Json:
    """Returns a charge move as rulings carry it."""
    move = lane.move
    wheel = {"about": move.pivot, "arc_mm": round(move.arc_mm, 4)} if move.pivot else None
    return {
        "target": lane.target,
        "wheel": wheel,
        "straight_mm": round(move.straight_mm, 4),
        "cost_bw": round(field.in_bw(move.cost_mm), 5),
        "also_meets": list(lane.also_meets),
        "crosses_difficult": lane.crosses_difficult,
        "probability": round(lane.probability, 4),
        "evidence": [shape.to_json() for shape in lane.evidence],
    }


def _string_json(field: Field, string: ForcePath) -> Json:
    named: Json = {"commander": string.commander, "force": list(string.force)}
    span = string.span
    if span is None:
        because = "every path there comes within 1 BW of an enemy"
        return {**named, "length_bw": None, "because": because}
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


def keys_under(rule: str | None) -> frozenset[str]:
    """Returns the keys that answer a rule (`M-1.12`) or chapter (`M-7`); all for None."""
    return frozenset(
        key
        for key, rules in RULES.items()
        if rule is None or any(is_under(rule, answered) for answered in rules)
    )


def document_under_rule(rule: str, document: Mapping[str, Any]) -> Json:
    """Returns a rulings document reduced to what answers a rule."""
    keys = keys_under(rule) | _ALWAYS
    readings = {
        about: text for about, text in document["readings"].items() if about == rule.upper()
    }
    units = {
        unit_id: {key: value for key, value in unit.items() if key in keys}
        for unit_id, unit in document["units"].items()
    }
    answers = {
        key: [answer for answer in document[key] if answer["rule"] == rule.upper()]
        for key in ("doubts", "answers")
        if key in document
    }
    top = {key: value for key, value in document.items() if key in keys}
    return {**top, "units": units, **answers, "readings": readings}
