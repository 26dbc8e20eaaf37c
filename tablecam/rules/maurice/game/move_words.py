"""Moves in words: a made move by its path, an offered one by where it would end.

`move_words` needs a judgement; `march_words` does not, as many marches are offered at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from tablecam.geometry.moves.lanes import front_width_mm
from tablecam.geometry.moves.poses import Bases
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.movement.change import is_faced_about, placed
from tablecam.rules.maurice.movement.ways import Way
from tablecam.rules.maurice.movement.wheels import BACKWARD_RULE
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import Point
from tablecam.table.motion import SLIP_MM
from tablecam.wording import joined

_NOTHING_BW, _NOTHING_DEG = 0.05, 3.0
"""Smaller moves and turns are placement error and not mentioned."""
_ABSURD = 2.0
"""Cost in allowances beyond which no player can have meant the path."""


def move_words(field: Field, unit: UnitOnField, there: UnitOnField, judgement: Way) -> str:
    """Describes a unit's cheapest path: `wheeled left 1.2 BW and moved ahead 2 BW`.

    Without a path: where the unit lies now, seen from where it stood.
    """
    words: list[str] = []
    if there.formation != unit.formation:
        words.append(f"changed from {unit.formation} to {there.formation}")
    elif judgement.is_after_about_face or _is_illegally_faced_about(unit, there, judgement):
        words.append("faced about")
    # A front is drawn as a line of two points.
    fronts = [shape for shape in judgement.path if len(shape.points_mm) == 2]
    if is_absurd(judgement):
        words += _straight_off(field, unit, there)
    elif there.formation in ("line", "massed") and len(fronts) > 1:
        is_back = judgement.is_legal.rule == BACKWARD_RULE
        words += _steps(field, fronts, "back" if is_back else "")
    elif judgement.path:
        words.append(f"went {_bw_text(judgement.cost_bw)} BW")
    elif not words:
        words += _straight_off(field, unit, there)
    return joined(words) or "did not move"


def march_words(field: Field, unit: UnitOnField, bases: Bases) -> str:
    """Describes where a unit's bases would lie, seen from where it stands.

    Raises:
        BadInput: The bases do not fit on the table.
    """
    there = placed(field, unit, bases).by_id[unit.id]
    turned_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    if there.formation != unit.formation:
        # A change of formation turns the front by a quarter or not at all.
        facing = {90: ", facing left", -90: ", facing right"}.get(round(turned_deg), "")
        onward = "" if _has_stayed(unit, bases) else _displaced(field, unit, there)
        return ", then ".join(part for part in (f"into {there.formation}{facing}", onward) if part)
    wheel = _wheel(field, unit, there, turned_deg)
    parts = [wheel] if wheel else [_displaced(field, unit, there), _turn(unit, there, turned_deg)]
    return ", ".join(part for part in parts if part) or "stays"


def _has_stayed(unit: UnitOnField, bases: Bases) -> bool:
    """Whether any base keeps its place, as some do in a change of formation."""
    old = [base.place_mm for base in unit.unit.bases]
    return any(math.dist(base.place_mm, place) < SLIP_MM for base in bases for place in old)


def _wheel(field: Field, unit: UnitOnField, there: UnitOnField, turned_deg: float) -> str:
    """Describes a wheel about a front corner (M-6.14), or returns "" if it was none."""
    is_about = is_faced_about(unit, there)
    if unit.unit.arm == "artillery" or is_about or abs(turned_deg) <= _NOTHING_DEG:
        return ""
    # The pivot of a wheel stays: the left corner of a left turn, else the right one.
    before, after = (
        (placed_unit.axes.left_mm, placed_unit.axes.right_mm)[turned_deg < 0]
        for placed_unit in (unit, there)
    )
    if math.dist(before, after) > SLIP_MM:
        return ""
    arc_mm = math.radians(abs(turned_deg)) * front_width_mm(unit.axes)
    return f"wheels {_hand(turned_deg)} {field.in_bw(arc_mm):.1f} BW"


def _displaced(field: Field, unit: UnitOnField, there: UnitOnField) -> str:
    """Describes how far the centre of the bases moves, ahead or back and aside."""
    middle, end = (
        np.mean([base.place_mm for base in placed_unit.unit.bases], axis=0)
        for placed_unit in (unit, there)
    )
    way_bw = (end - middle) / field.bw_mm
    ahead_bw = float(way_bw @ np.array(forward(unit.axes.heading_deg)))
    aside_bw = float(way_bw @ np.array(right(unit.axes.heading_deg)))
    parts = [
        f"{abs(length_bw):.1f} BW {word}"
        for length_bw, word in (
            (ahead_bw, "ahead" if ahead_bw > 0 else "back"),
            (aside_bw, "to the right" if aside_bw > 0 else "to the left"),
        )
        if abs(length_bw) >= _NOTHING_BW
    ]
    return joined(parts)


def _turn(unit: UnitOnField, there: UnitOnField, turned_deg: float) -> str:
    if abs(turned_deg) < _NOTHING_DEG:
        return ""
    if is_faced_about(unit, there):
        return "faced about"
    return f"turned {abs(turned_deg):.0f}° {_hand(turned_deg)}"


def _hand(turned: float) -> str:
    return "left" if turned > 0 else "right"


def _is_illegally_faced_about(unit: UnitOnField, there: UnitOnField, judgement: Way) -> bool:
    """Whether a unit faces the other way although no path leads there."""
    is_none = judgement.is_legal.answer == "no" and unit.unit.arm != "artillery"
    return is_none and is_faced_about(unit, there)


def is_absurd(judgement: Way) -> bool:
    """Whether the cheapest path costs so much that no player can have meant it."""
    return judgement.cost_bw > _ABSURD * judgement.allowance_bw


def _bw_text(length_bw: float) -> str:
    """Formats a length in base widths to a tenth, without a trailing `.0`.

    >>> _bw_text(2.04), _bw_text(1.25)
    ('2', '1.2')
    """
    return f"{length_bw:.1f}".removesuffix(".0")


def _steps(field: Field, fronts: Sequence[Shape], back: str) -> Iterator[str]:
    """Describes the wheels and straight moves between fronts, all ahead or all `back`.

    Consecutive straight moves are joined.
    """
    straight_bw = 0.0
    for before, after in pairwise([front.points_mm for front in fronts]):
        arc_bw, length_bw = _step(field, before, after)
        # A wheel is described by its arc alone.
        if abs(arc_bw) <= _NOTHING_BW:
            straight_bw += length_bw
            continue
        yield from _straight(straight_bw, back)
        straight_bw = 0.0
        hand = _hand(arc_bw)
        yield f"wheeled {f'{back}, turning {hand}' if back else hand} {_bw_text(abs(arc_bw))} BW"
    yield from _straight(straight_bw, back)


def _step(field: Field, before: Sequence[Point], after: Sequence[Point]) -> tuple[float, float]:
    """Returns the left arc from one front to the next and the straight move, in BW."""
    heading_deg = _heading_deg(before)
    turned_deg = difference_deg(_heading_deg(after), heading_deg)
    x, y = forward(heading_deg)
    (from_x, from_y), (to_x, to_y) = _middle(before), _middle(after)
    ahead_mm = (to_x - from_x) * x + (to_y - from_y) * y
    arc_mm = math.radians(turned_deg) * math.dist(*before)
    return field.in_bw(arc_mm), field.in_bw(abs(ahead_mm))


def _straight(length_bw: float, back: str) -> Iterator[str]:
    if length_bw > _NOTHING_BW:
        yield f"moved {back or 'ahead'} {_bw_text(length_bw)} BW"


def _straight_off(field: Field, unit: UnitOnField, there: UnitOnField) -> Iterator[str]:
    """Describes the straight-line distance of a unit from where it stood."""
    by_mm = np.subtract(there.axes.middle_mm, unit.axes.middle_mm)
    yield f"is {_bw_text(field.in_bw(float(np.hypot(*by_mm))))} BW from where it was"


def _heading_deg(front: Sequence[Point]) -> float:
    (left_x, left_y), (right_x, right_y) = front
    return math.degrees(math.atan2(right_y - left_y, right_x - left_x)) + 90.0


def _middle(front: Sequence[Point]) -> Point:
    (left_x, left_y), (right_x, right_y) = front
    return (left_x + right_x) / 2, (left_y + right_y) / 2
