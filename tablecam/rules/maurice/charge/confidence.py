"""Confidence in charges: how likely a unit can charge an enemy, given pose errors (M-8.3).

An outcome that is the same with all limits relaxed and with all tightened by more than the errors
is certain; only the others need draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import Corner
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.charge.ground import forbidden_ground
from tablecam.rules.maurice.charge.limits import Charger, Rows, Sees, chargeable_in_reach, reached
from tablecam.rules.maurice.charge.moves import (
    STEP_MM,
    Ahead,
    Move,
    all_ahead,
    arcs_of,
    arcs_to_try,
)
from tablecam.rules.maurice.charge.reach import InReach, allowance_mm, far_mm, in_reach
from tablecam.rules.maurice.charge.view import is_in_view
from tablecam.rules.maurice.charge.wheel import longest_free_arcs_mm
from tablecam.rules.maurice.field.chances import SIGMAS, bounded_margin_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, SLIVER_MM
from tablecam.rules.maurice.field.worlds import drawn_fields
from tablecam.uncertainty.answer import Answer, verdict
from tablecam.uncertainty.samples import DRAWS, probability_of_draws

_FRONT_ENDS = 1.6
"""The error of a front's end as a multiple of a base's: the most that two bases abreast give."""
_TOGETHER = 50
"""The number of draws evaluated in one batch, to bound memory."""


@dataclass(frozen=True)
class ChargeAnswers:
    """The lazy answers to whom a unit can charge where errors make that uncertain.

    Draws cost a hundred times as much as the charges themselves, and most answers are never read.
    """

    batch: ChargeBatch
    unit: UnitOnField

    @cached_property
    def answers(self) -> Mapping[str, Answer]:
        """Whether the unit can charge each uncertain enemy."""
        question = self.batch.questions.get(self.unit.id)
        return {} if question is None else question.answers()


@dataclass(frozen=True)
class ChargeBatch:
    """The units of a field whose uncertain charges are evaluated in one batch.

    `targets` are the enemies that each unit, by its id, can charge as measured, and the moves. No
    enemy is in question where all poses are exact, or where the outcome is the same with every
    limit relaxed and tightened by 3.5 sigma (or by the tolerance that the players agreed on).
    """

    field: Field
    targets: Mapping[str, Mapping[str, Sequence[Move]]]

    @cached_property
    def questions(self) -> Mapping[str, _Question]:
        """The questions of the units that have any uncertain enemies, by unit id."""
        if self.field.is_exact:
            return {}
        units = (self.field.by_id[name] for name in self.targets)
        uncertain = self._open(relaxed_limits_of([_limited(self.field, unit) for unit in units]))
        must = targets_of([(limits, -limits.most_mm) for limits, _ in uncertain])
        questions = {}
        for (limits, ever), always in zip(uncertain, must, strict=True):
            listed = self._listed(limits)
            names = (ever | listed) - (always & listed)
            if names:
                questions[limits.unit.id] = _Question(limits, listed, names, self._moves(limits))
        return questions

    def _open(
        self, all_limits: Sequence[RelaxedLimits]
    ) -> list[tuple[RelaxedLimits, frozenset[str]]]:
        """Returns the units whose targets may be uncertain, with the targets that are certain.

        Cheap bounds come first: whatever is in reach at all counts as a possible target.
        """
        near = chargeable_in_reach(
            [(limits.field, limits.unit, limits.there) for limits in all_limits],
            [limits.most_mm for limits in all_limits],
        )
        in_question = [
            (limits, names)
            for limits, names in zip(all_limits, near, strict=True)
            if names or self._listed(limits)
        ]
        moves = [self._moves(limits) for limits, _ in in_question]
        sure = targets_of([(limits, -limits.most_mm) for limits, _ in in_question], moves)
        uncertain = [
            (limits, always)
            for (limits, names), always in zip(in_question, sure, strict=True)
            if not names == always == self._listed(limits)
        ]
        may = targets_of([(limits, limits.most_mm) for limits, _ in uncertain])
        return [
            (limits, ever)
            for (limits, always), ever in zip(uncertain, may, strict=True)
            if not ever == always == self._listed(limits)
        ]

    def _listed(self, limits: RelaxedLimits) -> frozenset[str]:
        return frozenset(self.targets[limits.unit.id])

    def _moves(self, limits: RelaxedLimits) -> tuple[Move, ...]:
        return tuple(chain(*self.targets[limits.unit.id].values()))


@dataclass(frozen=True, slots=True)
class _Question:
    """A unit and the enemies that it can charge only perhaps.

    `listed` are those that it can charge as measured, and `moves` the moves that reach any of them.
    """

    limits: RelaxedLimits
    listed: frozenset[str]
    names: frozenset[str]
    moves: tuple[Move, ...]

    def answers(self) -> Mapping[str, Answer]:
        """Returns whether the unit can charge each of them."""
        field, unit = self.limits.field, self.limits.unit
        enemies = field.enemies_of(unit)
        has_error = _error_mm(field, unit, enemies) > 0.0
        held = (
            self._held() if has_error else {name: float(name in self.listed) for name in self.names}
        )
        return {
            enemy.id: _answer(field, unit, enemy, self.limits.margin_mm(enemy.id), held[enemy.id])
            for enemy in enemies
            if enemy.id in self.names
        }

    def _held(self) -> Mapping[str, float]:
        """Returns the probability that each of them can be charged, from draws of all units."""
        field, unit = self.limits.field, self.limits.unit
        ends_mm, sees = self.limits.arcs_mm(self.names), self._sees()
        asked = [(drawn, drawn.by_id[unit.id]) for drawn in drawn_fields(field)]
        names_of_draw = chain.from_iterable(
            reached(asked[first : first + _TOGETHER], self.names, self.moves, ends_mm, sees)
            for first in range(0, DRAWS, _TOGETHER)
        )
        held = np.array([[name in names for name in self.names] for names in names_of_draw])
        return dict(zip(self.names, map(probability_of_draws, held.T), strict=True))

    def _sees(self) -> Sees:
        """Returns the test of view in a draw, which is skipped where errors cannot change it."""
        limits = self.limits
        by_mm = (-limits.most_mm, limits.most_mm)

        @cache
        def surely(enemy_id: str) -> bool | None:
            enemy = limits.field.by_id[enemy_id]
            least, most = (is_in_view(limits.field, limits.unit, enemy, slack) for slack in by_mm)
            return least if least == most else None

        def sees(field: Field, unit: UnitOnField, enemy: UnitOnField) -> bool:
            known = surely(enemy.id)
            return is_in_view(field, unit, enemy) if known is None else known

        return sees


def charge_error_bound_mm(field: Field, unit: UnitOnField) -> float:
    """Bounds the error of any limit of a unit's charges, against any unit on the table."""
    return _slack_mm(field, _error_mm(field, unit, field.units))


def _limited(field: Field, unit: UnitOnField) -> tuple[Field, UnitOnField, float]:
    """Returns the field reduced to the units that a charge can involve, and the largest shift."""
    # As far as it can come if its reach were longer by the bound, and sideways by as much.
    reach_mm = far_mm(field, unit) + 2 * charge_error_bound_mm(field, unit)
    near = shapely.dwithin(unit.outline, [other.outline for other in field.units], reach_mm)
    around = field.with_units(field.units[place] for place in np.flatnonzero(near))
    return around, unit, _slack_mm(field, _error_mm(around, unit, around.enemies_of(unit)))


def _slack_mm(field: Field, error_mm: float) -> float:
    """Returns the largest shift of a limit to consider: 3.5 sigma or the players' tolerance."""
    return max(SIGMAS * error_mm, field.position.table.tolerance_mm)


def _error_mm(field: Field, unit: UnitOnField, others: Iterable[UnitOnField]) -> float:
    """Bounds one standard deviation of the place of any of some others relative to a charger."""
    corner_mm = max((other.sigma_bound_mm for other in others), default=0.0)
    bases = unit.unit.bases
    turn_rad = math.radians(math.hypot(*(base.sigma_deg for base in bases)) / len(bases))
    swing_mm = (allowance_mm(field, unit) or 0.0) + CHARGE_WHEEL_BW * field.bw_mm
    front_mm = _FRONT_ENDS * max(base.sigma_mm for base in bases)
    return math.hypot(front_mm, turn_rad * swing_mm, corner_mm)


def _answer(
    field: Field, unit: UnitOnField, enemy: UnitOnField, margin: float, chance: float
) -> Answer:
    margin_text = "with {:.1f} mm to spare" if margin >= 0 else "{:.1f} mm short"
    front = unit.axes.edge
    line = shapely.get_coordinates(shapely.shortest_line(front, enemy.outline)).tolist()
    return Answer(
        verdict(margin, chance, tolerance_mm=field.position.table.tolerance_mm),
        margin,
        _error_mm(field, unit, (enemy,)),
        chance,
        "M-8.3",
        f"whether {unit.id} can charge {enemy.id}: as measured, {margin_text.format(abs(margin))}",
        (
            Shape("line", (unit.axes.left_mm, unit.axes.right_mm), "front-edge"),
            Shape("line", tuple((x, y) for x, y in line), "length", f"{unit.id} to {enemy.id}"),
        ),
        enemy.id,
    )


@dataclass(frozen=True, slots=True, eq=False)
class RelaxedLimits:
    """A unit and its surroundings, with limits that may be relaxed by up to `most_mm`."""

    field: Field
    unit: UnitOnField
    most_mm: float
    others: tuple[UnitOnField, ...]
    there: tuple[InReach, InReach]

    def targets(self, slack_mm: float) -> frozenset[str]:
        """Returns the enemies that the unit could charge with every limit relaxed by a slack.

        A negative slack tightens them. A larger slack never gives fewer targets.
        """
        return targets_of([(self, slack_mm)])[0]

    def margin_mm(self, target: str) -> float:
        """Returns how far limits can be tightened before the unit cannot charge a target.

        A negative margin is how far they must be relaxed. It lies between `-most_mm` and `most_mm`.
        """
        return bounded_margin_mm(lambda by_mm: target in self.targets(by_mm), self.most_mm)

    def arcs_mm(self, targets: Set[str]) -> Mapping[Corner, tuple[float, float]]:
        """Returns the range of wheels about each corner that could charge some targets.

        With every limit relaxed by `most_mm`, and a little wider, as errors may turn the front
        itself.
        """
        charger, beside_mm = self.charger(self.most_mm), 2 * self.most_mm + STEP_MM
        ends_of_corner = {}
        for _, ahead in _ahead_of([charger], None):
            rows = [_rows_to(name, charger, ahead) for name in targets & {*ahead.there.owners}]
            arcs_mm = ahead.arcs_mm[np.concatenate([np.zeros(0, dtype=np.intp), *rows])]
            if len(arcs_mm):
                ends_mm = float(arcs_mm.min()) - beside_mm, float(arcs_mm.max()) + beside_mm
                ends_of_corner[ahead.there.corner] = ends_mm
        return ends_of_corner

    def charger(self, slack_mm: float) -> Charger:
        """Returns the unit with each limit relaxed by a slack."""
        forbidden = forbidden_ground(self.field, self.unit, slack_mm)
        sees = cache(partial(is_in_view, self.field, self.unit, slack_mm=slack_mm))
        return Charger(self.field, self.unit, self.others, self.there, forbidden, sees, slack_mm)


def relaxed_limits_of(asked: Sequence[tuple[Field, UnitOnField, float]]) -> list[RelaxedLimits]:
    """Returns the limits of units' charges, each on its field with its largest shift.

    All fields are of one table.
    """
    if not asked:
        return []
    around = [
        (unit, tuple(other for other in field.units if other is not unit))
        for field, unit, _ in asked
    ]
    there = in_reach(asked[0][0], around, [most_mm for _, _, most_mm in asked])
    return [
        RelaxedLimits(*question, others, both)
        for question, (_, others), both in zip(asked, around, there, strict=True)
    ]


def targets_of(
    asked: Sequence[tuple[RelaxedLimits, float]], moves: Sequence[Sequence[Move]] | None = None
) -> list[frozenset[str]]:
    """Returns `Limits.targets` of many units at once, each with its own slack.

    With `moves`, only those and the move straight ahead are tried.
    """
    chargers = [limits.charger(slack_mm) for limits, slack_mm in asked]
    targets: list[set[str]] = [set() for _ in asked]
    for place, ahead in _ahead_of(chargers, moves):
        for name in dict.fromkeys(ahead.there.owners):
            if name not in targets[place] and len(_rows_to(name, chargers[place], ahead)):
                targets[place].add(name)
    return [frozenset(names) for names in targets]


def _rows_to(target: str, charger: Charger, ahead: Ahead) -> Rows:
    """Returns the rows of the moves to a target that the limits allow."""
    return charger.tried(ahead.moves(target)).rows


def _ahead_of(
    chargers: Sequence[Charger], moves: Sequence[Sequence[Move]] | None
) -> list[tuple[int, Ahead]]:
    """Returns what lies ahead about each corner with enemies in reach, and the unit's index."""
    corners_tried = [
        (place, charger, about_corner)
        for place, charger in enumerate(chargers)
        for about_corner in charger.there
        if about_corner.owners
    ]
    if not corners_tried:
        return []
    free_mm = longest_free_arcs_mm(
        [charger.wheel(about_corner.corner) for _, charger, about_corner in corners_tried]
    )
    slacks_mm = np.array([charger.slack_mm for _, charger, _ in corners_tried])
    there = [about_corner for *_, about_corner in corners_tried]
    if moves is None:
        deep_mm = np.stack([SLIVER_MM - slacks_mm, SLIVER_MM + slacks_mm], axis=1).tolist()
        fans = [about_corner.fan for about_corner in there]
        arcs_mm = list(map(arcs_to_try, fans, free_mm, deep_mm))
    else:
        arcs_mm = [
            arcs_of(moves[place], about_corner, longest_mm)
            for (place, _, about_corner), longest_mm in zip(corners_tried, free_mm, strict=True)
        ]
    aheads = all_ahead(there, arcs_mm, slacks_mm)
    return [(place, ahead) for (place, *_), ahead in zip(corners_tried, aheads, strict=True)]
