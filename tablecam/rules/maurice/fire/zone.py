"""Bases that shoot, and what their zones meet at each angle of turn (M-7.11 on).

Bases are considered in several worlds: as measured, or displaced by errors. A base that shoots in
one world is one `Shooter`, which does not know of other worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM, Axes, axes
from tablecam.geometry.rectangles import EXACT_MM, Array
from tablecam.geometry.sight import is_hidden, may_block
from tablecam.geometry.zone_ranges import critical_turns_deg, first_hit_by_strip
from tablecam.geometry.zones import Strip, strip_before
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Ground, Piece
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import Flags

_MOST_IN_WALL_MM = 3.0
"""A base that overlaps a wall by more than this stands on it, not behind it (M-7.18)."""

_MET_MM = 2 * TOUCH_MM
"""A wall that meets less of a front edge than this passes its corner instead of lining it."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseInWorld:
    """A base of a unit, number `place` among its bases, as it lies in one world.

    Its corners (4, 2) begin at its front left and go on to its front right.
    """

    unit: UnitOnField
    place: int
    corners_mm: Array
    outline: shapely.Polygon

    @property
    def name(self) -> str:
        """The base's name as players use it."""
        return self.unit.unit.base_name(self.place)


@dataclass(frozen=True, slots=True, eq=False)
class OtherBase(BaseInWorld):
    """A base of a unit other than the shooter's."""

    is_enemy: bool


@dataclass(frozen=True, slots=True, eq=False)
class Shooter(BaseInWorld):
    """A base that shoots, with its own walls left out of `obstructing` and `cover` (M-7.18).

    `edge` is its front edge, less a sliver at each end, so that no line passes a narrower gap.
    `others` are the bases of other units near enough to matter; enemies completely hidden behind a
    crest (M-5.9) are in `hidden` instead.
    """

    bw_mm: float
    edge: shapely.LineString
    strip: Strip
    others: tuple[OtherBase, ...]
    obstructing: tuple[shapely.Geometry, ...]
    cover: shapely.Geometry
    own_walls: tuple[Piece, ...] = ()
    hidden: tuple[OtherBase, ...] = ()

    @property
    def is_gun(self) -> bool:
        """Whether the base is artillery."""
        return self.unit.unit.arm == "artillery"

    @property
    def short_mm(self) -> float:
        """Short range (M-7.9)."""
        return tables.SHORT_BW * self.bw_mm

    @property
    def longest_mm(self) -> float:
        """The base's longest range (M-7.9, M-7.10)."""
        return self.unit.longest_range_bw * self.bw_mm


@dataclass(frozen=True, eq=False)
class Scene:
    """Some bases of a field as they lie in d worlds: corners (d, n, 4, 2)."""

    field: Field
    bases: tuple[tuple[UnitOnField, int], ...]
    corners_mm: Array

    @staticmethod
    def measured(field: Field, units: Iterable[UnitOnField] | None = None) -> Scene:
        """Returns the measured bases of a field, or of the given units: one world."""
        of_units = field.units if units is None else units
        bases = tuple((unit, place) for unit in of_units for place in range(len(unit.bases)))
        outlines = [unit.bases[place] for unit, place in bases]
        return Scene(field, bases, shapely.get_coordinates(outlines).reshape(1, -1, 5, 2)[:, :, :4])

    def indices(self, bases: Iterable[tuple[UnitOnField, int]]) -> NDArray[np.intp]:
        """Returns the indices of bases among all of them."""
        index = {(unit.id, place): at for at, (unit, place) in enumerate(self.bases)}
        return np.array([index[unit.id, place] for unit, place in bases], dtype=np.intp)

    @cached_property
    def outlines(self) -> NDArray[np.object_]:
        """The bases' rectangles (d, n)."""
        return np.asarray(shapely.polygons(self.corners_mm), dtype=object)

    def shooters(self, asked: Sequence[tuple[UnitOnField, int]]) -> list[Shooter]:
        """Returns k of the bases as shooters: all in the first world, then in the second, ..."""
        own, count, bw_mm = self.indices(asked), len(self.corners_mm), self.field.bw_mm
        unit_bases = list(asked) * count
        corners_mm = self.corners_mm[:, own].reshape(-1, 4, 2)
        outlines = self.outlines[:, own].reshape(-1)
        fronts_mm = corners_mm[:, :2]
        along = fronts_mm[:, 1] - fronts_mm[:, 0]
        along /= np.hypot(*along.T)[:, None]
        headings_deg = np.degrees(np.arctan2(along[:, 0], -along[:, 1]))
        strips = [
            strip_before(
                Axes((left[0], left[1]), (end[0], end[1]), heading), tables.ZONE_BW * bw_mm
            )
            for (left, end), heading in zip(fronts_mm.tolist(), headings_deg.tolist(), strict=True)
        ]
        inward_mm = along * tables.SLIVER_MM
        edges = np.asarray(shapely.linestrings(fronts_mm), dtype=object)
        ends_mm = fronts_mm + np.stack([inward_mm, -inward_mm], axis=1)
        inner = np.asarray(shapely.linestrings(ends_mm), dtype=object).tolist()
        pivots = np.asarray(shapely.points([strip.pivot_mm for strip in strips]), dtype=object)
        # From the pivot to the far corners of a zone.
        ranges_bw = np.array([unit.longest_range_bw for unit, _ in unit_bases])
        reaches_mm = (ranges_bw + tables.ZONE_BW) * bw_mm
        ground = self.field.ground
        own_walls_of = own_walls(ground, corners_mm)
        near = self._near(own, strips, pivots, reaches_mm)
        hidden = _hidden(ground, edges, near)
        obstructing = _obstructing(ground, own_walls_of, pivots, reaches_mm)
        covers = {walls: _covering(ground, walls) for walls in set(own_walls_of)}
        return [
            Shooter(
                unit,
                place,
                corners_mm[at],
                outlines[at],
                bw_mm,
                inner[at],
                strips[at],
                tuple(other for other in near[at] if other not in hidden[at]),
                obstructing[at],
                covers[own_walls_of[at]],
                own_walls_of[at],
                hidden[at],
            )
            for at, (unit, place) in enumerate(unit_bases)
        ]

    def _near(
        self,
        own: NDArray[np.intp],
        strips: Sequence[Strip],
        pivots: NDArray[np.object_],
        reaches_mm: Array,
    ) -> list[tuple[OtherBase, ...]]:
        """Returns for each shooter the bases of other units ahead of its front line and in reach.

        Bases of its own unit do not count in its zone (M-7.13).
        """
        middles_mm = self.corners_mm.mean(axis=2)
        halves_mm = np.hypot(*np.moveaxis(self.corners_mm[0, :, 0] - middles_mm[0], -1, 0))
        pivots_mm = np.array([strip.pivot_mm for strip in strips]).reshape(-1, len(own), 1, 2)
        offsets_mm = middles_mm[:, None] - pivots_mm
        reach_mm = reaches_mm.reshape(-1, len(own), 1) + halves_mm + EXACT_MM
        unit_ids = np.array([unit.id for unit, _ in self.bases])
        may = (np.hypot(offsets_mm[..., 0], offsets_mm[..., 1]) <= reach_mm) & (
            unit_ids != unit_ids[own][:, None]
        )
        world, base, other = np.nonzero(may)
        shooter = world * len(own) + base
        ahead = np.array([strip.axes[1] for strip in strips])[shooter]
        to_mm = self.corners_mm[world, other] - pivots_mm[world, base]
        is_in = (to_mm * ahead[:, None]).sum(axis=-1).max(axis=-1, initial=-1.0) > 0
        is_in &= shapely.dwithin(self.outlines[world, other], pivots[shooter], reaches_mm[shooter])
        sides = [unit.side for unit, _ in self.bases]
        others: dict[tuple[int, int, bool], OtherBase] = {}
        near: list[list[OtherBase]] = [[] for _ in strips]
        pairs = zip(*(part[is_in].tolist() for part in (world, shooter, base, other)), strict=True)
        for in_world, at, asked, met in pairs:
            is_enemy = sides[met] != sides[own[asked]]
            key = in_world, met, is_enemy
            if key not in others:
                unit, place = self.bases[met]
                others[key] = OtherBase(
                    unit,
                    place,
                    self.corners_mm[in_world, met],
                    self.outlines[in_world, met],
                    is_enemy,
                )
            near[at].append(others[key])
        return list(map(tuple, near))


def _hidden(
    ground: Ground, edges: NDArray[np.object_], near: Sequence[tuple[OtherBase, ...]]
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
    ground: Ground, own: Sequence[Sequence[Piece]], pivots: NDArray[np.object_], reaches_mm: Array
) -> list[tuple[shapely.Geometry, ...]]:
    """Returns the obstructing terrain in reach of each shooter, without its own walls."""
    pieces = [
        piece for piece in ground.pieces if piece.kind.obstructs and shapely.area(piece.outline) > 0
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


def own_walls(ground: Ground, corners_mm: Array) -> list[tuple[Piece, ...]]:
    """Returns the walls that each base with corners (n, 4, 2) stands directly behind (M-7.18)."""
    walls = [piece for piece in ground.pieces if piece.kind.is_linear and piece.kind.obstructs]
    outlines = np.array([wall.outline for wall in walls], dtype=object)
    edges = shapely.linestrings(corners_mm[:, :2])
    which, wall = shapely.STRtree(outlines).query(edges, "dwithin", TOUCH_MM + EXACT_MM)
    near: dict[int, list[Piece]] = {}
    for at, place in sorted(zip(which.tolist(), wall.tolist(), strict=True)):
        near.setdefault(at, []).append(walls[place])
    return [
        _flush_walls(corners_mm[at], near[at]) if at in near else ()
        for at in range(len(corners_mm))
    ]


def _flush_walls(corners_mm: Array, walls: Sequence[Piece]) -> tuple[Piece, ...]:
    """Returns the walls along the whole front of a base; together, if one is drawn in pieces."""
    edge = shapely.LineString(corners_mm[:2])
    # Mitred so that an edge 1 mm away along its whole length is met at its ends too.
    grown = [
        shapely.buffer(wall.outline, TOUCH_MM + EXACT_MM, join_style="mitre") for wall in walls
    ]
    along_front = [
        at
        for at, wall in enumerate(walls)
        if shapely.length(shapely.intersection(edge, grown[at])) > _MET_MM
        and _depth_mm(corners_mm, wall.outline) <= _MOST_IN_WALL_MM + EXACT_MM
    ]
    met = shapely.union_all([grown[at] for at in along_front])
    if not along_front or shapely.length(shapely.difference(edge, met)) > tables.SLIVER_MM:
        return ()
    return tuple(walls[at] for at in along_front)


def _depth_mm(corners_mm: Array, wall: shapely.Geometry) -> float:
    """Returns how far back from its front edge a base overlaps a wall."""
    common = shapely.get_coordinates(shapely.intersection(shapely.Polygon(corners_mm), wall))
    return -float(ahead_mm(corners_mm, common).min(initial=0.0))


def ahead_mm(corners_mm: Array, points_mm: Array) -> Array:
    """Returns how far points (n, 2) lie ahead of the front line of a base with these corners."""
    along = corners_mm[1] - corners_mm[0]
    ahead = np.array([-along[1], along[0]]) / np.hypot(*along)
    return np.asarray((points_mm - corners_mm[0]) @ ahead)


def _covering(ground: Ground, own: Sequence[Piece]) -> shapely.Geometry:
    """Returns all terrain that gives cover, without a base's own walls."""
    if not own:
        return ground.cover
    covers = [piece.outline for piece in ground.pieces if piece.kind.is_cover and piece not in own]
    return shapely.union_all(covers, grid_size=GRID_MM) if covers else shapely.Polygon()


TIE_MM = 0.5
"""A zone meets units together when their ranges differ by no more than this (M-7.13)."""

STEP_DEG = 0.25
"""The coarsest step between angles tried; angles at which the outcome changes are solved for."""

_FINE = 40
"""The number of fine steps that replace the two coarse steps around a near miss."""

_SAME_DEG = 1e-9

_NEAR_MISS_MM = 12.0
"""The most that a range can change in one step: at 24 BW of 40 mm a corner moves 4.2 mm aside, and
a slant of 60 degrees makes 7.3 mm of that. A target missed by less than this is searched finely."""


@dataclass(frozen=True, slots=True, eq=False)
class ZoneContents:
    """The bases that a zone meets at each of several angles, in rising order.

    `ranges_mm` (a, n) are the distances at which each of n other bases begins in the zone, infinite
    if it is outside; `ends_mm` (a,) is where the zone ends: at long range or 1 BW past obstructing
    terrain (M-7.17).
    """

    turns_deg: Array
    others: tuple[OtherBase, ...]
    ranges_mm: Array
    ends_mm: Array

    @property
    def can_hit(self) -> Flags:
        """The bases (a, n) that are enemies and are not blocked."""
        return self._margins_mm >= -EXACT_MM

    def with_near_misses_deg(self) -> Array:
        """Returns the angles, with finer ones around the best for each unit narrowly missed."""
        margins_mm, finer_deg = self._margins_mm, []
        for unit_id in {other.unit.id for other in self.others if other.is_enemy}:
            of_unit = np.array([other.unit.id == unit_id for other in self.others])
            best_mm = margins_mm[:, of_unit].max(axis=1, initial=-np.inf)
            if -_NEAR_MISS_MM < best_mm.max(initial=-np.inf) < -EXACT_MM:
                around_deg = np.linspace(-STEP_DEG, STEP_DEG, _FINE + 1)
                finer_deg.append(self.turns_deg[np.argmax(best_mm)] + around_deg)
        if not finer_deg:
            return self.turns_deg
        clipped_deg = np.clip(finer_deg, -tables.TURN_DEG, tables.TURN_DEG)
        return np.union1d(self.turns_deg, clipped_deg)

    def stopped_by(self, longest_mm: float) -> Literal["friend", "obstruction"] | None:
        """Returns what blocks the enemies in range at the smallest angle; None without an enemy."""
        first_enemy = self.ranges_mm[:, self._are_enemies].min(axis=1, initial=np.inf)
        first_friend = self.ranges_mm[:, ~self._are_enemies].min(axis=1, initial=np.inf)
        in_reach = np.flatnonzero(first_enemy <= longest_mm + EXACT_MM)
        if not len(in_reach):
            return None
        straightest = in_reach[np.argmin(np.abs(self.turns_deg[in_reach]))]
        is_friend = first_friend[straightest] < first_enemy[straightest]
        return "friend" if is_friend else "obstruction"

    @property
    def _are_enemies(self) -> Flags:
        return np.array([other.is_enemy for other in self.others], dtype=bool)

    @property
    def _margins_mm(self) -> Array:
        """The margin (a, n) by which each enemy base is nearer than any obstacle to the shot."""
        first_mm = self.ranges_mm.min(axis=1, initial=np.inf) + TIE_MM
        limits_mm = np.minimum(first_mm, self.ends_mm)[:, None]
        known = np.isfinite(self.ranges_mm) & self._are_enemies
        return np.where(known, limits_mm - np.where(known, self.ranges_mm, 0.0), -np.inf)


def met_ahead(shooters: Sequence[Shooter], longest_mm: Sequence[float]) -> list[ZoneContents]:
    """Returns what each shooter's zone meets straight ahead."""
    return zone_contents_at(shooters, [np.array([0.0])] * len(shooters), longest_mm)


def zone_contents_turned(
    shooters: Sequence[Shooter], longest_mm: Sequence[float]
) -> list[ZoneContents]:
    """Returns what each shooter's zone meets when turned up to 45 degrees either way (M-7.12).

    The angles at which a corner crosses a side of the zone are solved for, and one angle in each
    gap between them is tried, beside a step of a quarter degree. Where a unit is narrowly missed,
    the neighbourhood is searched more finely.
    """
    turns_deg = where_enemies_are_met(shooters, list(map(_turns_deg, shooters)), longest_mm)
    met = zone_contents_at(shooters, turns_deg, longest_mm)
    finer_deg = [zone.with_near_misses_deg() for zone in met]
    again = [at for at, zone in enumerate(met) if len(finer_deg[at]) > len(zone.turns_deg)]
    finer = zone_contents_at(
        [shooters[at] for at in again],
        [finer_deg[at] for at in again],
        [longest_mm[at] for at in again],
    )
    for at, zone in zip(again, finer, strict=True):
        met[at] = zone
    return met


def _turns_deg(shooter: Shooter) -> Array:
    """Returns the angles to try: a regular grid and the middle of each gap between crossings."""
    shapes = [other.outline for other in shooter.others] + list(shooter.obstructing)
    steps = round(tables.TURN_DEG / STEP_DEG)
    grid = np.linspace(-tables.TURN_DEG, tables.TURN_DEG, 2 * steps + 1)
    if not shapes:
        return grid
    critical = critical_turns_deg(shooter.strip, shapes, tables.TURN_DEG, tables.SLIVER_MM)
    # Aligned bases share corners, so angles that differ by rounding alone enclose no gap.
    gaps = np.flatnonzero(np.diff(critical) > _SAME_DEG)
    between = (critical[gaps + 1] + critical[gaps]) / 2
    return np.union1d(grid, between)


def where_enemies_are_met(
    shooters: Sequence[Shooter], turns_deg: Sequence[Array], longest_mm: Sequence[float]
) -> list[Array]:
    """Drops the angles at which no enemy is in the zone or close to it."""
    enemies = [
        [other.outline for other in shooter.others if other.is_enemy] for shooter in shooters
    ]
    ranges_mm = first_hit_by_strip([shooter.strip for shooter in shooters], turns_deg, enemies)
    return [
        turns[(ranges <= length_mm + _NEAR_MISS_MM).any(axis=1)]
        for turns, ranges, length_mm in zip(turns_deg, ranges_mm, longest_mm, strict=True)
    ]


def zone_contents_at(
    shooters: Sequence[Shooter], turns_deg: Sequence[Array], longest_mm: Sequence[float]
) -> list[ZoneContents]:
    """Returns what zones of given lengths meet at given angles."""
    strips = [shooter.strip for shooter in shooters]
    shapes = [
        [*(other.outline for other in shooter.others), *shooter.obstructing] for shooter in shooters
    ]
    zones = []
    for at, ranges_mm in enumerate(first_hit_by_strip(strips, turns_deg, shapes, tables.SLIVER_MM)):
        others = shooters[at].others
        count = len(others)
        first_mm = ranges_mm[:, count:].min(axis=1, initial=np.inf)
        past_mm = first_mm + tables.PAST_OBSTRUCTION_BW * shooters[at].bw_mm
        ends_mm = np.minimum(longest_mm[at], past_mm)
        zones.append(ZoneContents(turns_deg[at], others, ranges_mm[:, :count], ends_mm))
    return zones


def zone_ahead(field: Field, unit: UnitOnField, place: int, range_bw: float) -> shapely.Geometry:
    """Returns the zone of a base straight ahead (M-7.11)."""
    strip = strip_before(axes(unit.unit.bases[place]), tables.ZONE_BW * field.bw_mm)
    return strip.outline(0.0, range_bw * field.bw_mm)
