"""Vectorised front edges of units, measured or drawn, and the strips directly ahead of them.

Directly in front means ahead of the front line and between the flank lines (G-3, G-4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.geometry.outlines import FIT_LIMIT_DEG, GRID_MM, Axes, table_outline
from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles
from tablecam.table.formation import front_rank
from tablecam.table.headings import forward
from tablecam.table.model import TableSize, Unit

_FAR_MM = 1e4
_FIT_LIMIT_COS = math.cos(math.radians(FIT_LIMIT_DEG))


@dataclass(frozen=True, slots=True, eq=False)
class Fronts:
    """Front edges and headings of k units, or of k draws of one unit.

    `left_mm` and `right_mm` (k, 2) are the ends of the edges, `heading` (k, 2) unit vectors.
    """

    left_mm: Array
    right_mm: Array
    heading: Array

    @classmethod
    def of(cls, axes: Axes) -> Fronts:
        """Returns one front edge, k = 1."""
        return cls.of_all([axes])

    @classmethod
    def of_all(cls, axes: Sequence[Axes]) -> Fronts:
        """Returns the front edges of k units."""
        left_mm, right_mm, heading = (
            np.array(parts, dtype=np.float64).reshape(-1, 2)
            for parts in (
                [front.left_mm for front in axes],
                [front.right_mm for front in axes],
                [forward(front.heading_deg) for front in axes],
            )
        )
        return cls(left_mm, right_mm, heading)

    @classmethod
    def drawn(cls, unit: Unit, bases: Rectangles) -> Fronts:
        """Fits a unit's front edge to each of k draws of its bases.

        As in `outlines.axes`, the line is fitted through the middles of the front rank's edges, or
        runs through the foremost of them if no line near the perpendicular of the heading fits.
        """
        rank = list(front_rank(unit))
        count = len(unit.bases)
        corners = bases.corners_mm().reshape(-1, count, 4, 2)[:, rank, :2]
        # A column's front is its leading base's own edge, so nothing is fitted.
        if len(rank) == 1:
            heading = bases.axes.reshape(-1, count, 2, 2)[:, rank[0], 1]
            return cls(corners[:, 0, 0], corners[:, 0, 1], np.asarray(heading))
        # The circular mean of the bases' headings: normalise the mean of their unit vectors.
        heading = _unit(bases.axes.reshape(-1, count, 2, 2)[:, :, 1].mean(axis=1))
        middles = corners.mean(axis=2)
        middle = middles.mean(axis=1)
        along = _principal_axes(middles - middle[:, None], heading)
        across = np.stack([heading[:, 1], -heading[:, 0]], axis=1)
        is_ragged = np.einsum("ki,ki->k", along, across) < _FIT_LIMIT_COS
        foremost = np.einsum("kpi,ki->kp", middles, heading).argmax(axis=1)
        middle[is_ragged] = middles[np.arange(len(middles)), foremost][is_ragged]
        along[is_ragged] = across[is_ragged]
        along_mm = np.einsum(
            "kpi,ki->kp", corners.reshape(len(corners), -1, 2) - middle[:, None], along
        )
        left_mm = middle + along * along_mm.min(axis=1)[:, None]
        return cls(left_mm, middle + along * along_mm.max(axis=1)[:, None], heading)

    def to_axes(self) -> list[Axes]:
        """Returns the front edges one by one."""
        headings_deg = np.degrees(np.arctan2(self.heading[:, 1], self.heading[:, 0])) % 360.0
        ends = np.concatenate([self.left_mm, self.right_mm], axis=1).tolist()
        return [
            Axes((left_x, left_y), (right_x, right_y), heading_deg)
            for (left_x, left_y, right_x, right_y), heading_deg in zip(
                ends, headings_deg.tolist(), strict=True
            )
        ]

    @property
    def normal(self) -> Array:
        """The unit normals (k, 2) of the front lines, pointing ahead."""
        along = _unit(self.right_mm - self.left_mm)
        return np.stack([-along[:, 1], along[:, 0]], axis=1)

    def ahead_mm(self, corners_mm: Array) -> Array:
        """Returns how far the foremost of corners (k, n, 4, 2) lies ahead of the front, (k, n)."""
        offsets = corners_mm - self.left_mm[:, None, None]
        return np.asarray(np.einsum("knci,ki->knc", offsets, self.normal).max(axis=2))

    def depth_mm(self, corners_mm: Array, axes: Array) -> Array:
        """Returns the depth (k, n) of rectangles in the strips ahead; negative is the gap to them.

        Rectangles have corners (k, n, 4, 2) and axes (k, n, 2, 2). The depth is the shortest
        translation that takes a rectangle out of the strip (separating axis theorem).
        """
        across = np.stack([self.heading[:, 1], -self.heading[:, 0]], axis=1)
        left = np.einsum("knci,ki->knc", corners_mm - self.left_mm[:, None, None], across)
        right = np.einsum("knci,ki->knc", self.right_mm[:, None, None] - corners_mm, across)
        depths = [self.ahead_mm(corners_mm), left.max(axis=2), right.max(axis=2)]
        ends = np.stack([self.left_mm, self.right_mm], axis=1)
        # Next, the rectangle's own normals that point ahead.
        for side in (0, 1):
            normal = axes[:, :, side]
            facing = np.einsum("kni,ki->kn", normal, self.heading)
            normal = normal * np.where(facing >= 0, 1.0, -1.0)[..., None]
            strip_start = np.einsum("kni,kei->kne", normal, ends).min(axis=2)
            depths.append(np.einsum("knci,kni->knc", corners_mm, normal).max(axis=2) - strip_start)
        return np.asarray(np.min(depths, axis=0))

    def gaps_and_widths_mm(
        self, corners_mm: Array, behind_mm: float, ahead_mm: float
    ) -> tuple[Array, Array]:
        """Returns gaps (k,) to rectangles with corners (k, n, 4, 2), and widths (k,) at the edges.

        Only parts between the flank lines and at most `behind_mm` behind count; the gap is infinite
        and the width 0 if there are none. The width, along the edge, is that of all parts from
        there to `ahead_mm` ahead of it.
        """
        # `u` runs along the front edge to the right, `v` ahead of it.
        across = np.stack([self.heading[:, 1], -self.heading[:, 0]], axis=1)
        offsets = corners_mm - self.left_mm[:, None, None]
        u = np.einsum("knci,ki->knc", offsets, across)
        v = np.einsum("knci,ki->knc", offsets, self.normal)
        end = np.einsum("ki,ki->k", self.right_mm - self.left_mm, across)[:, None, None]
        # Corners do not suffice: between the flank lines a side may be nearer than any corner.
        us, vs = [u], [v]
        for at_u in (0.0, end):
            us.append(np.broadcast_to(at_u, u.shape))
            vs.append(_cut(u, v, at_u))
        all_u, all_v = np.concatenate(us, axis=2), np.concatenate(vs, axis=2)
        inside = (all_u >= -EXACT_MM) & (all_u <= end + EXACT_MM) & np.isfinite(all_v)
        reaches = np.where(inside, all_v, -np.inf).max(axis=2, keepdims=True) >= -behind_mm
        nearest = np.where(inside & reaches, np.maximum(all_v, -behind_mm), np.inf)
        for at_v in (-behind_mm, ahead_mm):
            us.append(_cut(v, u, at_v))
            vs.append(np.full_like(u, at_v))
        u, v = np.concatenate(us, axis=2), np.concatenate(vs, axis=2)
        is_at = (v >= -behind_mm) & (v <= ahead_mm) & (u >= -EXACT_MM) & (u <= end + EXACT_MM)
        least = np.where(is_at, u, np.inf).min(axis=(1, 2))
        most = np.where(is_at, u, -np.inf).max(axis=(1, 2))
        return nearest.min(axis=(1, 2)), np.asarray(np.maximum(most - least, 0.0))


def strip_ahead(axes: Axes, table: TableSize) -> shapely.Geometry:
    """Returns the strip directly in front of a unit, clipped to the table, for drawing."""
    ahead = np.array(forward(axes.heading_deg)) * _FAR_MM
    left, right = np.array(axes.left_mm), np.array(axes.right_mm)
    strip = shapely.Polygon([left, right, right + ahead, left + ahead])
    return shapely.intersection(strip, table_outline(table), grid_size=GRID_MM)


def _principal_axes(offsets: Array, heading: Array) -> Array:
    """Returns the principal axes (k, 2) of points (k, p, 2), pointing right of the headings."""
    x, y = offsets[..., 0], offsets[..., 1]
    # The principal axis of a 2 x 2 covariance matrix, in closed form.
    angle = 0.5 * np.arctan2(2 * (x * y).sum(axis=1), (x * x - y * y).sum(axis=1))
    along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    # An axis has two directions: take the one to the right of the heading.
    rightward = along[:, 0] * heading[:, 1] - along[:, 1] * heading[:, 0]
    return np.asarray(along * np.where(rightward >= 0, 1.0, -1.0)[:, None])


def _cut(of: Array, other: Array, at: Array | float) -> Array:
    """Interpolates `other` where sides of quadrilaterals (k, n, 4) cross `of` = `at`, else nan."""
    of_next, other_next = np.roll(of, -1, axis=2), np.roll(other, -1, axis=2)
    # A side parallel to the line has no single crossing.
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (at - of) / (of_next - of)
    crosses = (share >= 0.0) & (share <= 1.0)
    return np.where(crosses, other + np.where(crosses, share, 0.0) * (other_next - other), np.nan)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
