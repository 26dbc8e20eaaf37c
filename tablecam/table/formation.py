"""Reads a unit's formation from the arrangement of its bases.

The geometry is that of the rule sheet's M-1.7 and G-3: in the unit's own axes, within a tolerance,
with the headings nearly equal; a column may bend. With square bases only the heading distinguishes
a line from a column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tablecam.table.headings import difference_deg, forward, mean_deg, right
from tablecam.table.model import Arm, BasePose, FormationName, Unit
from tablecam.wording import joined

Array = NDArray[np.float64]
_BLOCK = 4
"""The number of bases in a block of two ranks and two files."""


@dataclass(frozen=True, slots=True)
class Formation:
    """The formation of a unit's bases, and one sentence that says why.

    `front_rank` are the places in `unit.bases` of the bases in the front rank, left to right.
    """

    name: FormationName
    because: str
    front_rank: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The tolerances within which bases are in formation (M-1.7).

    A base may be out by `out_mm` or `out_share` of its width, whichever is larger, and turned by
    `heading_deg` from the unit's heading. A column may bend by up to `bend_deg`.
    """

    out_mm: float = 6.0
    out_share: float = 1 / 6
    heading_deg: float = 10.0
    bend_deg: float = 60.0

    def out(self, bases: Sequence[BasePose]) -> float:
        """Returns the tolerance for a place, in millimetres."""
        return max(self.out_mm, self.out_share * max(base.width_mm for base in bases))


@dataclass(frozen=True, slots=True)
class _Fault:
    """A deviation from a formation, in multiples of the tolerance, and a sentence."""

    times: float
    because: str


def read_formation(
    unit: Unit, *, roster_bases: int | None = None, tolerances: Tolerances | None = None
) -> Formation:
    """Reads the formation of a unit's bases, whatever its `formation` says.

    `roster_bases` is how many bases the unit has; with fewer on the table it is broken up, because
    nobody knows where the others are. Artillery is always in artillery formation.

    Raises:
        ValueError: The unit has no base on the table.
    """
    if not unit.bases:
        raise ValueError(f"expected a unit with bases on the table, got {unit.id} with none")
    everything = tuple(range(len(unit.bases)))
    missing = 0 if roster_bases is None else roster_bases - len(unit.bases)
    if missing > 0:
        verb = "is" if missing == 1 else "are"
        because = f"{missing} of {roster_bases} bases {verb} not on the table"
        return Formation("broken-up", because, _foremost(unit))
    # A gun has no other formation (M-1.7).
    if unit.arm == "artillery":
        return Formation("artillery", "guns are always in artillery formation", _foremost(unit))
    if len(unit.bases) == 1:
        return Formation("line", "it has a single base", everything)
    return _of_many(unit, tolerances or Tolerances())


# Cached, because most units have not moved since the previous frame.
@lru_cache(maxsize=512)
def formation_name(arm: Arm, bases: tuple[BasePose, ...], roster_bases: int) -> FormationName:
    """Returns the name of the formation of bases; the roster lists `roster_bases` of them."""
    return read_formation(Unit("", "", arm, bases), roster_bases=roster_bases).name


def front_rank(unit: Unit) -> tuple[int, ...]:
    """Returns the indices in `unit.bases` of its front rank, left to right (G-3).

    Uses the formation stated for the unit, or else how its bases lie.
    """
    if unit.formation == "line":
        return _left_to_right(unit, range(len(unit.bases)))
    if unit.formation == "column":
        return (column_order(unit.bases)[0],)
    if unit.formation == "massed":
        return _ranks(unit)[0]
    return read_formation(unit).front_rank


def _of_many(unit: Unit, tolerances: Tolerances) -> Formation:
    tried: list[list[_Fault]] = []
    for formation, faults in _candidates(unit, tolerances):
        if not faults:
            return formation
        tried.append(faults)
    # The formation with the fewest faults is most likely the one that was meant.
    fewest = min(tried, key=len)
    worst = max(fewest, key=lambda fault: fault.times)
    return Formation("broken-up", worst.because, _foremost(unit))


def _candidates(unit: Unit, tolerances: Tolerances) -> Iterator[tuple[Formation, list[_Fault]]]:
    """Yields the formations of two bases or more, each with the faults of the bases in it."""
    count = len(unit.bases)
    because, rank = f"its {count} bases are side by side", _left_to_right(unit, range(count))
    yield Formation("line", because, rank), _faults_of_line(unit, tolerances)
    because, first = f"its {count} bases are one behind the other", column_order(unit.bases)[:1]
    yield Formation("column", because, first), _faults_of_column(unit, tolerances)
    # Massed means two ranks of at least two bases.
    if count >= 4 and count % 2 == 0:
        because = f"{count // 2} of its bases are behind {count // 2} others"
        yield Formation("massed", because, _ranks(unit)[0]), _faults_of_massed(unit, tolerances)


def _faults_of_line(unit: Unit, tolerances: Tolerances) -> list[_Fault]:
    # Places in a rank mean nothing while the headings disagree.
    faults = _faults_of_headings(unit, tolerances)
    return faults or _faults_of_rank(unit, range(len(unit.bases)), tolerances)


def _faults_of_massed(unit: Unit, tolerances: Tolerances) -> list[_Fault]:
    """Deviations from two ranks, each a line, the second directly behind the first."""
    faults = _faults_of_headings(unit, tolerances)
    if faults:
        return faults
    limit_mm = tolerances.out(unit.bases)
    front, rear = _ranks(unit)
    faults = _faults_of_rank(unit, front, tolerances) + _faults_of_rank(unit, rear, tolerances)
    places = _in_unit_axes(unit.bases)
    for ahead, behind in zip(front, rear, strict=True):
        depth_mm = (unit.bases[ahead].depth_mm + unit.bases[behind].depth_mm) / 2
        beside_mm, back_mm = places[ahead] - places[behind]
        out_mm = max(abs(beside_mm), abs(back_mm - depth_mm))
        how = f"is {out_mm:.0f} mm off its place behind the front rank"
        faults += _if_over(out_mm, limit_mm, unit, (behind,), how)
    return faults


def _faults_of_rank(unit: Unit, rank: Iterable[int], tolerances: Tolerances) -> list[_Fault]:
    """Deviations from standing flush side by side, fronts on one line."""
    limit_mm = tolerances.out(unit.bases)
    order = _left_to_right(unit, rank)
    places = _in_unit_axes(unit.bases)
    ahead_mm = {index: places[index, 1] for index in order}
    faults = _faults_of_alignment(unit, ahead_mm, limit_mm, "line")
    gaps_mm: list[float] = []
    for index, following in pairwise(order):
        width_mm = (unit.bases[index].width_mm + unit.bases[following].width_mm) / 2
        gap_mm = places[following, 0] - places[index, 0] - width_mm
        gaps_mm.append(gap_mm)
        how = f"are {gap_mm:.0f} mm apart" if gap_mm > 0 else f"overlap by {-gap_mm:.0f} mm"
        faults += _if_over(abs(gap_mm), limit_mm, unit, (index, following), how)
    # Small gaps may add up to a large one.
    over_mm = abs(sum(gaps_mm))
    return faults + _if_over(over_mm, limit_mm, unit, (), f"are {over_mm:.0f} mm apart in all")


def _faults_of_column(unit: Unit, tolerances: Tolerances) -> list[_Fault]:
    """Deviations from standing one behind the other; joints may bend.

    At a joint the front edge of the base behind meets the rear edge of the one ahead.
    """
    limit_mm = tolerances.out(unit.bases)
    faults: list[_Fault] = []
    order = column_order(unit.bases)
    for index, following in pairwise(order):
        ahead, behind = unit.bases[index], unit.bases[following]
        bend_deg = abs(difference_deg(ahead.heading_deg, behind.heading_deg))
        both, how = (index, following), f"bend by {bend_deg:.0f}°"
        faults += _if_over(bend_deg, tolerances.bend_deg, unit, both, how)
        # Turned by t about a shared corner, the middles of two edges of width w lie w sin(t/2)
        # apart.
        hinge_mm = min(ahead.width_mm, behind.width_mm) * abs(forward(bend_deg / 2)[1])
        out_mm = float(np.hypot(*(_rear_middle(ahead) - _front_middle(behind)))) - hinge_mm
        how = f"are {out_mm:.0f} mm off in the column"
        faults += _if_over(out_mm, limit_mm, unit, both, how)
    return faults


def _faults_of_headings(unit: Unit, tolerances: Tolerances) -> list[_Fault]:
    faults: list[_Fault] = []
    headings_deg = [base.heading_deg for base in unit.bases]
    mean = mean_deg(headings_deg)
    for index, heading_deg in enumerate(headings_deg):
        if abs(difference_deg(heading_deg, mean)) > tolerances.heading_deg:
            # Compared with the others alone: the turned base drags the mean along.
            others = mean_deg(headings_deg[:index] + headings_deg[index + 1 :])
            turned_deg = abs(difference_deg(heading_deg, others))
            because = f"{base_words(unit, index)} is turned {turned_deg:.0f}° from the others"
            faults.append(_Fault(turned_deg / tolerances.heading_deg, because))
    return faults


def _faults_of_alignment(
    unit: Unit, offsets_mm: dict[int, float], limit_mm: float, what: str
) -> list[_Fault]:
    """Deviations of one base from the middle of all, or of two to opposite sides."""
    # A median, which one stray base does not move.
    middle = float(np.median(list(offsets_mm.values())))
    stray = max(offsets_mm, key=lambda index: abs(offsets_mm[index] - middle))
    out_mm = abs(offsets_mm[stray] - middle)
    if out_mm > limit_mm:
        because = f"{base_words(unit, stray)} is {out_mm:.0f} mm out of {what}"
        return [_Fault(out_mm / limit_mm, because)]
    # Two bases off to opposite sides may each be within the limit.
    low, *_, high = sorted(offsets_mm, key=offsets_mm.__getitem__)
    spread_mm = offsets_mm[high] - offsets_mm[low]
    how = f"are {spread_mm:.0f} mm out of {what}"
    return _if_over(spread_mm, limit_mm, unit, (low, high), how)


def _if_over(
    value: float, limit: float, unit: Unit, bases: Sequence[int], how: str
) -> list[_Fault]:
    """Returns the fault of some bases, or of all together, if a value is over its limit."""
    if value <= limit:
        return []
    names = base_words(unit, *bases) if bases else "its bases"
    return [_Fault(value / limit, f"{names} {how}")]


@lru_cache(maxsize=64)
def _in_unit_axes(bases: tuple[BasePose, ...]) -> Array:
    """Returns the centres (n, 2) in the unit's axes: mm to the right and ahead of its middle."""
    heading_deg = mean_deg(base.heading_deg for base in bases)
    axes = np.array([right(heading_deg), forward(heading_deg)])
    centres = np.array([base.place_mm for base in bases])
    return np.asarray((centres - centres.mean(axis=0)) @ axes.T)


def _left_to_right(unit: Unit, bases: Iterable[int]) -> tuple[int, ...]:
    places = _in_unit_axes(unit.bases)
    return tuple(sorted(bases, key=lambda index: float(places[index, 0])))


def _ranks(unit: Unit) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the foremost half of the bases and the other half, each left to right."""
    places = _in_unit_axes(unit.bases)
    order = sorted(range(len(unit.bases)), key=lambda index: -float(places[index, 1]))
    # With an odd number the front rank has one more.
    half = (len(order) + 1) // 2
    return _left_to_right(unit, order[:half]), _left_to_right(unit, order[half:])


def _foremost(unit: Unit) -> tuple[int, ...]:
    """Bases with no other base of the unit ahead of them, left to right."""
    places = _in_unit_axes(unit.bases)

    def is_behind(index: int, other: int) -> bool:
        beside_mm, ahead_mm = places[other] - places[index]
        base = unit.bases[index]
        return bool(abs(beside_mm) < base.width_mm / 2 and ahead_mm > base.depth_mm / 2)

    return _left_to_right(
        unit,
        (
            index
            for index in range(len(unit.bases))
            if not any(is_behind(index, other) for other in range(len(unit.bases)))
        ),
    )


def base_words(unit: Unit, *indices: int) -> str:
    """Names bases of a unit by their places in it, as players count them.

    In one rank they count from the left, in one file from the front; four in a block have corners.
    """
    if len(unit.bases) == 1:
        return unit.id
    places, size = _in_unit_axes(unit.bases), unit.bases[0]
    across_mm, along_mm = np.ptp(places, axis=0)
    order, ends = _left_to_right(unit, range(len(places))), ("left", "right")
    if across_mm < size.width_mm / 2:
        order, ends = tuple(np.argsort(-places[:, 1]).tolist()), ("front", "rear")
    elif along_mm > size.depth_mm / 2 and len(places) == _BLOCK:
        return f"{unit.id}'s {joined(_corner(*places[index]) for index in indices)} base" + (
            "s" * (len(indices) > 1)
        )
    numbers = sorted(order.index(index) for index in indices)
    if numbers in ([0], [len(order) - 1]):
        return f"{unit.id}'s {ends[numbers[0] > 0]} base"
    counted_off = joined(str(number + 1) for number in numbers)
    return f"{unit.id}'s base{'s' * (len(numbers) > 1)} {counted_off} from the {ends[0]}"


def _corner(right_mm: float, ahead_mm: float) -> str:
    return f"{'front' if ahead_mm > 0 else 'rear'} {'right' if right_mm > 0 else 'left'}"


def column_order(bases: Sequence[BasePose]) -> tuple[int, ...]:
    """Orders bases as a column, head first: each behind the rear of the one before.

    Its head is the base whose front edge is farthest from any other base's rear edge.
    """
    if len(bases) == 1:
        return (0,)
    rears = np.array([_rear_middle(base) for base in bases])
    fronts = np.array([_front_middle(base) for base in bases])
    apart = np.linalg.norm(rears[:, None] - fronts[None, :], axis=-1)
    # No base follows itself.
    np.fill_diagonal(apart, np.inf)
    chain = [int(np.argmax(apart.min(axis=0)))]
    while len(chain) < len(bases):
        left = [index for index in range(len(bases)) if index not in chain]
        nearest: Callable[[int], float] = apart[chain[-1]].__getitem__
        chain.append(min(left, key=nearest))
    return tuple(chain)


def _front_middle(base: BasePose) -> Array:
    ahead = np.array(forward(base.heading_deg)) * base.depth_mm / 2
    return np.array(base.place_mm) + ahead


def _rear_middle(base: BasePose) -> Array:
    ahead = np.array(forward(base.heading_deg)) * base.depth_mm / 2
    return np.array(base.place_mm) - ahead
