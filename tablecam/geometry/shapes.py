"""Drawable shapes in table millimetres: the evidence of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import shapely

from tablecam.table.model import Point

PLACES_MM = 4
"""Decimal places of millimetres in documents."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A point, line or polygon in table millimetres for a page to draw.

    A polygon does not repeat its first point. `role` is the meaning of the shape (`front-line`,
    `ring`, ...), `label` the text beside it.
    """

    kind: Literal["point", "line", "polygon"]
    points_mm: tuple[Point, ...]
    role: str
    label: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON value of the shape."""
        points = [[round(value, PLACES_MM) for value in point] for point in self.points_mm]
        return {"kind": self.kind, "points_mm": points, "role": self.role, "label": self.label}


LegendEntry = tuple[str, str, str]
"""The topic and the role of some shapes, and their meaning."""


@dataclass(frozen=True, slots=True)
class TableDrawing:
    """The contents of a drawing of a table: shapes, each with its topic, and their legend.

    `names` are texts on the units, by id; `active` is the side to mark as active. Only the
    surroundings of the units in `close_up` are drawn, or the whole table if there are none.
    """

    shapes: tuple[tuple[str, Shape], ...]
    legend: tuple[LegendEntry, ...]
    names: Mapping[str, str]
    active: str
    close_up: Collection[str] = ()


def shapes_of(geometry: shapely.Geometry, role: str, label: str = "") -> tuple[Shape, ...]:
    """Converts each part of a shapely geometry to a shape; holes are omitted.

    Only the first part gets the label.
    """
    parts: Iterable[Any] = shapely.get_parts(geometry)
    visible = [part for part in parts if not part.is_empty]
    return tuple(
        _shape(part, role, label if not index else "") for index, part in enumerate(visible)
    )


def _shape(part: shapely.Geometry, role: str, label: str) -> Shape:
    if isinstance(part, shapely.Polygon):
        # Shapely repeats a ring's first point, documents do not.
        return Shape("polygon", _points(shapely.get_coordinates(part.exterior)[:-1]), role, label)
    kind: Literal["point", "line"] = "point" if isinstance(part, shapely.Point) else "line"
    return Shape(kind, _points(shapely.get_coordinates(part)), role, label)


def _points(coordinates: Iterable[Iterable[float]]) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in coordinates)
