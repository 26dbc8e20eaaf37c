"""The drawings that explain one thing: its ranges, its front line and its flank lines."""

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
"""What players ask for most: a charge's wheel and support, a force's links, short range and
nearness to the enemy, and what horse can reach."""

_RING_ERROR_MM = 0.05


def about(
    position: Position, what: Measurable, *, rings_bw: Sequence[float] = RINGS_BW
) -> tuple[Shape, ...]:
    """A thing's rings and, of a unit or a base, front edge, front line and flank lines.

    The lines end where the table does.

    Raises:
        ValueError: It is a unit without a base on the table.
    """
    base_width_mm = position.table.base_width_mm
    drawn = [shape for each in rings_bw for shape in ring(what, each, base_width_mm)]
    if isinstance(what, Unit | BasePose):
        left, end = flank_lines(what, position.table)
        drawn += shapes_of(front_line(what, position.table), "front-line", "front line")
        drawn += shapes_of(left, "flank-line") + shapes_of(end, "flank-line")
        drawn += shapes_of(front_edge(what), "front-edge")
    return tuple(drawn)


def about_unit(
    position: Position, unit_id: str, *, rings_bw: Sequence[float] = RINGS_BW
) -> tuple[Shape, ...]:
    """As `about`, of the unit of that id.

    Raises:
        BadInput: There is no such unit on the table.
    """
    return about(position, resolve(position, f"unit:{unit_id}").what, rings_bw=rings_bw)


def ring(what: Measurable, range_bw: float, base_width_mm: float) -> tuple[Shape, ...]:
    """The outline of all that lies within a range of a thing, true to 0.05 mm.

    In parts where its bases lie far apart. For drawing only: its arcs are polygons, so a range is
    never decided by it but by `within`.
    """
    radius_mm = range_bw * base_width_mm
    grown = shapely.buffer(geometries([what])[0], radius_mm, quad_segs=_segments(radius_mm))
    return shapes_of(grown, "ring", f"{range_bw:g} BW")


def _segments(radius_mm: float) -> int:
    """Into how many chords to cut a quarter circle: one falls short of it by r (1 - cos(t / 2))."""
    if radius_mm <= _RING_ERROR_MM:
        return 1
    half_angle_rad = math.acos(1.0 - _RING_ERROR_MM / radius_mm)
    return math.ceil(math.pi / 4.0 / half_angle_rad)
