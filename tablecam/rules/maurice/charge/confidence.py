"""Confidence in charges: how likely a unit can charge an enemy, given pose errors (M-8.3).

Whether it can is asked of the same rule in worlds: first in one tilted for or against the charge by
more than any error, and only where that turns the answer in those drawn from the errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import Corner
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.charge.limits import (
    EndsMm,
    Sees,
    is_in_view,
    possible_targets,
    reached,
    wheels_to,
)
from tablecam.rules.maurice.charge.moves import STEP_MM, Move, allowance_mm, far_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW
from tablecam.rules.maurice.field.worlds import (
    SIGMAS,
    approached,
    bounded_margin_mm,
    drawn_fields,
    tilted,
)
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
        question, names = self.batch.uncertain.get(self.unit.id, (None, frozenset()))
        return {} if question is None else question.answers(names)


@dataclass(frozen=True)
class ChargeBatch:
    """The units of a field whose uncertain charges are evaluated in one batch.

    `targets` are the enemies that each unit, by its id, can charge as measured, and the moves.
    """

    field: Field
    targets: Mapping[str, Mapping[str, Sequence[Move]]]

    @cached_property
    def uncertain(self) -> Mapping[str, tuple[_Question, frozenset[str]]]:
        """The enemies of each unit whose answer changes in a tilt by more than any error.

        None where all poses are exact, unless the players agreed on a tolerance.
        """
        if self.field.is_exact:
            return {}
        questions = [
            _Question.of(self.field, self.field.by_id[name], moves)
            for name, moves in self.targets.items()
        ]
        # Cheap bounds come first: whatever is in reach at all counts as a possible target.
        possible = possible_targets(
            [(approached(one.field, one.unit, one.most_mm), one.unit) for one in questions]
        )
        asked = [
            (question, name, -question.most_mm if name in question.moves else question.most_mm)
            for question, names in zip(questions, possible, strict=True)
            for name in sorted(names | question.moves.keys())
        ]
        reached_in = reached(
            [(question.tilted(name, by_mm), question.unit) for question, name, by_mm in asked],
            [{name} for _, name, _ in asked],
            [question.all_moves for question, *_ in asked],
        )
        turned: dict[_Question, set[str]] = {}
        for (question, name, _), names in zip(asked, reached_in, strict=True):
            if (name in names) != (name in question.moves):
                turned.setdefault(question, set()).add(name)
        return {one.unit.id: (one, frozenset(names)) for one, names in turned.items()}


@dataclass(frozen=True, eq=False)
class _Question:
    """A unit on a field of the units that its charges can involve, and its moves as measured.

    No limit of its charges errs by more than `most_mm`.
    """

    field: Field
    unit: UnitOnField
    moves: Mapping[str, Sequence[Move]]
    most_mm: float

    @classmethod
    def of(cls, field: Field, unit: UnitOnField, moves: Mapping[str, Sequence[Move]]) -> _Question:
        # As far as it can come if its reach were longer by the bound, and sideways by as much.
        reach_mm = far_mm(field, unit) + 2 * charge_error_bound_mm(field, unit)
        near = shapely.dwithin(unit.outline, [other.outline for other in field.units], reach_mm)
        around = field.with_units(field.units[place] for place in np.flatnonzero(near))
        return cls(around, unit, moves, _bound_mm(around, unit, around.enemies_of(unit)))

    @property
    def all_moves(self) -> tuple[Move, ...]:
        return tuple(chain(*self.moves.values()))

    def tilted(self, name: str, by_mm: float) -> Field:
        return tilted(self.field, self.unit, (name,), by_mm)

    def answers(self, names: frozenset[str]) -> Mapping[str, Answer]:
        """Returns whether the unit can charge each of some enemies."""
        enemies = self.field.enemies_of(self.unit)
        if _error_mm(self.field, self.unit, enemies):
            chances = self._chances(names)
        else:
            chances = {name: float(name in self.moves) for name in names}
        return {
            enemy.id: _answer(
                self.field, self.unit, enemy, self._margin_mm(enemy.id), chances[enemy.id]
            )
            for enemy in enemies
            if enemy.id in names
        }

    def _margin_mm(self, name: str) -> float:
        """Returns by how much the world must be tilted before the answer turns."""

        def holds_by(by_mm: float) -> bool:
            world = self.tilted(name, by_mm)
            return name in reached([(world, self.unit)], [{name}], [self.all_moves])[0]

        return bounded_margin_mm(holds_by, self.most_mm)

    def _chances(self, names: frozenset[str]) -> Mapping[str, float]:
        """Returns the probability that each of some enemies can be charged, from all draws."""
        asked = [(drawn, drawn.by_id[self.unit.id]) for drawn in drawn_fields(self.field)]
        ends_mm, sees = self._ends_mm(names), self._sees()
        names_of_draw = chain.from_iterable(
            reached(
                asked[first : first + _TOGETHER],
                [names] * _TOGETHER,
                [self.all_moves] * _TOGETHER,
                sees,
                ends_mm,
            )
            for first in range(0, DRAWS, _TOGETHER)
        )
        held = np.array([[name in there for name in names] for there in names_of_draw])
        return dict(zip(names, map(probability_of_draws, held.T), strict=True))

    def _ends_mm(self, names: frozenset[str]) -> EndsMm:
        """Returns the wheels that could charge some enemies in the worlds most in their favour.

        A little wider, as errors may turn the front itself.
        """
        beside_mm = 2 * self.most_mm + STEP_MM
        arcs_mm: dict[Corner, list[float]] = {}
        for name in names:
            for corner, arcs in wheels_to(
                self.tilted(name, self.most_mm), self.unit, {name}
            ).items():
                arcs_mm.setdefault(corner, []).extend(arcs)
        return {
            corner: (min(arcs) - beside_mm, max(arcs) + beside_mm)
            for corner, arcs in arcs_mm.items()
        }

    def _sees(self) -> Sees:
        """Returns the test of view in a draw, which is skipped where errors cannot change it."""

        @cache
        def in_extremes(name: str) -> frozenset[bool]:
            worlds = (self.tilted(name, by_mm) for by_mm in (-self.most_mm, self.most_mm))
            return frozenset(is_in_view(world, self.unit, world.by_id[name]) for world in worlds)

        def sees(field: Field, unit: UnitOnField, enemy: UnitOnField) -> bool:
            known = in_extremes(enemy.id)
            return is_in_view(field, unit, enemy) if len(known) > 1 else True in known

        return sees


def charge_error_bound_mm(field: Field, unit: UnitOnField) -> float:
    """Bounds the error of any limit of a unit's charges, against any unit on the table."""
    return _bound_mm(field, unit, field.units)


def _bound_mm(field: Field, unit: UnitOnField, others: Iterable[UnitOnField]) -> float:
    """Returns the largest error of a limit to consider: 3.5 sigma or the players' tolerance."""
    return max(SIGMAS * _error_mm(field, unit, others), field.position.table.tolerance_mm)


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
