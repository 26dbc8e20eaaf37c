"""Notes beside a combat's results: close calls, and interpretations that decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.combat.combat import Meeting, ResolvedCombat
from tablecam.rules.maurice.combat.cover import close_call_covers
from tablecam.rules.maurice.combat.score import CombatValue
from tablecam.rules.maurice.field.chances import is_exact
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.tables import FALL_BACK_BW
from tablecam.rules.maurice.place.flank import flanked_by, to_flank
from tablecam.uncertainty.answer import Answer

READINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "M-8.16": "all modifiers are summed before a value below 0 becomes 0; and only the passive "
        "side is attacked, so active units are never vulnerable by their flank",
        "M-8.17": "an enemy that also fights a friendly gun does not fight this unit alone",
        "M-8.25": "a unit that would end on a friend stops at the first open ground beyond, not "
        "after whole BW",
        "M-8.27": "the table's edge counts as impassable, and leaving difficult ground as moving "
        "through it",
    }
)
"""Interpretations of open points in the rulebook, by the rule that each concerns."""


def combat_close_calls(field: Field, meeting: Meeting) -> tuple[Answer, ...]:
    """Returns close calls of contact, flank, engagement and cover in a combat.

    The combat itself is resolved with the measured values.
    """
    return tuple(answer for answer in _questions(field, meeting) if answer.answer == "too_close")


def combat_readings(field: Field, fought: ResolvedCombat) -> Mapping[str, str]:
    """Returns the interpretations that decide something in a combat."""
    deciding = dict.fromkeys(_deciding(field, fought))
    return MappingProxyType({rule: READINGS[rule] for rule in deciding})


def _questions(field: Field, meeting: Meeting) -> Iterator[Answer]:
    """Yields the answers on which a combat depends."""
    for (a_id, b_id), contact in meeting.contacts_on_field.contacts.items():
        a, b = field.by_id[a_id], field.by_id[b_id]
        if a.side == b.side or not {a_id, b_id} & meeting.engaged.keys():
            continue
        yield contact.answer
        passive, attacker = (b, a) if a.side == meeting.active else (a, b)
        if attacker.id in meeting.engaged.get(passive.id, ()):
            yield to_flank(field, passive, attacker)
    yield from meeting.engagements.close_calls
    # Exact positions leave no doubt about cover.
    if not is_exact(field):
        yield from close_call_covers(field, meeting.engagements.possible_pairs(meeting.engaged))


def _deciding(field: Field, fought: ResolvedCombat) -> Iterator[str]:
    """Yields the rules whose interpretations decide something in a combat."""
    meeting = fought.meeting
    if any(map(_floor_matters, fought.values.values())) or _has_flanked_attacker(field, meeting):
        yield "M-8.16"
    if any(_has_a_gun_beside(field, meeting, name) for name in meeting.engaged):
        yield "M-8.17"
    for name, result in fought.results.items():
        if result.fall_back_mm > FALL_BACK_BW * field.bw_mm + EXACT_MM:
            yield "M-8.25"
        leaves_bad_ground = result.falls_back and field.by_id[name].is_in_difficult
        if leaves_bad_ground or any(reason.reading == "M-8.27" for reason in result.because):
            yield "M-8.27"


def _floor_matters(value: CombatValue) -> bool:
    """Whether it matters that the value is floored at 0 after summing all modifiers (M-8.16)."""
    minuses = sum(amount for amount in value.modifiers.values() if amount < 0)
    pluses = sum(amount for amount in value.modifiers.values() if amount > 0)
    return value.value != max(value.basic + minuses, 0) + pluses


def _has_flanked_attacker(field: Field, meeting: Meeting) -> bool:
    return any(
        enemy in meeting.engaged[name]
        for name in meeting.contacts
        for enemy in flanked_by(field, field.by_id[name], meeting.contacts_on_field)
    )


def _has_a_gun_beside(field: Field, meeting: Meeting, name: str) -> bool:
    """Whether one of several enemies would meet a unit alone but for a gun beside it."""

    def is_gun(other: str) -> bool:
        return field.by_id[other].unit.arm == "artillery"

    enemies = [enemy for enemy in meeting.engaged[name] if not is_gun(enemy)]
    others = [[other for other in meeting.engaged[enemy] if other != name] for enemy in enemies]
    return len(enemies) > 1 and any(names and all(map(is_gun, names)) for names in others)
