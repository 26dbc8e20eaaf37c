"""Combat sections of sheets: who is engaged with whom, and who has cover (M-8.10 to M-8.17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.combat.cover import cover_answer
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.front_contact import front_gap_mm, touches_across
from tablecam.rules.maurice.field.levels import is_uphill
from tablecam.rules.maurice.field.tables import ENGAGED_BW
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.sheets.lines import answer_line, plain_line, question
from tablecam.rules.reports import Finding, Section
from tablecam.table.sides import side_name
from tablecam.uncertainty.contact import TOUCH_MM

_EDGE_CONTACT_MM = 0.05
_MARGIN_MM = 6.0
"""No enemy farther than this beyond 1 BW can be engaged by measurement error alone."""


def engaged_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns a unit's engagements if the active side attacks from these poses."""
    # Farther enemies cannot be engaged, so they are not asked about.
    near_mm = ENGAGED_BW * rulings.field.bw_mm + _MARGIN_MM
    pairs = [
        _roles(rulings, unit, enemy)
        for enemy in rulings.field.enemies_of(unit)
        if rulings.distances.mm(unit.id, enemy.id) <= near_mm
    ]
    lines = [line for pair in pairs if not _is_no(line := engagement_line(rulings, *pair))]
    lines += _outnumbering(rulings, unit)
    if not lines:
        why = (
            "no enemy touches its front edge"
            if unit.side == rulings.active
            else f"no unit of the active side ({side_name(rulings.active)}) attacks it"
        )
        lines = [plain_line(f"{unit.id} is not engaged: {why}", "M-8.10")]
    return Section("engaged", "Engaged", tuple(lines))


def pair_engaged_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns whether two units are engaged with each other."""
    if a.side == b.side:
        return Section(
            "engaged", "Engaged", (plain_line(f"{a.id} and {b.id} are on the same side"),)
        )
    attacker, defender = _roles(rulings, a, b)
    return Section("engaged", "Engaged", (engagement_line(rulings, attacker, defender),))


def cover_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns whether the defender of two has cover from the attacker, or stands higher."""
    title = "Cover in combat"
    if a.side == b.side:
        return Section("cover", title, (plain_line(f"{a.id} and {b.id} are on the same side"),))
    attacker, defender = _roles(rulings, a, b)
    lines = [_cover_line(rulings, attacker, defender)]
    if is_uphill(rulings.field, attacker, defender):
        text = f"{defender.id} stands higher than {attacker.id}, which gets -1 in combat"
        lines.append(plain_line(text, "M-8.15", read="M-5.9"))
    return Section("cover", title, tuple(lines))


def engagement_line(rulings: Rulings, attacker: UnitOnField, defender: UnitOnField) -> Finding:
    """Returns whether two units are engaged, with the interpretation that decides it."""
    answer = rulings.engagements.answer(attacker.id, defender.id)
    head = {
        "yes": f"{attacker.id} is engaged with {defender.id}: ",
        "no": f"{attacker.id} is not engaged with {defender.id}: ",
        "too_close": "",
    }[answer.answer]
    asked = question(
        f"Is {attacker.id} engaged with {defender.id}?", "engaged", attacker.id, defender.id
    )
    read = _reading(rulings, attacker, defender)
    return answer_line(answer, asked, text=head + answer.because, read=read)


def _reading(rulings: Rulings, attacker: UnitOnField, defender: UnitOnField) -> str | None:
    """Returns the interpretation that decides: near contact, a thin wall, or the two lines."""
    gap_mm = front_gap_mm(attacker, defender)
    if gap_mm is None:
        return None
    if gap_mm > TOUCH_MM and touches_across(rulings.field, attacker, defender):
        return "M-8.14"
    if _EDGE_CONTACT_MM < gap_mm <= TOUCH_MM + EXACT_MM:
        return "G-6"
    is_beyond_touch = TOUCH_MM < gap_mm <= ENGAGED_BW * rulings.field.bw_mm + EXACT_MM
    has_contact = bool(rulings.engagements.in_front_contact(attacker.id))
    return "M-8.12" if is_beyond_touch and has_contact else None


def _outnumbering(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields enemies that do not outnumber a unit as they also face its side's gun (M-8.17)."""
    units = rulings.field.by_id
    enemies = [units[enemy_id] for enemy_id in rulings.engagements.enemies_of(unit.id)]
    if sum(enemy.unit.arm != "artillery" for enemy in enemies) < 2:
        return
    for enemy in enemies:
        others = [
            units[other_id]
            for other_id in rulings.engagements.enemies_of(enemy.id)
            if other_id != unit.id
        ]
        if others and all(other.unit.arm == "artillery" for other in others):
            names = ", ".join(other.id for other in others)
            text = f"{enemy.id} is also engaged with {names} and does not outnumber {unit.id}"
            yield plain_line(text, "M-8.17", read="M-8.17")


def _cover_line(rulings: Rulings, attacker: UnitOnField, defender: UnitOnField) -> Finding:
    """Returns whether a defender has cover from an attacker."""
    asked = question(
        f"Does {defender.id} have cover from an attack by {attacker.id}?",
        "cover",
        attacker.id,
        defender.id,
    )
    answer = cover_answer(rulings.field, attacker, defender)
    if answer.answer != "too_close":
        # The margin is only a bound, not a distance that a player could measure.
        answer = replace(answer, margin_mm=0.0, sigma_mm=0.0)
    head = {
        "yes": f"{defender.id} has cover: ",
        "no": f"{defender.id} has no cover: ",
        "too_close": "",
    }[answer.answer]
    if defender.unit.arm == "cavalry":
        head = ""
    across = touches_across(rulings.field, attacker, defender)
    read = "M-8.14" if across else "M-5.1" if answer.answer == "yes" else None
    return answer_line(answer, asked, text=head + answer.because, read=read)


def _roles(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> tuple[UnitOnField, UnitOnField]:
    """Returns attacker and defender of two units: the active side attacks."""
    return (b, a) if b.side == rulings.active else (a, b)


def _is_no(line: Finding) -> bool:
    return line.answer is not None and line.answer.answer == "no"
