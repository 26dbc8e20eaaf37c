"""A base that shoots: its zone, what obstructs it and covers others, whom it can see (M-7.11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.outlines import GRID_MM, axes, footprint, front_edge
from tablecam.measure.sight import is_between, is_hidden
from tablecam.measure.zones import Strip, strip_before
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.ground import Piece
from tablecam.rules.maurice.tables import LONG_BW, SHORT_BW, SLIVER_MM, ZONE_BW
from tablecam.table.model import BasePose

Points = Any
"""An array of shapely points."""

_MOST_IN_WALL_MM = 3.0
"""A base that lies deeper in a wall stands on it, not flush behind it (M-7.18)."""

_MET_MM = 2 * TOUCH_MM
"""A wall that meets less of a front edge than this runs past its corner, not along it."""


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """A base of another unit than the one that shoots."""

    unit: UnitOnField
    place: int
    outline: shapely.Polygon
    is_enemy: bool

    @property
    def pose(self) -> BasePose:
        """Where it lies."""
        return self.unit.unit.bases[self.place]

    @property
    def name(self) -> str:
        """How players call it."""
        return self.unit.unit.base_name(self.place)


@dataclass(frozen=True, slots=True, eq=False)
class Shooter:
    """A base that shoots, its own wall left out of `obstructing` and `cover` (M-7.18).

    `others` are the bases of other units near enough to matter, without the enemies that no
    straight line from its front edge reaches past a crest (M-5.9).
    """

    unit: UnitOnField
    place: int
    bw_mm: float
    strip: Strip
    others: tuple[Other, ...]
    obstructing: tuple[shapely.Geometry, ...]
    cover: shapely.Geometry
    own_walls: tuple[Piece, ...] = ()

    @property
    def pose(self) -> BasePose:
        """Where it lies."""
        return self.unit.unit.bases[self.place]

    @property
    def name(self) -> str:
        """How players call it."""
        return self.unit.unit.base_name(self.place)

    @property
    def edge(self) -> shapely.LineString:
        """Its front edge, less a sliver at each end: no gap narrower than that lets fire by."""
        return self.edge_less(SLIVER_MM)

    def edge_less(self, by_mm: float) -> shapely.LineString:
        """Its front edge, less so much at each end."""
        front = axes(self.pose)
        left, end = np.array(front.left_mm), np.array(front.right_mm)
        inward = (end - left) / np.hypot(*(end - left)) * by_mm
        return shapely.LineString([left + inward, end - inward])

    @property
    def is_gun(self) -> bool:
        """Whether it is artillery."""
        return self.unit.unit.arm == "artillery"

    @property
    def short_mm(self) -> float:
        """Short range (M-7.9)."""
        return SHORT_BW * self.bw_mm

    @property
    def longest_mm(self) -> float:
        """As far as it can shoot (M-7.9, M-7.10)."""
        return (LONG_BW if self.is_gun else SHORT_BW) * self.bw_mm

    def within(self, range_mm: float) -> tuple[Other, ...]:
        """Those others that a zone of a length can meet, however it is turned."""
        if range_mm >= self.longest_mm or not self.others:
            return self.others
        outlines = [other.outline for other in self.others]
        reach_mm = _zone_reach_mm(range_mm, self.bw_mm)
        near = shapely.dwithin(outlines, shapely.Point(self.strip.pivot_mm), reach_mm)
        return tuple(self.others[place] for place in np.flatnonzero(near).tolist())


def shooters(field: Field, wanted: Sequence[tuple[UnitOnField, int]]) -> tuple[Shooter, ...]:
    """Bases made ready to shoot, each given by its unit and its place there."""
    strips = [strip_before(axes(u.unit.bases[place]), ZONE_BW * field.bw_mm) for u, place in wanted]
    reaches_mm = [_zone_reach_mm(_longest_mm(field, unit), field.bw_mm) for unit, _ in wanted]
    pivots = shapely.points(np.array([strip.pivot_mm for strip in strips]).reshape(-1, 2))
    own = _own_walls(field, [unit.unit.bases[place] for unit, place in wanted])
    seen = _seen(field, wanted, _near(field, wanted, strips, pivots, reaches_mm))
    obstructing = _obstructing(field, own, pivots, reaches_mm)
    return tuple(
        Shooter(*each, field.bw_mm, strip, others, screens, _cover(field, walls), walls)
        for each, strip, others, screens, walls in zip(
            wanted, strips, seen, obstructing, own, strict=True
        )
    )


def _longest_mm(field: Field, unit: UnitOnField) -> float:
    return (LONG_BW if unit.unit.arm == "artillery" else SHORT_BW) * field.bw_mm


def _zone_reach_mm(range_mm: float, bw_mm: float) -> float:
    """How far from the pivot a zone of a length reaches at its far corners, or a bit more."""
    return range_mm + ZONE_BW * bw_mm


def _near(
    field: Field,
    wanted: Sequence[tuple[UnitOnField, int]],
    strips: Sequence[Strip],
    pivots: Points,
    reaches_mm: Sequence[float],
) -> list[list[tuple[UnitOnField, int]]]:
    """For each shooter the bases of other units that reach ahead of its front line, near enough.

    Its own unit's do not count in its zones (M-7.13).
    """
    bases = [(unit, place) for unit in field.units for place in range(len(unit.bases))]
    outlines = np.array([unit.bases[place] for unit, place in bases], dtype=object)
    found: list[list[tuple[UnitOnField, int]]] = [[] for _ in wanted]
    if not len(wanted):
        return found
    which, other = shapely.STRtree(outlines).query(pivots, "dwithin", reaches_mm)
    order = np.lexsort((other, which))
    which, other = which[order], other[order]
    corners_mm = shapely.get_coordinates(outlines).reshape(len(outlines), 5, 2)
    pivots_mm = np.array([strip.pivot_mm for strip in strips])
    ahead = np.array([strip.axes[1] for strip in strips])
    to_corners = corners_mm[other] - pivots_mm[which][:, None]
    is_ahead = (to_corners * ahead[which][:, None]).sum(axis=-1).max(axis=1, initial=-1.0) > 0
    for place, base in zip(which[is_ahead].tolist(), other[is_ahead].tolist(), strict=True):
        if bases[base][0] is not wanted[place][0]:
            found[place].append(bases[base])
    return found


def _seen(
    field: Field,
    wanted: Sequence[tuple[UnitOnField, int]],
    near: Sequence[Sequence[tuple[UnitOnField, int]]],
) -> list[tuple[Other, ...]]:
    """Friends, seen or not, and the enemies that are not behind a crest (M-5.9)."""
    others = [
        tuple(Other(of, at, of.bases[at], of.side != unit.side) for of, at in each)
        for (unit, _), each in zip(wanted, near, strict=True)
    ]
    crests = field.ground.of_kind("crest")
    if not crests:
        return others
    hiding = shapely.union_all([crest.outline for crest in crests], grid_size=GRID_MM)
    edges = [front_edge(unit.unit.bases[place]) for unit, place in wanted]
    asked = [(at, other) for at, each in enumerate(others) for other in each if other.is_enemy]
    crossed = is_between([(edges[at], other.outline) for at, other in asked], hiding)
    hidden = {
        other
        for (at, other), is_crossed in zip(asked, crossed.tolist(), strict=True)
        if is_crossed and is_hidden(edges[at], other.outline, hiding)
    }
    return [tuple(other for other in each if other not in hidden) for each in others]


def _obstructing(
    field: Field, own: Sequence[Sequence[Piece]], pivots: Points, reaches_mm: Sequence[float]
) -> list[tuple[shapely.Geometry, ...]]:
    pieces = [
        piece
        for piece in field.ground.pieces
        if piece.kind.obstructs and shapely.area(piece.outline) > 0
    ]
    outlines = np.array([piece.outline for piece in pieces], dtype=object)
    which, piece = shapely.STRtree(outlines).query(pivots, "dwithin", reaches_mm)
    near = np.zeros((len(own), len(pieces)), dtype=bool)
    near[which, piece] = True
    return [
        tuple(pieces[at].outline for at in np.flatnonzero(each).tolist() if pieces[at] not in walls)
        for each, walls in zip(near, own, strict=True)
    ]


def _own_walls(field: Field, poses: Sequence[BasePose]) -> list[tuple[Piece, ...]]:
    """For each base the walls and trenches behind which it stands flush (M-7.18)."""
    walls = [each for each in field.ground.pieces if each.kind.is_linear and each.kind.obstructs]
    edges = np.array([front_edge(pose) for pose in poses], dtype=object)
    outlines = np.array([wall.outline for wall in walls], dtype=object)
    near = np.zeros((len(poses), len(walls)), dtype=bool)
    which, wall = shapely.STRtree(outlines).query(edges, "dwithin", TOUCH_MM + EXACT_MM)
    near[which, wall] = True
    return [
        _flush(pose, edge, [walls[at] for at in np.flatnonzero(each).tolist()])
        for pose, edge, each in zip(poses, edges, near, strict=True)
    ]


def _flush(pose: BasePose, edge: shapely.LineString, walls: Sequence[Piece]) -> tuple[Piece, ...]:
    """The walls along the whole front of a base.

    One wall may have been drawn in pieces: together they must meet the whole front edge.
    """
    base = footprint(pose) if walls else shapely.Polygon()
    flush = tuple(
        wall
        for wall in walls
        if shapely.length(shapely.intersection(edge, _grown(wall.outline))) > _MET_MM
        and _depth_mm(pose, base, wall.outline) <= _MOST_IN_WALL_MM + EXACT_MM
    )
    if not flush:
        return ()
    met = shapely.union_all([_grown(wall.outline) for wall in flush])
    return flush if shapely.length(shapely.difference(edge, met)) <= SLIVER_MM else ()


def _grown(outline: shapely.Geometry) -> shapely.Geometry:
    # Mitred, so that an edge which lies 1 mm off along its whole length is met at its ends too.
    return shapely.buffer(outline, TOUCH_MM + EXACT_MM, join_style="mitre")


def _depth_mm(pose: BasePose, base: shapely.Polygon, wall: shapely.Geometry) -> float:
    """How far back from its front edge a base overlaps a wall."""
    common = shapely.get_coordinates(shapely.intersection(base, wall))
    return float(-axes(pose).ahead_mm(common).min()) if len(common) else 0.0


def _cover(field: Field, own: Sequence[Piece]) -> shapely.Geometry:
    if not own:
        return field.ground.cover
    covers = [
        piece.outline for piece in field.ground.pieces if piece.kind.is_cover and piece not in own
    ]
    return shapely.union_all(covers, grid_size=GRID_MM) if covers else shapely.Polygon()
