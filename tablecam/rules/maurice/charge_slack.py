"""Whom a unit could charge if every limit were a little wider or narrower than it is (M-8.3).

What is the same with all limits let out and with all drawn in by more than the camera's error is
sure; only of what differs need be asked how likely it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.lanes import Corner, front_width_mm, turned_deg
from tablecam.measure.zone_ranges import first_met
from tablecam.measure.zones import Strip, strip_before
from tablecam.rules.maurice.charge_limits import Attempt, forbidden_ground, what_is_left
from tablecam.rules.maurice.charge_moves import (
    CORNERS,
    Array,
    Bools,
    Moves,
    allowance_mm,
    arcs_to_try,
    bases_in,
    fan_of_lanes,
)
from tablecam.rules.maurice.charge_wheel import longest_free_arc_mm
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

    arcs_mm: Array
    wanted_mm: Array
    feared_mm: Array
    friend_mm: Array
    beside_mm: Array
    owners: tuple[str, ...]
    bases: tuple[shapely.Polygon, ...]


def targets_with(field: Field, unit: UnitOnField, slack_mm: float) -> frozenset[str]:
    """The enemies that a unit could charge if every limit were let out by a slack.

    Below 0 each is drawn in by it. Never fewer with a larger slack.
    """
    forbidden = forbidden_ground(field, unit, slack_mm)
    found: set[str] = set()
    for corner in CORNERS:
        ahead = _ahead(field, unit, corner, forbidden, slack_mm)
        for name in dict.fromkeys(ahead.owners):
            moves = _moves_to(name, corner, ahead, slack_mm)
            attempt = Attempt(field, unit, moves, forbidden, slack_mm)
            if name not in found and len(what_is_left(attempt)[0]):
                found.add(name)
    return frozenset(found)


def margin_mm(field: Field, unit: UnitOnField, target: str, most_mm: float) -> float:
    """By how much the limits could be drawn in before a unit could not charge a target any more.

    Below 0 it is by how much they would have to be let out. Between `-most_mm` and `most_mm`.
    """
    low_mm, high_mm = -most_mm, most_mm
    for _ in range(_HALVINGS):
        middle_mm = (low_mm + high_mm) / 2
        if target in targets_with(field, unit, middle_mm):
            high_mm = middle_mm
        else:
            low_mm = middle_mm
    return -(low_mm + high_mm) / 2


def _ahead(
    field: Field, unit: UnitOnField, corner: Corner, forbidden: shapely.Geometry, slack_mm: float
) -> _Ahead:
    more_mm = abs(slack_mm)
    reach_mm = (allowance_mm(field, unit) or 0.0) + more_mm
    fan = fan_of_lanes(unit.axes, corner, CHARGE_WHEEL_BW * field.bw_mm, reach_mm)
    fan = shapely.buffer(fan, more_mm)
    enemies, friends = bases_in(fan, field.enemies_of(unit)), bases_in(fan, field.friends_of(unit))
    bases, others = tuple(base for _, base in enemies), [base for _, base in friends]
    strip = strip_before(unit.axes, front_width_mm(unit.axes), pivot=corner, is_cut=False)
    free_mm = longest_free_arc_mm(field, unit, corner, forbidden, slack_mm) if bases else 0.0
    depths_mm = (SLIVER_MM - slack_mm, SLIVER_MM + slack_mm)
    arcs_mm = arcs_to_try(unit.axes, corner, strip, [*bases, *others], free_mm, depths_mm)
    turns_deg = turned_deg(unit.axes, corner, 1.0) * arcs_mm
    wanted_mm, feared_mm = (_begins_mm(strip, turns_deg, bases, deep) for deep in depths_mm)
    friends_mm = _begins_mm(strip, turns_deg, others, depths_mm[1])
    beside_mm = first_met(strip.narrowed(-TOUCH_MM + slack_mm), turns_deg, bases)
    is_new = ~shapely.dwithin(unit.outline, np.array(bases, dtype=object), TOUCH_MM)
    beside_mm[~(np.isinf(wanted_mm) & is_new)] = np.inf
    return _Ahead(
        arcs_mm,
        wanted_mm,
        feared_mm,
        friends_mm.min(axis=1, initial=np.inf),
        beside_mm,
        tuple(name for name, _ in enemies),
        bases,
    )


def _begins_mm(
    strip: Strip,
    turns_deg: Array,
    shapes: tuple[shapely.Polygon, ...] | list[shapely.Polygon],
    deep_mm: float,
) -> Array:
    """How far ahead shapes begin that reach into the strip by so much, or come so near to it."""
    if deep_mm < 0.0:
        return first_met(strip.narrowed(deep_mm), turns_deg, shapes)
    return first_met(strip, turns_deg, shapes, deep_mm)


def _moves_to(target: str, corner: Corner, ahead: _Ahead, slack_mm: float) -> Moves:
    """The moves as far as a target; without end where another enemy is met first."""
    is_target = np.array([name == target for name in ahead.owners], dtype=bool)
    straight_mm = ahead.wanted_mm[:, is_target].min(axis=1, initial=np.inf)
    others_mm = ahead.feared_mm[:, ~is_target].min(axis=1, initial=np.inf)
    straight_mm[straight_mm > others_mm + SLIVER_MM + 2 * slack_mm] = np.inf
    return Moves(
        corner,
        ahead.arcs_mm,
        straight_mm,
        ahead.friend_mm,
        ahead.beside_mm[:, ~is_target].min(axis=1, initial=np.inf),
        _met(is_target, straight_mm, ahead, slack_mm),
        ahead.owners,
        ahead.bases,
    )


def _met(is_target: Bools, straight_mm: Array, ahead: _Ahead, slack_mm: float) -> Bools:
    """The bases (k, n) that are met with the target, or have to be feared to be."""
    ends_mm = straight_mm[:, None]
    met = ahead.wanted_mm <= ends_mm + SLIVER_MM
    also = ahead.feared_mm <= ends_mm + SLIVER_MM - 2 * slack_mm
    return np.asarray(np.where(is_target, met, also) & np.isfinite(ends_mm))
