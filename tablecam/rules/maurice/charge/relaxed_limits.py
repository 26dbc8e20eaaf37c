"""Charges with relaxed limits: which enemies a unit could charge if errors moved every limit.

An outcome that is the same with all limits relaxed and with all tightened by more than the errors
is certain; only the others need draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from tablecam.geometry.moves.fans import TurnedLanes
from tablecam.geometry.moves.lanes import Corner
from tablecam.rules.maurice.charge.ground import Forbidden, forbidden_ground
from tablecam.rules.maurice.charge.limits import Attempt, Rows, legal_rows, may_charge
from tablecam.rules.maurice.charge.moves import (
    STEP_MM,
    Move,
    Moves,
    arcs_of,
    arcs_to_try,
)
from tablecam.rules.maurice.charge.reach import (
    CORNERS,
    Array,
    Bools,
    InReach,
    allowance_mm,
    in_reach,
    targets_in_reach,
)
from tablecam.rules.maurice.charge.view import is_in_view
from tablecam.rules.maurice.charge.wheel import Wheel, longest_free_arcs_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, SLIVER_MM
from tablecam.uncertainty.contact import TOUCH_MM

_PARTS, _CUTS = 8, 3
"""The search for a margin cuts its interval into parts several times: a resolution of 1 in 512."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ahead:
    """The distances ahead after wheels (k,) about a corner, of n enemy bases.

    `optimistic_mm` (k, n) is the distance to a base that is the target, `pessimistic_mm` (k, n) to
    one that is in the way: they differ by how deep in the lane it has to lie. `beside_mm` (k, n) is
    the distance beside the lane.
    """

    there: InReach
    arcs_mm: Array
    optimistic_mm: Array
    pessimistic_mm: Array
    friend_mm: Array
    beside_mm: Array

    @property
    def owners(self) -> tuple[str, ...]:
        """The enemies that the bases belong to."""
        return self.there.owners


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

    def margins_mm(self, targets: Set[str]) -> Mapping[str, float]:
        """Returns how far limits can be tightened before the unit cannot charge each target.

        Negative margins are how far they must be relaxed. All lie between `-most_mm` and `most_mm`.
        """
        between_mm = dict.fromkeys(targets, (-self.most_mm, self.most_mm))
        for _ in range(_CUTS):
            tried_mm = {
                name: np.linspace(*ends_mm, _PARTS + 1) for name, ends_mm in between_mm.items()
            }
            slacks_mm = sorted({shift for tried in tried_mm.values() for shift in tried[1:-1]})
            targets_at = targets_of([(self, float(slack_mm)) for slack_mm in slacks_mm])
            # Monotonic in the slack, so the first slack that succeeds marks the margin.
            for name, tried in tried_mm.items():
                held = [
                    slack_mm
                    for slack_mm, names in zip(slacks_mm, targets_at, strict=True)
                    if name in names
                ]
                turns = int(np.searchsorted(tried, min(held, default=np.inf)))
                turns = min(turns, _PARTS)
                between_mm[name] = (float(tried[turns - 1]), float(tried[turns]))
        return {name: -(low_mm + high_mm) / 2 for name, (low_mm, high_mm) in between_mm.items()}

    def arcs_mm(self, targets: Set[str]) -> Mapping[Corner, tuple[float, float]]:
        """Returns the range of wheels about each corner that could charge some targets.

        With every limit relaxed by `most_mm`, and a little wider, as errors may turn the front
        itself.
        """
        trial, beside_mm = _Trial.of(self, self.most_mm), 2 * self.most_mm + STEP_MM
        ends_of_corner = {}
        for _, ahead in _all_ahead([trial], None):
            rows = [trial.moves_left(name, ahead) for name in targets & {*ahead.owners}]
            arcs_mm = ahead.arcs_mm[np.concatenate([np.zeros(0, dtype=np.intp), *rows])]
            if len(arcs_mm):
                ends_mm = float(arcs_mm.min()) - beside_mm, float(arcs_mm.max()) + beside_mm
                ends_of_corner[ahead.there.corner] = ends_mm
        return ends_of_corner


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


def within_reach(all_limits: Sequence[RelaxedLimits]) -> list[set[str]]:
    """Returns the chargeable enemies that each unit's lanes can reach with limits fully relaxed.

    Friends and all other limits are ignored.
    """
    if not all_limits:
        return []
    both = [there for limits in all_limits for there in limits.there]
    most_mm = np.repeat([limits.most_mm for limits in all_limits], len(CORNERS))
    reaches_mm = [allowance_mm(limits.field, limits.unit) or 0.0 for limits in all_limits]
    reach_mm = (np.repeat(reaches_mm, len(CORNERS)) + most_mm).tolist()
    reached = targets_in_reach(all_limits[0].field, both, reach_mm, most_mm.tolist())
    return [
        {name for name in left | right if may_charge(limits.unit, limits.field.by_id[name])}
        for limits, left, right in zip(all_limits, reached[::2], reached[1::2], strict=True)
    ]


def targets_of(
    asked: Sequence[tuple[RelaxedLimits, float]], moves: Sequence[Sequence[Move]] | None = None
) -> list[frozenset[str]]:
    """Returns `Limits.targets` of many units at once, each with its own slack.

    With `moves`, only those and the move straight ahead are tried.
    """
    trials = [_Trial.of(limits, slack_mm) for limits, slack_mm in asked]
    targets: list[set[str]] = [set() for _ in asked]
    for place, ahead in _all_ahead(trials, moves):
        for name in dict.fromkeys(ahead.owners):
            if name not in targets[place] and len(trials[place].moves_left(name, ahead)):
                targets[place].add(name)
    return [frozenset(names) for names in targets]


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """The limits of a unit's charges, each relaxed by a slack."""

    limits: RelaxedLimits
    slack_mm: float
    forbidden: Forbidden
    sees: Callable[[UnitOnField], bool]

    @classmethod
    def of(cls, limits: RelaxedLimits, slack_mm: float) -> _Trial:
        """Prepares the ground and the test of view for a slack."""
        field, unit = limits.field, limits.unit
        sees = cache(partial(is_in_view, field, unit, slack_mm=slack_mm))
        return cls(limits, slack_mm, forbidden_ground(field, unit, slack_mm), sees)

    def wheel(self, corner: Corner) -> Wheel:
        """Returns the longest wheel to try about a corner."""
        limits, longest_mm = self.limits, CHARGE_WHEEL_BW * self.limits.field.bw_mm
        ground, slack_mm = self.forbidden, self.slack_mm
        return Wheel(limits.unit, corner, limits.others, longest_mm, ground, slack_mm)

    def moves_left(self, target: str, ahead: _Ahead) -> Rows:
        """Returns the rows of the moves to a target that the limits allow."""
        moves = _moves_to(target, ahead, self.slack_mm)
        field, unit = self.limits.field, self.limits.unit
        attempt = Attempt(field, unit, moves, self.forbidden, self.sees, self.slack_mm)
        return legal_rows(attempt)[0]


def _all_ahead(
    trials: Sequence[_Trial], moves: Sequence[Sequence[Move]] | None
) -> list[tuple[int, _Ahead]]:
    """Returns what lies ahead about each corner with enemies in reach, and the trial's index."""
    corners_tried = [
        (place, trial, about_corner)
        for place, trial in enumerate(trials)
        for about_corner in trial.limits.there
        if about_corner.owners
    ]
    if not corners_tried:
        return []
    free_mm = longest_free_arcs_mm(
        [trial.wheel(about_corner.corner) for _, trial, about_corner in corners_tried]
    )
    slacks_mm = np.array([trial.slack_mm for _, trial, _ in corners_tried])
    optimistic_deep, pessimistic_deep = SLIVER_MM - slacks_mm, SLIVER_MM + slacks_mm
    deep_mm = np.stack([optimistic_deep, pessimistic_deep], axis=1).tolist()
    fans = [about_corner.fan for _, _, about_corner in corners_tried]
    if moves is None:
        arcs_mm = list(map(arcs_to_try, fans, free_mm, deep_mm))
    else:
        arcs_mm = [
            arcs_of(moves[place], about_corner, longest_mm)
            for (place, _, about_corner), longest_mm in zip(corners_tried, free_mm, strict=True)
        ]
    turned = TurnedLanes.of(fans, arcs_mm, TOUCH_MM + np.abs(slacks_mm))
    optimistic_mm, pessimistic_mm = (
        turned.begins_mm(optimistic_deep),
        turned.begins_mm(pessimistic_deep),
    )
    near_mm = turned.begins_mm(slacks_mm - TOUCH_MM, unless=optimistic_mm)
    return [
        (place, _ahead(about_corner, arcs, (optimistic, pessimistic, near), trial.slack_mm))
        for (place, trial, about_corner), arcs, optimistic, pessimistic, near in zip(
            corners_tried, arcs_mm, optimistic_mm, pessimistic_mm, near_mm, strict=True
        )
    ]


def _ahead(
    there: InReach,
    arcs_mm: Array,
    begins_mm: tuple[Array, Array, Array],
    slack_mm: float,
) -> _Ahead:
    """Builds `_Ahead` for one corner, from where bases begin for each purpose."""
    friends_mm = begins_mm[1][:, len(there.bases) :]
    optimistic_mm, pessimistic_mm, near_mm = (
        distances[:, : len(there.bases)] for distances in begins_mm
    )
    is_beside = np.isinf(optimistic_mm) & ~there.touched
    return _Ahead(
        there,
        arcs_mm,
        there.contact_mm(arcs_mm, optimistic_mm, slack_mm),
        there.contact_mm(arcs_mm, pessimistic_mm, -slack_mm),
        friends_mm.min(axis=1, initial=np.inf),
        np.where(is_beside, near_mm, np.inf),
    )


def _moves_to(target: str, ahead: _Ahead, slack_mm: float) -> Moves:
    """Returns the moves to a target; infinitely long where another enemy is met first."""
    is_target = np.array([name == target for name in ahead.owners], dtype=bool)
    straight_mm = ahead.optimistic_mm[:, is_target].min(axis=1, initial=np.inf)
    others_mm = ahead.pessimistic_mm[:, ~is_target].min(axis=1, initial=np.inf)
    # Both distances may be off by the slack, in opposite directions.
    straight_mm[straight_mm > others_mm + SLIVER_MM + 2 * slack_mm] = np.inf
    return Moves(
        ahead.there.corner,
        ahead.arcs_mm,
        straight_mm,
        ahead.friend_mm,
        ahead.beside_mm[:, ~is_target].min(axis=1, initial=np.inf),
        _met(is_target, straight_mm, ahead, slack_mm),
        ahead.owners,
        ahead.there.bases,
    )


def _met(is_target: Bools, straight_mm: Array, ahead: _Ahead, slack_mm: float) -> Bools:
    """Returns the bases (k, n) that are met with the target, others pessimistically."""
    ends_mm = straight_mm[:, None]
    met = ahead.optimistic_mm <= ends_mm + SLIVER_MM
    also = ahead.pessimistic_mm <= ends_mm + SLIVER_MM - 2 * slack_mm
    return np.asarray(np.where(is_target, met, also) & np.isfinite(ends_mm))
