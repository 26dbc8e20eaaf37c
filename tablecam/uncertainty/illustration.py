"""Shapes that illustrate one unit or base: range rings, front line and flank lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import shapely

from tablecam.geometry.outlines import flank_lines, front_edge, front_line, table_outline
from tablecam.geometry.rectangles import Measurable
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, LengthUnit, Position, TableSize, Unit, base_widths
from tablecam.uncertainty.lengths import geometries

_FAR_MM = 1e5
_RING_ERROR_MM = 0.05


def illustration(
    position: Position,
    what: Measurable,
    *,
    unit: LengthUnit | None = None,
    ranges: Sequence[float] | None = None,
) -> tuple[Shape, ...]:
    """Returns range rings and, for a unit or base, front edge, front line and flank lines.

    A single round or oval base has no edges: its front line runs through its centre, and lines at
    45 degrees mark its quarter arc.

    The rings are those of the `unit` of length, by default base widths, or the `ranges` in it. The
    lines are clipped to the table.

    Raises:
        ValueError: `what` is a unit without a base on the table.
    """
    unit = unit or base_widths(position.table)
    ranges = unit.ranges if ranges is None else ranges
    shapes = [shape for radius in ranges for shape in ring(what, radius, unit)]
    model = what.bases[0] if isinstance(what, Unit) and len(what.bases) == 1 else what
    if isinstance(model, BasePose) and model.shape != "rectangle":
        shapes += _arcs(model, position.table)
    # Commanders and points have no front.
    elif isinstance(what, Unit | BasePose):
        left, right = flank_lines(what, position.table)
        shapes += shapes_of(front_line(what, position.table), "front-line", "front line")
        shapes += [
            shape for line in (left, right) for shape in shapes_of(line, "flank-line", "flank line")
        ]
        shapes += shapes_of(front_edge(what), "front-edge")
    return tuple(shapes)


def _arcs(model: BasePose, table: TableSize) -> list[Shape]:
    """Returns the line through a round base that divides front from rear, and its quarter arc."""
    shapes: list[Shape] = []
    arcs = ((90.0, "front-line", "front"), (45.0, "flank-line", "90°"))
    for half_deg, role, label in arcs:
        for turn_deg, text in ((half_deg, ""), (-half_deg, label)):
            x, y = forward(model.heading_deg + turn_deg)
            ray = shapely.LineString(
                [model.place_mm, (model.x_mm + _FAR_MM * x, model.y_mm + _FAR_MM * y)]
            )
            shapes += shapes_of(shapely.intersection(ray, table_outline(table)), role, text)
    return shapes


def ring(what: Measurable, radius: float, unit: LengthUnit) -> tuple[Shape, ...]:
    """Returns the outline of the area within a range in a unit of length, accurate to 0.05 mm.

    Bases far apart give several outlines. For drawing only: its arcs are polygons; `within` decides
    ranges.
    """
    radius_mm = radius * unit.size_mm
    area = shapely.buffer(geometries([what])[0], radius_mm, quad_segs=_segments(radius_mm))
    return shapes_of(area, "ring", unit.counted(f"{radius:g}"))


def _segments(radius_mm: float) -> int:
    """Returns the number of chords per quarter circle that keeps the error below the limit."""
    if radius_mm <= _RING_ERROR_MM:
        return 1
    # The chord of an angle t lies r (1 - cos(t / 2)) inside its arc.
    half_angle_rad = math.acos(1.0 - _RING_ERROR_MM / radius_mm)
    return math.ceil(math.pi / 4.0 / half_angle_rad)
