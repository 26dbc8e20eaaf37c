"""Charge sections of sheets: targets, moves, and why others cannot be charged (M-8.3)."""

from __future__ import annotations

from collections.abc import Iterator

from tablecam.rules.maurice.charge.charge import ChargeLane
from tablecam.rules.maurice.charge.limits import NOT_AT_CAVALRY
from tablecam.rules.maurice.charge.reach import allowance_mm
from tablecam.rules.maurice.charge.view import is_in_view
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.sheets.lines import answer_line, listed_answer, plain_line, question
from tablecam.rules.reports import Finding, Question, Section
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.lengths import Length, distance

_TITLE = "Charge"
_NO_MOVE = Reason("M-8.3", "no charge move reaches an enemy")
_OUT_OF_VIEW = Reason("M-8.4", "it is out of view", "M-8.4")
_NOT_FIRST = Reason(
    "M-8.5", "its front edge does not meet it first, straight ahead or after a wheel of 1 BW"
)
_CONTACT_MM = 0.5
"""A shorter charge counts as touching already."""


def charge_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns a unit's targets with the moves to them, or why it cannot charge."""
    charge = rulings.units[unit.id].charge
    lines = [_lane_line(rulings, unit, lane) for lane in charge.lanes]
    drawn = [shape for lane in charge.lanes for shape in lane.evidence]
    covered_targets = set(charge.targets)
    for doubt in charge.close_calls:
        if doubt.about is not None and doubt.about not in covered_targets:
            other = rulings.field.by_id[doubt.about]
            lines.append(
                answer_line(
                    doubt, _question_about(unit, other), read=_view_reading(rulings, unit, other)
                )
            )
    if not lines:
        why = charge.why_not or _NO_MOVE
        text = f"{unit.id} cannot charge: {why.clause}"
        lines = [plain_line(text, why.rule, read=why.reading)]
    return Section("charge", _TITLE, tuple(lines), tuple(drawn))


def pair_charge_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns whether either of two units can charge the other."""
    if a.side == b.side:
        return Section(
            "charge", _TITLE, (plain_line(f"{a.id} and {b.id} are on the same side", "M-8.1"),)
        )
    lines = [line for unit, other in ((a, b), (b, a)) for line in _lines_at(rulings, unit, other)]
    charges = (rulings.units[a.id].charge, rulings.units[b.id].charge)
    drawn = [
        shape
        for charge in charges
        for lane in charge.lanes
        if lane.target in (a.id, b.id)
        for shape in lane.evidence
    ]
    return Section("charge", _TITLE, tuple(lines), tuple(drawn))


def _lines_at(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Iterator[Finding]:
    """Yields the moves by which a unit can charge another, or why it cannot."""
    charge = rulings.units[unit.id].charge
    lanes = [lane for lane in charge.lanes if lane.target == target.id]
    for lane in lanes:
        yield _lane_line(rulings, unit, lane)
    if lanes:
        return
    doubt = _doubt(rulings, unit, target)
    if doubt is not None:
        yield answer_line(
            doubt, _question_about(unit, target), read=_view_reading(rulings, unit, target)
        )
        return
    length = distance(unit.unit, target.unit)
    why, margin_mm = _why_not(rulings, unit, target, length)
    answer = listed_answer(
        why.rule,
        f"{unit.id} cannot charge {target.id}: {why.clause}",
        margin_mm=margin_mm,
        sigma_mm=length.sigma_mm if margin_mm else 0.0,
        chance=0.0,
        evidence=(length.evidence(f"{length.in_bw(rulings.field.bw_mm):.2f} BW"),),
    )
    yield answer_line(answer, _question_about(unit, target), read=why.reading)


def _lane_line(rulings: Rulings, unit: UnitOnField, lane: ChargeLane) -> Finding:
    """Returns the line of one legal charge move."""
    field = rulings.field
    allowed_mm = allowance_mm(field, unit) or 0.0
    move = f"ahead {field.in_bw(lane.straight_mm):.2f} BW"
    if lane.corner is not None:
        wheel = f"wheel {field.in_bw(lane.arc_mm):.2f} BW about the {lane.corner} front corner"
        move = f"{wheel}, then {move}"
    text = (
        f"{unit.id} may charge {lane.target}: {move}, "
        f"{lane.cost_bw:.2f} of its {field.in_bw(allowed_mm):g} BW"
    )
    if lane.cost_bw * field.bw_mm < _CONTACT_MM:
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
    answer = listed_answer(
        "M-8.5",
        text,
        margin_mm=allowed_mm - lane.cost_bw * field.bw_mm,
        sigma_mm=rulings.distances.sigma_mm(unit.id, lane.target),
        chance=lane.probability,
        evidence=lane.evidence,
    )
    return answer_line(answer, asked, read=read)


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
        off = f"it is {length.in_bw(field.bw_mm):.2f} BW away, more than the allowance"
        why = Reason("M-8.5", f"{off} of {field.in_bw(allowed_mm):g} BW")
        return why, allowed_mm - length.value_mm
    if unit.unit.arm == "infantry" and target.unit.arm == "cavalry":
        return NOT_AT_CAVALRY, 0.0
    if not is_in_view(field, unit, target):
        return _OUT_OF_VIEW, 0.0
    return (_NOT_FIRST if charge.is_eligible else never), 0.0


def _view_reading(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> str | None:
    """Returns the interpretation of view if the target is out of view."""
    return None if is_in_view(rulings.field, unit, target) else "M-8.4"


def _doubt(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Answer | None:
    doubts = rulings.units[unit.id].charge.close_calls
    return next((doubt for doubt in doubts if doubt.about == target.id), None)


def _question_about(unit: UnitOnField, target: UnitOnField) -> Question:
    return question(f"Can {unit.id} charge {target.id}?", "charge", unit.id, target.id)
