"""A field as it may be in truth: all units drawn anew many times from what is known of them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import FIT_LIMIT_DEG, SEAM_MM, Axes, unit_footprints
from tablecam.geometry.rectangles import Rectangles, rectangles
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.table.formation import front_rank
from tablecam.table.model import Unit

Array = NDArray[np.float64]

DRAWS = 200
"""How often all near are drawn anew: a probability of 0.5 is known to 0.035, of 0.95 to 0.015."""

_SEED = 1740


def with_units(field: Field, units: Iterable[UnitOnField]) -> Field:
    """A field with these units alone."""
    there = tuple(units)
    by_id = MappingProxyType({unit.id: unit for unit in there})
    return replace(field, units=there, by_id=by_id)


def drawn_fields(field: Field) -> list[Field]:
    """The field as it may be in truth, drawn from what is known of it; always the same draws.

    Each unit's `unit` is as it was seen; only its axes, outline and bases are drawn. The outline is
    the union of its bases, or the hull of those that as good as fill it: always a valid area, which
    any overlay takes.
    """
    drawn = [_drawn(unit) for unit in field.units]
    return [with_units(field, units) for units in zip(*drawn, strict=True)]


def _drawn(unit: UnitOnField) -> list[UnitOnField]:
    """One unit in each draw."""
    bases = unit.unit.bases
    if not any(base.sigma_mm or base.sigma_deg for base in bases):
        return [unit] * DRAWS
    seen = rectangles([unit.unit])
    moved_mm, turns_rad = seen.errors(_luck(unit.id, len(bases)))
    corners_mm = _corners(seen, moved_mm, turns_rad)
    headings_deg = np.array([base.heading_deg for base in bases]) + np.degrees(turns_rad)
    polygons = np.asarray(shapely.polygons(corners_mm), dtype=object)
    each = [tuple(row) for row in polygons.tolist()]
    outlines = _outlines(unit, polygons)
    return [
        replace(unit, axes=front, outline=outline, bases=of_it)
        for front, outline, of_it in zip(
            _fronts(unit.unit, corners_mm, headings_deg), outlines, each, strict=True
        )
    ]


def _outlines(unit: UnitOnField, bases: NDArray[np.object_]) -> list[shapely.Geometry]:
    hull = shapely.convex_hull(unit.outline)
    if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM:
        return [*np.asarray(shapely.convex_hull(shapely.multipolygons(bases)), dtype=object)]
    return [*unit_footprints(bases.tolist())]


@cache
def _luck(unit_id: str, bases: int) -> Array:
    """Of each base in each draw, in sigmas (draws, bases, 3), whoever else is there."""
    rng = np.random.default_rng([_SEED, zlib.crc32(unit_id.encode())])
    return rng.standard_normal((DRAWS, bases, 3))


def _corners(seen: Rectangles, moved_mm: Array, turns_rad: Array) -> Array:
    """The corners (draws, bases, 4, 2) of bases moved and turned."""
    offsets = seen.corners_mm() - seen.centres_mm[:, None]
    cos, sin = np.cos(turns_rad)[..., None], np.sin(turns_rad)[..., None]
    x_mm, y_mm = offsets[..., 0], offsets[..., 1]
    turned = np.stack([cos * x_mm - sin * y_mm, sin * x_mm + cos * y_mm], axis=-1)
    return np.asarray(turned + (seen.centres_mm + moved_mm)[:, :, None])


def _fronts(unit: Unit, corners_mm: Array, headings_deg: Array) -> list[Axes]:
    """The axes in each draw, as `axes` has them."""
    rank = list(front_rank(unit))
    fronts_mm = corners_mm[:, rank, :2]
    if len(rank) == 1:
        return _axes(fronts_mm[:, 0], headings_deg[:, rank[0]])
    turns_rad = np.radians(headings_deg)
    ahead = np.stack([np.cos(turns_rad).sum(axis=1), np.sin(turns_rad).sum(axis=1)], axis=1)
    ahead /= np.hypot(*ahead.T)[:, None]
    middle, along = _fitted(fronts_mm.mean(axis=2), ahead)
    reach_mm = ((fronts_mm - middle[:, None, None]) @ along[:, None, :, None])[..., 0]
    reach_mm = reach_mm.reshape(len(along), -1)
    ends_mm = np.stack([reach_mm.min(axis=1), reach_mm.max(axis=1)], axis=1)
    ends_mm = middle[:, None] + along[:, None] * ends_mm[..., None]
    return _axes(ends_mm, np.degrees(np.arctan2(ahead[:, 1], ahead[:, 0])) % 360.0)


def _fitted(points_mm: Array, ahead: Array) -> tuple[Array, Array]:
    """A place on the line through points (draws, n, 2) and its direction, rightward of `ahead`."""
    middle = points_mm.mean(axis=1)
    across = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    along = np.linalg.svd(points_mm - middle[:, None])[2][:, 0]
    along *= np.where((along * across).sum(axis=1) > 0, 1.0, -1.0)[:, None]
    is_askew = (along * across).sum(axis=1) < math.cos(math.radians(FIT_LIMIT_DEG))
    foremost = (points_mm @ ahead[..., None])[..., 0].argmax(axis=1)
    middle[is_askew] = points_mm[np.arange(len(points_mm)), foremost][is_askew]
    along[is_askew] = across[is_askew]
    return middle, along


def _axes(ends_mm: Array, headings_deg: Array) -> list[Axes]:
    """Axes from ends (draws, 2, 2) of fronts, left and right, and headings."""
    return [
        Axes((left[0], left[1]), (right[0], right[1]), heading_deg)
        for (left, right), heading_deg in zip(ends_mm.tolist(), headings_deg.tolist(), strict=True)
    ]
