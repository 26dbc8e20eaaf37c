"""Combat sections of sheets: charges, engagements, and cover from attacks (M-8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.charge.charge import ChargeLane
from tablecam.rules.maurice.charge.limits import NOT_AT_CAVALRY, OUT_OF_VIEW, is_in_view, may_charge
from tablecam.rules.maurice.charge.moves import allowance_mm
from tablecam.rules.maurice.combat.cover import cover_answer
from tablecam.rules.maurice.combat.engagement import NEAR_RULE as TWO_LINES_RULE
from tablecam.rules.maurice.combat.engagement import engagements
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import ENGAGED_BW
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.place.contacts import front_gap_mm, touches_across
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.interpretations import EDGE_CONTACT_MM
from tablecam.rules.maurice.sheets.lines import answer_line, plain_line, question
from tablecam.rules.reports import Finding, Part, Question
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import Answer, certain, verdict
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.lengths import Length, distance

_NO_MOVE = Reason("M-8.3", "no_move")
_NOT_FIRST = Reason("M-8.5", "not_first")
_MARGIN_MM = 6.0
"""No enemy farther than this beyond 1 BW can be engaged by measurement error alone."""


def charge_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields a unit's targets with the moves to them, or why it cannot charge."""
    charge = rulings.units[unit.id].charge
    for lane in charge.lanes:
        yield _lane_line(rulings, unit, lane)
        yield from lane.evidence
    doubts = [doubt for doubt in charge.close_calls if doubt.about not in (None, *charge.targets)]
    for doubt in doubts:
        yield _doubt_line(rulings, unit, rulings.field.by_id[str(doubt.about)], doubt)
    if not charge.lanes and not doubts:
        why = charge.why_not or _NO_MOVE
        yield plain_line(f"{unit.id} cannot charge: {why.clause}", why.rule, read=why.reading)


def pair_charge_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields the moves by which either of two units can charge the other, or why it cannot."""
    for unit, target in ((a, b), (b, a)):
        lanes = rulings.units[unit.id].charge.lanes
        for lane in lanes:
            if lane.target == target.id:
                yield _lane_line(rulings, unit, lane)
            if lane.target in (a.id, b.id):
                yield from lane.evidence
        if target.id not in rulings.units[unit.id].charge.targets:
            if (doubt := _doubt(rulings, unit, target)) is not None:
                yield _doubt_line(rulings, unit, target, doubt)
            else:
                yield _refusal_line(rulings, unit, target)


def _lane_line(rulings: Rulings, unit: UnitOnField, lane: ChargeLane) -> Finding:
    """Returns the line of one legal charge move."""
    field, cost_mm = rulings.field, lane.move.cost_mm
    allowed_mm = allowance_mm(field, unit) or 0.0
    text = (
        f"{unit.id} may charge {lane.target}: it {lane.move.words(field.bw_mm)}, "
        f"{field.in_bw(cost_mm):.2f} of its {field.in_bw(allowed_mm):g} BW"
    )
    if lane.move.is_contact:
        text = f"{unit.id} may charge {lane.target}, which its front edge already touches"
    if lane.also_meets:
        text += f"; it meets {', '.join(lane.also_meets)} at the same moment"
    if lane.crosses_difficult:
        text += "; it crosses difficult ground and takes 1 disruption"
    asked = _question_about(unit, field.by_id[lane.target])
    read = "M-5.2" if lane.crosses_difficult and unit.is_in_difficult else None
    doubt = _doubt(rulings, unit, field.by_id[lane.target])
    if doubt is not None:
        return answer_line(doubt, asked, text=f"{text}; but {doubt.because}", read=read)
    margin_mm, chance = allowed_mm - cost_mm, lane.probability
    sigma_mm = distance(unit.unit, field.by_id[lane.target].unit).sigma_mm
    word = verdict(margin_mm, chance)
    answer = Answer(word, margin_mm, sigma_mm, chance, "M-8.5", text, lane.evidence)
    return answer_line(answer, asked, read=read)


def _refusal_line(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Finding:
    """Returns why a unit cannot charge another."""
    length = distance(unit.unit, target.unit)
    why, margin_mm = _why_not(rulings, unit, target, length)
    because = f"{unit.id} cannot charge {target.id}: {why.clause}"
    drawn = (length.evidence(f"{length.in_bw(rulings.field.bw_mm):.2f} BW"),)
    sigma_mm = length.sigma_mm if margin_mm else 0.0
    answer = certain("no", why.rule, because, drawn, margin_mm=margin_mm, sigma_mm=sigma_mm)
    return answer_line(answer, _question_about(unit, target), read=why.reading)


def _why_not(
    rulings: Rulings, unit: UnitOnField, target: UnitOnField, length: Length
) -> tuple[Reason, float]:
    """Returns why a unit cannot charge another, and the margin (mm): 0 where no length decides."""
    field, charge = rulings.field, rulings.units[unit.id].charge
    never = charge.why_not or _NO_MOVE
    allowed_mm = allowance_mm(field, unit)
    if allowed_mm is None or unit.unit.arm == "artillery" or unit.formation == "column":
        return never, 0.0
    # Reasons are tried from the plainest to the subtlest, so that players read the first that
    # applies.
    if length.value_mm > allowed_mm:
        far = length.in_bw(field.bw_mm), field.in_bw(allowed_mm)
        return Reason("M-8.5", "too_far", far), allowed_mm - length.value_mm
    if not may_charge(unit, target):
        return NOT_AT_CAVALRY, 0.0
    if not is_in_view(field, unit, target):
        return OUT_OF_VIEW, 0.0
    return (_NOT_FIRST if charge.is_eligible else never), 0.0


def _doubt(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Answer | None:
    doubts = rulings.units[unit.id].charge.close_calls
    return next((doubt for doubt in doubts if doubt.about == target.id), None)


def _doubt_line(rulings: Rulings, unit: UnitOnField, target: UnitOnField, doubt: Answer) -> Finding:
    """Returns the line of a charge too close to call, with the interpretation of view if it is."""
    read = None if is_in_view(rulings.field, unit, target) else "M-8.4"
    return answer_line(doubt, _question_about(unit, target), read=read)


def _question_about(unit: UnitOnField, target: UnitOnField) -> Question:
    return question(f"Can {unit.id} charge {target.id}?", "charge", unit.id, target.id)


def engaged_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields a unit's engagements if the active side attacks from these poses."""
    # Farther enemies cannot be engaged, so they are not asked about.
    near_mm = ENGAGED_BW * rulings.field.bw_mm + _MARGIN_MM
    asked = [
        next(pair_engaged_section(rulings, unit, enemy))
        for enemy in rulings.field.enemies_of(unit)
        if rulings.distances.mm(unit.id, enemy.id) <= near_mm
    ]
    lines = [line for line in asked if line.answer is not None and line.answer.answer != "no"]
    lines += _outnumbering(rulings, unit)
    if not lines:
        why = f"no unit of the active side ({side_name(rulings.active)}) attacks it"
        why = "no enemy touches its front edge" if unit.side == rulings.active else why
        lines = [plain_line(f"{unit.id} is not engaged: {why}", "M-8.10")]
    yield from lines


def pair_engaged_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Finding]:
    """Yields whether two units are engaged, with the interpretation that decides it."""
    attacker, defender = _roles(rulings, a, b)
    fought = engagements(rulings.field, rulings.active, attacker.id)
    answer = fought.answer(attacker.id, defender.id)
    text = f"Is {attacker.id} engaged with {defender.id}?"
    asked = question(text, "engaged", attacker.id, defender.id)
    text = answer.because
    if answer.answer != "too_close":
        is_engaged = "is" if answer.answer == "yes" else "is not"
        text = f"{attacker.id} {is_engaged} engaged with {defender.id}: {text}"
    read = _reading(rulings.field, answer, attacker, defender)
    yield answer_line(answer, asked, text=text, read=read)


def _reading(
    field: Field, answer: Answer, attacker: UnitOnField, defender: UnitOnField
) -> str | None:
    """Returns the interpretation that decides: the two lines, near contact, or a thin wall."""
    if answer.rule == TWO_LINES_RULE:
        return answer.rule
    gap_mm = front_gap_mm(attacker, defender)
    if gap_mm is None or gap_mm <= EDGE_CONTACT_MM:
        return None
    across = "M-8.14" if touches_across(field, attacker, defender) else None
    return "G-6" if gap_mm <= TOUCH_MM + EXACT_MM else across


def _outnumbering(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields enemies that do not outnumber a unit as they also face its side's gun (M-8.17)."""
    for enemy, guns in rulings.engagements.held_by_guns(unit.id).items():
        text = f"{enemy} is also engaged with {', '.join(guns)} and does not outnumber {unit.id}"
        yield plain_line(text, "M-8.17", read="M-8.17")


def cover_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields whether the defender of two has cover from the attacker, or stands higher."""
    attacker, defender = _roles(rulings, a, b)
    text = f"Does {defender.id} have cover from an attack by {attacker.id}?"
    asked = question(text, "cover", attacker.id, defender.id)
    answer = cover_answer(rulings.field, attacker, defender)
    if answer.answer != "too_close":
        # The margin is only a bound, not a distance that a player could measure.
        answer = replace(answer, margin_mm=0.0, sigma_mm=0.0)
    text = answer.because
    if answer.answer != "too_close" and defender.unit.arm != "cavalry":
        text = f"{defender.id} has {'' if answer.answer == 'yes' else 'no '}cover: {text}"
    across = touches_across(rulings.field, attacker, defender)
    read = "M-8.14" if across else "M-5.1" if answer.answer == "yes" else None
    yield answer_line(answer, asked, text=text, read=read)
    if rulings.field.is_uphill(attacker, defender):
        text = f"{defender.id} stands higher than {attacker.id}, which gets -1 in combat"
        yield plain_line(text, "M-8.15", read="M-5.9")


def _roles(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> tuple[UnitOnField, UnitOnField]:
    """Returns attacker and defender of two units: the active side attacks."""
    return (b, a) if b.side == rulings.active else (a, b)
