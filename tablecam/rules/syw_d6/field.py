"""How units lie to each other: ranges, arcs, sight, cover and command, in the sheet's terms."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from operator import itemgetter
from statistics import fmean
from typing import Final, Literal

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import all_ahead, front_width_mm
from tablecam.geometry.outlines import Axes, axes
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import eroded_by_hair, free_line, seen_points
from tablecam.geometry.zones import cone_at, cone_before
from tablecam.rules.game import Ban
from tablecam.rules.memo import remembered
from tablecam.rules.miniatures import unit_keys
from tablecam.rules.miniatures.ground import (
    Ground,
    area_of,
    axes_of,
    overlaps,
    share_in,
)
from tablecam.rules.questions import FactError
from tablecam.rules.syw_d6 import fire
from tablecam.rules.syw_d6.tables import APART_MM, BEHIND_WALL_MM, COMMAND_IN, CONE_DEG, HILL_IN
from tablecam.rules.syw_d6.troops import Troops, UnitFacts, formation_of
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import BasePose, Commander, Point, Terrain, Unit
from tablecam.uncertainty.clear_line import shortest_clear_line

_GRAZE_MM = 5.0
_BAR_MM = 1.0
WALL, HILL = "wall", "hill"


@dataclass(frozen=True)
class Field(Ground):
    """A table as the sheet sees it; lengths are in inches."""

    @property
    def inch_mm(self) -> float:
        """The inch of the table."""
        return self.position.table.inch_mm

    @cached_property
    def troops(self) -> Mapping[str, Troops]:
        """Each unit as it counts, in the formation in which its bases lie."""
        return {name: _troops_of(unit, self.inch_mm) for name, unit in self.units.items()}

    def with_unit_at(self, unit: Unit, bases: tuple[BasePose, ...]) -> Field:
        """Returns the table with a unit at another place of its way."""
        there = replace(unit, bases=bases)
        units = (there if other.id == unit.id else other for other in self.position.units)
        field = Field(replace(self.position, units=tuple(units)))
        # A unit counts the same all along its way; only where it lies is new.
        vars(field)["troops"] = self.troops
        return field

    def apart_in(self, a: Unit, b: Unit) -> float:
        """Returns the distance between two units' outlines (S-0.2)."""
        return self.inches(self.apart_mm(a, b))

    def inches(self, length_mm: float) -> float:
        """Returns a length in hundredths of an inch: no hair of less decides a limit."""
        return round(float(length_mm) / self.inch_mm, 2)

    def enemies_ahead(self, unit: Unit) -> list[Unit]:
        """Returns a unit's enemies, the nearest to the middle of its front first (S-B.12)."""
        middle = shapely.Point(axes_of(unit).middle_mm)
        enemies = self.enemies(unit)
        return sorted(enemies, key=lambda enemy: middle.distance(self.outlines[enemy.id]))

    def command_in(self, unit: Unit) -> float | None:
        """Returns how far the nearest commander of a unit is; None if it has none (S-K.1)."""
        own = (leader for leader in self.position.commanders if commands(leader, unit))
        return min((self.leader_in(unit, leader) for leader in own), default=None)

    def leader_in(self, unit: Unit, leader: Commander) -> float:
        """Returns the distance between a unit and a commander (S-0.2)."""
        marker = self.markers[leader.id]
        return self.inches(shapely.distance(marker, self.outlines[unit.id]))

    def is_commanded(self, unit: Unit) -> bool:
        """Whether a commander of the unit is near enough (S-H.8)."""
        distance_in = self.command_in(unit)
        return distance_in is not None and distance_in <= COMMAND_IN

    def has_friends_in_sight(self, unit: Unit) -> bool:
        """Whether a friend in good order is near and in sight (S-H.7)."""
        if unit.id not in self._supported:
            self._supported[unit.id] = any(
                self.apart_in(unit, friend) <= COMMAND_IN
                and not self.troops[friend.id].is_disordered
                and shortest_clear_line(unit, friend, self._barriers(unit, friend)) is not None
                for friend in sorted(self.friends(unit), key=lambda one: self.apart_mm(unit, one))
            )
        return self._supported[unit.id]

    @cached_property
    def _supported(self) -> dict[str, bool]:
        return {}

    @cached_property
    def _shots(self) -> dict[tuple[str, str, Troops], fire.Shot | Ban]:
        units = tuple((unit.id, unit.side, unit.arm, unit.bases) for unit in self.units.values())
        leaders = tuple((one.side, one.pose, one.place_mm) for one in self.position.commanders)
        return _shots_at(self.inch_mm, self.position.terrain, units, leaders)

    def shot(self, firer: Unit, target: Unit) -> fire.Shot | Ban:
        """Returns how a target lies to a firer, or why it cannot be fired at (S-D.4 to S-E.6)."""
        key = firer.id, target.id, self.troops[firer.id]
        if key not in self._shots:
            self._shots[key] = self._shot(firer, target)
        return self._shots[key]

    def _shot(self, firer: Unit, target: Unit) -> fire.Shot | Ban:
        troops = self.troops[firer.id]
        reach_in = troops.ranges.greatest_in
        if self.apart_in(firer, target) > reach_in:
            return Ban("S-D.8", f"{target.id} is farther off than {reach_in:g} in")
        shoot = self._guns_shot if troops.arm == "artillery" else self._muskets_shot
        hiding, reach_mm = self.blockers(firer, target), reach_in * self.inch_mm
        shot = shoot(firer, target, hiding, reach_mm)
        if isinstance(shot, Ban) or not (gaps := self._narrow_gaps(firer, target)):
            return shot
        # A gap that is too narrow closes the sight through it, and that alone.
        bars = (shapely.buffer(gap, _BAR_MM, cap_style="square") for gap in gaps.values())
        shot_past = shoot(firer, target, shapely.union_all([hiding, *bars]), reach_mm)
        if not isinstance(shot_past, Ban):
            return shot_past
        crossed = {
            pair: gap for pair, gap in gaps.items() if shapely.intersects(gap, shot.line)
        } or gaps
        pair, narrowest = min(crossed.items(), key=lambda crossing: crossing[1].length)
        needed_in = fire.may_fire_through(0.0, self._frontage_in(target))[1]
        width = f"a gap of {self.inches(narrowest.length):.1f} in between {' and '.join(pair)}"
        gap = f"{target.id} lies behind {width}"
        return Ban("S-E.5", f"{gap}, and {round(needed_in, 1):g} in are needed")

    def aim(self, firer: Unit, target: Unit) -> tuple[fire.Shot | None, Ban | None]:
        """Returns how a target lies to a firer, and why it cannot be fired at now (S-D)."""
        troops, lies = self.troops[firer.id], self.shot(firer, target)
        ban = fire.ban_on_firing(troops)
        if isinstance(lies, Ban):
            return None, ban or lies
        return lies, ban or fire.ban_on_shot(troops, self.target_of(firer, target), lies)

    def target_of(self, firer: Unit, target: Unit) -> Troops:
        """Returns a target as the firer sees it: its ranks and its cover (S-D.10, S-J.12)."""
        troops = self.troops[target.id]
        reading = formation_of(target.bases, troops, inch_mm=self.inch_mm)
        ahead = axes_of(target).heading_deg
        eye, centre = axes_of(firer).middle_mm, self.outlines[target.id].centroid
        bearing_deg = math.degrees(math.atan2(centre.y - eye[1], centre.x - eye[0]))
        turn_deg = abs(difference_deg(bearing_deg, ahead))
        is_endwise = min(turn_deg, 180.0 - turn_deg) <= 45.0
        ranks = reading.ranks if is_endwise else reading.files
        cover = self._cover(eye, target)
        return replace(troops, ranks=ranks, cover=cover, is_seen_aside=not is_endwise)

    def blockers(self, firer: Unit, target: Unit) -> shapely.Geometry:
        """Returns what blocks the sight from one unit to another (S-E.1 to S-E.4)."""
        pair = firer.id, target.id
        if pair not in self._blockers:
            leaders = (one.id for one in self.position.commanders if one.side == firer.side)
            hiding = (self.outlines[unit.id] for unit in self._hiding(firer, target))
            self._blockers[pair] = shapely.union_all(
                [*self._terrain_between(firer, target), *map(self.markers.get, leaders), *hiding]
            )
        return self._blockers[pair]

    @cached_property
    def _blockers(self) -> dict[tuple[str, str], shapely.Geometry]:
        return {}

    def _hiding(self, firer: Unit, target: Unit) -> Iterator[Unit]:
        """Yields the units over which the firer does not see the target (S-E.1, S-E.3, S-E.4)."""
        is_high, target_is_high = self.is_on_hill(firer), self.is_on_hill(target)
        for unit in self.units.values():
            between = Between(
                side="friend" if unit.side == firer.side else "enemy",
                on_hill=is_high and self.is_on_hill(unit),
                from_firer_in=self.apart_in(firer, unit),
                from_target_in=self.apart_in(target, unit),
            )
            is_other = unit.id not in (firer.id, target.id)
            if is_other and between.ban(firer_on_hill=is_high, target_on_hill=target_is_high):
                yield unit

    def is_on_hill(self, unit: Unit) -> bool:
        """Whether a unit stands on a hill, with half of its bases or more (S-E.3)."""
        hills = (piece for piece in self.position.terrain if piece.kind == HILL)
        return any(share_in(unit.bases, area_of(piece)) >= 0.5 for piece in hills)

    def in_disordering_terrain(self, unit: Unit, swept: shapely.Geometry) -> Terrain | None:
        """Returns the terrain on a unit's way that disorders it (S-J.9)."""
        if not self.troops[unit.id].suffers_terrain:
            return None
        for piece in self.position.terrain:
            disorders = piece.extra.get("disorders", is_designated(piece) and piece.kind != WALL)
            if disorders and overlaps(swept, area_of(piece)):
                return piece
        return None

    def _muskets_shot(
        self, firer: Unit, target: Unit, blockers: shapely.Geometry, reach_mm: float
    ) -> fire.Shot | Ban:
        """Returns the shot of a unit with small arms, section by section (S-D.4, S-L.13)."""
        outline, troops = self.outlines[target.id], self.troops[firer.id]
        figures, guns = fire.figures_firing(troops), len(firer.bases)
        sections, ranges_mm = [], list[tuple[float, shapely.LineString]]()
        why_not = Ban("S-D.6", f"{target.id} does not lie in its arc of fire")
        fronts = _fronts(firer, troops)
        for bases, front in fronts:
            # A corner that just comes within reach has next to no area there.
            part = shapely.intersection(outline, all_ahead(front, reach_mm + _GRAZE_MM))
            if part.area <= 1.0:
                continue
            if self.inches(shapely.distance(front.edge, part)) > troops.ranges.greatest_in:
                why_not = Ban("S-D.8", f"{target.id} is farther off in its arc of fire")
                continue
            line = _sight(front, part, blockers)
            if line is None:
                why_not = _hidden(target)
                continue
            range_mm = _seen_mm(front.edge, front, part, blockers, line)
            if self.inches(range_mm) > troops.ranges.greatest_in:
                why_not = _hidden_within(target, troops.ranges.greatest_in)
                continue
            ranges_mm.append((range_mm, line))
            if troops.formation == "square":
                sections.append(fire.Section(figures, 1.0))
                continue
            share = _share_ahead(bases, front, troops.files_per_base, outline, blockers, reach_mm)
            sections.append(fire.Section(figures * len(bases) / guns, share))
        if not sections:
            return why_not
        files = formation_of(firer.bases, troops, inch_mm=self.inch_mm).files
        range_mm, line = min(ranges_mm, key=itemgetter(0))
        return fire.Shot(tuple(sections), self.inches(range_mm), files=files, line=line)

    def arcs(self, firer: Unit) -> Iterator[Shape]:
        """Yields the outlines of a unit's arc of fire, one for each range (S-D.6 to S-D.8)."""
        troops = self.troops[firer.id]
        if troops.arm == "artillery":
            ahead = [(axes(base).middle_mm, base.heading_deg) for base in firer.bases]
            cones = [cone_at(*eye, 2 * CONE_DEG) for eye in ahead]
        else:
            cones = [cone_before(front, 90.0) for _, front in _fronts(firer, troops)]
        for range_in in troops.ranges.all_in:
            outlines = [cone.outline(range_in * self.inch_mm) for cone in cones]
            yield from shapes_of(shapely.union_all(outlines), "ring", f"{range_in:g} in")

    def range_mm(self, firer: Unit, target: Unit) -> float:
        """Returns the range in the firer's arc, else between the outlines (S-D.8)."""
        apart_mm, outline = self.apart_mm(firer, target), self.outlines[target.id]
        if firer.arm == "artillery":
            return apart_mm
        fronts = [front for _, front in _fronts(firer, self.troops[firer.id])]
        far_mm = apart_mm + outline.length
        parts = [shapely.intersection(outline, all_ahead(front, far_mm)) for front in fronts]
        pairs = zip(fronts, parts, strict=True)
        ranges_mm = (shapely.distance(front.edge, part) for front, part in pairs if part.area > 1.0)
        return float(min(ranges_mm, default=apart_mm))

    def _guns_shot(
        self, firer: Unit, target: Unit, blockers: shapely.Geometry, reach_mm: float
    ) -> fire.Shot | Ban:
        """Returns the shot of a battery, gun by gun (S-D.7, S-E.6)."""
        outline, figures = self.outlines[target.id], self.troops[firer.id].figures
        counted: list[tuple[float, bool, shapely.LineString]] = []
        why_not = Ban("S-D.7", f"{target.id} lies outside of the guns' cone of {CONE_DEG}°")
        for base in firer.bases:
            front = axes(base)
            cone = cone_at(front.middle_mm, base.heading_deg, 2 * CONE_DEG)
            if float(cone.nearest_mm([outline])[0]) > reach_mm:
                continue
            wedge = shapely.intersection(outline, cone.outline(reach_mm))
            line = _sight(front, wedge, blockers)
            if line is None:
                why_not = _hidden(target)
                continue
            range_mm = _seen_mm(shapely.Point(front.middle_mm), front, wedge, blockers, line)
            if range_mm > reach_mm:
                why_not = _hidden_within(target, self.troops[firer.id].ranges.greatest_in)
                continue
            ray = _ray(front.middle_mm, base.heading_deg, reach_mm)
            counted.append((range_mm, _meets_first(ray, outline, eroded_by_hair(blockers)), line))
        if not counted:
            return why_not
        crew, is_mixed = figures / len(firer.bases), len({ahead for _, ahead, _ in counted}) == 2
        # Where guns differ, those that only have it in their cone count half by themselves.
        halves = (crew if ahead or not is_mixed else crew / 2 for _, ahead, _ in counted)
        sections = [fire.Section(figures, 1) for figures in halves]
        range_mm, _, line = min(counted, key=itemgetter(0))
        is_ahead = any(ahead for _, ahead, _ in counted)
        rays = (_ray(axes(gun).middle_mm, gun.heading_deg, reach_mm) for gun in firer.bases)
        is_hidden = not is_ahead and any(shapely.intersects(ray, outline) for ray in rays)
        return fire.Shot(
            tuple(sections), self.inches(range_mm), is_ahead, is_hidden_ahead=is_hidden, line=line
        )

    def _frontage_in(self, unit: Unit) -> float:
        """Returns the length of a unit's front edge."""
        return front_width_mm(axes_of(unit)) / self.inch_mm

    def _narrow_gaps(self, firer: Unit, target: Unit) -> dict[tuple[str, str], shapely.LineString]:
        """Returns the shortest line of each two friends too near to fire between (S-E.5)."""
        edge, outlines = axes_of(firer).edge, self.outlines
        range_mm = shapely.distance(edge, outlines[target.id])
        hiding = self._hiding(firer, target)
        friends = (unit.id for unit in hiding if unit.side == firer.side)
        nearer = [name for name in friends if shapely.distance(edge, outlines[name]) < range_mm]
        frontage_in, gaps = self._frontage_in(target), dict[tuple[str, str], shapely.LineString]()
        for pair in combinations(nearer, 2):
            both = [outlines[name] for name in pair]
            gap = shapely.shortest_line(*both)
            # Who stands in the gap, between its neighbours, does not fire through it.
            is_beside = overlaps(shapely.union_all(both).convex_hull, outlines[firer.id])
            if not (is_beside or fire.may_fire_through(self.inches(gap.length), frontage_in)[0]):
                gaps[pair] = gap
        return gaps

    def _cover(self, eye: Point, target: Unit) -> Literal["cover", "hard"] | None:
        """Returns the cover of a target against a firer at a point (S-J.12)."""
        outline = self.outlines[target.id]
        line = shapely.LineString([eye, (outline.centroid.x, outline.centroid.y)])
        for piece in self.position.terrain:
            area = area_of(piece)
            if piece.kind == WALL:
                is_behind = shapely.distance(area, outline) <= BEHIND_WALL_MM
                covers = is_behind and bool(shapely.intersects(line, area))
            else:
                covers = is_designated(piece) and share_in(target.bases, area) >= 0.5
                covers = covers and piece.kind != HILL
            if covers:
                return "hard" if piece.extra.get("hard_cover") else "cover"
        return None

    def _terrain_between(self, a: Unit, b: Unit) -> Iterator[shapely.Polygon]:
        """Yields designated terrain in which neither unit stands (S-E.1, S-J.10)."""
        for piece in self.position.terrain:
            area = area_of(piece)
            stands = any(shapely.intersects(area, self.outlines[unit.id]) for unit in (a, b))
            if is_designated(piece) and piece.kind != WALL and not stands:
                yield area

    def _barriers(self, a: Unit, b: Unit) -> shapely.Geometry:
        """Returns the units and the terrain that may hide one friend from another (S-H.7)."""
        others = (outline for name, outline in self.outlines.items() if name not in (a.id, b.id))
        # No line between the two leaves their hull, and each corner elsewhere would be tried.
        hull = shapely.union(self.outlines[a.id], self.outlines[b.id]).convex_hull
        barriers = (*others, *self._terrain_between(a, b))
        return shapely.union_all([one for one in barriers if shapely.intersects(one, hull)])


@lru_cache(maxsize=256)
def _shots_at(*lie: Hashable) -> dict[tuple[str, str, Troops], fire.Shot | Ban]:
    """Returns the cache of shots that all tables with the same layout share."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Between:
    """What stands between a firer and its target: a unit, an own commander, or terrain."""

    side: Literal["friend", "enemy", "commander"] = "friend"
    on_hill: bool = False
    from_firer_in: float = 0.0
    from_target_in: float = 0.0
    terrain: bool = False

    def ban(self, *, firer_on_hill: bool, target_on_hill: bool) -> Ban | None:
        """Returns why it hides the two from each other (S-E.1, S-E.3, S-E.4, S-J.10)."""
        if self.terrain:
            return Ban("S-J.10", "designated terrain cannot be fired through")
        if not firer_on_hill or self.on_hill or self.from_firer_in <= HILL_IN:
            hides = True
        # Enemies lower down are the first target in sight, unless the target stands on a hill too.
        elif target_on_hill:
            hides = self.side != "enemy" and self.from_target_in <= HILL_IN
        else:
            hides = self.side == "enemy"
        rule = "S-E.3" if firer_on_hill else "S-E.1"
        return Ban(rule, f"the {self.side} between blocks the line") if hides else None


field_of: Final = remembered(Field)
"""Returns a table as the sheet sees it, the same one for the same position."""


def commands(commander: Commander, unit: Unit) -> bool:
    """Whether a commander is one of the unit's: its brigade's, its division's or the army's."""
    if commander.side != unit.side:
        return False
    level, brigades = commander.extra.get("level"), commander.extra.get("commands", ())
    return level == "army" or unit.extra.get("brigade") in brigades


def read_keys(unit: Unit) -> Troops:
    """Returns a unit as it counts by its keys and its state alone.

    Raises:
        BadInput: A key of the unit is missing or wrong.
    """
    start = unit.extra.get("figures")
    figures = {"figures_start": start, "figures": unit.state.get("figures", start)}
    keys, left_out = unit_keys.keys_of(unit), ("formation", "figures")
    facts, document = unit_keys.read_keys(
        UnitFacts, unit.id, keys, *left_out, arm=unit.arm, **figures
    )
    try:
        return facts.troops("experience", "figures")
    except FactError as fault:
        raise document.error(fault.path, str(fault)) from None


def troops_of(unit: Unit, inch_mm: float) -> Troops:
    """Returns a unit as it counts, by its keys, its state and its bases.

    Raises:
        BadInput: A key of the unit is missing or wrong.
    """
    troops = read_keys(unit)
    declared = unit.state.get("formation")
    troops = replace(troops, formation=declared or "none")
    reading = formation_of(unit.bases, troops, inch_mm=inch_mm)
    is_broken = reading.formation == "none"
    return replace(
        troops,
        formation=reading.formation,
        ranks=reading.ranks,
        disordered=troops.disordered or (is_broken and troops.arm != "artillery"),
    )


_troops_of: Final = remembered(troops_of, size=256)


def _fronts(unit: Unit, troops: Troops) -> list[tuple[Sequence[BasePose], Axes]]:
    """Returns the parts of a unit with a front each: bent lines and squares have several."""
    if troops.formation not in ("bent_line", "square"):
        return [(unit.bases, axes_of(unit))]
    sections: dict[int, list[BasePose]] = {}
    for base in unit.bases:
        known = (deg for deg in sections if abs(difference_deg(base.heading_deg, deg)) <= 5.0)
        sections.setdefault(next(known, round(base.heading_deg)), []).append(base)
    return [
        (bases, axes_of(replace(unit, bases=tuple(bases), arm="infantry")))
        for bases in sections.values()
    ]


def _share_ahead(
    bases: Sequence[BasePose],
    front: Axes,
    files: int,
    target: shapely.Geometry,
    blockers: shapely.Geometry,
    reach_mm: float,
) -> float:
    """Returns the share of the files whose ray ahead meets the target and nothing before it."""
    edges = [axes(base).edge for base in bases]
    # The front rank alone has a front edge: the others stand behind it.
    first = [edge for edge in edges if shapely.distance(edge, front.edge) <= bases[0].depth_mm / 2]
    solid = eroded_by_hair(blockers)

    def sees(eye: shapely.Point) -> bool:
        return _meets_first(_ray((eye.x, eye.y), front.heading_deg, reach_mm), target, solid)

    return fmean(
        sees(edge.interpolate((place + 0.5) / files, normalized=True))
        for edge in first or edges
        for place in range(files)
    )


def _meets_first(
    ray: shapely.LineString, target: shapely.Geometry, solid: shapely.Geometry
) -> bool:
    """Whether a ray meets a target, and nothing solid before it (S-D.4, S-E.6)."""
    met = shapely.intersection(ray, target)
    way = shapely.shortest_line(shapely.Point(ray.coords[0]), met)
    return not (shapely.is_empty(met) or shapely.intersects(way, solid))


def _sight(
    front: Axes, target: shapely.Geometry, blockers: shapely.Geometry
) -> shapely.LineString | None:
    """Returns a free line of sight, from the middle of a front where that is free (S-E.1).

    A unit on the line of the front hides what lies beyond it (S-0.3, S-D.6).
    """
    back = np.multiply(forward(front.heading_deg), -APART_MM)
    blockers = shapely.union(blockers, shapely.transform(blockers, lambda points: points + back))
    line: shapely.LineString = shapely.shortest_line(shapely.Point(front.middle_mm), target)
    is_free = not (shapely.is_empty(target) or shapely.intersects(line, eroded_by_hair(blockers)))
    return line if is_free else free_line(front.edge, target, blockers)


def _seen_mm(
    start: shapely.Geometry,
    front: Axes,
    target: shapely.Geometry,
    blockers: shapely.Geometry,
    line: shapely.LineString,
) -> float:
    """Returns the range to the nearest part of a target that a front sees (S-D.6, S-D.8).

    `line` is a free one, which the front sees in any case.
    """
    nearest = shapely.shortest_line(start, target)
    if not shapely.intersects(nearest, eroded_by_hair(blockers)):
        return float(nearest.length)
    farthest_mm = shapely.distance(start, shapely.get_point(line, -1))
    seen = seen_points(front.edge, target, blockers, within_mm=farthest_mm)
    return float(min(shapely.distance(start, seen), default=farthest_mm))


def _hidden(target: Unit) -> Ban:
    return Ban("S-E.1", f"{target.id} is hidden by what stands between")


def _hidden_within(target: Unit, reach_in: float) -> Ban:
    return Ban("S-E.1", f"what it sees of {target.id} is farther off than {reach_in:g} in")


def _ray(start_mm: Point, heading_deg: float, length_mm: float) -> shapely.LineString:
    (x_mm, y_mm), (x, y) = start_mm, forward(heading_deg)
    return shapely.LineString([start_mm, (x_mm + x * length_mm, y_mm + y * length_mm)])


def is_designated(piece: Terrain) -> bool:
    """Whether a piece counts as terrain (S-J.11)."""
    return bool(piece.extra.get("designated", True))
