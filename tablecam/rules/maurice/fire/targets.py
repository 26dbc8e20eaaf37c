"""The targets of bases in the order of M-7.12, the best shot at each, or what blocks their fire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, product
from typing import Any, Literal

import numpy as np
import shapely

from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.rectangles import EXACT_MM, Indices
from tablecam.geometry.shapes import PLACES_MM, Shape, shapes_of
from tablecam.geometry.sight import blockers_between, free_lines
from tablecam.geometry.zones import turned_strips
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import are_partly_in, are_slivers
from tablecam.rules.maurice.field.tables import CANISTER_DICE, SLIVER_MM, TO_HIT
from tablecam.rules.maurice.field.terms import Reason, Term, needed_on_die
from tablecam.rules.maurice.fire.zone import (
    BaseInWorld,
    OtherBase,
    Scene,
    Shooter,
    ZoneContents,
    ahead_mm,
    met_ahead,
    zone_contents_turned,
)
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.margins import Flags

Range = Literal["short", "long"]
RANGES: tuple[Range, ...] = ("short", "long")
Angle = Literal["ahead", "left", "right"]

_DEG_PLACES = 6
_TOGETHER = 8
"""The number of angles of each hit searched at once for a line past cover."""


_MODIFIERS = (
    Term("M-7.21", "dense_target", amount=1),
    Term("M-7.22", "enfilade", amount=1),
    Term("M-7.24", "disrupted_shooter", amount=-1),
    Term("M-7.24", "target_cover", amount=-1),
)
"""Modifiers of the number to hit."""


@dataclass(frozen=True)
class FireOption:
    """A target unit of a base, with the best way to shoot at it.

    The zone of the `shooter` is turned by `turned_deg` (counter-clockwise, so to the left), ends at
    `end_mm` and first meets the base `met`, `distance_mm` along its axis; `past` is a line that
    reaches it past all cover. `to_hit` is the number needed on each of `dice`. `chance_of` gives
    the probability of a target if poses have errors.
    """

    target: str
    target_base: str
    range: Range
    angle: Angle
    turned_deg: float
    distance_mm: float
    dice: int
    to_hit: int
    has_cover: bool
    is_enfilade: bool
    is_dense: bool
    modifiers: tuple[Term, ...]
    shooter: Shooter = field(compare=False)
    met: OtherBase = field(compare=False)
    end_mm: float = field(compare=False)
    past: shapely.LineString | None = field(compare=False)
    chance_of: Callable[[str], float] | None = field(default=None, compare=False, repr=False)

    @property
    def probability(self) -> float:
        """The probability that the target may be shot at, given the errors; 1 if certain."""
        return 1.0 if self.chance_of is None else self.chance_of(self.target)

    @property
    def because(self) -> str:
        """The sentence that explains the option."""
        turned = "straight ahead"
        if self.turned_deg:
            turned = f"turned {abs(self.turned_deg):.1f} degrees {self.angle}"
        met = (
            f"{turned} its zone first meets {self.target}, "
            f"{self.distance_mm / self.shooter.bw_mm:.2f} BW away: {TO_HIT}+"
        )
        named = [f"{term.change} ({term.rule})" for term in self.modifiers]
        return f"{met} with {', '.join(named)} is {self.to_hit}+" if named else met

    @cached_property
    def evidence(self) -> tuple[Shape, ...]:
        """The zone, the base that it meets, the range along its axis, and the cover."""
        zone = self.shooter.strip.outline(self.turned_deg, self.end_mm)
        axis = self.shooter.strip.axis(self.turned_deg, self.distance_mm)
        drawn = shapes_of(zone, "fire-zone")
        drawn += shapes_of(self.met.outline, "target", self.target_base)
        drawn += shapes_of(axis, "range", f"{shapely.length(axis) / self.shooter.bw_mm:.2f} BW")
        if self.has_cover:
            drawn += shapes_of(shapely.intersection(self.shooter.cover, zone), "cover")
        elif self.past is not None:
            drawn += shapes_of(self.past, "line-of-fire", "past the cover")
        return drawn

    def to_json(self) -> dict[str, Any]:
        """Returns the option as rulings carry it."""
        record = {
            "target": self.target,
            "target_base": self.target_base,
            "range": self.range,
            "angle": self.angle,
            "turned_deg": round(self.turned_deg, PLACES_MM),
            "distance_mm": round(self.distance_mm, PLACES_MM),
            "dice": self.dice,
            "to_hit": self.to_hit,
            "cover": self.has_cover,
            "enfilade": self.is_enfilade,
            "dense": self.is_dense,
            "because": self.because,
            "evidence": [shape.to_json() for shape in self.evidence],
        }
        probability = self.probability
        if probability < 1.0:
            record["probability"] = round(probability, PLACES_MM)
        return record


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """A base that can be hit: number `place` in `met`, at the angles with indices `at`."""

    base: Shooter
    met: ZoneContents
    place: int
    at: Indices

    @property
    def other(self) -> OtherBase:
        """The base that is hit."""
        return self.met.others[self.place]


def options(
    zones: Sequence[tuple[Shooter, ZoneContents]], fire_range: Range
) -> list[tuple[FireOption, ...]]:
    """Returns the best option of each base against each unit that it can hit at a range."""
    hits = [_hits(base, met, fire_range) for base, met in zones]
    aims = iter(best_aims([hit for base_hits in hits for hit in base_hits]))
    return [
        _best([_option(hit, fire_range, next(aims)) for hit in base_hits]) for base_hits in hits
    ]


def _hits(base: Shooter, met: ZoneContents, fire_range: Range) -> list[Hit]:
    can_hit = met.can_hit
    if not can_hit.any():
        return []
    is_short = met.ranges_mm <= base.short_mm + EXACT_MM
    can_hit &= is_short if fire_range == "short" else ~is_short
    places = np.flatnonzero(can_hit.any(axis=0)).tolist()
    return [Hit(base, met, place, np.flatnonzero(can_hit[:, place])) for place in places]


def _covers(hits: Sequence[Hit]) -> list[shapely.Geometry]:
    """Returns the cover between each base and the one it hits, usually an empty polygon."""
    covers_between: list[shapely.Geometry] = [shapely.Polygon()] * len(hits)
    # One query for each cover area: bases without walls of their own share the ground's.
    edges = {id(hit.base): hit.base.edge for hit in hits}
    for cover in {id(hit.base.cover): hit.base.cover for hit in hits}.values():
        at = [place for place, hit in enumerate(hits) if hit.base.cover is cover]
        sights = [(edges[id(hits[place].base)], hits[place].other.outline) for place in at]
        for place, between in zip(at, blockers_between(sights, cover), strict=True):
            covers_between[place] = between
    return covers_between


def _best(candidates: Sequence[FireOption]) -> tuple[FireOption, ...]:
    """Returns the best option against each unit, sorted by unit id."""
    best: dict[str, FireOption] = {}
    # The lowest number to hit, then the nearest, then the least turned.
    for option in sorted(candidates, key=lambda o: (o.to_hit, o.distance_mm, abs(o.turned_deg))):
        best.setdefault(option.target, option)
    return tuple(best[target] for target in sorted(best))


def _option(hit: Hit, fire_range: Range, aim: Aim) -> FireOption:
    """Builds the option for a hit, with its modifiers and number to hit (M-7.20 to M-7.24)."""
    base, other, met = hit.base, hit.other, hit.met
    turned_deg = float(met.turns_deg[aim.at])
    distance_mm = float(met.ranges_mm[aim.at, hit.place])
    dense = other.unit.formation in ("column", "massed")
    enfilade = ahead_of_front_mm(base, other) <= EXACT_MM
    applies = dense, enfilade, base.unit.is_disrupted, aim.has_cover
    modifiers = tuple(compress(_MODIFIERS, applies))
    to_hit = needed_on_die(TO_HIT, sum(term.amount for term in modifiers))
    angle: Angle = "ahead" if turned_deg == 0 else "left" if turned_deg > 0 else "right"
    return FireOption(
        target=other.unit.id,
        target_base=other.name,
        range=fire_range,
        angle=angle,
        turned_deg=turned_deg,
        distance_mm=distance_mm,
        dice=CANISTER_DICE if base.is_gun and fire_range == "short" else 1,
        to_hit=to_hit,
        has_cover=aim.has_cover,
        is_enfilade=enfilade,
        is_dense=dense,
        modifiers=modifiers,
        shooter=base,
        met=other,
        end_mm=float(met.ends_mm[aim.at]),
        past=aim.past,
    )


def ahead_of_front_mm(base: BaseInWorld, other: BaseInWorld) -> float:
    """Returns how far a base reaches ahead of the front line of its target base (M-7.22)."""
    return float(ahead_mm(other.corners_mm, base.corners_mm).max())


@dataclass(frozen=True, slots=True)
class Aim:
    """The index of the angle at which a base is shot at, and whether it has cover there.

    `past` is a line that reaches the base past all cover; None if it has cover or none is near.
    """

    at: int
    has_cover: bool
    past: shapely.LineString | None = None


def best_aims(hits: Sequence[Hit]) -> list[Aim]:
    """Returns for each hit the best angle: one without cover if there is one.

    Otherwise the middle of the widest range of angles.
    """
    covers = _covers(hits)
    middles = [_middle(hit.met, hit.at) for hit in hits]
    aims = [Aim(middle, has_cover=False) for middle in middles]
    near = np.flatnonzero(~shapely.is_empty(covers)).tolist()
    is_inside = _are_inside([hits[at].other.outline for at in near], [covers[at] for at in near])
    tried = [at for at, inside in zip(near, is_inside, strict=True) if not inside]
    lines = _lines_past([(hits[at], middles[at], covers[at]) for at in tried])
    past_of = dict(zip(tried, lines, strict=True))
    for at in near:
        line = past_of.get(at)
        aims[at] = Aim(middles[at], has_cover=line is None, past=line)
    closed = [at for at in tried if past_of[at] is None and len(hits[at].at) > 1]
    searched = _searched([hits[at] for at in closed], [covers[at] for at in closed])
    for at, aim in zip(closed, searched, strict=True):
        aims[at] = aim or aims[at]
    return aims


def _searched(hits: Sequence[Hit], covers: Sequence[shapely.Geometry]) -> list[Aim | None]:
    """Returns for each hit the first other angle at which a line passes all cover, or None."""
    aims: list[Aim | None] = [None] * len(hits)
    sights = [hit.base.edge for hit in hits], [hit.other.outline for hit in hits], covers
    # Searching angles is pointless unless there is a free line anywhere on the front edge.
    any_way = enumerate(free_lines(*sights))
    angles = {at: _tried(hits[at], line) for at, line in any_way if line is not None}
    while angles:
        tried = [(at, angle) for at, nearest in angles.items() for angle in nearest[:_TOGETHER]]
        past = _lines_past([(hits[at], angle, covers[at]) for at, angle in tried])
        for (at, angle), line in zip(tried, past, strict=True):
            if line is not None and aims[at] is None:
                aims[at] = Aim(angle, has_cover=False, past=line)
        left = {at: nearest[_TOGETHER:] for at, nearest in angles.items() if aims[at] is None}
        angles = {at: nearest for at, nearest in left.items() if nearest}
    return aims


def _are_inside(outlines: Sequence[shapely.Polygon], covers: Sequence[shapely.Geometry]) -> Flags:
    """Returns which outlines (k,) lie in their cover, except for a sliver (G-5)."""
    outline, cover = np.array(outlines, dtype=object), np.array(covers, dtype=object)
    is_inside = np.asarray(shapely.intersects(cover, outline))
    outside = shapely.difference(outline[is_inside], cover[is_inside], grid_size=GRID_MM)
    is_inside[is_inside] = are_slivers(outside)
    return is_inside


def _lines_past(
    aims: Sequence[tuple[Hit, int, shapely.Geometry]],
) -> list[shapely.LineString | None]:
    """Returns for each hit, angle and cover a line past it to the base in the zone, or None."""
    if not aims:
        return []
    hits, covers = [hit for hit, *_ in aims], [cover for *_, cover in aims]
    outlines = np.array([hit.other.outline for hit in hits], dtype=object)
    turned_deg = np.array([hit.met.turns_deg[at] for hit, at, _ in aims])
    ends_mm = np.array([hit.met.ends_mm[at] for hit, at, _ in aims]) + GRID_MM
    seen = np.full(len(aims), shapely.Polygon(), dtype=object)
    for inset_mm in (SLIVER_MM, 0.0):
        left = np.flatnonzero(shapely.area(seen) == 0)
        strips = [hits[at].base.strip for at in left.tolist()]
        turned = turned_strips(strips, turned_deg[left], ends_mm[left], inset_mm)
        seen[left] = shapely.intersection(outlines[left], turned, grid_size=GRID_MM / 10)
    # Bases met at the zone's very end share only an edge or a corner with it, without area.
    at_end = shapely.area(seen) == 0
    seen[at_end] = shapely.buffer(seen[at_end], GRID_MM)
    return [*free_lines([hit.base.edge for hit in hits], seen, covers)]


def _middle(met: ZoneContents, can_hit: Indices) -> int:
    """Returns the angle nearest the middle of the widest run, or the least turned in a tie."""
    runs = np.split(can_hit, np.flatnonzero(np.diff(can_hit) > 1) + 1)
    ends_deg = np.array([met.turns_deg[run[[0, -1]]] for run in runs])
    middles_deg = ends_deg.mean(axis=1)
    widths_deg = np.round(np.diff(ends_deg, axis=1)[:, 0], _DEG_PLACES)
    widest = np.lexsort([np.abs(middles_deg), -widths_deg])[0]
    run = runs[widest]
    # Rounded, so that of two equally near angles the first wins on every platform.
    off_deg = np.abs(met.turns_deg[run] - middles_deg[widest])
    return int(run[np.argmin(np.round(off_deg, _DEG_PLACES))])


def _tried(hit: Hit, any_way: shapely.LineString) -> list[int]:
    """Returns the angles at which a base is hit, nearest first to a free line's end."""
    shows = hit.base.strip.local_mm(shapely.get_coordinates(any_way)[-1:])[0]
    bearing_deg = float(np.degrees(np.arctan2(-shows[0], shows[1])))
    off_deg = np.abs(hit.met.turns_deg[hit.at] - bearing_deg)
    return [int(index) for index in hit.at[np.argsort(off_deg, kind="stable")]]


Blocked = Literal["column", "water", "woods", "friend", "obstruction", "no target"]


@dataclass(frozen=True, slots=True)
class BaseFire:
    """The targets that a base may legally choose, or what blocks its fire.

    `shooter` is None if the base may not fire at all. Unless all poses are exact, `doubts` gives
    every answer about the base that errors may change, clear or too close to call.
    """

    base: str
    options: tuple[FireOption, ...]
    blocked: Blocked | None
    shooter: Shooter | None = field(default=None, compare=False, repr=False)
    doubts: Callable[[], tuple[Answer, ...]] | None = field(default=None, compare=False, repr=False)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers about this base that depend on measurement errors."""
        return () if self.doubts is None else self.doubts()

    @property
    def close_calls(self) -> tuple[Answer, ...]:
        """The answers that are too close to call."""
        return tuple(answer for answer in self.answers if answer.answer == "too_close")

    def to_json(self) -> dict[str, Any]:
        """Returns the base's fire as rulings carry it.

        `doubts` are the answers too close to call, `answers` the others that are not certain.
        """
        record: dict[str, Any] = {
            "options": [option.to_json() for option in self.options],
            "blocked": self.blocked,
        }
        decided = [answer for answer in self.answers if answer.answer != "too_close"]
        for key, answers in (("doubts", self.close_calls), ("answers", decided)):
            if answers:
                record[key] = [answer.to_json() for answer in answers]
        return record


def why_never_fires(unit: UnitOnField) -> Reason | None:
    """Returns the rule that forbids a unit to fire wherever the enemy is (M-7.7), or None."""
    if unit.unit.arm == "cavalry":
        return Reason("M-7.7", "never_fires")
    return Reason("M-7.7", "column_fire") if unit.formation == "column" else None


def fire_in(scene: Scene, asked: Sequence[tuple[UnitOnField, int]]) -> list[BaseFire]:
    """Returns the fire of k bases: all in the first world, then in the second, ..."""
    if not asked:
        return []
    blocked = _blocked(scene, asked)
    ready = [base for base, why in zip(scene.shooters(asked), blocked, strict=True) if not why]
    fire = iter(_fire_by_priority(ready))
    names = [unit.unit.base_name(place) for unit, place in asked] * len(scene.corners_mm)
    return [
        BaseFire(name, (), why) if why else next(fire)
        for name, why in zip(names, blocked, strict=True)
    ]


def _blocked(scene: Scene, asked: Sequence[tuple[UnitOnField, int]]) -> list[Blocked | None]:
    """Returns why each base may not fire at all, or None (M-7.6, M-7.7)."""
    outlines, ground = scene.outlines[:, scene.indices(asked)], scene.field.ground
    is_gun = np.array([unit.unit.arm == "artillery" for unit, _ in asked])
    is_wet = are_partly_in(outlines.reshape(-1), ground.water).reshape(outlines.shape)
    is_wooded = np.zeros(outlines.shape, dtype=bool)
    guns = outlines[:, is_gun]
    is_wooded[:, is_gun] = are_partly_in(guns.reshape(-1), ground.woods).reshape(guns.shape)
    is_column = np.array([unit.formation == "column" for unit, _ in asked])
    reasons: tuple[Blocked | None, ...] = (None, "woods", "water", "column")
    codes = np.where(is_column, 3, np.where(is_wet, 2, is_wooded))
    return [reasons[code] for code in codes.reshape(-1).tolist()]


def _fire_by_priority(bases: Sequence[Shooter]) -> list[BaseFire]:
    """Finds targets in the order of M-7.12.

    Short range ahead, short range turned, then for guns long range ahead, long range turned.
    """
    options_of: list[tuple[FireOption, ...]] = [() for _ in bases]
    zones_of: list[list[ZoneContents]] = [[] for _ in bases]
    # Bases without an enemy in range need no zones: most bases of a large table.
    left = [at for at, base in enumerate(bases) if any(other.is_enemy for other in base.others)]
    for fire_range, is_turned in product(RANGES, (False, True)):
        left = [at for at in left if fire_range == "short" or bases[at].is_gun]
        asked = [bases[at] for at in left]
        lengths_mm = [base.short_mm if fire_range == "short" else base.longest_mm for base in asked]
        met = (zone_contents_turned if is_turned else met_ahead)(asked, lengths_mm)
        options_at = options(list(zip(asked, met, strict=True)), fire_range)
        for at, zone, fire_options in zip(left, met, options_at, strict=True):
            options_of[at] = fire_options
            zones_of[at].append(zone)
        left = [at for at in left if not options_of[at]]
    return [
        BaseFire(base.name, chosen, None if chosen else _why_no_target(base, zones), base)
        for base, chosen, zones in zip(bases, options_of, zones_of, strict=True)
    ]


def _why_no_target(base: Shooter, tried: Sequence[ZoneContents]) -> Blocked:
    """Returns what blocks the first zone that is blocked, else `no target`."""
    reasons = (met.stopped_by(base.longest_mm) for met in tried)
    return next((reason for reason in reasons if reason), "no target")
