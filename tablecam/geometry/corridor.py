"""Finds the shortest path along which a strip of a given width is clear of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely

from tablecam.geometry.taut_path import EVERYWHERE, Bounds, taut_paths
from tablecam.table.model import Point

_END_MM = 1e-4
"""Half the side of the square that represents the end point; below any measurement."""


@dataclass(frozen=True, slots=True)
class Corridor:
    """A corridor: the length and points of its middle line, and its clear strip with square ends.

    The strip is narrower than the corridor by a sliver on each side.
    """

    length_mm: float
    points_mm: tuple[Point, ...]
    strip: shapely.Geometry


def corridor(
    start: Point,
    end: Point,
    *,
    width_mm: float,
    around: Sequence[shapely.Geometry] = (),
    sliver_mm: float = 0.0,
    bounds: Bounds = EVERYWHERE,
) -> Corridor | None:
    """Finds the shortest corridor between two points that is clear of the shapes `around`.

    Shapes may intrude by up to `sliver_mm`. The middle line may bend anywhere; a bend about a
    corner is an arc with half the width as radius. The whole corridor stays within `bounds`.

    Returns:
        The corridor, or None if there is no room.
    """
    x, y = end
    # Goals are areas, so the end point becomes a tiny square.
    goal = shapely.box(x - _END_MM, y - _END_MM, x + _END_MM, y + _END_MM)
    keep_mm = width_mm / 2 - sliver_mm
    within = _shrunk(bounds, keep_mm)
    (path,) = taut_paths(start, [[goal]], around=around, keep_mm=keep_mm, bounds=within)
    if path is None:
        return None
    line = shapely.LineString(path.points_mm)
    # Flat caps: the strip ends square at its end points.
    strip = shapely.buffer(line, keep_mm, cap_style="flat", join_style="round", quad_segs=32)
    return Corridor(path.length_mm, path.points_mm, strip)


def _shrunk(bounds: Bounds, margin_mm: float) -> Bounds:
    low_x, low_y, high_x, high_y = bounds
    return low_x + margin_mm, low_y + margin_mm, high_x - margin_mm, high_y - margin_mm
