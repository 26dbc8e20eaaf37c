"""The worlds of a field: its units as they lie in each draw of the pose errors.

A rule is asked in each world as if all poses were exact; how often it holds is its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import SEAM_MM, unit_footprints
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.uncertainty.samples import DRAWS, draw_units


def drawn_fields(field: Field, units: Sequence[UnitOnField] | None = None) -> list[Field]:
    """Returns the field in each draw (DRAWS,) of the pose errors, reduced to some `units` if given.

    Each unit's `unit` stays as measured; only its axes, outline and bases are drawn. The draws of a
    base are always the same, whichever units are asked for and in whatever question.
    """
    drawn = [drawn_unit(unit) for unit in (field.units if units is None else units)]
    if not drawn:
        return [field.with_units(())] * DRAWS
    return [field.with_units(of_draw) for of_draw in zip(*drawn, strict=True)]


# Remembered: all questions about a unit, and those after others have moved, share its draws.
@lru_cache(maxsize=64)
def drawn_unit(unit: UnitOnField) -> tuple[UnitOnField, ...]:
    """Returns a unit in each draw (DRAWS,); the unit itself if its poses are exact."""
    bases = unit.unit.bases
    if not any(base.sigma_mm or base.sigma_deg for base in bases):
        return (unit,) * DRAWS
    drawn = draw_units([unit.unit])
    polygons = np.asarray(shapely.polygons(drawn.corners_mm()), dtype=object)
    polygons = polygons.reshape(DRAWS, len(bases))
    fronts = Fronts.drawn(unit.unit, drawn).to_axes()
    return tuple(
        replace(unit, axes=front, outline=outline, bases=tuple(drawn_bases))
        for front, outline, drawn_bases in zip(
            fronts, _outlines(unit, polygons), polygons.tolist(), strict=True
        )
    )


def drawn_outlines(unit: UnitOnField) -> NDArray[np.object_]:
    """Returns a unit's outline (DRAWS,) for each draw."""
    return np.array([drawn.outline for drawn in drawn_unit(unit)], dtype=object)


def _outlines(unit: UnitOnField, bases: NDArray[np.object_]) -> NDArray[np.object_]:
    """Joins bases (d, n) to outlines (d,): their union, or their hull where they almost fill it."""
    hull = shapely.convex_hull(unit.outline)
    if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM:
        return np.asarray(shapely.convex_hull(shapely.multipolygons(bases)), dtype=object)
    return np.array(unit_footprints(bases.tolist()), dtype=object)
