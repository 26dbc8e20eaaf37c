"""A table as rulebooks see it: where units stand, what overlaps, and which way units face."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import fmean

import shapely

from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.outlines import Axes, axes, footprint, table_outline, unit_footprints
from tablecam.table.model import Arm, BasePose, Point, Position, Terrain, Unit
from tablecam.table.motion import HAND_MM

SLIVER_MM2 = 1.0


@dataclass(frozen=True)
class Ground:
    """The units of a position and their outlines."""

    position: Position

    @cached_property
    def units(self) -> Mapping[str, Unit]:
        """The units on the table, by name."""
        return {unit.id: unit for unit in self.position.units if unit.bases}

    @cached_property
    def outlines(self) -> Mapping[str, shapely.Polygon]:
        """The outline of each unit."""
        return {name: _outline(unit.bases) for name, unit in self.units.items()}

    @cached_property
    def table(self) -> shapely.Polygon:
        """The table, with the margin beyond its edge that is tolerated for bases laid by hand."""
        return table_outline(self.position.table).buffer(HAND_MM)

    def on_table(self, area: shapely.Geometry) -> bool:
        """Whether an area lies on the table."""
        return bool(shapely.covers(self.table, area))

    def enemies(self, unit: Unit) -> list[Unit]:
        """Returns the enemies of a unit."""
        return [other for other in self.units.values() if other.side != unit.side]

    def nearest_enemies(self, unit: Unit) -> list[Unit]:
        """Returns the enemies of a unit, the nearest first."""
        return sorted(self.enemies(unit), key=lambda enemy: self.apart_mm(unit, enemy))

    def of_side(self, side: str) -> list[Unit]:
        """Returns the units of a side."""
        return [unit for unit in self.units.values() if unit.side == side]

    def friends(self, unit: Unit) -> list[Unit]:
        """Returns the other units of a unit's side."""
        return [friend for friend in self.of_side(unit.side) if friend.id != unit.id]

    def met(self, area: shapely.Geometry, *but: str) -> Iterator[Unit]:
        """Yields the units that an area overlaps, except those named."""
        for unit in self.units.values():
            if unit.id not in but and overlaps(area, self.outlines[unit.id]):
                yield unit

    def has_room(self, area: shapely.Geometry, *but: str) -> bool:
        """Whether an area overlaps no units, except those named."""
        return next(self.met(area, *but), None) is None

    @cached_property
    def markers(self) -> Mapping[str, shapely.Geometry]:
        """The base of each commander, a point if it was entered by hand."""
        return {
            leader.id: shapely.Point(leader.place_mm)
            if leader.pose is None
            else footprint(leader.pose)
            for leader in self.position.commanders
        }

    def upon(self, area: shapely.Geometry, *but: str) -> str | None:
        """Returns a unit or commander that an area overlaps, except those named."""
        lie = {**self.outlines, **self.markers}.items()
        others = (name for name, base in lie if name not in but and overlaps(area, base))
        return next(others, None)

    def apart_mm(self, a: Unit, b: Unit) -> float:
        """Returns the distance between two units' outlines."""
        return float(shapely.distance(self.outlines[a.id], self.outlines[b.id]))


@lru_cache(maxsize=2048)
def _outline(bases: tuple[BasePose, ...]) -> shapely.Polygon:
    return unit_footprints([[footprint(base) for base in bases]])[0]


def overlaps(area: shapely.Geometry, other: shapely.Geometry) -> bool:
    """Whether two areas overlap by more than the rounding errors of a common edge."""
    return bool(shapely.intersection(area, other).area > SLIVER_MM2)


def share_in(bases: Sequence[BasePose], piece: shapely.Geometry) -> float:
    """Returns the share of the area of some bases that lies in a piece of terrain."""
    area = footprints(bases)
    return float(shapely.intersection(area, piece).area / shapely.area(area))


def footprints(bases: Sequence[BasePose]) -> shapely.Geometry:
    """Returns the area of some bases."""
    return _area(tuple(bases))


@lru_cache(maxsize=2048)
def _area(bases: tuple[BasePose, ...]) -> shapely.Geometry:
    return shapely.union_all([footprint(base) for base in bases])


def area_of(piece: Terrain) -> shapely.Polygon:
    """Returns the area of a piece of terrain."""
    return _polygon(piece.outline_mm)


@lru_cache(maxsize=256)
def _polygon(outline_mm: tuple[Point, ...]) -> shapely.Polygon:
    return shapely.Polygon(outline_mm)


def without_rear(
    bases: tuple[BasePose, ...],
    count: int,
    *,
    spared: int | None = None,
    faced_deg: float | None = None,
) -> tuple[BasePose, ...]:
    """Returns the `count` bases that stay: those at an end of the rear rank go first.

    The one at index `spared` goes last, but never stays alone. Ranks are read as if all bases faced
    `faced_deg`.
    """
    faced = [base if faced_deg is None else replace(base, heading_deg=faced_deg) for base in bases]
    places = list(range(len(bases)))
    while len(places) > max(count, 0):
        ranks = arrangement([faced[place] for place in places]).ranks
        # Only ends, so that no gap opens beside the spared one.
        ends = [places[index] for rank in reversed(ranks) for index in (rank[-1], rank[0])]
        # Of two bases the spared one goes, as it would stay alone.
        first = [place for place in ends if (place == spared) == (len(places) == 2)]
        places.remove((first or ends)[0])
    return tuple(bases[place] for place in places)


def hulls(before: Sequence[BasePose], after: Sequence[BasePose]) -> shapely.Geometry:
    """Returns the area that bases sweep if each goes straight from its old place to its new one."""
    pairs = zip(before, after, strict=True)
    return shapely.union_all([shapely.convex_hull(footprints(pair)) for pair in pairs])


def hull(before: Sequence[BasePose], after: Sequence[BasePose]) -> shapely.Geometry:
    """Returns the convex hull of bases in their old and new places."""
    return shapely.convex_hull(footprints((*before, *after)))


def move_sigma_mm(before: Sequence[BasePose], after: Sequence[BasePose]) -> float:
    """Returns the standard deviation of the length of a move by hand.

    A tag's glue error turns with its base, so it cancels in a straight move.
    """
    variances = (
        old.sigma_mm**2
        + new.sigma_mm**2
        - 2 * _glue_mm2(old, new) * math.cos(math.radians(new.heading_deg - old.heading_deg))
        for old, new in zip(before, after, strict=True)
    )
    return math.sqrt(max(0.0, *variances))


def _glue_mm2(old: BasePose, new: BasePose) -> float:
    """Returns the variance due to the glue that both poses share."""
    if old.glue is None or new.glue is None:
        return 0.0
    return min(old.glue.place_sigma_mm, old.sigma_mm, new.sigma_mm) ** 2


def centre_mm(bases: Sequence[BasePose]) -> Point:
    """Returns the mean of the centres of some bases."""
    return fmean(base.x_mm for base in bases), fmean(base.y_mm for base in bases)


def axes_of(unit: Unit, bases: tuple[BasePose, ...] | None = None) -> Axes:
    """Returns a unit's front edge and heading by how its bases lie, or would lie."""
    return _axes(unit.bases if bases is None else bases, unit.arm)


@lru_cache(maxsize=4096)
def _axes(bases: tuple[BasePose, ...], arm: Arm) -> Axes:
    return axes(Unit("", "", arm, bases))
