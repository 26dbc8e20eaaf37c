"""Front lines and the strips ahead of them, many at once: of units as measured, or as drawn.

What lies ahead of a front line and between the flank lines lies directly in front (G-3, G-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.geometry.outlines import GRID_MM, Axes, table_outline
from tablecam.geometry.rectangles import Array, Rectangles
from tablecam.table.formation import front_rank
from tablecam.table.headings import forward
from tablecam.table.model import TableSize, Unit

_FAR_MM = 1e4


@dataclass(frozen=True, slots=True, eq=False)
class Fronts:
    """Front edges of k units, or of one unit k times, and where each faces.

    `left_mm`, `right_mm` (k, 2) are the edges' ends, `heading` (k, 2) unit vectors.
    """

    left_mm: Array
    right_mm: Array
    heading: Array

    @classmethod
    def of(cls, axes: Axes) -> Fronts:
        """One front edge."""
        return cls.of_all([axes])

    @classmethod
    def of_all(cls, axes: Sequence[Axes]) -> Fronts:
        """Many front edges."""
        left_mm, right_mm, heading = (
            np.array(parts, dtype=np.float64).reshape(-1, 2)
            for parts in (
                [each.left_mm for each in axes],
                [each.right_mm for each in axes],
                [forward(each.heading_deg) for each in axes],
            )
        )
        return cls(left_mm, right_mm, heading)

    @classmethod
    def drawn(cls, unit: Unit, bases: Rectangles) -> Fronts:
        """A unit's front edges for each draw of its bases (k times its number of them).

        Fitted as `outlines.axes` fits one: through the middles of the front rank's front edges.
        """
        rank = list(front_rank(unit))
        count = len(unit.bases)
        corners = bases.corners_mm().reshape(-1, count, 4, 2)[:, rank, :2]
        if len(rank) == 1:
            heading = bases.axes.reshape(-1, count, 2, 2)[:, rank[0], 1]
            return cls(corners[:, 0, 0], corners[:, 0, 1], np.asarray(heading))
        heading = _unit(bases.axes.reshape(-1, count, 2, 2)[:, :, 1].mean(axis=1))
        middles = corners.mean(axis=2)
        middle = middles.mean(axis=1)
        along = _principal(middles - middle[:, None], heading)
        reach = np.einsum(
            "kpi,ki->kp", corners.reshape(len(corners), -1, 2) - middle[:, None], along
        )
        left_mm = middle + along * reach.min(axis=1)[:, None]
        return cls(left_mm, middle + along * reach.max(axis=1)[:, None], heading)

    @property
    def normal(self) -> Array:
        """The unit vectors (k, 2) ahead of the front lines and square to them."""
        along = _unit(self.right_mm - self.left_mm)
        return np.stack([-along[:, 1], along[:, 0]], axis=1)

    def ahead_mm(self, corners_mm: Array) -> Array:
        """How far bases' foremost corners (k, n, 4, 2) lie ahead of the front lines: (k, n)."""
        offsets = corners_mm - self.left_mm[:, None, None]
        return np.asarray(np.einsum("knci,ki->knc", offsets, self.normal).max(axis=2))

    def depth_mm(self, corners_mm: Array, axes: Array) -> Array:
        """How deep bases reach into the strips ahead: (k, n); negative by how far they keep off.

        Of rectangles with corners (k, n, 4, 2) and axes (k, n, 2, 2): by how much each would have
        to be moved to be out of the strip, as convex shapes are parted along an edge's normal.
        """
        across = np.stack([self.heading[:, 1], -self.heading[:, 0]], axis=1)
        left = np.einsum("knci,ki->knc", corners_mm - self.left_mm[:, None, None], across)
        end = np.einsum("knci,ki->knc", self.right_mm[:, None, None] - corners_mm, across)
        depths = [self.ahead_mm(corners_mm), left.max(axis=2), end.max(axis=2)]
        ends = np.stack([self.left_mm, self.right_mm], axis=1)
        for side in (0, 1):
            outward = axes[:, :, side]
            facing = np.einsum("kni,ki->kn", outward, self.heading)
            outward = outward * np.where(facing >= 0, 1.0, -1.0)[..., None]
            nearest = np.einsum("kni,kei->kne", outward, ends).min(axis=2)
            depths.append(np.einsum("knci,kni->knc", corners_mm, outward).max(axis=2) - nearest)
        return np.asarray(np.min(depths, axis=0))


def strip_ahead(axes: Axes, table: TableSize) -> shapely.Geometry:
    """The strip directly in front, as far as the table goes, to draw."""
    ahead = np.array(forward(axes.heading_deg)) * _FAR_MM
    left, end = np.array(axes.left_mm), np.array(axes.right_mm)
    strip = shapely.Polygon([left, end, end + ahead, left + ahead])
    return shapely.intersection(strip, table_outline(table), grid_size=GRID_MM)


def _principal(offsets: Array, heading: Array) -> Array:
    """The directions (k, 2), to the right of headings, along which points (k, p, 2) lie."""
    x, y = offsets[..., 0], offsets[..., 1]
    angle = 0.5 * np.arctan2(2 * (x * y).sum(axis=1), (x * x - y * y).sum(axis=1))
    along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rightward = along[:, 0] * heading[:, 1] - along[:, 1] * heading[:, 0]
    return np.asarray(along * np.where(rightward >= 0, 1.0, -1.0)[:, None])


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
