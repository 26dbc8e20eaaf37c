"""A base that shoots: its zone, what obstructs it and covers others, whom it can see (M-7.11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.measure.answer import EXACT_MM
from tablecam.measure.contact import TOUCH_MM
from tablecam.measure.outlines import GRID_MM, axes, footprint, front_edge
from tablecam.measure.sight import is_hidden
from tablecam.measure.zones import Strip, strip_before
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.ground import Piece
from tablecam.rules.maurice.tables import LONG_BW, SHORT_BW, SLIVER_MM, ZONE_BW
from tablecam.table.model import BasePose

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

    @property
    def pose(self) -> BasePose:
        """Where it lies."""
        return self.unit.unit.bases[self.place]

    @property
    def edge(self) -> shapely.LineString:
        """Its front edge, less a sliver at each end: no gap narrower than that lets fire by."""
        left, end = np.array(shapely.get_coordinates(front_edge(self.pose)))
        inward = (end - left) / np.hypot(*(end - left)) * SLIVER_MM
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
        return _near(self.others, self.strip, _zone_reach_mm(range_mm, self.bw_mm))


def others_of(field: Field, unit: UnitOnField) -> tuple[Other, ...]:
    """The bases of all other units; its own do not count in its zones (M-7.13)."""
    return tuple(
        Other(other, place, outline, other.side != unit.side)
        for other in field.units
        if other is not unit
        for place, outline in enumerate(other.bases)
    )


def shooter(field: Field, unit: UnitOnField, place: int, others: Sequence[Other]) -> Shooter:
    """A base made ready to shoot."""
    pose = unit.unit.bases[place]
    strip = strip_before(axes(pose), ZONE_BW * field.bw_mm)
    range_mm = (LONG_BW if unit.unit.arm == "artillery" else SHORT_BW) * field.bw_mm
    reach_mm = _zone_reach_mm(range_mm, field.bw_mm)
    own = _own_walls(field, pose)
    return Shooter(
        unit,
        place,
        field.bw_mm,
        strip,
        _seen(field, pose, _near(others, strip, reach_mm)),
        _obstructing(field, own, strip, reach_mm),
        _cover(field, own),
    )


def _zone_reach_mm(range_mm: float, bw_mm: float) -> float:
    """How far from the pivot a zone of a length reaches at its far corners, or a bit more."""
    return range_mm + ZONE_BW * bw_mm


def _near(others: Sequence[Other], strip: Strip, reach_mm: float) -> tuple[Other, ...]:
    """Those that reach ahead of the front line, near enough."""
    if not others:
        return ()
    outlines = np.array([other.outline for other in others], dtype=object)
    near = shapely.dwithin(outlines, shapely.Point(strip.pivot_mm), reach_mm)
    corners, owners = shapely.get_coordinates(outlines, return_index=True)
    ahead = np.bincount(owners, strip.local_mm(corners)[:, 1] > 0) > 0
    return tuple(others[place] for place in np.flatnonzero(near & ahead).tolist())


def _obstructing(
    field: Field, own: Sequence[Piece], strip: Strip, reach_mm: float
) -> tuple[shapely.Geometry, ...]:
    pivot = shapely.Point(strip.pivot_mm)
    return tuple(
        piece.outline
        for piece in field.ground.pieces
        if piece.kind.obstructs
        and piece not in own
        and shapely.area(piece.outline) > 0
        and shapely.dwithin(piece.outline, pivot, reach_mm)
    )


def _seen(field: Field, pose: BasePose, others: Sequence[Other]) -> tuple[Other, ...]:
    """Friends, seen or not, and the enemies that are not behind a crest (M-5.9)."""
    crests = field.ground.of_kind("crest")
    if not crests:
        return tuple(others)
    hiding = shapely.union_all([crest.outline for crest in crests], grid_size=GRID_MM)
    edge = front_edge(pose)
    return tuple(
        other
        for other in others
        if not other.is_enemy or not is_hidden(edge, other.outline, hiding)
    )


def _own_walls(field: Field, pose: BasePose) -> tuple[Piece, ...]:
    """The walls and trenches behind which a base stands flush, along its whole front (M-7.18).

    One wall may have been drawn in pieces: together they must meet the whole front edge.
    """
    edge, base = front_edge(pose), footprint(pose)
    walls = [
        piece
        for piece in field.ground.pieces
        if piece.kind.is_linear
        and piece.kind.obstructs
        and shapely.dwithin(piece.outline, edge, TOUCH_MM + EXACT_MM)
    ]
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
