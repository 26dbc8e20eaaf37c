"""Shapes that illustrate one unit or base: range rings, front line and flank lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import shapely

from tablecam.geometry.outlines import flank_lines, front_edge, front_line
from tablecam.geometry.rectangles import Measurable
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.things import resolve
from tablecam.table.model import BasePose, Position, Unit
from tablecam.uncertainty.lengths import geometries

RINGS_BW = (1.0, 2.0, 4.0, 8.0)
"""The default rings: a charge's wheel and support; links of a force; short range and near the
enemy; the reach of cavalry."""

_RING_ERROR_MM = 0.05


def illustration(
    position: Position, what: Measurable, *, rings_bw: Sequence[float] = RINGS_BW
) -> tuple[Shape, ...]:
    """Returns range rings and, for a unit or base, front edge, front line and flank lines.

    The lines are clipped to the table.

    Raises:
        ValueError: `what` is a unit without a base on the table.
    """
    base_width_mm = position.table.base_width_mm
    shapes = [shape for range_bw in rings_bw for shape in ring(what, range_bw, base_width_mm)]
    # Commanders and points have no front.
    if isinstance(what, Unit | BasePose):
        left, right = flank_lines(what, position.table)
        shapes += shapes_of(front_line(what, position.table), "front-line", "front line")
        shapes += shapes_of(left, "flank-line") + shapes_of(right, "flank-line")
        shapes += shapes_of(front_edge(what), "front-edge")
    return tuple(shapes)


def unit_illustration(
    position: Position, unit_id: str, *, rings_bw: Sequence[float] = RINGS_BW
) -> tuple[Shape, ...]:
    """Returns the shapes of `illustration` for the unit of that id.

    Raises:
        BadInput: No such unit is on the table.
    """
    return illustration(position, resolve(position, f"unit:{unit_id}").what, rings_bw=rings_bw)


def ring(what: Measurable, range_bw: float, base_width_mm: float) -> tuple[Shape, ...]:
    """Returns the outline of the area within a range, accurate to 0.05 mm.

    Bases far apart give several outlines. For drawing only: its arcs are polygons, so ranges are
    decided by `within` instead.
    """
    radius_mm = range_bw * base_width_mm
    area = shapely.buffer(geometries([what])[0], radius_mm, quad_segs=_segments(radius_mm))
    return shapes_of(area, "ring", f"{range_bw:g} BW")


def _segments(radius_mm: float) -> int:
    """Returns the number of chords per quarter circle that keeps the error below the limit."""
    if radius_mm <= _RING_ERROR_MM:
        return 1
    # The chord of an angle t lies r (1 - cos(t / 2)) inside its arc.
    half_angle_rad = math.acos(1.0 - _RING_ERROR_MM / radius_mm)
    return math.ceil(math.pi / 4.0 / half_angle_rad)
