"""Cover against fire (M-7.19): is a base that a zone meets behind or inside of covering terrain?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.sight import free_line
from tablecam.geometry.zones import Strip
from tablecam.rules.maurice.field.ground import is_sliver
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.fire.shooter import Other, Shooter
from tablecam.rules.maurice.fire.zone import Met

Indices = NDArray[np.intp]

_DEG_PLACES = 6


@dataclass(frozen=True, slots=True)
class Aim:
    """An angle at which a base is hit, by its place in what was met.

    `past` is a line that reaches the base past all cover, None where it has cover or where there
    is none to pass.
    """

    at: int
    has_cover: bool
    past: shapely.LineString | None = None


def best_aim(
    shooter: Shooter, other: Other, met: Met, can_hit: Indices, cover: shapely.Geometry
) -> Aim:
    """The best of the angles at which a base can be hit: one without cover, if there is one.

    Otherwise the middle of the widest range of angles. `cover` is what covers between the two.
    """
    middle = _middle(met, can_hit)
    if shapely.is_empty(cover):
        return Aim(middle, has_cover=False)
    edge, outline = shooter.edge, other.outline

    def past_at(at: int) -> shapely.LineString | None:
        zone = (float(met.turns_deg[at]), float(met.ends_mm[at]))
        return _line_past(edge, outline, shooter.strip, cover, zone)

    if _is_inside(outline, cover):
        return Aim(middle, has_cover=True)
    past = past_at(middle)
    if past is not None:
        return Aim(middle, has_cover=False, past=past)
    any_way = free_line(edge, outline, cover)
    if any_way is None:
        return Aim(middle, has_cover=True)
    for at in _tried(shooter, met, can_hit, any_way):
        past = past_at(at)
        if past is not None:
            return Aim(at, has_cover=False, past=past)
    return Aim(middle, has_cover=True)


def has_cover(
    shooter: Shooter, other: Other, turned_deg: float, end_mm: float, by_mm: float = 0.0
) -> bool:
    """Whether a base has cover from fire at one angle, were all lengths by so much kinder to it.

    Then so much less of the shooter's front edge sees so much less of the base.
    """
    outline = shapely.buffer(other.outline, -by_mm, join_style="mitre")
    if _is_inside(outline, shooter.cover):
        return True
    edge, strip = shooter.edge_less(SLIVER_MM + by_mm), shooter.strip.narrowed(by_mm)
    return _line_past(edge, outline, strip, shooter.cover, (turned_deg, end_mm)) is None


def _is_inside(outline: shapely.Polygon, cover: shapely.Geometry) -> bool:
    if not shapely.intersects(cover, outline):
        return False
    outside = shapely.difference(outline, cover, grid_size=GRID_MM)
    return is_sliver(outside)


def _line_past(
    edge: shapely.LineString,
    outline: shapely.Polygon,
    strip: Strip,
    cover: shapely.Geometry,
    zone: tuple[float, float],
) -> shapely.LineString | None:
    """A line to what a strip, turned by so many degrees and so long, holds of an outline.

    One past all cover, None where there is none.
    """
    turned_deg, end_mm = zone
    for within in (strip.narrowed(SLIVER_MM), strip):
        turned = within.outline(turned_deg, end_mm + GRID_MM)
        seen = shapely.intersection(outline, turned, grid_size=GRID_MM / 10)
        if shapely.area(seen) > 0:
            return free_line(edge, seen, cover)
    # Met with its very end: what it holds of the base is no more than an edge or a corner.
    return free_line(edge, shapely.buffer(seen, GRID_MM), cover)


def _middle(met: Met, can_hit: Indices) -> int:
    """The angle nearest to the middle of the widest range of angles, the least turned of such."""
    if len(can_hit) == 1:
        return int(can_hit[0])
    runs = np.split(can_hit, np.flatnonzero(np.diff(can_hit) > 1) + 1)
    ends_deg = np.array([met.turns_deg[run[[0, -1]]] for run in runs])
    middles_deg = ends_deg.mean(axis=1)
    widths_deg = np.round(np.diff(ends_deg, axis=1)[:, 0], _DEG_PLACES)
    widest = np.lexsort([np.abs(middles_deg), -widths_deg])[0]
    run = runs[widest]
    # Of two as near the first, whatever rounding says.
    off_deg = np.abs(met.turns_deg[run] - middles_deg[widest])
    return int(run[np.argmin(np.round(off_deg, _DEG_PLACES))])


def _tried(shooter: Shooter, met: Met, can_hit: Indices, any_way: shapely.LineString) -> list[int]:
    """The angles in the order to try: the nearest first to where the base shows."""
    shows = shooter.strip.local_mm(shapely.get_coordinates(any_way)[-1:])[0]
    bearing_deg = float(np.degrees(np.arctan2(-shows[0], shows[1])))
    off_deg = np.abs(met.turns_deg[can_hit] - bearing_deg)
    return [int(at) for at in can_hit[np.argsort(off_deg, kind="stable")]]
