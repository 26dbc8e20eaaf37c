"""Shapes in table millimetres that a page draws to show why an answer is as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import shapely

from tablecam.table.model import Point

PLACES_MM = 4
"""Decimal places of a millimetre in documents."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A point, line or polygon in table millimetres that a page draws to show why.

    A polygon's points do not repeat the first. `role` says what it is to the question
    (`front-line`, `ring`, ...) and `label` what to write beside it.
    """

    kind: Literal["point", "line", "polygon"]
    points_mm: tuple[Point, ...]
    role: str
    label: str = ""

    def to_json(self) -> dict[str, Any]:
        """The shape as documents carry it."""
        points = [[round(value, PLACES_MM) for value in point] for point in self.points_mm]
        return {"kind": self.kind, "points_mm": points, "role": self.role, "label": self.label}


def shapes_of(geometry: shapely.Geometry, role: str, label: str = "") -> tuple[Shape, ...]:
    """The shapes that draw a shapely geometry, part by part; holes are left out.

    Only the first part is labelled.
    """
    parts: Iterable[Any] = shapely.get_parts(geometry)
    drawn = [part for part in parts if not part.is_empty]
    return tuple(_shape(part, role, label if not index else "") for index, part in enumerate(drawn))


def _shape(part: shapely.Geometry, role: str, label: str) -> Shape:
    if isinstance(part, shapely.Polygon):
        return Shape("polygon", _points(shapely.get_coordinates(part.exterior)[:-1]), role, label)
    kind: Literal["point", "line"] = "point" if isinstance(part, shapely.Point) else "line"
    return Shape(kind, _points(shapely.get_coordinates(part)), role, label)


def _points(coordinates: Iterable[Iterable[float]]) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in coordinates)
