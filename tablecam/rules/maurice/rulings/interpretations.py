"""Interpretations of open points in the rulebook, and the lines of sheets that name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from tablecam.rules.maurice.combat.engagement import NEAR_RULE
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.fire.fire import OBSTRUCTION_RULE, fire_reading
from tablecam.rules.maurice.place.contacts import ACROSS_RULE
from tablecam.rules.maurice.place.ranges import are_linked
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.reports import Finding, Interpretation, Question
from tablecam.table.headings import difference_deg
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.contact import TOUCH_MM

INTERPRETATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "G-3": "a bent column takes its front edge, front line and flank lines from its leading "
        "base",
        "G-6": "bases touch when at most 1 mm lies between them",
        "G-8": "once a charge has been declared, a gap of up to 3 mm to its target is contact; "
        "without a declared charge the limit is 1 mm",
        "M-1.9": "with impassable ground between, a unit is near if a straight line of at most 4 "
        "BW reaches it without crossing that ground",
        "M-1.15": "a force is a chain: each unit is within 2 BW of another unit of the force",
        "M-4.12": "the distance is from the edge of the commander's marker, a disc of 1 BW",
        "M-4.23": "a force that clears smoke does not move; guns without smoke may be activated "
        "separately",
        "M-5.1": "players agree before play what each kind of ground does; these are the defaults",
        "M-5.2": "a unit that starts in difficult ground and leaves it has moved through it",
        "M-5.9": "a unit with more than half of it on a hill stands higher; hills block no view, "
        "crests do",
        "M-6.2": "the formation at the start of the round fixes the allowance: a column that "
        "deploys keeps a column's allowance, including the 4 BW limit near the enemy",
        "M-6.4": "artillery takes no disruption from difficult ground, so none keeps it out",
        "M-6.10": "a column's bases follow the track of the leading base, at most half a base "
        "width aside",
        "M-6.11": "a column counts as near if it is near at any moment of its move, including the "
        "start",
        "M-6.14": "a wheeling line's rear corner may swing into a friend in edge contact beside "
        "it; neither is disrupted",
        "M-6.17": "only the start and end of a move are known: it is legal if wheels and straight "
        "moves connect them, and the cheapest such path counts",
        "M-6.18": "artillery's move is measured along the path of its base's centre",
        "M-6.32": "no base may leave the table",
        "M-7.12": "a turned zone pivots on the middle of the base's front edge and is cut off at "
        "its front line",
        "M-7.17": "fire carries 1 BW past obstructing terrain even if that fills the zone",
        "M-7.27": "over a wall that the shooter does not touch, fire carries 1 BW past it, as "
        "past any other",
        "M-8.4": "a target is in view if a straight line from the front edge reaches it without "
        "crossing a crest or 1 BW of woods; units block no view; infantry may not make a charge "
        "that also meets cavalry",
        "M-8.12": "the two lines are tried for every enemy that is engaged without contact",
        "M-8.14": "units on both sides of an obstacle at most a quarter BW thick are in contact "
        "across it if both are in edge contact with it",
        "M-8.16": "modifiers are summed before a value below 0 becomes 0; only the passive "
        "side is attacked, so active units are never vulnerable by their flank",
        "M-8.17": "an enemy that is also engaged with a gun of this side is not engaged with this "
        "unit alone, so it does not outnumber it",
        "M-8.25": "a unit that would end on a friend stops at the first open ground beyond, not "
        "after whole BW",
        "M-8.27": "the table's edge counts as impassable, and leaving difficult ground as moving "
        "through it",
    }
)
"""Each interpretation, by the rule that it concerns."""

EDGE_CONTACT_MM: Final = 0.05
"""A wider gap is visible, so a reader may ask why it counts as contact."""
_BENT_DEG = 1.0


def readings_of(rulings: Rulings) -> Mapping[str, str]:
    """Returns the interpretations that matter in these rulings."""
    return interpretations(_deciding(rulings))


def interpretations(rules: Iterable[str | None]) -> Mapping[str, str]:
    """Returns the interpretations of these rules, each once."""
    deciding = {*rules}
    return MappingProxyType(
        {rule: text for rule, text in INTERPRETATIONS.items() if rule in deciding}
    )


def _deciding(rulings: Rulings) -> Iterator[str | None]:
    """Yields the rules whose interpretations matter, or None."""
    for unit_id, of_unit in rulings.units.items():
        unit, fires = of_unit.unit, of_unit.fire.values()
        yield "G-3" if is_bent_column(unit) else None
        yield "M-1.9" if of_unit.near.turns_on_impassable else None
        for other in of_unit.in_contact:
            yield contact_reading(rulings.contacts.answer(unit_id, other))
        for fire in fires:
            yield OBSTRUCTION_RULE if fire.blocked == "obstruction" else None
            yield from (fire_reading(rulings.field, unit, option) for option in fire.options)
    yield "M-1.15" if any(is_chained(rulings, a, b) for a, b in rulings.pairs_in_force) else None
    yield "M-4.12" if rulings.paths else None
    for engagement in rulings.engagements.pairs.values():
        yield NEAR_RULE if engagement.rule == NEAR_RULE else None


def is_bent_column(unit: UnitOnField) -> bool:
    """Whether a column is bent, so that its leading base alone defines its front (G-3)."""
    first, *others = unit.unit.bases
    turned = [abs(difference_deg(base.heading_deg, first.heading_deg)) for base in others]
    return unit.formation == "column" and max(turned, default=0.0) > _BENT_DEG


def contact_reading(answer: Answer) -> str | None:
    """Returns the interpretation of a contact: across a wall or a visible gap (G-6)."""
    if answer.rule == ACROSS_RULE:
        return ACROSS_RULE
    # A margin of the full tolerance means a gap of 0.
    is_seen = 0.0 <= answer.margin_mm < TOUCH_MM - EDGE_CONTACT_MM
    return "G-6" if is_seen or answer.answer == "too_close" else None


def is_chained(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> bool:
    """Whether two units are in one force, linked only through others in it (M-1.15)."""
    is_force = any({a.id, b.id} <= {*force} for force in rulings.forces[a.side])
    return is_force and not are_linked(rulings.field, a, b)


def headed(answer: Answer, yes: str, no: str) -> str:
    """Returns the clause for an answer: `yes`, `no`, or that `yes` is too close to call."""
    too_close = f"whether {yes} is too close to call"
    return {"yes": yes, "no": no, "too_close": too_close}[answer.answer]


def sentence(said: str) -> str:
    """Returns a clause as a sentence.

    >>> sentence("the two touch")
    'The two touch.'
    """
    return said[:1].upper() + said[1:].rstrip(".") + "."


def reading(rule: str) -> Interpretation:
    """Returns the interpretation of a rule."""
    return Interpretation(rule, INTERPRETATIONS[rule])


def question(text: str, kind: str, *of: str) -> Question:
    """Returns a question with a stable id, built from its kind and subjects.

    >>> question("Is B1 to the flank of F1?", "flank", "F1", "B1").id
    'flank/F1/B1'
    """
    return Question("/".join((kind, *of)), text)


def answer_line(
    answer: Answer, asked: Question | None = None, *, text: str = "", read: str | None = None
) -> Finding:
    """Returns the line of an answer, with its own sentence unless `text` is given."""
    interpretation = None if read is None else reading(read)
    return Finding(sentence(text or answer.because), answer, answer.rule, interpretation, asked)


def plain_line(text: str, rule: str | None = None, *, read: str | None = None) -> Finding:
    """Returns a line that does not depend on a length."""
    return Finding(sentence(text), None, rule, None if read is None else reading(read))


def span_of(values: Iterable[float], *, places: int = 0, unit: str = "") -> str:
    """Formats the range of some numbers, or one number if both ends look alike.

    >>> span_of([2.501, 2.499], places=2), span_of([28.2, 36.4], unit="°")
    ('2.50', '28° to 36°')
    """
    ordered = sorted(values)
    ends = dict.fromkeys(f"{value:.{places}f}{unit}" for value in (ordered[0], ordered[-1]))
    return " to ".join(ends)
