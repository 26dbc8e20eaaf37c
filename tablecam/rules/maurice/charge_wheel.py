"""How far units have room to wheel before they charge (M-8.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.fans import corners_of
from tablecam.measure.lanes import Corner, front_width_mm, pivot_mm
from tablecam.measure.outlines import GRID_MM
from tablecam.measure.turning import first_turn_rad, free_turns_rad, half_planes
from tablecam.rules.maurice.field import UnitOnField
from tablecam.rules.maurice.tables import SLIVER_MM
from tablecam.table.headings import forward

Array = NDArray[np.float64]

_NEARLY_MM = 0.02
"""A unit whose bases fill a rectangle but for so much of its sides' length is that rectangle."""


@dataclass(frozen=True, slots=True, eq=False)
class Wheel:
    """A wheel about a corner that is to pass over none of `others` and no `forbidden` ground.

    Not where the unit already stands, and no longer than `longest_mm`. With a slack it may go so
    much farther into other units, with one below 0 it has to keep so far off them.
    """

    unit: UnitOnField
    corner: Corner
    others: Sequence[UnitOnField]
    longest_mm: float
    forbidden: shapely.Geometry
    slack_mm: float = 0.0

    @property
    def sense(self) -> float:
        """1 where it turns counter-clockwise, else -1."""
        return 1.0 if self.corner == "left" else -1.0


def longest_free_arcs_mm(wheels: Sequence[Wheel]) -> list[float]:
    """How far units can wheel before they pass over what they may not."""
    near = [_near(wheel) for wheel in wheels]
    parts = _parts([wheel.unit for wheel in wheels] + [other for each in near for other in each])
    turns_rad = np.full(len(wheels), np.inf)
    rows = [
        (place, one, other)
        for place, (wheel, others) in enumerate(zip(wheels, near, strict=True))
        for neighbour in others
        for one in parts[wheel.unit]
        for other in parts[neighbour]
    ]
    if rows:
        of_wheel = np.array([place for place, _, _ in rows])
        met_rad = free_turns_rad(
            np.array([pivot_mm(wheel.unit.axes, wheel.corner) for wheel in wheels])[of_wheel],
            np.array([wheel.sense for wheel in wheels])[of_wheel],
            half_planes(np.array([one for _, one, _ in rows])),
            half_planes(np.array([other for _, _, other in rows])).grown(
                -np.array([wheel.slack_mm for wheel in wheels])[of_wheel]
            ),
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


def _near(wheel: Wheel) -> list[UnitOnField]:
    """The other units that a wheel can come to."""
    outlines = np.array([other.outline for other in wheel.others], dtype=object)
    reach_mm = _farthest_mm(wheel) + max(-wheel.slack_mm, 0.0)
    is_near = shapely.dwithin(wheel.unit.outline, outlines, reach_mm)
    return [wheel.others[place] for place in np.flatnonzero(is_near).tolist()]


def _farthest_mm(wheel: Wheel) -> float:
    """How far any part of the unit goes in the longest wheel."""
    corners_mm = shapely.get_coordinates(wheel.unit.outline)
    offsets_mm = corners_mm - pivot_mm(wheel.unit.axes, wheel.corner)
    turn_rad = wheel.longest_mm / front_width_mm(wheel.unit.axes)
    return float(np.hypot(*offsets_mm.T).max()) * turn_rad


def _parts(units: Iterable[UnitOnField]) -> Mapping[UnitOnField, Array]:
    """Rectangles (n, 4, 2) that make up each unit: one where its bases fill it, else its bases."""
    return {unit: _as_few_rectangles(unit) for unit in dict.fromkeys(units)}


def _as_few_rectangles(unit: UnitOnField) -> Array:
    corners_mm = corners_of(unit.bases)
    ahead = np.array(forward(unit.axes.heading_deg))
    axes = np.stack([[ahead[1], -ahead[0]], ahead])
    local = corners_mm.reshape(-1, 2) @ axes.T
    (left, low), (right, high) = local.min(axis=0), local.max(axis=0)
    gap_mm2 = (right - left) * (high - low) - float(shapely.area(unit.bases).sum())
    if abs(gap_mm2) > _NEARLY_MM * (right - left + high - low):
        return corners_mm
    whole = np.array([[[left, high], [right, high], [right, low], [left, low]]])
    return np.asarray(whole @ axes)


def _free_of_ground_rad(wheel: Wheel, parts: Array) -> float:
    """By what turn a wheel comes upon ground that it may not pass over; infinite if it does not."""
    ground, outline = wheel.forbidden, wheel.unit.outline
    if shapely.is_empty(ground) or not shapely.dwithin(ground, outline, _farthest_mm(wheel)):
        return math.inf
    rest = shapely.difference(ground, outline, grid_size=GRID_MM)
    deep = shapely.buffer(rest, -SLIVER_MM / 2)
    rings = shapely.get_rings(shapely.get_parts(deep))
    points, of_ring = shapely.get_coordinates(rings, return_index=True)
    goes_on = of_ring[1:] == of_ring[:-1]
    edges = np.stack([points[:-1][goes_on], points[1:][goes_on]], axis=1)
    if not len(edges):
        return math.inf
    inner = half_planes(parts).grown(-SLIVER_MM / 2)
    return first_turn_rad(pivot_mm(wheel.unit.axes, wheel.corner), wheel.sense, inner, edges)
