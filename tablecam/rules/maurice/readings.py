"""The readings that decide: where the book is open, what was decided, said when it matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Final

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.contact import TOUCH_MM
from tablecam.rules.maurice.fire import BaseFire
from tablecam.rules.maurice.ruled import Rulings, UnitRulings
from tablecam.rules.maurice.tables import FORCE_BW
from tablecam.table.headings import difference_deg

READINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "G-3": "a bent column takes front edge, front line and flank lines from its leading base",
        "G-6": "bases touch when at most 1 mm lies between them",
        "M-1.9": "near, where impassable ground lies between, is who can be reached by some "
        "straight line of 4 BW or less that does not pass through it",
        "M-4.12": "the string runs from the edge of the CinC's marker, a disc of 1 BW",
        "M-7.12": "a zone that is turned turns about the middle of the base's front edge, and what "
        "lies behind its front line is cut off",
        "M-7.17": "fire carries 1 BW past obstructing terrain also where that fills the zone",
        "M-8.12": "the two lines are tried for every enemy that is engaged without contact",
        "M-1.15": "a force is a chain, each unit within 2 BW of another of it",
    }
)
"""What was decided, by the rule that it is about."""

_BENT_DEG = 1.0
_FLUSH_MM = 0.05


def readings_of(found: Rulings) -> Mapping[str, str]:
    """The readings that decide something in these rulings."""
    return MappingProxyType({rule: READINGS[rule] for rule in dict.fromkeys(_deciding(found))})


def _deciding(found: Rulings) -> Iterator[str]:
    if any(map(_is_bent_column, found.units.values())):
        yield "G-3"
    if any(_touches_across_a_gap(found, unit_id) for unit_id in found.units):
        yield "G-6"
    if any("impassable" in each.near.answer.because for each in found.units.values()):
        yield "M-1.9"
    if _has_a_chain(found):
        yield "M-1.15"
    if found.strings:
        yield "M-4.12"
    if any(fire.blocked == "obstruction" for fire in _fires(found)):
        yield "M-7.17"
    if any(option.angle != "ahead" for fire in _fires(found) for option in fire.options):
        yield "M-7.12"
    if any(each.how == "near" for each in found.engagements.pairs.values()):
        yield "M-8.12"


def _fires(found: Rulings) -> Iterator[BaseFire]:
    for each in found.units.values():
        yield from each.fire.values()


def _is_bent_column(found: UnitRulings) -> bool:
    first, *others = found.unit.unit.bases
    turned = [abs(difference_deg(base.heading_deg, first.heading_deg)) for base in others]
    return found.unit.formation == "column" and max(turned, default=0.0) > _BENT_DEG


def _touches_across_a_gap(found: Rulings, unit_id: str) -> bool:
    answers = (found.touching.answer(unit_id, other) for other in found.units[unit_id].in_contact)
    return any(answer.margin_mm < TOUCH_MM - _FLUSH_MM for answer in answers)


def _has_a_chain(found: Rulings) -> bool:
    """Whether units of one force are linked only through others of it."""
    limit_mm = FORCE_BW * found.field.bw_mm + EXACT_MM
    return any(
        found.apart.mm(a, b) > limit_mm
        for of_side in found.forces.values()
        for force in of_side
        for a, b in combinations(force, 2)
    )
