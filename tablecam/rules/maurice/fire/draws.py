"""Sampled fire: which draws of the poses let a base hit a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.geometry.zone_ranges import first_hit_in_frames, rectangles_hit_in_frames
from tablecam.geometry.zones import Strip
from tablecam.rules.maurice.field.tables import PAST_OBSTRUCTION_BW, SLIVER_MM, TURN_DEG
from tablecam.rules.maurice.fire.bounds import Stage
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter, UnitBase
from tablecam.rules.maurice.fire.zone import TIE_MM
from tablecam.uncertainty.samples import draw_poses

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A base and its surroundings in d draws, in the frame of the middle of its front edge.

    `corners_mm` (d, n, 4, 2) are the others' corners, `hidden` (d, n) which of them it does not
    see, `obstructing_mm` (d, c, 2) the corners of each piece of terrain, `errors_rad` (d,) the
    rotation of the base in each draw.
    """

    strip: Strip
    bw_mm: float
    others: tuple[OtherBase, ...]
    corners_mm: Array
    hidden: Flags
    obstructing_mm: tuple[Array, ...]
    errors_rad: Array

    def hit(self, is_target: Flags, stage: Stage, turns_deg: Array, asked: Flags) -> Flags:
        """Returns in which of the `asked` draws (d,) a target is hit at one of the angles.

        `is_target` (n,) marks the bases of the target unit among the others.

        The angles are those on the table: where an error turns the base, it turns its zone back by
        as much. Where none of them hits, the angles between crossings of the zone's sides in that
        draw are tried too, because a gap may be narrower than the step between angles.
        """
        hit = np.zeros(len(self.errors_rad), dtype=bool)
        most_rad = np.radians(TURN_DEG)
        # From the median outward: most draws are settled by the first few angles.
        for turn_deg in turns_deg[np.argsort(np.abs(turns_deg - np.median(turns_deg)))].tolist():
            left = np.flatnonzero(asked & ~hit)
            turns_rad = np.radians(turn_deg) - self.errors_rad[left]
            turns_rad = np.clip(turns_rad, -most_rad, most_rad) * stage.is_turned
            hit[left] = self._hit_at(is_target, stage, turns_rad, left)
        if stage.is_turned:
            draws = np.flatnonzero(asked & ~hit)
            for turns_rad in self._between_rad(is_target, turns_deg, draws).T:
                left = ~hit[draws] & np.isfinite(turns_rad)
                hit[draws[left]] = self._hit_at(is_target, stage, turns_rad[left], draws[left])
        return hit

    def _between_rad(self, is_target: Flags, turns_deg: Array, at: Indices) -> Array:
        """Returns the angles (d, k) midway between crossings of a zone's sides by corners, rising.

        For the draws `at`, within the range of `turns_deg` and of the angles that meet the target;
        padded with nan.
        """
        if not (len(at) and is_target.any()):
            return np.zeros((len(at), 0))
        inner, most_rad = self.strip.narrowed(SLIVER_MM), np.radians(TURN_DEG)
        corners = [self.corners_mm[at].reshape(len(at), -1, 2)]
        corners += [piece[at] for piece in self.obstructing_mm]
        target_corners = self.corners_mm[at][:, is_target].reshape(len(at), -1, 2)
        target_turns_rad, turns_rad = (
            _crossings_rad(inner, points_mm)
            for points_mm in (target_corners, np.concatenate(corners, axis=1))
        )
        window_rad = np.radians(turns_deg[[0, -1]])[:, None] - self.errors_rad[at]
        first = np.fmax(np.fmin.reduce(target_turns_rad, axis=1), window_rad.clip(-most_rad)[0])
        last = np.fmin(np.fmax.reduce(target_turns_rad, axis=1), window_rad.clip(max=most_rad)[1])
        first[first > last] = np.nan
        first, last = first[:, None], last[:, None]
        turns_rad[~((turns_rad > first) & (turns_rad < last))] = np.nan
        turns_rad = np.sort(np.concatenate([turns_rad, first, last], axis=1), axis=1)
        return np.asarray((turns_rad[:, 1:] + turns_rad[:, :-1]) / 2)

    def _hit_at(self, is_target: Flags, stage: Stage, turns_rad: Array, at: Indices) -> Flags:
        """Returns which of the draws `at` hit a target at one angle each."""
        if not len(at):
            return np.zeros(0, dtype=bool)
        starts_mm = rectangles_hit_in_frames(self.strip, turns_rad, self.corners_mm[at], SLIVER_MM)
        starts_mm[self.hidden[at]] = np.inf
        begins_mm = starts_mm[:, is_target].min(axis=1, initial=np.inf)
        ends_mm = np.full(len(at), stage.longest_mm)
        for piece in self.obstructing_mm:
            met_mm = first_hit_in_frames(self.strip, turns_rad, piece[at][:, None], SLIVER_MM)
            ends_mm = np.minimum(ends_mm, met_mm[:, 0] + PAST_OBSTRUCTION_BW * self.bw_mm)
        limit_mm = np.minimum(ends_mm, starts_mm.min(axis=1, initial=np.inf) + TIE_MM) + EXACT_MM
        is_far_enough = begins_mm > stage.nearest_mm + EXACT_MM
        return np.asarray(np.isfinite(begins_mm) & (begins_mm <= limit_mm) & is_far_enough)


def _crossings_rad(strip: Strip, corners_mm: Array) -> Array:
    """Returns the angles (d, 2 c) at which corners (d, c, 2) cross a strip's sides; nan: never."""
    far_mm = np.hypot(corners_mm[..., 0], corners_mm[..., 1])[..., None]
    ratios = np.array([strip.left_mm, strip.right_mm]) / np.maximum(far_mm, EXACT_MM)
    bearings_rad = np.arctan2(-corners_mm[..., 0], corners_mm[..., 1])[..., None]
    asides_rad = np.arcsin(np.where(np.abs(ratios) <= 1.0, ratios, np.nan))
    return np.asarray((bearings_rad + asides_rad).reshape(len(corners_mm), -1))


def scene(base: Shooter, others: Sequence[OtherBase], hidden: Flags) -> Scene:
    """Builds the scene around a base, from the same draws each time.

    `hidden` (d, n) marks which of the others it does not see in each draw.
    """
    corners_mm = drawn_corners([base, *others])
    left_mm, right_mm = corners_mm[:, 0, 0], corners_mm[:, 0, 1]
    along = (right_mm - left_mm) / np.hypot(*(right_mm - left_mm).T)[:, None]
    axes = np.stack([along, np.stack([-along[:, 1], along[:, 0]], axis=1)], axis=1)
    pivots_mm = (left_mm + right_mm) / 2
    turned = axes @ base.strip.axes.T
    rings = (shapely.get_rings(shapely.get_parts(piece))[0] for piece in base.obstructing)
    seen_mm = _seen_from(pivots_mm, axes, corners_mm[:, 1:].reshape(len(hidden), -1, 2))
    return Scene(
        base.strip,
        base.bw_mm,
        tuple(others),
        seen_mm.reshape(len(hidden), -1, 4, 2),
        hidden,
        tuple(
            _seen_from(pivots_mm, axes, shapely.get_coordinates(ring)[None, :-1]) for ring in rings
        ),
        np.arctan2(turned[:, 0, 1], turned[:, 0, 0]),
    )


def drawn_corners(bases: Sequence[UnitBase]) -> Array:
    """Returns the corners of bases in each draw: (d, n, 4, 2)."""
    corners_mm = [draw_poses(rectangles([base.pose]), [base.name]).corners_mm() for base in bases]
    return np.stack(corners_mm, axis=1)


def _seen_from(pivots_mm: Array, axes: Array, points_mm: Array) -> Array:
    """Transforms points (d, k, 2), or the same (1, k, 2) for all, into the frames of d draws."""
    return np.asarray((points_mm - pivots_mm[:, None]) @ axes.transpose(0, 2, 1))
