"""Gives the height at which evidence lies: on top of bases, and with them on hills."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.drawing.pen import Array
from tablecam.table.model import Terrain
from tablecam.vision.identification.heights import hills_of


@dataclass(frozen=True, slots=True)
class EvidenceHeights:
    """The height of evidence: `base_mm` above the ground with its hills, the highest first."""

    base_mm: float = 0.0
    hills: tuple[tuple[shapely.Geometry, float], ...] = ()

    @classmethod
    def of(cls, terrain: Iterable[Terrain], *, base_mm: float) -> EvidenceHeights:
        """Takes the hills whose heights the table file gives."""
        return cls(base_mm, hills_of(terrain))

    @property
    def levels_mm(self) -> tuple[float, ...]:
        """All heights that occur, the lowest first."""
        rises_mm = {rise_mm for _, rise_mm in self.hills}
        return tuple(self.base_mm + rise_mm for rise_mm in sorted({0.0, *rises_mm}))

    def heights_mm(self, places_mm: Array) -> Array:
        """Returns the heights above the table of places (n, 2), (n,)."""
        rises_mm = np.zeros(len(places_mm))
        for outline, rise_mm in self.hills:
            inside = shapely.contains_xy(outline, places_mm[:, 0], places_mm[:, 1])
            # The highest hill comes first, so it wins where hills overlap.
            rises_mm = np.where(inside & (rises_mm == 0), rise_mm, rises_mm)
        return self.base_mm + rises_mm
