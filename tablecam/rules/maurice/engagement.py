"""Who is engaged with whom (M-8.10 to M-8.12): front contact, and what lies within 1 BW of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import EXACT_MM, Shape, shapes_of
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.lanes import lane
from tablecam.measure.outlines import GRID_MM, Axes, axes
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.ground import is_partly_in
from tablecam.rules.maurice.tables import ENGAGED_BW, SLIVER_MM, THIN_BW
from tablecam.table.formation import front_rank
from tablecam.table.headings import right

Array = NDArray[np.float64]

_OVERLAP_MM = 3.0
"""Hands are hands: how far behind a front line an enemy that touches it may have slipped."""
_GRAZE_MM = 1e-3
"""A line as near as this to an outline runs along it, not through it; two digits above the grid."""
_SLACK_MM = 1e-4
"""How much a strip is lengthened, so that what lies exactly at its end is in it (G-2)."""


@dataclass(frozen=True, slots=True)
class Engagement:
    """An attacker and an enemy that it engages, and why.

    `how` is `contact` with its front edge, or `near`: directly in front and within 1 BW, as the
    two lines of M-8.12 show from its base at `base`. `gap_mm` is from its front line, negative
    where hands have let the two overlap.
    """

    attacker: str
    defender: str
    how: Literal["contact", "near"]
    gap_mm: float
    base: str | None
    evidence: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Engagements:
    """All engagements of a position, in the order of its units.

    Every unit of the active side is taken for an attacker: a position alone tells no charges.
    """

    pairs: Mapping[tuple[str, str], Engagement]

    def of(self, unit_id: str) -> tuple[str, ...]:
        """The enemies that a unit of either side is engaged with."""
        return tuple(
            defender if attacker == unit_id else attacker
            for attacker, defender in self.pairs
            if unit_id in (attacker, defender)
        )

    def in_front_contact(self, attacker_id: str) -> tuple[str, ...]:
        """The enemies that touch an attacker's front edge."""
        return tuple(
            each.defender
            for each in self.pairs.values()
            if each.attacker == attacker_id and each.how == "contact"
        )

    def evidence(self, a_id: str, b_id: str) -> tuple[Shape, ...]:
        """The drawing of why two units are engaged, in either order; empty where they are not."""
        found = self.pairs.get((a_id, b_id)) or self.pairs.get((b_id, a_id))
        return found.evidence if found else ()


def engagements(field: Field, active: str) -> Engagements:
    """Who is engaged with whom when a side attacks (M-8.10)."""
    found = [each for unit in field.of_side(active) for each in _of_attacker(field, unit)]
    return Engagements(MappingProxyType({(each.attacker, each.defender): each for each in found}))


def front_gap_mm(attacker: UnitOnField, other: UnitOnField) -> float | None:
    """How far ahead of a unit's front edge another lies, of what is between its flank lines.

    None when no part of it is there (G-5). Negative when it has slipped behind the front line by
    no more than hands explain; what lies along the flank is not in front.
    """
    found = attacker.axes
    if not is_partly_in(other.outline, lane(found, _reach_mm(found, other))):
        return None
    across = lane(found, _reach_mm(found, other), behind_mm=_OVERLAP_MM)
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
    gap_mm = front_gap_mm(attacker, enemy)
    if gap_mm is None or gap_mm > thin_mm + 2 * TOUCH_MM + EXACT_MM:
        return False
    front = shapely.LineString([attacker.axes.left_mm, attacker.axes.right_mm])
    return any(
        shapely.distance(front, piece.outline) <= TOUCH_MM + EXACT_MM
        and shapely.distance(enemy.outline, piece.outline) <= TOUCH_MM + EXACT_MM
        and _is_thin(piece.outline, thin_mm)
        for piece in field.ground.pieces
        if piece.kind.is_linear
    )


def _of_attacker(field: Field, attacker: UnitOnField) -> list[Engagement]:
    reach_mm = ENGAGED_BW * field.bw_mm
    near = [
        enemy
        for enemy in field.enemies_of(attacker)
        if shapely.dwithin(enemy.outline, attacker.outline, reach_mm + _OVERLAP_MM)
    ]
    contacts = {enemy.id for enemy in near if touches_front(field, attacker, enemy)}
    if not contacts:
        return []
    return [
        found
        for enemy in near
        if (
            found := _by_contact(attacker, enemy)
            if enemy.id in contacts
            else _by_two_lines(field, attacker, enemy)
        )
    ]


def _by_contact(attacker: UnitOnField, enemy: UnitOnField) -> Engagement:
    gap_mm = front_gap_mm(attacker, enemy) or 0.0
    edge = shapely.LineString([attacker.axes.left_mm, attacker.axes.right_mm])
    touching = shapely.intersection(
        edge.buffer(max(gap_mm, 0.0) + TOUCH_MM, cap_style="flat"), enemy.outline
    )
    evidence = (
        *shapes_of(edge, "front-edge"),
        *shapes_of(shapely.centroid(touching), "contact", f"touches {enemy.id}"),
    )
    return Engagement(attacker.id, enemy.id, "contact", gap_mm, None, evidence)


def _by_two_lines(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> Engagement | None:
    """The engagement with an enemy within 1 BW of the front, if two lines reach it (M-8.12)."""
    others = [unit.outline for unit in field.units if unit is not attacker and unit is not enemy]
    for index in front_rank(attacker.unit):
        before = axes(attacker.unit.bases[index])
        lines = _two_lines(before, enemy.outline, others, ENGAGED_BW * field.bw_mm)
        if lines is None:
            continue
        gap_mm = max(0.0, front_gap_mm(attacker, enemy) or 0.0)
        area = lane(before, ENGAGED_BW * field.bw_mm)
        evidence = (
            *shapes_of(area, "lane", f"{ENGAGED_BW:g} BW"),
            *(shape for line in lines for shape in shapes_of(line, "line-of-attack")),
        )
        name = attacker.unit.base_name(index)
        return Engagement(attacker.id, enemy.id, "near", gap_mm, name, evidence)
    return None


def _two_lines(
    before: Axes, enemy: shapely.Geometry, others: Iterable[shapely.Geometry], reach_mm: float
) -> tuple[shapely.LineString, shapely.LineString] | None:
    """Lines from both front corners of a base, within its strip, that reach an enemy freely."""
    if not is_partly_in(enemy, lane(before, reach_mm + TOUCH_MM)):
        return None
    area = lane(before, reach_mm + _SLACK_MM)
    target = shapely.intersection(enemy, area, grid_size=GRID_MM)
    if target.is_empty:
        return None
    # One union of all: no line slips through between units that lie flush.
    hiding = shapely.union_all(
        [other for other in others if shapely.intersects(other, area)], grid_size=GRID_MM
    )
    left = _free_line(before.left_mm, target, hiding, area)
    end = _free_line(before.right_mm, target, hiding, area)
    return None if left is None or end is None else (left, end)


def _free_line(
    start: tuple[float, float],
    target: shapely.Geometry,
    hiding: shapely.Geometry,
    area: shapely.Polygon,
) -> shapely.LineString | None:
    """The shortest of the lines from a point that reach a target within a convex area freely.

    The directions in which it is seen make intervals that end at corners of what hides or of the
    target, so that trying the directions of all corners leaves nothing out.
    """
    origin = np.array(start)
    corners = shapely.get_coordinates(
        [shapely.intersection(hiding, area, grid_size=GRID_MM), target]
    )
    ways = corners - origin
    lengths = np.hypot(*ways.T)
    ways = ways[lengths > _GRAZE_MM] / lengths[lengths > _GRAZE_MM, None]
    far = origin + ways * shapely.length(area)
    rays = shapely.linestrings(np.stack([np.broadcast_to(origin, far.shape), far], axis=1))
    hits = shapely.intersection(rays, shapely.buffer(target, _GRAZE_MM))
    seen_mm = np.asarray(shapely.distance(shapely.Point(start), hits))
    ends = origin + ways * np.nan_to_num(seen_mm)[:, None]
    lines = shapely.linestrings(np.stack([np.broadcast_to(origin, ends.shape), ends], axis=1))
    # A neighbour pushed over a corner by a hair hides nothing (G-5), and no light falls through
    # a gap that counts as touching (G-6).
    closed = shapely.buffer(hiding, TOUCH_MM / 2, join_style="mitre")
    inside = shapely.buffer(closed, -TOUCH_MM / 2 - SLIVER_MM / 2, join_style="mitre")
    within_mm = shapely.length(shapely.intersection(lines, inside))
    is_free = np.isfinite(seen_mm) & (within_mm < _GRAZE_MM)
    if not is_free.any():
        return None
    best = int(np.argmin(np.where(is_free, seen_mm, np.inf)))
    return shapely.LineString([origin, ends[best]])


def _is_beside(found: Axes, part: shapely.Geometry) -> bool:
    """Whether what slipped behind the front line came from the flank: deeper than it is wide.

    As wide as all of it that is at the front line: a base may stand a hair before its rank.
    """
    behind_mm = -float(found.ahead_mm(shapely.get_coordinates(part)).min())
    at_front = lane(found, TOUCH_MM, behind_mm=_OVERLAP_MM)
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
