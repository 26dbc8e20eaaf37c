"""Sheets on combat: who is engaged with whom, and who has cover (M-8.10 to M-8.17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.combat.cover import cover_answer
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.front_contact import front_gap_mm, touches_across
from tablecam.rules.maurice.field.levels import is_uphill
from tablecam.rules.maurice.field.tables import ENGAGED_BW
from tablecam.rules.maurice.rulings.ruled import Rulings
from tablecam.rules.maurice.sheets.lines import plain, question, told
from tablecam.rules.sheets import Line, Section
from tablecam.table.sides import side_name
from tablecam.uncertainty.contact import TOUCH_MM

_FLUSH_MM = 0.05
_HAIR_MM = 6.0
"""Nobody farther off than this beyond 1 BW can turn out to be engaged (measured poses)."""


def engaged_section(found: Rulings, unit: UnitOnField) -> Section:
    """With whom a unit is engaged if the active side attacks from where all lie."""
    near_mm = ENGAGED_BW * found.field.bw_mm + _HAIR_MM
    pairs = [
        _roles(found, unit, enemy)
        for enemy in found.field.enemies_of(unit)
        if found.apart.mm(unit.id, enemy.id) <= near_mm
    ]
    lines = [line for pair in pairs if not _is_no(line := engagement_line(found, *pair))]
    lines += _outnumbering(found, unit)
    if not lines:
        why = (
            "no enemy touches its front edge"
            if unit.side == found.active
            else f"no unit of the active side ({side_name(found.active)}) attacks it"
        )
        lines = [plain(f"{unit.id} is engaged with nobody: {why}", "M-8.10")]
    return Section("engaged", "Engaged", tuple(lines))


def pair_engaged_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Whether two units are engaged with each other."""
    if a.side == b.side:
        return Section("engaged", "Engaged", (plain(f"{a.id} and {b.id} are of one side"),))
    attacker, defender = _roles(found, a, b)
    return Section("engaged", "Engaged", (engagement_line(found, attacker, defender),))


def cover_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Whether the defender of two has cover from the attacker, and stands higher."""
    title = "Cover in combat"
    if a.side == b.side:
        return Section("cover", title, (plain(f"{a.id} and {b.id} are of one side"),))
    attacker, defender = _roles(found, a, b)
    lines = [_cover_line(found, attacker, defender)]
    if is_uphill(found.field, attacker, defender):
        said = f"{defender.id} stands higher than {attacker.id}, which has 1 less in combat"
        lines.append(plain(said, "M-8.15", read="M-5.9"))
    return Section("cover", title, tuple(lines))


def engagement_line(found: Rulings, attacker: UnitOnField, defender: UnitOnField) -> Line:
    """Whether two units are engaged, with the reading that decided it."""
    answer = found.engagements.answer(attacker.id, defender.id)
    head = {
        "yes": f"{attacker.id} is engaged with {defender.id}: ",
        "no": f"{attacker.id} is not engaged with {defender.id}: ",
        "too_close": "",
    }[answer.answer]
    asked = question(
        f"Is {attacker.id} engaged with {defender.id}?", "engaged", attacker.id, defender.id
    )
    read = _reading(found, attacker, defender)
    return told(answer, asked, text=head + answer.because, read=read)


def _reading(found: Rulings, attacker: UnitOnField, defender: UnitOnField) -> str | None:
    """What was decided of a contact by a hair, across a wall, or of the two lines."""
    gap_mm = front_gap_mm(attacker, defender)
    if gap_mm is None:
        return None
    if gap_mm > TOUCH_MM and touches_across(found.field, attacker, defender):
        return "M-8.14"
    if _FLUSH_MM < gap_mm <= TOUCH_MM + EXACT_MM:
        return "G-6"
    is_beyond_touch = TOUCH_MM < gap_mm <= ENGAGED_BW * found.field.bw_mm + EXACT_MM
    has_contact = bool(found.engagements.in_front_contact(attacker.id))
    return "M-8.12" if is_beyond_touch and has_contact else None


def _outnumbering(found: Rulings, unit: UnitOnField) -> Iterator[Line]:
    """Enemies that do not outnumber a unit as they are engaged with a gun of its side (M-8.17)."""
    units = found.field.by_id
    enemies = [units[each] for each in found.engagements.of(unit.id)]
    if sum(enemy.unit.arm != "artillery" for enemy in enemies) < 2:
        return
    for enemy in enemies:
        others = [units[each] for each in found.engagements.of(enemy.id) if each != unit.id]
        if others and all(other.unit.arm == "artillery" for other in others):
            names = ", ".join(other.id for other in others)
            said = f"{enemy.id} is engaged with {names} too and does not outnumber {unit.id}"
            yield plain(said, "M-8.17", read="M-8.17")


def _cover_line(found: Rulings, attacker: UnitOnField, defender: UnitOnField) -> Line:
    asked = question(
        f"Has {defender.id} cover from an attack by {attacker.id}?",
        "cover",
        attacker.id,
        defender.id,
    )
    answer = cover_answer(found.field, attacker, defender)
    if answer.answer != "too_close":
        answer = replace(answer, margin_mm=0.0, sigma_mm=0.0)  # a bound: no distance decides
    head = {
        "yes": f"{defender.id} has cover: ",
        "no": f"{defender.id} has no cover: ",
        "too_close": "",
    }[answer.answer]
    if defender.unit.arm == "cavalry":
        head = ""
    across = touches_across(found.field, attacker, defender)
    read = "M-8.14" if across else "M-5.1" if answer.answer == "yes" else None
    return told(answer, asked, text=head + answer.because, read=read)


def _roles(found: Rulings, a: UnitOnField, b: UnitOnField) -> tuple[UnitOnField, UnitOnField]:
    """Attacker and defender of two: the active side attacks."""
    return (b, a) if b.side == found.active else (a, b)


def _is_no(line: Line) -> bool:
    return line.answer is not None and line.answer.answer == "no"
