"""The worlds of a field: poses that its units may really have, for testing plain rules.

A drawn world has one draw of the pose errors; the share of them in which a rule holds is its
probability. A tilted world favours or hinders one action; the tilt at which a rule's answer changes
is its margin (`tablecam.uncertainty.margins`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import SEAM_MM, unit_footprints
from tablecam.geometry.rectangles import rectangles
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Ground
from tablecam.table.headings import difference_deg
from tablecam.uncertainty.samples import DRAWS, draw_units


def drawn_fields(field: Field) -> list[Field]:
    """Returns the field in each draw (DRAWS,) of the pose errors.

    Each unit's `unit` stays as measured; only its axes, outline and bases are drawn. A base always
    has the same draws, whatever the question.
    """
    drawn = map(drawn_unit, field.units)
    return [field.with_units(of_draw) for of_draw in zip(*drawn, strict=True)]


# Cached: all questions about a unit share its draws, also after others have moved.
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
        replace(unit, axes=front, outline=outline, bases=tuple(drawn_bases), place=object())
        for front, outline, drawn_bases in zip(
            fronts, _outlines(unit, polygons), polygons.tolist(), strict=True
        )
    )


def _outlines(unit: UnitOnField, bases: NDArray[np.object_]) -> NDArray[np.object_]:
    """Joins bases (d, n) to outlines (d,): their union, or their hull if they almost fill it."""
    hull = shapely.convex_hull(unit.outline)
    if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM:
        return np.asarray(shapely.convex_hull(shapely.multipolygons(bases)), dtype=object)
    return np.array(unit_footprints(bases.tolist()), dtype=object)


def tilted(field: Field, unit: UnitOnField, targets: Collection[str], by_mm: float) -> Field:
    """Returns the field with lengths `by_mm` more in favour of a unit's action against targets.

    The targets are that much nearer and wider, and whatever bars or hides them smaller; the reverse
    if `by_mm` is negative. The unit itself is unchanged, and so is each unit's `unit`.
    """
    others = [other for other in field.units if other is not unit]
    grown = _grown(unit, others, [by_mm if other.id in targets else -by_mm for other in others])
    return replace(
        field.with_units(grown.get(other.id, other) for other in field.units),
        ground=_ground(field.ground, -by_mm),
        over_edge_mm=by_mm,
    )


@lru_cache(maxsize=64)
def _ground(ground: Ground, by_mm: float) -> Ground:
    return ground.grown(by_mm)


def _grown(
    unit: UnitOnField, others: Sequence[UnitOnField], by_mm: Sequence[float]
) -> dict[str, UnitOnField]:
    """Returns other units grown by lengths along and across a unit's heading, by their ids."""
    if not others:
        return {}
    poses = rectangles([other.unit for other in others])
    # A corner of an oblique base comes nearer by more than its sides.
    askew_deg = [difference_deg(o.axes.heading_deg, unit.axes.heading_deg) for o in others]
    askew_rad = np.radians(askew_deg)
    sides_mm = np.array(by_mm) / (np.abs(np.sin(askew_rad)) + np.abs(np.cos(askew_rad)))
    halves_mm = np.maximum(poses.halves_mm + sides_mm[poses.owners, None], 0.1)
    corners_mm = replace(poses, halves_mm=halves_mm).corners_mm()
    polygons = iter(np.asarray(shapely.polygons(corners_mm), dtype=object).tolist())
    outlines = np.array([other.outline for other in others], dtype=object)
    outlines = np.asarray(shapely.buffer(outlines, sides_mm, join_style="mitre"), dtype=object)
    return {
        other.id: replace(
            other,
            # A friend in line beside the unit stays beside it.
            outline=other.outline if unit.touches_flank_of_line(other) else outline,
            bases=tuple(next(polygons) for _ in other.bases),
            place=object(),
        )
        for other, outline in zip(others, outlines.tolist(), strict=True)
    }
