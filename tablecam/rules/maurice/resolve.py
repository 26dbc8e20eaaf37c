"""Resolves a request with given dice into a document: scores, reasons and the next position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablecam.documents import Json
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.combat import combat
from tablecam.rules.maurice.combat.results import CombatResult, position_after, rally
from tablecam.rules.maurice.field.field import GAME, Field
from tablecam.rules.maurice.field.requests import Combat, Rally, Request, Volley, check_dice
from tablecam.rules.maurice.field.tables import FALL_BACK_BW
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.fire.volley import roll_shots, shot_list, target_results
from tablecam.rules.maurice.place.contacts import flanked_by, to_flank
from tablecam.rules.maurice.rulings.interpretations import interpretations
from tablecam.rules.questions import as_answer
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json
from tablecam.table.sides import side_plural
from tablecam.uncertainty.answer import Answer


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
    shots = shot_list(field, request)
    count, why = sum(shot.dice for shot in shots), "the to-hit dice of all bases (M-7.20)"
    fired = roll_shots(
        shots, check_dice(request.document, ("dice", "hit"), request.hit, count, why)
    )
    hits, why = sum(shot.hits for shot in fired), "one die per hit to disrupt (M-7.25)"
    dice = check_dice(request.document, ("dice", "disrupt"), request.disrupt, hits, why)
    struck = target_results(field, fired, dice)
    shooters = [field.by_id[name] for name in dict.fromkeys(aim.unit for aim in request.aims)]
    after = position_after(
        field,
        # Shooters appear with 0, so that the document names every unit of the request.
        gained={unit.id: 0 for unit in shooters}
        | {name: result.disruption for name, result in struck.items()},
        broken={name for name, result in struck.items() if result.is_broken},
        smoking={unit.id for unit in shooters if unit.unit.arm == "artillery"},
    )
    units = {name: as_answer(result) for name, result in struck.items()}
    shots_json = [
        rolled.shot.to_json()
        | {"rolled": list(rolled.rolled), "hits": rolled.hits, "because": list(rolled.shot.because)}
        for rolled in fired
    ]
    return _answer(field, request.kind, units, after, shots=shots_json)


def _combat(field: Field, request: Combat) -> Json:
    met = combat.meeting(field, request.active)
    combat.check_combat(request, met)
    dice, values = combat.dice_of(request, met), combat.scores_of(field, met, request.cards)
    results = combat.results_before_fall_back(values, dice)
    order = combat.fall_back_order(field, request, met.contacts)
    results = combat.fallen_back(field, order, met, results)
    after = position_after(
        field,
        gained={name: result.disruption for name, result in results.items()},
        broken={name for name, result in results.items() if result.is_broken},
        back_mm={name: result.fall_back_mm for name, result in results.items()},
    )
    units = {
        unit.id: _fought_json(results[unit.id], values.get(unit.id), dice.get(unit.id, 0))
        for unit in field.units
        if unit.id in results
    }
    answer = _answer(field, "combat", units, after, active=request.active)
    doubts = [doubt.to_json() for doubt in combat_close_calls(field, met)]
    readings = interpretations(_deciding(field, met, values, results))
    return answer | {"doubts": doubts, "readings": dict(readings)}


def _rally(field: Field, request: Rally) -> Json:
    terms, levels = rally(field, request)
    shed = Reason("M-9.2", "shed", (levels, terms.dice, terms.needed))
    unit = terms.to_json() | {
        "dice": list(request.dice or ()),
        "disruption": -levels,
        "because": list(map(str, (*terms.because, shed))),
    }
    after = position_after(field, gained={terms.unit: -levels})
    answer = _answer(field, "rally", {terms.unit: unit}, after)
    if terms.near is not None and terms.near.answer == "too_close":
        answer["doubts"] = [terms.near.to_json()]
    return answer


def _answer(
    field: Field, kind: str, units: Mapping[str, Json], after: Position, **more: object
) -> Json:
    head: Json = {"game": GAME, "kind": kind}
    notes = {"doubts": [], "readings": {}, "warnings": list(field.warnings)}
    return head | more | {"units": dict(units), "position": position_to_json(after)} | notes


def _fought_json(result: CombatResult, value: combat.CombatValue | None, die: int) -> Json:
    """Returns a unit's result, with its value and die unless it was merely passed through."""
    if value is None:
        return result.to_json()
    score = Reason("M-8.19", "score", (value.value, die, value.value + die))
    because = list(map(str, (*value.because, score, *result.because)))
    outcome = result.to_json() | {"falls_back": result.falls_back, "because": because}
    return value.to_json(die) | outcome


def combat_close_calls(field: Field, meeting: combat.Meeting) -> tuple[Answer, ...]:
    """Returns close calls of contact, flank, engagement and cover in a combat.

    The combat itself is resolved with the measured values.
    """
    return tuple(answer for answer in _questions(field, meeting) if answer.answer == "too_close")


def _questions(field: Field, meeting: combat.Meeting) -> Iterator[Answer]:
    for (a_id, b_id), contact in meeting.contacts_on_field.contacts.items():
        a, b = field.by_id[a_id], field.by_id[b_id]
        if a.side == b.side or not {a_id, b_id} & meeting.engaged.keys():
            continue
        yield contact.answer
        passive, attacker = (b, a) if a.side == meeting.active else (a, b)
        if attacker.id in meeting.engaged.get(passive.id, ()):
            yield to_flank(field, passive, attacker)
    yield from meeting.engagements.close_calls(field.by_id)
    # Exact positions leave no doubt about cover.
    if not field.is_exact:
        yield from combat.close_call_covers(
            field, meeting.engagements.possible_pairs(meeting.engaged)
        )


def _deciding(
    field: Field,
    meeting: combat.Meeting,
    values: Mapping[str, combat.CombatValue],
    results: Mapping[str, CombatResult],
) -> Iterator[str]:
    """Yields the rules whose interpretations matter in a combat."""
    flanking = (
        {*flanked_by(field, field.by_id[name], meeting.contacts_on_field)} & {*engaged}
        for name, engaged in meeting.engaged.items()
        if name in meeting.contacts
    )
    if any(map(_floor_matters, values.values())) or any(flanking):
        yield "M-8.16"
    if any(map(meeting.engagements.held_by_guns, meeting.engaged)):
        yield "M-8.17"
    for name, result in results.items():
        if result.fall_back_mm > FALL_BACK_BW * field.bw_mm + EXACT_MM:
            yield "M-8.25"
        leaves_bad_ground = result.falls_back and field.by_id[name].is_in_difficult
        if leaves_bad_ground or any(reason.reading == "M-8.27" for reason in result.because):
            yield "M-8.27"


def _floor_matters(value: combat.CombatValue) -> bool:
    """Whether it matters that the value is floored at 0 after summing all modifiers (M-8.16)."""
    amounts = value.modifiers.values()
    pluses = sum(amount for amount in amounts if amount > 0)
    return value.value != max(value.basic + sum(amounts) - pluses, 0) + pluses


# --- a resolution as lines of text --------------------------------------------------------


def report(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of an answer of `resolve`."""
    kind = answer["kind"]
    if kind == "combat":
        yield from _combat_lines(answer)
    elif kind == "rally":
        yield from _rally_lines(answer)
    else:
        yield from _fire_lines(answer)
    yield from _notes(answer)


def _combat_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"Combat: {side_plural(answer['active'])} attack"
    for name, unit in sorted(answer["units"].items(), key=lambda named: "score" not in named[1]):
        yield ""
        if "score" in unit:
            yield f"{name} against {', '.join(unit['engaged_with'])}: {_sum(unit)}"
        else:
            yield f"{name} is passed through"
        yield from _because(unit)
    yield from _fates(answer)


def _fire_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield "Volley" if answer["kind"] == "volley" else "Bombardment"
    yield ""
    for shot in answer["shots"]:
        dice = ", ".join(map(str, shot["rolled"]))
        yield (
            f"{shot['unit']}, base {shot['base']}, at {shot['target']} at {shot['range']} range, "
            f"{shot['to_hit']}+ to hit: {dice}, {_count(shot['hits'], 'hit')}"
        )
        yield from _because(shot)
    for name, unit in answer["units"].items():
        yield ""
        rolled = ", ".join(map(str, unit["rolled"]))
        yield f"{name}: {_count(unit['hits'], 'hit')}{rolled and f', dice {rolled}'}"
        yield from _because(unit)
    yield from _fates(answer)


def _rally_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    for name, unit in answer["units"].items():
        dice = ", ".join(map(str, unit["dice"])) or "no dice"
        yield f"{name} rallies, {unit['needed']}+ needed: {dice}"
        yield from _because(unit)
        yield ""
        yield f"{name} sheds {_count(-unit['disruption'], 'disruption')}{_now(name, answer)}"


def _notes(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yields close calls, resolved as measured, and decisive interpretations."""
    notes = [f"{doubt['rule']} {doubt['because']}" for doubt in answer["doubts"]]
    notes += [f"{rule}, interpretation: {text}" for rule, text in answer["readings"].items()]
    if notes:
        yield ""
    yield from notes


def _sum(unit: Mapping[str, Any]) -> str:
    """Formats a score as `6 - 2 - 1 = 3, die 2: 5`."""
    amounts = "".join(f" {'-' if n < 0 else '+'} {abs(n)}" for n in unit["modifiers"].values())
    value = f"{unit['basic']}{amounts} = {unit['value']}" if amounts else f"{unit['basic']}"
    return f"{value}, die {unit['die']}: {unit['score']}"


def _fates(answer: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    for name, unit in answer["units"].items():
        if unit["broken"]:
            yield f"{name} breaks and leaves the table"
        else:
            gained = f"takes {_count(unit['disruption'], 'disruption')}{_now(name, answer)}"
            yield f"{name} {gained}{', and falls back' if unit.get('falls_back') else ''}"


def _now(name: str, answer: Mapping[str, Any]) -> str:
    units = answer["position"]["units"]
    level = next(unit["state"]["disruption"] for unit in units if unit["id"] == name)
    return f" (now {level})"


def _because(unit: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"     {line}" for line in unit["because"])


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'s' * (number != 1)}"
