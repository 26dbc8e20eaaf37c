"""The two-lines test (M-8.12): whether an enemy is in front of one base and visible from it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.sight import ray_length_mm
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.uncertainty.contact import TOUCH_MM

Array = NDArray[np.float64]

_GRAZE_MM = 1e-3
"""A line this near to an outline runs along it, not through it; 100 times the grid."""
_EXTRA_MM = 1e-4
"""The amount added to a strip's length, so that what lies exactly at its end is inside (G-2)."""


TwoLines = tuple[shapely.LineString, shapely.LineString]


def two_lines(
    before: Axes, enemy: shapely.Geometry, others: Iterable[shapely.Geometry], reach_mm: float
) -> TwoLines | None:
    """Returns free lines from both front corners of a base, in its strip, to an enemy, or None."""
    if not is_partly_in(enemy, lane(before, reach_mm + TOUCH_MM)):
        return None
    area = lane(before, reach_mm + _EXTRA_MM)
    target = shapely.intersection(enemy, area, grid_size=GRID_MM)
    if target.is_empty:
        return None
    # One union, so that no line passes between units in contact.
    hiding = shapely.union_all(
        [other for other in others if shapely.intersects(other, area)], grid_size=GRID_MM
    )
    seen = shapely.buffer(target, _GRAZE_MM)
    # A neighbour that overlaps a corner by a sliver hides nothing (G-5), and no line passes a
    # gap that counts as contact (G-6).
    closed = shapely.buffer(hiding, TOUCH_MM / 2, join_style="mitre")
    inside = shapely.buffer(closed, -TOUCH_MM / 2 - SLIVER_MM / 2, join_style="mitre")
    hidden = shapely.intersection(hiding, area, grid_size=GRID_MM)
    corners = shapely.get_coordinates([hidden, target])
    far_mm = shapely.length(area)
    left = _free_line(before.left_mm, corners, seen, inside, far_mm)
    end = None if left is None else _free_line(before.right_mm, corners, seen, inside, far_mm)
    return None if left is None or end is None else (left, end)


def _free_line(
    start: tuple[float, float],
    corners_mm: Array,
    seen: shapely.Geometry,
    inside: shapely.Geometry,
    far_mm: float,
) -> shapely.LineString | None:
    """Returns the shortest line from a point that reaches `seen` and crosses nothing `inside`.

    The directions in which the target is visible form intervals that end at corners of blockers or
    of the target, so the directions of all corners suffice.
    """
    origin = np.array(start)
    directions = corners_mm - origin
    lengths = np.hypot(*directions.T)
    # A corner at the start gives no direction.
    directions = directions[lengths > _GRAZE_MM] / lengths[lengths > _GRAZE_MM, None]
    seen_mm = ray_length_mm(origin, directions, seen)
    directions, seen_mm = directions[seen_mm <= far_mm], seen_mm[seen_mm <= far_mm]
    ends = origin + directions * seen_mm[:, None]
    lines = np.asarray(
        shapely.linestrings(np.stack([np.broadcast_to(origin, ends.shape), ends], 1))
    )
    # Most lines touch no blocker; only the others need the costlier intersection.
    is_free = ~np.asarray(shapely.intersects(inside, lines))
    within_mm = shapely.length(shapely.intersection(lines[~is_free], inside))
    is_free[~is_free] = within_mm < _GRAZE_MM
    if not is_free.any():
        return None
    best = int(np.argmin(np.where(is_free, seen_mm, np.inf)))
    return shapely.LineString([origin, ends[best]])
