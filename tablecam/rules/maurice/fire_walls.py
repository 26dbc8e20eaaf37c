"""One's own wall: a linear obstacle behind which a base that shoots stands flush (M-7.18)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.outlines import GRID_MM, axes, footprint
from tablecam.rules.maurice.ground import Ground, Piece
from tablecam.rules.maurice.tables import SLIVER_MM
from tablecam.table.model import BasePose

_MOST_IN_WALL_MM = 3.0
"""A base that lies deeper in a wall stands on it, not flush behind it (M-7.18)."""

_MET_MM = 2 * TOUCH_MM
"""A wall that meets less of a front edge than this runs past its corner, not along it."""


def own_walls(
    ground: Ground, poses: Sequence[BasePose], edges: NDArray[np.object_]
) -> list[tuple[Piece, ...]]:
    """For each base, of which the front edge is given, the walls behind which it stands flush."""
    walls = [each for each in ground.pieces if each.kind.is_linear and each.kind.obstructs]
    outlines = np.array([wall.outline for wall in walls], dtype=object)
    found: list[tuple[Piece, ...]] = [()] * len(poses)
    near: dict[int, list[Piece]] = {}
    which, wall = shapely.STRtree(outlines).query(edges, "dwithin", TOUCH_MM + EXACT_MM)
    for at, place in sorted(zip(which.tolist(), wall.tolist(), strict=True)):
        near.setdefault(at, []).append(walls[place])
    for at, met in near.items():
        found[at] = flush_walls(poses[at], edges[at], met)
    return found


def covering(ground: Ground, own: Sequence[Piece]) -> shapely.Geometry:
    """All that covers, one's own walls left out."""
    if not own:
        return ground.cover
    covers = [piece.outline for piece in ground.pieces if piece.kind.is_cover and piece not in own]
    return shapely.union_all(covers, grid_size=GRID_MM) if covers else shapely.Polygon()


def flush_walls(
    pose: BasePose, edge: shapely.LineString, walls: Sequence[Piece]
) -> tuple[Piece, ...]:
    """The walls along the whole front of a base.

    One wall may have been drawn in pieces: together they must meet the whole front edge.
    """
    base = footprint(pose) if walls else shapely.Polygon()
    flush = tuple(
        wall
        for wall in walls
        if shapely.length(shapely.intersection(edge, _grown(wall.outline))) > _MET_MM
        and _depth_mm(pose, base, wall.outline) <= _MOST_IN_WALL_MM + EXACT_MM
    )
    if not flush:
        return ()
    met = shapely.union_all([_grown(wall.outline) for wall in flush])
    return flush if shapely.length(shapely.difference(edge, met)) <= SLIVER_MM else ()


def _grown(outline: shapely.Geometry) -> shapely.Geometry:
    # Mitred, so that an edge which lies 1 mm off along its whole length is met at its ends too.
    return shapely.buffer(outline, TOUCH_MM + EXACT_MM, join_style="mitre")


def _depth_mm(pose: BasePose, base: shapely.Polygon, wall: shapely.Geometry) -> float:
    """How far back from its front edge a base overlaps a wall."""
    common = shapely.get_coordinates(shapely.intersection(base, wall))
    return float(-axes(pose).ahead_mm(common).min()) if len(common) else 0.0
