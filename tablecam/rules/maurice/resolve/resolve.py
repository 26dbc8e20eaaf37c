"""Resolves a request with given dice into a document: scores, reasons and the next position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablecam.rules.maurice.combat.aftermath import Aftermath, position_after
from tablecam.rules.maurice.combat.combat import ResolvedCombat, resolve_combat
from tablecam.rules.maurice.combat.rally import rally
from tablecam.rules.maurice.field.field import GAME, Field
from tablecam.rules.maurice.field.requests import Combat, Rally, Request, Volley
from tablecam.rules.maurice.field.results import CombatResult
from tablecam.rules.maurice.fire.volley import RolledShot, TargetResult, fire
from tablecam.rules.maurice.resolve.notes import combat_close_calls, combat_readings
from tablecam.table.position_file import position_to_json

Json = dict[str, Any]


def resolve(field: Field, request: Request) -> Json:
    """Returns the answer to a request, with the position that follows.

    Raises:
        BadInput: The request is not allowed, or the dice do not match it.
    """
    if isinstance(request, Volley):
        return _volley(field, request)
    if isinstance(request, Combat):
        return _combat(field, request)
    return _rally(field, request)


def _volley(field: Field, request: Volley) -> Json:
    fired, struck_units = fire(field, request)
    shooters = [field.by_id[name] for name in dict.fromkeys(aim.unit for aim in request.aims)]
    aftermath = Aftermath(
        # Shooters appear with 0, so that the document names every unit of the request.
        gained={unit.id: 0 for unit in shooters}
        | {result.unit: result.disruption for result in struck_units},
        broken={result.unit for result in struck_units if result.is_broken},
        smoking={unit.id for unit in shooters if unit.unit.arm == "artillery"},
    )
    units = {result.unit: _struck_json(result) for result in struck_units}
    shots = [_shot_json(fired_shot) for fired_shot in fired]
    return _answer(field, request.kind, units, aftermath, shots=shots)


def _combat(field: Field, request: Combat) -> Json:
    fought = resolve_combat(field, request)
    results = fought.results
    aftermath = Aftermath(
        gained={name: result.disruption for name, result in results.items()},
        broken={name for name, result in results.items() if result.is_broken},
        back_mm={name: result.fall_back_mm for name, result in results.items()},
    )
    named = [unit.id for unit in field.units if unit.id in results]
    units = {name: _fought_json(name, fought) for name in named}
    answer = _answer(field, "combat", units, aftermath, active=request.active)
    doubts = [doubt.to_json() for doubt in combat_close_calls(field, fought.meeting)]
    return answer | {"doubts": doubts, "readings": dict(combat_readings(field, fought))}


def _rally(field: Field, request: Rally) -> Json:
    rallied = rally(field, request)
    terms = rallied.rallying
    shed = f"M-9.2 {rallied.shed} of {terms.dice} dice show {terms.needed} or more"
    unit = {
        "basic": terms.basic,
        "modifiers": dict(terms.modifiers),
        "needed": terms.needed,
        "dice": list(rallied.dice),
        "disruption": -rallied.shed,
        "because": [*terms.because, shed],
    }
    aftermath = Aftermath(gained={terms.unit: -rallied.shed})
    answer = _answer(field, "rally", {terms.unit: unit}, aftermath)
    if terms.near is not None and terms.near.answer == "too_close":
        answer["doubts"] = [terms.near.to_json()]
    return answer


def _answer(
    field: Field, kind: str, units: Mapping[str, Json], aftermath: Aftermath, **more: object
) -> Json:
    """Builds the document of an answer with the resulting position."""
    position = position_to_json(position_after(field, aftermath))
    head: Json = {"game": GAME, "kind": kind}
    notes = {"doubts": [], "readings": {}, "warnings": list(field.warnings)}
    return head | more | {"units": dict(units), "position": position} | notes


def _shot_json(fired: RolledShot) -> Json:
    return fired.shot.to_json() | {
        "rolled": list(fired.rolled),
        "hits": fired.hits,
        "because": list(fired.shot.because),
    }


def _struck_json(struck: TargetResult) -> Json:
    return {
        "hits": struck.hits,
        "disrupt_on": struck.disrupt_on,
        "rolled": list(struck.rolled),
        "disruption": struck.disruption,
        "broken": struck.is_broken,
        "because": list(struck.because),
    }


def _fought_json(name: str, fought: ResolvedCombat) -> Json:
    result = fought.results[name]
    if name not in fought.values:
        return _result_json(result) | {"because": list(map(str, result.because))}
    value, die = fought.values[name], fought.dice[name]
    score = f"M-8.19 value {value.value} and a roll of {die}: score {value.value + die}"
    return {
        "basic": value.basic,
        "modifiers": dict(value.modifiers),
        "value": value.value,
        "die": die,
        "score": value.value + die,
        "engaged_with": list(value.engaged_with),
        **_result_json(result),
        "falls_back": result.falls_back,
        "because": [*value.because, score, *map(str, result.because)],
    }


def _result_json(result: CombatResult) -> Json:
    return {"disruption": result.disruption, "broken": result.is_broken}
