"""Place sections of sheets: nearness, range, contact, flanks (M-1.9 to M-1.13)."""

from __future__ import annotations

from collections.abc import Iterator

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import NEAR_BW
from tablecam.rules.maurice.place.contacts import ACROSS_RULE
from tablecam.rules.maurice.place.flank import flank_facts
from tablecam.rules.maurice.place.near import RULE as NEAR_RULE
from tablecam.rules.maurice.place.pairs import UnitPair
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.interpretations import is_bent_column
from tablecam.rules.maurice.sheets.lines import answer_line, plain_line, question
from tablecam.rules.reports import Finding, Section
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.illustration import ring
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within
from tablecam.wording import joined

_LISTED_BW = 2 * NEAR_BW
"""Enemies farther away (the charge of cavalry) are not listed one by one."""
_EDGE_CONTACT_MM = 0.05
_DECLARED_MM = 3.0
"""Gap to the target of a declared charge that still counts as contact (G-8)."""


def near_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns whether a unit is near the enemy, with the ring of 4 BW."""
    near = rulings.units[unit.id].near
    word = near.answer.answer
    head = {
        "yes": f"{unit.id} is near the enemy",
        "no": f"{unit.id} is not near the enemy",
        "too_close": f"Whether {unit.id} is near the enemy is too close to call",
    }[word]
    because = near.answer.because
    # Without any enemy the answer says all.
    text = because if near.nearest is None else f"{head}: {because}"
    read = "M-1.9" if near.turns_on_impassable else None
    asked = question(f"Is {unit.id} near the enemy?", "near", unit.id)
    line = answer_line(near.answer, asked, text=text, read=read)
    drawn = ring(unit.unit, NEAR_BW, rulings.field.bw_mm)
    return Section("near_enemy", "Near the enemy", (line,), drawn)


def range_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns the distance of two units and, for enemies, whether it is near."""
    length = distance(a.unit, b.unit)
    bw_mm = rulings.field.bw_mm
    sigma_words = f" ± {length.sigma_mm:.1f}" if length.sigma_mm else ""
    apart = (
        f"{a.id} and {b.id} lie {length.in_bw(bw_mm):.2f} BW "
        f"({length.value_mm:.1f}{sigma_words} mm) apart at their nearest points"
    )
    lines = [plain_line(apart, "G-2")]
    if a.side != b.side:
        table = rulings.field.position.table
        answer = within(length, NEAR_BW, table, a=a.id, b=b.id, rule=NEAR_RULE)
        text = f"Are {a.id} and {b.id} within {NEAR_BW:g} BW of each other?"
        lines.append(answer_line(answer, question(text, "range", a.id, b.id)))
    drawn = (length.evidence(f"{length.in_bw(bw_mm):.2f} BW"),)
    return Section("range", "Range", tuple(lines), drawn)


def contacts_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns the units that a unit touches, friends included."""
    others = [b_id if a_id == unit.id else a_id for a_id, b_id in _contacts(rulings, unit.id)]
    lines = tuple(contact_line(rulings, unit.id, other) for other in others)
    no_line = plain_line(f"{unit.id} is not in contact", "M-1.10")
    return Section("contact", "Contact", lines or (no_line,))


def contact_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns whether two units touch."""
    return Section("contact", "Contact", (contact_line(rulings, a.id, b.id),))


def contact_line(rulings: Rulings, a_id: str, b_id: str) -> Finding:
    """Returns whether two units touch, with the interpretation that decides a small gap."""
    answer = rulings.contacts.answer(a_id, b_id)
    # The margin of contact is the touch tolerance minus the gap.
    gap_mm = TOUCH_MM - answer.margin_mm
    units = rulings.field.by_id
    read = None
    if answer.rule == ACROSS_RULE:
        read = "M-8.14"
    elif _EDGE_CONTACT_MM < gap_mm <= TOUCH_MM or answer.answer == "too_close":
        read = "G-6"
    elif TOUCH_MM < gap_mm <= _DECLARED_MM and units[a_id].side != units[b_id].side:
        read = "G-8"
    asked = question(f"Do {a_id} and {b_id} touch?", "contact", a_id, b_id)
    return answer_line(answer, asked, read=read)


def flanks_section(rulings: Rulings, unit: UnitOnField) -> Section:
    """Returns the enemies within 8 BW that flank a unit or are to its flank or front."""
    limit_mm = _LISTED_BW * rulings.field.bw_mm
    close_pairs = [pair for pair in rulings.pairs_of(unit.id) if pair.distance_mm <= limit_mm]
    close_pairs.sort(key=lambda pair: (not _touches(rulings, pair), pair.distance_mm))
    lines = [flank_line(rulings, pair) for pair in close_pairs if _may_matter(rulings, pair)]
    others = [pair.b.id for pair in close_pairs if not _may_matter(rulings, pair)]
    if others:
        to_front = f"{joined(others)} {'are' if len(others) > 1 else 'is'} to its front"
        lines.append(plain_line(f"{to_front}, {NEAR_BW:g} BW or more away", "M-1.12"))
    no_line = plain_line(f"no enemy lies within {_LISTED_BW:g} BW of {unit.id}", "M-1.12")
    return Section("flank", "Flanks", (*lines, *_vulnerable(rulings, unit)) or (no_line,))


def flank_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Returns each of two units as seen by the other."""
    views = (rulings.pair(a.id, b.id), rulings.pair(b.id, a.id))
    lines = tuple(flank_line(rulings, pair) for pair in views if pair is not None)
    friends = plain_line(
        f"{a.id} and {b.id} are on the same side: friends never flank each other", "M-1.13"
    )
    return Section("flank", "Flanks", lines or (friends,))


def flank_line(rulings: Rulings, pair: UnitPair) -> Finding:
    """Returns whether one unit is to another's flank, and flanks it."""
    answer, a, b = pair.to_flank, pair.a, pair.b
    touch = ""
    if pair.is_to_flank:
        touches = _touches(rulings, pair)
        touch = f"; it touches {a.id}, so {a.id} is flanked" if touches else "; they do not touch"
    head = {
        "yes": f"{b.id} is to the flank of {a.id} by {answer.margin_mm:.1f} mm",
        "no": f"{b.id} is to the front of {a.id}, {-answer.margin_mm:.1f} mm short of its flank",
        "too_close": f"Whether {b.id} is to the flank of {a.id} is too close to call",
    }[answer.answer]
    asked = question(f"Is {b.id} to the flank of {a.id}?", "flank", a.id, b.id)
    read = "G-3" if is_bent_column(a) else None
    return answer_line(answer, asked, text=f"{head}: {flank_facts(a, b)}{touch}", read=read)


def _vulnerable(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields a note that a flanked attacker is not vulnerable (M-8.16)."""
    if unit.side == rulings.active and rulings.units[unit.id].flanked_by:
        text = f"{unit.id} attacks, so it is not vulnerable in combat though it is flanked"
        yield plain_line(text, "M-8.16", read="M-8.16")


def _contacts(rulings: Rulings, unit_id: str) -> list[tuple[str, str]]:
    return [ids for ids in rulings.contacts.contacts if unit_id in ids]


def _may_matter(rulings: Rulings, pair: UnitPair) -> bool:
    """Whether an enemy gets a line of its own: it is near, or not clearly to the front."""
    is_near = pair.distance_mm <= NEAR_BW * rulings.field.bw_mm
    return is_near or pair.to_flank.answer != "no"


def _touches(rulings: Rulings, pair: UnitPair) -> bool:
    return pair.b.id in rulings.contacts.of(pair.a.id)
