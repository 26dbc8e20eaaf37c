"""Bases that shoot: their zone, the terrain in it, and the bases that they see (M-7.11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import Axes
from tablecam.geometry.sight import is_hidden, may_block
from tablecam.geometry.zones import Strip, strip_before
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Ground, Piece
from tablecam.rules.maurice.field.tables import SHORT_BW, SLIVER_MM, ZONE_BW
from tablecam.rules.maurice.fire.own_walls import covering, own_walls
from tablecam.table.model import BasePose

Array = NDArray[np.float64]
Shapes = NDArray[np.object_]
"""An array of shapely geometries."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitBase:
    """A base of a unit: number `place` among its bases."""

    unit: UnitOnField
    place: int

    @property
    def pose(self) -> BasePose:
        """The pose of the base."""
        return self.unit.unit.bases[self.place]

    @property
    def name(self) -> str:
        """The base's name as players use it."""
        return self.unit.unit.base_name(self.place)

    @property
    def corners_mm(self) -> Array:
        """The corners (4, 2): front left, front right, rear right, rear left."""
        return np.asarray(shapely.get_coordinates(self.unit.bases[self.place])[:4])


@dataclass(frozen=True, slots=True, eq=False)
class OtherBase(UnitBase):
    """A base of another unit than the shooter's."""

    outline: shapely.Polygon
    is_enemy: bool


@dataclass(frozen=True, slots=True, eq=False)
class Shooter(UnitBase):
    """A base that shoots, with its own walls left out of `obstructing` and `cover` (M-7.18).

    `edge` is its front edge, less a sliver at each end, so that no line passes a narrower gap.
    `others` are the bases of other units near enough to matter; enemies that no straight line from
    the front edge reaches past a crest (M-5.9) are in `hidden` instead.
    """

    bw_mm: float
    front: Axes
    edge: shapely.LineString
    strip: Strip
    others: tuple[OtherBase, ...]
    obstructing: tuple[shapely.Geometry, ...]
    cover: shapely.Geometry
    ground: Ground
    own_walls: tuple[Piece, ...] = ()
    hidden: tuple[OtherBase, ...] = ()

    def edge_less(self, shift_mm: float) -> shapely.LineString:
        """Returns the front edge shortened by `shift_mm` at each end."""
        left, end = np.array(self.front.left_mm), np.array(self.front.right_mm)
        inward = (end - left) / np.hypot(*(end - left)) * shift_mm
        return shapely.LineString([left + inward, end - inward])

    def behind(self, walls: tuple[Piece, ...]) -> Shooter:
        """Returns the same base with `walls` as its only own walls."""
        all_obstructing = (*self.obstructing, *(wall.outline for wall in self.own_walls))
        outlines = [wall.outline for wall in walls]
        return replace(
            self,
            obstructing=tuple(
                outline
                for outline in all_obstructing
                if not any(outline is own for own in outlines)
            ),
            cover=covering(self.ground, walls),
            own_walls=walls,
        )

    @property
    def is_gun(self) -> bool:
        """Whether the base is artillery."""
        return self.unit.unit.arm == "artillery"

    @property
    def short_mm(self) -> float:
        """Short range (M-7.9)."""
        return SHORT_BW * self.bw_mm

    @property
    def longest_mm(self) -> float:
        """The base's longest range (M-7.9, M-7.10)."""
        return self.unit.longest_range_bw * self.bw_mm

    def within(self, range_mm: float) -> tuple[OtherBase, ...]:
        """Returns the others that a zone of this length can meet at any angle."""
        if range_mm >= self.longest_mm or not self.others:
            return self.others
        outlines = [other.outline for other in self.others]
        reach_mm = _zone_reach_mm(range_mm, self.bw_mm)
        near = shapely.dwithin(outlines, shapely.Point(self.strip.pivot_mm), reach_mm)
        return tuple(self.others[place] for place in np.flatnonzero(near).tolist())


def shooters(field: Field, unit_bases: Sequence[tuple[UnitOnField, int]]) -> tuple[Shooter, ...]:
    """Builds shooters from pairs of a unit and the index of one of its bases."""
    if not unit_bases:
        return ()
    outlines = [unit.bases[place] for unit, place in unit_bases]
    # A base's rectangle begins at its front left and goes on to its front right.
    corners_mm = shapely.get_coordinates(outlines).reshape(-1, 5, 2)[:, :4]
    fronts_mm = corners_mm[:, :2]
    fronts = [
        Axes((left[0], left[1]), (end[0], end[1]), unit.unit.bases[place].heading_deg)
        for (left, end), (unit, place) in zip(fronts_mm.tolist(), unit_bases, strict=True)
    ]
    edges = np.asarray(shapely.linestrings(fronts_mm), dtype=object)
    along = fronts_mm[:, 1] - fronts_mm[:, 0]
    inward_mm = along / np.hypot(*along.T)[:, None] * SLIVER_MM
    inner = shapely.linestrings(fronts_mm + np.stack([inward_mm, -inward_mm], axis=1)).tolist()
    strips = [strip_before(front, ZONE_BW * field.bw_mm) for front in fronts]
    reaches_mm = np.array(
        [_zone_reach_mm(u.longest_range_bw * field.bw_mm, field.bw_mm) for u, _ in unit_bases]
    )
    pivots = np.asarray(shapely.points([strip.pivot_mm for strip in strips]), dtype=object)
    ground = field.ground
    own = own_walls(ground, corners_mm)
    near = _near(field, unit_bases, strips, pivots, reaches_mm)
    hidden = _hidden(ground, edges, near)
    obstructing = _obstructing(field, own, pivots, reaches_mm)
    return tuple(
        Shooter(
            unit,
            place,
            field.bw_mm,
            fronts[at],
            inner[at],
            strips[at],
            tuple(other for other in near[at] if other not in hidden[at]),
            obstructing[at],
            covering(ground, own[at]),
            ground,
            own[at],
            hidden[at],
        )
        for at, (unit, place) in enumerate(unit_bases)
    )


def _zone_reach_mm(range_mm: float, bw_mm: float) -> float:
    """Bounds the distance from the pivot to the far corners of a zone."""
    return range_mm + ZONE_BW * bw_mm


def _near(
    field: Field,
    unit_bases: Sequence[tuple[UnitOnField, int]],
    strips: Sequence[Strip],
    pivots: Shapes,
    reaches_mm: Array,
) -> list[tuple[OtherBase, ...]]:
    """Returns for each shooter the bases of other units ahead of its front line and in reach.

    Bases of its own unit do not count in its zone (M-7.13).
    """
    bases = [(unit, place) for unit in field.units for place in range(len(unit.bases))]
    outlines = np.array([unit.bases[place] for unit, place in bases], dtype=object)
    which, other = shapely.STRtree(outlines).query(pivots, "dwithin", reaches_mm)
    order = np.lexsort((other, which))
    which, other = which[order], other[order]
    corners_mm = shapely.get_coordinates(outlines).reshape(len(outlines), 5, 2)
    pivots_mm = np.array([strip.pivot_mm for strip in strips])
    ahead = np.array([strip.axes[1] for strip in strips])
    to_corners = corners_mm[other] - pivots_mm[which][:, None]
    is_ahead = (to_corners * ahead[which][:, None]).sum(axis=-1).max(axis=1, initial=-1.0) > 0
    others_of_side = {
        side: [OtherBase(owner, at, owner.bases[at], owner.side != side) for owner, at in bases]
        for side in {unit.side for unit, _ in unit_bases}
    }
    near: list[list[OtherBase]] = [[] for _ in unit_bases]
    for place, base in zip(which[is_ahead].tolist(), other[is_ahead].tolist(), strict=True):
        unit = unit_bases[place][0]
        if bases[base][0] is not unit:
            near[place].append(others_of_side[unit.side][base])
    return list(map(tuple, near))


def _hidden(
    ground: Ground, edges: Shapes, near: Sequence[tuple[OtherBase, ...]]
) -> list[tuple[OtherBase, ...]]:
    """Returns for each shooter the enemies behind a crest (M-5.9)."""
    hidden: list[tuple[OtherBase, ...]] = [()] * len(near)
    if shapely.is_empty(ground.crests):
        return hidden
    sights = [(at, other) for at, others in enumerate(near) for other in others if other.is_enemy]
    crossed = may_block([(edges[at], other.outline) for at, other in sights], ground.crests)
    for (at, other), is_crossed in zip(sights, crossed.tolist(), strict=True):
        if is_crossed and is_hidden(edges[at], other.outline, ground.crests):
            hidden[at] += (other,)
    return hidden


def _obstructing(
    field: Field, own: Sequence[Sequence[Piece]], pivots: Shapes, reaches_mm: Array
) -> list[tuple[shapely.Geometry, ...]]:
    """Returns the obstructing terrain in reach of each shooter, its own walls left out."""
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
        tuple(
            pieces[at].outline for at in np.flatnonzero(is_near).tolist() if pieces[at] not in walls
        )
        for is_near, walls in zip(near, own, strict=True)
    ]
