"""A snaking way for something narrow: the shortest one along which a strip of a width is clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely

from tablecam.geometry.taut.rings import Bounds
from tablecam.geometry.taut.taut_path import string_line
from tablecam.table.model import Point

_END_MM = 1e-4
"""Half the width of the square that stands for a place; nothing is measured finer."""


@dataclass(frozen=True, slots=True)
class Corridor:
    """The middle line of a corridor, its length, and the strip that is clear, square at its ends.

    The strip is narrower than the corridor by a sliver on either side.
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
    bounds: Bounds | None = None,
) -> Corridor | None:
    """The shortest corridor between two places that holds nothing of the shapes `around`.

    What reaches into it by no more than `sliver_mm` is not in it. The line may bend anywhere, so a
    bend about a corner is an arc of half the width. It stays within `bounds` as a whole.

    Returns:
        The corridor, or None when there is no room.
    """
    x, y = end
    goal = shapely.box(x - _END_MM, y - _END_MM, x + _END_MM, y + _END_MM)
    keep_mm = width_mm / 2 - sliver_mm
    inner = None if bounds is None else _inner(bounds, keep_mm)
    found = string_line(start, [goal], around=around, keep_mm=keep_mm, bounds=inner)
    if found is None:
        return None
    line = shapely.LineString(found.points_mm)
    strip = shapely.buffer(line, keep_mm, cap_style="flat", join_style="round", quad_segs=32)
    return Corridor(found.length_mm, found.points_mm, strip)


def _inner(bounds: Bounds, by_mm: float) -> Bounds:
    low_x, low_y, high_x, high_y = bounds
    return low_x + by_mm, low_y + by_mm, high_x - by_mm, high_y - by_mm
