"""The two lines test (M-8.12): is an enemy before some one base, and not hidden from it?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.sight import met_mm
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.uncertainty.contact import TOUCH_MM

Array = NDArray[np.float64]

_GRAZE_MM = 1e-3
"""A line as near as this to an outline runs along it, not through it; two digits above the grid."""
_SLACK_MM = 1e-4
"""How much a strip is lengthened, so that what lies exactly at its end is in it (G-2)."""


def two_lines(
    before: Axes, enemy: shapely.Geometry, others: Iterable[shapely.Geometry], reach_mm: float
) -> tuple[shapely.LineString, shapely.LineString] | None:
    """Lines from both front corners of a base, within its strip, that reach an enemy freely."""
    if not is_partly_in(enemy, lane(before, reach_mm + TOUCH_MM)):
        return None
    area = lane(before, reach_mm + _SLACK_MM)
    target = shapely.intersection(enemy, area, grid_size=GRID_MM)
    if target.is_empty:
        return None
    # One union of all: no line slips through between units that lie flush.
    hiding = shapely.union_all(
        [other for other in others if shapely.intersects(other, area)], grid_size=GRID_MM
    )
    seen = shapely.buffer(target, _GRAZE_MM)
    # A neighbour pushed over a corner by a hair hides nothing (G-5), and no light falls through
    # a gap that counts as touching (G-6).
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
    """The shortest of the lines from a point that come to what is `seen` and pass nothing `inside`.

    The directions in which it is seen make intervals that end at corners of what hides or of the
    target, so that trying the directions of all corners leaves nothing out.
    """
    origin = np.array(start)
    ways = corners_mm - origin
    lengths = np.hypot(*ways.T)
    ways = ways[lengths > _GRAZE_MM] / lengths[lengths > _GRAZE_MM, None]
    seen_mm = met_mm(origin, ways, seen)
    ways, seen_mm = ways[seen_mm <= far_mm], seen_mm[seen_mm <= far_mm]
    ends = origin + ways * seen_mm[:, None]
    lines = np.asarray(
        shapely.linestrings(np.stack([np.broadcast_to(origin, ends.shape), ends], 1))
    )
    # Most lines come near nothing that hides: only the others need be cut.
    is_free = ~np.asarray(shapely.intersects(inside, lines))
    within_mm = shapely.length(shapely.intersection(lines[~is_free], inside))
    is_free[~is_free] = within_mm < _GRAZE_MM
    if not is_free.any():
        return None
    best = int(np.argmin(np.where(is_free, seen_mm, np.inf)))
    return shapely.LineString([origin, ends[best]])
