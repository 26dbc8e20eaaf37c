"""Fire and morale: shots, hits, tests, fall backs and routs (H-7, H-9, H-10)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

import shapely

from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.moves.poses import ahead, wheeled
from tablecam.geometry.outlines import Axes, axes
from tablecam.geometry.zones import cone_before
from tablecam.rules.game import Ban
from tablecam.rules.huzzah_ge import tables
from tablecam.rules.huzzah_ge.troops import Officer, Troops, front_of, heading_of
from tablecam.rules.miniatures.battle import first_ban
from tablecam.rules.miniatures.faces import FaceName, closest_visible, faces_of
from tablecam.rules.miniatures.ground import SLIVER_MM2, centre_mm, footprints, overlaps
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Point

Bases = Sequence[BasePose]
_Shot = TypeVar("_Shot")
ARC_DEG = 45.0
"""H-7.5: the angle of the arc to either side."""
ROUTING_FRIEND_CM = 20.0
_CLEAR_CM = 0.1
"""H-9.9: the gap between a friend and a unit placed behind it."""


def ban_on_firing(firer: Troops, range_cm: float) -> Ban | None:
    """Returns why a unit may not fire (H-7.1, H-7.3)."""
    return first_ban(
        (firer.arm == "cavalry", "H-7.1", "cavalry does not fire"),
        (firer.routing, "H-7.1", "a routing unit does not fire"),
        (firer.formation == "road_column", "H-7.1", "a road column does not fire"),
        (firer.charging, "H-7.1", "a charger does not fire"),
        (firer.is_in_combat, "H-7.1", "a unit in combat does not fire"),
        (firer.fired, "H-7.1", "it has fired in this phase"),
        (range_cm > firer.range_cm, "H-7.3", f"its range is {firer.range_cm:g} cm"),
    )


def is_short(firer: Troops, range_cm: float) -> bool:
    """Whether a range is short: under half of the firer's (H-7.3)."""
    return range_cm < firer.range_cm / 2


def fire_factor(
    firer: Troops, target: Troops, range_cm: float, face: FaceName, *, is_foul_weather: bool
) -> tables.Factor:
    """Returns the factor of a shot by its terms (H-7.2, H-7.8)."""
    front = firer.ranks[0] if firer.ranks else firer.base_count
    is_battery = firer.is_reserve and firer.base_count > 1
    works = is_battery and firer.effective
    is_square = target.formation == "square"
    # A square has no flank and no rear (H-2.4).
    is_aside = face != "front" and not is_square
    deep = len(target.ranks) if face in ("front", "rear") else max(target.ranks, default=1)
    parts = {
        "fire_factor": tables.FIRE["artillery" if firer.is_reserve else "infantry"][
            tables.GRADES.index(firer.grade)
        ],
        "disordered": -firer.disordered,
        "square_firer": -(firer.formation == "square"),
        "superiority": -target.side_has_superiority,
        "irregular": -("irregular" in target.abilities),
        "foul_weather": -is_foul_weather,
        **{
            f"{cover}_cover": fire
            for cover, fire in tables.COVER_FIRE.items()
            if cover == target.cover
        },
        "front_bases": 0 if firer.in_dense else front // 2,
        "three_bases": firer.base_count // 3 if firer.in_dense else 0,
        "short_range": int(is_short(firer, range_cm)),
        "flank_or_rear": int(is_aside),
        "square": int(is_square),
        "divisional_artillery": int(firer.has_divisional_artillery and firer.effective),
        "deep_target": int(works and deep > 1),
        "heavy": int(works and firer.is_heavy_battery),
        "square_effective": int(works and is_square),
    }
    return tables.factor_of(parts)


def hits_of(factor: int, dice: Sequence[int]) -> int | None:
    """Returns the hits of a throw, None if it fails (H-7.9).

    A throw that only equals the factor succeeds without hits, and still causes a morale test.
    """
    if not tables.succeeds(factor, dice):
        return None
    return max(0, factor - sum(dice)) + tables.is_huzzah(dice)


@dataclass(frozen=True, slots=True)
class Removal:
    """The bases that hits remove from a unit, and the odd hits that it carries over (H-7.10)."""

    bases_removed: int
    odd_hits: int


def removal(target: Troops, hits: int) -> Removal:
    """Returns what hits remove, together with those that the unit carries."""
    return Removal(*divmod(target.hits + hits, target.hits_per_base))


def choices(firer: Troops, ranges_cm: Mapping[_Shot, float]) -> list[_Shot]:
    """Returns the shots that a unit may choose from: if any, those at short range (H-7.7)."""
    near = [shot for shot, range_cm in ranges_cm.items() if is_short(firer, range_cm)]
    reached = [shot for shot, range_cm in ranges_cm.items() if range_cm <= firer.range_cm]
    return near or reached


@dataclass(frozen=True, slots=True)
class Shot:
    """How a target lies from the firing bases: its face, the range, and which see it clearly."""

    face: FaceName
    range_cm: float
    is_in_arc: bool
    clear: tuple[BasePose, ...]


@lru_cache(maxsize=1024)
def shot_at(
    firing: tuple[BasePose, ...],
    target: tuple[BasePose, ...],
    blockers: tuple[Any, ...] = (),
    from_mm: Point | None = None,
) -> Shot | None:
    """Returns how a target lies from firing bases (H-7.4 to H-7.6); None if they stand in it.

    `blockers` are outlines that may stand in the way: other units' bases, and terrain.
    """
    centre = from_mm or centre_mm(firing)
    faces = faces_of(target, heading_of(target))
    face = closest_visible(faces, centre)
    if face is None:
        return None
    seen = faces[face]
    front = front_of(firing)
    outline = footprints(target)
    reach_mm = 2 * float(shapely.Point(centre).distance(outline)) + 1e4
    arc = cone_before(front, ARC_DEG).outline(reach_mm)
    return Shot(
        face,
        round(math.dist(centre, seen.middle_mm) / tables.CM_MM, 6),
        overlaps(arc, outline),
        tuple(base for base in firing if _is_clear(base, seen.edge, blockers)),
    )


def _is_clear(base: BasePose, face: Any, blockers: Sequence[Any]) -> bool:
    """Whether the space between a base's front edge and a face is clear (H-7.6)."""
    view = shapely.convex_hull(shapely.union(axes(base).edge, face))
    return not any(overlaps(view, blocker) for blocker in blockers)


@dataclass(frozen=True, slots=True)
class Rear:
    """The lane straight to a unit's rear: its rear face, its heading and its depth (H-9.8)."""

    rear: Axes
    heading_deg: float
    deep_cm: float

    @classmethod
    def of(cls, bases: Bases) -> Rear:
        """Returns the lane behind some bases."""
        heading_deg = heading_of(bases)
        faces = faces_of(bases, heading_deg)
        return cls(faces["rear"], heading_deg, faces["left"].edge.length / tables.CM_MM)

    def span_cm(self, outline: Any, *, centre_only: bool = False) -> tuple[float, float] | None:
        """Returns where an outline begins and ends behind the unit, or behind its centre alone."""
        front, far_mm = self.rear, 1e4
        strip: Any = lane(front, far_mm, behind_mm=self.deep_cm * tables.CM_MM)
        if centre_only:
            (x, y), (to_x, to_y) = front.middle_mm, forward(front.heading_deg)
            start_mm = self.deep_cm * tables.CM_MM
            strip = shapely.LineString(
                [(x - to_x * start_mm, y - to_y * start_mm), (x + to_x * far_mm, y + to_y * far_mm)]
            )
        met = shapely.intersection(strip, outline)
        size = met.length if centre_only else met.area
        if size <= SLIVER_MM2:
            return None
        along_cm = front.ahead_mm(shapely.get_coordinates(met)) / tables.CM_MM
        return round(float(along_cm.min()), 6), round(float(along_cm.max()), 6)

    def moved(self, bases: Bases, distance_cm: float, *, turned: bool) -> Bases:
        """Returns the bases farther back, turned about if they rout."""
        there = ahead(bases, self.rear.heading_deg, distance_cm * tables.CM_MM)
        return wheeled(there, centre_mm(there), 180.0) if turned else there


def morale_factor(
    troops: Troops,
    bases_lost: int,
    officer: Officer,
    *,
    routing_friend_cm: float | None = None,
    faces_renowned: bool = False,
    support_ranks: int | None = None,
) -> tables.Factor:
    """Returns the factor of a morale test, with the support ranks before losses (H-9.2, H-9.3)."""
    ranks = troops.support_ranks if support_ranks is None else support_ranks
    is_near = routing_friend_cm is not None and routing_friend_cm <= ROUTING_FRIEND_CM
    return tables.factor_of(
        {
            "morale_factor": tables.MORALE[tables.GRADES.index(troops.grade)],
            "bases_lost": -bases_lost,
            "renowned": -faces_renowned,
            "routing_friend": -is_near,
            "officer": officer.modifier,
            "support_ranks": 0 if troops.disordered else ranks,
        }
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a test for a unit: its order, and how far it goes back."""

    is_disordered: bool
    fall_back_cm: float = 0.0
    rout_cm: float | None = None


def gain_of(troops: Troops, dice: Sequence[int] | None) -> str | None:
    """Returns what a unit gains by a double one: an ability, or the next better grade (H-9.4)."""
    if dice is None or not tables.is_huzzah(dice):
        return None
    missing = (name for name in ("grognards", "disciplined") if name not in troops.abilities)
    better = tables.GRADES[: tables.GRADES.index(troops.grade)]
    return next(iter((*missing, *better[-1:])), None)


def outcome(troops: Troops, bases_lost: int, *, passes: bool) -> Outcome:
    """Returns the outcome of a morale test (H-9.5 to H-9.8).

    A charger is never forced back, and routs only if it was disordered.
    """
    if passes:
        return Outcome(troops.disordered)
    shelter = "strongpoint" if troops.strongpoint else troops.cover
    back_cm = max(0.0, tables.FALL_BACK_CM * bases_lost - tables.SHELTER_CM.get(shelter or "", 0.0))
    if troops.charging:
        back_cm = 0.0
    if troops.disordered or back_cm > tables.ROUT_BEYOND_CM:
        return Outcome(is_disordered=True, rout_cm=max(troops.rout_cm, back_cm))
    return Outcome(is_disordered=True, fall_back_cm=back_cm)


def waver_factor(troops: Troops, officer: Officer, *, has_routing_friend: bool) -> tables.Factor:
    """Returns the factor of a waver test (H-13.4)."""
    return tables.factor_of(
        {
            "morale_factor": tables.MORALE[tables.GRADES.index(troops.grade)],
            "disordered": -troops.disordered,
            "routing_friend": -has_routing_friend,
            "hesitant": -("hesitant" in troops.abilities),
            "impulsive": -("impulsive" in troops.abilities),
            "officer": officer.modifier if officer.attached else 0,
            "disciplined": int("disciplined" in troops.abilities),
        }
    )


def waver_outcome(troops: Troops, *, passes: bool) -> Outcome:
    """Returns the outcome of a waver test (H-13.5)."""
    if passes:
        return Outcome(troops.disordered)
    return Outcome(is_disordered=True, rout_cm=troops.rout_cm if troops.disordered else None)


def escape_limit(hits: int) -> int:
    """Returns the factor against which an officer rolls to survive (H-10.1)."""
    return 12 - hits


@dataclass(frozen=True, slots=True)
class Span:
    """Something straight behind a unit: from where to where, in cm from its rear face.

    A sector of dense terrain is held by nobody, a friend or an enemy; other spans are friends.
    """

    name: str
    near_cm: float
    far_cm: float
    held_by: Literal["friend", "enemy"] | None = None


@dataclass(frozen=True, slots=True)
class WayBack:
    """How far a unit goes back, and what it costs (H-9.8 to H-9.11)."""

    distance_cm: float
    extra_hits: int = 0
    disordered_friends: tuple[str, ...] = ()
    deployed_in: str | None = None
    beyond_far_edge_cm: float | None = None
    is_captured: bool = False


def way_back(
    distance_cm: float,
    deep_cm: float,
    sectors: Sequence[Span],
    friends: Sequence[Span],
    *,
    routs: bool,
) -> WayBack:
    """Returns how far a unit of some depth goes straight to its rear (H-9.9 to H-9.11)."""
    way = WayBack(distance_cm)
    own = next((sector for sector in sectors if sector.near_cm < 0 < sector.far_cm), None)
    if own is not None:
        # When leaving dense terrain, the distance counts from its edge (H-9.10).
        way = WayBack(own.far_cm + deep_cm + distance_cm, beyond_far_edge_cm=distance_cm)
    for sector in sorted(sectors, key=lambda sector: sector.near_cm):
        if sector is own or not 0 <= sector.near_cm < way.distance_cm:
            continue
        if not routs:
            if own is not None and sector.held_by is None:
                inside_cm = sector.near_cm + deep_cm
                return WayBack(inside_cm, deployed_in=sector.name)
            continue
        if sector.held_by == "enemy":
            return replace(way, distance_cm=sector.near_cm, is_captured=True)
        way = _through(way, sector, deep_cm)
    for friend in sorted(friends, key=lambda friend: friend.near_cm):
        if not 0 <= friend.near_cm < way.distance_cm:
            continue
        clear_cm = friend.far_cm + deep_cm + _CLEAR_CM
        end_cm = max(way.distance_cm, clear_cm)
        passed, hits = (*way.disordered_friends, friend.name), way.extra_hits + 1
        way = replace(way, distance_cm=end_cm, disordered_friends=passed, extra_hits=hits)
    return way


def _through(way: WayBack, sector: Span, deep_cm: float) -> WayBack:
    """Returns the way back of a routing unit through a sector that no enemy holds (H-9.11)."""
    beyond_cm = 0.0
    if sector.held_by == "friend":
        beyond_cm = way.distance_cm - sector.near_cm
    elif way.distance_cm - deep_cm >= sector.far_cm:
        # It runs straight through.
        return replace(way, extra_hits=way.extra_hits + 1)
    end_cm = sector.far_cm + deep_cm + beyond_cm
    hits = way.extra_hits + 1
    return replace(way, distance_cm=end_cm, extra_hits=hits, beyond_far_edge_cm=beyond_cm)
