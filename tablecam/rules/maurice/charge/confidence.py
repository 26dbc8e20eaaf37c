"""Confidence in charges: how likely a unit can charge an enemy, given pose errors (M-8.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import SEAM_MM, unit_footprints
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.charge.limits import Sees, reached
from tablecam.rules.maurice.charge.moves import Move
from tablecam.rules.maurice.charge.reach import allowance_mm, far_mm
from tablecam.rules.maurice.charge.relaxed_limits import (
    RelaxedLimits,
    relaxed_limits_of,
    targets_of,
    within_reach,
)
from tablecam.rules.maurice.charge.view import is_in_view
from tablecam.rules.maurice.field.chances import SIGMAS, is_exact
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import CERTAIN, Answer, AnswerWord
from tablecam.uncertainty.samples import DRAWS, draw_units

Array = NDArray[np.float64]


def field_of_units(field: Field, units: Iterable[UnitOnField]) -> Field:
    """Returns the field with these units alone."""
    present = tuple(units)
    by_id = MappingProxyType({unit.id: unit for unit in present})
    return replace(field, units=present, by_id=by_id)


def drawn_fields(field: Field) -> list[Field]:
    """Returns the field in each draw of the pose errors; always the same draws.

    Each unit's `unit` stays as measured; only its axes, outline and bases are drawn. The outline is
    the union of its bases, or their hull where they almost fill it, so that it is always a valid
    area.
    """
    drawn = [_drawn(unit) for unit in field.units]
    return [field_of_units(field, units) for units in zip(*drawn, strict=True)]


def _drawn(unit: UnitOnField) -> list[UnitOnField]:
    """Returns one unit in each draw."""
    bases = unit.unit.bases
    if not any(base.sigma_mm or base.sigma_deg for base in bases):
        return [unit] * DRAWS
    drawn = draw_units([unit.unit])
    polygons = np.asarray(shapely.polygons(drawn.corners_mm()), dtype=object)
    polygons = polygons.reshape(DRAWS, len(bases))
    fronts, outlines = Fronts.drawn(unit.unit, drawn).to_axes(), _outlines(unit, polygons)
    return [
        replace(unit, axes=front, outline=outline, bases=tuple(drawn_bases))
        for front, outline, drawn_bases in zip(fronts, outlines, polygons.tolist(), strict=True)
    ]


def _outlines(unit: UnitOnField, bases: NDArray[np.object_]) -> list[shapely.Geometry]:
    """Returns the outlines (draws,) from bases (draws, n)."""
    hull = shapely.convex_hull(unit.outline)
    if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM:
        return [*np.asarray(shapely.convex_hull(shapely.multipolygons(bases)), dtype=object)]
    return [*unit_footprints(bases.tolist())]


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
        if is_exact(self.field):
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
        near = within_reach(all_limits)
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
        has_error = any(_error_mm(field, unit, enemy) > 0.0 for enemy in enemies)
        held = (
            self._held() if has_error else {name: float(name in self.listed) for name in self.names}
        )
        margins_mm = self.limits.margins_mm(self.names)
        return {
            enemy.id: _answer(
                field,
                unit,
                enemy,
                margins_mm[enemy.id],
                held[enemy.id],
            )
            for enemy in enemies
            if enemy.id in self.names
        }

    def _held(self) -> Mapping[str, float]:
        """Returns the probability that each of them can be charged, from draws of all units."""
        field, unit = self.limits.field, self.limits.unit
        fields = drawn_fields(field)
        ends_mm, sees = self.limits.arcs_mm(self.names), self._sees()
        held: Counter[str] = Counter()
        for first in range(0, DRAWS, _TOGETHER):
            together = [
                (drawn, drawn.by_id[unit.id]) for drawn in fields[first : first + _TOGETHER]
            ]
            for names in reached(together, self.names, self.moves, ends_mm, sees):
                held.update(names)
        # As in `samples`: a finite number of draws cannot show a probability of 0 or 1.
        return {name: (held[name] + 0.5) / (DRAWS + 1.0) for name in self.names}

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
    widest_mm = max(other.sigma_bound_mm for other in field.units)
    return _slack_mm(field, _error_of_mm(field, unit, widest_mm))


def _limited(field: Field, unit: UnitOnField) -> tuple[Field, UnitOnField, float]:
    """Returns the field reduced to the units that a charge can involve, and the largest shift."""
    # As far as it can come if its reach were longer by the bound, and sideways by as much.
    reach_mm = far_mm(field, unit) + 2 * charge_error_bound_mm(field, unit)
    near = shapely.dwithin(unit.outline, [other.outline for other in field.units], reach_mm)
    around = field_of_units(field, [field.units[place] for place in np.flatnonzero(near)])
    errors_mm = (_error_mm(around, unit, enemy) for enemy in around.enemies_of(unit))
    return around, unit, _slack_mm(field, max(errors_mm, default=0.0))


def _slack_mm(field: Field, error_mm: float) -> float:
    """Returns the largest shift of a limit to consider: 3.5 sigma or the players' tolerance."""
    return max(SIGMAS * error_mm, field.position.table.tolerance_mm)


def _error_mm(field: Field, unit: UnitOnField, enemy: UnitOnField) -> float:
    """Bounds one standard deviation of an enemy's place relative to a charging unit."""
    return _error_of_mm(field, unit, max(map(_corner_mm, enemy.unit.bases)))


def _error_of_mm(field: Field, unit: UnitOnField, corner_mm: float) -> float:
    """Bounds the same for an enemy with a given error of its corners."""
    bases = unit.unit.bases
    turn_rad = math.radians(math.hypot(*(base.sigma_deg for base in bases)) / len(bases))
    swing_mm = (allowance_mm(field, unit) or 0.0) + CHARGE_WHEEL_BW * field.bw_mm
    front_mm = _FRONT_ENDS * max(base.sigma_mm for base in bases)
    return math.hypot(front_mm, turn_rad * swing_mm, corner_mm)


def _corner_mm(base: BasePose) -> float:
    """Returns one standard deviation of the place of a base's corners."""
    half_mm = math.hypot(base.width_mm, base.depth_mm) / 2
    return math.hypot(base.sigma_mm, math.radians(base.sigma_deg) * half_mm)


def _answer(
    field: Field, unit: UnitOnField, enemy: UnitOnField, margin: float, chance: float
) -> Answer:
    is_close = abs(margin) < field.position.table.tolerance_mm
    word: AnswerWord = "yes" if chance >= CERTAIN else "no"
    if is_close or 1.0 - CERTAIN < chance < CERTAIN:
        word = "too_close"
    margin_text = "with {:.1f} mm to spare" if margin >= 0 else "{:.1f} mm short"
    front = unit.axes.edge
    line = shapely.get_coordinates(shapely.shortest_line(front, enemy.outline)).tolist()
    return Answer(
        word,
        margin,
        _error_mm(field, unit, enemy),
        chance,
        "M-8.3",
        f"whether {unit.id} can charge {enemy.id}: as measured, {margin_text.format(abs(margin))}",
        (
            Shape("line", (unit.axes.left_mm, unit.axes.right_mm), "front-edge"),
            Shape("line", tuple((x, y) for x, y in line), "length", f"{unit.id} to {enemy.id}"),
        ),
        enemy.id,
    )
