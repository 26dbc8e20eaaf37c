"""Changes of formation that a unit can make where it stands (M-6.23, M-6.24)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.game.state.poses import Bases, behind, beside, faced
from tablecam.table.formation import front_rank
from tablecam.table.headings import right
from tablecam.table.model import BasePose


def formation_changes(unit: UnitOnField) -> Iterator[tuple[str, Bases]]:
    """Yields the formations that a unit can take, each with its bases' poses, in base order.

    Callers check whether there is room.
    """
    # Every change of formation is defined for four bases only.
    if len(unit.bases) != 4:
        return
    # Only cavalry lies massed (M-1.7).
    is_horse = unit.unit.arm == "cavalry"
    if unit.formation == "line":
        yield from (("column", bases) for bases in _columns(unit))
        yield from (("massed", bases) for bases in _masses_of_line(unit) if is_horse)
    elif unit.formation == "column":
        yield from (("line", bases) for bases in _lines(unit))
        yield from (("massed", bases) for bases in _masses_of_column(unit) if is_horse)
    elif unit.formation == "massed" and is_horse:
        yield from (("line", bases) for bases in _lines_of_massed(unit))
        yield from (("column", bases) for bases in _columns_of_massed(unit))


def _columns(unit: UnitOnField) -> Iterator[Bases]:
    """Yields columns of a line that turns to either side; the base at that end leads."""
    order = front_rank(unit.unit)
    yield _in_turn(faced(unit.unit.bases, 90.0), order, behind)
    yield _in_turn(faced(unit.unit.bases, -90.0), order[::-1], behind)


def _lines(unit: UnitOnField) -> Iterator[Bases]:
    """Yields lines of a column that turns to either side of its leading base."""
    order = _from_the_front(unit)
    yield _in_turn(faced(unit.unit.bases, 90.0), order, partial(beside, to_right=False))
    yield _in_turn(faced(unit.unit.bases, -90.0), order, partial(beside, to_right=True))


def _masses_of_column(unit: UnitOnField) -> Iterator[Bases]:
    """Yields masses in which the two rear bases come up beside the front two."""
    bases = unit.unit.bases
    a, b, c, d = _from_the_front(unit)
    for to_right in (False, True):
        third = beside(bases[a], bases[c], to_right=to_right)
        yield _with(bases, {c: third, d: beside(bases[b], bases[d], to_right=to_right)})


def _masses_of_line(unit: UnitOnField) -> Iterator[Bases]:
    """Yields masses in which the two left, two right or two end bases go to the rear."""
    bases = unit.unit.bases
    a, b, c, d = front_rank(unit.unit)
    # Each pair is (base that stays, base that goes behind it).
    for pairs in (((c, a), (d, b)), ((a, c), (b, d)), ((b, a), (c, d))):
        yield _with(bases, {goes: behind(bases[stays], bases[goes]) for stays, goes in pairs})


def _lines_of_massed(unit: UnitOnField) -> Iterator[Bases]:
    """Yields lines in which the rear rank comes up on both sides or on one."""
    bases = unit.unit.bases
    (left, end), (rear_left, rear_right) = _ranks(unit)
    to_left = beside(bases[left], bases[rear_left], to_right=False)
    to_right = beside(bases[end], bases[rear_right], to_right=True)
    yield _with(bases, {rear_left: to_left, rear_right: to_right})
    far = beside(to_left, bases[rear_right], to_right=False)
    yield _with(bases, {rear_left: to_left, rear_right: far})
    far = beside(to_right, bases[rear_left], to_right=True)
    yield _with(bases, {rear_right: to_right, rear_left: far})


def _columns_of_massed(unit: UnitOnField) -> Iterator[Bases]:
    """Yields columns in which the two bases of one file go behind the others."""
    bases = unit.unit.bases
    (left, end), (rear_left, rear_right) = _ranks(unit)
    for last, first, second in ((rear_right, left, rear_left), (rear_left, end, rear_right)):
        third = behind(bases[last], bases[first])
        yield _with(bases, {first: third, second: behind(third, bases[second])})


def _in_turn(
    bases: Bases, order: Sequence[int], put: Callable[[BasePose, BasePose], BasePose]
) -> Bases:
    """Returns bases each put at the one before it in an order."""
    placed = list(bases)
    for before, place in pairwise(order):
        placed[place] = put(placed[before], placed[place])
    return tuple(placed)


def _ranks(unit: UnitOnField) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns base indices of a massed unit's front and rear rank, from the left."""
    left, end = front_rank(unit.unit)
    x, y = right(unit.axes.heading_deg)
    bases = unit.unit.bases
    rear = set(range(len(bases))) - {left, end}
    from_left = sorted(rear, key=lambda place: x * bases[place].x_mm + y * bases[place].y_mm)
    return (left, end), (from_left[0], from_left[1])


def _from_the_front(unit: UnitOnField) -> list[int]:
    """Returns base indices of a column, from the leading base back."""
    bases = unit.unit.bases
    lead = bases[front_rank(unit.unit)[0]]
    centre = lead.x_mm, lead.y_mm
    return sorted(
        range(len(bases)),
        key=lambda place: math.dist(bases[place].place_mm, centre),
    )


def _with(bases: Bases, moved: Mapping[int, BasePose]) -> Bases:
    return tuple(moved.get(place, base) for place, base in enumerate(bases))
