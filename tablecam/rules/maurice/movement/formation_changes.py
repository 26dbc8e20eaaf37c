"""Changes of formation on the spot (M-6.23, M-6.24)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from tablecam.geometry.moves.poses import Bases, behind, beside, faced
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.table.formation import column_order, front_rank
from tablecam.table.headings import right
from tablecam.table.model import BasePose


def formation_changes(unit: UnitOnField) -> Iterator[tuple[str, Bases]]:
    """Yields the usual changes of formation, each with its bases' poses, in base order.

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
        yield from (("line", bases) for bases in _lines_on(unit, 0))
        yield from (("massed", bases) for bases in _masses_of_column(unit) if is_horse)
    elif unit.formation == "massed" and is_horse:
        yield from (("line", bases) for bases in _lines_of_massed(unit))
        yield from (("column", bases) for bases in _columns_of_massed(unit))


def _columns(unit: UnitOnField) -> Iterator[Bases]:
    """Yields the columns that a line forms to either flank; the base at that end leads."""
    order = front_rank(unit.unit)
    yield _in_turn(faced(unit.unit.bases, 90.0), order, behind)
    yield _in_turn(faced(unit.unit.bases, -90.0), order[::-1], behind)


def deployments(unit: UnitOnField) -> Iterator[Bases]:
    """Yields all deployments of a column on the spot (M-6.22).

    Into line, all bases turn to the same side, singly or lined up on any one of them (M-6.23).
    Cavalry forms massed on its front two bases or its rear two (M-6.24).
    """
    for turn_deg in (90.0, -90.0):
        yield faced(unit.unit.bases, turn_deg)
    for pivot in range(len(unit.bases)):
        yield from _lines_on(unit, pivot)
    if unit.unit.arm == "cavalry" and len(unit.bases) == 4:
        yield from _masses_of_column(unit)
        yield from _masses_of_column(unit, is_on_rear=True)


def _lines_on(unit: UnitOnField, pivot: int) -> Iterator[Bases]:
    """Yields the lines that a column forms to either side on a base counted from its head."""
    order = column_order(unit.unit.bases)
    for turn_deg, is_right in ((90.0, False), (-90.0, True)):
        bases = faced(unit.unit.bases, turn_deg)
        # The bases behind the pivot come up on the side it turned to, those ahead on the other.
        bases = _in_turn(bases, order[pivot:], partial(beside, to_right=is_right))
        yield _in_turn(bases, order[pivot::-1], partial(beside, to_right=not is_right))


def _masses_of_column(unit: UnitOnField, *, is_on_rear: bool = False) -> Iterator[Bases]:
    """Yields masses formed on the front two bases of a column, or on its rear two."""
    bases = unit.unit.bases
    a, b, c, d = column_order(bases)
    pairs = ((c, a), (d, b)) if is_on_rear else ((a, c), (b, d))
    for to_right in (False, True):
        yield _with(
            bases,
            {goes: beside(bases[stays], bases[goes], to_right=to_right) for stays, goes in pairs},
        )


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
    """Puts each base in an order next to the one before it."""
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


def _with(bases: Bases, moved: Mapping[int, BasePose]) -> Bases:
    return tuple(moved.get(place, base) for place, base in enumerate(bases))
