"""How high above the table what is asked about lies: on bases' tops, and with them on hills."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.drawing.pen import Array
from tablecam.table.model import Terrain
from tablecam.vision.identification.heights import hills_of


@dataclass(frozen=True, slots=True)
class Ground:
    """Where evidence lies: `base_mm` above the ground, on which hills rise, the highest first."""

    base_mm: float = 0.0
    hills: tuple[tuple[shapely.Geometry, float], ...] = ()

    @classmethod
    def of(cls, terrain: Iterable[Terrain], *, base_mm: float) -> Ground:
        """The ground with the hills whose height the table file gives."""
        return cls(base_mm, hills_of(terrain))

    @property
    def levels_mm(self) -> tuple[float, ...]:
        """Every height that there is on it, the lowest first."""
        rises_mm = {rise_mm for _, rise_mm in self.hills}
        return tuple(self.base_mm + rise_mm for rise_mm in sorted({0.0, *rises_mm}))

    def heights_mm(self, places_mm: Array) -> Array:
        """How high above the table places (n, 2) are, (n,)."""
        rises_mm = np.zeros(len(places_mm))
        for outline, rise_mm in self.hills:
            inside = shapely.contains_xy(outline, places_mm[:, 0], places_mm[:, 1])
            rises_mm = np.where(inside & (rises_mm == 0), rise_mm, rises_mm)
        return self.base_mm + rises_mm
