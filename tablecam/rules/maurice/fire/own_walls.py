"""Own walls: linear obstacles that a shooting base stands directly behind (M-7.18)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.field.ground import Ground, Piece
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.uncertainty.contact import TOUCH_MM

Array = NDArray[np.float64]

_MOST_IN_WALL_MM = 3.0
"""A base that overlaps a wall by more than this stands on it, not behind it (M-7.18)."""

_MET_MM = 2 * TOUCH_MM
"""A wall that meets less of a front edge than this passes its corner instead of lining it."""


def own_walls(ground: Ground, corners_mm: Array) -> list[tuple[Piece, ...]]:
    """Returns the walls that each base with corners (n, 4, 2) stands directly behind."""
    walls = linear_screens(ground)
    outlines = np.array([wall.outline for wall in walls], dtype=object)
    edges = shapely.linestrings(corners_mm[:, :2])
    which, wall = shapely.STRtree(outlines).query(edges, "dwithin", TOUCH_MM + EXACT_MM)
    near: dict[int, list[Piece]] = {}
    for at, place in sorted(zip(which.tolist(), wall.tolist(), strict=True)):
        near.setdefault(at, []).append(walls[place])
    walls_of_base: list[tuple[Piece, ...]] = [()] * len(corners_mm)
    for at, met in near.items():
        walls_of_base[at] = flush_walls(corners_mm[at], met)
    return walls_of_base


def linear_screens(ground: Ground) -> list[Piece]:
    """Returns the terrain that may be an own wall: walls and trenches."""
    return [piece for piece in ground.pieces if piece.kind.is_linear and piece.kind.obstructs]


def covering(ground: Ground, own: Sequence[Piece]) -> shapely.Geometry:
    """Returns all terrain that gives cover, a base's own walls left out."""
    if not own:
        return ground.cover
    covers = [piece.outline for piece in ground.pieces if piece.kind.is_cover and piece not in own]
    return shapely.union_all(covers, grid_size=GRID_MM) if covers else shapely.Polygon()


def flush_walls(
    corners_mm: Array, walls: Sequence[Piece], shift_mm: float = 0.0
) -> tuple[Piece, ...]:
    """Returns the walls along the whole front of a base if lengths shift by `shift_mm` in favour.

    One wall may have been drawn in pieces: together they must meet the whole front edge. The base's
    corners (4, 2) begin with the ends of its front.
    """
    edge = shapely.LineString(corners_mm[:2])
    grown = [_grown(wall.outline, shift_mm) for wall in walls]
    along_front = [
        at
        for at, wall in enumerate(walls)
        if shapely.length(shapely.intersection(edge, grown[at])) > _MET_MM
        and _depth_mm(corners_mm, wall.outline) <= _MOST_IN_WALL_MM + shift_mm + EXACT_MM
    ]
    met = shapely.union_all([grown[at] for at in along_front])
    if not along_front or shapely.length(shapely.difference(edge, met)) > SLIVER_MM:
        return ()
    return tuple(walls[at] for at in along_front)


def _grown(outline: shapely.Geometry, shift_mm: float) -> shapely.Geometry:
    # Mitred, so that an edge 1 mm away along its whole length is met at its ends too.
    return shapely.buffer(outline, TOUCH_MM + EXACT_MM + shift_mm, join_style="mitre")


def _depth_mm(corners_mm: Array, wall: shapely.Geometry) -> float:
    """Returns how far back from its front edge a base overlaps a wall."""
    common = shapely.get_coordinates(shapely.intersection(shapely.Polygon(corners_mm), wall))
    along = corners_mm[1] - corners_mm[0]
    ahead = np.array([-along[1], along[0]]) / np.hypot(*along)
    return float(-((common - corners_mm[0]) @ ahead).min(initial=0.0)) if len(common) else 0.0
