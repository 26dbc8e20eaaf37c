"""Stacks of counters on a simulated table: their order and levels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from tablecam.simulate.overlap import do_overlap
from tablecam.simulate.places import Place, corners_mm
from tablecam.table.roster import BaseType


def stacked(
    places: Mapping[int, Place], base_types: Mapping[int, BaseType], order: Mapping[int, float]
) -> dict[int, Place]:
    """Returns the places of counters with their levels, by tag and from the bottom up.

    Of two counters that overlap, the one with the larger number in `order` lies on top.
    """
    lying: dict[int, Place] = {}
    for tag in sorted(places, key=order.__getitem__):
        beneath = (
            other.level + 1
            for below, other in lying.items()
            if _overlap(places[tag], base_types[tag], other, base_types[below])
        )
        lying[tag] = replace(places[tag], level=max(beneath, default=0))
    return lying


def _overlap(place: Place, base_type: BaseType, other: Place, other_type: BaseType) -> bool:
    # Most counters lie far apart, which their half diagonals show at once.
    reach_mm = _half_diagonal_mm(base_type) + _half_diagonal_mm(other_type)
    if math.dist((place.x_mm, place.y_mm), (other.x_mm, other.y_mm)) >= reach_mm:
        return False
    mine = corners_mm(place, base_type.width_mm, base_type.depth_mm)
    theirs = corners_mm(other, other_type.width_mm, other_type.depth_mm)
    return do_overlap(mine[None], theirs[None])


def _half_diagonal_mm(base_type: BaseType) -> float:
    return math.hypot(base_type.width_mm, base_type.depth_mm) / 2
