"""Room to wheel: how far units can wheel before they charge (M-8.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.fans import corners_of
from tablecam.geometry.moves.lanes import Corner, front_width_mm, pivot_mm
from tablecam.geometry.moves.turning import first_turn_rad, free_turns_rad, half_planes
from tablecam.geometry.outlines import GRID_MM
from tablecam.rules.maurice.charge.ground import Forbidden
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.table.headings import forward

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]

_NEARLY_MM = 0.02
"""A unit is taken for a rectangle if its bases leave at most this gap along its sides."""


@dataclass(frozen=True, slots=True, eq=False)
class Wheel:
    """A wheel about a corner that may pass over none of `others` and no `forbidden` ground.

    Friends in line beside the unit do not block it, nor does ground where it already stands. It is
    no longer than `longest_mm`.
    """

    unit: UnitOnField
    corner: Corner
    others: Sequence[UnitOnField]
    longest_mm: float
    forbidden: Forbidden

    @property
    def sense(self) -> float:
        """1 for a counter-clockwise turn, -1 for a clockwise one."""
        return 1.0 if self.corner == "left" else -1.0


def longest_free_arcs_mm(wheels: Sequence[Wheel]) -> list[float]:
    """Returns how far units can wheel before something blocks them."""
    others = [
        [other for other in wheel.others if not wheel.unit.touches_flank_of_line(other)]
        for wheel in wheels
    ]
    parts = _parts(
        unit for wheel, met in zip(wheels, others, strict=True) for unit in (wheel.unit, *met)
    )
    turns_rad = np.full(len(wheels), np.inf)
    pairs = [
        _pairs(place, parts[wheel.unit], [parts[other] for other in met])
        for place, (wheel, met) in enumerate(zip(wheels, others, strict=True))
        if met
    ]
    if pairs:
        of_wheel, own, other = map(np.concatenate, zip(*pairs, strict=True))
        far_mm = np.array([_farthest_mm(wheel) for wheel in wheels])[of_wheel]
        # Most pairs are too far apart to meet; circles sort them out cheaply.
        near = _are_near(own, other, far_mm)
        of_wheel = of_wheel[near]
        met_rad = free_turns_rad(
            np.array([pivot_mm(wheel.unit.axes, wheel.corner) for wheel in wheels])[of_wheel],
            np.array([wheel.sense for wheel in wheels])[of_wheel],
            half_planes(own[near]),
            half_planes(other[near]),
            SLIVER_MM,
        )
        np.minimum.at(turns_rad, of_wheel, met_rad)
    return [
        min(
            wheel.longest_mm,
            front_width_mm(wheel.unit.axes)
            * min(turn_rad, _free_of_ground_rad(wheel, parts[wheel.unit])),
        )
        for wheel, turn_rad in zip(wheels, turns_rad.tolist(), strict=True)
    ]


def _pairs(place: int, own: Array, others: Sequence[Array]) -> tuple[Indices, Array, Array]:
    """Pairs each rectangle (p, 4, 2) of a unit with each of others, with the wheel's index."""
    of_others = np.concatenate(others)
    count = len(own) * len(of_others)
    return (
        np.full(count, place),
        np.repeat(own, len(of_others), axis=0),
        np.tile(of_others, (len(own), 1, 1)),
    )


def _are_near(these: Array, others: Array, far_mm: Array) -> Bools:
    """Returns which rectangles (r, 4, 2) are within a distance, by circles around them."""
    middle, other = these.mean(axis=1), others.mean(axis=1)
    round_mm = np.hypot(*(these[:, 0] - middle).T) + np.hypot(*(others[:, 0] - other).T)
    return np.asarray(np.hypot(*(middle - other).T) <= round_mm + far_mm)


def _farthest_mm(wheel: Wheel) -> float:
    """Returns how far any part of the unit moves in the longest wheel."""
    corners_mm = shapely.get_coordinates(wheel.unit.outline)
    offsets_mm = corners_mm - pivot_mm(wheel.unit.axes, wheel.corner)
    turn_rad = wheel.longest_mm / front_width_mm(wheel.unit.axes)
    return float(np.hypot(*offsets_mm.T).max()) * turn_rad


def _parts(units: Iterable[UnitOnField]) -> Mapping[UnitOnField, Array]:
    """Returns rectangles (n, 4, 2) that make up each unit: a single one if its bases fill it."""
    parts: dict[UnitOnField, Array] = {}
    by_count = sorted(dict.fromkeys(units), key=lambda unit: len(unit.bases))
    # Units with equally many bases share one array.
    for count, together in groupby(by_count, key=lambda unit: len(unit.bases)):
        alike = list(together)
        corners_mm = corners_of([base for unit in alike for base in unit.bases])
        corners_mm = corners_mm.reshape(len(alike), count, 4, 2)
        wholes, is_filled = _wholes(alike, corners_mm)
        parts |= {
            unit: whole if filled else bases
            for unit, whole, filled, bases in zip(alike, wholes, is_filled, corners_mm, strict=True)
        }
    return parts


def _wholes(units: Sequence[UnitOnField], corners_mm: Array) -> tuple[Array, Bools]:
    """Returns rectangles (u, 1, 4, 2) around bases (u, n, 4, 2), and which are filled by them."""
    ahead = np.array([forward(unit.axes.heading_deg) for unit in units])
    axes = np.stack([np.stack([ahead[:, 1], -ahead[:, 0]], axis=1), ahead], axis=1)
    local = corners_mm.reshape(len(units), -1, 2) @ axes.swapaxes(1, 2)
    low, high = local.min(axis=1), local.max(axis=1)
    left, right = low[:, 0], high[:, 0]
    wide, deep = (corners_mm[:, :, end] - corners_mm[:, :, 1] for end in (0, 2))
    filled_mm2 = np.abs(wide[..., 0] * deep[..., 1] - wide[..., 1] * deep[..., 0]).sum(axis=1)
    gaps_mm2 = (high - low).prod(axis=1) - filled_mm2
    places = [[left, high[:, 1]], [right, high[:, 1]], [right, low[:, 1]], [left, low[:, 1]]]
    wholes = np.moveaxis(np.array(places), -1, 0) @ axes
    return wholes[:, None], np.abs(gaps_mm2) <= _NEARLY_MM * (high - low).sum(axis=1)


def _free_of_ground_rad(wheel: Wheel, parts: Array) -> float:
    """Returns the turn at which a wheel reaches forbidden ground; infinite if it never does."""
    ground, outline, far_mm = wheel.forbidden, wheel.unit.outline, _farthest_mm(wheel)
    if ground.is_nowhere or not shapely.dwithin(ground.area, outline, far_mm):
        return math.inf
    deep = ground.deep
    if shapely.intersects(ground.area, outline):
        # Ground under the unit's present place does not count.
        rest = shapely.difference(ground.area, outline, grid_size=GRID_MM)
        deep = shapely.buffer(rest, -SLIVER_MM / 2)
    edges = _edges_near(deep, outline, far_mm)
    if not len(edges):
        return math.inf
    inner = half_planes(parts).grown(-SLIVER_MM / 2)
    return first_turn_rad(pivot_mm(wheel.unit.axes, wheel.corner), wheel.sense, inner, edges)


def _edges_near(area: shapely.Geometry, outline: shapely.Geometry, far_mm: float) -> Array:
    """Returns the edges (e, 2, 2) of an area whose boxes come within a distance of a unit."""
    rings = shapely.get_rings(shapely.get_parts(area))
    points, of_ring = shapely.get_coordinates(rings, return_index=True)
    goes_on = of_ring[1:] == of_ring[:-1]
    edges = np.stack([points[:-1][goes_on], points[1:][goes_on]], axis=1)
    low, high = np.split(shapely.bounds(outline), 2)
    is_near = (edges.min(axis=1) <= high + far_mm) & (edges.max(axis=1) >= low - far_mm)
    return np.asarray(edges[is_near.all(axis=1)])
