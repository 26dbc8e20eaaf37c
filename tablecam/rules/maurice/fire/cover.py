"""Cover against fire (M-7.19): whether covering terrain protects a base that a zone meets."""

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
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.rules.maurice.fire.zone import ZoneContents

Indices = NDArray[np.intp]

_DEG_PLACES = 6


@dataclass(frozen=True, slots=True)
class Aim:
    """The index of the angle at which a base is shot at, and whether it has cover there.

    `past` is a line that reaches the base past all cover, None where it has cover or no cover is
    near.
    """

    at: int
    has_cover: bool
    past: shapely.LineString | None = None


def best_aim(
    shooter: Shooter, other: OtherBase, met: ZoneContents, can_hit: Indices, cover: shapely.Geometry
) -> Aim:
    """Returns the best angle at which a base can be hit: one without cover if there is one.

    Otherwise the middle of the widest range of angles. `cover` is the cover between the two bases.
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
    # A free line anywhere on the front edge tells whether searching the angles is worth it.
    any_way = free_line(edge, outline, cover)
    if any_way is None:
        return Aim(middle, has_cover=True)
    for at in _tried(shooter, met, can_hit, any_way):
        past = past_at(at)
        if past is not None:
            return Aim(at, has_cover=False, past=past)
    return Aim(middle, has_cover=True)


def has_cover(
    shooter: Shooter, other: OtherBase, turned_deg: float, end_mm: float, shift_mm: float = 0.0
) -> bool:
    """Returns whether a base has cover at one angle if lengths shift by `shift_mm` in its favour.

    The shift shortens the shooter's front edge and shrinks the base at its sides.
    """
    outline = shapely.buffer(other.outline, -shift_mm, join_style="mitre")
    if _is_inside(outline, shooter.cover):
        return True
    edge, strip = shooter.edge_less(SLIVER_MM + shift_mm), shooter.strip.narrowed(shift_mm)
    return _line_past(edge, outline, strip, shooter.cover, (turned_deg, end_mm)) is None


def _is_inside(outline: shapely.Polygon, cover: shapely.Geometry) -> bool:
    """Returns whether an outline lies in cover, a sliver aside (G-5)."""
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
    """Returns a line past all cover to the part of an outline in a turned strip, or None.

    `zone` is the strip's turn in degrees and its length.
    """
    turned_deg, end_mm = zone
    for within in (strip.narrowed(SLIVER_MM), strip):
        turned = within.outline(turned_deg, end_mm + GRID_MM)
        seen = shapely.intersection(outline, turned, grid_size=GRID_MM / 10)
        if shapely.area(seen) > 0:
            return free_line(edge, seen, cover)
    # Met at the zone's very end, where the common part is an edge or a corner without area.
    return free_line(edge, shapely.buffer(seen, GRID_MM), cover)


def _middle(met: ZoneContents, can_hit: Indices) -> int:
    """Returns the angle nearest the middle of the widest run of angles, least turned of ties."""
    if len(can_hit) == 1:
        return int(can_hit[0])
    runs = np.split(can_hit, np.flatnonzero(np.diff(can_hit) > 1) + 1)
    ends_deg = np.array([met.turns_deg[run[[0, -1]]] for run in runs])
    middles_deg = ends_deg.mean(axis=1)
    widths_deg = np.round(np.diff(ends_deg, axis=1)[:, 0], _DEG_PLACES)
    widest = np.lexsort([np.abs(middles_deg), -widths_deg])[0]
    run = runs[widest]
    # Rounded, so that of two equally near angles the first wins on every platform.
    off_deg = np.abs(met.turns_deg[run] - middles_deg[widest])
    return int(run[np.argmin(np.round(off_deg, _DEG_PLACES))])


def _tried(
    shooter: Shooter, met: ZoneContents, can_hit: Indices, any_way: shapely.LineString
) -> list[int]:
    """Returns the angles sorted by distance to the bearing at which the base is visible."""
    shows = shooter.strip.local_mm(shapely.get_coordinates(any_way)[-1:])[0]
    bearing_deg = float(np.degrees(np.arctan2(-shows[0], shows[1])))
    off_deg = np.abs(met.turns_deg[can_hit] - bearing_deg)
    return [int(at) for at in can_hit[np.argsort(off_deg, kind="stable")]]
