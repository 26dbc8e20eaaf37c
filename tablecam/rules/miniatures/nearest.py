"""Finds the legal place nearest to where hands have laid a unit: on the way, or after wheels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.moves import lanes, poses
from tablecam.geometry.moves.paths import cheapest_path
from tablecam.geometry.moves.poses import Bases
from tablecam.geometry.outlines import Axes
from tablecam.rules.miniatures.ground import centre_mm
from tablecam.table.headings import difference_deg
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_MM

Array = NDArray[np.float64]
IsLegal = Callable[[Bases], bool]
_SHARES = tuple(step / 30 for step in range(30, 0, -1))
"""Shares of a move to try."""
_HAIR_MM = HAND_MM / 2
_STEPS = 17
"""Grid points per axis: arcs to either side, and lengths of the straight move."""
_TRIED = (0, 1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 140, 210)
"""Ranks, by distance, of the places to judge: neighbours of a barred place are barred too."""
_ROUNDS = 4
"""Rounds of search, each on a grid a quarter as wide about the best place."""


@dataclass(frozen=True, slots=True)
class Start:
    """Bases that may wheel, go straight and wheel again, up to a total length.

    `front` is the leading edge, `goal` the same edge where hands have laid it.
    """

    bases: Bases
    front: Axes
    goal: Axes
    reach_mm: float


def nearest_after_wheels(starts: Iterable[Start], is_legal: IsLegal) -> Bases | None:
    """Returns the legal poses nearest to a goal after a wheel, a straight move and a wheel.

    The distance is that of the farther end of the front. None if no such move is legal.
    """
    ends = filter(None, (_nearest_from(start, is_legal, None) for start in starts))
    best = min(ends, key=lambda end: end[0], default=None)
    return None if best is None else best[1]


def nearest_on_the_way(start: Start, is_legal: IsLegal) -> Bases | None:
    """Returns the legal poses nearest to a goal: on the way that hands took, else after wheels."""
    nearest = _nearest_from(start, is_legal, _farthest_on_the_way(start, is_legal))
    return None if nearest is None else nearest[1]


def _nearest_from(
    start: Start, is_legal: IsLegal, known: tuple[float, Bases] | None
) -> tuple[float, Bases] | None:
    """Returns the nearest legal end of a wheel, a straight move and a wheel, and its distance.

    Returns `known` if none is nearer. The search covers the whole reach first, then ever smaller
    grids about the best move.
    """
    limit_mm = math.inf if known is None else known[0]
    widths = np.array([1.0, 1.0, 1.0]) * start.reach_mm
    best: tuple[float, Array] | None = None
    for _ in range(_ROUNDS):
        middle = np.zeros(3) if best is None else best[1]
        better = _best_about(start, middle, widths, is_legal, limit_mm)
        if better is not None:
            best, limit_mm = better, better[0]
        if best is None:
            break
        # A quarter of the width is two grid steps to either side of the best move.
        widths = widths / 4
    return known if best is None else (best[0], _moved(start, best[1]))


def _farthest_on_the_way(start: Start, is_legal: IsLegal) -> tuple[float, Bases] | None:
    """Returns the farthest legal bases on the cheapest way to the goal, and the distance left."""
    path = cheapest_path(start.front, start.goal, within_mm=HAND_MM)
    most_mm = min(path.cost_mm, start.reach_mm)

    def after(length_mm: float) -> Bases:
        way = path.cut(length_mm)
        places = way.places([base.place_mm for base in start.bases])[-1]
        return tuple(
            replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=base.heading_deg + way.turn_deg)
            for base, (x_mm, y_mm) in zip(start.bases, places, strict=True)
        )

    # A unit that must use its full move is legal only a hair before the end.
    shares = (1.0, max(0.0, 1.0 - _HAIR_MM / most_mm), *_SHARES[1:]) if most_mm > 0.0 else ()
    bases = _farthest(lambda share: after(share * most_mm), is_legal, shares)
    if bases is None:
        return None
    (first, *_), (there, *_) = start.bases, bases
    turn_deg = there.heading_deg - first.heading_deg
    ends = lanes.rotated([start.front.left_mm, start.front.right_mm], first.place_mm, turn_deg)
    ends += np.subtract(there.place_mm, first.place_mm)
    goal = [start.goal.left_mm, start.goal.right_mm]
    return float(np.linalg.norm(ends - goal, axis=1).max()), bases


def _best_about(
    start: Start,
    middle: Array,
    widths: Array,
    is_legal: IsLegal,
    limit_mm: float,
) -> tuple[float, Array] | None:
    """Returns the nearest legal move (arc, length, arc) on a grid about `middle`, and its distance.

    None if there is none within the limit.
    """
    moves = _moves_about(middle, widths, start.reach_mm)
    distances_mm = _distances_mm(start.front, moves, start.goal)
    order = np.argsort(distances_mm, kind="stable")
    # Judging is slow and illegal places cluster: sample ranks ever more sparsely.
    for place in order[[rank for rank in _TRIED if rank < len(order)]]:
        # Ranks are sorted: none of the rest can be nearer.
        if distances_mm[place] >= limit_mm:
            break
        if is_legal(_moved(start, moves[place])):
            return float(distances_mm[place]), moves[place]
    return None


def _moves_about(middle: Array, widths: Array, reach_mm: float) -> Array:
    """Returns grid moves (k, 3) about `middle` that are within reach."""
    axes = [np.linspace(at - by, at + by, _STEPS) for at, by in zip(middle, widths, strict=True)]
    moves = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    # Arcs and length share one allowance, and the straight move never goes backward.
    return np.asarray(moves[(np.abs(moves).sum(axis=1) <= reach_mm) & (moves[:, 1] >= 0.0)])


def _distances_mm(front: Axes, moves: Array, goal: Axes) -> Array:
    """Returns the distances (k,) from a goal of a front's farther end after moves (k, 3)."""
    ends = np.array([front.left_mm, front.right_mm])
    along = (ends[1] - ends[0]) / lanes.front_width_mm(front)
    width_mm = lanes.front_width_mm(front)
    left, across = np.tile(ends[0], (len(moves), 1)), np.tile(along, (len(moves), 1))
    left, across = _wheel(left, across, moves[:, 0], width_mm)
    ahead = np.stack([-across[:, 1], across[:, 0]], axis=1)
    left = left + ahead * moves[:, 1, None]
    left, across = _wheel(left, across, moves[:, 2], width_mm)
    apart = np.stack([left, left + across * width_mm], axis=1) - [goal.left_mm, goal.right_mm]
    return np.asarray(np.linalg.norm(apart, axis=-1).max(axis=1))


def _wheel(left: Array, across: Array, arcs_mm: Array, width_mm: float) -> tuple[Array, Array]:
    """Wheels fronts (k, 2) by arcs (k,), to the left where they are positive."""
    turn_rad = arcs_mm / width_mm
    cos, sin = np.cos(turn_rad), np.sin(turn_rad)
    x, y = across.T
    turned = np.stack([cos * x - sin * y, sin * x + cos * y], axis=1)
    # A right wheel pivots on the right corner, so the left one moves.
    to_right = (arcs_mm < 0.0)[:, None]
    return np.where(to_right, left + (across - turned) * width_mm, left), turned


def _moved(start: Start, move: Array) -> Bases:
    """Returns a unit's bases after a wheel, a straight move and a wheel."""
    first_mm, ahead_mm, last_mm = move.tolist()
    front, bases = after_wheel(start.front, start.bases, first_mm)
    bases = poses.ahead(bases, front.heading_deg, ahead_mm)
    return after_wheel(lanes.advanced(front, ahead_mm), bases, last_mm)[1]


def after_wheel(front: Axes, bases: Bases, arc_mm: float) -> tuple[Axes, Bases]:
    """Returns a front and bases after a wheel by an arc, to the left if it is positive."""
    corner: lanes.Corner = "left" if arc_mm > 0.0 else "right"
    angle_deg = lanes.turned_deg(front, corner, abs(arc_mm))
    turned = poses.wheeled(bases, lanes.pivot_mm(front, corner), angle_deg)
    return lanes.wheeled(front, corner, abs(arc_mm)), turned


def farthest_legal(unit: Unit, bases: Bases, is_legal: IsLegal) -> Bases | None:
    """Returns how far a unit may go toward where hands have laid it, None if no way at all.

    It shifts and turns evenly about its centre, tried in steps of a thirtieth, then by bisection
    from the first legal one.
    """
    (x_mm, y_mm), (to_x, to_y) = centre_mm(unit.bases), centre_mm(bases)
    turn_deg = difference_deg(bases[0].heading_deg, unit.bases[0].heading_deg)

    def after(share: float) -> Bases:
        return tuple(
            replace(
                base, x_mm=base.x_mm + (to_x - x_mm) * share, y_mm=base.y_mm + (to_y - y_mm) * share
            )
            for base in poses.wheeled(unit.bases, (x_mm, y_mm), turn_deg * share)
        )

    return _farthest(after, is_legal, _SHARES)


def _farthest(
    after: Callable[[float], Bases], is_legal: IsLegal, shares: Iterable[float]
) -> Bases | None:
    """Returns poses after the greatest legal share of a move, tried in descending order.

    From the first legal one it bisects.
    """
    high: float | None = None
    for share in shares:
        if is_legal(after(share)):
            onward = None if high is None else poses.farthest(after, is_legal, share, high)
            return onward or after(share)
        high = share
    return None
