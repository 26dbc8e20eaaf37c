"""Sheets on where units lie: nearness, range, contact, flanks (M-1.9 to M-1.13)."""

from __future__ import annotations

from collections.abc import Iterator

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import NEAR_BW
from tablecam.rules.maurice.place.near import RULE as NEAR_RULE
from tablecam.rules.maurice.place.pairs import Pair
from tablecam.rules.maurice.place.touch import ACROSS_RULE
from tablecam.rules.maurice.rulings.readings import is_bent_column
from tablecam.rules.maurice.rulings.ruled import Rulings
from tablecam.rules.maurice.sheets.lines import names_of, plain, question, told
from tablecam.rules.sheets import Line, Section
from tablecam.uncertainty.about import ring
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within

_TOLD_BW = 2 * NEAR_BW
"""Enemies beyond the charge of horse are not told one by one."""
_FLUSH_MM = 0.05
_DECLARED_MM = 3.0
"""How near to the target of a declared charge counts as contact (G-8)."""


def near_section(found: Rulings, unit: UnitOnField) -> Section:
    """Whether a unit is near the enemy, with the ring of 4 BW."""
    near = found.units[unit.id].near
    word = near.answer.answer
    head = {
        "yes": f"{unit.id} is near the enemy",
        "no": f"{unit.id} is not near the enemy",
        "too_close": f"Whether {unit.id} is near the enemy is too close to call",
    }[word]
    because = near.answer.because
    text = because if because.startswith(head) else f"{head}: {because}"
    read = "M-1.9" if "impassable" in because else None
    asked = question(f"Is {unit.id} near the enemy?", "near", unit.id)
    line = told(near.answer, asked, text=text, read=read)
    drawn = ring(unit.unit, NEAR_BW, found.field.bw_mm)
    return Section("near_enemy", "Near the enemy", (line,), drawn)


def range_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """How far two units lie apart; of enemies, whether that is near."""
    length = distance(a.unit, b.unit)
    bw_mm = found.field.bw_mm
    spread = f" ± {length.sigma_mm:.1f}" if length.sigma_mm else ""
    apart = (
        f"{a.id} and {b.id} lie {length.in_bw(bw_mm):.2f} BW "
        f"({length.value_mm:.1f}{spread} mm) apart where they are nearest"
    )
    lines = [plain(apart, "G-2")]
    if a.side != b.side:
        table = found.field.position.table
        answer = within(length, NEAR_BW, table, a=a.id, b=b.id, rule=NEAR_RULE)
        text = f"Are {a.id} and {b.id} within {NEAR_BW:g} BW of each other?"
        lines.append(told(answer, question(text, "range", a.id, b.id)))
    drawn = (length.evidence(f"{length.in_bw(bw_mm):.2f} BW"),)
    return Section("range", "Range", tuple(lines), drawn)


def contacts_section(found: Rulings, unit: UnitOnField) -> Section:
    """Whom a unit touches, friends too."""
    others = [b_id if a_id == unit.id else a_id for a_id, b_id in _contacts(found, unit.id)]
    lines = tuple(contact_line(found, unit.id, other) for other in others)
    nobody = plain(f"{unit.id} touches nobody", "M-1.10")
    return Section("contact", "Contact", lines or (nobody,))


def contact_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Whether two units touch."""
    return Section("contact", "Contact", (contact_line(found, a.id, b.id),))


def contact_line(found: Rulings, a_id: str, b_id: str) -> Line:
    """Whether two units touch, with the reading where a hair's breadth decides."""
    answer = found.touching.answer(a_id, b_id)
    gap_mm = TOUCH_MM - answer.margin_mm
    units = found.field.by_id
    read = None
    if answer.rule == ACROSS_RULE:
        read = "M-8.14"
    elif _FLUSH_MM < gap_mm <= TOUCH_MM or answer.answer == "too_close":
        read = "G-6"
    elif TOUCH_MM < gap_mm <= _DECLARED_MM and units[a_id].side != units[b_id].side:
        read = "G-8"
    asked = question(f"Do {a_id} and {b_id} touch?", "contact", a_id, b_id)
    return told(answer, asked, read=read)


def flanks_section(found: Rulings, unit: UnitOnField) -> Section:
    """Who flanks a unit, and who else is to its flank or to its front, of those within 8 BW."""
    limit_mm = _TOLD_BW * found.field.bw_mm
    seen = [pair for pair in found.pairs if pair.a.id == unit.id and pair.distance_mm <= limit_mm]
    seen.sort(key=lambda pair: (not _touches(found, pair), pair.distance_mm))
    lines = [flank_line(found, pair) for pair in seen if _may_matter(found, pair)]
    others = [pair.b.id for pair in seen if not _may_matter(found, pair)]
    if others:
        to_front = f"{names_of(others)} {'are' if len(others) > 1 else 'is'} to its front"
        lines.append(plain(f"{to_front}, {NEAR_BW:g} BW or more away", "M-1.12"))
    nobody = plain(f"no enemy lies within {_TOLD_BW:g} BW of {unit.id}", "M-1.12")
    return Section("flank", "Flanks", (*lines, *_vulnerable(found, unit)) or (nobody,))


def flank_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Two units as each sees the other."""
    sights = (found.pair(a.id, b.id), found.pair(b.id, a.id))
    lines = tuple(flank_line(found, pair) for pair in sights if pair is not None)
    friends = plain(f"{a.id} and {b.id} are of one side: a friend is on nobody's flank", "M-1.13")
    return Section("flank", "Flanks", lines or (friends,))


def flank_line(found: Rulings, pair: Pair) -> Line:
    """Whether one unit is to another's flank, and flanks it."""
    answer, a, b = pair.to_flank, pair.a, pair.b
    touch = ""
    if pair.is_to_flank:
        touches = _touches(found, pair)
        touch = f"; it touches {a.id}, which so is flanked" if touches else "; it does not touch"
    facts, _, _ = answer.because.rpartition(": ")
    head = {
        "yes": f"{b.id} is to the flank of {a.id} by {answer.margin_mm:.1f} mm",
        "no": f"{b.id} is to the front of {a.id}, {-answer.margin_mm:.1f} mm short of its flank",
        "too_close": f"Whether {b.id} is to the flank of {a.id} is too close to call",
    }[answer.answer]
    asked = question(f"Is {b.id} to the flank of {a.id}?", "flank", a.id, b.id)
    read = "G-3" if is_bent_column(a) else None
    return told(answer, asked, text=f"{head}: {facts}{touch}", read=read)


def _vulnerable(found: Rulings, unit: UnitOnField) -> Iterator[Line]:
    """That an active unit is not attacked, though it is flanked (M-8.16)."""
    if unit.side == found.active and found.units[unit.id].flanked_by:
        said = f"{unit.id} attacks, so it is not vulnerable in combat though it is flanked"
        yield plain(said, "M-8.16", read="M-8.16")


def _contacts(found: Rulings, unit_id: str) -> list[tuple[str, str]]:
    return [ids for ids in found.touching.contacts if unit_id in ids]


def _may_matter(found: Rulings, pair: Pair) -> bool:
    """Whether an enemy is told of by itself: he is near, or not plainly to the front."""
    is_near = pair.distance_mm <= NEAR_BW * found.field.bw_mm
    return is_near or pair.to_flank.answer != "no"


def _touches(found: Rulings, pair: Pair) -> bool:
    return pair.b.id in found.touching.of(pair.a.id)
