"""Whom a unit could charge if every limit were a little wider or narrower than it is (M-8.3).

What is the same with all limits let out and with all drawn in by more than the camera's error is
sure; only of what differs need be asked how likely it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from tablecam.geometry.moves.fans import Turned
from tablecam.geometry.moves.lanes import Corner
from tablecam.rules.maurice.charge.ground import Forbidden, forbidden_ground
from tablecam.rules.maurice.charge.limits import Attempt, Rows, may_charge, what_is_left
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
    come_to,
    in_reach,
)
from tablecam.rules.maurice.charge.sight import is_in_view
from tablecam.rules.maurice.charge.wheel import Wheel, longest_free_arcs_mm
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, SLIVER_MM
from tablecam.uncertainty.contact import TOUCH_MM

_PARTS, _CUTS = 8, 3
"""Where an outcome turns is looked for in so many parts at once, so many times: to 1 in 512."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ahead:
    """What lies ahead after wheels (k,) about a corner, of n bases of enemies.

    `wanted_mm` (k, n) is how far ahead each is to one who is to meet it, `feared_mm` (k, n) to one
    who is not: they differ by how deep in the lane it has to lie. `beside_mm` (k, n) is the same
    beside the lane.
    """

    there: InReach
    arcs_mm: Array
    wanted_mm: Array
    feared_mm: Array
    friend_mm: Array
    beside_mm: Array

    @property
    def owners(self) -> tuple[str, ...]:
        """The enemies whose bases they are."""
        return self.there.owners


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """A unit and all about it that its charges hang on, with limits let out by up to `most_mm`."""

    field: Field
    unit: UnitOnField
    most_mm: float
    others: tuple[UnitOnField, ...]
    there: tuple[InReach, InReach]

    def targets(self, slack_mm: float) -> frozenset[str]:
        """The enemies that the unit could charge if every limit were let out by a slack.

        Below 0 each is drawn in by it. Never fewer with a larger slack.
        """
        return targets_of([(self, slack_mm)])[0]

    def margins_mm(self, targets: Set[str]) -> Mapping[str, float]:
        """By how much limits could be drawn in before the unit could not charge each any more.

        Below 0 it is by how much they would have to be let out. Between `-most_mm` and `most_mm`.
        """
        between_mm = dict.fromkeys(targets, (-self.most_mm, self.most_mm))
        for _ in range(_CUTS):
            tried_mm = {name: np.linspace(*each, _PARTS + 1) for name, each in between_mm.items()}
            slacks_mm = sorted({each for tried in tried_mm.values() for each in tried[1:-1]})
            found = targets_of([(self, float(slack_mm)) for slack_mm in slacks_mm])
            # Never fewer with a larger slack: it turns where the first of them can be charged.
            for name, tried in tried_mm.items():
                held = [slack for slack, each in zip(slacks_mm, found, strict=True) if name in each]
                turns = int(np.searchsorted(tried, min(held, default=np.inf)))
                turns = min(turns, _PARTS)
                between_mm[name] = (float(tried[turns - 1]), float(tried[turns]))
        return {name: -(low_mm + high_mm) / 2 for name, (low_mm, high_mm) in between_mm.items()}

    def arcs_mm(self, targets: Set[str]) -> Mapping[Corner, tuple[float, float]]:
        """Between which wheels about each corner some targets could be charged, at the very most.

        With every limit let out by `most_mm`; and a bit more, as a front may be turned itself.
        """
        trial, beside_mm = _Trial.of(self, self.most_mm), 2 * self.most_mm + STEP_MM
        found = {}
        for _, ahead in _all_ahead([trial], None):
            rows = [trial.moves_left(name, ahead) for name in targets & {*ahead.owners}]
            arcs_mm = ahead.arcs_mm[np.concatenate([np.zeros(0, dtype=np.intp), *rows])]
            if len(arcs_mm):
                ends_mm = float(arcs_mm.min()) - beside_mm, float(arcs_mm.max()) + beside_mm
                found[ahead.there.corner] = ends_mm
        return found


def limits_of(asked: Sequence[tuple[Field, UnitOnField, float]]) -> list[Limits]:
    """The limits of units' charges, each on its field and let out by up to so much.

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
        Limits(*each, others, both)
        for each, (_, others), both in zip(asked, around, there, strict=True)
    ]


def within_reach(all_limits: Sequence[Limits]) -> list[set[str]]:
    """The enemies to which each unit's lanes can come at all, with limits let out by most.

    Of those whom it may charge; friends and all else left aside.
    """
    if not all_limits:
        return []
    both = [there for limits in all_limits for there in limits.there]
    most_mm = np.repeat([limits.most_mm for limits in all_limits], len(CORNERS))
    reaches_mm = [allowance_mm(limits.field, limits.unit) or 0.0 for limits in all_limits]
    reach_mm = (np.repeat(reaches_mm, len(CORNERS)) + most_mm).tolist()
    found = come_to(all_limits[0].field, both, reach_mm, most_mm.tolist())
    return [
        {name for name in left | right if may_charge(limits.unit, limits.field.by_id[name])}
        for limits, left, right in zip(all_limits, found[::2], found[1::2], strict=True)
    ]


def targets_of(
    asked: Sequence[tuple[Limits, float]], moves: Sequence[Sequence[Move]] | None = None
) -> list[frozenset[str]]:
    """As `Limits.targets` of many units at once, each with a slack of its own.

    Where `moves` of each are given those that it could charge straight ahead, or by these wheels.
    """
    trials = [_Trial.of(limits, slack_mm) for limits, slack_mm in asked]
    found: list[set[str]] = [set() for _ in asked]
    for place, ahead in _all_ahead(trials, moves):
        for name in dict.fromkeys(ahead.owners):
            if name not in found[place] and len(trials[place].moves_left(name, ahead)):
                found[place].add(name)
    return [frozenset(each) for each in found]


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """The limits of a unit's charges, each let out by a slack."""

    limits: Limits
    slack_mm: float
    forbidden: Forbidden
    sees: Callable[[UnitOnField], bool]

    @classmethod
    def of(cls, limits: Limits, slack_mm: float) -> _Trial:
        field, unit = limits.field, limits.unit
        sees = cache(partial(is_in_view, field, unit, slack_mm=slack_mm))
        return cls(limits, slack_mm, forbidden_ground(field, unit, slack_mm), sees)

    def wheel(self, corner: Corner) -> Wheel:
        """The longest wheel about a corner, as far as it has room."""
        limits, longest_mm = self.limits, CHARGE_WHEEL_BW * self.limits.field.bw_mm
        ground, slack_mm = self.forbidden, self.slack_mm
        return Wheel(limits.unit, corner, limits.others, longest_mm, ground, slack_mm)

    def moves_left(self, target: str, ahead: _Ahead) -> Rows:
        """Which of the moves as far as a target the limits leave."""
        moves = _moves_to(target, ahead, self.slack_mm)
        field, unit = self.limits.field, self.limits.unit
        attempt = Attempt(field, unit, moves, self.forbidden, self.sees, self.slack_mm)
        return what_is_left(attempt)[0]


def _all_ahead(
    trials: Sequence[_Trial], moves: Sequence[Sequence[Move]] | None
) -> list[tuple[int, _Ahead]]:
    """What lies ahead after wheels about each corner that has enemies in reach, and of which."""
    of = [
        (place, each, about)
        for place, each in enumerate(trials)
        for about in each.limits.there
        if about.owners
    ]
    if not of:
        return []
    free_mm = longest_free_arcs_mm([each.wheel(about.corner) for _, each, about in of])
    slacks_mm = np.array([each.slack_mm for _, each, _ in of])
    wanted_deep, feared_deep = SLIVER_MM - slacks_mm, SLIVER_MM + slacks_mm
    deep_mm = np.stack([wanted_deep, feared_deep], axis=1).tolist()
    fans = [about.fan for _, _, about in of]
    if moves is None:
        arcs_mm = list(map(arcs_to_try, fans, free_mm, deep_mm))
    else:
        arcs_mm = [
            arcs_of(moves[place], about, longest_mm)
            for (place, _, about), longest_mm in zip(of, free_mm, strict=True)
        ]
    turned = Turned.of(fans, arcs_mm, TOUCH_MM + np.abs(slacks_mm))
    wanted_mm, feared_mm = turned.begins_mm(wanted_deep), turned.begins_mm(feared_deep)
    near_mm = turned.begins_mm(slacks_mm - TOUCH_MM, unless=wanted_mm)
    return [
        (place, _ahead(about, arcs, (wanted, feared, near), each.slack_mm))
        for (place, each, about), arcs, wanted, feared, near in zip(
            of, arcs_mm, wanted_mm, feared_mm, near_mm, strict=True
        )
    ]


def _ahead(
    there: InReach,
    arcs_mm: Array,
    begins_mm: tuple[Array, Array, Array],
    slack_mm: float,
) -> _Ahead:
    """What lies ahead of one, of where all begin that is wanted, feared, or near the lane."""
    friends_mm = begins_mm[1][:, len(there.bases) :]
    wanted_mm, feared_mm, near_mm = (each[:, : len(there.bases)] for each in begins_mm)
    is_beside = np.isinf(wanted_mm) & ~there.touched
    return _Ahead(
        there,
        arcs_mm,
        there.contact_mm(arcs_mm, wanted_mm, slack_mm),
        there.contact_mm(arcs_mm, feared_mm, -slack_mm),
        friends_mm.min(axis=1, initial=np.inf),
        np.where(is_beside, near_mm, np.inf),
    )


def _moves_to(target: str, ahead: _Ahead, slack_mm: float) -> Moves:
    """The moves as far as a target; without end where another enemy is met first."""
    is_target = np.array([name == target for name in ahead.owners], dtype=bool)
    straight_mm = ahead.wanted_mm[:, is_target].min(axis=1, initial=np.inf)
    others_mm = ahead.feared_mm[:, ~is_target].min(axis=1, initial=np.inf)
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
    """The bases (k, n) that are met with the target, or have to be feared to be."""
    ends_mm = straight_mm[:, None]
    met = ahead.wanted_mm <= ends_mm + SLIVER_MM
    also = ahead.feared_mm <= ends_mm + SLIVER_MM - 2 * slack_mm
    return np.asarray(np.where(is_target, met, also) & np.isfinite(ends_mm))
