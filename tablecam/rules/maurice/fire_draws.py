"""Whom a base hits in each of many draws of where it and the bases about it lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.rectangles import Rectangles, rectangles
from tablecam.measure.samples import DRAWS, sampled
from tablecam.measure.zone_ranges import first_met_in_frames
from tablecam.measure.zones import Strip
from tablecam.rules.maurice.fire_bounds import Stage
from tablecam.rules.maurice.fire_shooter import Other, Shooter
from tablecam.rules.maurice.fire_zone import TIE_MM
from tablecam.rules.maurice.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A base and what is about it, drawn d times, as seen from the middle of its front edge.

    `corners_mm` (d, n, 4, 2) are the others' corners, `obstructing_mm` (d, c, 2) those of each
    piece of terrain, `errors_rad` (d,) by how much the base is turned in each draw.
    """

    strip: Strip
    bw_mm: float
    others: tuple[Other, ...]
    corners_mm: Array
    obstructing_mm: tuple[Array, ...]
    errors_rad: Array

    def hit(self, unit_id: str, stage: Stage, turns_deg: Array, asked: Flags) -> Flags:
        """In which of the draws asked for (d,) a unit can be hit at one or another of some angles.

        The angles are those on the table: where the base is turned by an error, it turns its zone
        back by as much.
        """
        found = np.zeros(len(self.errors_rad), dtype=bool)
        for turn_deg in turns_deg[np.argsort(np.abs(turns_deg - np.median(turns_deg)))].tolist():
            left = np.flatnonzero(asked & ~found)
            if not len(left):
                break
            found[left] = self._hit_at(unit_id, stage, turn_deg, left)
        return found

    def _hit_at(self, unit_id: str, stage: Stage, turn_deg: float, at: Indices) -> Flags:
        most_rad = np.radians(TURN_DEG)
        turns_rad = np.zeros(len(at))
        if len(stage.turns_deg) > 1:
            turns_rad = np.clip(np.radians(turn_deg) - self.errors_rad[at], -most_rad, most_rad)
        starts_mm = first_met_in_frames(self.strip, turns_rad, self.corners_mm[at], SLIVER_MM)
        is_theirs = np.array([other.unit.id == unit_id for other in self.others], dtype=bool)
        begins_mm = starts_mm[:, is_theirs].min(axis=1, initial=np.inf)
        ends_mm = np.full(len(at), stage.longest_mm)
        for piece in self.obstructing_mm:
            met_mm = first_met_in_frames(self.strip, turns_rad, piece[at][:, None], SLIVER_MM)
            ends_mm = np.minimum(ends_mm, met_mm[:, 0] + PAST_OBSTRUCTION_BW * self.bw_mm)
        limit_mm = np.minimum(ends_mm, starts_mm.min(axis=1, initial=np.inf) + TIE_MM) + EXACT_MM
        is_far_enough = begins_mm > stage.nearest_mm + EXACT_MM
        return np.asarray(np.isfinite(begins_mm) & (begins_mm <= limit_mm) & is_far_enough)


def scene(base: Shooter, others: Sequence[Other]) -> Scene:
    """What lies about a base, in the same draws each time."""
    places = drawn(base, others)
    corners_mm = places.corners_mm().reshape(DRAWS, -1, 4, 2)
    axes = places.axes.reshape(DRAWS, -1, 2, 2)[:, 0]
    pivots_mm = corners_mm[:, 0, :2].mean(axis=1)
    turned = axes @ base.strip.axes.T
    rings = (shapely.get_rings(shapely.get_parts(piece))[0] for piece in base.obstructing)
    return Scene(
        base.strip,
        base.bw_mm,
        tuple(others),
        _seen_from(pivots_mm, axes, corners_mm[:, 1:].reshape(DRAWS, -1, 2)).reshape(
            DRAWS, -1, 4, 2
        ),
        tuple(
            _seen_from(pivots_mm, axes, shapely.get_coordinates(ring)[None, :-1]) for ring in rings
        ),
        np.arctan2(turned[:, 0, 1], turned[:, 0, 0]),
    )


def drawn(base: Shooter, others: Sequence[Other]) -> Rectangles:
    """The base and those about it, drawn as `sampled` does."""
    return sampled(rectangles([base.pose, *(other.pose for other in others)]))


def _seen_from(pivots_mm: Array, axes: Array, points_mm: Array) -> Array:
    """Points (d, k, 2), or the same (1, k, 2) for all, in the frames of d draws."""
    return np.asarray((points_mm - pivots_mm[:, None]) @ axes.transpose(0, 2, 1))
