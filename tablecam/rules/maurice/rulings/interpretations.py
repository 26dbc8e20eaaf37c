"""Interpretations of open points in the rulebook, and those that decide in given rulings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Final

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import FORCE_BW
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.table.headings import difference_deg
from tablecam.uncertainty.contact import TOUCH_MM

INTERPRETATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "G-3": "a bent column takes front edge, front line and flank lines from its leading base",
        "G-6": "bases touch when at most 1 mm lies between them",
        "G-8": "once a charge has been declared, a gap of up to 3 mm to its target is contact; a "
        "position alone knows of no charge and goes by 1 mm",
        "M-1.9": "near, where impassable ground lies between, is who can be reached by some "
        "straight line of 4 BW or less that does not pass through it",
        "M-1.15": "a force is a chain, each unit within 2 BW of another of it",
        "M-4.12": "the string runs from the edge of the CinC's marker, a disc of 1 BW",
        "M-4.23": "a march that takes smoke off moves none of the force's units; guns without "
        "smoke may be activated apart",
        "M-5.1": "what each kind of ground does is agreed before play; these are the defaults",
        "M-5.2": "a unit that starts in difficult ground and leaves it has moved through it",
        "M-5.9": "a hill lifts a unit of which it holds more than half and hides nobody; a crest "
        "hides whoever can only be seen across it",
        "M-6.2": "the formation at the start of the round fixes the allowance: a column that "
        "deploys keeps a column's, its 4 BW near the enemy included",
        "M-6.4": "artillery takes no disruption from difficult ground, so none keeps it out",
        "M-6.10": "a column's bases follow in the track of the leading one, half their width "
        "beside it at most",
        "M-6.11": "a column is near if it is so at any moment of its move, also as it leaves",
        "M-6.14": "in a wheel of a line its rear corner may swing into a friend that stood flush "
        "beside it: lines of battle stand so, and neither is disrupted",
        "M-6.17": "only where a move began and ended is known: it is legal if some mix of wheels "
        "and straight moves joins the two, and the cheapest is taken",
        "M-6.18": "artillery's move is measured along the way of its base's centre",
        "M-6.32": "no base may leave the table",
        "M-7.12": "a zone that is turned turns about the middle of the base's front edge, and what "
        "lies behind its front line is cut off",
        "M-7.17": "fire carries 1 BW past obstructing terrain also where that fills the zone",
        "M-7.27": "over a wall that is not flush with the shooter fire carries 1 BW past it, as "
        "past any other",
        "M-8.4": "in view is what some straight line from the front edge reaches that crosses no "
        "crest and less than 1 BW of woods; units hide nobody, and foot may not make a charge that "
        "meets horse at the same instant",
        "M-8.12": "the two lines are tried for every enemy that is engaged without contact",
        "M-8.14": "units flush with both sides of an obstacle at most a quarter BW thick touch "
        "across it",
        "M-8.16": "only the passive side is attacked: a flank touched by the enemy makes no "
        "active unit vulnerable",
        "M-8.17": "an enemy that is also engaged with a gun of this side is not engaged with this "
        "unit alone, so it does not outnumber it",
    }
)
"""Each interpretation, by the rule that it concerns."""

_BENT_DEG = 1.0
_EDGE_CONTACT_MM = 0.05


def readings_of(rulings: Rulings) -> Mapping[str, str]:
    """Returns the interpretations that decide something in these rulings."""
    return MappingProxyType(
        {rule: INTERPRETATIONS[rule] for rule in dict.fromkeys(_deciding(rulings))}
    )


def _deciding(rulings: Rulings) -> Iterator[str]:
    """Yields the rules whose interpretations decide something."""
    if any(is_bent_column(of_unit.unit) for of_unit in rulings.units.values()):
        yield "G-3"
    if any(_touches_across_a_gap(rulings, unit_id) for unit_id in rulings.units):
        yield "G-6"
    if any("impassable" in of_unit.near.answer.because for of_unit in rulings.units.values()):
        yield "M-1.9"
    if _has_a_chain(rulings):
        yield "M-1.15"
    if rulings.paths:
        yield "M-4.12"
    if any(fire.blocked == "obstruction" for fire in _fires(rulings)):
        yield "M-7.17"
    if any(option.angle != "ahead" for fire in _fires(rulings) for option in fire.options):
        yield "M-7.12"
    if any(engagement.how == "near" for engagement in rulings.engagements.pairs.values()):
        yield "M-8.12"


def _fires(rulings: Rulings) -> Iterator[BaseFire]:
    for of_unit in rulings.units.values():
        yield from of_unit.fire.values()


def is_bent_column(unit: UnitOnField) -> bool:
    """Whether a column is bent, so that its leading base alone defines its front (G-3)."""
    first, *others = unit.unit.bases
    turned = [abs(difference_deg(base.heading_deg, first.heading_deg)) for base in others]
    return unit.formation == "column" and max(turned, default=0.0) > _BENT_DEG


def _touches_across_a_gap(rulings: Rulings, unit_id: str) -> bool:
    """Whether a unit in contact lies measurably apart from an enemy (G-6)."""
    answers = (
        rulings.contacts.answer(unit_id, other) for other in rulings.units[unit_id].in_contact
    )
    # A margin of the full tolerance means a gap of 0.
    return any(answer.margin_mm < TOUCH_MM - _EDGE_CONTACT_MM for answer in answers)


def _has_a_chain(rulings: Rulings) -> bool:
    """Whether units of one force are linked only through others of it."""
    limit_mm = FORCE_BW * rulings.field.bw_mm + EXACT_MM
    return any(
        rulings.distances.mm(a, b) > limit_mm
        for of_side in rulings.forces.values()
        for force in of_side
        for a, b in combinations(force, 2)
    )
