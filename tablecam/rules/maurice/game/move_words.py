"""A finished move in a player's words: wheels, straight moves, changes of formation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from tablecam.measure.answer import Shape
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.march_change import is_faced_about
from tablecam.rules.maurice.march_wheels import BACKWARD_RULE
from tablecam.rules.maurice.movement import MoveJudgement
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import Point

_NOTHING_BW = 0.05
"""Less than this is a hand's slip, and not worth a word."""

_ABSURD = 2.0
"""Nobody goes so many times his allowance."""


def move_words(field: Field, unit: UnitOnField, there: UnitOnField, found: MoveJudgement) -> str:
    """What a unit did by the cheapest way there: `wheeled left 1.2 BW and moved ahead 2 BW`.

    Without a way, where it lies now as seen from where it stood.
    """
    words: list[str] = []
    if there.formation != unit.formation:
        words.append(f"changed from {unit.formation} to {there.formation}")
    elif found.is_after_about_face or _is_vainly_faced_about(unit, there, found):
        words.append("faced about")
    fronts = [shape for shape in found.path if len(shape.points_mm) == 2]
    if is_absurd(found):
        words += _straight_off(field, unit, there)
    elif there.formation in ("line", "massed") and len(fronts) > 1:
        is_back = found.is_legal.rule == BACKWARD_RULE
        words += _steps(field, fronts, "back" if is_back else "")
    elif found.path:
        words.append(f"went {in_words(found.cost_bw)} BW")
    elif not words:
        words += _straight_off(field, unit, there)
    return listed(words) or "stayed"


def _is_vainly_faced_about(unit: UnitOnField, there: UnitOnField, found: MoveJudgement) -> bool:
    """Whether a unit faces the other way, and no way leads there."""
    is_none = found.is_legal.answer == "no" and unit.unit.arm != "artillery"
    return is_none and is_faced_about(unit, there)


def is_absurd(found: MoveJudgement) -> bool:
    """Whether the cheapest way costs so much that no hand took it."""
    return found.cost_bw > _ABSURD * found.allowance_bw


def in_words(length_bw: float) -> str:
    """A length in base widths, to a tenth, without a nought behind the point.

    >>> in_words(2.04), in_words(1.25)
    ('2', '1.2')
    """
    return f"{length_bw:.1f}".removesuffix(".0")


def listed(words: Iterable[str]) -> str:
    """Words one after the other, the last after an `and`.

    >>> listed(["wheeled left 1 BW", "moved ahead 2 BW"])
    'wheeled left 1 BW and moved ahead 2 BW'
    """
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _steps(field: Field, fronts: Sequence[Shape], back: str) -> Iterator[str]:
    """The wheels and straight moves between fronts, all ahead or all `back`.

    Straight moves in a row are told as one.
    """
    straight_bw = 0.0
    for before, after in pairwise([each.points_mm for each in fronts]):
        arc_bw, length_bw = _step(field, before, after)
        if abs(arc_bw) <= _NOTHING_BW:
            straight_bw += length_bw
            continue
        yield from _straight(straight_bw, back)
        straight_bw = 0.0
        hand = "left" if arc_bw > 0 else "right"
        yield f"wheeled {f'{back}, turning {hand}' if back else hand} {in_words(abs(arc_bw))} BW"
    yield from _straight(straight_bw, back)


def _step(field: Field, before: Sequence[Point], after: Sequence[Point]) -> tuple[float, float]:
    """The arc from one front to the next, to the left, and how far its middle went straight."""
    heading_deg = _heading_deg(before)
    turned_deg = difference_deg(_heading_deg(after), heading_deg)
    x, y = forward(heading_deg)
    (from_x, from_y), (to_x, to_y) = _middle(before), _middle(after)
    ahead_mm = (to_x - from_x) * x + (to_y - from_y) * y
    arc_mm = math.radians(turned_deg) * math.dist(*before)
    return field.in_bw(arc_mm), field.in_bw(abs(ahead_mm))


def _straight(length_bw: float, back: str) -> Iterator[str]:
    if length_bw > _NOTHING_BW:
        yield f"moved {back or 'ahead'} {in_words(length_bw)} BW"


def _straight_off(field: Field, unit: UnitOnField, there: UnitOnField) -> Iterator[str]:
    """How far a unit lies from where it stood, as the crow flies."""
    by_mm = np.subtract(_middle_of(there), _middle_of(unit))
    yield f"lies {in_words(field.in_bw(float(np.hypot(*by_mm))))} BW from where it stood"


def _heading_deg(front: Sequence[Point]) -> float:
    (left_x, left_y), (right_x, right_y) = front
    return math.degrees(math.atan2(right_y - left_y, right_x - left_x)) + 90.0


def _middle(front: Sequence[Point]) -> Point:
    (left_x, left_y), (right_x, right_y) = front
    return (left_x + right_x) / 2, (left_y + right_y) / 2


def _middle_of(unit: UnitOnField) -> Point:
    return _middle([unit.axes.left_mm, unit.axes.right_mm])
