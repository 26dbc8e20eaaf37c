"""All that a string keeps its distance from, and what of it may bar the string's way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """All that a string keeps its distance from, whether it comes near to it or not."""

    shapes: NDArray[np.object_]
    tree: shapely.STRtree

    @classmethod
    def of(cls, shapes: NDArray[np.object_]) -> Crowd:
        """Some polygons."""
        return cls(shapes, shapely.STRtree(shapes))

    def within(self, things: Sequence[shapely.Geometry], distance_mm: float) -> set[int]:
        """The places of those that come within a distance of any of some things."""
        _, near = self.tree.query(things, predicate="dwithin", distance=distance_mm)
        return set(near.tolist())

    def in_the_way(self, line: shapely.LineString, met: set[int], keep_mm: float) -> set[int]:
        """What may bar the way round those that a line meets: all between it and their row.

        Rings that meet are one obstacle: who bars the way past one may bar it past the next too.
        """
        row: set[int] = set()
        while not met <= row:
            row |= met
            met = self.within(list(self.shapes[sorted(met)]), 2 * keep_mm)
        if not row:
            return row
        around = shapely.GeometryCollection([line, *self.shapes[sorted(row)]])
        return self.within([shapely.convex_hull(around)], keep_mm)
