"""The four faces of a formation: the sides of the rectangle that encloses its bases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
import shapely

from tablecam.geometry.outlines import Axes, rim
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import BasePose, Point

FaceName = Literal["front", "left", "right", "rear"]
FACES: Final[tuple[FaceName, ...]] = ("front", "left", "right", "rear")

_TURNS_DEG: Final[Mapping[FaceName, float]] = {"front": 0, "left": 90, "right": -90, "rear": 180}
_SAME_MM = 1e-6


def faces_of(bases: Sequence[BasePose], heading_deg: float) -> dict[FaceName, Axes]:
    """Returns the faces of some bases with a heading, each as a front that faces outward."""
    points = np.concatenate([rim(base) for base in bases])
    (to_x, to_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)
    along, across = points @ (to_x, to_y), points @ (right_x, right_y)
    low, high = float(along.min()), float(along.max())
    left, end = float(across.min()), float(across.max())

    def corner(on: float, aside: float) -> Point:
        return on * to_x + aside * right_x, on * to_y + aside * right_y

    ends: Mapping[FaceName, tuple[Point, Point]] = {
        "front": (corner(high, left), corner(high, end)),
        "left": (corner(low, left), corner(high, left)),
        "right": (corner(high, end), corner(low, end)),
        "rear": (corner(low, end), corner(low, left)),
    }
    return {name: Axes(*ends[name], heading_deg + _TURNS_DEG[name]) for name in FACES}


def closest_visible(faces: Mapping[FaceName, Axes], point_mm: Point) -> FaceName | None:
    """Returns the nearest face with a point on its outer side; None from inside.

    Of two that share the nearest corner, the one that faces the point more directly.
    """
    eye = shapely.Point(point_mm)

    def order(name: FaceName) -> tuple[float, float]:
        face = faces[name]
        nearest = shapely.shortest_line(face.edge, eye).coords[0]
        way_deg = math.degrees(math.atan2(point_mm[1] - nearest[1], point_mm[0] - nearest[0]))
        apart_mm = round(float(face.edge.distance(eye)) / _SAME_MM) * _SAME_MM
        return apart_mm, abs(difference_deg(way_deg, face.heading_deg))

    visible = [name for name in FACES if float(faces[name].ahead_mm([point_mm])[0]) > _SAME_MM]
    return min(visible, key=order, default=None)
