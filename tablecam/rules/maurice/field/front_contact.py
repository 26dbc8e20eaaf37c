"""Front contact (M-8.10): does an enemy touch a unit's front edge, and by what margin?"""

from __future__ import annotations

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles, rectangles
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Piece, is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM, THIN_BW
from tablecam.table.headings import right
from tablecam.uncertainty.contact import TOUCH_MM

OVERLAP_MM = 3.0
"""Hands are hands: how far behind a front line an enemy that touches it may have slipped."""
_SLACK_MM = 1e-4
"""By how much what slipped behind a front line may be deeper than wide, for rounding."""


def front_gap_mm(attacker: UnitOnField, other: UnitOnField) -> float | None:
    """How far ahead of a unit's front edge another lies, of what is between its flank lines.

    None when no part of it is there (G-5). Negative when it has slipped behind the front line by
    no more than hands explain; what lies along the flank is not in front.
    """
    found = attacker.axes
    if not is_partly_in(other.outline, lane(found, _reach_mm(found, other))):
        return None
    across = lane(found, _reach_mm(found, other), behind_mm=OVERLAP_MM)
    part = shapely.intersection(other.outline, across, grid_size=GRID_MM)
    gap_mm = float(found.ahead_mm(shapely.get_coordinates(part)).min())
    return None if gap_mm < 0 and _is_beside(found, part) else gap_mm


def touches_front(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> bool:
    """Whether an enemy touches a unit's front edge (M-8.10), perhaps across a wall (M-8.14)."""
    gap_mm = front_gap_mm(attacker, enemy)
    if gap_mm is None:
        return False
    return gap_mm <= TOUCH_MM + EXACT_MM or touches_across(field, attacker, enemy)


def touches_across(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> bool:
    """Whether a unit's front and an enemy lie flush on both sides of a thin obstacle (M-8.14).

    The straight way ahead from one to the other is the obstacle and no more than 1 mm to each side.
    """
    thin_mm = THIN_BW * field.bw_mm
    linear = [piece for piece in field.ground.pieces if piece.kind.is_linear]
    gap_mm = front_gap_mm(attacker, enemy) if linear else None
    if gap_mm is None or gap_mm > thin_mm + 2 * TOUCH_MM + EXACT_MM:
        return False
    front = shapely.LineString([attacker.axes.left_mm, attacker.axes.right_mm])
    return any(
        shapely.distance(front, piece.outline) <= TOUCH_MM + EXACT_MM
        and shapely.distance(enemy.outline, piece.outline) <= TOUCH_MM + EXACT_MM
        and _is_thin(piece.outline, thin_mm)
        for piece in linear
    )


def contact_margin_mm(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> float:
    """By how much an enemy touches a unit's front edge; negative by how much it does not.

    At least 0 where `touches_front` says that it does.
    """
    fronts, bases = Fronts.of(attacker.axes), rectangles([enemy.unit])
    margin_mm = float(contact_margins_mm(field, fronts, bases)[0])
    touches = touches_front(field, attacker, enemy)
    # Base by base a sliver is judged a hair otherwise than of the whole outline.
    return max(margin_mm, 0.0) if touches else min(margin_mm, -2 * EXACT_MM)


def contact_margins_mm(field: Field, fronts: Fronts, bases: Rectangles) -> Array:
    """The same (k,) for k fronts and as many draws of one enemy's bases."""
    count = len(fronts.left_mm)
    corners_mm = bases.corners_mm().reshape(count, -1, 4, 2)
    in_strip_mm = fronts.depth_mm(corners_mm, bases.axes.reshape(count, -1, 2, 2)).max(axis=1)
    in_strip_mm = in_strip_mm - SLIVER_MM
    gap_mm, wide_mm = _gaps_and_widths(fronts, corners_mm)
    from_flank_mm = np.where(gap_mm < 0, wide_mm + gap_mm + _SLACK_MM, np.inf)
    touching_mm = np.minimum(TOUCH_MM - gap_mm, from_flank_mm)
    across_mm = np.minimum(_across_margins_mm(field, fronts, corners_mm, gap_mm), from_flank_mm)
    at_edge_mm = np.maximum(touching_mm, across_mm)
    # What is not between the flank lines at all has no gap: only how far it is from being there.
    between_mm = np.minimum(in_strip_mm, at_edge_mm)
    return np.asarray(np.where(np.isfinite(gap_mm), between_mm, in_strip_mm))


def _gaps_and_widths(fronts: Fronts, corners_mm: Array) -> tuple[Array, Array]:
    """Gaps (k,) between front edges and bases (k, n, 4, 2), and how wide these are at the edge.

    Of what lies between the flank lines and no farther behind than an overlap; infinite and 0
    where nothing does.
    """
    across = np.stack([fronts.heading[:, 1], -fronts.heading[:, 0]], axis=1)
    offsets = corners_mm - fronts.left_mm[:, None, None]
    u = np.einsum("knci,ki->knc", offsets, across)
    v = np.einsum("knci,ki->knc", offsets, fronts.normal)
    end = np.einsum("ki,ki->k", fronts.right_mm - fronts.left_mm, across)[:, None, None]
    us, vs = [u], [v]
    for at_u in (0.0, end):
        cut_v = _cut(u, v, at_u)
        us.append(np.broadcast_to(at_u, u.shape))
        vs.append(cut_v)
    all_u, all_v = np.concatenate(us, axis=2), np.concatenate(vs, axis=2)
    inside = (all_u >= -EXACT_MM) & (all_u <= end + EXACT_MM) & np.isfinite(all_v)
    reaches = np.where(inside, all_v, -np.inf).max(axis=2, keepdims=True) >= -OVERLAP_MM
    nearest = np.where(inside & reaches, np.maximum(all_v, -OVERLAP_MM), np.inf)
    at_edge = [(_cut(v, u, at_v), np.full_like(u, at_v)) for at_v in (-OVERLAP_MM, TOUCH_MM)]
    return nearest.min(axis=(1, 2)), _width([(all_u, all_v), *at_edge], end)


def _cut(of: Array, other: Array, at: Array | float) -> Array:
    """What `other` is where the sides of quadrilaterals (k, n, 4) cross `of` = `at`; else nan."""
    of_next, other_next = np.roll(of, -1, axis=2), np.roll(other, -1, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (at - of) / (of_next - of)
    crosses = (share >= 0.0) & (share <= 1.0)
    return np.where(crosses, other + np.where(crosses, share, 0.0) * (other_next - other), np.nan)


def _width(points: list[tuple[Array, Array]], end: Array) -> Array:
    """How far apart along the edge those of some points lie that are at it: (k,)."""
    u, v = (np.concatenate(parts, axis=2) for parts in zip(*points, strict=True))
    is_at = (v >= -OVERLAP_MM) & (v <= TOUCH_MM) & (u >= -EXACT_MM) & (u <= end + EXACT_MM)
    least = np.where(is_at, u, np.inf).min(axis=(1, 2))
    most = np.where(is_at, u, -np.inf).max(axis=(1, 2))
    return np.asarray(np.maximum(most - least, 0.0))


def _across_margins_mm(field: Field, fronts: Fronts, corners_mm: Array, gap_mm: Array) -> Array:
    """By how much fronts and bases lie flush on both sides of a thin obstacle (k,)."""
    margins_mm = np.full(len(gap_mm), -np.inf)
    pieces = thin_pieces(field)
    if not pieces:
        return margins_mm
    edges = shapely.linestrings(np.stack([fronts.left_mm, fronts.right_mm], axis=1))
    bases = np.asarray(shapely.polygons(corners_mm))
    near_mm = THIN_BW * field.bw_mm + 2 * TOUCH_MM - gap_mm
    for piece in pieces:
        to_front_mm = shapely.distance(edges, piece.outline)
        to_bases_mm = shapely.distance(bases, piece.outline).min(axis=1)
        flush_mm = TOUCH_MM - np.maximum(to_front_mm, to_bases_mm)
        margins_mm = np.maximum(margins_mm, np.minimum(near_mm, flush_mm))
    return margins_mm


def thin_pieces(field: Field) -> list[Piece]:
    """The linear obstacles that are fought across."""
    thin_mm = THIN_BW * field.bw_mm
    return [
        piece
        for piece in field.ground.pieces
        if piece.kind.is_linear and _is_thin(piece.outline, thin_mm)
    ]


def _is_beside(found: Axes, part: shapely.Geometry) -> bool:
    """Whether what slipped behind the front line came from the flank: deeper than it is wide.

    As wide as all of it that is at the front line: a base may stand a hair before its rank.
    """
    behind_mm = -float(found.ahead_mm(shapely.get_coordinates(part)).min())
    at_front = lane(found, TOUCH_MM, behind_mm=OVERLAP_MM)
    # Cut to a lane, an outline may leave an edge beside its area, which no overlay takes.
    pieces = shapely.get_parts(part)
    areas = pieces[shapely.get_dimensions(pieces) == 2]
    touching = shapely.get_coordinates(shapely.intersection(areas, at_front, grid_size=GRID_MM))
    along = np.array(right(found.heading_deg))
    wide_mm = float(np.ptp(touching @ along)) if len(touching) else 0.0
    return behind_mm > wide_mm + _SLACK_MM


def _is_thin(outline: shapely.Geometry, thin_mm: float) -> bool:
    """Whether an obstacle is nowhere thicker than a width, bent as it may be."""
    return bool(shapely.buffer(outline, -thin_mm / 2 - EXACT_MM, join_style="mitre").is_empty)


def _reach_mm(found: Axes, other: UnitOnField) -> float:
    """A length ahead that is beyond all of a unit."""
    places = shapely.get_coordinates(other.outline)
    return max(1.0, float(found.ahead_mm(places).max()) + 1.0)
