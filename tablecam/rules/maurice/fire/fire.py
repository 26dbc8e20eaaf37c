"""Fire (chapter 7): what each base may shoot at from its place, and what errors may change in it.

A cheap gate shows that errors do not matter for most bases: it lengthens and shortens every length
that decides their fire by 3.5 standard deviations, or by the players' tolerance, and misses
nothing. For the others the rule is applied in a few worlds with large errors and, if that changes
anything, in all drawn worlds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, compress, product
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

import numpy as np
import shapely

from tablecam.geometry.outlines import axes
from tablecam.geometry.rectangles import Array, Rectangles, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import may_block
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import are_partly_in
from tablecam.rules.maurice.fire.targets import (
    RANGES,
    BaseFire,
    FireOption,
    Range,
    ahead_of_front_mm,
    fire_in,
)
from tablecam.rules.maurice.fire.zone import (
    STEP_DEG,
    OtherBase,
    Scene,
    Shooter,
    where_enemies_are_met,
    zone_ahead,
    zone_contents_at,
)
from tablecam.rules.memo import Memo
from tablecam.table.formation import base_words
from tablecam.table.headings import forward
from tablecam.uncertainty import samples
from tablecam.uncertainty.answer import Answer, verdict
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import SIGMAS, bounded_margin_mm

OBSTRUCTION_RULE = "M-7.17"

FireByUnit = Mapping[str, Mapping[str, BaseFire]]
"""Each base's fire, by unit id and base name."""

_REMEMBERED: Memo[Mapping[str, BaseFire]] = Memo()


def fire_of_units(field: Field, only: Collection[str] | None = None) -> FireByUnit:
    """Returns the fire of all units, or of the `only` ids, by unit id and base name.

    Cavalry has no entries (M-7.7). The fire of units around which nothing has changed is cached.
    """
    units = [unit for unit in field.units if only is None or unit.id in only]
    # Nothing farther away matters to a unit's fire.
    reaches_mm = [(unit.longest_range_bw + tables.ZONE_BW) * field.bw_mm for unit in units]
    keys = field.keys(units, reaches_mm)
    fire = _REMEMBERED.answers(keys, lambda new: _fire_of(field, [units[index] for index in new]))
    return MappingProxyType({unit.id: of for unit, of in zip(units, fire, strict=True)})


def fire_of(field: Field, unit: UnitOnField) -> Mapping[str, BaseFire]:
    """Returns the fire of each base of a unit, by base name; empty for cavalry (M-7.7)."""
    return fire_of_units(field, only=[unit.id])[unit.id]


def _fire_of(field: Field, units: Sequence[UnitOnField]) -> list[Mapping[str, BaseFire]]:
    asked = [
        (unit, place)
        for unit in units
        if unit.unit.arm != "cavalry"
        for place in range(len(unit.bases))
    ]
    fire = fire_in(Scene.measured(field), asked)
    if not field.is_exact:
        fire = [*with_doubts(field, asked, fire)]
    return [
        MappingProxyType(
            {base.base: base for (owner, _), base in zip(asked, fire, strict=True) if owner is unit}
        )
        for unit in units
    ]


def fire_reading(field: Field, unit: UnitOnField, option: FireOption) -> str | None:
    """Returns the interpretation of fire past obstructing terrain, or of a turned zone."""
    axis = option.shooter.strip.axis(option.turned_deg, option.distance_mm)
    if shapely.intersects(axis, field.ground.obstructing):
        limit_mm = tables.PAST_OBSTRUCTION_BW * field.bw_mm
        is_walled = any(
            piece.kind.is_linear
            and piece.kind.obstructs
            and shapely.dwithin(piece.outline, unit.outline, limit_mm)
            for piece in field.ground.pieces
        )
        return "M-7.27" if is_walled else OBSTRUCTION_RULE
    return None if option.angle == "ahead" else "M-7.12"


# --- doubts -------------------------------------------------------------------------------------


Asked = Sequence[tuple[UnitOnField, int]]

Draw = Callable[[Rectangles, Sequence[str]], Rectangles]
"""Draws the poses of bases with their names: all in the first draw, then in the second, ..."""

Key = tuple[str, str]
"""A question about a base: its rule and its subject (a unit, walls, a kind of ground)."""

Facts = Mapping[Key, bool]
"""The facts of one world; those missing are false, or cannot be asked."""

_IN_WATER, _OWN_WALL, _TARGET, _COVER, _ENFILADE = "M-7.6", "M-7.18", "M-7.12", "M-7.19", "M-7.22"
_ONLY_IF_SHOT = (_COVER, _ENFILADE)
"""Rules about a shot, asked only in worlds in which the target may be shot at."""

WAYS = 24
"""The number of shifted worlds: three groups of bases, each shifted eight ways."""
_EIGHT = np.array([(math.sin(turn), math.cos(turn)) for turn in np.arange(8) * math.tau / 8])


def facts_of(fire: BaseFire) -> Facts:
    """Returns the facts of a base's fire."""
    facts: dict[Key, bool] = {}
    for option in fire.options:
        facts[_TARGET, option.target] = True
        facts[_COVER, option.target] = option.has_cover
        facts[_ENFILADE, option.target] = option.is_enfilade
    if fire.shooter is not None and fire.shooter.own_walls:
        walls = ", ".join(wall.terrain.id for wall in fire.shooter.own_walls)
        facts[_OWN_WALL, walls] = True
    if fire.blocked in ("water", "woods"):
        facts[_IN_WATER, fire.blocked] = True
    return facts


@dataclass(frozen=True, eq=False)
class Worlds:
    """Bases that shoot, with all bases near them, in several worlds."""

    field: Field
    asked: Asked

    @cached_property
    def measured(self) -> Scene:
        """All bases in reach, as measured."""
        reach_bw = max(unit.longest_range_bw for unit, _ in self.asked) + tables.ZONE_BW
        shooters = shapely.multipolygons([unit.bases[place] for unit, place in self.asked])
        # Errors of two bases, or the players' tolerance, may bring others into reach.
        errors_mm = 2 * samples.FAR_SIGMAS * max(unit.sigma_bound_mm for unit in self.field.units)
        reach_mm = reach_bw * self.field.bw_mm + errors_mm + self.field.tolerance_mm
        return Scene.measured(self.field, self.field.within(shooters, reach_mm))

    def drawn(self, draw: Draw = samples.draw_poses) -> list[Facts]:
        """Returns the facts of each base in the drawn worlds: all in the first, ..."""
        bases = self.measured.bases
        poses = rectangles([unit.unit.bases[place] for unit, place in bases])
        drawn = draw(poses, [unit.unit.base_name(place) for unit, place in bases])
        return self._facts(drawn.corners_mm().reshape(-1, len(bases), 4, 2))

    def shifted(self, by_mm: float, ways: Sequence[int] = range(WAYS)) -> list[Facts]:
        """Returns the same if shooters, the other side or all bases shift, eight `ways` each."""
        shooter = self.asked[0][0]
        groups = np.array(
            [(unit is shooter, unit.side != shooter.side, True) for unit, _ in self.measured.bases]
        )
        cos, sin = forward(shooter.axes.heading_deg)
        ways_mm = by_mm * _EIGHT @ np.array([[sin, -cos], [cos, sin]])
        shifts_mm = (groups.T[:, None, :, None] * ways_mm[:, None]).reshape(-1, len(groups), 1, 2)
        return self._facts(self.measured.corners_mm + shifts_mm[list(ways)])

    def _facts(self, corners_mm: Array) -> list[Facts]:
        scene = Scene(self.field, self.measured.bases, corners_mm)
        return [*map(facts_of, fire_in(scene, self.asked))]


def with_doubts(field: Field, asked: Asked, fires: Sequence[BaseFire]) -> Iterator[BaseFire]:
    """Yields the measured fire of each base, with its doubts."""
    far = cache(partial(_far, field, asked, fires))
    for (unit, place), fire in zip(asked, fires, strict=True):
        doubts = FireDoubts(field, unit, place, fire, far)
        options = tuple(replace(option, chance_of=doubts.probability) for option in fire.options)
        yield replace(fire, options=options, doubts=cache(doubts.answers))


def _far(field: Field, asked: Asked, fires: Sequence[BaseFire]) -> Mapping[str, Sequence[Facts]]:
    """Returns the facts in worlds with large errors, for the bases that the gate leaves open."""
    is_open, may_stand = may_change(field, fires), may_stand_otherwise(field, asked)
    left = [
        base
        for base, fire, may in zip(asked, fires, may_stand, strict=True)
        if fire.blocked != "column" and (may or fire.shooter in is_open)
    ]
    facts = Worlds(field, left).drawn(samples.draw_far_poses) if left else []
    return {
        unit.unit.base_name(place): facts[at :: len(left)] for at, (unit, place) in enumerate(left)
    }


@dataclass(frozen=True, eq=False)
class FireDoubts:
    """The doubts about one base's fire; drawn only on demand."""

    field: Field
    unit: UnitOnField
    place: int
    fire: BaseFire
    far: Callable[[], Mapping[str, Sequence[Facts]]]

    def probability(self, target: str) -> float:
        """Returns the probability that the base may shoot at one of its measured targets."""
        key = _TARGET, target
        return self._chance(key) if key in self._open else 1.0

    def answers(self) -> tuple[Answer, ...]:
        """Returns every answer that errors may change, clear or too close to call."""
        return tuple(map(self._answer, self._open))

    @cached_property
    def _worlds(self) -> Worlds:
        return Worlds(self.field, [(self.unit, self.place)])

    @cached_property
    def _drawn(self) -> list[Facts]:
        return self._worlds.drawn()

    @cached_property
    def _open(self) -> list[Key]:
        """The questions whose answer changes in some world."""
        name, facts = self.unit.unit.base_name(self.place), facts_of(self.fire)
        if name not in self.far():
            return []
        tolerance_mm = self.field.tolerance_mm
        close = self._worlds.shifted(tolerance_mm) if tolerance_mm else []
        worlds = [*self.far()[name], *close]
        if any(world != facts for world in worlds):
            worlds += self._drawn
        keys = {key for world in (facts, *worlds) for key in world}
        return sorted(key for key in keys if _changes(key, facts, worlds))

    def _chance(self, key: Key) -> float:
        if not self._has_errors:
            return float(facts_of(self.fire).get(key, False))
        held = np.array([*_held(key, self._drawn)], dtype=bool)
        return samples.probability_of_draws(held)

    @cached_property
    def _has_errors(self) -> bool:
        return any(unit.sigma_bound_mm for unit, _ in self._worlds.measured.bases)

    def _sigma_mm(self, key: Key) -> float:
        """Bounds the standard deviation of the length that decides a question."""
        target = self.field.by_id.get(key[1])
        if target is None:
            return self.unit.sigma_bound_mm
        distance_mm = float(shapely.distance(self.unit.bases[self.place], target.outline))
        return ahead_sigma_mm(self.unit, self.place, target.sigma_bound_mm, distance_mm)

    def _margin_mm(self, key: Key, chance: float) -> float:
        """Returns the smallest shift that changes an answer, negative if the answer is no.

        If only other errors change it, the margin is in sigmas, from the chance.
        """
        facts, ways = facts_of(self.fire), [*range(WAYS)]
        most_mm = self.field.bound_mm(self._sigma_mm(key))

        def holds_by(shift_mm: float) -> bool:
            worlds = self._worlds.shifted(abs(shift_mm), ways) if shift_mm else []
            turning = [*compress(ways, (_changes(key, facts, [world]) for world in worlds))]
            # The ways that change it at a smaller shift are among those at a larger one.
            ways[:] = turning or ways
            return facts.get(key, False) != bool(turning)

        margin_mm = bounded_margin_mm(holds_by, most_mm)
        if abs(margin_mm) == most_mm and self._has_errors:
            told_mm = abs(NormalDist().inv_cdf(chance)) * self._sigma_mm(key)
            margin_mm = math.copysign(min(most_mm, told_mm), margin_mm)
        return margin_mm

    def _answer(self, key: Key) -> Answer:
        (rule, about), chance = key, self._chance(key)
        margin_mm = self._margin_mm(key, chance)
        word = verdict(margin_mm, chance, tolerance_mm=self.field.tolerance_mm)
        base = base_words(self.unit.unit, self.place)
        asked = {
            _TARGET: f"{base} may shoot {about}",
            _COVER: f"{about} has cover from {base}",
            _ENFILADE: f"{base} enfilades {about}",
            _OWN_WALL: f"{base} stands flush behind {about}",
            _IN_WATER: f"{base} stands in {about}",
        }[rule]
        by = f"{'by' if margin_mm >= 0 else 'missed by'} {abs(margin_mm):.1f} mm"
        close = "is too close to call" if word == "too_close" else word
        because = f"whether {asked} {close}: {by}"
        if rule == _TARGET and word != "too_close":
            may = "may" if word == "yes" else "may not"
            because = f"{base} {may} shoot {about}: {by}, {chance:.2%} likely"
        elif rule == _TARGET:
            because += f", {chance:.0%} likely"
        target = about if about in self.field.by_id else None
        return Answer(
            word, margin_mm, self._sigma_mm(key), chance, rule, because, self._drawing(key), target
        )

    def _drawing(self, key: Key) -> tuple[Shape, ...]:
        """Draws the shot, or else the base and the subject of the question."""
        rule, about = key
        base = self.unit.bases[self.place]
        option = next((option for option in self.fire.options if option.target == about), None)
        if option is not None:
            return option.evidence
        if rule == _IN_WATER:
            return shapes_of(base, "base", self.fire.base)
        pose = self.unit.unit.bases[self.place]
        if rule == _OWN_WALL:
            shown = shapes_of(axes(pose).edge, "front-edge", self.fire.base)
            for piece in self.field.ground.pieces:
                if piece.terrain.id in about.split(", "):
                    shown += shapes_of(piece.outline, "cover", piece.terrain.id)
            return shown
        zone = zone_ahead(self.field, self.unit, self.place, self.unit.longest_range_bw)
        targets = (shapes_of(outline, "target") for outline in self.field.by_id[about].bases)
        return (*shapes_of(zone, "fire-zone"), *chain.from_iterable(targets))


def _held(key: Key, worlds: Iterable[Facts]) -> Iterator[bool]:
    """Yields whether a fact holds in each world in which it can be asked."""
    if key[0] in _ONLY_IF_SHOT:
        return (world[key] for world in worlds if key in world)
    return (world.get(key, False) for world in worlds)


def _changes(key: Key, facts: Facts, worlds: Iterable[Facts]) -> bool:
    """Returns whether an answer differs from the measured one in any world."""
    if key[0] in _ONLY_IF_SHOT and key not in facts:
        return False
    return any(held != facts.get(key, False) for held in _held(key, worlds))


# --- the gate ---------------------------------------------------------------------------------


_MOST_TURN_DEG = 80.0
"""The largest turn of a zone with errors; at 90 degrees it would lie along the front line."""


def may_stand_otherwise(field: Field, bases: Sequence[tuple[UnitOnField, int]]) -> list[bool]:
    """Returns which bases errors may move into or out of water or woods (M-7.6)."""
    outlines = np.array([unit.bases[place] for unit, place in bases], dtype=object)
    shifts_mm: Any = np.array([field.bound_mm(unit.sigma_bound_mm) for unit, _ in bases])
    may = np.zeros(len(bases), dtype=bool)
    for area in (field.ground.water, field.ground.woods):
        near = np.flatnonzero(shapely.dwithin(shapely.boundary(area), outlines, shifts_mm))
        larger, smaller = (
            are_partly_in(
                shapely.buffer(outlines[near], sign * shifts_mm[near], join_style="mitre"), area
            )
            for sign in (1, -1)
        )
        may[near] |= larger != smaller
    return may.tolist()


def may_change(field: Field, fires: Sequence[BaseFire]) -> set[Shooter]:
    """Returns the shooters whose targets, cover or enfilade errors may change."""
    shooters = [fire.shooter for fire in fires if fire.shooter is not None]
    possible, is_open = _possible_targets(field, shooters)
    is_open |= {base for base in shooters if _may_enfilade(field, base, possible[base])}
    ground = field.ground
    walls = [piece.outline for piece in ground.pieces if piece.kind.is_linear]
    edges = np.array([base.edge for base in shooters], dtype=object)
    within_mm = [2 * TOUCH_MM + field.bound_mm(base.unit.sigma_bound_mm) for base in shooters]
    near, _ = shapely.STRtree(walls).query(edges, "dwithin", within_mm)
    is_open |= {shooters[at] for at in near.tolist()}
    in_sight = [
        (base, other)
        for base in shooters
        for other in (*base.others, *base.hidden)
        if other.is_enemy
    ]
    clear = {
        (fire.shooter, option.target)
        for fire in fires
        for option in fire.options
        if _is_past_cover(field, option)
    }
    shot_at = [
        (base, other)
        for base in shooters
        for other in possible[base]
        if (base, other.unit.id) not in clear
    ]
    for area, sights in ((ground.crests, in_sight), (ground.cover, shot_at)):
        shifts_mm = np.array([field.bound_mm(_apart(*sight)) for sight in sights])
        lines = [(base.edge, other.outline) for base, other in sights]
        blocked = may_block(lines, area, shifts_mm).tolist()
        is_open |= {base for (base, _), may in zip(sights, blocked, strict=True) if may}
    return is_open


def _is_past_cover(field: Field, option: FireOption) -> bool:
    """Returns whether a shot passes all cover by more than any error."""
    if option.past is None:
        return False
    within_mm = field.bound_mm(_apart(option.shooter, option.met))
    return not shapely.dwithin(option.past, option.shooter.cover, within_mm)


def ahead_sigma_mm(unit: UnitOnField, place: int, other_mm: float, range_mm: float) -> float:
    """Bounds the standard deviation of the gap between a zone straight ahead and another base."""
    pose = unit.unit.bases[place]
    # A zone swings with its base.
    return pose.sigma_mm + math.radians(pose.sigma_deg) * (range_mm + pose.width_mm) + other_mm


def _apart(base: Shooter, other: OtherBase) -> float:
    """Bounds the standard deviation of the position of a line between two bases, or of a zone."""
    range_mm = shapely.distance(base.outline, other.outline)
    return ahead_sigma_mm(base.unit, base.place, other.unit.sigma_bound_mm, range_mm)


def _may_enfilade(field: Field, base: Shooter, possible: Sequence[OtherBase]) -> bool:
    """Returns whether errors may change which targets a base enfilades (M-7.22)."""
    behind: dict[str, bool] = {}
    for other in possible:
        margin_mm, target = -ahead_of_front_mm(base, other), other.unit.unit.bases[other.place]
        # The longest lever arm: from the target's front edge to the shooter's farthest corner.
        far_mm = float(shapely.hausdorff_distance(base.outline, other.outline))
        swing_mm = target.sigma_mm + math.radians(target.sigma_deg) * (far_mm + target.depth_mm)
        if abs(margin_mm) <= field.bound_mm(base.unit.sigma_bound_mm + swing_mm):
            return True
        if behind.setdefault(other.unit.id, margin_mm > 0.0) != (margin_mm > 0.0):
            return True
    return False


def _possible_targets(
    field: Field, shooters: Sequence[Shooter]
) -> tuple[dict[Shooter, list[OtherBase]], set[Shooter]]:
    """Returns the enemies that each base may hit, and the bases whose targets may change.

    Those are the bases that may end at several stages of M-7.12, or with other units.
    """
    possible: dict[Shooter, list[OtherBase]] = {base: [] for base in shooters}
    is_open, left = set(shooters), list(shooters)
    for fire_range, is_turned in product(RANGES, (False, True)):
        asked = [base for base in left if fire_range == "short" or base.is_gun]
        for base, may, must in _stage(field, asked, fire_range, is_turned):
            is_first = not possible[base]
            possible[base] += may
            if must:
                left.remove(base)
                ever = {other.unit.id for other in possible[base]}
                if ever == must and (is_first or len(must) == 1):
                    is_open.remove(base)
    return possible, is_open - {base for base in left if not possible[base]}


def _stage(
    field: Field, shooters: Sequence[Shooter], fire_range: Range, is_turned: bool
) -> Iterator[tuple[Shooter, list[OtherBase], set[str]]]:
    """Yields each base with the enemies it may hit at a stage, and the units it must hit."""
    if not shooters:
        return
    length_mm = shooters[0].short_mm if fire_range == "short" else shooters[0].longest_mm
    others_mm = max(unit.sigma_bound_mm for unit in field.units)
    # The largest errors of lengths, and of the angles to which a zone may be turned.
    shift_mm = max(
        field.bound_mm(ahead_sigma_mm(base.unit, base.place, others_mm, length_mm))
        for base in shooters
    )
    swing_deg = max(SIGMAS * base.unit.unit.bases[base.place].sigma_deg for base in shooters)
    most_deg = min(tables.TURN_DEG + swing_deg, _MOST_TURN_DEG) if is_turned else 0.0
    if is_turned:
        # Add the sideways movement of a zone's end in half a step of angles.
        shift_mm += math.radians(STEP_DEG) / 2 * length_mm
    turns_deg = np.linspace(-most_deg, most_deg, 2 * math.ceil(most_deg / STEP_DEG) + 1)
    wide = [replace(base, strip=base.strip.narrowed(-shift_mm)) for base in shooters]
    narrow = [replace(base, strip=base.strip.narrowed(shift_mm)) for base in shooters]
    lengths_mm = [length_mm + shift_mm] * len(shooters)
    turns = where_enemies_are_met(wide, [turns_deg] * len(shooters), lengths_mm)
    met = (zone_contents_at(zones, turns, lengths_mm) for zones in (wide, narrow))
    for base, near, far in zip(shooters, *met, strict=True):
        is_sure = np.abs(near.turns_deg) <= tables.TURN_DEG - swing_deg
        may, must = [], set()
        for unit_id in {other.unit.id for other in near.others if other.is_enemy}:
            of_unit = np.array([other.unit.id == unit_id for other in near.others])
            # A shift in favour of one unit is against all that may be met before it.
            begins_mm = near.ranges_mm - shift_mm, far.ranges_mm + shift_mm
            ends_mm = np.minimum(far.ends_mm, length_mm) + shift_mm
            best = replace(near, ranges_mm=np.where(of_unit, *begins_mm), ends_mm=ends_mm)
            ends_mm = np.minimum(near.ends_mm, length_mm) - shift_mm
            worst = replace(near, ranges_mm=np.where(of_unit, *begins_mm[::-1]), ends_mm=ends_mm)
            hit = (best.can_hit & of_unit).any(axis=0)
            may += [near.others[at] for at in np.flatnonzero(hit).tolist()]
            if (worst.can_hit & of_unit)[is_sure].any():
                must.add(unit_id)
        yield base, may, must
