"""Confidence in a base's fire: its targets, their modifiers, and whether it may fire at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from statistics import NormalDist

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import footprint
from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.field.worlds import (
    SIGMAS,
    bounded_margin_mm,
    turning_shift_mm,
)
from tablecam.rules.maurice.fire.bounds import error_bound_mm, spread_mm
from tablecam.rules.maurice.fire.cover import has_cover
from tablecam.rules.maurice.fire.draws import drawn_corners
from tablecam.rules.maurice.fire.option import FireOption, ahead_of_front_mm
from tablecam.rules.maurice.fire.scenarios import Scenario, walled_draws
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.rules.maurice.fire.target_confidence import FireBatch, base_hits, target_answers
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import Answer, decide, verdict
from tablecam.uncertainty.samples import decide_sampled, draw_poses, probability_of_draws

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class FireConfidence:
    """The uncertainty that errors leave in a base's fire.

    It is lazy, because draws cost a hundred times what fire does. `shooter` is None where the base
    may not fire; `batch` is the batch it belongs to, `areas` the areas it must not stand in
    (M-7.6).
    """

    name: str
    pose: BasePose
    areas: Mapping[str, shapely.Geometry]
    shooter: Shooter | None
    options: tuple[FireOption, ...]
    batch: FireBatch

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer about the base that depends on errors, clear or too close to call."""
        return (*self._targets.values(), *self._modifiers(), *self._stands)

    def probability(self, target: str) -> float:
        """Returns the probability that the base may shoot at one of its measured targets."""
        known = self._targets.get(target)
        chance = 1.0 if known is None else known.probability
        for stands in self._stands:
            chance *= 1.0 - stands.probability
        return chance

    @cached_property
    def _targets(self) -> Mapping[str, Answer]:
        return (
            {} if self.shooter is None else target_answers(self.batch, self.shooter, self.options)
        )

    @cached_property
    def _stands(self) -> tuple[Answer, ...]:
        answers = (
            _standing(self.name, self.pose, area, kind, self.batch.tolerance_mm)
            for kind, area in self.areas.items()
        )
        return tuple(answer for answer in answers if answer is not None)

    def _modifiers(self) -> Iterator[Answer]:
        if self.shooter is not None:
            yield from _own_wall_answers(self.batch, self.shooter)
        for option in self.options:
            answers = _cover(self.batch, option), _enfilade(self.batch, option)
            yield from (answer for answer in answers if answer is not None)


def _own_wall_answers(batch: FireBatch, base: Shooter) -> Iterator[Answer]:
    """Yields whether a base stands aligned behind a wall of its own, where uncertain (M-7.18)."""
    scenarios = batch.scenarios[base]
    for other in scenarios[1:]:
        walls = base.own_walls or other.base.own_walls
        is_own, sigma_mm = bool(base.own_walls), spread_mm(base.pose)
        margin_mm = other.turns_mm if is_own else -other.turns_mm
        chance = _chances(scenarios)[0 if is_own else 1]
        word = verdict(margin_mm, chance, tolerance_mm=batch.tolerance_mm)
        names = ", ".join(wall.terrain.id for wall in walls)
        because = f"whether base {base.name} stands flush behind {names} {_by(margin_mm, word)}"
        evidence = shapes_of(base.edge_less(0.0), "front-edge", base.name)
        for wall in walls:
            evidence += shapes_of(wall.outline, "cover", wall.terrain.id)
        yield Answer(word, margin_mm, sigma_mm, chance, "M-7.18", because, evidence)


@lru_cache(maxsize=256)
def _standing(
    name: str, pose: BasePose, area: shapely.Geometry, kind: str, tolerance_mm: float
) -> Answer | None:
    """Returns whether a base stands in water or woods and may not fire (M-7.6); None if clear."""
    # Cached: a base at rest is asked again whenever something moves in front of it.
    base, sigma_mm = footprint(pose), spread_mm(pose)
    max_shift_mm = max(SIGMAS * sigma_mm, tolerance_mm)
    if shapely.is_empty(area) or not shapely.dwithin(area, base, max_shift_mm):
        return None

    def holds_by(shift_mm: float) -> bool:
        return is_partly_in(shapely.buffer(base, shift_mm, join_style="mitre"), area)

    margin_mm = turning_shift_mm(holds_by, max_shift_mm)
    if margin_mm is None:
        return None
    held = _drawn_in(name, pose, area) if sigma_mm > 0 else None
    chance = float(margin_mm >= 0.0) if held is None else probability_of_draws(held)
    word = verdict(margin_mm, chance, tolerance_mm=tolerance_mm)
    because = f"whether base {name} stands in {kind} {_by(margin_mm, word)}"
    evidence = shapes_of(base, "base", name)
    return Answer(word, margin_mm, sigma_mm, chance, "M-7.6", because, evidence)


def _drawn_in(name: str, pose: BasePose, area: shapely.Geometry) -> Flags:
    """Returns the draws in which a base stands in an area by more than a sliver (G-5)."""
    places = draw_poses(rectangles([pose]), [name])
    # Both shrink by half a sliver, so that plain intersection tests the depth.
    smaller = replace(places, halves_mm=places.halves_mm - SLIVER_MM / 2)
    inside = shapely.buffer(area, -SLIVER_MM / 2)
    shapely.prepare(inside)
    return np.asarray(shapely.intersects(inside, shapely.polygons(smaller.corners_mm())))


def _chances(scenarios: Sequence[Scenario]) -> tuple[float, ...]:
    """Returns the probability of each scenario."""
    others = tuple(
        probability_of_draws(walled_draws(scenario, scenarios[0]))
        if spread_mm(scenarios[0].base.pose) > 0
        else 0.0
        for scenario in scenarios[1:]
    )
    return (1.0 - sum(others), *others)


def _cover(batch: FireBatch, option: FireOption) -> Answer | None:
    """Returns whether a target has cover (M-7.19), or None where no error can change it."""
    shot, shooter, tolerance_mm = option.geometry, option.geometry.shooter, batch.tolerance_mm
    scenarios = batch.scenarios[shooter]
    bound_mm = error_bound_mm(shooter, [shot.target], shot.distance_mm)
    max_shift_mm = max(bound_mm, tolerance_mm)
    between = shapely.convex_hull(shapely.GeometryCollection([shooter.edge, shot.target.outline]))
    covers = [scenario.base.cover for scenario in scenarios]
    if not shapely.dwithin(covers, between, max_shift_mm).any():
        return None

    @cache
    def covered(scenario: Scenario, shift_mm: float) -> bool:
        return has_cover(scenario.base, shot.target, shot.turned_deg, shot.end_mm, shift_mm)

    def holds_by(shift_mm: float) -> bool:
        is_covered = [
            covered(scenario, shift_mm)
            for scenario in scenarios
            if scenario.turns_mm <= abs(shift_mm)
        ]
        return any(is_covered) if shift_mm >= 0.0 else all(is_covered)

    margin_mm = turning_shift_mm(holds_by, max_shift_mm)
    if margin_mm is None:
        return None
    sigma_mm, chance = bound_mm / SIGMAS, 0.0
    for scenario, probability in zip(scenarios, _chances(scenarios), strict=True):
        shift_mm = bounded_margin_mm(partial(covered, scenario), max_shift_mm)
        chance += probability * decide(shift_mm, sigma_mm)[1]
    word = verdict(margin_mm, chance, tolerance_mm=tolerance_mm)
    because = f"whether {option.target} has cover from base {shooter.name} {_by(margin_mm, word)}"
    return Answer(
        word, margin_mm, sigma_mm, chance, "M-7.19", because, option.evidence, option.target
    )


def _enfilade(batch: FireBatch, option: FireOption) -> Answer | None:
    """Returns whether the best shot at a unit comes from behind the base hit (M-7.22), or None."""
    tolerance_mm = batch.tolerance_mm
    shooter, hit = option.geometry.shooter, option.geometry.target
    margin_mm, error_mm = -ahead_of_front_mm(shooter, hit), _enfilade_error_mm(shooter, hit)
    sigma_mm, others = (
        error_mm / SIGMAS,
        [other for other in shooter.others if _differs_in_enfilade(option, other)],
    )
    is_close = abs(margin_mm) <= max(error_mm, tolerance_mm)
    if not is_close and not (others and sigma_mm):
        return None
    if others and sigma_mm:
        # Errors may move the hit to another base of the unit, with its own front line.
        enfiladed, hit_draws = _enfiladed_draws(batch, option)
        chance = probability_of_draws(enfiladed[hit_draws])
        if not is_close:
            if enfiladed[hit_draws].all() or not enfiladed.any():
                return None
            margin_mm = NormalDist().inv_cdf(chance) * sigma_mm
        word = verdict(margin_mm, chance, tolerance_mm=tolerance_mm)
    else:
        margins_mm = _enfilade_margins_mm(shooter, hit)
        word, sigma_mm, chance = decide_sampled(margin_mm, margins_mm, tolerance_mm=tolerance_mm)
    because = f"whether base {shooter.name} enfilades {option.target} {_by(margin_mm, word)}"
    return Answer(
        word, margin_mm, sigma_mm, chance, "M-7.22", because, option.evidence, option.target
    )


def _differs_in_enfilade(option: FireOption, other: OtherBase) -> bool:
    """Returns whether another base of the target may be enfiladed where the hit one is not."""
    shooter, hit = option.geometry.shooter, option.geometry.target
    if other.unit.id != option.target or other is hit:
        return False
    margin_mm, error_mm = -ahead_of_front_mm(shooter, other), _enfilade_error_mm(shooter, other)
    return abs(margin_mm) <= error_mm or (margin_mm > 0.0) != option.is_enfilade


def _enfilade_error_mm(shooter: Shooter, other: OtherBase) -> float:
    """Bounds what errors change of how far a base lies behind another's front line."""
    pose, target = shooter.pose, other.pose
    # The longest lever arm: from the target's front edge to the shooter's farthest corner.
    apart_mm = float(np.hypot(pose.x_mm - target.x_mm, pose.y_mm - target.y_mm))
    far_mm = apart_mm + float(np.hypot(pose.width_mm, pose.depth_mm) + target.depth_mm)
    swing_mm = target.sigma_mm + float(np.radians(target.sigma_deg)) * far_mm
    return SIGMAS * (spread_mm(pose) + swing_mm)


def _enfiladed_draws(batch: FireBatch, option: FireOption) -> tuple[Flags, Flags]:
    """Returns the draws in which a base that is hit is enfiladed, and those with any hit."""
    hits, unit_draws = base_hits(batch, option.geometry.shooter, option.target)
    enfiladed = np.zeros(len(unit_draws), dtype=bool)
    for other, is_hit in hits.items():
        margins_mm = _enfilade_margins_mm(option.geometry.shooter, other)
        enfiladed |= is_hit & (margins_mm >= -EXACT_MM)
    return enfiladed, unit_draws


def _enfilade_margins_mm(shooter: Shooter, other: OtherBase) -> Array:
    """Returns how far a base is behind another's front line in each draw: (d,)."""
    poses = draw_poses(rectangles([other.pose]), [other.name])
    corners_mm = poses.corners_mm()
    fronts = Fronts(corners_mm[:, 0], corners_mm[:, 1], poses.axes[:, 1])
    return -fronts.ahead_mm(drawn_corners([shooter]))[:, 0]


def _by(margin_mm: float, word: str) -> str:
    close = "is too close to call" if word == "too_close" else word
    return f"{close}: {'by' if margin_mm >= 0 else 'missed by'} {abs(margin_mm):.1f} mm"
