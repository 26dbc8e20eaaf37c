"""Finds the cheapest path of a front from one pose to another by wheels and straight moves.

For wheels and straight moves in one sense, the outer corner travels as far as the middle plus half
the width per radian turned. So the cheapest wheel, straight move, wheel is the middle's shortest
path of bounded curvature, with half the width as radius (a Dubins path); straight move, wheel,
straight move is the cheapest that turns no more than it must. All six have closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import (
    CORNERS,
    Corner,
    advanced,
    front_width_mm,
    pivot_mm,
    rotated,
    swept_by_wheel,
    swept_straight,
    turned_deg,
    wheeled,
)
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.table.headings import forward, right
from tablecam.table.model import Point


def simple_end_fronts(start: Axes, end: Axes, *, within_mm: float) -> Iterator[Axes]:
    """Yields fronts near `end` that a wheel and a straight move, or two wheels, reach exactly.

    At most one per corner and order of the steps, if both of its corners are within `within_mm`.
    """
    width_mm = front_width_mm(start)
    start, end = squared(start, width_mm), squared(end, width_mm)
    for corner in CORNERS:
        turn_rad = forward_turn_rad(corner, start.heading_deg, end.heading_deg)
        front = wheeled(start, corner, turn_rad * width_mm)
        remaining = np.subtract(end.left_mm, front.left_mm)
        # The straight move goes along the start heading before the wheel, or the end's after it.
        for heading_deg in (start.heading_deg, end.heading_deg):
            length_mm = max(float(remaining @ np.array(forward(heading_deg))), 0.0)
            reached = advanced(replace(front, heading_deg=heading_deg), length_mm)
            if _apart_mm(reached, end) <= within_mm:
                yield replace(reached, heading_deg=front.heading_deg)
        # Between two wheels the front runs from the first pivot to the second.
        other: Corner = "right" if corner == "left" else "left"
        between = np.subtract(pivot_mm(end, other), pivot_mm(start, corner))
        lacking_mm = width_mm - float(np.hypot(*between))
        if abs(lacking_mm) <= within_mm:
            bearing_deg = math.degrees(math.atan2(between[1], between[0]))
            reached = advanced(replace(end, heading_deg=bearing_deg), lacking_mm)
            yield replace(reached, heading_deg=end.heading_deg)


def fronts_within(start: Axes, end: Axes, depth_mm: float, *, within_mm: float) -> list[Axes]:
    """Returns fronts that a player may have aimed for, within a tolerance of the actual one.

    The rear edge, `depth_mm` behind, may lead as well. A nearby start is included, as no path
    shifts a front slightly sideways.
    """
    faced = faced_about(start, depth_mm), faced_about(end, depth_mm)
    return [
        *([start] if _apart_mm(start, end) <= within_mm else []),
        *simple_end_fronts(start, end, within_mm=within_mm),
        *(faced_about(one, depth_mm) for one in simple_end_fronts(*faced, within_mm=within_mm)),
        *_shifted(end, within_mm),
    ]


def _shifted(end: Axes, by_mm: float) -> Iterator[Axes]:
    """Yields a front shifted sideways and turned, so that its corners move by a length."""
    half_mm = math.dist(end.left_mm, end.right_mm) / 2
    turn_deg = math.degrees(by_mm / half_mm)
    across = np.array(right(end.heading_deg)) * by_mm
    for aside, turn in product((-1.0, 0.0, 1.0), repeat=2):
        if aside or turn:
            ends = np.array([end.left_mm, end.right_mm]) + aside * across
            (left_x, left_y), (right_x, right_y) = ends.tolist()
            front = Axes((left_x, left_y), (right_x, right_y), end.heading_deg + turn * turn_deg)
            yield squared(front, 2 * half_mm)


def _apart_mm(one: Axes, other: Axes) -> float:
    """Returns the larger of the distances between the corners of two fronts."""
    return max(math.dist(one.left_mm, other.left_mm), math.dist(one.right_mm, other.right_mm))


Counted = Literal["outer-corner", "middle"]
"""The point whose path is the cost of a move: the front's outer corner, or its middle."""

_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Wheel:
    """A turn about a fixed corner, by an angle counter-clockwise; the other corner moves an arc."""

    about_mm: Point
    angle_deg: float
    arc_mm: float


@dataclass(frozen=True, slots=True)
class Straight:
    """A straight move along a heading."""

    heading_deg: float
    length_mm: float


@dataclass(frozen=True, slots=True)
class MovePath:
    """Wheels and straight moves in order, their cost, and the point whose path was counted."""

    steps: tuple[Wheel | Straight, ...]
    cost_mm: float
    counted: Counted = "outer-corner"

    def places(self, points_mm: Sequence[Point]) -> tuple[tuple[Point, ...], ...]:
        """Returns the positions of points at the start and after each step."""
        places = [np.array(points_mm, dtype=np.float64)]
        for step in self.steps:
            if isinstance(step, Wheel):
                places.append(rotated(places[-1], step.about_mm, step.angle_deg))
            else:
                places.append(places[-1] + np.array(forward(step.heading_deg)) * step.length_mm)
        return tuple(tuple((float(x), float(y)) for x, y in place) for place in places)

    def cut(self, length_mm: float) -> MovePath:
        """Returns its beginning up to a length: arcs of the outer corner and straight moves."""
        steps: list[Wheel | Straight] = []
        left_mm = length_mm
        for step in self.steps:
            whole_mm = step.arc_mm if isinstance(step, Wheel) else step.length_mm
            share = min(1.0, left_mm / whole_mm)
            if isinstance(step, Wheel):
                steps.append(Wheel(step.about_mm, step.angle_deg * share, step.arc_mm * share))
            else:
                steps.append(replace(step, length_mm=step.length_mm * share))
            left_mm -= whole_mm * share
        return _path(steps, self.counted)

    @property
    def turn_deg(self) -> float:
        """The total turn of a front, counter-clockwise."""
        return math.fsum(step.angle_deg for step in self.steps if isinstance(step, Wheel))


@lru_cache(maxsize=2048)
def cheapest_path(
    start: Axes, end: Axes, *, counted: Counted = "outer-corner", within_mm: float = 0.0
) -> MovePath:
    """Returns the cheapest forward path from one front to another of its width.

    There is always one; if `end` is not ahead, the path may turn full circle. It may end at a front
    within a distance of `end` that two steps reach: an end a hair short of a wheel needs that.
    """
    ends = (end, *simple_end_fronts(start, end, within_mm=within_mm)) if within_mm else (end,)
    paths = (path for front in ends for path in paths_between(start, front, counted=counted))
    return min(paths, key=lambda path: path.cost_mm)


def paths_between(
    start: Axes, end: Axes, *, counted: Counted = "outer-corner"
) -> tuple[MovePath, ...]:
    """Returns the forward paths of up to three steps between two fronts, about either corner."""
    # A measured front is not quite square to its heading. Both are squared, so that equal fronts
    # are 0 apart: about their middles and, for wheels about one corner only, about that corner,
    # because a player holds the base there and not where the edge would end in a perfect line.
    width_mm = front_width_mm(start)
    paths = _paths(squared(start, width_mm), squared(end, width_mm), CORNERS, counted)
    if is_square(start) or is_square(end):
        return tuple(paths)
    for corner in CORNERS:
        before, after = squared(start, width_mm, corner), squared(end, width_mm, corner)
        paths += _paths(before, after, (corner,), counted)
    return tuple(paths)


def _paths(start: Axes, end: Axes, corners: Sequence[Corner], counted: Counted) -> list[MovePath]:
    paths = [
        _as_path(start, first, straight_mm, last, counted)
        for first, straight_mm, last in _turns(start, end, corners)
    ]
    return [*paths, *_single_turns(start, end, corners, counted)]


def faced_about(front: Axes, depth_mm: float) -> Axes:
    """Returns the front of a formation `depth_mm` deep after facing about.

    A backward path of a unit is a forward path of that front.
    """
    back = np.array(forward(front.heading_deg)) * depth_mm
    left, end = np.subtract(front.right_mm, back), np.subtract(front.left_mm, back)
    heading_deg = front.heading_deg + 180.0
    return Axes((float(left[0]), float(left[1])), (float(end[0]), float(end[1])), heading_deg)


def swept(path: MovePath, shapes: Sequence[shapely.Polygon]) -> shapely.Geometry:
    """Returns the area that convex shapes sweep on a path, start and end included."""
    areas: list[shapely.Geometry] = list(shapes)
    current = list(shapes)
    for step in path.steps:
        if isinstance(step, Wheel):
            areas.append(swept_by_wheel(current, step.about_mm, step.angle_deg))
        else:
            areas.append(swept_straight(current, step.heading_deg, step.length_mm))
        current = [_after_step(shape, step) for shape in current]
    return shapely.union_all(areas, grid_size=GRID_MM)


def _after_step(shape: shapely.Polygon, step: Wheel | Straight) -> shapely.Polygon:
    points = shapely.get_coordinates(shape)
    path = MovePath((step,), 0.0)
    return shapely.Polygon(path.places([(float(x), float(y)) for x, y in points])[-1])


def _turns(
    start: Axes, end: Axes, corners: Sequence[Corner]
) -> Iterator[tuple[tuple[Corner, float], float, tuple[Corner, float]]]:
    """Yields the paths wheel, straight move, wheel: corner and angle in rad, length, corner, angle.

    A corner stands still while the front wheels about it, so the first pivot is known from the
    start and the last from the end. Their distance gives the straight move in between.
    """
    width_mm = front_width_mm(start)
    for first in corners:
        for last in corners:
            between = np.subtract(pivot_mm(end, last), pivot_mm(start, first))
            across_mm = 0.0 if first == last else (width_mm if first == "left" else -width_mm)
            square = float(between @ between) - across_mm**2
            if square < -_NOTHING * width_mm**2:
                continue
            straight_mm = math.sqrt(max(square, 0.0))
            if first == last and straight_mm < _NOTHING:
                heading_deg = end.heading_deg
            else:
                bearing_rad = math.atan2(between[1], between[0])
                facing_rad = bearing_rad + math.atan2(across_mm, straight_mm)
                heading_deg = math.degrees(facing_rad)
            turn = forward_turn_rad(first, start.heading_deg, heading_deg)
            yield (
                (first, turn),
                straight_mm,
                (last, forward_turn_rad(last, heading_deg, end.heading_deg)),
            )


def forward_turn_rad(corner: Corner, from_deg: float, to_deg: float) -> float:
    """Returns the angle of a wheel forward about a corner between two headings, 0 to 2 pi."""
    turn_deg = to_deg - from_deg if corner == "left" else from_deg - to_deg
    turn_rad = math.radians(turn_deg % 360.0)
    # Almost a full turn is a rounding error of none.
    return 0.0 if 2 * math.pi - turn_rad < _NOTHING else turn_rad


def _single_turns(
    start: Axes, end: Axes, corners: Sequence[Corner], counted: Counted
) -> Iterator[MovePath]:
    """Yields the paths straight move, wheel, straight move."""
    width_mm = front_width_mm(start)
    ahead, onward = np.array(forward(start.heading_deg)), np.array(forward(end.heading_deg))
    cross = float(ahead[0] * onward[1] - ahead[1] * onward[0])
    if abs(cross) < _NOTHING:
        return
    for corner in corners:
        turn_rad = forward_turn_rad(corner, start.heading_deg, end.heading_deg)
        turned = wheeled(start, corner, turn_rad * width_mm)
        remaining = np.subtract(end.middle_mm, turned.middle_mm)
        first, last = np.linalg.solve(np.stack([ahead, onward], axis=1), remaining).tolist()
        if first < -_NOTHING or last < -_NOTHING:
            continue
        before = advanced(start, first)
        wheel = Wheel(pivot_mm(before, corner), *_angle_and_arc(before, corner, turn_rad))
        steps = (Straight(start.heading_deg, first), wheel, Straight(end.heading_deg, last))
        yield _path(steps, counted)


def _as_path(
    start: Axes,
    first: tuple[Corner, float],
    straight_mm: float,
    last: tuple[Corner, float],
    counted: Counted,
) -> MovePath:
    wheel = Wheel(pivot_mm(start, first[0]), *_angle_and_arc(start, *first))
    front = wheeled(start, first[0], wheel.arc_mm)
    straight = Straight(front.heading_deg, straight_mm)
    front = advanced(front, straight_mm)
    onward = Wheel(pivot_mm(front, last[0]), *_angle_and_arc(front, *last))
    return _path((wheel, straight, onward), counted)


def _angle_and_arc(front: Axes, corner: Corner, turn_rad: float) -> tuple[float, float]:
    arc_mm = turn_rad * front_width_mm(front)
    return turned_deg(front, corner, arc_mm), arc_mm


def _path(steps: Sequence[Wheel | Straight], counted: Counted) -> MovePath:
    """Returns the path of the steps that are longer than 0, with its cost."""
    # In a wheel the middle moves half as far as the outer corner.
    share = 0.5 if counted == "middle" else 1.0
    lengths = [step.arc_mm if isinstance(step, Wheel) else step.length_mm for step in steps]
    real_steps = tuple(step for step, mm in zip(steps, lengths, strict=True) if mm > _NOTHING)
    wheels = math.fsum(step.arc_mm for step in real_steps if isinstance(step, Wheel))
    straights = math.fsum(step.length_mm for step in real_steps if isinstance(step, Straight))
    return MovePath(real_steps, straights + share * wheels, counted)


def is_square(front: Axes) -> bool:
    """Whether a front edge is square to its heading."""
    rise_mm = np.subtract(front.right_mm, front.left_mm) @ np.array(forward(front.heading_deg))
    return bool(abs(rise_mm) < _NOTHING)


def squared(front: Axes, width_mm: float, corner: Corner | None = None) -> Axes:
    """Returns a front of a width, square to its heading, about its middle or a corner."""
    across = np.array(right(front.heading_deg)) * width_mm
    left_share = {None: 0.5, "left": 0.0, "right": 1.0}[corner]
    about = np.array(front.middle_mm if corner is None else pivot_mm(front, corner))
    left, end = (about - left_share * across).tolist(), (about + (1 - left_share) * across).tolist()
    return replace(front, left_mm=(left[0], left[1]), right_mm=(end[0], end[1]))
