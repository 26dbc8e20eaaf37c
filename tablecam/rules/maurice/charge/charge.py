"""Charges: which enemies each unit can charge, by which moves, and how surely (M-8.2 to M-8.8).

To see whether pose errors leave it in doubt, the same rule is applied in other worlds: first in one
tilted for or against the charge by more than any error, and only if that changes the answer in
worlds drawn from the errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import chain

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import CORNERS, Corner
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.charge.limits import (
    LIMITS,
    LegalMoves,
    attempts_of,
    reached,
    with_wheel,
)
from tablecam.rules.maurice.charge.moves import Move, allowance_mm, far_mm, swing_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ALLOWANCES_BW, CHARGE_DISRUPTIONS, CHARGE_WHEEL_BW
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.field.worlds import drawn_fields, tilted
from tablecam.rules.memo import Memo
from tablecam.uncertainty.answer import Answer, verdict
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import bounded_margin_mm
from tablecam.uncertainty.samples import DRAWS, probability_of_draws

LazyAnswers = Callable[[], Mapping[str, Answer]]
"""Returns whether a unit can charge each enemy that errors make uncertain.

Draws cost a hundred times as much as the charges themselves, and most answers are never read."""


@dataclass(frozen=True)
class ChargeLane:
    """A charge move that reaches a target: a wheel or none, then straight ahead.

    The wheel is the middle one of all those to that side that reach the target, as it tolerates the
    largest placement error. `also_meets` are enemies met at the same instant. `crosses_difficult`
    costs a disruption on the way (M-8.6).
    """

    target: str
    move: Move
    also_meets: tuple[str, ...]
    crosses_difficult: bool
    unit: UnitOnField = field(compare=False, repr=False)

    @cached_property
    def evidence(self) -> tuple[Shape, ...]:
        """The area of the wheel, the lane ahead, and the front when it meets the enemy."""
        move, unit = self.move, self.unit
        return (
            *(shapes_of(move.wheel_area(unit), "wheel", "wheel") if move.pivot else ()),
            *shapes_of(move.lane_area(unit), "lane", f"charges {self.target}"),
            *shapes_of(move.front_at_end(unit).edge, "front-edge"),
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """Whether a unit can charge, its targets and its lanes; `why_not` if it cannot.

    Each target has the lane straight ahead or, if that does not reach it, one after a wheel to each
    side.
    """

    is_eligible: bool
    why_not: Reason | None
    targets: tuple[str, ...]
    lanes: tuple[ChargeLane, ...]
    lazy_answers: LazyAnswers | None = field(default=None, compare=False, repr=False)

    @property
    def answers(self) -> Mapping[str, Answer]:
        """For each enemy that errors make uncertain, by its id, whether it can be charged."""
        return self.lazy_answers() if self.lazy_answers else {}

    @property
    def close_calls(self) -> tuple[Answer, ...]:
        """The answers that are too close to call."""
        return tuple(answer for answer in self.answers.values() if answer.answer == "too_close")

    def chance(self, target: str) -> float:
        """Returns the probability that the unit can charge one of its targets."""
        return self.answers[target].probability if target in self.answers else 1.0


_REMEMBERED: Memo[Charge] = Memo()


def charges(field: Field, only: Collection[str] | None = None) -> dict[str, Charge]:
    """Returns the charges of all units, or of the `only` ids: targets and lanes.

    Whether the enemy was in view when the round began (M-8.4) is judged from the present positions.
    The charges of units around which nothing has changed are cached.
    """
    units = [unit for unit in field.units if only is None or unit.id in only]
    reaches_mm = [
        far_mm(field, unit)
        + max(swing_mm(unit, corner, CHARGE_WHEEL_BW * field.bw_mm) for corner in CORNERS)
        + TOUCH_MM
        + 2 * _bound_mm(field, unit, field.units)
        for unit in units
    ]
    work = partial(_charges_of, field, units)
    charges_of = _REMEMBERED.answers(field.keys(units, reaches_mm), work)
    return {unit.id: charge for unit, charge in zip(units, charges_of, strict=True)}


def charge_of(field: Field, unit: UnitOnField) -> Charge:
    """Returns whether a unit can charge, its targets and its lanes (M-8.3)."""
    return charges(field, only=(unit.id,))[unit.id]


def _charges_of(field: Field, units: Sequence[UnitOnField], new: Sequence[int]) -> list[Charge]:
    of_unit = {units[index]: why_never_charges(units[index]) for index in new}
    able = [unit for unit, why in of_unit.items() if why is None]
    tried = dict(zip(able, attempts_of([(field, unit) for unit in able]), strict=True))
    return [
        _charge(field, unit, tried[unit]) if why is None else Charge(False, why, (), ())
        for unit, why in of_unit.items()
    ]


def _charge(field: Field, unit: UnitOnField, tries: Sequence[LegalMoves]) -> Charge:
    """Returns a unit's charge as measured, with its doubts."""
    targets = {name for tried in tries for name in tried.targets}
    # In field order, like the owners of the bases.
    names = dict.fromkeys(name for tried in tries for name in tried.moves.there.owners)
    lanes = tuple(lane for name in names if name in targets for lane in _lanes_to(name, tries))
    reached_ids = tuple(dict.fromkeys(lane.target for lane in lanes))
    doubts: LazyAnswers = cache(lambda: _Question.of(field, unit, reached_ids).answers())
    if lanes:
        return Charge(True, None, reached_ids, lanes, doubts)
    # The best explanation is the limit that stopped the moves that got farthest.
    why_not, _ = LIMITS[max((tried.passed for tried in tries), default=0)]
    return Charge(False, why_not, (), (), doubts)


def lane_after_wheel(
    field: Field, unit: UnitOnField, target: str, corner: Corner, arc_mm: float
) -> ChargeLane | None:
    """Returns the charge at a target straight ahead after a wheel; None if it is illegal."""
    if why_never_charges(unit) is not None:
        return None
    for tried in with_wheel(field, unit, corner, arc_mm):
        moves = tried.moves
        for row in tried.rows:
            if moves.arcs_mm[row] == arc_mm and moves.is_meeting(target)[row]:
                return _lane(tried, row, target)
    return None


def are_enough_chargers(chargers: int, activated: int) -> bool:
    """Returns whether enough of the units activated to charge do charge (M-8.2).

    >>> are_enough_chargers(3, 6), are_enough_chargers(2, 6), are_enough_chargers(2, 3)
    (True, False, True)
    """
    return 2 * chargers >= activated


def why_never_charges(unit: UnitOnField) -> Reason | None:
    """Returns the rule that forbids a unit to charge wherever the enemy is (M-8.4), or None."""
    if unit.unit.arm == "artillery":
        return Reason("M-8.4", "artillery")
    if unit.formation == "column":
        return Reason("M-8.4", "column")
    if unit.disruption > CHARGE_DISRUPTIONS:
        return Reason("M-8.4", "too_disrupted", (unit.disruption,))
    if (unit.unit.arm, unit.formation) not in ALLOWANCES_BW:
        return Reason("M-8.4", "formation", (unit.formation, unit.unit.arm))
    return None


def _lanes_to(target: str, tries: Sequence[LegalMoves]) -> Iterator[ChargeLane]:
    """Yields the lane straight ahead to an enemy, else one after a wheel to each side."""
    for tried in tries:
        moves = tried.moves
        rows = tried.rows[moves.is_meeting(target)[tried.rows]]
        if not len(rows):
            continue
        arcs_mm = moves.arcs_mm[rows]
        if arcs_mm[0] == 0.0:
            yield _lane(tried, int(rows[0]), target)
            return
        middle_mm = (arcs_mm[0] + arcs_mm[-1]) / 2
        yield _lane(tried, int(rows[np.argmin(np.abs(arcs_mm - middle_mm))]), target)


def _lane(tried: LegalMoves, row: int, target: str) -> ChargeLane:
    moves, unit, field = tried.moves, tried.charger.unit, tried.charger.field
    others = (name for name in dict.fromkeys(moves.there.owners) if name != target)
    also_meets = tuple(name for name in others if moves.is_meeting(name)[row])
    move = moves.move(row)
    return ChargeLane(target, move, also_meets, crosses_difficult(field, unit, move), unit)


def crosses_difficult(field: Field, unit: UnitOnField, move: Move) -> bool:
    """Returns whether a charge passes over difficult ground by more than a sliver (M-8.6)."""
    difficult = field.ground.difficult
    # In a wheel of at most 1 BW no corner moves twice as far as the end of the front.
    is_near = shapely.dwithin(difficult, unit.outline, 2 * move.cost_mm)
    return bool(is_near) and is_partly_in(move.area(unit), difficult)


_FRONT_ENDS = 1.6
"""The error of a front's end as a multiple of a base's: the worst case, two bases abreast."""
_TOGETHER = 50
"""The number of draws evaluated in one batch, to bound memory."""


@dataclass(frozen=True, eq=False)
class _Question:
    """A unit, a field of the units that its charges can involve, and its measured targets.

    No limit of its charges errs by more than `most_mm`.
    """

    field: Field
    unit: UnitOnField
    targets: tuple[str, ...]
    most_mm: float

    @classmethod
    def of(cls, field: Field, unit: UnitOnField, targets: tuple[str, ...]) -> _Question:
        # As far as it could charge if its reach were longer by the bound, and sideways by as much.
        reach_mm = far_mm(field, unit) + 2 * _bound_mm(field, unit, field.units)
        around = field.with_units(field.within(unit.outline, reach_mm))
        return cls(around, unit, targets, _bound_mm(around, unit, around.enemies_of(unit)))

    def tilted(self, name: str, by_mm: float) -> Field:
        return tilted(self.field, self.unit, (name,), by_mm)

    def answers(self) -> Mapping[str, Answer]:
        """Returns the answers that change if the world is tilted by more than any error.

        There are none if all poses are exact, unless the players agreed on a tolerance.
        """
        enemies = self.field.enemies_of(self.unit)
        if self.field.is_exact or not enemies:
            return {}
        is_target = {enemy.id: enemy.id in self.targets for enemy in enemies}
        tilts = [
            (self.tilted(name, -self.most_mm if holds else self.most_mm), self.unit)
            for name, holds in is_target.items()
        ]
        reached_in = reached(tilts, [{name} for name in is_target])
        tilted = zip(is_target.items(), reached_in, strict=True)
        names = [name for (name, holds), there in tilted if (name in there) != holds]
        if not names:
            return {}
        chances: Mapping[str, float] = {name: float(is_target[name]) for name in names}
        if _error_mm(self.field, self.unit, enemies):
            chances = self._chances(names)
        return {
            enemy.id: self._answer(enemy, self._margin_mm(enemy.id), chances[enemy.id])
            for enemy in enemies
            if enemy.id in names
        }

    def _answer(self, enemy: UnitOnField, margin_mm: float, chance: float) -> Answer:
        unit, tolerance_mm = self.unit, self.field.tolerance_mm
        spare = "with {:.1f} mm to spare" if margin_mm >= 0 else "{:.1f} mm short"
        asked = f"whether {unit.id} can charge {enemy.id}"
        line = shapely.shortest_line(unit.axes.edge, enemy.outline)
        return Answer(
            verdict(margin_mm, chance, tolerance_mm=tolerance_mm),
            margin_mm,
            _error_mm(self.field, unit, (enemy,)),
            chance,
            "M-8.3",
            f"{asked}: as measured, {spare.format(abs(margin_mm))}",
            (
                Shape("line", (unit.axes.left_mm, unit.axes.right_mm), "front-edge"),
                *shapes_of(line, "length", f"{unit.id} to {enemy.id}"),
            ),
            enemy.id,
        )

    def _margin_mm(self, name: str) -> float:
        """Returns the tilt of the world at which the answer changes."""

        def is_reached(by_mm: float) -> bool:
            return bool(reached([(self.tilted(name, by_mm), self.unit)], [{name}])[0])

        return bounded_margin_mm(is_reached, self.most_mm)

    def _chances(self, names: Sequence[str]) -> Mapping[str, float]:
        asked = [(drawn, drawn.by_id[self.unit.id]) for drawn in drawn_fields(self.field)]
        names_of_draw = chain.from_iterable(
            reached(asked[first : first + _TOGETHER], [{*names}] * _TOGETHER)
            for first in range(0, DRAWS, _TOGETHER)
        )
        held = np.array([[name in there for name in names] for there in names_of_draw])
        return dict(zip(names, map(probability_of_draws, held.T), strict=True))


def _bound_mm(field: Field, unit: UnitOnField, others: Iterable[UnitOnField]) -> float:
    """Returns the largest error of a limit to consider: 3.5 sigma or the players' tolerance."""
    return field.bound_mm(_error_mm(field, unit, others))


def _error_mm(field: Field, unit: UnitOnField, others: Iterable[UnitOnField]) -> float:
    """Bounds the standard deviation of the position of any other unit relative to a charger."""
    corner_mm = max((other.sigma_bound_mm for other in others), default=0.0)
    bases = unit.unit.bases
    turn_rad = math.radians(math.hypot(*(base.sigma_deg for base in bases)) / len(bases))
    swing_mm = (allowance_mm(field, unit) or 0.0) + CHARGE_WHEEL_BW * field.bw_mm
    front_mm = _FRONT_ENDS * max(base.sigma_mm for base in bases)
    return math.hypot(front_mm, turn_rad * swing_mm, corner_mm)
