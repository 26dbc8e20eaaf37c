"""Edges of bases that lie in woods: cavalry may not charge what stands so (M-8.4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import Axes
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.table.headings import forward

_SAME_MM = 1e-3
"""What lies as near as this to an outline lies on it."""


@lru_cache(maxsize=16)
def to_edge(woods: shapely.Geometry, slack_mm: float) -> shapely.Geometry:
    """Woods to their edges, and what lies as good as on these; so much smaller with a slack."""
    found = shapely.buffer(woods, _SAME_MM - slack_mm, join_style="mitre")
    shapely.prepare(found)
    return found


def edges_of(bases: Sequence[shapely.Polygon]) -> NDArray[np.object_]:
    """The edges (n, 4) of bases."""
    corners = shapely.get_coordinates(list(bases)).reshape(-1, 5, 2)
    sides = np.stack([corners[:, :-1], corners[:, 1:]], axis=2)
    return np.asarray(shapely.linestrings(sides), dtype=object)


def met_edge(edges: NDArray[np.object_], front: Axes) -> int:
    """Which edge of a base (4,) a front meets: of those at it, the one that faces it most."""
    sides = shapely.get_coordinates(edges).reshape(-1, 2, 2)
    steps = sides[:, 1] - sides[:, 0]
    # Outward of a ring that runs clockwise, as a base's corners do, lies to its left.
    outward = np.stack([-steps[:, 1], steps[:, 0]], axis=1) / np.hypot(*steps.T)[:, None]
    facing = outward @ -np.array(forward(front.heading_deg))
    line = shapely.LineString([front.left_mm, front.right_mm])
    apart_mm = np.asarray(shapely.distance(edges, line))
    is_at_it = apart_mm <= apart_mm.min() + SLIVER_MM
    return int(np.argmax(np.where(is_at_it, facing, -np.inf)))
