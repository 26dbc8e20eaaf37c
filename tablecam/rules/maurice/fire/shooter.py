"""A base that shoots: its zone, what obstructs it and covers others, whom it can see (M-7.11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import Axes
from tablecam.geometry.sight import is_between, is_hidden
from tablecam.geometry.zones import Strip, strip_before
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Ground, Piece
from tablecam.rules.maurice.field.tables import LONG_BW, SHORT_BW, SLIVER_MM, ZONE_BW
from tablecam.rules.maurice.fire.walls import covering, own_walls
from tablecam.table.model import BasePose

Array = NDArray[np.float64]
Shapes = NDArray[np.object_]
"""An array of shapely geometries."""


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """A base of another unit than the one that shoots; `number` is its place among all bases."""

    unit: UnitOnField
    place: int
    number: int
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

    @property
    def corners_mm(self) -> Array:
        """Its corners (4, 2): front left, front right, rear right, rear left."""
        return np.asarray(shapely.get_coordinates(self.outline)[:4])


@dataclass(frozen=True, slots=True, eq=False)
class Shooter:
    """A base that shoots, its own walls left out of `obstructing` and `cover` (M-7.18).

    `edge` is its front edge, less a sliver at each end: no gap narrower than that lets fire by.
    `others` are the bases of other units near enough to matter, without the enemies that no
    straight line from its front edge reaches past a crest (M-5.9): those are `hidden`.
    """

    unit: UnitOnField
    place: int
    number: int
    bw_mm: float
    front: Axes
    edge: shapely.LineString
    strip: Strip
    others: tuple[Other, ...]
    obstructing: tuple[shapely.Geometry, ...]
    cover: shapely.Geometry
    ground: Ground
    own_walls: tuple[Piece, ...] = ()
    hidden: tuple[Other, ...] = ()

    @property
    def pose(self) -> BasePose:
        """Where it lies."""
        return self.unit.unit.bases[self.place]

    @property
    def name(self) -> str:
        """How players call it."""
        return self.unit.unit.base_name(self.place)

    @property
    def corners_mm(self) -> Array:
        """Its corners (4, 2): front left, front right, rear right, rear left."""
        return np.asarray(shapely.get_coordinates(self.unit.bases[self.place])[:4])

    def edge_less(self, by_mm: float) -> shapely.LineString:
        """Its front edge, less so much at each end."""
        left, end = np.array(self.front.left_mm), np.array(self.front.right_mm)
        inward = (end - left) / np.hypot(*(end - left)) * by_mm
        return shapely.LineString([left + inward, end - inward])

    def faces_as(self, other: Shooter) -> bool:
        """Whether this is the very same base, on the same ground, before the very same others."""

        def who(base: Shooter) -> list[tuple[int, int]]:
            faced = (base, *base.others, None, *base.hidden)
            return [(0, 0) if each is None else (id(each.unit), each.place) for each in faced]

        return who(self) == who(other)

    def behind(self, walls: tuple[Piece, ...]) -> Shooter:
        """The same base, were these walls its own and no others."""
        known = (*self.obstructing, *(wall.outline for wall in self.own_walls))
        outlines = [wall.outline for wall in walls]
        return replace(
            self,
            obstructing=tuple(each for each in known if not any(each is own for own in outlines)),
            cover=covering(self.ground, walls),
            own_walls=walls,
        )

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
    if not wanted:
        return ()
    outlines = [unit.bases[place] for unit, place in wanted]
    # A base's rectangle begins at its front left and goes on to its front right.
    corners_mm = shapely.get_coordinates(outlines).reshape(-1, 5, 2)[:, :4]
    fronts_mm = corners_mm[:, :2]
    fronts = [
        Axes((left[0], left[1]), (end[0], end[1]), unit.unit.bases[place].heading_deg)
        for (left, end), (unit, place) in zip(fronts_mm.tolist(), wanted, strict=True)
    ]
    edges = np.asarray(shapely.linestrings(fronts_mm), dtype=object)
    along = fronts_mm[:, 1] - fronts_mm[:, 0]
    inward_mm = along / np.hypot(*along.T)[:, None] * SLIVER_MM
    inner = shapely.linestrings(fronts_mm + np.stack([inward_mm, -inward_mm], axis=1)).tolist()
    strips = [strip_before(front, ZONE_BW * field.bw_mm) for front in fronts]
    reaches_mm = np.array([_zone_reach_mm(_longest_mm(field, u), field.bw_mm) for u, _ in wanted])
    pivots = np.asarray(shapely.points([strip.pivot_mm for strip in strips]), dtype=object)
    ground = field.ground
    own = own_walls(ground, corners_mm)
    near = _near(field, wanted, strips, pivots, reaches_mm)
    hidden = _hidden(ground, edges, near)
    numbers = {key: number for number, key in enumerate(_all_bases(field))}
    obstructing = _obstructing(field, own, pivots, reaches_mm)
    return tuple(
        Shooter(
            unit,
            place,
            numbers[unit, place],
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
        for at, (unit, place) in enumerate(wanted)
    )


def _all_bases(field: Field) -> list[tuple[UnitOnField, int]]:
    return [(unit, place) for unit in field.units for place in range(len(unit.bases))]


def _longest_mm(field: Field, unit: UnitOnField) -> float:
    return (LONG_BW if unit.unit.arm == "artillery" else SHORT_BW) * field.bw_mm


def _zone_reach_mm(range_mm: float, bw_mm: float) -> float:
    """How far from the pivot a zone of a length reaches at its far corners, or a bit more."""
    return range_mm + ZONE_BW * bw_mm


def _near(
    field: Field,
    wanted: Sequence[tuple[UnitOnField, int]],
    strips: Sequence[Strip],
    pivots: Shapes,
    reaches_mm: Array,
) -> list[tuple[Other, ...]]:
    """For each shooter the bases of other units that reach ahead of its front line, near enough.

    Its own unit's do not count in its zones (M-7.13).
    """
    bases = _all_bases(field)
    outlines = np.array([unit.bases[place] for unit, place in bases], dtype=object)
    which, other = shapely.STRtree(outlines).query(pivots, "dwithin", reaches_mm)
    order = np.lexsort((other, which))
    which, other = which[order], other[order]
    corners_mm = shapely.get_coordinates(outlines).reshape(len(outlines), 5, 2)
    pivots_mm = np.array([strip.pivot_mm for strip in strips])
    ahead = np.array([strip.axes[1] for strip in strips])
    to_corners = corners_mm[other] - pivots_mm[which][:, None]
    is_ahead = (to_corners * ahead[which][:, None]).sum(axis=-1).max(axis=1, initial=-1.0) > 0
    as_seen = {
        side: [
            Other(of, at, number, of.bases[at], of.side != side)
            for number, (of, at) in enumerate(bases)
        ]
        for side in {unit.side for unit, _ in wanted}
    }
    found: list[list[Other]] = [[] for _ in wanted]
    for place, base in zip(which[is_ahead].tolist(), other[is_ahead].tolist(), strict=True):
        unit = wanted[place][0]
        if bases[base][0] is not unit:
            found[place].append(as_seen[unit.side][base])
    return list(map(tuple, found))


def _hidden(
    ground: Ground, edges: Shapes, near: Sequence[tuple[Other, ...]]
) -> list[tuple[Other, ...]]:
    """For each shooter the enemies that are behind a crest (M-5.9)."""
    found: list[tuple[Other, ...]] = [()] * len(near)
    if shapely.is_empty(ground.crests):
        return found
    asked = [(at, other) for at, each in enumerate(near) for other in each if other.is_enemy]
    crossed = is_between([(edges[at], other.outline) for at, other in asked], ground.crests)
    for (at, other), is_crossed in zip(asked, crossed.tolist(), strict=True):
        if is_crossed and is_hidden(edges[at], other.outline, ground.crests):
            found[at] += (other,)
    return found


def _obstructing(
    field: Field, own: Sequence[Sequence[Piece]], pivots: Shapes, reaches_mm: Array
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
