"""Whom a unit could charge if every limit were a little wider or narrower than it is (M-8.3).

What is the same with all limits let out and with all drawn in by more than the camera's error is
sure; only of what differs need be asked how likely it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.fans import Turned
from tablecam.rules.maurice.charge_ground import Forbidden, forbidden_ground
from tablecam.rules.maurice.charge_limits import Attempt, what_is_left
from tablecam.rules.maurice.charge_moves import (
    Array,
    Bools,
    InReach,
    Moves,
    arcs_to_try,
    in_reach,
)
from tablecam.rules.maurice.charge_sight import is_in_view
from tablecam.rules.maurice.charge_wheel import Wheel, longest_free_arcs_mm
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.tables import CHARGE_WHEEL_BW, SLIVER_MM

_HALVINGS = 9


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

    @classmethod
    def of(cls, field: Field, unit: UnitOnField, most_mm: float) -> Limits:
        """The limits of a unit's charges."""
        others = tuple(other for other in field.units if other is not unit)
        (there,) = in_reach(field, [(unit, others)], most_mm)
        return cls(field, unit, most_mm, others, there)

    def targets(self, slack_mm: float) -> frozenset[str]:
        """The enemies that the unit could charge if every limit were let out by a slack.

        Below 0 each is drawn in by it. Never fewer with a larger slack.
        """
        forbidden = forbidden_ground(self.field, self.unit, slack_mm)
        sees = cache(partial(is_in_view, self.field, self.unit, slack_mm=slack_mm))
        found: set[str] = set()
        for ahead in _all_ahead(self, forbidden, slack_mm):
            for name in dict.fromkeys(ahead.owners):
                moves = _moves_to(name, ahead, slack_mm)
                attempt = Attempt(self.field, self.unit, moves, forbidden, sees, slack_mm)
                if name not in found and len(what_is_left(attempt)[0]):
                    found.add(name)
        return frozenset(found)

    def margin_mm(self, target: str) -> float:
        """By how much limits could be drawn in before the unit could not charge a target any more.

        Below 0 it is by how much they would have to be let out. Between `-most_mm` and `most_mm`.
        """
        low_mm, high_mm = -self.most_mm, self.most_mm
        for _ in range(_HALVINGS):
            middle_mm = (low_mm + high_mm) / 2
            if target in self.targets(middle_mm):
                high_mm = middle_mm
            else:
                low_mm = middle_mm
        return -(low_mm + high_mm) / 2


def _all_ahead(limits: Limits, forbidden: Forbidden, slack_mm: float) -> list[_Ahead]:
    """What lies ahead after wheels about either corner that has enemies in reach."""
    there = [each for each in limits.there if each.owners]
    wheel_mm = CHARGE_WHEEL_BW * limits.field.bw_mm
    free_mm = longest_free_arcs_mm(
        [
            Wheel(limits.unit, each.corner, limits.others, wheel_mm, forbidden, slack_mm)
            for each in there
        ]
    )
    wanted, feared = SLIVER_MM - slack_mm, SLIVER_MM + slack_mm
    fans = [each.fan for each in there]
    arcs_mm = [
        arcs_to_try(fan, longest_mm, (wanted, feared))
        for fan, longest_mm in zip(fans, free_mm, strict=True)
    ]
    turned = Turned.of(fans, arcs_mm, TOUCH_MM + abs(slack_mm))
    wanted_mm, feared_mm = turned.begins_mm(wanted), turned.begins_mm(feared)
    near_mm = turned.begins_mm(slack_mm - TOUCH_MM, unless=wanted_mm)
    return [
        _ahead(*each, slack_mm)
        for each in zip(there, arcs_mm, wanted_mm, feared_mm, near_mm, strict=True)
    ]


def _ahead(
    there: InReach,
    arcs_mm: Array,
    wanted_mm: Array,
    feared_mm: Array,
    near_mm: Array,
    slack_mm: float,
) -> _Ahead:
    friends_mm = feared_mm[:, len(there.bases) :]
    wanted_mm, feared_mm, near_mm = (
        each[:, : len(there.bases)] for each in (wanted_mm, feared_mm, near_mm)
    )
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
