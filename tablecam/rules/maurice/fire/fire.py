"""Fire (chapter 7): what each base may shoot at from its place, how, and how sure that is.

Doubt comes from asking the rule itself in the worlds that errors allow. A gate by lengths tells of
most bases that no error matters. Of the others the rule is asked in a few worlds with large errors
and, where that changes anything, in all worlds that are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, compress
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.geometry.outlines import axes
from tablecam.geometry.rectangles import Array, Rectangles, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.zones import strip_before
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import PAST_OBSTRUCTION_BW, ZONE_BW
from tablecam.rules.maurice.fire.gate import (
    ahead_sigma_mm,
    largest_mm,
    may_change,
    may_stand_otherwise,
)
from tablecam.rules.maurice.fire.option import FireOption
from tablecam.rules.maurice.fire.shooter import Scene
from tablecam.rules.maurice.fire.targets import BaseFire, fire_in
from tablecam.rules.memo import Memo
from tablecam.table.formation import base_words
from tablecam.table.headings import forward
from tablecam.uncertainty.answer import Answer, verdict
from tablecam.uncertainty.margins import bounded_margin_mm
from tablecam.uncertainty.samples import (
    FAR_SIGMAS,
    draw_far_poses,
    draw_poses,
    probability_of_draws,
)

__all__ = ["BaseFire", "FireOption", "fire_of", "fire_of_units", "fire_reading"]

Asked = Sequence[tuple[UnitOnField, int]]

Draw = Callable[[Rectangles, Sequence[str]], Rectangles]
"""Draws the poses of bases with their names, all of the first draw, of the second, ..."""

Key = tuple[str, str]
"""A question about a base: its rule, and what it is about (a unit, walls, a kind of ground)."""

Facts = Mapping[Key, bool]
"""What holds in one world; what is absent there does not hold, or cannot be asked."""

OBSTRUCTION_RULE = "M-7.17"
_IN_WATER, _OWN_WALL, _TARGET, _COVER, _ENFILADE = "M-7.6", "M-7.18", "M-7.12", "M-7.19", "M-7.22"
_ONLY_IF_SHOT = (_COVER, _ENFILADE)
"""Rules about a shot, asked only in worlds in which the target may be shot at."""

WAYS = 24
"""Worlds that differ from the measured one by a shift: of three groups of bases, eight ways."""
_EIGHT = np.array([(math.sin(turn), math.cos(turn)) for turn in np.arange(8) * math.tau / 8])


FireByUnit = Mapping[str, Mapping[str, BaseFire]]
"""Each base's fire, by unit id and base name."""

_REMEMBERED: Memo[Mapping[str, BaseFire]] = Memo()


def fire_of_units(field: Field, only: Collection[str] | None = None) -> FireByUnit:
    """Returns the fire of all units, or of the `only` ids, by unit id and base name.

    Cavalry has no entries (M-7.7). The fire of units around which nothing has changed is
    remembered.
    """
    units = [unit for unit in field.units if only is None or unit.id in only]
    # Nothing farther away matters to a unit's fire.
    reaches_mm = [(unit.longest_range_bw + ZONE_BW) * field.bw_mm for unit in units]
    keys = field.keys(units, reaches_mm)
    fire = _REMEMBERED.answers(keys, lambda new: _fire_of(field, [units[index] for index in new]))
    return MappingProxyType({unit.id: of for unit, of in zip(units, fire, strict=True)})


def fire_of(field: Field, unit: UnitOnField) -> Mapping[str, BaseFire]:
    """Returns the fire of each base of a unit, by base name; empty for cavalry (M-7.7)."""
    return fire_of_units(field, only=[unit.id])[unit.id]


def _fire_of(field: Field, units: Sequence[UnitOnField]) -> list[Mapping[str, BaseFire]]:
    """Works out the fire of units together."""
    asked = [
        (unit, place)
        for unit in units
        if unit.unit.arm != "cavalry"
        for place in range(len(unit.bases))
    ]
    fire = fire_in(Scene.measured(field), asked)
    if not field.is_exact:
        fire = [*Batch(field, asked, fire).doubtful()]
    return [
        MappingProxyType(
            {base.base: base for (owner, _), base in zip(asked, fire, strict=True) if owner is unit}
        )
        for unit in units
    ]


def zone_ahead(field: Field, unit: UnitOnField, place: int, range_bw: float) -> shapely.Geometry:
    """Returns the zone of a base straight ahead (M-7.11)."""
    strip = strip_before(axes(unit.unit.bases[place]), ZONE_BW * field.bw_mm)
    return strip.outline(0.0, range_bw * field.bw_mm)


def fire_reading(field: Field, unit: UnitOnField, option: FireOption) -> str | None:
    """Returns the interpretation of fire past obstructing terrain, or of a turned zone."""
    axis = option.shooter.strip.axis(option.turned_deg, option.distance_mm)
    if shapely.intersects(axis, field.ground.obstructing):
        limit_mm = PAST_OBSTRUCTION_BW * field.bw_mm
        is_walled = any(
            piece.kind.is_linear
            and piece.kind.obstructs
            and shapely.dwithin(piece.outline, unit.outline, limit_mm)
            for piece in field.ground.pieces
        )
        return "M-7.27" if is_walled else OBSTRUCTION_RULE
    return None if option.angle == "ahead" else "M-7.12"


def facts_of(fire: BaseFire) -> Facts:
    """Returns what is so of a base's fire."""
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
    """Bases that shoot, with all bases near them, in whatever worlds."""

    field: Field
    asked: Asked

    @cached_property
    def measured(self) -> Scene:
        """All bases in reach, as measured."""
        reach_bw = max(unit.longest_range_bw for unit, _ in self.asked) + ZONE_BW
        shooters = shapely.multipolygons([unit.bases[place] for unit, place in self.asked])
        # Errors of two bases, or the players' tolerance, bring others into reach.
        errors_mm = 2 * FAR_SIGMAS * max(unit.sigma_bound_mm for unit in self.field.units)
        reach_mm = reach_bw * self.field.bw_mm + errors_mm + self.field.position.table.tolerance_mm
        near = shapely.dwithin([unit.outline for unit in self.field.units], shooters, reach_mm)
        return Scene.measured(self.field, compress(self.field.units, near.tolist()))

    def drawn(self, draw: Draw = draw_poses) -> list[Facts]:
        """Returns what is so of each asked base in drawn worlds: all of the first, ..."""
        bases = self.measured.bases
        poses = rectangles([unit.unit.bases[place] for unit, place in bases])
        drawn = draw(poses, [unit.unit.base_name(place) for unit, place in bases])
        return self._facts(drawn.corners_mm().reshape(-1, len(bases), 4, 2))

    def shifted(self, by_mm: float, ways: Sequence[int] = range(WAYS)) -> list[Facts]:
        """Returns the same if shooters, the other side or all bases shift, each eight `ways`."""
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


@dataclass(frozen=True, eq=False)
class Batch:
    """The bases of a field whose fire is asked together, with their fire as measured."""

    field: Field
    asked: Asked
    fire: Sequence[BaseFire]

    def doubtful(self) -> Iterator[BaseFire]:
        """Yields the same fire, each with its doubts."""
        for (unit, place), fire in zip(self.asked, self.fire, strict=True):
            doubts = FireDoubts(self, unit, place, fire)
            options = tuple(replace(one, chance_of=doubts.probability) for one in fire.options)
            yield replace(fire, options=options, doubts=cache(doubts.answers))

    @cached_property
    def far(self) -> Mapping[str, Sequence[Facts]]:
        """What is so in worlds with large errors, for the bases that the gate leaves open."""
        is_open = may_change(self.field, self.fire)
        may_stand = may_stand_otherwise(self.field, self.asked)
        asked = [
            base
            for base, fire, may in zip(self.asked, self.fire, may_stand, strict=True)
            if fire.blocked != "column" and (may or fire.shooter in is_open)
        ]
        facts = Worlds(self.field, asked).drawn(draw_far_poses) if asked else []
        return {
            unit.unit.base_name(place): facts[at :: len(asked)]
            for at, (unit, place) in enumerate(asked)
        }


@dataclass(frozen=True, eq=False)
class FireDoubts:
    """What errors leave in doubt of one base's fire; drawn only when asked for."""

    batch: Batch
    unit: UnitOnField
    place: int
    fire: BaseFire

    def probability(self, target: str) -> float:
        """Returns the probability that the base may shoot at a target that it may as measured."""
        key = _TARGET, target
        return self._chance(key) if key in self._open else 1.0

    def answers(self) -> tuple[Answer, ...]:
        """Returns every answer that errors may change, clear or too close to call."""
        return tuple(map(self._answer, self._open))

    @cached_property
    def _worlds(self) -> Worlds:
        return Worlds(self.batch.field, [(self.unit, self.place)])

    @cached_property
    def _drawn(self) -> list[Facts]:
        return self._worlds.drawn()

    @cached_property
    def _open(self) -> list[Key]:
        """The questions whose answer changes in some world."""
        name, facts = self.unit.unit.base_name(self.place), facts_of(self.fire)
        if name not in self.batch.far:
            return []
        tolerance_mm = self.batch.field.position.table.tolerance_mm
        close = self._worlds.shifted(tolerance_mm) if tolerance_mm else []
        worlds = [*self.batch.far[name], *close]
        if any(world != facts for world in worlds):
            worlds += self._drawn
        keys = {key for world in (facts, *worlds) for key in world}
        return sorted(key for key in keys if _changes(key, facts, worlds))

    def _chance(self, key: Key) -> float:
        if not self._has_errors:
            return float(facts_of(self.fire).get(key, False))
        held = np.array([*_held(key, self._drawn)], dtype=bool)
        return probability_of_draws(held)

    @cached_property
    def _has_errors(self) -> bool:
        return any(unit.sigma_bound_mm for unit, _ in self._worlds.measured.bases)

    def _sigma_mm(self, key: Key) -> float:
        """Bounds the standard deviation of the length that decides a question."""
        target = self.batch.field.by_id.get(key[1])
        if target is None:
            return self.unit.sigma_bound_mm
        distance_mm = float(shapely.distance(self.unit.bases[self.place], target.outline))
        return ahead_sigma_mm(self.unit, self.place, target.sigma_bound_mm, distance_mm)

    def _margin_mm(self, key: Key, chance: float) -> float:
        """Returns the smallest shift that turns an answer, negative where it is no.

        Where no shift does, as other errors would, it is as many sigmas as the chance tells.
        """
        facts, ways = facts_of(self.fire), [*range(WAYS)]
        most_mm = largest_mm(self.batch.field, self._sigma_mm(key))

        def holds_by(shift_mm: float) -> bool:
            worlds = self._shifted(abs(shift_mm), ways) if shift_mm else []
            turning = [way for way, world in worlds if _changes(key, facts, [world])]
            # Those that turn it within a smaller shift are among those of a larger one.
            ways[:] = turning or ways
            return facts.get(key, False) != bool(turning)

        margin_mm = bounded_margin_mm(holds_by, most_mm)
        if abs(margin_mm) == most_mm and self._has_errors:
            told_mm = abs(NormalDist().inv_cdf(chance)) * self._sigma_mm(key)
            margin_mm = math.copysign(min(most_mm, told_mm), margin_mm)
        return margin_mm

    def _shifted(self, by_mm: float, ways: Sequence[int]) -> list[tuple[int, Facts]]:
        """Returns each way with what is so in its shifted world, each worked out once."""
        new = [way for way in ways if (by_mm, way) not in self._known]
        if new:
            worlds = self._worlds.shifted(by_mm, new)
            self._known.update({(by_mm, way): w for way, w in zip(new, worlds, strict=True)})
        return [(way, self._known[by_mm, way]) for way in ways]

    @cached_property
    def _known(self) -> dict[tuple[float, int], Facts]:
        return {}

    def _answer(self, key: Key) -> Answer:
        (rule, about), chance = key, self._chance(key)
        margin_mm = self._margin_mm(key, chance)
        word = verdict(margin_mm, chance, tolerance_mm=self.batch.field.position.table.tolerance_mm)
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
        target = about if about in self.batch.field.by_id else None
        return Answer(
            word, margin_mm, self._sigma_mm(key), chance, rule, because, self._shown(key), target
        )

    def _shown(self, key: Key) -> tuple[Shape, ...]:
        """Draws the shot, or else the base and what the question is about."""
        rule, about = key
        base = self.unit.bases[self.place]
        option = next((one for one in self.fire.options if one.target == about), None)
        if option is not None:
            return option.evidence
        if rule == _IN_WATER:
            return shapes_of(base, "base", self.fire.base)
        field, pose = self.batch.field, self.unit.unit.bases[self.place]
        if rule == _OWN_WALL:
            shown = shapes_of(axes(pose).edge, "front-edge", self.fire.base)
            for piece in field.ground.pieces:
                if piece.terrain.id in about.split(", "):
                    shown += shapes_of(piece.outline, "cover", piece.terrain.id)
            return shown
        zone = zone_ahead(field, self.unit, self.place, self.unit.longest_range_bw)
        targets = (shapes_of(outline, "target") for outline in field.by_id[about].bases)
        return (*shapes_of(zone, "fire-zone"), *chain.from_iterable(targets))


def _held(key: Key, worlds: Iterable[Facts]) -> Iterator[bool]:
    """Yields whether something is so in each world in which it can be asked."""
    if key[0] in _ONLY_IF_SHOT:
        return (world[key] for world in worlds if key in world)
    return (world.get(key, False) for world in worlds)


def _changes(key: Key, facts: Facts, worlds: Iterable[Facts]) -> bool:
    """Returns whether an answer differs in any world from the measured one."""
    if key[0] in _ONLY_IF_SHOT and key not in facts:
        return False
    return any(held != facts.get(key, False) for held in _held(key, worlds))
